//! R11: the store never goes back, and the file is the file at its path.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tenure::protocol::{Action, Bound, End, Event, Fence, Free, HolderId, Input, Loss, Reply, Request, Seen};
use tenure::store::{Answer, OpenError, SqliteStore, StoreError};
use tests::{HookedClock, Player, SetClock, TABLE, TempDb, bound, execute, holder, lease, request, timing};

const TTL: u64 = 10_000;

fn me() -> HolderId {
    holder(1, &timing(TTL))
}

fn worker(action: Action) -> Request {
    request(&lease("worker"), &me(), action)
}

/// A row of ours with that fence, held for long, in a file with a rollback journal: the file is all there is.
fn held(fence: i64) -> String {
    format!("{TABLE} INSERT INTO instance_leases VALUES ('worker', '{}', {fence}, 1, 9000000000000)", me())
}

/// Everything that a holder of fence 7, or who wants to become it, may ask.
fn all_requests() -> Vec<Request> {
    let fence = Fence::new(7).unwrap();
    [
        Action::Read,
        Action::Renew(fence),
        Action::Release(fence),
        Action::Acquire(Bound::Absent),
        Action::Acquire(bound(me().as_str(), 7, Free::Now)),
    ]
    .map(worker)
    .into()
}

/// Asks for everything, one by one.
fn ask_all(store: &mut SqliteStore) -> Vec<Answer> {
    all_requests().into_iter().flat_map(|request| store.execute(&[request])).collect()
}

fn vanished(answer: &Answer) -> bool {
    matches!(answer, Err(StoreError::Open(OpenError::Vanished { .. })))
}

fn renewed(store: &mut SqliteStore) -> bool {
    let fence = Fence::new(7).unwrap();
    matches!(store.execute(&[worker(Action::Renew(fence))])[..], [Ok(Reply::Renewed)])
}

/// SPEC.md R11: a database that vanished is not made anew.
#[test]
fn a_removed_file_answers_nothing_and_is_not_made_anew() {
    for mode in ["", "PRAGMA journal_mode = WAL;"] {
        let db = TempDb::with(&format!("{mode}{}", held(7)));
        let mut store = db.store(&SetClock::new());
        assert!(renewed(&mut store));
        for (file, _) in db.files() {
            fs::remove_file(file).unwrap();
        }
        for answer in ask_all(&mut store) {
            assert!(vanished(&answer), "{answer:?}");
        }
        assert_eq!(db.files(), []);
    }
}

#[test]
fn a_file_that_was_moved_away_answers_nothing_until_it_is_back() {
    let db = TempDb::with(&held(7));
    let mut store = db.store(&SetClock::new());
    let away = db.beside("away.db");
    for _ in 0..2 {
        assert!(renewed(&mut store));
        fs::rename(db.path(), &away).unwrap();
        let before = fs::read(&away).unwrap();
        assert!(ask_all(&mut store).iter().all(vanished));
        assert_eq!(fs::read(&away).unwrap(), before, "nothing is written to the file of that time");
        fs::rename(&away, db.path()).unwrap();
    }
    assert!(renewed(&mut store));
}

#[test]
fn a_replaced_file_is_seen_as_it_is_and_the_one_before_is_left_alone() {
    let db = TempDb::with(&held(7));
    let mut store = db.store(&SetClock::new());
    assert!(renewed(&mut store));
    let (dead, other) = (db.beside("dead.db"), db.beside("other.db"));
    fs::hard_link(db.path(), &dead).unwrap();
    let before = fs::read(&dead).unwrap();
    execute(&other, &held(6));
    fs::rename(&other, db.path()).unwrap();
    for answer in ask_all(&mut store) {
        let (Ok(Reply::Refused(seen)) | Ok(Reply::Seen { seen, .. })) = &answer else { panic!("{answer:?}") };
        assert!(matches!(seen, Seen::Row(row) if row.fence.get() == 6), "{seen:?}");
    }
    assert_eq!(fs::read(&dead).unwrap(), before);
}

#[test]
fn a_symbolic_link_is_followed_to_where_it_points_now() {
    let db = TempDb::new();
    // Not even UTF-8, as a path may be.
    let directory = db.path().with_file_name(OsStr::from_bytes(b"nu\xff"));
    fs::create_dir(&directory).unwrap();
    let (one, two) = (directory.join("one.db"), directory.join("two.db"));
    execute(&one, &held(7));
    execute(&two, &held(6));
    std::os::unix::fs::symlink(&one, db.path()).unwrap();
    let mut store = db.store(&SetClock::new());
    assert!(renewed(&mut store));
    let before = fs::read(&one).unwrap();
    point_to(&db, &two);
    for answer in ask_all(&mut store) {
        assert!(matches!(answer, Ok(Reply::Refused(_) | Reply::Seen { .. })), "{answer:?}");
    }
    point_to(&db, &db.beside("nowhere.db"));
    for answer in ask_all(&mut store) {
        assert!(matches!(answer, Err(StoreError::Open(_))), "{answer:?}");
    }
    assert_eq!(fs::read(&one).unwrap(), before);
    assert!(!db.beside("nowhere.db").exists());
    point_to(&db, &one);
    assert!(renewed(&mut store));
}

fn point_to(db: &TempDb, file: &Path) {
    let new = db.beside("link");
    std::os::unix::fs::symlink(file, &new).unwrap();
    fs::rename(new, db.path()).unwrap();
}

