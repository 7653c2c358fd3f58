//! What the job is given, exit codes, and signals.

use super::{Bench, Running, UNTIL_GO, text};
use rustix::process::Signal;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use tests::{TABLE, eventually, execute};

/// SPEC.md R10: no two runs share a holder id.
#[test]
fn the_job_finds_its_lease_fence_holder_and_database_in_its_environment() {
    let bench = Bench::new();
    let show = "echo \"$TENURE_LEASE $TENURE_FENCE $TENURE_DB $TENURE_HOLDER\"";
    // A relative path becomes an absolute one, for jobs that change their directory.
    let mut command = bench.tenure_on("leases.db", "--label web:1 --ttl 20s");
    command.args(["--", "sh", "-c", show]);
    let ended = Running::start(command).end().expect(0);
    let (db, row) = (bench.db.path().display(), bench.row());
    assert_eq!(ended.stdout, format!("job 1 {db} {}\n", row.holder));
    assert!(row.holder.starts_with("tenure1:wallclock:20000:") && row.holder.ends_with(":web:1"), "{row:?}");
    let again = bench.run("", &["sh", "-c", "echo $TENURE_FENCE"]).expect(0);
    assert_eq!(again.stdout, "2\n");
    assert_ne!(bench.row().holder, row.holder);
}

#[test]
fn standard_input_output_and_error_are_the_jobs() {
    let bench = Bench::new();
    let mut command = bench.tenure("");
    command.stdin(Stdio::piped()).args(["--", "sh", "-c", "cat; echo oops >&2"]);
    let mut running = Running::start(command);
    running.child.stdin.take().unwrap().write_all(b"through and through").unwrap();
    let ended = running.end().expect(0);
    assert_eq!((&ended.stdout[..], &ended.stderr[..]), ("through and through", "oops\n"));
}

#[test]
fn the_exit_code_is_the_jobs_and_the_lease_is_released() {
    let bench = Bench::new();
    for (script, code) in [
        ("true", 0),
        ("exit 7", 7),
        ("exit 75", 75),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -9 $$", 137),
    ] {
        bench.start("", script).end().expect(code);
        assert_eq!(bench.row().expires_at, 0, "{script}");
    }
}

#[test]
fn a_job_that_cannot_be_started_is_127_or_126_and_the_lease_is_released() {
    let bench = Bench::new();
    fs::write(bench.db.beside("text"), "no program").unwrap();
    for (program, code) in [("no-such-program", 127), ("./text", 126), ("./", 126)] {
        bench.run("", &[program]).expect(code).says(program);
        assert_eq!(bench.row().expires_at, 0, "{program}");
    }
}

#[test]
fn a_usage_error_is_2_and_writes_nothing() {
    for (options, says) in [
        ("--ttl 15", "unit"),
        ("--ttl 99ms", "99ms"),
        ("--ttl 31d", "ttl"),
        ("--ttl 15s --renew-every 12s", "12s"),
        ("--max-skew 15s", "max skew"),
        ("--kill-lead 1.5us", "kill-lead"),
        ("--no-wait --wait 1s", "--wait"),
        ("--wait 5", "unit"),
        ("--label=", "label"),
        ("--lease=", "lease"),
        ("--unknown", "--unknown"),
    ] {
        let bench = Bench::new();
        bench.run(options, &["true"]).expect(2).says(says);
        assert_eq!(bench.db.files(), [], "{options}");
    }
    let bench = Bench::new();
    bench.run("", &[]).expect(2).says("COMMAND");
    assert_eq!(bench.db.files(), []);
}

#[test]
fn a_database_that_cannot_be_used_is_69_and_its_job_never_runs() {
    let bench = Bench::new();
    fs::write(bench.db.beside("diary"), "Dear diary, ".repeat(100)).unwrap();
    for (db, says) in
        [(":memory:", ":memory:"), ("no/such/dir", "no/such"), ("diary", "not a database"), (".", "file")]
    {
        let mut command = bench.tenure_on(db, "");
        command.args(["--", "touch", "ran"]);
        Running::start(command).end().expect(69).says(says);
    }
    let names: Vec<_> = bench.db.files().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [bench.db.beside("diary")]);
}

#[test]
fn who_does_not_wait_leaves_with_75_while_the_lease_is_held() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let row = bench.row();
    for options in ["--no-wait", "--wait 300ms", "--wait 1ms"] {
        bench.run(options, &["touch", "ran"]).expect(75).says(&row.holder);
    }
    bench.go();
    holder.end().expect(0);
    assert!(!bench.db.beside("ran").exists());
    assert_eq!(bench.row().fence, row.fence);
    bench.run("--no-wait", &["true"]).expect(0);
}

#[test]
fn who_waits_long_enough_gets_the_lease() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let waiting = bench.start("--wait 25s", "beat next");
    bench.go();
    holder.end().expect(0);
    waiting.end().expect(0);
    bench.never_overlap("up", "next");
}

