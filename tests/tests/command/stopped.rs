//! Ctrl-Z and back, in an interactive shell: the job is stopped, and its lease goes on being renewed.

use super::typist::{CTRL_C, Typist};
use super::{Bench, UNTIL_GO};
use rustix::process::{Signal, kill_process_group, test_kill_process};
use tests::eventually;

const TTL: &str = "--ttl 2s";

/// It asks the user once the file `go` is there.
const ASK_LATER: &str =
    "beat $$; beat up; while alive && [ ! -e go ]; do :; done; beat asks; read x; beat \"read $x\"; exit 7";

impl Bench {
    /// For longer than a lease lasts.
    fn is_renewed(&self) {
        let before = self.row();
        eventually("it renews", || (self.row().expires_at > before.expires_at + 2_500).then_some(()));
        assert_eq!(self.row().fence, before.fence);
    }

    fn goes_on(&self) {
        let lines = self.log().len();
        eventually("the job goes on", || (self.log().len() > lines + 3).then_some(()));
    }
}

#[test]
fn a_job_that_is_stopped_keeps_its_lease_and_goes_on_where_it_was() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, "beat up; read x; beat \"read $x\"; read x; beat \"read $x\"; exit 7");
    bench.wait_for("up");
    for word in ["one", "two"] {
        typist.stops();
        typist.is_answered();
        bench.is_renewed();
        typist.fg();
        typist.types(&format!("{word}\n"));
        bench.wait_for(&format!("read {word}"));
    }
    typist.is_told(7);
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
}

#[test]
fn a_job_that_is_stopped_does_nothing_until_it_goes_on_in_the_background_or_the_foreground() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, "trap 'exit 130' INT; beat up; while alive; do beat a; done");
    bench.wait_for("up");
    typist.stops();
    let lines = bench.log().len();
    bench.is_renewed();
    assert_eq!(bench.log().len(), lines);
    typist.types("bg\n");
    bench.goes_on();
    typist.is_answered();
    typist.finds_jobs("Running");
    // Shells tell nobody of this one: the job runs already.
    typist.fg();
    typist.stops();
    bench.is_renewed();
    let lines = bench.log().len();
    bench.is_renewed();
    assert_eq!(bench.log().len(), lines);
    typist.fg();
    bench.goes_on();
    typist.types(CTRL_C);
    typist.is_told(130);
    assert_eq!(bench.row().expires_at, 0);
}

#[test]
fn ctrl_c_reaches_a_job_that_came_from_the_background() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", &format!("trap 'exit 130' INT; {UNTIL_GO}"));
    bench.wait_for("up");
    typist.stops();
    typist.bg();
    typist.fg();
    typist.types(CTRL_C);
    typist.is_told(130);
}

#[test]
fn a_job_in_the_background_that_asks_the_user_is_stopped_until_it_has_the_terminal() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, ASK_LATER);
    bench.wait_for("up");
    typist.stops();
    typist.bg();
    bench.go();
    typist.finds_jobs("Stopped");
    bench.is_renewed();
    typist.fg();
    typist.types("hello\n");
    bench.wait_for("read hello");
    typist.is_told(7);
}

#[test]
fn a_job_that_asks_the_user_when_it_came_from_the_background_is_answered() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, ASK_LATER);
    bench.wait_for("up");
    typist.stops();
    typist.bg();
    typist.fg();
    bench.go();
    bench.wait_for("asks");
    typist.types("hello\n");
    bench.wait_for("read hello");
    typist.is_told(7);
}

#[test]
fn the_shell_and_the_job_each_find_the_terminal_as_they_left_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    let script = "stty -icanon -echo -onlcr; stty -g > set; beat up; \
        while alive && [ ! -e go ]; do :; done; stty -g > found; exit 6";
    typist.runs(TTL, script);
    bench.wait_for("up");
    typist.stops();
    typist.modes_are_as_before();
    typist.fg();
    bench.go();
    typist.is_told(6);
    assert_eq!(typist.modes("found"), typist.modes("set"));
    assert_ne!(typist.modes("set"), typist.modes("before"));
    typist.modes_are_as_before();
}