/// SPEC.md R7 and R11: it may have been applied to a file that comes back.
#[test]
fn a_file_that_moves_in_the_midst_of_a_write_is_an_unknown_outcome() {
    for action in all_requests().into_iter().map(|request| request.action) {
        let db = TempDb::with(&held(7));
        let moved = Arc::new(AtomicBool::new(false));
        let (armed, from, to) = (Arc::clone(&moved), db.path().to_owned(), db.beside("away.db"));
        let clock = HookedClock::new(move || {
            if !armed.swap(true, Ordering::SeqCst) {
                fs::rename(&from, &to).unwrap();
            }
        });
        let answer = db.store(&clock).execute(&[worker(action.clone())]);
        assert!(moved.load(Ordering::SeqCst));
        assert!(matches!(&answer[..], [Err(StoreError::Moved { .. })]), "{action:?}: {answer:?}");
    }
}

/// A contender that was granted the lease and has released it, or holds it still.
struct Veteran {
    db: TempDb,
    player: Player,
    fence: i64,
}

impl Veteran {
    fn holding() -> Self {
        let db = TempDb::with(&format!(
            "{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 6, 1, 2)"
        ));
        let clock = SetClock::new();
        let mut player = Player::new(db.store(&clock), &clock, &lease("worker"), &me(), timing(TTL));
        player.play(Input::Wake);
        let fence = player.contender.tenure().unwrap().fence.get();
        Self { db, player, fence }
    }

    fn waiting() -> Self {
        let mut veteran = Self::holding();
        veteran.player.play(Input::WorkStopped);
        veteran
    }

    fn replace_by(&mut self, sql: &str) {
        let other = self.db.beside("other.db");
        execute(&other, sql);
        fs::rename(other, self.db.path()).unwrap();
    }

    fn went_back_to(&self, found: Option<i64>) -> End {
        End::StoreWentBack { floor: Fence::new(self.fence).unwrap(), found: found.and_then(Fence::new) }
    }
}

/// What a restored backup, a table that somebody emptied, an empty database and an empty file show.
fn older_states() -> [(String, Option<i64>); 4] {
    let older = format!("{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 6, 1, 2)");
    [(older, Some(6)), (TABLE.into(), None), ("CREATE TABLE other (a)".into(), None), (String::new(), None)]
}

/// SPEC.md R11: the store never goes back.
#[test]
fn a_holder_stops_when_the_store_goes_back() {
    for (state, found) in older_states() {
        let mut veteran = Veteran::holding();
        veteran.replace_by(&state);
        assert_eq!(veteran.player.after(4_000), [Event::Lost(Loss::StoreWentBack)], "{state}");
        let end = veteran.went_back_to(found);
        assert_eq!(veteran.player.play(Input::WorkStopped), [Event::Ended(end)], "{state}");
        assert_eq!(veteran.player.after(100_000), [], "it contends no more");
    }
}

/// SPEC.md R11: nor for who only waits.
#[test]
fn a_contender_that_waits_ends_when_the_store_goes_back() {
    for (state, found) in older_states() {
        let mut veteran = Veteran::waiting();
        veteran.replace_by(&state);
        let end = veteran.went_back_to(found);
        assert_eq!(veteran.player.after(100_000), [Event::Ended(end)], "{state}");
    }
}

#[test]
fn a_row_that_somebody_deleted_or_counted_back_ends_its_contender() {
    for (sql, found) in
        [("DELETE FROM instance_leases", None), ("UPDATE instance_leases SET fence = 6", Some(6))]
    {
        let mut holding = Veteran::holding();
        holding.db.execute(sql);
        assert_eq!(holding.player.after(4_000), [Event::Lost(Loss::StoreWentBack)]);
        let mut waiting = Veteran::waiting();
        waiting.db.execute(sql);
        let end = waiting.went_back_to(found);
        assert_eq!(waiting.player.after(4_000), [Event::Ended(end)]);
    }
}

/// SPEC.md R11: the floor is a condition of the write.
#[test]
fn an_acquire_is_bound_to_the_row_that_was_read_not_to_one_of_an_older_state() {
    let mut veteran = Veteran::waiting();
    veteran.player.clock.advance(2_000);
    let read = veteran.player.step(Input::Wake).0.unwrap();
    let reply = veteran.player.carry_out(&read);
    let acquire = veteran.player.step(reply).0.unwrap();
    // The file goes back between the read and the write.
    let (older, found) = older_states().into_iter().next().unwrap();
    veteran.replace_by(&older);
    let before = veteran.db.dump();
    let reply = veteran.player.carry_out(&acquire);
    assert_eq!(veteran.player.step(reply).1, [Event::Ended(veteran.went_back_to(found))]);
    assert_eq!(veteran.db.dump(), before);
}

/// SPEC.md R5: a blackout is a loss.
#[test]
fn a_holder_whose_file_vanished_believes_until_its_deadline_and_no_longer() {
    let mut veteran = Veteran::holding();
    let deadline = veteran.player.contender.tenure().unwrap().deadline;
    fs::remove_file(veteran.db.path()).unwrap();
    for _ in 0..2 {
        assert_eq!(veteran.player.after(4_000), []);
        assert_eq!(veteran.player.contender.tenure().unwrap().deadline, deadline);
    }
    assert_eq!(veteran.player.after(4_000), [Event::Lost(Loss::DeadlinePassed)]);
    assert_eq!(veteran.db.files(), []);
}

#[test]
fn a_holder_whose_file_is_put_back_in_time_keeps_its_tenure() {
    let mut veteran = Veteran::holding();
    let away = veteran.db.beside("away.db");
    fs::rename(veteran.db.path(), &away).unwrap();
    assert_eq!(veteran.player.after(4_000), []);
    let deadline = veteran.player.contender.tenure().unwrap().deadline;
    fs::rename(&away, veteran.db.path()).unwrap();
    assert_eq!(veteran.player.after(1_000), []);
    assert!(veteran.player.contender.tenure().unwrap().deadline > deadline);
}
