//! One job after the other: after an end, after a crash.

use super::{Bench, Running};
use tenure::clock::{Clock, SystemClock};

const FOR_EVER: &str = "while alive; do";

/// A holder whose job writes `a` for ever and cannot be told to stop, and a contender whose job writes `b`.
fn holder_and_waiting(bench: &Bench, ttl: &str) -> (Running, Running) {
    let options = format!("--ttl {ttl}");
    let holder = bench.started(&options, &format!("beat $$; {FOR_EVER} beat a; done"), "a");
    let waiting = bench.start(&options, "beat b");
    (holder, waiting)
}

/// SPEC.md R1 and R2.
#[test]
fn after_the_holders_death_the_lease_is_taken_over_once_it_has_expired_with_the_next_fence() {
    let bench = Bench::new();
    let (holder, waiting) = holder_and_waiting(&bench, "3s");
    // The guard is dead, and the watchdog kills its job: nobody can have released the lease.
    drop(holder);
    let left = bench.row();
    assert_ne!(left.expires_at, 0);
    waiting.end().expect(0);
    let taken = bench.row();
    bench.never_overlap("a", "b");
    assert_eq!(taken.fence, left.fence + 1);
    assert!(taken.acquired_at >= left.expires_at, "{taken:?} before {left:?} expired");
    // A poll is TTL/15; the rest is for a machine that is busy.
    assert!(taken.acquired_at <= left.expires_at + 200 + 5_000, "{taken:?} long after {left:?} expired");
}

#[test]
fn after_the_jobs_end_the_next_one_begins_within_a_poll_and_long_before_the_lease_would_expire() {
    let bench = Bench::new();
    let holder = bench.started("--ttl 30s", "beat a; while alive && [ ! -e go ]; do :; done; beat a", "a");
    let waiting = bench.start("--ttl 30s", "beat b");
    let expires_at = bench.row().expires_at;
    bench.go();
    holder.end().expect(0);
    let ended = SystemClock.local();
    bench.wait_for("b");
    let took = ended.until(SystemClock.local());
    waiting.end().expect(0);
    bench.never_overlap("a", "b");
    assert_eq!(bench.row().fence, 2);
    // A poll is 1 s; the lease had more than 20 s left.
    assert!(took.as_secs() < 8, "{took:?}");
    assert!(bench.row().acquired_at < expires_at);
}

/// SPEC.md R6: release last.
#[test]
fn what_a_job_left_in_its_group_is_gone_before_the_next_one_begins() {
    let bench = Bench::new();
    let background = format!("trap '' TERM HUP; {FOR_EVER} beat a; done");
    let script =
        format!("({background}) > /dev/null 2>&1 & beat up; while alive && [ ! -e go ]; do :; done; exit 4");
    let holder = bench.started("", &script, "a");
    // Its job writes `b` for long enough to be caught beside `a`.
    let next = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do beat b; alive; done";
    let waiting = bench.start("", next);
    bench.go();
    holder.end().expect(4);
    waiting.end().expect(0);
    bench.never_overlap("a", "b");
    assert_eq!(bench.log().iter().filter(|line| *line == "b").count(), 20);
}

#[test]
fn renewals_keep_the_lease_of_a_job_that_runs_for_several_ttls_with_the_same_fence() {
    let bench = Bench::new();
    let (holder, waiting) = holder_and_waiting(&bench, "8s");
    let first = bench.row();
    let until = SystemClock.local().plus(20_000);
    let mut expiries = vec![first.expires_at];
    tests::eventually("two and a half TTLs have passed", || {
        let row = bench.row();
        assert_eq!(
            (row.fence, &row.holder, row.acquired_at),
            (first.fence, &first.holder, first.acquired_at),
            "{}",
            super::text(&holder.stderr)
        );
        expiries.push(row.expires_at);
        (SystemClock.local() >= until).then_some(())
    });
    assert!(expiries.is_sorted());
    expiries.dedup();
    assert!((5..=15).contains(&expiries.len()), "{} renewals, at TTL/3", expiries.len());
    drop(waiting);
    holder.signal(rustix::process::Signal::TERM);
    holder.end().expect(143);
    assert!(!bench.log().contains(&"b".to_owned()));
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
}

#[test]
fn contenders_take_turns_and_never_overlap() {
    let bench = Bench::new();
    let jobs: Vec<_> = (0..8)
        .map(|number| bench.start("--ttl 3s", &format!("beat {number}; alive; alive; beat {number}")))
        .collect();
    for job in jobs {
        job.end().expect(0);
    }
    let log = bench.log();
    assert_eq!(log.len(), 16);
    assert!(log.chunks(2).all(|pair| pair[0] == pair[1]), "{log:?}");
    assert_eq!(bench.row().fence, 8);
}