/// The shell waits for the script's shell, which is stopped as well.
#[test]
fn a_script_that_runs_tenure_is_stopped_with_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    let command = bench.command_line(TTL, "beat up; read x; beat \"read $x\"");
    typist.types(&format!("sh -c '{command}; echo af\"\"ter; read y; exit 9'\n"));
    bench.wait_for("up");
    typist.stops();
    typist.is_answered();
    typist.fg();
    typist.types("hello\n");
    bench.wait_for("read hello");
    typist.sees("after");
    typist.types("\n");
    typist.is_told(9);
}

#[test]
fn a_tenure_inside_a_job_is_stopped_and_goes_on_with_it() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    let command = bench.command_line(TTL, "beat up; read x; beat \"read $x\"; read x");
    typist.types(&format!("./tenure run --db leases.db --lease outer {TTL} -- {command}\n"));
    bench.wait_for("up");
    typist.stops();
    typist.is_answered();
    bench.is_renewed();
    typist.fg();
    typist.types("hello\n");
    bench.wait_for("read hello");
    typist.types(CTRL_C);
    typist.is_told(130);
    assert_eq!((bench.row().expires_at, bench.db.row("outer").unwrap().expires_at), (0, 0));
}

#[test]
fn when_a_stopped_job_is_killed_the_shell_learns_it_at_once() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, UNTIL_GO);
    bench.wait_for("up");
    typist.stops();
    bench.db.execute("UPDATE instance_leases SET expires_at = 0");
    typist.finds_jobs("Exit 76");
    typist.is_answered();
}

/// The shell tells its jobs, and has the stopped ones go on.
#[test]
fn when_the_terminal_is_closed_the_job_ends_stopped_or_not_and_its_lease_is_released() {
    for stopped in [false, true] {
        let bench = Bench::new();
        let mut typist = Typist::at_a_shell(&bench);
        typist.runs("", UNTIL_GO);
        bench.wait_for("up");
        let front = typist.front();
        if stopped {
            typist.stops();
        }
        typist.terminal = tempfile::tempfile().unwrap();
        eventually("it is released", || (bench.row().expires_at == 0).then_some(()));
        eventually("it has ended", || test_kill_process(front).is_err().then_some(()));
    }
}

#[test]
fn what_the_shell_sends_reaches_the_job_once() {
    let bench = Bench::new();
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs(TTL, &format!("trap 'beat USR1' USR1; trap 'beat USR2' USR2; {UNTIL_GO}"));
    bench.wait_for("up");
    typist.stops();
    typist.bg();
    for signal in ["USR1", "USR2"] {
        typist.types(&format!("kill -{signal} %1\n"));
        bench.wait_for(signal);
    }
    typist.types("kill %1\n");
    typist.finds_jobs("Exit 143");
    assert_eq!(bench.log(), ["up", "USR1", "USR2"]);
}

/// Ctrl-Z while it waits gives the shell back. It goes on waiting, and the shell learns when it begins.
#[test]
fn who_is_stopped_while_it_waits_begins_in_the_background() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let mut typist = Typist::at_a_shell(&bench);
    typist.runs("", "beat next; read x; beat \"read $x\"; exit 8");
    typist.sees("waiting for lease");
    typist.stops();
    typist.is_answered();
    bench.go();
    holder.end().expect(0);
    bench.wait_for("next");
    typist.finds_jobs("Stopped");
    typist.fg();
    typist.types("hello\n");
    bench.wait_for("read hello");
    typist.is_told(8);
}

/// Without a terminal nobody is told.
#[test]
fn a_job_that_is_stopped_without_a_terminal_keeps_its_lease() {
    let bench = Bench::new();
    let holder = bench.started(TTL, &format!("beat $$; {UNTIL_GO}"), "up");
    kill_process_group(bench.group(), Signal::STOP).unwrap();
    bench.is_renewed();
    kill_process_group(bench.group(), Signal::CONT).unwrap();
    bench.go();
    holder.end().expect(0);
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
}
