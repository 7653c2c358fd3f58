//! Processes whose wall clocks differ, by libfaketime.

use super::{Bench, Running};
use std::path::PathBuf;
use tenure::clock::{Clock, SystemClock};
use tests::eventually;

/// The command, on a wall clock that is ahead by so many seconds; its job's clock is ahead as well.
fn ahead(bench: &Bench, seconds: &str, options: &str, script: &str) -> Running {
    let mut command = bench.tenure(options);
    command.args(["--", "sh", "-c", script]);
    command.env("LD_PRELOAD", library()).env("FAKETIME", format!("+{seconds}s"));
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
    Running::start(command)
}

fn library() -> PathBuf {
    let directories = std::fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let library = |directory: PathBuf| directory.join("faketime/libfaketime.so.1");
    directories.map(library).find(|path| path.exists()).expect("the package libfaketime is installed")
}

const OPTIONS: &str = "--ttl 4s --max-skew 1s --renew-every 1s";
const BEATS: &str = "while alive; do beat a; done";

/// SPEC.md R4: what `max_skew` bounds.
#[test]
fn a_contender_whose_clock_is_ahead_within_max_skew_does_not_take_a_live_holders_lease() {
    let bench = Bench::new();
    let holder = bench.started(OPTIONS, BEATS, "a");
    let row = bench.row();
    let ended = ahead(&bench, "1", &format!("{OPTIONS} --wait 8s"), "echo b >> log").end();
    ended.expect(75).says(&row.holder);
    assert_eq!(bench.row().fence, row.fence);
    drop(holder);
}

/// SPEC.md R4: the margin covers what the taker's clock is ahead.
#[test]
fn a_holder_in_a_blackout_stops_before_a_contender_whose_clock_is_ahead_within_max_skew_begins() {
    let bench = Bench::new();
    let holder = bench.started(OPTIONS, &format!("trap '' TERM; {BEATS}"), "a");
    let waiting = ahead(&bench, "1", OPTIONS, "for i in 1 2 3 4 5; do echo b >> log; sleep 0.02; done");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let expires_at = bench.row().expires_at;
    // The store comes back when the row has just expired on the contender's clock.
    eventually("the expiry", || (SystemClock.wall().as_unix_millis() >= expires_at - 1_000).then_some(()));
    lock.execute_batch("COMMIT").unwrap();
    waiting.end().expect(0);
    holder.end().expect(76);
    bench.never_overlap("a", "b");
    assert_eq!(bench.row().fence, 2);
    // It was the clock that let it begin so early.
    assert!(bench.row().acquired_at >= expires_at);
}

/// SPEC.md R2 and R3: what still holds when the clocks do not.
#[test]
fn a_holder_learns_from_its_next_renewal_of_a_contender_whose_clock_is_out_of_bounds() {
    let bench = Bench::new();
    let holder = bench.started("--ttl 3s", BEATS, "a");
    let _taker =
        ahead(&bench, "3600", "--ttl 3s", "echo b >> log; while [ -d \"$ALIVE\" ]; do sleep 0.01; done");
    bench.wait_for("b");
    holder.end().expect(76).says("superseded").says("fence 2");
}
