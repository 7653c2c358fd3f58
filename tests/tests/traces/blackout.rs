//! What can befall a request when the store is to carry it out.

use super::ground::Ground;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tenure::protocol::{Action, Reply, Request};
use tenure::store::{Answer, SqliteStore, StoreError};

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blackout {
    /// Another connection holds the write lock, for longer than anybody waits.
    Locked,
    /// The call does not return.
    Hangs,
    /// It is applied, and the reply is lost.
    ReplyLost,
    /// The disk is full.
    Full,
    /// The file was moved away. It is moved back, but too late.
    Away,
}

impl Blackout {
    /// All of them.
    pub(super) const ALL: [Blackout; 5] =
        [Blackout::Locked, Blackout::Hangs, Blackout::ReplyLost, Blackout::Full, Blackout::Away];

    /// Whether such an answer is what it leaves. A full disk can be read, and what writes nothing needs no room; a file in
    /// WAL mode can be read whoever writes.
    pub(super) fn allows(self, action: &Action, answer: &Answer) -> bool {
        let (reads, refused) = (*action == Action::Read, matches!(answer, Ok(Reply::Refused(_))));
        let says_full = |error: &StoreError| error.to_string().contains("full");
        match self {
            Blackout::Locked => reads || answer.is_err(),
            Blackout::Full => reads || refused || answer.as_ref().is_err_and(says_full),
            Blackout::Hangs | Blackout::ReplyLost | Blackout::Away => answer.is_err(),
        }
    }

    /// Lets it befall a batch.
    pub(super) fn befall(self, ground: &Ground, store: &mut SqliteStore, batch: &[Request]) -> Vec<Answer> {
        match self {
            Blackout::Locked => locked(ground, || store.execute(batch)),
            Blackout::Hangs => unreachable!("a call that hangs is one that is not made"),
            Blackout::ReplyLost => {
                store.execute(batch);
                batch.iter().map(|_| Err(StoreError::Died)).collect()
            }
            Blackout::Full => full(ground, store, batch),
            Blackout::Away => away(ground, || store.execute(batch)),
        }
    }
}

fn locked<T>(ground: &Ground, work: impl FnOnce() -> T) -> T {
    ground.outsider.execute_batch("BEGIN EXCLUSIVE").unwrap();
    finally(work, || ground.outsider.execute_batch("ROLLBACK").unwrap())
}

/// The file may not grow, and a row that is written needs another page.
fn full(ground: &Ground, store: &mut SqliteStore, batch: &[Request]) -> Vec<Answer> {
    let fill = "CREATE TRIGGER fill_{} AFTER {} ON instance_leases BEGIN INSERT INTO ballast VALUES (zeroblob(9000)); END;";
    let triggers = ["insert", "update"].map(|event| fill.replace("{}", event));
    // A connection that is to be opened anew has no limit yet.
    store.execute(&[Request { action: Action::Read, ..batch[0].clone() }]);
    ground.outsider.execute_batch(&triggers.concat()).unwrap();
    limit(store, 1);
    let drop = "DROP TRIGGER fill_insert; DROP TRIGGER fill_update";
    let answers = finally(|| store.execute(batch), || ground.outsider.execute_batch(drop).unwrap());
    limit(store, 1_073_741_823);
    answers
}

/// Of this connection alone; a limit below what there is means: what there is.
fn limit(store: &mut SqliteStore, pages: i64) {
    if let Some(connection) = store.connection() {
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    }
}

fn away<T>(ground: &Ground, work: impl FnOnce() -> T) -> T {
    let (here, there) = (ground.db.path(), ground.db.beside("moved.db"));
    std::fs::rename(here, &there).unwrap();
    finally(work, || std::fs::rename(&there, here).unwrap())
}

/// Undoes it also if the work panics: a trace that is made shorter is played where that one was.
fn finally<T>(work: impl FnOnce() -> T, undo: impl FnOnce()) -> T {
    let done = catch_unwind(AssertUnwindSafe(work));
    undo();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

impl fmt::Display for Blackout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blackout::Locked => "the write lock is held by another",
            Blackout::Hangs => "the call hangs",
            Blackout::ReplyLost => "the reply is lost",
            Blackout::Full => "the disk is full",
            Blackout::Away => "the file is moved away",
        })
    }
}
