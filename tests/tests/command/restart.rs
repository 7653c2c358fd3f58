//! `--restart`: after a loss, and only then.

use super::Bench;
use rustix::process::Signal;
use tests::eventually;

const OPTIONS: &str = "--restart --ttl 3s";

/// A job that says its fence, then beats until there is a file of that number, and ends with code 5.
const JOB: &str = "beat $TENURE_FENCE; while alive && [ ! -e go-$TENURE_FENCE ]; do beat a; done; exit 5";

#[test]
fn a_job_that_was_lost_is_started_again_with_the_next_fence_until_it_ends_by_itself() {
    let bench = Bench::new();
    let holder = bench.started(OPTIONS, JOB, "a");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    eventually("it contends again", || holder.said("waiting for lease").then_some(()));
    let (lines, first) = (bench.log().len(), bench.row());
    lock.execute_batch("COMMIT").unwrap();
    bench.wait_for("2");
    assert_eq!(bench.log()[lines], "2", "nothing of the first one wrote after the loss");
    assert_eq!(bench.row().fence, first.fence + 1);
    // And again, by somebody who takes the lease and gives it back.
    bench.db.execute("UPDATE instance_leases SET holder_id = 'appview-1', fence = 7, expires_at = 0");
    bench.wait_for("8");
    std::fs::write(bench.db.beside("go-8"), "").unwrap();
    holder.end().expect(5);
    assert_eq!((bench.row().fence, bench.row().expires_at), (8, 0));
}

#[test]
fn a_job_that_ends_by_itself_is_not_started_again() {
    let bench = Bench::new();
    bench.start(OPTIONS, "beat a; exit 3").end().expect(3);
    assert_eq!(bench.log(), ["a"]);
    let bench = Bench::new();
    bench.start(OPTIONS, "beat a; kill -KILL $$").end().expect(137);
    assert_eq!(bench.log(), ["a"]);
}

/// Somebody wanted it to end.
#[test]
fn a_job_that_was_sent_a_signal_to_end_is_not_started_again_though_its_lease_is_lost() {
    let bench = Bench::new();
    let holder = bench.started(OPTIONS, "trap 'beat term' TERM; beat a; while alive; do :; done", "a");
    holder.signal(Signal::TERM);
    bench.wait_for("term");
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    holder.end().expect(76);
    lock.execute_batch("COMMIT").unwrap();
    assert!(bench.log().iter().filter(|line| *line == "a").count() == 1);
}

/// SPEC.md R11: not before somebody has looked.
#[test]
fn a_job_whose_store_went_back_is_not_started_again() {
    let bench = Bench::new();
    let holder = bench.started(OPTIONS, JOB, "a");
    bench.db.execute("DELETE FROM instance_leases");
    holder.end().expect(76).says("went back");
    assert_eq!(bench.db.row("job"), None);
}

/// Each time it is contended for anew, the wait begins anew, and ends as it would have at the first time.
#[test]
fn a_wait_that_runs_out_after_a_loss_is_75() {
    let bench = Bench::new();
    let holder = bench.started("--restart --ttl 3s --wait 1s", JOB, "a");
    bench
        .db
        .execute("UPDATE instance_leases SET holder_id = 'appview-1', fence = 7, expires_at = 9000000000000");
    holder.end().expect(75).says("appview-1");
}
