//! What must not keep the guard of a job from its work.

use super::{Bench, UNTIL_GO};
use rustix::process::Signal;
use std::io::Write;
use tests::eventually;

const BEATS: &str = "while alive; do beat a; done";

/// SPEC.md R5: nothing that does not return may delay a loss.
#[test]
fn a_standard_error_that_nobody_reads_keeps_no_job_beyond_its_lease() {
    let bench = Bench::new();
    let (_unread, mut full) = std::io::pipe().unwrap();
    full.write_all(&vec![b'x'; 65_536]).unwrap();
    let mut command = bench.job("--ttl 2s", BEATS);
    let mut holder = command.stderr(full).spawn().unwrap();
    bench.wait_for("a");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let status = eventually("it ends", || holder.try_wait().unwrap());
    assert_eq!(status.code(), Some(76));
    lock.execute_batch("COMMIT").unwrap();
    bench.start("--ttl 2s", "beat b").end().expect(0);
    bench.never_overlap("a", "b");
}

/// Each of these would stop or end a program that does not catch it, and its job would run on without a guard.
#[test]
fn a_signal_that_would_stop_the_guard_does_nothing() {
    let bench = Bench::new();
    let holder = bench.started("--ttl 3s", BEATS, "a");
    let signals = [
        Signal::TSTP,
        Signal::TTIN,
        Signal::TTOU,
        Signal::XCPU,
        Signal::XFSZ,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::CHILD,
    ];
    signals.into_iter().for_each(|signal| holder.signal(signal));
    let before = bench.row();
    eventually("it renews", || (bench.row().expires_at > before.expires_at + 1_000).then_some(()));
    bench.db.execute("UPDATE instance_leases SET expires_at = 0");
    holder.end().expect(76);
}

#[test]
fn what_was_ignored_when_it_started_stays_ignored_for_it_and_for_the_job() {
    let bench = Bench::new();
    let holder = bench.started_by("trap '' HUP", "", UNTIL_GO, "up");
    holder.signal(Signal::HUP);
    let renewed = bench.row().expires_at;
    eventually("it renews", || (bench.row().expires_at > renewed).then_some(()));
    bench.go();
    holder.end().expect(0);
    assert_eq!(bench.row().expires_at, 0);
}

#[test]
fn a_parent_that_ignores_its_children_changes_no_exit_code() {
    let bench = Bench::new();
    let holder = bench.started_by("trap '' CHLD", "", &format!("{UNTIL_GO} exit 3"), "up");
    bench.go();
    holder.end().expect(3);
    assert_eq!(bench.row().expires_at, 0);
}

#[test]
fn a_lease_that_was_lost_before_the_jobs_end_is_told_so() {
    let bench = Bench::new();
    let holder = bench.started("", &format!("{UNTIL_GO} exit 4"), "up");
    bench.db.execute("UPDATE instance_leases SET holder_id = 'web' || char(27) || '[2J', fence = 7");
    bench.go();
    holder.end().expect(4).says("not ours to release: superseded by web\\u{1b}[2J with fence 7");
}

#[test]
fn nobody_waits_for_who_gets_a_signal_while_the_file_is_locked() {
    let bench = Bench::new();
    let lock = bench.db.raw();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE other (a)").unwrap();
    let waiting = bench.start("", "beat a");
    eventually("it says why it waits", || waiting.said("locked").then_some(()));
    waiting.signal(Signal::TERM);
    waiting.end().expect(143);
    assert!(bench.log().is_empty());
}
