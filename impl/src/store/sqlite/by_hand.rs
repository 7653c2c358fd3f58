//! What a person asks of the file: to see all leases, and to release one that is somebody else's.

use super::error::{OpenError, StoreError};
use super::{Opened, open, statements};
use crate::protocol::{Fence, LeaseName, Row, Seen, WallTime};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a person got no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ByHandError {
    #[error("{} does not exist: correct the path", path.display())]
    Missing { path: PathBuf },
    /// Only a writer can bring the file into a state that may be read.
    #[error("{} has a journal that needs recovery, as after a crash, and to recover it is to write: have its \
             application open it once, or `tenure run`; then ask again ({error})", path.display())]
    NeedsRecovery { path: PathBuf, error: rusqlite::Error },
    /// Without them not even a log that needs no recovery is read.
    #[error("{} is in WAL mode, and its -wal and -shm, without which it can neither be recovered nor read, cannot be \
             made beside it: ask as a user who may write in its directory ({error})", path.display())]
    NoSideFiles { path: PathBuf, error: rusqlite::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ByHandError {
    /// Whether nothing was written, and asking again is all there is to do.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_busy())
    }
}

impl From<OpenError> for ByHandError {
    fn from(error: OpenError) -> Self {
        Self::Store(error.into())
    }
}

/// A lease as it stands in the table. What can be read of a row is there also if the row as a whole is unreadable: who
/// is to correct it by hand wants to see it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name; of one that is no text, the literal that SQL would have for it.
    pub(crate) lease: String,
    pub(crate) holder: Option<String>,
    pub(crate) fence: Option<Fence>,
    pub(crate) acquired_at: Option<WallTime>,
    pub(crate) expires_at: Option<WallTime>,
    /// What it is by SPEC.md R12.
    pub(crate) seen: Seen,
}

/// The leases of these names, or all of the file; sorted by name. Writes nothing but, perhaps, SQLite's side files.
pub(crate) fn list(path: &Path, names: &BTreeSet<LeaseName>) -> Result<Vec<Entry>, ByHandError> {
    let (path, _) = open::shared_path(path)?;
    let connection = existing(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    match entries(&connection, names) {
        Ok(Ok(mut entries)) => {
            entries.sort_by(|a, b| a.lease.cmp(&b.lease));
            Ok(entries)
        }
        Ok(Err(wrong)) => Err(OpenError::Table { path, wrong }.into()),
        Err(error) => Err(cannot_read(path, error)),
    }
}

/// What a file is like that opens and cannot be read.
fn cannot_read(path: PathBuf, error: rusqlite::Error) -> ByHandError {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        _ if extended == Some(ffi::SQLITE_READONLY_ROLLBACK) => ByHandError::NeedsRecovery { path, error },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => ByHandError::NoSideFiles { path, error },
        _ => open::failed(&path, error).into(),
    }
}

/// The leases, or what is wrong with the table. One transaction: they stood there all at one moment.
fn entries(
    connection: &Connection,
    names: &BTreeSet<LeaseName>,
) -> rusqlite::Result<Result<Vec<Entry>, String>> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.execute_batch("BEGIN")?;
    match open::look(connection)? {
        open::Table::Absent => return Ok(Ok(names.iter().map(absent).collect())),
        open::Table::Wrong(wrong) => return Ok(Err(wrong)),
        open::Table::Sound => {}
    }
    let columns = "lease_name, holder_id, fence, acquired_at, expires_at";
    let all = format!("SELECT {columns} FROM main.instance_leases");
    if names.is_empty() {
        return connection.prepare(&all)?.query_map([], entry)?.collect::<rusqlite::Result<_>>().map(Ok);
    }
    let mut query = connection.prepare(&format!("{all} WHERE lease_name = ?1"))?;
    let mut entries = Vec::new();
    for name in names {
        let found = query.query_map([name.as_str()], entry)?.next().transpose()?;
        entries.push(found.unwrap_or_else(|| absent(name)));
    }
    Ok(Ok(entries))
}

