//! `tenure status`: it shows what is there, and leaves it as it is.

use super::{Bench, UNTIL_GO};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tenure::clock::{Clock, SystemClock};
use tests::{TABLE, eventually, execute};

const ME: &str = "tenure1:wallclock:15000:9f86d081884c7d65:web-1";

/// One lease of each state that a row can have, not in order.
fn rows() -> String {
    format!(
        "{TABLE} INSERT INTO instance_leases VALUES
           ('c released', 'appview-1', 12, 1767225600000, 0),
           ('b expired', '{ME}', 7, 1767225600000, 1767225620000),
           ('d unreadable', 'appview-1', 'seven', 1767225600000, 1767225620000),
           ('a held', '{ME}', 3, 1767225600000, 9000000000000);"
    )
}

fn bench(sql: &str) -> Bench {
    let bench = Bench::new();
    execute(bench.db.path(), sql);
    bench
}

fn json_of(bench: &Bench, names: &[&str]) -> Value {
    let ended = bench.ask("status", &[&["--json"], names].concat()).expect(0);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn names(bench: &Bench) -> Vec<PathBuf> {
    bench.db.files().into_iter().map(|(path, _)| path).collect()
}

#[test]
fn the_table_shows_all_leases_sorted_with_their_states_and_times_in_utc() {
    let ended = bench(&rows()).ask("status", &[]).expect(0);
    let expected = "\
LEASE         HOLDER                                          FENCE  STATE       ACQUIRED                  EXPIRES
a held        tenure1:wallclock:15000:9f86d081884c7d65:web-1  3      held        2026-01-01T00:00:00.000Z  2255-03-14T16:00:00.000Z
b expired     tenure1:wallclock:15000:9f86d081884c7d65:web-1  7      expired     2026-01-01T00:00:00.000Z  2026-01-01T00:00:20.000Z
c released    appview-1                                       12     released    2026-01-01T00:00:00.000Z  -
d unreadable  appview-1                                       -      unreadable  2026-01-01T00:00:00.000Z  2026-01-01T00:00:20.000Z
";
    assert_eq!(ended.stdout, expected);
    ended.says("d unreadable").says("seven").says("by hand");
}

#[test]
fn the_json_tells_the_same_with_null_for_what_is_not_there() {
    let bench = bench(&rows());
    let row = |lease: &str, holder: &str, fence: Value, state: &str, expires_at: i64| {
        json!({"lease": lease, "holder": holder, "fence": fence, "state": state,
               "acquired_at_ms": 1_767_225_600_000_i64, "expires_at_ms": expires_at})
    };
    let all = json!([
        row("a held", ME, 3.into(), "held", 9_000_000_000_000),
        row("b expired", ME, 7.into(), "expired", 1_767_225_620_000),
        row("c released", "appview-1", 12.into(), "released", 0),
        row("d unreadable", "appview-1", Value::Null, "unreadable", 1_767_225_620_000),
    ]);
    assert_eq!(json_of(&bench, &[]), all);
    let none = json!({"lease": "b absent", "holder": null, "fence": null, "state": "none",
                      "acquired_at_ms": null, "expires_at_ms": null});
    assert_eq!(
        json_of(&bench, &["c released", "b absent", "a held", "a held"]),
        json!([all[0], none, all[2]])
    );
}

/// The file's state, and how it is made so.
const MODES: [&str; 4] = ["DELETE", "TRUNCATE", "PERSIST", "WAL"];

#[test]
fn the_files_bytes_and_its_schema_stay_in_every_journal_mode() {
    for mode in MODES {
        let bench = bench(&format!("PRAGMA journal_mode = {mode}; {}", rows()));
        let (dump, bytes, before) = (bench.db.dump(), fs::read(bench.db.path()).unwrap(), names(&bench));
        for arguments in [&[][..], &["--json"], &["a held", "other"]] {
            bench.ask("status", arguments).expect(0);
        }
        assert_eq!(fs::read(bench.db.path()).unwrap(), bytes, "{mode}");
        let side = ["leases.db-wal", "leases.db-shm"].map(|name| bench.db.beside(name));
        let new: Vec<_> = names(&bench).into_iter().filter(|path| !before.contains(path)).collect();
        assert!(mode == "WAL" && new.iter().all(|path| side.contains(path)) || new.is_empty(), "{new:?}");
        assert_eq!(bench.db.dump(), dump);
    }
}

/// As after a crash: what was committed stands in the log alone. SQLite recovers its index, and nothing else.
#[test]
fn what_stands_in_a_write_ahead_log_only_is_shown_and_stays_there() {
    let bench = Bench::new();
    let original = bench.db.beside("original.db");
    let writer = Connection::open(&original).unwrap();
    writer.execute_batch(&format!("PRAGMA journal_mode = WAL; {}", rows())).unwrap();
    fs::copy(&original, bench.db.path()).unwrap();
    fs::copy(bench.db.beside("original.db-wal"), bench.db.beside("leases.db-wal")).unwrap();
    drop(writer);
    let read = |name| fs::read(bench.db.beside(name)).unwrap();
    let before = ["leases.db", "leases.db-wal"].map(read);
    assert_eq!(json_of(&bench, &["b expired"])[0]["fence"], 7);
    assert_eq!(["leases.db", "leases.db-wal"].map(read), before);
}

#[test]
fn where_there_is_no_file_it_is_69_and_none_is_made() {
    let bench = Bench::new();
    bench.ask("status", &[]).expect(69).says("leases.db does not exist");
    assert_eq!(bench.db.files(), []);
    fs::create_dir(bench.db.path()).unwrap();
    bench.ask("status", &[]).expect(69).says("not a regular file");
    fs::remove_dir(bench.db.path()).unwrap();
    fs::write(bench.db.path(), "Dear diary, ".repeat(100)).unwrap();
    bench.ask("status", &["--json"]).expect(69).says("not a database");
    assert_eq!(names(&bench), [bench.db.path()]);
}

#[test]
fn a_file_without_the_table_has_no_leases() {
    for sql in ["CREATE TABLE other (a)", "PRAGMA journal_mode = WAL; CREATE TABLE other (a)", ""] {
        let bench = bench(sql);
        fs::OpenOptions::new().create(true).append(true).open(bench.db.path()).unwrap();
        let bytes = fs::read(bench.db.path()).unwrap();
        let ended = bench.ask("status", &[]).expect(0);
        assert_eq!(ended.stdout, "LEASE  HOLDER  FENCE  STATE  ACQUIRED  EXPIRES\n");
        ended.says("no leases");
        assert_eq!(json_of(&bench, &[]), json!([]));
        assert_eq!(json_of(&bench, &["asked"])[0]["state"], "none");
        assert_eq!(fs::read(bench.db.path()).unwrap(), bytes);
        assert!(!bench.db.dump().iter().any(|line| line.contains("instance_leases")));
    }
}

#[test]
fn a_table_of_another_form_is_69_and_a_trigger_hides_nothing() {
    let other = bench("CREATE TABLE instance_leases (lease_name TEXT PRIMARY KEY, holder_id)");
    other.ask("status", &[]).expect(69).says("its columns are");
    let trigger = "CREATE TRIGGER meddler AFTER UPDATE ON instance_leases BEGIN SELECT 1; END";
    assert_eq!(json_of(&bench(&format!("{}{trigger}", rows())), &["a held"])[0]["fence"], 3);
}

#[test]
fn a_journal_that_needs_recovery_is_69_and_stays() {
    let bench = Bench::crashed("INSERT INTO instance_leases VALUES ('job', 'appview-1', 7, 1, 2)");
    let before = bench.db.files();
    bench.ask("status", &[]).expect(69).says("recovery");
    bench.ask("status", &["job", "--json"]).expect(69).says("recovery");
    assert_eq!(bench.db.files(), before);
    // It was one: who writes recovers it.
    assert_eq!(bench.row().fence, 7);
    bench.ask("status", &[]).expect(0);
}

#[test]
fn a_locked_file_is_waited_for_some_seconds_and_then_69() {
    let bench = bench(&rows());
    let lock = bench.db.raw();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let waiting = super::Running::start(bench.asking("status", &[]));
    let begin = SystemClock.local();
    bench.ask("status", &[]).expect(69).says("locked");
    assert!(SystemClock.local() >= begin.plus(4_500));
    waiting.end().expect(69);
    let waiting = super::Running::start(bench.asking("status", &["a held"]));
    SystemClock.sleep(Duration::from_millis(500));
    lock.execute_batch("COMMIT").unwrap();
    assert!(waiting.end().expect(0).stdout.contains("held"));
}

/// SPEC.md R12: by the store's own checks.
#[test]
fn a_row_with_a_column_that_cannot_be_read_is_unreadable_and_the_column_null() {
    for (column, key, bad) in [
        ("holder_id", "holder", "''"),
        ("holder_id", "holder", "CAST(X'61FF62' AS TEXT)"),
        ("fence", "fence", "1.5"),
        ("fence", "fence", "-1"),
        ("acquired_at", "acquired_at_ms", "'2026-01-01'"),
        ("expires_at", "expires_at_ms", "X'00'"),
        ("expires_at", "expires_at_ms", "-1"),
    ] {
        let bench = bench(&format!(
            "{TABLE} INSERT INTO instance_leases VALUES ('job', 'appview-1', 7, 1, 0);
             UPDATE instance_leases SET {column} = {bad}"
        ));
        let rows = json_of(&bench, &[]);
        assert_eq!(
            (&rows[0]["state"], &rows[0][key]),
            (&json!("unreadable"), &Value::Null),
            "{column} {bad}"
        );
        let nulls = rows[0].as_object().unwrap().values().filter(|value| value.is_null()).count();
        assert_eq!(nulls, 1, "{rows}");
        bench.ask("status", &["job"]).expect(0).says(column);
    }
}

#[test]
fn a_name_that_is_no_text_is_unreadable_and_shown_in_print() {
    let values = "(X'00ff', 'a', 7, 1, 0), (NULL, 'a', 7, 1, 0), (CAST(X'61FF62' AS TEXT), 'a', 7, 1, 0)";
    let bench = bench(&format!("{TABLE} INSERT INTO instance_leases VALUES {values}, ('', 'a', 7, 1, 0)"));
    let rows = json_of(&bench, &[]);
    let shown: Vec<_> = rows.as_array().unwrap().iter().map(|row| (&row["lease"], &row["state"])).collect();
    let expected = ["", "NULL", "X'00FF'", "a\\xffb"].map(|lease| (json!(lease), json!("unreadable")));
    assert_eq!(shown, expected.iter().map(|(lease, state)| (lease, state)).collect::<Vec<_>>());
}

#[test]
fn what_stands_in_a_row_cannot_steer_a_terminal() {
    let hostile = "up\u{1b}[2J\u{9b}31m\r\n\u{7f}\u{202e}\"\\ü";
    let bench = bench(TABLE);
    let insert = "INSERT INTO instance_leases VALUES (?1, ?1, 7, 1, ?2)";
    bench.db.raw().execute(insert, (hostile, 0)).unwrap();
    bench.db.raw().execute(insert, (format!("{hostile}2"), "x\u{1b}[2J")).unwrap();
    bench.db.raw().execute(insert, ("long", "x".repeat(100_000))).unwrap();
    let harmless = |text: &str| !text.chars().any(|c| c != '\n' && c.is_control() || c == '\u{202e}');
    let table = bench.ask("status", &[]).expect(0);
    assert!(harmless(&table.stdout) && harmless(&table.stderr), "{table:?}");
    assert_eq!(table.stdout.lines().count(), 4);
    assert!(table.stdout.contains("up\\u{1b}[2J\\u{9b}31m\\r\\n\\u{7f}\\u{202e}\"\\ü"), "{table:?}");
    assert!(table.stdout.len() + table.stderr.len() < 10_000);
    let json = bench.ask("status", &["--json"]).expect(0).stdout;
    assert!(harmless(&json), "{json:?}");
    let rows: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&rows[1]["lease"], &rows[1]["holder"]), (&json!(hostile), &json!(hostile)));
}

