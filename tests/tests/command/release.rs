//! `tenure release`: a person ends a tenure that is somebody else's.

use super::{Bench, Running};
use std::fs;
use std::time::Duration;
use tenure::clock::{Clock, SystemClock};
use tests::{RawRow, TABLE, execute};

const ME: &str = "tenure1:wallclock:15000:9f86d081884c7d65:web-1";
const MODES: [&str; 2] = ["DELETE", "WAL"];

/// A row of that holder with fence 7.
fn job(holder: &str, expires_at: i64) -> String {
    format!("INSERT INTO instance_leases VALUES ('job', '{holder}', 7, 1767225600000, {expires_at});")
}

const HELD: i64 = 9_000_000_000_000;

fn bench(mode: &str, rows: &str) -> Bench {
    let bench = Bench::new();
    execute(bench.db.path(), &format!("PRAGMA journal_mode = {mode}; {TABLE} {rows}"));
    bench
}

/// SPEC.md R3: in place; the row keeps its holder and its fence.
#[test]
fn a_lease_is_released_in_place_by_its_fence_or_by_force() {
    let other = "INSERT INTO instance_leases VALUES ('other', 'appview-1', 7, 1, 9000000000000);";
    for mode in MODES {
        for which in [&["--fence", "7"][..], &["--force"]] {
            let bench = bench(mode, &format!("{}{other}", job(ME, HELD)));
            let (before, untouched) = (bench.row(), bench.db.row("other"));
            let ended = bench.ask("release", &[&["job"], which].concat()).expect(0);
            ended.says("released lease \"job\": fence 7, holder tenure1:").says(ME);
            ended.says("at most until 2255-03-14T16:00:00.000Z").says("stops by itself before that");
            assert_eq!(bench.row(), RawRow { expires_at: 0, ..before });
            assert_eq!(bench.db.row("other"), untouched);
            let journal_mode: String =
                bench.db.raw().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
            assert_eq!(journal_mode, mode.to_lowercase());
        }
    }
}

#[test]
fn it_says_what_is_known_of_a_holder_that_is_not_ours_or_has_expired() {
    for (holder, expires_at, says) in [
        ("appview-1", HELD, "another system's"),
        ("tenure2:anything", HELD, "does not know"),
        (ME, 1_767_225_620_000, "had expired at 2026-01-01T00:00:20.000Z"),
        (ME, i64::MAX, "9223372036854775807ms"),
    ] {
        let bench = bench("DELETE", &job(holder, expires_at));
        bench.ask("release", &["job", "--fence=7"]).expect(0).says(says).says(holder);
        assert_eq!(bench.row().expires_at, 0);
    }
    let bench = bench("DELETE", &job("web\u{1b}[2J", HELD));
    bench.ask("release", &["job", "--force"]).expect(0).says("holder web\\u{1b}[2J");
}

#[test]
fn with_another_fence_nothing_is_changed_and_it_says_which_one_it_has() {
    for expires_at in [HELD, 2, 0] {
        let bench = bench("DELETE", &job(ME, expires_at));
        let before = bench.db.files();
        for fence in ["6", "8", "0", "9223372036854775807"] {
            bench.ask("release", &["job", "--fence", fence]).expect(1).says("fence 7").says(ME);
        }
        assert_eq!(bench.db.files(), before);
    }
}

#[test]
fn what_is_already_released_is_0_and_left() {
    let bench = bench("DELETE", &job(ME, 0));
    let before = bench.db.files();
    for which in [&["--fence", "7"][..], &["--force"]] {
        bench.ask("release", &[&["job"], which].concat()).expect(0).says("already released");
    }
    assert_eq!(bench.db.files(), before);
}

#[test]
fn a_lease_that_does_not_exist_is_1_and_none_is_made() {
    for sql in [TABLE, "CREATE TABLE other (a)", ""] {
        let bench = Bench::new();
        execute(bench.db.path(), sql);
        fs::OpenOptions::new().create(true).append(true).open(bench.db.path()).unwrap();
        let before = bench.db.files();
        for which in [&["--fence", "7"][..], &["--force"]] {
            bench.ask("release", &[&["job"], which].concat()).expect(1).says("no lease \"job\"");
        }
        assert_eq!(bench.db.files(), before);
    }
}

