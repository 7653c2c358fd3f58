//! What can go wrong with a file, and what to do then.

use crate::protocol::WallTime;
use rusqlite::ErrorCode;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A request was not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another connection holds the file. Nothing was written: try again.
    #[error("another connection keeps the database locked")]
    Busy,
    /// SQLite failed. The outcome is unknown, and may still be decided by a recovery (SPEC.md R7): read.
    #[error("the database failed: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// The path names another file than the one that was written, or none. The outcome is unknown: read
    /// (SPEC.md R11).
    #[error("{} is no longer the file that was open: it was moved, replaced or removed", path.display())]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// The file could not be opened again. The request was not written: try again.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A call does not return. The outcome is unknown (SPEC.md R7): read.
    #[error("a call of the database does not return")]
    Hangs,
    /// The thread that called has died. The outcome is unknown (SPEC.md R7): read.
    #[error("the thread that called the database has died")]
    Died,
    /// Calls before it took so long that it was not begun any more. Nothing was written: try again.
    #[error("calls of the database before it took too long")]
    NotBegun,
    /// The wall clock stands before 1970. Nothing was written: set the clock.
    #[error("the wall clock is wrong: it says {} ms before 1970", now.as_unix_millis().unsigned_abs())]
    Clock {
        /// What it says.
        now: WallTime,
    },
}

impl StoreError {
    /// Whether the file was busy, nothing was written, and asking again is all there is to do.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy | Self::Open(OpenError::Busy { .. }))
    }

    /// Whether one row was refused by a constraint, or by a trigger: nothing was written, and it says nothing of others.
    pub(super) fn is_of_one_row(&self) -> bool {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation),
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if is_busy(&error) { Self::Busy } else { Self::Sqlite(Arc::new(error)) }
    }
}

/// A database that cannot be used as it is. No lease was written; an empty file may have become a database, and may
/// have got the table.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No path: empty, `:memory:`, or a URI. No other process would see the database, or might not.
    #[error("{name:?} is no path of a file that others can open: give one; :memory: and file: URIs are none")]
    NotShared {
        /// What was given.
        name: String,
    },
    /// The directory is not there.
    #[error("directory {} does not exist: make it, or correct the path", directory.display())]
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// There was a database before, and now there is none; it is not made anew (SPEC.md R11).
    #[error("{} does not exist any more: bring it back", path.display())]
    Vanished {
        /// The path.
        path: PathBuf,
    },
    /// Something other than a file.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file has further names, so its side files stand in two places and two processes can both be
    /// granted a lease.
    #[error("{} has {links} hard links: SQLite's locks need one name for one file; copy it to a file of its own", path.display())]
    HardLinks {
        /// The path.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
    /// Its locks do not hold from machine to machine.
    #[error("{} is on a network file system ({kind}), where SQLite's locks cannot be relied on: use a local disk", path.display())]
    NetworkFileSystem {
        /// The path.
        path: PathBuf,
        /// Which.
        kind: &'static str,
    },
    /// The file may only be read.
    #[error("{} is read-only: a lease must be written", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// A table of this name is there, of another form.
    #[error("table instance_leases in {} cannot be used: {wrong}", path.display())]
    Table {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        wrong: String,
    },
    /// Another connection holds the file: try again.
    #[error("{} is locked by another connection", path.display())]
    Busy {
        /// The path.
        path: PathBuf,
    },
    /// The file could not be looked at.
    #[error("{} cannot be looked at: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        error: Arc<io::Error>,
    },
    /// SQLite refused the file: it is no database, or damaged.
    #[error("{} cannot be opened: {error}", path.display())]
    Sqlite {
        /// The path.
        path: PathBuf,
        /// Why.
        error: Arc<rusqlite::Error>,
    },
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
