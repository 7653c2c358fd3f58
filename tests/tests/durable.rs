//! R8: what is granted is committed; and what a failure leaves behind.

use std::sync::Arc;
use tenure::protocol::{Action, Bound, Event, Fence, Free, HolderId, Input, Reply, Request, Seen};
use tenure::store::{Answer, SqliteStore, StoreError};
use tests::{HookedClock, Player, SetClock, TABLE, TempDb, bound, holder, lease, request, timing};

const WAL: &str = "PRAGMA journal_mode = WAL;";
const TTL: u64 = 10_000;

fn me() -> HolderId {
    holder(1, &timing(TTL))
}

fn acquire(lease_name: &str) -> Request {
    request(&lease(lease_name), &me(), Action::Acquire(Bound::Absent))
}

fn read(lease_name: &str) -> Request {
    request(&lease(lease_name), &me(), Action::Read)
}

fn one(store: &mut SqliteStore, request: Request) -> Answer {
    store.execute(&[request]).pop().unwrap()
}

/// SPEC.md R8: what SQLite has not committed was not granted.
#[test]
fn a_commit_that_a_reader_keeps_from_happening_is_no_grant() {
    let db = TempDb::with(TABLE);
    let mut store = db.store(&SetClock::new());
    let reader = db.raw();
    reader.execute_batch("BEGIN; SELECT * FROM instance_leases").unwrap();
    let before = db.dump();
    for _ in 0..200 {
        let answer = one(&mut store, acquire("worker"));
        assert!(matches!(answer, Err(StoreError::Busy)), "{answer:?}");
        assert_eq!(db.dump(), before);
    }
    reader.execute_batch("COMMIT").unwrap();
    assert!(matches!(one(&mut store, acquire("worker")), Ok(Reply::Granted(Fence::FIRST))));
    assert_eq!(db.row("worker").unwrap().fence, 1);
}

#[test]
fn a_write_that_finds_the_file_locked_is_busy_and_succeeds_afterwards() {
    for mode in ["", WAL] {
        let db = TempDb::with(&format!("{mode}{TABLE}"));
        let mut store = db.store(&SetClock::new());
        let other = db.raw();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(one(&mut store, acquire("worker")), Err(StoreError::Busy)));
        other.execute_batch("COMMIT").unwrap();
        assert!(matches!(one(&mut store, acquire("worker")), Ok(Reply::Granted(_))));
    }
}

/// A table in which the lease `no` cannot be granted: the statement fails in the midst of its transaction.
const NO_NO: &str = "CREATE TABLE instance_leases (
    lease_name TEXT PRIMARY KEY CHECK (lease_name <> 'no'), holder_id TEXT NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0, acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);";

/// SPEC.md R7: the next request must be able to find out.
#[test]
fn an_error_within_the_transaction_leaves_no_transaction_and_no_lock() {
    for mode in ["", WAL] {
        let db = TempDb::with(&format!("{mode}{NO_NO}"));
        let mut store = db.store(&SetClock::new());
        for name in ["a", "b", "c"] {
            let answer = one(&mut store, acquire("no"));
            assert!(matches!(answer, Err(StoreError::Sqlite(_))), "{answer:?}");
            // Nobody is kept out.
            db.execute("BEGIN IMMEDIATE; COMMIT");
            let answer = one(&mut store, acquire(name));
            assert!(matches!(answer, Ok(Reply::Granted(_))), "{answer:?}");
        }
    }
}

/// The transaction of all is rolled back, whole; then each is one of its own.
#[test]
fn a_write_that_a_constraint_refuses_spoils_no_other_of_its_batch() {
    let db = TempDb::with(&format!("{WAL}{NO_NO}"));
    let mut store = db.store(&SetClock::new());
    let answers = store.execute(&[acquire("yes"), acquire("no"), read("yes"), acquire("maybe")]);
    assert!(
        matches!(
            &answers[..],
            [
                Ok(Reply::Granted(Fence::FIRST)),
                Err(StoreError::Sqlite(_)),
                Ok(Reply::Seen { seen: Seen::Absent, .. }),
                Ok(Reply::Granted(Fence::FIRST))
            ]
        ),
        "{answers:?}"
    );
    assert_eq!(db.row("no"), None);
    assert!(db.row("yes").is_some_and(|row| row.fence == 1) && db.row("maybe").is_some());
}

/// Any other failure is everybody's: nothing is left of any.
#[test]
fn a_batch_whose_transaction_fails_changes_nothing() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let mut store = db.store(&SetClock::new());
    assert!(matches!(one(&mut store, acquire("before")), Ok(Reply::Granted(_))));
    let before = db.dump();
    let clock = SetClock::new();
    clock.set_wall(-1);
    let answers = db.store(&clock).execute(&[acquire("one"), acquire("other")]);
    assert!(matches!(&answers[..], [Err(_), Err(_)]), "{answers:?}");
    assert_eq!(db.dump(), before);
}