fn absent(name: &LeaseName) -> Entry {
    let lease = name.as_str().to_owned();
    Entry { lease, holder: None, fence: None, acquired_at: None, expires_at: None, seen: Seen::Absent }
}

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    let [name, holder, fence, acquired_at, expires_at] = [0, 1, 2, 3, 4].map(|column| row.get_ref(column));
    let (name, holder, fence, acquired_at, expires_at) = (name?, holder?, fence?, acquired_at?, expires_at?);
    let (lease, named) = lease(name);
    let seen = named.and_then(|()| statements::readable(holder, fence, acquired_at, expires_at));
    Ok(Entry {
        lease,
        holder: statements::holder(holder).ok(),
        fence: statements::fence(fence).ok(),
        acquired_at: statements::acquired_at(acquired_at).ok(),
        expires_at: statements::expires_at(expires_at).ok(),
        seen: seen.map_or_else(Seen::Unreadable, Seen::Row),
    })
}

/// A name to show, and whether it can be one (SPEC.md R12).
fn lease(value: ValueRef<'_>) -> (String, Result<(), String>) {
    let text = match value {
        ValueRef::Text(b"") => return (String::new(), Err("lease_name is empty".into())),
        ValueRef::Text(bytes) => match str::from_utf8(bytes) {
            Ok(text) => return (text.to_owned(), Ok(())),
            Err(_) => bytes.escape_ascii().to_string(),
        },
        ValueRef::Blob(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("X'{hex}'")
        }
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
    };
    (text, Err(format!("lease_name is {}", statements::told(value))))
}

/// What came of a release. The row is the one from before.
#[derive(Debug)]
pub(crate) enum Release {
    Done(Row),
    WasReleased(Row),
    /// It has another fence than the one asked for.
    OtherFence(Row),
    /// Nobody but a person may decide what it means (SPEC.md R12).
    Unreadable(String),
    Absent,
}

/// Releases a lease whoever holds it: if it has this fence, or with `None`, whichever it has. The same discipline as
/// the store's: the answer counts once it is committed, and would survive a loss of power (SPEC.md R8), in the file that
/// the path names before and after (SPEC.md R11). Never makes a file or a table.
pub(crate) fn release(path: &Path, lease: &LeaseName, fence: Option<Fence>) -> Result<Release, ByHandError> {
    let path = open::usable_path(path)?;
    let connection = existing(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    open::make_durable(&connection).map_err(|error| open::failed(&path, error))?;
    let opened = Opened { connection, file: open::identity(&path) };
    if opened.has_moved(&path) {
        return Err(StoreError::Moved { path }.into());
    }
    let outcome = release_in(&opened.connection, lease, fence);
    if opened.has_moved(&path) {
        return Err(StoreError::Moved { path }.into());
    }
    // What has not been committed is rolled back when the connection is dropped.
    match outcome.map_err(StoreError::from) {
        Ok(Ok(release)) => Ok(release),
        Ok(Err(wrong)) => Err(OpenError::Table { path, wrong }.into()),
        Err(StoreError::Busy) => Err(OpenError::Busy { path }.into()),
        Err(error) => Err(error.into()),
    }
}

/// What came of it, or what is wrong with the table. Read under the write lock, then one write that is bound to what was
/// read and can be read, and leaves the row and its fence (SPEC.md R1, R3, R12).
fn release_in(
    connection: &Connection,
    lease: &LeaseName,
    fence: Option<Fence>,
) -> rusqlite::Result<Result<Release, String>> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    match open::look(connection)? {
        open::Table::Absent => return Ok(Ok(Release::Absent)),
        open::Table::Wrong(wrong) => return Ok(Err(wrong)),
        open::Table::Sound => {}
    }
    if let Some(wrong) = open::wrong_with_triggers(connection)? {
        return Ok(Err(wrong));
    }
    Ok(Ok(match statements::read(connection, lease)? {
        Seen::Absent => Release::Absent,
        Seen::Unreadable(why) => Release::Unreadable(why),
        Seen::Row(row) if fence.is_some_and(|fence| fence != row.fence) => Release::OtherFence(row),
        Seen::Row(row) if row.is_released() => Release::WasReleased(row),
        Seen::Row(row) => {
            if !statements::release(connection, lease, &row.holder, row.fence)? {
                return Ok(Ok(Release::Unreadable("it does not compare as it reads".into())));
            }
            connection.execute_batch("COMMIT")?;
            Release::Done(row)
        }
    }))
}

/// A connection to a file that is there.
fn existing(path: &Path, access: OpenFlags) -> Result<Connection, ByHandError> {
    if open::identity(path).is_none() {
        return Err(ByHandError::Missing { path: path.to_owned() });
    }
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(path, flags).map_err(|error| open::failed(path, error))?)
}
