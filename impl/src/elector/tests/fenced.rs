//! Transactions that land only while the lease is held: SPEC.md R9.

use super::stage::{Stage, VALIDITY_MS, look};
use crate::clock::SetClock;
use crate::elector::{AcquireError, Held, Remedy};
use crate::fenced::TransactionError;
use crate::keeper::NotReleased;
use crate::protocol::Loss;
use rusqlite::{Connection, Transaction};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// The application's own connection and table.
fn application(stage: &Stage) -> Connection {
    let connection = Connection::open(stage.file()).unwrap();
    connection.execute_batch("CREATE TABLE IF NOT EXISTS work (value INTEGER UNIQUE)").unwrap();
    connection
}

fn written(stage: &Stage) -> Vec<i64> {
    let connection = Connection::open(stage.file()).unwrap();
    let mut query = connection.prepare("SELECT value FROM work ORDER BY value").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn insert(value: i64) -> impl Fn(&Transaction<'_>) -> rusqlite::Result<usize> {
    move |transaction| transaction.execute("INSERT INTO work VALUES (?1)", [value])
}

type Done<T = usize> = Result<T, TransactionError<rusqlite::Error>>;

#[test]
fn a_holders_write_lands() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let mut connection = application(&stage);
    let row = stage.row("worker");
    assert_eq!(held.transaction(&mut connection, insert(7)).unwrap(), 1);
    assert_eq!(written(&stage), [7]);
    assert_eq!(stage.row("worker"), row, "the lease is as it was");
    // And the connection is the application's own again.
    connection.execute("INSERT INTO work VALUES (8)", []).unwrap();
    assert_eq!(written(&stage), [7, 8]);
    one.pass(60_000);
    held.transaction(&mut connection, insert(9)).unwrap();
}

/// SPEC.md R9: by its own clock it is held, which went wrong beyond any bound; the row knows better.
#[test]
fn a_superseded_holders_write_does_not_land_whatever_its_clock_says() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let stale = one.acquire("worker");
    let mut connection = application(&stage);
    // The wall clock jumps, and the lease is taken.
    stage.clock.set_wall(SetClock::BEGIN + 3_600_000);
    let held = other.acquire("worker");
    assert!(stale.is_held() && held.is_held(), "two believe");
    let mut lost = stale.lost();
    let done: Done = stale.transaction(&mut connection, insert(1));
    let Err(error) = done else { panic!("it has landed") };
    assert_eq!(error.remedy(), Remedy::StopActing);
    let TransactionError::Lost(Loss::Superseded { fence, holder }) = error else { panic!("{error}") };
    assert_eq!((fence, holder.as_str()), (held.fence(), held.holder().as_str()));
    assert_eq!(written(&stage), [0; 0]);
    // What was found stands, and is told and counted once.
    assert!(!stale.is_held());
    one.settle();
    assert!(matches!(look(&mut lost), Some(Loss::Superseded { .. })));
    held.transaction(&mut connection, insert(2)).unwrap();
    one.pass(60_000);
    assert_eq!((one.elector().counters().lost_superseded, one.elector().counters().losses()), (1, 1));
}

#[test]
fn a_row_that_is_released_gone_or_unreadable_lets_no_write_land() {
    let spoil = [
        ("UPDATE instance_leases SET expires_at = 0", "released by somebody else"),
        ("DELETE FROM instance_leases", "went back"),
        ("UPDATE instance_leases SET fence = 0", "went back"),
        ("UPDATE instance_leases SET holder_id = 'appview-1'", "went back"),
        ("UPDATE instance_leases SET expires_at = 'never'", "unreadable"),
    ];
    for (sql, says) in spoil {
        let stage = Stage::new();
        let mut hand = stage.by_hand(1);
        let held = hand.acquire("worker");
        let mut connection = application(&stage);
        connection.execute_batch(sql).unwrap();
        let done: Done = held.transaction(&mut connection, insert(1));
        assert!(done.is_err_and(|error| error.to_string().contains(says)), "{sql}");
        assert_eq!(written(&stage), [0; 0], "{sql}");
    }
}

