//! A lease that is lost: the job is stopped in time, and the exit code is 76.

use super::{Bench, Running};
use std::fs;
use tenure::clock::{Clock, SystemClock};
use tests::{TABLE, eventually};

const TTL: &str = "--ttl 3s";

/// A job that does not heed SIGTERM, with a member of its group that does not either and beats.
fn stubborn(bench: &Bench, options: &str) -> Running {
    let beats = "while alive; do date +%s%3N >> times; beat a; done";
    bench.started(options, &format!("trap 'beat term' TERM; (trap '' TERM; {beats}) & {beats}"), "a")
}

/// SPEC.md R4 and R5: a blackout is a loss.
#[test]
fn a_holder_that_cannot_reach_the_store_tells_then_kills_its_group_before_its_deadline() {
    let bench = Bench::new();
    // The margin of 400 ms and a little more, and the kill lead: it is killed 1.4 s before its row expires.
    let holder = stubborn(&bench, "--ttl 4s --renew-every 600ms --grace 1300ms --kill-lead 1s");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let row = bench.row();
    let ended = holder.end().expect(76);
    let killed_at = SystemClock.wall().as_unix_millis();
    ended.says("job").says("renew");
    assert!(bench.log().contains(&"term".to_owned()), "SIGTERM comes first");
    let times = fs::read_to_string(bench.db.beside("times")).unwrap();
    let last: i64 = times.lines().last().unwrap().parse().unwrap();
    let expected = row.expires_at - 1_400;
    assert!(last < expected + 600, "it acted at {last}, and was to be killed at {expected}");
    assert!(killed_at < row.expires_at + 5_000);
    // The whole group is dead.
    let log = bench.log();
    lock.execute_batch("COMMIT").unwrap();
    bench.start(TTL, "beat b").end().expect(0);
    assert_eq!(bench.log().len(), log.len() + 1);
    assert_eq!(bench.row().fence, row.fence + 1);
}

/// SPEC.md R6: it has stopped, so the lease is given back.
#[test]
fn a_job_that_heeds_the_sigterm_of_a_blackout_is_lost_all_the_same_and_its_lease_released() {
    let bench = Bench::new();
    // A long grace: the store is back well before its end.
    let options = "--ttl 6s --renew-every 1s --grace 3s";
    let heeds =
        "trap 'beat term; while alive && [ ! -e go ]; do :; done; exit 0' TERM; while alive; do beat a; done";
    let holder = bench.started(options, heeds, "a");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.wait_for("term");
    lock.execute_batch("COMMIT").unwrap();
    let blackout = bench.row().expires_at;
    eventually("it renews while the job winds down", || (bench.row().expires_at > blackout).then_some(()));
    bench.go();
    holder.end().expect(76);
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
}

/// SPEC.md R3: its renewal matches nothing.
#[test]
fn a_superseded_holder_kills_its_group_at_its_next_renewal() {
    let bench = Bench::new();
    let holder = stubborn(&bench, TTL);
    bench
        .db
        .execute("UPDATE instance_leases SET holder_id = 'appview-1', fence = 7, expires_at = 9000000000000");
    let row = bench.row();
    holder.end().expect(76).says("superseded by appview-1 with fence 7");
    let log = bench.log();
    assert!(!log.contains(&"term".to_owned()), "SIGKILL at once");
    assert_eq!(bench.row(), row);
}

#[test]
fn a_lease_that_somebody_released_by_force_is_lost() {
    let bench = Bench::new();
    let holder = stubborn(&bench, TTL);
    bench.db.execute("UPDATE instance_leases SET expires_at = 0");
    holder.end().expect(76).says("released by somebody else");
    assert_eq!(bench.row().expires_at, 0);
}

/// SPEC.md R11.
#[test]
fn a_holder_whose_file_is_replaced_by_an_older_copy_kills_its_job() {
    let bench = Bench::new();
    tests::execute(
        bench.db.path(),
        &format!("{TABLE} INSERT INTO instance_leases VALUES ('job', 'appview-1', 41, 1, 2)"),
    );
    let copy = bench.db.beside("copy.db");
    fs::copy(bench.db.path(), &copy).unwrap();
    let holder = stubborn(&bench, TTL);
    assert_eq!(bench.row().fence, 42);
    fs::rename(&copy, bench.db.path()).unwrap();
    holder.end().expect(76).says("went back");
    assert_eq!(bench.row().fence, 41);
}

#[test]
fn a_holder_whose_file_vanished_stops_its_job_in_time_and_makes_no_new_file() {
    let bench = Bench::new();
    let holder = stubborn(&bench, TTL);
    let expires_at = bench.row().expires_at;
    for name in ["leases.db", "leases.db-wal", "leases.db-shm"] {
        fs::rename(bench.db.beside(name), bench.db.beside(&format!("away-{name}"))).unwrap();
    }
    holder.end().expect(76);
    assert!(bench.log().contains(&"term".to_owned()), "SIGTERM comes first");
    assert!(!bench.db.path().exists());
    assert!(SystemClock.wall().as_unix_millis() < expires_at + 5_000);
}
