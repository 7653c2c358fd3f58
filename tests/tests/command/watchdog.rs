//! The watchdog: nothing of a job outlives the tenure, whatever is killed or stopped.

use super::{Bench, Running, fresh};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use std::fs;
use std::process::Stdio;
use tenure::clock::{Clock, SystemClock};
use tests::eventually;

const TTL: &str = "--ttl 3s";

/// Two members of the job's group that write `a` for ever, and cannot be told to stop; the first line is the group.
const STUBBORN: &str = "trap '' TERM HUP; beat $$; (trap '' TERM HUP; while alive; do beat a; done) & while alive; do beat a; done";

impl Bench {
    pub(super) fn group(&self) -> Pid {
        Pid::from_raw(self.log()[0].parse().unwrap()).unwrap()
    }

    /// Waits until no process of the job is there any more, not even one that is dying.
    pub(super) fn group_is_gone(&self) {
        let group = self.group();
        eventually("the job's group is empty", || test_kill_process_group(group).is_err().then_some(()));
    }
}

/// The children of a process whose command line has that word.
pub(super) fn children(parent: Pid, word: &str) -> Vec<Pid> {
    let parent = parent.as_raw_nonzero().to_string();
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_meant = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent_of = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        parent_of == Some(&parent) && String::from_utf8_lossy(&words).contains(word)
    };
    let pids = processes.filter(|pid| pid.parse::<u32>().is_ok()).filter(is_meant);
    pids.map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
}

fn watchdog(of: &Running) -> Pid {
    let found = eventually("there is one watchdog", || {
        let found = children(Pid::from_child(&of.child), "--watch-job");
        (found.len() == 1).then_some(found)
    });
    found[0]
}

/// The job of a tenure that was killed is dead at once; its lease runs out, and then is another's.
#[test]
fn when_tenure_is_killed_the_watchdog_kills_the_job() {
    let bench = Bench::new();
    let holder = bench.started(TTL, STUBBORN, "a");
    let waiting = bench.start(TTL, "beat b");
    holder.signal(Signal::KILL);
    bench.group_is_gone();
    let row = bench.row();
    assert!(row.expires_at > SystemClock.wall().as_unix_millis(), "killed long before the lease is over");
    waiting.end().expect(0);
    bench.never_overlap("a", "b");
    assert_eq!(bench.row().fence, row.fence + 1);
    assert!(bench.row().acquired_at >= row.expires_at);
}

/// Stopped, it neither renews nor kills: the watchdog does, before the deadline.
#[test]
fn when_tenure_is_stopped_the_job_is_killed_before_the_deadline() {
    let bench = Bench::new();
    let holder = bench.started(TTL, STUBBORN, "a");
    let waiting = bench.start(TTL, "beat b");
    holder.signal(Signal::STOP);
    // The leader is tenure's unreaped child, so its group is not empty; but it writes no more.
    bench.wait_for("b");
    bench.never_overlap("a", "b");
    let lines = bench.log().len();
    waiting.end().expect(0);
    holder.signal(Signal::CONT);
    holder.end().expect(76).says("lost lease");
    assert!(bench.log().len() <= lines + 1, "nothing was written after it woke");
    bench.group_is_gone();
}

#[test]
fn a_watchdog_that_is_killed_is_replaced_and_the_next_one_knows_the_job() {
    let bench = Bench::new();
    let holder = bench.started("--ttl 10s", STUBBORN, "a");
    let first = watchdog(&holder);
    kill_process(first, Signal::KILL).unwrap();
    let second = eventually("there is another", || {
        children(Pid::from_child(&holder.child), "--watch-job").into_iter().find(|pid| *pid != first)
    });
    assert_ne!(first, second);
    let lines = bench.log().len();
    eventually("the job goes on", || (bench.log().len() > lines + 3).then_some(()));
    holder.signal(Signal::KILL);
    bench.group_is_gone();
}

/// One that stands still harms nobody as long as tenure does not; and is gone with it.
#[test]
fn a_watchdog_that_is_stopped_changes_nothing_for_a_job_that_ends() {
    let bench = Bench::new();
    let holder = bench.started(TTL, "beat a; while alive && [ ! -e go ]; do :; done; exit 7", "a");
    let dog = watchdog(&holder);
    kill_process(dog, Signal::STOP).unwrap();
    let row = bench.row();
    eventually("the lease is renewed", || (bench.row().expires_at > row.expires_at).then_some(()));
    bench.go();
    holder.end().expect(7);
    assert_eq!(bench.row().expires_at, 0);
    let process = format!("/proc/{}/cmdline", dog.as_raw_nonzero());
    eventually("the watchdog is gone", || {
        fs::read(&process).map_or(true, |line| line.is_empty()).then_some(())
    });
}

