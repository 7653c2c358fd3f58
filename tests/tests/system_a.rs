//! The other system that shares the table: its statements, on the same file.

use rusqlite::{Connection, OptionalExtension, params};
use tenure::protocol::{Event, Fence, Input, Reply, Row, Seen, WallTime};
use tests::{Player, RawRow, SetClock, TABLE, TempDb, holder, lease, timing};

const TTL: u64 = 10_000;
const MAX_SKEW: i64 = 1_000;
const NOW: i64 = SetClock::BEGIN;

/// An instance of the other system.
struct SystemA {
    connection: Connection,
    me: &'static str,
}

impl SystemA {
    fn new(db: &TempDb, me: &'static str) -> Self {
        Self { connection: db.raw(), me }
    }

    /// Its fence, if it was granted the lease.
    fn acquire(&self, lease: &str, now: i64) -> Option<i64> {
        let sql = "INSERT INTO instance_leases VALUES (?1, ?2, 1, ?3, ?4)
            ON CONFLICT(lease_name) DO UPDATE SET
              holder_id = excluded.holder_id, fence = instance_leases.fence + 1,
              acquired_at = excluded.acquired_at, expires_at = excluded.expires_at
            WHERE instance_leases.expires_at < ?3 OR instance_leases.holder_id = excluded.holder_id
            RETURNING fence";
        self.connection
            .query_one(sql, params![lease, self.me, now, now + TTL as i64], |row| row.get(0))
            .optional()
            .unwrap()
    }

    fn renew(&self, lease: &str, fence: i64, now: i64) -> bool {
        self.set_expiry(lease, fence, now + TTL as i64)
    }

    /// Expires it in place.
    fn release(&self, lease: &str, fence: i64, now: i64) -> bool {
        self.set_expiry(lease, fence, now - 1)
    }

    fn set_expiry(&self, lease: &str, fence: i64, expires_at: i64) -> bool {
        let sql = "UPDATE instance_leases SET expires_at = ?4
            WHERE lease_name = ?1 AND holder_id = ?2 AND fence = ?3";
        self.connection.execute(sql, params![lease, self.me, fence, expires_at]).unwrap() == 1
    }
}

/// A contender of ours for `worker`.
struct Us {
    player: Player,
}

impl Us {
    fn new(db: &TempDb) -> Self {
        let (clock, timing) = (SetClock::new(), timing(TTL));
        let me = holder(1, &timing);
        let player = Player::new(db.store(&clock), &clock, &lease("worker"), &me, timing);
        Self { player }
    }

    fn acquire(&mut self) -> i64 {
        let events = self.player.play(Input::Wake);
        self.fence().unwrap_or_else(|| panic!("not granted: {events:?}"))
    }

    fn fence(&self) -> Option<i64> {
        self.player.contender.tenure().map(|tenure| tenure.fence.get())
    }

    /// Looks again when the wall clock stands there.
    fn look_at(&mut self, wall: i64) -> Vec<Event> {
        self.player.clock.advance(TTL as u32);
        self.player.clock.set_wall(wall);
        self.player.play(Input::Wake)
    }
}

fn file_of_system_a() -> TempDb {
    TempDb::with(TABLE)
}

#[test]
fn a_table_of_system_a_is_used_as_it_is_and_its_neighbours_are_left_alone() {
    let application = "
        CREATE TABLE posts (id INTEGER PRIMARY KEY, text TEXT);
        CREATE INDEX posts_by_text ON posts(text);
        CREATE TRIGGER posts_are_short AFTER INSERT ON posts BEGIN SELECT RAISE(IGNORE); END;
        CREATE VIEW leases AS SELECT * FROM instance_leases;
        INSERT INTO posts VALUES (1, 'hello'), (2, NULL);
        INSERT INTO instance_leases VALUES ('backfill', 'appview-2', 41, 5, 6);
        INSERT INTO instance_leases VALUES ('cleanup', 'appview-1', 7, 5, 9000000000000);";
    let db = TempDb::with(&format!("{TABLE}{application}"));
    let before = db.dump();
    let mut us = Us::new(&db);
    assert_eq!(db.dump(), before, "opening changes nothing");
    us.acquire();
    us.player.after(4_000);
    us.player.play(Input::WorkStopped);
    assert_eq!(db.row("worker").unwrap().expires_at, 0);
    db.execute("DELETE FROM instance_leases WHERE lease_name = 'worker'");
    assert_eq!(db.dump(), before);
}