#[test]
fn a_lease_that_only_a_release_makes_free_is_pointed_out() {
    let insert = "INSERT INTO instance_leases VALUES ('job', 'tenure2:anything', 7, 1, 2)";
    let ended = bench(&format!("{TABLE} {insert}")).ask("status", &[]).expect(0);
    assert!(ended.stdout.contains("tenure2:anything  7      expired"), "{ended:?}");
    ended.says("only a release");
}

#[test]
fn a_standard_output_that_nobody_reads_is_no_panic() {
    let bench = bench(&rows());
    for json in [&[][..], &["--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.asking("status", json);
        let ended =
            command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert!(!String::from_utf8_lossy(&ended.stderr).contains("panicked"), "{ended:?}");
    }
}

#[test]
fn a_lease_is_shown_as_held_while_its_job_runs_and_released_afterwards() {
    let bench = Bench::new();
    let holder = bench.started("--label here", UNTIL_GO, "up");
    let row = bench.row();
    let shown = json_of(&bench, &["job"]);
    assert_eq!((&shown[0]["state"], &shown[0]["holder"]), (&json!("held"), &json!(row.holder)));
    bench.go();
    holder.end().expect(0);
    eventually("it is released", || (json_of(&bench, &["job"])[0]["state"] == "released").then_some(()));
}

#[test]
fn a_usage_error_is_2_and_the_help_has_examples() {
    let bench = Bench::new();
    for wrong in ["a\nb", "", "--unknown"] {
        bench.ask("status", &[wrong]).expect(2);
    }
    assert_eq!(bench.db.files(), []);
    for command in ["status", "release"] {
        assert!(
            bench.ask(command, &["--help"]).expect(0).stdout.contains(&format!("    tenure {command} --db"))
        );
    }
}

#[cfg(feature = "system")]
#[test]
fn on_a_read_only_file_system_it_reads_what_can_be_read() {
    use crate::mount::Mount;
    for (sql, code) in [(rows(), 0), (format!("PRAGMA journal_mode = WAL; {}", rows()), 69)] {
        let bench = bench(&sql);
        let mount = Mount::read_only(bench.directory());
        let before = bench.db.files();
        let ended = bench.ask("status", &["a held"]).expect(code);
        assert!(code == 0 || ended.stderr.contains("-wal"), "{ended:?}");
        bench.ask("release", &["a held", "--force"]).expect(69).says("read-only");
        assert_eq!(bench.db.files(), before);
        drop(mount);
    }
}
