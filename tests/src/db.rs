//! A database of a test's own, and what SQLite itself says is in it.

use rusqlite::{Connection, OptionalExtension, types::ValueRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tenure::clock::Clock;
use tenure::store::SqliteStore;

/// The table as the other system makes it, and as SPEC.md gives it.
pub const TABLE: &str = "CREATE TABLE IF NOT EXISTS instance_leases (
  lease_name TEXT PRIMARY KEY, holder_id TEXT NOT NULL, fence INTEGER NOT NULL DEFAULT 0,
  acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS idx_instance_leases_expires ON instance_leases(expires_at);
";

/// A directory with, perhaps, a database file in it. It is removed in the end.
#[derive(Debug)]
pub struct TempDb {
    directory: TempDir,
    path: PathBuf,
}

impl TempDb {
    /// A directory, and the path of a file that is not there yet.
    #[allow(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("leases.db");
        Self { directory, path }
    }

    /// The same in memory, where there is a file system for that: for tests that write often, and lose no power.
    pub fn in_memory(sql: &str) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("a temporary directory");
        let path = directory.path().join("leases.db");
        execute(&path, sql);
        Self { directory, path }
    }

    /// A file in which `sql` was executed. Its journal mode is DELETE unless `sql` says otherwise.
    pub fn with(sql: &str) -> Self {
        let db = Self::new();
        execute(db.path(), sql);
        db
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of another file in the same directory.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Opens the store.
    pub fn store(&self, clock: &Arc<impl Clock + 'static>) -> SqliteStore {
        SqliteStore::open(&self.path, Arc::clone(clock) as Arc<dyn Clock>).expect("the store opens")
    }

    /// A connection that Tenure knows nothing of.
    pub fn raw(&self) -> Connection {
        connect(&self.path)
    }

    /// Executes statements on a connection of its own.
    pub fn execute(&self, sql: &str) {
        execute(&self.path, sql);
    }

    /// A lease's row.
    pub fn row(&self, lease: &str) -> Option<RawRow> {
        RawRow::read(&self.raw(), lease)
    }

    /// All that is in the database.
    pub fn dump(&self) -> Dump {
        as_it_is(&self.raw())
    }

    /// The names and the bytes of all files in the directory.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap_or_default()))
            .collect();
        files.sort();
        files
    }
}

fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("SQLite opens the file");
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    connection
}

/// Executes statements in a file, on a connection of its own.
pub fn execute(path: &Path, sql: &str) {
    connect(path).execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// A row whose columns have the types that they should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRow {
    /// `holder_id`
    pub holder: String,
    /// `fence`
    pub fence: i64,
    /// `acquired_at`
    pub acquired_at: i64,
    /// `expires_at`
    pub expires_at: i64,
}

impl RawRow {
    /// A lease's row, as this connection sees it.
    pub fn read(connection: &Connection, lease: &str) -> Option<Self> {
        let sql =
            "SELECT holder_id, fence, acquired_at, expires_at FROM instance_leases WHERE lease_name = ?";
        connection
            .query_row(sql, [lease], |row| {
                Ok(Self {
                    holder: row.get(0)?,
                    fence: row.get(1)?,
                    acquired_at: row.get(2)?,
                    expires_at: row.get(3)?,
                })
            })
            .optional()
            .expect("a row of the right types")
    }
}

/// A database: its schema, and every value of every table with its type.
pub type Dump = Vec<String>;

/// All that is in a database, as SQLite's values are.
fn as_it_is(connection: &Connection) -> Dump {
    let tables = lines(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let mut dump = lines(connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
    for table in tables {
        dump.extend(lines(connection, &format!("SELECT '{table}', rowid, * FROM \"{table}\"")));
    }
    dump
}

fn lines(connection: &Connection, sql: &str) -> Vec<String> {
    let mut query = connection.prepare(sql).unwrap();
    let columns = query.column_count();
    let line = |row: &rusqlite::Row<'_>| {
        let values = (0..columns).map(|column| row.get_ref(column).map(told));
        values.collect::<rusqlite::Result<Vec<_>>>().map(|values| values.join(" | "))
    };
    query.query_map([], |row| line(row)).unwrap().map(Result::unwrap).collect()
}

/// A value and its type; text of a schema and of a table may be no UTF-8.
fn told(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(text) => std::str::from_utf8(text).map_or(format!("{value:?}"), str::to_owned),
        other => format!("{other:?}"),
    }
}