#[test]
fn a_table_that_disappears_is_an_error_until_it_is_back() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let mut store = db.store(&SetClock::new());
    db.execute("DROP TABLE instance_leases");
    for _ in 0..3 {
        assert!(matches!(one(&mut store, acquire("worker")), Err(StoreError::Sqlite(_))));
        assert!(matches!(one(&mut store, read("worker")), Err(StoreError::Sqlite(_))));
    }
    db.execute(TABLE);
    assert!(matches!(one(&mut store, acquire("worker")), Ok(Reply::Granted(_))));
}

#[test]
fn a_wall_clock_before_1970_writes_nothing() {
    let db = TempDb::with(TABLE);
    let clock = SetClock::new();
    let mut store = db.store(&clock);
    let before = db.dump();
    for wall in [0, -1, i64::MIN] {
        clock.set_wall(wall);
        let answer = one(&mut store, acquire("worker"));
        assert!(matches!(answer, Err(StoreError::Clock { .. })), "{answer:?}");
    }
    assert_eq!(db.dump(), before);
    clock.set_wall(1);
    assert!(matches!(one(&mut store, acquire("worker")), Ok(Reply::Granted(_))));
}

/// SPEC.md R1: not a clock from before the wait for the lock.
#[test]
fn the_wall_clock_is_read_while_the_write_lock_is_held() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let path = db.path().to_owned();
    let (say, said) = std::sync::mpsc::channel();
    let clock = HookedClock::new(move || {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        say.send(other.execute_batch("BEGIN IMMEDIATE").is_err()).unwrap();
    });
    one(&mut db.store(&clock), acquire("worker")).unwrap();
    assert_eq!(said.try_iter().collect::<Vec<_>>(), [true]);
}

#[test]
fn fifty_writes_of_one_batch_are_one_commit() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let mut store = db.store(&SetClock::new());
    let names: Vec<_> = (0..50).map(|number| format!("lease-{number}")).collect();
    let commits_before = commits(&db);
    let acquires: Vec<_> = names.iter().map(|name| acquire(name)).collect();
    for answer in store.execute(&acquires) {
        assert!(matches!(answer, Ok(Reply::Granted(Fence::FIRST))), "{answer:?}");
    }
    assert_eq!(commits(&db), commits_before + 1);
    let renewals: Vec<_> =
        names.iter().map(|name| request(&lease(name), &me(), Action::Renew(Fence::FIRST))).collect();
    assert!(store.execute(&renewals).iter().all(|answer| matches!(answer, Ok(Reply::Renewed))));
    assert_eq!(commits(&db), commits_before + 2);
}

/// The transactions in the write-ahead log: the frames that name the database's size after a commit.
fn commits(db: &TempDb) -> usize {
    let Ok(log) = std::fs::read(db.beside("leases.db-wal")) else { return 0 };
    if log.is_empty() {
        return 0;
    }
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let (header, page) = (32, word(8) as usize);
    (header..log.len())
        .step_by(24 + page)
        .filter(|&frame| word(frame + 8) == word(16) && word(frame + 4) != 0)
        .count()
}

#[test]
fn a_standby_is_answered_while_another_connection_holds_the_write_lock() {
    for mode in ["", WAL] {
        let db = TempDb::with(&format!(
            "{mode}{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 7, 1, 9000000000000)"
        ));
        let clock = SetClock::new();
        let mut standby = Player::new(db.store(&clock), &clock, &lease("worker"), &me(), timing(TTL));
        let writer = db.raw();
        writer.execute_batch("BEGIN IMMEDIATE; UPDATE instance_leases SET acquired_at = 2").unwrap();
        for _ in 0..10 {
            let events = standby.after(2_000);
            assert!(matches!(&events[..], [Event::Held(row)] if row.holder == "appview-1"), "{events:?}");
        }
        writer.execute_batch("COMMIT").unwrap();
    }
}

#[test]
fn a_standby_that_polls_a_held_lease_never_writes() {
    let db = TempDb::with(&format!(
        "{WAL}{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 7, 1, 9000000000000)"
    ));
    let clock = SetClock::new();
    let mut standby = Player::new(db.store(&clock), &clock, &lease("worker"), &me(), timing(TTL));
    let before = commits(&db);
    for _ in 0..10 {
        let (read, _) = standby.step(Input::Wake);
        let read = read.unwrap();
        assert_eq!(read.action, Action::Read);
        let reply = standby.carry_out(&read);
        assert_eq!(standby.step(reply).0, None, "nothing is asked of a lease that is held");
        clock.advance(2_000);
    }
    assert_eq!(commits(&db), before);
}

