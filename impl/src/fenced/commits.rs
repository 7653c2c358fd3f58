//! No commit but the wrapper's own: SPEC.md R9.2.

use rusqlite::{Connection, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

const FORBIDDEN: u8 = 0;
const ALLOWED: u8 = 1;
const ROLLED_BACK: u8 = 2;

/// A connection on which nothing commits unless it is allowed.
pub(super) struct Commits<'a> {
    connection: &'a mut Connection,
    permit: Permit,
}

/// Whether the transaction may commit.
#[derive(Clone)]
pub(super) struct Permit(Arc<AtomicU8>);

impl<'a> Commits<'a> {
    /// After a statement that rolls the whole transaction back, SQLite is in autocommit mode, and each later statement
    /// would commit by itself: a commit hook refuses that. Should somebody begin a transaction of his own then, the
    /// rollback was noted.
    pub(super) fn forbid(connection: &'a mut Connection) -> Result<Self> {
        let permit = Permit(Arc::new(AtomicU8::new(FORBIDDEN)));
        let (asked, told) = (permit.clone(), permit.clone());
        let commits = Self { connection, permit };
        commits.connection.commit_hook(Some(move || asked.0.load(SeqCst) != ALLOWED))?;
        commits.connection.rollback_hook(Some(move || told.0.store(ROLLED_BACK, SeqCst)))?;
        Ok(commits)
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        self.connection
    }

    pub(super) fn permit(&self) -> Permit {
        self.permit.clone()
    }
}

impl Permit {
    pub(super) fn was_rolled_back(&self) -> bool {
        self.0.load(SeqCst) == ROLLED_BACK
    }

    pub(super) fn allow(&self) {
        self.0.store(ALLOWED, SeqCst);
    }
}

impl Drop for Commits<'_> {
    fn drop(&mut self) {
        let _ = self.connection.commit_hook(None::<fn() -> bool>);
        let _ = self.connection.rollback_hook(None::<fn()>);
    }
}