#[test]
fn a_new_file_gets_the_table_of_system_a_to_the_letter() {
    let (ours, theirs) = (TempDb::new(), file_of_system_a());
    ours.store(&SetClock::new());
    assert_eq!(ours.dump(), theirs.dump());
}

#[test]
fn a_new_file_gets_wal_and_an_existing_one_keeps_its_journal_mode() {
    let new = TempDb::new();
    new.store(&SetClock::new());
    assert_eq!(journal_mode(&new), "wal");
    for (sql, mode) in
        [("", "delete"), ("PRAGMA journal_mode = TRUNCATE;", "delete"), ("PRAGMA journal_mode = WAL;", "wal")]
    {
        for table in [TABLE, "CREATE TABLE other (a);"] {
            let db = TempDb::with(&format!("{sql}{table}"));
            Us::new(&db).acquire();
            assert_eq!(journal_mode(&db), mode, "{sql}{table}");
        }
    }
}

fn journal_mode(db: &TempDb) -> String {
    db.raw().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap()
}

#[test]
fn system_a_acquires_what_we_released_at_once_and_counts_on() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    let fence = us.acquire();
    assert_eq!(them.acquire("worker", NOW + 1), None, "while we hold it");
    us.player.play(Input::WorkStopped);
    assert_eq!(them.acquire("worker", NOW + 2), Some(fence + 1));
    assert_eq!(
        us.look_at(NOW + 3),
        [Event::Held(Row {
            holder: "appview-1".into(),
            fence: Fence::new(fence + 1).unwrap(),
            acquired_at: WallTime::from_unix_millis(NOW + 2),
            expires_at: WallTime::from_unix_millis(NOW + 2 + TTL as i64),
        })]
    );
}

#[test]
fn system_a_acquires_our_lease_once_it_has_expired() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    let fence = us.acquire();
    let expiry = NOW + TTL as i64;
    assert_eq!(them.acquire("worker", expiry), None, "system A waits until it is past");
    assert_eq!(them.acquire("worker", expiry + 1), Some(fence + 1));
}

/// SPEC.md R1: a foreign row keeps no margin of its own.
#[test]
fn a_row_of_system_a_is_taken_at_its_expiry_and_max_skew_and_not_a_millisecond_before() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    assert_eq!(them.acquire("worker", NOW), Some(1));
    let free_at = NOW + TTL as i64 + MAX_SKEW;
    for early in [NOW, free_at - MAX_SKEW, free_at - 1] {
        let events = us.look_at(early);
        assert!(matches!(&events[..], [Event::Held(row)] if row.holder == "appview-1"), "{events:?}");
    }
    us.look_at(free_at);
    assert_eq!(us.fence(), Some(2));
}

/// SPEC.md R1: the write tests it again, whatever the reader saw.
#[test]
fn the_write_itself_leaves_a_row_of_system_a_its_max_skew() {
    let db = file_of_system_a();
    SystemA::new(&db, "appview-1").acquire("worker", NOW).unwrap();
    let (mut us, free_at) = (Us::new(&db), NOW + TTL as i64 + MAX_SKEW);
    // Free when it was read, but the clock stands back by the time the write has its lock.
    us.player.clock.set_wall(free_at);
    let (read, _) = us.player.step(Input::Wake);
    let seen = us.player.carry_out(&read.unwrap());
    let acquire = us.player.step(seen).0.unwrap();
    us.player.clock.set_wall(free_at - 1);
    let refused = us.player.carry_out(&acquire);
    assert!(matches!(refused, Input::Reply { reply: Reply::Refused(Seen::Row(_)), .. }), "{refused:?}");
    us.player.clock.set_wall(free_at);
    let granted = us.player.carry_out(&acquire);
    assert!(matches!(granted, Input::Reply { reply: Reply::Granted(_), .. }), "{granted:?}");
}