#[test]
fn every_reply_to_a_write_is_what_a_fresh_reader_finds() {
    for mode in ["", WAL] {
        let db = TempDb::with(&format!("{mode}{TABLE}"));
        let clock = SetClock::new();
        let mut store = db.store(&clock);
        let ttl = TTL as i64;
        let worker = |action| request(&lease("worker"), &me(), action);
        let mut expect = |action, fence, acquired_at, expires_at| {
            one(&mut store, worker(action)).unwrap();
            let row = db.row("worker").unwrap();
            assert_eq!((row.fence, row.acquired_at, row.expires_at), (fence, acquired_at, expires_at));
        };
        let begin = SetClock::BEGIN;
        expect(Action::Acquire(Bound::Absent), 1, begin, begin + ttl);
        clock.advance(100);
        expect(Action::Renew(Fence::FIRST), 1, begin, begin + 100 + ttl);
        clock.set_wall(begin);
        expect(Action::Renew(Fence::FIRST), 1, begin, begin + 101 + ttl);
        expect(Action::Release(Fence::FIRST), 1, begin, 0);
        expect(Action::Renew(Fence::FIRST), 1, begin, 0);
        expect(Action::Acquire(bound(me().as_str(), 1, Free::OnceReleased)), 2, begin, begin + ttl);
        expect(Action::Release(Fence::FIRST), 2, begin, begin + ttl);
    }
}

/// SPEC.md R2 and R11: it would count from 1 again.
#[test]
fn a_write_for_a_row_that_has_gone_makes_none() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let mut store = db.store(&SetClock::new());
    let fence = Fence::new(7).unwrap();
    for action in
        [Action::Acquire(bound("appview-1", 7, Free::Now)), Action::Renew(fence), Action::Release(fence)]
    {
        let answer = one(&mut store, request(&lease("worker"), &me(), action));
        assert!(matches!(answer, Ok(Reply::Refused(Seen::Absent))), "{answer:?}");
    }
    assert_eq!(db.row("worker"), None);
}

/// SPEC.md R3: an expired lease is never revived, and released is final.
#[test]
fn an_expired_or_released_tenure_is_never_renewed() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let clock = SetClock::new();
    let mut store = db.store(&clock);
    let worker = |action| request(&lease("worker"), &me(), action);
    one(&mut store, worker(Action::Acquire(Bound::Absent))).unwrap();
    clock.advance(TTL as u32);
    let before = db.dump();
    let answer = one(&mut store, worker(Action::Renew(Fence::FIRST)));
    assert!(matches!(answer, Ok(Reply::Refused(Seen::Row(_)))), "{answer:?}");
    assert_eq!(db.dump(), before);
    // A clock that stands back does not revive what was given back.
    one(&mut store, worker(Action::Release(Fence::FIRST))).unwrap();
    for wall in [1, SetClock::BEGIN] {
        clock.set_wall(wall);
        let answer = one(&mut store, worker(Action::Renew(Fence::FIRST)));
        assert!(matches!(answer, Ok(Reply::Refused(Seen::Row(_)))), "{answer:?}");
    }
}

/// SPEC.md R3: name, holder and fence.
#[test]
fn nobody_elses_tenure_is_renewed_or_released() {
    let db = TempDb::with(&format!("{WAL}{TABLE}"));
    let clock = SetClock::new();
    let mut store = db.store(&clock);
    one(&mut store, acquire("worker")).unwrap();
    one(&mut store, acquire("another")).unwrap();
    let before = db.dump();
    let twin = holder(2, &timing(TTL));
    for (who, fence) in [(&me(), 0), (&me(), 2), (&twin, 1)] {
        let fence = Fence::new(fence).unwrap();
        for action in [Action::Renew(fence), Action::Release(fence)] {
            let answer = one(&mut store, request(&lease("worker"), who, action));
            assert!(matches!(answer, Ok(Reply::Refused(Seen::Row(_)))), "{answer:?}");
        }
    }
    assert_eq!(db.dump(), before);
    one(&mut store, request(&lease("worker"), &me(), Action::Release(Fence::FIRST))).unwrap();
    assert_ne!(db.row("another").unwrap().expires_at, 0);
}

#[test]
fn a_store_that_is_dropped_keeps_nobody_out() {
    let db = TempDb::new();
    let clock = SetClock::new();
    let mut store = db.store(&clock);
    one(&mut store, acquire("worker")).unwrap();
    drop(store);
    db.execute("BEGIN EXCLUSIVE; COMMIT");
    assert_eq!(Arc::strong_count(&clock), 1);
    assert!(!db.beside("leases.db-wal").exists(), "the last connection tidies up");
}
