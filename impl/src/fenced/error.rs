//! What has come of a fenced transaction that did not simply commit.

use crate::elector::Remedy;
use crate::protocol::Loss;
use rusqlite::ErrorCode;
use std::fmt;
use std::path::PathBuf;

/// A fenced transaction did not commit, or is not known to have. `E` is the error of the work in it.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError<E> {
    /// The lease is not held any more. Nothing was written: stop acting.
    Lost(Loss),
    /// The lease's row cannot be understood, and why: somebody must mend it (SPEC.md R12). Nothing was written.
    Unreadable(String),
    /// The connection is to another file than the elector, or the file was moved. Nothing was written.
    OtherFile {
        /// The elector's file.
        file: PathBuf,
    },
    /// The connection is in a transaction already, or this thread is in a fenced one on this file. Nothing was written.
    InTransaction,
    /// Another connection keeps the file locked. Nothing was written: try again.
    Busy,
    /// A statement of the work rolled the transaction back, and the work went on all the same. Nothing was written.
    RolledBack,
    /// The work's own error. Nothing was written.
    Work(E),
    /// SQLite failed before the commit. Nothing was written.
    Sqlite(rusqlite::Error),
    /// The commit failed, or (`None`) the path names another file since: it is written, or not, or will be by a recovery.
    /// Read what is there.
    Unknown(Option<rusqlite::Error>),
}

impl<E> TransactionError<E> {
    /// What to do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Lost(_) => Remedy::StopActing,
            Self::Busy | Self::RolledBack | Self::Work(_) | Self::Unknown(_) => Remedy::Retry,
            Self::Unreadable(_) | Self::OtherFile { .. } | Self::InTransaction | Self::Sqlite(_) => {
                Remedy::Fix
            }
        }
    }

    pub(super) fn before(error: rusqlite::Error) -> Self {
        if is_busy(&error) { Self::Busy } else { Self::Sqlite(error) }
    }

    /// After a commit that found the file busy, or a constraint unmet, the transaction is still open, and is rolled back.
    pub(super) fn at_commit(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::ConstraintViolation) => Self::Sqlite(error),
            _ => Self::Unknown(Some(error)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl<E: fmt::Display> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(loss) => write!(f, "the lease is not held any more: {loss}"),
            Self::Unreadable(why) => write!(f, "the lease's row is unreadable: {why}"),
            Self::OtherFile { file } => {
                write!(f, "the connection is not to {}, where the lease is", file.display())
            }
            Self::InTransaction => f.write_str("there is a transaction already: end it before"),
            Self::Busy => f.write_str("another connection keeps the database locked"),
            Self::RolledBack => f.write_str("a statement rolled the transaction back"),
            Self::Work(error) => error.fmt(f),
            Self::Sqlite(error) => error.fmt(f),
            Self::Unknown(Some(error)) => write!(f, "the outcome of the commit is unknown: {error}"),
            Self::Unknown(None) => {
                f.write_str("the outcome of the commit is unknown: the path names another file by now")
            }
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for TransactionError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lost(loss) => Some(loss),
            Self::Work(error) => error.source(),
            Self::Sqlite(error) | Self::Unknown(Some(error)) => Some(error),
            _ => None,
        }
    }
}