#[test]
fn an_unreadable_row_counts_as_held_and_the_message_says_so() {
    let bench = Bench::new();
    let row = "INSERT INTO instance_leases VALUES ('job', 'appview-1', 'seven', 1, 2)";
    execute(bench.db.path(), &format!("{TABLE} {row}"));
    let before = bench.db.dump();
    for options in ["--no-wait", "--wait 300ms"] {
        let ended = bench.run(options, &["touch", "ran"]).expect(75);
        ended.says("unreadable").says("seven");
    }
    assert_eq!(bench.db.dump(), before);
    assert!(!bench.db.beside("ran").exists());
}

#[test]
fn a_database_that_never_answers_within_the_wait_is_69() {
    let bench = Bench::new();
    execute(bench.db.path(), TABLE);
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    bench.run("--wait 500ms", &["touch", "ran"]).expect(69).says("locked");
    assert!(!bench.db.beside("ran").exists());
}

#[test]
fn a_database_that_opens_but_answers_nothing_within_the_wait_is_69() {
    let bench = Bench::new();
    // Its schema can be read, its rows cannot.
    execute(bench.db.path(), &format!("PRAGMA page_size = 4096; {TABLE}"));
    let mut bytes = fs::read(bench.db.path()).unwrap();
    bytes[4096..].fill(0xff);
    fs::write(bench.db.path(), bytes).unwrap();
    for options in ["--wait 500ms", "--no-wait"] {
        bench.run(options, &["touch", "ran"]).expect(69).says("malformed");
    }
    assert!(!bench.db.beside("ran").exists());
}

#[test]
fn signals_are_forwarded_to_the_job_and_change_nothing_else() {
    let bench = Bench::new();
    let trap = "for s in INT TERM HUP QUIT USR1 USR2; do trap \"beat $s\" $s; done;";
    let running = bench.started("", &format!("{trap} {UNTIL_GO} exit 5"), "up");
    for (signal, name) in [
        (Signal::INT, "INT"),
        (Signal::TERM, "TERM"),
        (Signal::HUP, "HUP"),
        (Signal::QUIT, "QUIT"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
    ] {
        running.signal(signal);
        bench.wait_for(name);
    }
    bench.go();
    running.end().expect(5);
    assert_eq!(bench.row().expires_at, 0);
}

#[test]
fn sigterm_ends_a_job_that_does_not_trap_it_with_143_and_the_lease_is_released() {
    let bench = Bench::new();
    let running = bench.started("", UNTIL_GO, "up");
    running.signal(Signal::TERM);
    running.end().expect(143);
    assert_eq!(bench.row().expires_at, 0);
}

/// SPEC.md R6: it keeps renewing until the work has stopped.
#[test]
fn a_job_that_winds_down_for_several_ttls_keeps_its_lease_renewed() {
    let bench = Bench::new();
    let slowly = "trap 'beat told; sleep 6; exit 3' TERM;";
    let running = bench.started("--ttl 2s", &format!("{slowly} {UNTIL_GO}"), "up");
    running.signal(Signal::TERM);
    bench.wait_for("told");
    bench.run("--ttl 2s --no-wait", &["true"]).expect(75);
    running.end().expect(3);
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
}

#[test]
fn who_waits_for_the_lease_is_ended_by_sigterm_sigint_and_sighup_at_once() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let row = bench.row();
    for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        let waiting = bench.start("", "beat next");
        eventually("it says whom it waits for", || text(&waiting.stderr).contains("held by").then_some(()));
        waiting.signal(signal);
        waiting.end().expect(code);
    }
    assert_eq!((bench.row().fence, &bench.row().holder), (row.fence, &row.holder));
    bench.go();
    holder.end().expect(0);
    assert_eq!(bench.log(), ["up"]);
}

#[test]
fn who_waits_for_the_lease_ignores_sigquit_sigusr1_and_sigusr2() {
    let bench = Bench::new();
    let holder = bench.started("", UNTIL_GO, "up");
    let waiting = bench.start("", "beat next");
    eventually("it waits", || text(&waiting.stderr).contains("held by").then_some(()));
    [Signal::QUIT, Signal::USR1, Signal::USR2].into_iter().for_each(|signal| waiting.signal(signal));
    bench.go();
    holder.end().expect(0);
    waiting.end().expect(0);
}

/// What left the job's group is out of reach, as the README says: the lease is given back all the same.
#[test]
fn what_a_job_starts_in_a_session_of_its_own_lives_on() {
    let bench = Bench::new();
    let daemon = "setsid sh -c 'while [ -d \"$ALIVE\" ]; do sleep 0.01; echo d >> log; done' &";
    bench.start("", &format!("{daemon} while ! grep -q d log; do sleep 0.01; done; exit 3")).end().expect(3);
    assert_eq!((bench.row().fence, bench.row().expires_at), (1, 0));
    let lines = bench.log().len();
    eventually("it writes on", || (bench.log().len() > lines + 2).then_some(()));
}

/// As at the left of `| head -n 1`.
#[test]
fn a_job_whose_reader_has_gone_ends_by_sigpipe_and_gives_the_lease_back() {
    let bench = Bench::new();
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    let mut command = bench.tenure("");
    command.args(["--", "sh", "-c", "while :; do echo line || exit; done"]);
    let mut child = command.stdout(write).spawn().unwrap();
    drop(command);
    let status = eventually("it ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(128 + 13));
    assert_eq!(bench.row().expires_at, 0);
}
