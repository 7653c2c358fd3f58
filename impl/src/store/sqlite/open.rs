//! From a path to a connection that may be trusted with a lease.
#![expect(clippy::disallowed_methods, reason = "this is where files are looked at")]

use super::error::{OpenError, is_busy};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The table of SPEC.md, shared with another system: to the letter its own.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS instance_leases (
  lease_name TEXT PRIMARY KEY, holder_id TEXT NOT NULL, fence INTEGER NOT NULL DEFAULT 0,
  acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS idx_instance_leases_expires ON instance_leases(expires_at);
";

const COLUMNS: [&str; 5] = ["lease_name", "holder_id", "fence", "acquired_at", "expires_at"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfMissing {
    Create,
    Refuse,
}

/// The absolute path of a file that several processes can share, and write; one that is there already is looked at.
pub(super) fn usable_path(given: &Path) -> Result<PathBuf, OpenError> {
    let (path, directory) = shared_path(given)?;
    // The side files are made in the directory.
    for path in [&path, &directory] {
        if is_read_only(path) {
            return Err(OpenError::ReadOnly { path: path.clone() });
        }
    }
    Ok(path)
}

/// The absolute path of a file that several processes can share, and the directory where its side files are.
///
/// Only `stat`: to open and close the file beside SQLite would drop the process's locks on it.
pub(super) fn shared_path(given: &Path) -> Result<(PathBuf, PathBuf), OpenError> {
    let name = given.to_string_lossy();
    if name.is_empty() || name == ":memory:" || name.starts_with("file:") {
        return Err(OpenError::NotShared { name: name.into_owned() });
    }
    // An absolute path is never taken for a URI, and survives a change of the working directory.
    let path = std::path::absolute(given).map_err(|error| cannot_look(given, error))?;
    let directory = path.parent().unwrap_or(&path);
    if !directory.is_dir() {
        return Err(OpenError::NoDirectory { directory: directory.to_owned() });
    }
    // Where a symbolic link leads is where the file and its side files are.
    let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let directory = real.parent().unwrap_or(directory);
    if let Some(kind) = network_file_system(directory) {
        return Err(OpenError::NetworkFileSystem { path, kind });
    }
    match std::fs::metadata(&path) {
        Ok(file) if !file.is_file() => return Err(OpenError::NotAFile { path }),
        Ok(file) if file.nlink() > 1 => return Err(OpenError::HardLinks { path, links: file.nlink() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot_look(&path, error)),
        Ok(_) | Err(_) => {}
    }
    let directory = directory.to_owned();
    Ok((path, directory))
}

fn is_read_only(path: &Path) -> bool {
    use rustix::{fs::Access, io::Errno};
    matches!(rustix::fs::access(path, Access::WRITE_OK), Err(Errno::ROFS | Errno::ACCESS | Errno::PERM))
}

/// A file's device and inode.
pub(crate) type FileId = (u64, u64);

/// Which file a path names.
pub(crate) fn identity(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn cannot_look(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), error: Arc::new(error) }
}

/// The file systems that are known to be shared over a network, by `statfs(2)`'s magic numbers.
#[cfg(target_os = "linux")]
fn network_file_system(directory: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(directory).ok()?.f_type as u32;
    match kind {
        0x6969 => Some("nfs"),
        0x517b | 0xfe53_4d42 => Some("smb"),
        0xff53_4d42 => Some("cifs"),
        0x0102_1997 => Some("9p"),
        0x00c3_6400 => Some("ceph"),
        0x5346_414f => Some("afs"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}

/// Opens, sets up and checks a connection.
pub(super) fn connect(path: &Path, missing: IfMissing) -> Result<Connection, OpenError> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, missing == IfMissing::Create);
    let failed = |error: rusqlite::Error| failed(path, error);
    let connection = match Connection::open_with_flags(path, flags) {
        Err(_) if missing == IfMissing::Refuse && !path.exists() => {
            return Err(OpenError::Vanished { path: path.to_owned() });
        }
        opened => opened.map_err(failed)?,
    };
    set_up(&connection).map_err(failed)?;
    match wrong_with_table(&connection).map_err(failed)? {
        None => Ok(connection),
        Some(wrong) => Err(OpenError::Table { path: path.to_owned(), wrong }),
    }
}

pub(super) fn failed(path: &Path, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    if is_busy(&error) {
        OpenError::Busy { path }
    } else {
        OpenError::Sqlite { path, error: Arc::new(error) }
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    make_durable(connection)?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages == 0 {
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    Ok(())
}

/// SPEC.md R8's settings. EXTRA asks for what FULL does and, with a rollback journal, for a sync of the
/// directory after the journal's unlink, which is the commit. In WAL both are the same; since an application
/// may change the journal mode later, we ask for EXTRA in both.
pub(super) fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "synchronous", "EXTRA")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)
}

/// Makes the table if there is none of that name, or says what is wrong with the one there is.
fn wrong_with_table(connection: &Connection) -> rusqlite::Result<Option<String>> {
    match look(connection)? {
        Table::Absent => create(connection).map(|()| None),
        Table::Sound => wrong_with_triggers(connection),
        Table::Wrong(wrong) => Ok(Some(wrong)),
    }
}

/// What there is by the table's name.
pub(super) enum Table {
    Absent,
    /// It has the columns that it should.
    Sound,
    Wrong(String),
}

pub(super) fn look(connection: &Connection) -> rusqlite::Result<Table> {
    let kind = "SELECT type FROM main.sqlite_schema WHERE lower(name) = 'instance_leases'";
    let kind: Option<String> = connection.query_row(kind, [], |row| row.get(0)).optional()?;
    Ok(match kind.as_deref() {
        None => Table::Absent,
        Some("table") => wrong_with_columns(connection)?.map_or(Table::Sound, Table::Wrong),
        Some(other) => Table::Wrong(format!("no table, but of that name there is: {other}")),
    })
}

/// One transaction, so that nobody sees half of it. On an error the connection is dropped, and it with it.
fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT"))
}