/// Nobody has succeeded it, so nobody is harmed.
#[test]
fn an_expired_row_that_nobody_has_taken_is_current() {
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    stage.clock.set_wall(SetClock::BEGIN + 3_600_000);
    held.transaction(&mut application(&stage), insert(1)).unwrap();
}

/// SPEC.md R9.3.
#[test]
fn a_deadline_that_has_passed_at_the_beginning_refuses_one_that_passes_within_does_not() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let mut connection = application(&stage);
    held.transaction(&mut connection, |transaction| {
        stage.clock.advance(u32::try_from(VALIDITY_MS).unwrap());
        insert(1)(transaction)
    })
    .unwrap();
    assert_eq!(written(&stage), [1]);
    let done: Done = held.transaction(&mut connection, insert(2));
    assert!(matches!(done, Err(TransactionError::Lost(Loss::DeadlinePassed))));
    assert_eq!(written(&stage), [1]);
}

/// The lock keeps every successor out for as long as the transaction lasts.
#[test]
fn nobody_is_granted_the_lease_within_a_transaction() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let held = one.acquire("worker");
    let mut connection = application(&stage);
    held.transaction(&mut connection, |transaction| {
        stage.clock.set_wall(SetClock::BEGIN + 3_600_000);
        let mut attempt = other.elector().acquire("worker");
        // This thread is inside; the attempt is another process's, so to say.
        assert!(matches!(look(&mut attempt), Some(Err(AcquireError::InTransaction))));
        insert(1)(transaction)
    })
    .unwrap();
    drop(other.acquire("worker"));
}

/// An unqualified name finds a TEMP table first.
#[test]
fn a_table_of_the_same_name_elsewhere_is_not_believed() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let held = one.acquire("worker");
    let mut connection = application(&stage);
    connection
        .execute_batch("CREATE TEMP TABLE instance_leases AS SELECT * FROM main.instance_leases")
        .unwrap();
    stage.clock.set_wall(SetClock::BEGIN + 3_600_000);
    let _successor = other.acquire("worker");
    let done: Done = held.transaction(&mut connection, insert(1));
    assert!(matches!(done, Err(TransactionError::Lost(Loss::Superseded { .. }))));
}

#[test]
fn a_connection_to_another_file_is_refused() {
    let (stage, elsewhere) = (Stage::new(), Stage::new());
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let mut twin = elsewhere.by_hand(1);
    let _twin = twin.acquire("worker");
    let refused = |connection: &mut Connection| {
        let done: Done = held.transaction(connection, insert(1));
        matches!(done, Err(TransactionError::OtherFile { .. }))
    };
    assert!(refused(&mut application(&elsewhere)));
    assert!(refused(&mut Connection::open_in_memory().unwrap()));
    // Attached is not enough: the transaction would span two files.
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute("ATTACH ?1 AS app", [stage.file().to_str()]).unwrap();
    assert!(refused(&mut connection));
    // And the right one, which was moved.
    let mut connection = application(&stage);
    std::fs::rename(stage.file(), stage.file().with_extension("away")).unwrap();
    assert!(refused(&mut connection));
}