#[test]
fn a_watchdog_does_not_heed_signals_that_were_meant_for_others() {
    let bench = Bench::new();
    let holder = bench.started("--ttl 10s", STUBBORN, "a");
    let dog = watchdog(&holder);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::TSTP] {
        kill_process(dog, signal).unwrap();
    }
    holder.signal(Signal::KILL);
    bench.group_is_gone();
}

/// Nobody is left who could kill the job; where the system can, it does so itself.
#[cfg(target_os = "linux")]
#[test]
fn when_tenure_and_its_watchdog_are_killed_at_once_the_jobs_process_dies_as_well() {
    let bench = Bench::new();
    let holder = bench.started(TTL, "trap '' TERM HUP; beat $$; while alive; do beat a; done", "a");
    let dog = watchdog(&holder);
    kill_process(dog, Signal::KILL).unwrap();
    holder.signal(Signal::KILL);
    bench.group_is_gone();
}

/// As a paused machine: whoever runs first finds that the time is over.
#[test]
fn when_all_are_stopped_together_the_job_is_killed_as_soon_as_they_wake() {
    for wake_job_first in [true, false] {
        let bench = Bench::new();
        let holder = bench.started(TTL, STUBBORN, "a");
        let (dog, group) = (watchdog(&holder), bench.group());
        kill_process_group(group, Signal::STOP).unwrap();
        kill_process(dog, Signal::STOP).unwrap();
        holder.signal(Signal::STOP);
        bench.start(TTL, "beat b").end().expect(0);
        let lines = bench.log().len();
        if wake_job_first {
            kill_process_group(group, Signal::CONT).unwrap();
        }
        kill_process(dog, Signal::CONT).unwrap();
        holder.signal(Signal::CONT);
        holder.end().expect(76);
        bench.group_is_gone();
        // What the job does between its own waking and its death only the fence can refuse.
        let after = bench.log().len() - lines;
        assert!(wake_job_first || after == 0, "{after} lines");
    }
}

/// Its parent is not who started it: that one has died before anybody watched.
#[test]
fn a_job_that_nobody_watches_does_not_begin() {
    let bench = Bench::new();
    let mut command = fresh();
    command.arg(env!("CARGO_BIN_EXE_tenure-under-test")).args(["--launch-job", "1", "touch", "begun"]);
    command.current_dir(bench.directory()).stdin(Stdio::null());
    Running::start(command).end().expect(76);
    assert!(!bench.db.beside("begun").exists());
}

/// A watchdog that was stopped hears, when it goes on, that the lease was renewed meanwhile: more than one reading of its
/// pipe tells.
#[test]
fn a_watchdog_that_was_stopped_for_many_renewals_kills_no_healthy_job() {
    let bench = Bench::new();
    let holder = bench.started(
        "--ttl 2s --renew-every 50ms",
        "beat a; while alive && [ ! -e go ]; do :; done; exit 7",
        "a",
    );
    let dog = watchdog(&holder);
    kill_process(dog, Signal::STOP).unwrap();
    let (row, begin) = (bench.row(), SystemClock.local());
    eventually("some hundred renewals", || {
        (begin.until(SystemClock.local()).as_millis() > 6_000).then_some(())
    });
    kill_process(dog, Signal::CONT).unwrap();
    SystemClock.sleep(std::time::Duration::from_millis(500));
    assert_eq!((bench.row().fence, &bench.row().holder), (row.fence, &row.holder));
    bench.go();
    holder.end().expect(7);
}

/// The job's group is the job's: neither the watchdog nor anything of tenure is in it.
#[test]
fn the_group_has_nobody_in_it_but_the_job() {
    let bench = Bench::new();
    let holder = bench.started(TTL, "beat $$; beat a; while alive && [ ! -e go ]; do :; done", "a");
    let dog = watchdog(&holder);
    for process in [dog, Pid::from_child(&holder.child)] {
        assert_ne!(rustix::process::getpgid(Some(process)).unwrap(), bench.group());
    }
    bench.go();
    holder.end().expect(0);
}