#[test]
fn a_row_that_system_a_released_is_ours_max_skew_later() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    them.acquire("worker", NOW);
    assert!(them.release("worker", 1, NOW + 5_000));
    us.look_at(NOW + 5_000 - 1 + MAX_SKEW);
    assert_eq!(us.fence(), Some(2));
    assert!(!them.renew("worker", 1, NOW + 5_000 + MAX_SKEW), "its fence never matches again");
}

#[test]
fn renewals_of_both_systems_interleave_on_two_leases() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    us.acquire();
    them.acquire("backfill", NOW);
    let acquired = |lease: &str| (db.row(lease).unwrap().fence, db.row(lease).unwrap().acquired_at);
    for round in 1..100 {
        let now = NOW + 4_000 * round;
        us.player.clock.set_wall(now);
        us.player.after(4_000);
        assert!(them.renew("backfill", 1, now));
        assert_eq!(us.fence(), Some(1));
        assert_eq!((acquired("worker"), acquired("backfill")), ((1, NOW), (1, NOW)));
    }
}

/// SPEC.md R3: a renewal matches name, holder and fence.
#[test]
fn a_holder_that_system_a_superseded_learns_it_with_its_next_renewal() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    us.acquire();
    // Its clock is out of all bounds.
    assert_eq!(them.acquire("worker", NOW + 60_000), Some(2));
    let before = db.dump();
    let events = us.player.after(4_000);
    let lost = "Lost(Superseded { holder: \"appview-1\", fence: Fence(2) })";
    assert_eq!(format!("{events:?}"), format!("[{lost}]"));
    assert_eq!(db.dump(), before);
}

/// SPEC.md R10 and R12.
#[test]
fn a_row_of_an_unknown_newer_form_is_taken_only_once_it_is_released() {
    let newer = "tenure2:wallclock:15000:9f86d081884c7d65:web-1";
    let db = file_of_system_a();
    db.execute(&format!("INSERT INTO instance_leases VALUES ('worker', '{newer}', 7, 1, 2)"));
    let mut us = Us::new(&db);
    for wall in [NOW, i64::MAX - 1] {
        let events = us.look_at(wall);
        assert!(matches!(&events[..], [Event::Held(row)] if row.holder == newer), "{events:?}");
    }
    db.execute("UPDATE instance_leases SET expires_at = 0");
    us.look_at(NOW);
    assert_eq!(us.fence(), Some(8));
}

/// SPEC.md R2: a fence per tenure.
#[test]
fn system_a_and_we_take_turns_and_no_fence_comes_twice() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    let mut fences = Vec::new();
    for turn in 0..20 {
        let now = NOW + turn * 100_000;
        us.look_at(now);
        fences.push(us.fence().unwrap());
        us.player.play(Input::WorkStopped);
        fences.push(them.acquire("worker", now).unwrap());
    }
    assert_eq!(fences, (1..=40).collect::<Vec<_>>());
}

#[test]
fn a_grant_of_ours_and_one_of_theirs_leave_rows_of_the_same_types_and_times() {
    let db = file_of_system_a();
    let (mut us, them) = (Us::new(&db), SystemA::new(&db, "appview-1"));
    us.acquire();
    them.acquire("backfill", NOW);
    let columns = |row: RawRow| (row.fence, row.acquired_at, row.expires_at);
    assert_eq!(columns(db.row("worker").unwrap()), columns(db.row("backfill").unwrap()));
    assert!(!db.dump().iter().any(|line| line.contains("Real")));
}