/// SPEC.md R11: a database that is not there is not made.
#[test]
fn a_file_that_cannot_be_used_is_69_and_left() {
    let bench = Bench::new();
    bench.ask("release", &["job", "--force"]).expect(69).says("leases.db does not exist");
    assert_eq!(bench.db.files(), []);
    let trigger = "CREATE TRIGGER meddler AFTER UPDATE ON instance_leases BEGIN SELECT 1; END;";
    for (sql, says) in [
        (format!("{TABLE} {} {trigger}", job(ME, HELD)), "meddler"),
        ("CREATE TABLE instance_leases (lease_name TEXT PRIMARY KEY)".into(), "its columns are"),
    ] {
        let bench = Bench::new();
        execute(bench.db.path(), &sql);
        let before = bench.db.files();
        bench.ask("release", &["job", "--force"]).expect(69).says(says);
        assert_eq!(bench.db.files(), before);
    }
}

/// SPEC.md R12: it counts as held, and only a person may say otherwise.
#[test]
fn a_row_that_cannot_be_read_is_not_released_not_even_by_force() {
    for (column, bad) in [
        ("holder_id", "''"),
        ("holder_id", "CAST(X'61FF62' AS TEXT)"),
        ("fence", "'7 '||'x'"),
        ("fence", "-7"),
        ("acquired_at", "1.5"),
        ("expires_at", "'2026-01-01'"),
        ("expires_at", "-1"),
    ] {
        let bench = bench("DELETE", &job(ME, HELD));
        bench.db.execute(&format!("UPDATE instance_leases SET {column} = {bad}"));
        let before = bench.db.files();
        for which in [&["--fence", "7"][..], &["--force"]] {
            let ended = bench.ask("release", &[&["job"], which].concat()).expect(1);
            ended.says("unreadable").says(column).says("by hand");
        }
        assert_eq!(bench.db.files(), before, "{column} {bad}");
    }
}

/// SPEC.md R3: its next renewal matches nothing; and R2: the next one has the next fence.
#[test]
fn a_live_holder_in_another_process_whose_lease_is_released_stops() {
    for which in ["--force", "--fence=1"] {
        let bench = Bench::new();
        let holder = bench.started("--ttl 3s", "while alive; do beat a; done", "a");
        let row = bench.row();
        bench.ask("release", &["job", which]).expect(0).says(&row.holder).says("fence 1");
        holder.end().expect(76).says("released by somebody else");
        assert_eq!(bench.row(), RawRow { expires_at: 0, ..row });
        bench.start("--ttl 3s", "beat \"next $TENURE_FENCE\"").end().expect(0);
        assert_eq!(bench.log().last().unwrap(), "next 2");
    }
}

#[test]
fn a_file_that_somebody_locks_is_waited_for_some_seconds_and_then_69() {
    for (mode, lock) in [
        ("WAL", "BEGIN IMMEDIATE"),
        ("DELETE", "BEGIN EXCLUSIVE"),
        // It lets the transaction begin, and keeps it from committing.
        ("DELETE", "BEGIN; SELECT * FROM instance_leases"),
    ] {
        let bench = bench(mode, &job(ME, HELD));
        let before = bench.row();
        let other = bench.db.raw();
        other.execute_batch(lock).unwrap();
        let begin = SystemClock.local();
        bench.ask("release", &["job", "--fence", "7"]).expect(69).says("locked");
        assert!(SystemClock.local() >= begin.plus(4_500), "{mode} {lock}");
        let waiting = Running::start(bench.asking("release", &["job", "--fence", "7"]));
        SystemClock.sleep(Duration::from_millis(500));
        assert_eq!(RawRow::read(&other, "job"), Some(before), "{mode} {lock}");
        other.execute_batch("COMMIT").unwrap();
        waiting.end().expect(0);
        assert_eq!(bench.row().expires_at, 0);
    }
}

#[test]
fn what_a_crash_left_half_written_is_rolled_back_first() {
    let bench = Bench::crashed(&job(ME, HELD));
    bench.ask("release", &["job", "--fence", "99"]).expect(1).says("fence 7");
    let bench = Bench::crashed(&job(ME, HELD));
    bench.ask("release", &["job", "--fence", "7"]).expect(0);
    assert_eq!((bench.row().fence, bench.row().expires_at), (7, 0));
}

#[test]
fn a_usage_error_is_2_and_touches_nothing() {
    let bench = Bench::new();
    for (arguments, says) in [
        (&["job"][..], "--fence"),
        (&["--force"], "NAME"),
        (&["job", "--fence", "7", "--force"], "--force"),
        (&["job", "--fence", "seven"], "seven"),
        (&["job", "--fence", "-7"], "-7"),
        (&["job", "--fence", "9223372036854775808"], "9223372036854775808"),
        (&["job", "--fence", "7.0"], "7.0"),
        (&["", "--force"], "lease name"),
        (&["a\tb", "--force"], "control character"),
        (&["job", "other", "--force"], "other"),
    ] {
        bench.ask("release", arguments).expect(2).says(says);
        assert_eq!(bench.db.files(), []);
    }
}
