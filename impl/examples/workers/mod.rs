//! What the five workers do, and the gate that refuses whoever lost its lease and does not know it yet.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tenure::{Elector, Held};

/// What must be done by exactly one instance. Its name is the lease's.
struct Job {
    name: &'static str,
    /// One round of the work.
    sql: &'static str,
}

const JOBS: [Job; 5] = [
    // Takes the next event off the stream. Two that did so at once would take the same.
    Job {
        name: "stream-consumer",
        sql: "UPDATE cursors SET position = position + 1 WHERE name = 'stream';
              INSERT INTO events (id) SELECT position FROM cursors WHERE name = 'stream'",
    },
    // Goes back in history, an event at a time.
    Job {
        name: "backfill",
        sql: "UPDATE cursors SET position = position - 1 WHERE name = 'history';
              INSERT INTO events (id) SELECT position FROM cursors WHERE name = 'history'",
    },
    // Labels what is new, and has it delivered.
    Job {
        name: "labeler",
        sql: "INSERT INTO outbox (event) SELECT id FROM events WHERE label IS NULL;
              UPDATE events SET label = iif(id > 0, 'fresh', 'old') WHERE label IS NULL",
    },
    // Deletes what was delivered.
    Job {
        name: "cleanup",
        sql: "DELETE FROM events WHERE label IS NOT NULL AND id NOT IN (SELECT event FROM outbox)",
    },
    // Delivers. Here the receiver is a table. A real one is elsewhere, where no transaction of ours reaches: it gets
    // the fence with each delivery, and must itself refuse one that is lower than the highest it has seen.
    Job {
        name: "webhook-dispatcher",
        sql: "INSERT INTO received (event, fence)
                SELECT event, fence FROM outbox, gates WHERE worker = 'webhook-dispatcher';
              DELETE FROM outbox",
    },
];

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, position INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, label TEXT);
CREATE TABLE IF NOT EXISTS outbox (event INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS received (event INTEGER PRIMARY KEY, fence INTEGER NOT NULL);
INSERT OR IGNORE INTO cursors VALUES ('stream', 0), ('history', 1);

-- The highest fence that each worker has acted with.
CREATE TABLE IF NOT EXISTS gates (worker TEXT PRIMARY KEY, fence INTEGER NOT NULL);

-- Every act in its order, for who wants to check.
CREATE TABLE IF NOT EXISTS acts (
  number INTEGER PRIMARY KEY, worker TEXT NOT NULL, fence INTEGER NOT NULL, instance TEXT NOT NULL);
";

/// How long an act waits for others who write. Less than a lease's grace, a fourth of its TTL, so that work that waits
/// still stops in time.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// What has come of an act.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done.
    Done,
    /// By our own clock the lease was lost, so nothing was done.
    NotHeld,
    /// Somebody has acted with a higher fence, so nothing was done.
    Refused,
}

/// A worker on this instance.
pub(crate) struct Worker {
    pub(crate) name: &'static str,
    sql: &'static str,
    pub(crate) instance: String,
    /// Its own: if they shared one, each would wait for all others before its own timeout begins. Nobody else locks it: it
    /// is a mutex so that an async task may keep a reference.
    connection: Mutex<Connection>,
}

/// All workers on a file. Not before an elector has opened it: that makes of a new file one with a write-ahead log.
pub(crate) fn open(file: &str, instance: &str) -> rusqlite::Result<Vec<Worker>> {
    set_up(&mut connect(file)?)?;
    JOBS.iter().map(|job| Worker::new(job, file, instance)).collect()
}

fn connect(file: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

fn set_up(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    for job in &JOBS {
        transaction.execute("INSERT OR IGNORE INTO gates VALUES (?1, 0)", [job.name])?;
    }
    transaction.commit()
}

impl Worker {
    fn new(job: &Job, file: &str, instance: &str) -> rusqlite::Result<Self> {
        let connection = Mutex::new(connect(file)?);
        Ok(Self { name: job.name, sql: job.sql, instance: instance.into(), connection })
    }

    /// Says that the worker begins, and when what is returned is dropped, that it ends.
    pub(crate) fn begins(&self, held: &Held) -> Shift<'_> {
        println!("{}: {} begins with fence {}", self.instance, self.name, held.fence());
        Shift(self)
    }

    /// One round of the work: all of it, or nothing. Blocks.
    pub(crate) fn act(&self, held: &Held) -> rusqlite::Result<Outcome> {
        // One that panicked has rolled back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // This takes the write lock: from now on nobody else raises a gate, until we have committed.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Asked only now, since the wait for the lock may have outlasted the lease.
        if !held.is_held() {
            return Ok(Outcome::NotHeld);
        }
        if !self.passes_gate(&transaction, held)? {
            return Ok(Outcome::Refused);
        }
        transaction.execute_batch(self.sql)?;
        let act = "INSERT INTO acts (worker, fence, instance) VALUES (?1, ?2, ?3)";
        transaction.execute(act, params![self.name, held.fence().get(), self.instance])?;
        transaction.commit()?;
        Ok(Outcome::Done)
    }

    /// Raises the gate to our fence, unless it is higher already. In the act's own transaction: a gate that was asked
    /// before it would let through who stalls between the two.
    fn passes_gate(&self, transaction: &Transaction, held: &Held) -> rusqlite::Result<bool> {
        let raise = "UPDATE gates SET fence = ?2 WHERE worker = ?1 AND fence <= ?2";
        Ok(transaction.execute(raise, params![self.name, held.fence().get()])? == 1)
    }
}

/// A worker that has begun, and ends when this is dropped.
pub(crate) struct Shift<'a>(&'a Worker);

impl Drop for Shift<'_> {
    fn drop(&mut self) {
        println!("{}: {} ends", self.0.instance, self.0.name);
    }
}

/// What an elector has counted, in a line.
pub(crate) fn summarize(elector: &Elector, label: &str) {
    let c = elector.counters();
    println!(
        "{label}: {} tenures, {} given back, {} lost; {} renewals, at most {} ms late",
        c.grants,
        c.releases,
        c.losses(),
        c.renewals,
        c.renewal_lag_max_ms
    );
}
