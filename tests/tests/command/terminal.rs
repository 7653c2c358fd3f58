//! At a terminal, in an interactive shell: the job has the terminal as a job of the shell's own would.

use super::typist::{CTRL_C, CTRL_Z, Typist};
use super::watchdog::children;
use super::{Bench, Running, UNTIL_GO};
use rustix::process::{Pid, Signal, getpgid, kill_process};
use rustix::termios::tcgetpgrp;
use tests::eventually;

#[test]
fn a_job_that_asks_the_user_is_answered() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", "beat up; read x; echo \"<$x>\"; read x; echo \"<$x>\"; exit 5");
    bench.wait_for("up");
    typist.types("hello\n");
    typist.sees("<hello>");
    typist.types("again\n");
    typist.sees("<again>");
    typist.is_told(5);
    assert_eq!(bench.row().expires_at, 0);
}

#[test]
fn ctrl_c_ends_the_job_and_its_lease_is_released() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", "beat up; read x");
    bench.wait_for("up");
    typist.types(CTRL_C);
    typist.is_told(130);
    assert_eq!(bench.row().expires_at, 0);
}

/// The job alone gets it, and once.
#[test]
fn ctrl_c_is_the_jobs_to_handle() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(
        "--ttl 2s",
        "trap 'beat INT' INT; trap 'beat QUIT' QUIT; beat up; while alive && [ ! -e go ]; do :; done; exit 3",
    );
    bench.wait_for("up");
    typist.types(CTRL_C);
    bench.wait_for("INT");
    typist.types("\x1c");
    bench.wait_for("QUIT");
    let renewed = bench.row().expires_at;
    eventually("it renews", || (bench.row().expires_at > renewed).then_some(()));
    bench.go();
    typist.is_told(3);
    assert_eq!(bench.log(), ["up", "INT", "QUIT"]);
}

/// The guard of one instance gives its job the terminal as the lease's does, and removes the record after it.
#[test]
fn an_instances_job_has_the_terminal_and_ctrl_c_and_its_record_is_removed() {
    let bench = Bench::new();
    let record = bench.db.beside("record");
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs_an_instance(
        "trap 'beat INT; exit 3' INT; beat $$; read x; echo \"<$x>\"; beat read; while alive; do :; done",
    );
    let job = eventually("the job", || bench.log().first()?.parse().ok().and_then(Pid::from_raw));
    assert_eq!(tcgetpgrp(&typist.terminal), getpgid(Some(job)));
    assert_ne!(getpgid(Some(job)), getpgid(Some(typist.front())));
    typist.types("hello\n");
    typist.sees("<hello>");
    bench.wait_for("read");
    assert!(record.exists());
    typist.types(CTRL_C);
    typist.is_told(3);
    assert_eq!(bench.log()[1..], ["read", "INT"]);
    assert!(!record.exists());
}

#[test]
fn ctrl_c_while_it_waits_ends_it() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let row = bench.row();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", "beat next");
    typist.sees("waiting for lease");
    typist.types(CTRL_C);
    typist.is_told(130);
    assert_eq!(children(typist.shell(), ""), []);
    bench.go();
    holder.end().expect(0);
    assert_eq!((bench.log(), bench.row().fence), (vec!["up".to_owned()], row.fence));
}

#[test]
fn the_terminal_is_as_it_was_whatever_the_job_made_of_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", "stty raw -echo; beat up; exit 2");
    bench.wait_for("up");
    typist.is_told(2);
    typist.modes_are_as_before();
    typist.runs("", "stty -echo -onlcr; beat on; kill -9 $$");
    bench.wait_for("on");
    typist.is_told(137);
    typist.modes_are_as_before();
}

#[test]
fn a_usage_error_is_2_at_a_terminal_too() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("--ttl 1", "beat up");
    typist.sees("unit");
    typist.is_told(2);
    typist.runs("--ttl 99ms", "beat up");
    typist.sees("99ms");
    typist.is_told(2);
}

#[test]
fn when_the_process_that_the_shell_has_started_is_killed_the_job_is() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", &format!("trap '' HUP; beat $$; {UNTIL_GO}"));
    bench.wait_for("up");
    kill_process(typist.front(), Signal::KILL).unwrap();
    bench.group_is_gone();
    typist.is_told(137);
}

#[test]
fn a_signal_to_the_process_that_the_shell_has_started_is_passed_on_to_the_job() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", &format!("trap 'beat told; exit 3' TERM; {UNTIL_GO}"));
    bench.wait_for("up");
    kill_process(typist.front(), Signal::TERM).unwrap();
    bench.wait_for("told");
    typist.is_told(3);
}

#[test]
fn when_the_guard_is_killed_the_job_is_and_the_shell_learns_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", &format!("trap '' HUP; beat $$; {UNTIL_GO}"));
    bench.wait_for("up");
    kill_process(children(typist.front(), "--guard-job")[0], Signal::KILL).unwrap();
    typist.is_told(137);
    bench.group_is_gone();
}

/// What a loss is told with must not wait for the terminal, which is the job's.
#[test]
fn a_loss_is_told_to_a_terminal_that_stops_who_writes_to_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.types("stty tostop\n");
    typist.runs("--ttl 2s", UNTIL_GO);
    bench.wait_for("up");
    bench.db.execute("UPDATE instance_leases SET expires_at = 0");
    typist.sees("lost lease");
    typist.is_told(76);
}

#[test]
fn after_a_loss_the_next_job_has_the_terminal() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("--ttl 2s --restart", "beat $TENURE_FENCE; read x; echo \"<$x>\"");
    bench.wait_for("1");
    bench.db.execute("UPDATE instance_leases SET expires_at = 0");
    bench.wait_for("2");
    typist.types("hello\n");
    typist.sees("<hello>");
    typist.is_told(0);
}

#[test]
fn a_job_that_begins_in_the_background_leaves_the_terminal_to_the_shell() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    let command = bench.command_line("", &format!("{UNTIL_GO} exit 4"));
    typist.types(&format!("{command} &\n"));
    bench.wait_for("up");
    assert_eq!(tcgetpgrp(&typist.terminal), Ok(typist.shell()));
    assert_eq!(children(typist.front(), "--guard-job"), []);
    typist.is_answered();
    bench.go();
    typist.types("wait %1\n");
    typist.is_told(4);
}

#[test]
fn without_a_terminal_one_process_guards_the_job() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let found = children(Pid::from_child(&holder.child), "");
    let [job, dog] = ["job.sh", "--watch-job"].map(|word| children(Pid::from_child(&holder.child), word));
    assert_eq!((found.len(), job.len(), dog.len()), (2, 0, 1), "the job, and its watchdog");
    bench.go();
    Running::end(holder).expect(0);
}

/// As the first process of a container or of `ssh -t`: there is nobody who could wake it.
#[test]
fn where_no_shell_is_ctrl_z_does_nothing_and_the_job_has_the_terminal() {
    let bench = Bench::new();
    let command = bench.command_line(
        "",
        "trap 'exit 130' INT; beat up; read x; echo \"<$x>\"; beat read; while alive; do beat a; done",
    );
    let mut typist = Typist::at(&bench, &command);
    bench.wait_for("up");
    typist.types("hello\n");
    typist.sees("<hello>");
    typist.types(CTRL_Z);
    let lines = bench.log().len();
    eventually("the job goes on", || (bench.log().len() > lines + 3).then_some(()));
    typist.types(CTRL_C);
    let status = eventually("it ends", || typist.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    assert_eq!(bench.row().expires_at, 0);
}