fn wrong_with_columns(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT name, type FROM pragma_table_info('instance_leases', 'main')";
    let mut query = connection.prepare(sql)?;
    let columns = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (names, types): (Vec<String>, Vec<String>) =
        columns.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
    if names != COLUMNS {
        return Ok(Some(format!("its columns are ({}), not ({})", names.join(", "), COLUMNS.join(", "))));
    }
    let spoilt = names.iter().zip(&types).find(|(name, kind)| spoils(name, kind));
    if let Some((name, kind)) = spoilt {
        return Ok(Some(format!(
            "column {name} is of type {kind}, which would change what is written to it"
        )));
    }
    let key = "SELECT count(*) FROM pragma_table_info('instance_leases', 'main') WHERE pk > 0 AND name = 'lease_name'
               AND (SELECT sum(pk > 0) FROM pragma_table_info('instance_leases', 'main')) = 1";
    if connection.query_row(key, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(Some("lease_name is not its primary key".into()));
    }
    Ok(None)
}

pub(super) fn wrong_with_triggers(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let trigger =
        "SELECT name FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = 'instance_leases'";
    let trigger: Option<String> = connection.query_row(trigger, [], |row| row.get(0)).optional()?;
    Ok(trigger.map(|name| format!("trigger {name} changes what we write")))
}

/// Whether a column of this type makes something else of a text, or of an integer, that is written to it, by
/// SQLite's rules of affinity: what we wrote we could then not read.
fn spoils(column: &str, kind: &str) -> bool {
    let kind = kind.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    let (integer, text) = (has(&["INT"]), has(&["CHAR", "CLOB", "TEXT"]));
    let real = has(&["REAL", "FLOA", "DOUB"]);
    if ["lease_name", "holder_id"].contains(&column) {
        integer || real && !text
    } else {
        !integer && (text || real)
    }
}
