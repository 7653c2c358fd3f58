//! The lease table in an SQLite file.

#[cfg(feature = "cli")]
mod by_hand;
mod error;
mod open;
mod statements;

#[cfg(feature = "cli")]
pub(crate) use by_hand::{ByHandError, Entry, Release, list, release};
pub use error::{OpenError, StoreError};
pub(crate) use open::{FileId, identity};
pub(crate) use statements::read as read_row;

use crate::clock::Clock;
use crate::protocol::{Action, Reply, Request, WallTime};
use rusqlite::{Connection, FileControl, MAIN_DB};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The lease table of an SQLite file, through one connection of its own.
///
/// The table is `instance_leases` of SPEC.md; it is created if it is not there, and used as it is if it is.
/// A new file gets WAL; an existing one keeps its journal mode. The connection's busy timeout is zero:
/// whoever drives the store retries.
///
/// If the process dies in the middle of a call, the call was either committed or not: SQLite's next reader
/// recovers the file, and nothing else is needed.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// `None` after an error that left it in a state we cannot trust.
    opened: Option<Opened>,
}

/// A connection, and which file the path named when it was opened.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    file: Option<FileId>,
}

impl Opened {
    fn new(path: &Path, missing: open::IfMissing) -> Result<Self, OpenError> {
        let connection = open::connect(path, missing)?;
        Ok(Self { connection, file: open::identity(path) })
    }

    /// Whether the path no longer names the open file: unlinked, renamed, replaced (SPEC.md R11). SQLite answers
    /// for the name that it opened; a symbolic link on the way there may since point elsewhere.
    fn has_moved(&self, path: &Path) -> bool {
        was_moved(&self.connection) || self.file != open::identity(path)
    }
}

fn was_moved(connection: &Connection) -> bool {
    let mut moved = 0;
    let asked = connection.file_control(Some(MAIN_DB), FileControl::HasMoved(&mut moved));
    asked.is_err() || moved != 0
}

/// Whether the main database of somebody's connection is the file that the path names.
pub(crate) fn is_open_on(connection: &Connection, path: &Path) -> bool {
    let file = connection.path().and_then(|file| open::identity(Path::new(file)));
    file.is_some() && file == open::identity(path) && !was_moved(connection)
}

/// The answer to one request.
pub type Answer = Result<Reply, StoreError>;

impl SqliteStore {
    /// Opens a file, or creates it, and its table.
    ///
    /// # Errors
    /// [`OpenError`] says what about the file cannot be used. [`OpenError::Busy`] is worth another try.
    pub fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let path = open::usable_path(path.as_ref())?;
        let opened = Opened::new(&path, open::IfMissing::Create)?;
        Ok(Self { path, clock, opened: Some(opened) })
    }

    /// Another store for the same file, which it opens when it is first asked for something, without creating it.
    pub(crate) fn unopened(&self) -> Self {
        Self { path: self.path.clone(), clock: Arc::clone(&self.clock), opened: None }
    }

    /// The absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its connection, unless it is to be opened anew: for what concerns this connection alone, such as
    /// `PRAGMA max_page_count`. Leave no transaction open on it, and its durability settings as they are (SPEC.md R8).
    pub fn connection(&self) -> Option<&Connection> {
        self.opened.as_ref().map(|opened| &opened.connection)
    }

    /// Carries out requests, all that write in one transaction: one sync, however many. Answers in order.
    ///
    /// A reply means that it is committed and would survive a power loss (SPEC.md R8). [`StoreError`] says
    /// whether the outcome is known. Two requests for one lease in one batch are carried out in order, but
    /// reads before writes.
    pub fn execute(&mut self, batch: &[Request]) -> Vec<Answer> {
        let is_read = |request: &Request| request.action == Action::Read;
        let (reads, writes): (Vec<_>, Vec<_>) = batch.iter().partition(|r| is_read(r));
        // A standby reads outside any transaction: it never takes the write lock while the lease is held.
        let mut reads = reads.iter().map(|request| self.read(request)).collect::<Vec<_>>().into_iter();
        let mut writes = self.write(&writes).into_iter();
        batch.iter().filter_map(|r| if is_read(r) { reads.next() } else { writes.next() }).collect()
    }

    fn read(&mut self, request: &Request) -> Answer {
        let clock = Arc::clone(&self.clock);
        self.attempt(|connection| {
            let seen = statements::read(connection, &request.lease)?;
            Ok(Reply::Seen { seen, wall: clock.wall() })
        })
    }

    /// One answer for each; an error is everybody's, since they were one transaction. But a constraint that an application
    /// has put on the table refuses one of them: then each is a transaction of its own, and the others are answered.
    fn write(&mut self, requests: &[&Request]) -> Vec<Answer> {
        if requests.is_empty() {
            return Vec::new();
        }
        let clock = Arc::clone(&self.clock);
        match self.attempt(|connection| write_all(connection, &*clock, requests)) {
            Ok(replies) => replies.into_iter().map(Ok).collect(),
            Err(error) if requests.len() > 1 && error.is_of_one_row() => {
                requests.iter().flat_map(|request| self.write(&[request])).collect()
            }
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// Runs `work` on a connection to the file that the path names, before and after (SPEC.md R11), and leaves
    /// no transaction behind.
    fn attempt<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let opened = self.current()?;
        let connection = &opened.connection;
        let result = work(connection);
        if !connection.is_autocommit() {
            // An error has left the transaction open; while it is, all later ones would fail.
            let _ = connection.execute_batch("ROLLBACK");
        }
        let (usable, moved) = (connection.is_autocommit(), opened.has_moved(&path));
        self.opened.take_if(|_| moved || !usable);
        if moved { Err(StoreError::Moved { path }) } else { result }
    }

    /// The connection; a new one if the path names another file than the open one. Never creates a file: one
    /// that vanished may come back, one made anew would grant its fences a second time.
    fn current(&mut self) -> Result<&Opened, StoreError> {
        let path = &self.path;
        self.opened.take_if(|opened| opened.has_moved(path));
        match &mut self.opened {
            Some(opened) => Ok(opened),
            none => {
                let path = open::usable_path(&self.path)?;
                Ok(none.insert(Opened::new(&path, open::IfMissing::Refuse)?))
            }
        }
    }
}

/// SPEC.md R1 and R8: the wall clock is read once the write lock is held, and nothing is believed before
/// COMMIT has returned.
fn write_all(
    connection: &Connection,
    clock: &dyn Clock,
    requests: &[&Request],
) -> Result<Vec<Reply>, StoreError> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let now = clock.wall();
    if now <= WallTime::RELEASED {
        return Err(StoreError::Clock { now });
    }
    let replies =
        requests.iter().map(|request| write_one(connection, now, request)).collect::<Result<_, _>>()?;
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(replies)
}

fn write_one(connection: &Connection, now: WallTime, request: &Request) -> Result<Reply, StoreError> {
    let Request { lease, holder, action, .. } = request;
    let done = match action {
        Action::Read => None,
        Action::Acquire(bound) => {
            statements::acquire(connection, lease, holder, bound, now)?.map(Reply::Granted)
        }
        Action::Renew(fence) => {
            statements::renew(connection, lease, holder, *fence, now)?.then_some(Reply::Renewed)
        }
        Action::Release(fence) => {
            statements::release(connection, lease, holder.as_str(), *fence)?.then_some(Reply::Released)
        }
    };
    match done {
        Some(reply) => Ok(reply),
        None => Ok(Reply::Refused(statements::read(connection, lease)?)),
    }
}
