//! `tenure instance`: a job that is refused while another instance's record is live.

use super::{Bench, Ended, Running, UNTIL_GO, fresh, with_prelude};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use tenure::clock::{Clock, SystemClock};
use tests::eventually;

fn instance(bench: &Bench, options: &str) -> Command {
    let mut command = fresh();
    command.arg(env!("CARGO_BIN_EXE_tenure-under-test")).arg("instance");
    if !options.contains("--record") {
        command.args(["--record", "record"]);
    }
    command.args(options.split_whitespace()).arg("--");
    command.current_dir(bench.directory()).env("ALIVE", bench.alive.path()).stdin(Stdio::null());
    command
}

fn start(bench: &Bench, options: &str, script: &str) -> Running {
    let mut command = instance(bench, options);
    command.args(["sh", "-c", &with_prelude(script)]);
    Running::start(command)
}

/// Started, and its job has begun.
fn started(bench: &Bench, options: &str, script: &str) -> Running {
    bench.until(start(bench, options, script), "up")
}

fn run(bench: &Bench, options: &str, script: &str) -> Ended {
    start(bench, options, script).end()
}

fn record(bench: &Bench) -> Option<serde_json::Value> {
    let text = fs::read_to_string(bench.db.beside("record")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// At the moment when it has been renewed: it is left alone then, for a third of the TTL.
fn renewed(bench: &Bench) -> serde_json::Value {
    let first = record(bench).unwrap();
    eventually("the record is renewed", || {
        record(bench).filter(|now| now["renewed_ms"] != first["renewed_ms"])
    })
}

#[test]
fn a_second_instance_is_refused_with_75_and_says_what_to_do_until_the_first_has_ended() {
    let bench = Bench::new();
    let first = started(&bench, "--ttl 3s", &format!("{UNTIL_GO} exit 7"));
    let id = record(&bench).unwrap()["id"].as_str().unwrap().to_owned();
    // Over several of its TTLs.
    for _ in 0..3 {
        SystemClock.sleep(std::time::Duration::from_secs(2));
        let ended = run(&bench, "--ttl 3s", "beat second").expect(75);
        ended
            .says("record\": another")
            .says(&id)
            .says("stop it before this one starts")
            .says("without overlap")
            .says("wait until 2");
    }
    bench.go();
    first.end().expect(7);
    assert_eq!(record(&bench), None);
    run(&bench, "", "beat second").expect(0);
    assert_eq!(bench.log().iter().filter(|line| *line == "second").count(), 1);
}

#[test]
fn the_job_finds_its_id_and_its_record_in_its_environment_and_the_default_ttl_is_2_minutes() {
    let bench = Bench::new();
    let ended = run(&bench, "", "echo \"$TENURE_INSTANCE $TENURE_RECORD\"; cat record").expect(0);
    let (first, json) = ended.stdout.split_once('\n').unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let path = bench.db.beside("record");
    assert_eq!(first, format!("{} {}", json["id"].as_str().unwrap(), path.display()));
    assert_eq!((&json["tenure_instance"], &json["ttl_ms"]), (&1.into(), &120_000.into()));
    assert!(!path.exists());
}

#[test]
fn after_the_first_was_killed_the_second_starts_when_the_ttl_has_passed_and_no_earlier() {
    let bench = Bench::new();
    let first = started(&bench, "--ttl 3s", "while alive; do beat up; done");
    first.signal(Signal::KILL);
    first.end().expect(137);
    let renewed = record(&bench).unwrap()["renewed_ms"].as_i64().unwrap();
    let second = eventually("it may start", || {
        let ended = run(&bench, "--ttl 3s", "beat second");
        assert!([Some(0), Some(75)].contains(&ended.status.code()), "{ended:?}");
        (ended.status.code() == Some(0)).then(|| SystemClock.wall().as_unix_millis())
    });
    assert!(second >= renewed + 3_000, "{second} {renewed}");
    bench.never_overlap("up", "second");
}

#[test]
fn a_signal_ends_the_job_and_the_record_is_removed() {
    let bench = Bench::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let _ = fs::remove_file(bench.db.beside("log"));
        let running = started(&bench, "", UNTIL_GO);
        assert!(record(&bench).is_some());
        running.signal(signal);
        running.end().expect(code);
        assert_eq!(record(&bench), None);
    }
}

#[test]
fn a_signal_before_the_job_has_begun_ends_it_and_leaves_no_record() {
    let bench = Bench::new();
    // Which settles within a second. That it does not wait for that shows where neither of us is held up.
    let mut early = 0;
    eventually("twenty runs end before their claims have settled", || {
        let running = start(&bench, "", "beat up");
        let written = eventually("it has written", || record(&bench));
        running.signal(Signal::TERM);
        let ended = running.end();
        let now = SystemClock.wall().as_unix_millis();
        assert_eq!(record(&bench), None);
        if now < written["since_ms"].as_i64().unwrap() + 1_000 {
            ended.expect(143).says("while waiting");
            early += 1;
        }
        (early == 20).then_some(())
    });
}

#[test]
fn a_record_that_another_instance_overwrote_kills_the_job_with_76_and_is_left_alone() {
    let bench = Bench::new();
    let running = started(&bench, "--ttl 3s", "trap '' TERM; beat $$; beat up; while alive; do beat a; done");
    let mut other = renewed(&bench);
    other["id"] = "other".into();
    let text = other.to_string();
    fs::write(bench.db.beside("new"), &text).unwrap();
    fs::rename(bench.db.beside("new"), bench.db.beside("record")).unwrap();
    running.end().expect(76).says("overwritten by other").says("killed");
    assert_eq!(fs::read_to_string(bench.db.beside("record")).unwrap(), text);
    bench.group_is_gone();
}

#[test]
fn a_record_that_cannot_be_renewed_is_told_and_has_the_job_stopped_before_its_ttl_has_passed() {
    let bench = Bench::new();
    let share = bench.db.beside("share");
    fs::create_dir(&share).unwrap();
    let heeds = "trap 'beat term; date +%s%3N >ended; exit 0' TERM";
    let job = format!("{heeds}; beat up; while alive; do sleep 0.01; done");
    let running = started(&bench, "--ttl 4s --record share/record", &job);
    let text = fs::read_to_string(share.join("record")).unwrap();
    fs::rename(&share, bench.db.beside("away")).unwrap();
    let ended = running.end().expect(76);
    ended.says("record\": ").says("its directory is gone\n");
    ended.says("its directory is gone): the job is told to stop");
    assert_eq!(bench.log(), ["up", "term"]);
    let last = fs::read_to_string(bench.db.beside("away/record")).unwrap_or(text);
    let renewed = serde_json::from_str::<serde_json::Value>(&last).unwrap()["renewed_ms"].as_i64().unwrap();
    let ended: i64 = fs::read_to_string(bench.db.beside("ended")).unwrap().trim().parse().unwrap();
    assert!(ended < renewed + 4_000, "{ended} {renewed}");
}

#[test]
fn an_unreadable_record_counts_as_live_and_one_that_cannot_be_written_is_69() {
    let bench = Bench::new();
    fs::write(bench.db.beside("record"), "nobody").unwrap();
    run(&bench, "", "beat up").expect(75).says("unreadable").says("not JSON").says("remove the record");
    assert_eq!(fs::read_to_string(bench.db.beside("record")).unwrap(), "nobody");
    fs::remove_file(bench.db.beside("record")).unwrap();
    run(&bench, "--record no/such/record", "beat up").expect(69).says("no/such/record");
    assert_eq!(bench.log(), [""; 0]);
}

/// And by SIGTERM first, each time.
#[test]
fn a_job_that_goes_on_when_its_record_is_renewed_again_is_told_to_stop_the_next_time_too() {
    let bench = Bench::new();
    let [share, away] = ["share", "away"].map(|name| bench.db.beside(name));
    fs::create_dir(&share).unwrap();
    let job = "trap 'beat term' TERM; beat up; while alive; do sleep 0.01; done";
    let running = started(&bench, "--ttl 10s --record share/record", job);
    let read = || fs::read_to_string(share.join("record")).unwrap();
    let first = read();
    fs::rename(&share, &away).unwrap();
    bench.wait_for("term");
    fs::rename(&away, &share).unwrap();
    eventually("it is renewed", || (read() != first).then_some(()));
    fs::rename(&share, &away).unwrap();
    let ended = running.end().expect(76);
    assert_eq!(bench.log(), ["up", "term", "term"]);
    assert_eq!(ended.stderr.matches("the job is told to stop").count(), 2, "{ended:?}");
    assert!(ended.stderr.contains("killed"), "{ended:?}");
}

#[test]
fn a_claim_that_comes_to_nothing_says_what_it_leaves() {
    let bench = Bench::new();
    let share = bench.db.beside("share");
    fs::create_dir(&share).unwrap();
    let running = start(&bench, "--ttl 8s --record share/record", "beat up");
    eventually("it has written", || share.join("record").exists().then_some(()));
    fs::rename(&share, bench.db.beside("away")).unwrap();
    let ended = running.end().expect(69);
    ended.says("record\": /").says("its record cannot be read back").says("was not removed, and runs out");
    assert!(bench.db.beside("away/record").exists());
    assert_eq!(bench.log(), [""; 0]);
}

#[test]
fn a_usage_error_is_2_and_a_job_that_cannot_be_started_127_and_no_record_is_left() {
    let bench = Bench::new();
    for (options, says) in [("--ttl 15", "unit"), ("--ttl 999ms", "1s to 1day"), ("--ttl 25h", "1s to 1day")]
    {
        run(&bench, options, "beat up").expect(2).says(says);
    }
    let mut command = instance(&bench, "");
    command.arg("no-such-program");
    Running::start(command).end().expect(127).says("no-such-program");
    assert_eq!((record(&bench), bench.log()), (None, vec![]));
}

/// To open one waits for who writes to it.
#[test]
fn a_record_that_is_a_pipe_is_refused_at_once() {
    let bench = Bench::new();
    Command::new("mkfifo").arg(bench.db.beside("record")).status().unwrap();
    run(&bench, "", "beat up").expect(75).says("no regular file");
    assert_eq!(bench.log(), [""; 0]);
}

/// As with a lease: while tenure stands still its watchdog kills the job; and then it says why it ends.
#[cfg(target_os = "linux")]
#[test]
fn when_tenure_was_stopped_it_says_why_the_job_was_killed() {
    let bench = Bench::new();
    let running =
        started(&bench, "--ttl 4s", "echo $$ >\"$ALIVE.pid\"; while alive; do beat up; sleep 0.01; done");
    running.signal(Signal::STOP);
    let job = fs::read_to_string(format!("{}.pid", bench.alive.path().display())).unwrap();
    eventually("its job is killed", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", job.trim())).unwrap();
        stat.contains(") Z ").then_some(())
    });
    running.signal(Signal::CONT);
    let ended = running.end().expect(76);
    let (in_time, late) = ("the watchdog killed the job", "lost the claim");
    assert!(ended.stderr.contains(in_time) || ended.stderr.contains(late), "{ended:?}");
    assert_eq!(record(&bench), None);
}

/// Root, too, may not read it without the capabilities that pass over permissions.
#[test]
fn a_record_that_may_not_be_read_counts_as_live() {
    let bench = Bench::new();
    let path = bench.db.beside("record");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    let mut command = fresh();
    if rustix::process::geteuid().is_root() {
        command.args(["setpriv", "--bounding-set=-dac_override,-dac_read_search"]);
    }
    command.args([env!("CARGO_BIN_EXE_tenure-under-test"), "instance", "--record", "record", "--", "true"]);
    command.current_dir(bench.directory()).stdin(Stdio::null());
    Running::start(command).end().expect(75).says("counts as another instance's").says("Permission denied");
    assert!(path.exists());
}