/// SPEC.md R9.2.
#[test]
fn no_statement_of_the_work_can_commit_by_itself() {
    let rolls_back = "CREATE TRIGGER no BEFORE INSERT ON work WHEN new.value = 666 BEGIN SELECT RAISE(ROLLBACK, 'no'); END";
    type Work = fn(&Transaction<'_>);
    let works: [(&str, Work); 6] = [
        ("COMMIT", |t| assert!(t.execute_batch("COMMIT").is_err())),
        ("COMMIT, and on", |t| {
            let _ = t.execute_batch("COMMIT");
            assert!(insert(2)(t).is_err());
        }),
        ("ROLLBACK, and on", |t| {
            t.execute_batch("ROLLBACK").unwrap();
            assert!(insert(2)(t).is_err());
        }),
        ("ROLLBACK; BEGIN", |t| t.execute_batch("ROLLBACK; BEGIN; INSERT INTO work VALUES (3)").unwrap()),
        ("RAISE(ROLLBACK)", |t| {
            assert!(insert(666)(t).is_err());
            assert!(insert(4)(t).is_err());
        }),
        ("ON CONFLICT ROLLBACK", |t| {
            assert!(t.execute_batch("INSERT OR ROLLBACK INTO work VALUES (100)").is_err());
            assert!(insert(5)(t).is_err());
        }),
    ];
    for (name, work) in works {
        let stage = Stage::new();
        let mut hand = stage.by_hand(1);
        let held = hand.acquire("worker");
        let mut connection = application(&stage);
        connection.execute_batch(&format!("INSERT INTO work VALUES (100); {rolls_back}")).unwrap();
        let done: Done = held.transaction(&mut connection, |transaction| {
            insert(1)(transaction)?;
            work(transaction);
            Ok(0)
        });
        assert!(matches!(done, Err(TransactionError::RolledBack)), "{name}: {done:?}");
        assert_eq!(written(&stage), [100], "{name}");
        // The connection is whole, and so is the lease.
        held.transaction(&mut connection, insert(1)).unwrap();
        connection.execute("INSERT INTO work VALUES (2)", []).unwrap();
        assert_eq!(written(&stage), [1, 2, 100], "{name}");
    }
}

#[test]
fn work_that_fails_or_panics_leaves_nothing() {
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let mut connection = application(&stage);
    let failed = held.transaction(&mut connection, |transaction| {
        insert(1)(transaction).unwrap();
        Err::<(), _>("the work's own")
    });
    assert!(matches!(failed, Err(TransactionError::Work("the work's own"))));
    connection.execute_batch("BEGIN; INSERT INTO work VALUES (9); DELETE FROM work; COMMIT").unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        held.transaction(&mut connection, |transaction| -> Result<(), ()> {
            insert(2)(transaction).unwrap();
            panic!("the work panics, as the test wants");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(written(&stage), [0; 0]);
    held.transaction(&mut connection, insert(3)).unwrap();
    assert_eq!(written(&stage), [3]);
    // A constraint that is checked at the commit.
    connection
        .execute_batch("PRAGMA foreign_keys = ON; CREATE TABLE part (whole REFERENCES work (value) DEFERRABLE INITIALLY DEFERRED)")
        .unwrap();
    let done: Done = held
        .transaction(&mut connection, |transaction| transaction.execute("INSERT INTO part VALUES (99)", []));
    assert!(matches!(done, Err(TransactionError::Sqlite(_))), "{done:?}");
    assert!(connection.is_autocommit());
}

#[test]
fn what_would_wait_for_its_own_lock_is_refused() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let (mut connection, mut second) = (application(&stage), application(&stage));
    held.transaction(&mut connection, |_| {
        let inside = |error: AcquireError| matches!(error, AcquireError::InTransaction);
        assert!(look(&mut one.elector().acquire("another")).unwrap().is_err_and(inside));
        assert!(look(&mut one.elector().try_acquire("another")).unwrap().is_err_and(inside));
        assert!(one.elector().run_blocking("another", |_| ()).is_err_and(inside));
        assert_eq!(look(&mut Held::clone(&held).release()), Some(Err(NotReleased::InTransaction)));
        let nested: Done = held.transaction(&mut second, insert(1));
        assert!(matches!(nested, Err(TransactionError::InTransaction)));
        Ok::<_, ()>(())
    })
    .unwrap();
    assert!(held.is_held());
    connection.execute_batch("BEGIN").unwrap();
    let done: Done = held.transaction(&mut connection, insert(1));
    assert!(matches!(done, Err(TransactionError::InTransaction)));
}

#[test]
fn a_locked_file_is_busy_and_nothing_is_written() {
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let (mut connection, other) = (application(&stage), application(&stage));
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done: Done = held.transaction(&mut connection, insert(1));
    let Err(error) = done else { panic!("it has landed") };
    assert!(matches!(error, TransactionError::Busy) && error.remedy() == Remedy::Retry);
    other.execute_batch("COMMIT").unwrap();
    held.transaction(&mut connection, insert(1)).unwrap();
    // At the commit, in a rollback journal's mode: a reader is in the way.
    let stage = Stage::new();
    Connection::open(stage.file())
        .unwrap()
        .execute_batch("CREATE TABLE work (value INTEGER UNIQUE)")
        .unwrap();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let (mut connection, reader) = (application(&stage), application(&stage));
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM work").unwrap();
    let done: Done = held.transaction(&mut connection, insert(1));
    assert!(matches!(done, Err(TransactionError::Busy)), "{done:?}");
    assert!(connection.is_autocommit());
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(written(&stage), [0; 0]);
}

/// The disk is full: SQLite has rolled the transaction back before the work went on.
#[test]
fn work_that_ignores_a_full_disk_writes_nothing() {
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let mut connection = application(&stage);
    connection.execute_batch("CREATE TABLE big (bytes BLOB)").unwrap();
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "max_page_count", pages + 2).unwrap();
    let done: Done = held.transaction(&mut connection, |transaction| {
        let _ = transaction.execute("INSERT INTO big VALUES (zeroblob(1000000))", []);
        let _ = insert(1)(transaction);
        Ok(0)
    });
    // Whether SQLite rolls back here is its own affair; if it does, nothing that came after may land.
    match done {
        Ok(_) => assert_eq!(written(&stage), [1]),
        Err(TransactionError::RolledBack) => assert_eq!(written(&stage), [0; 0]),
        Err(other) => panic!("{other}"),
    }
}

/// A lost lease is lost, and nobody waits for a lock to say so; and one that is lost in that wait is lost, too.
#[test]
fn a_lease_that_is_lost_before_the_lock_is_had_lets_no_write_land() {
    static WAITING: Mutex<Option<(Arc<SetClock>, Connection)>> = Mutex::new(None);
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let (mut connection, other) = (application(&stage), application(&stage));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    *WAITING.lock().unwrap() = Some((Arc::clone(&stage.clock), other));
    // Asked once, while it waits: time passes, and the lock is let go.
    connection
        .busy_handler(Some(|_| {
            let (clock, other) = WAITING.lock().unwrap().take().unwrap();
            clock.advance(u32::try_from(VALIDITY_MS).unwrap());
            other.execute_batch("COMMIT").unwrap();
            true
        }))
        .unwrap();
    let done: Done = held.transaction(&mut connection, insert(1));
    assert!(matches!(done, Err(TransactionError::Lost(Loss::DeadlinePassed))), "{done:?}");
    assert!(WAITING.lock().unwrap().is_none(), "it has waited");
    assert_eq!(written(&stage), [0; 0]);
    let other = application(&stage);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let done: Done = held.transaction(&mut connection, insert(1));
    assert!(matches!(done, Err(TransactionError::Lost(Loss::DeadlinePassed))), "{done:?}");
}

/// SPEC.md R11.3: it is written to a file that nobody else will read.
#[test]
fn a_file_that_is_moved_meanwhile_makes_the_outcome_unknown() {
    let stage = Stage::new();
    let mut hand = stage.by_hand(1);
    let held = hand.acquire("worker");
    let mut connection = application(&stage);
    let done: Done = held.transaction(&mut connection, |transaction| {
        std::fs::rename(stage.file(), stage.file().with_extension("away")).unwrap();
        insert(1)(transaction)
    });
    assert!(matches!(done, Err(TransactionError::Unknown(_))), "{done:?}");
}
