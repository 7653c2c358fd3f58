//! What is no database that several processes can share is refused with the reason, and left as it is.

use std::fs;
use std::path::Path;
use tenure::store::{OpenError, SqliteStore};
use tests::{SetClock, TABLE, TempDb};

/// The reason for which a path is refused.
fn refused(path: impl AsRef<Path>) -> OpenError {
    SqliteStore::open(path, SetClock::new()).expect_err("it is refused")
}

/// The same; the directory and every byte in it are as before.
fn refused_and_left(db: &TempDb) -> OpenError {
    let before = db.files();
    let error = refused(db.path());
    assert_eq!(db.files(), before, "{error}");
    error
}

#[test]
fn a_name_that_no_other_process_would_see_is_refused() {
    for name in ["", ":memory:", "file:x?mode=memory", "file:x?mode=memory&cache=shared", "file:leases.db"] {
        let opened = SqliteStore::open(name, SetClock::new());
        // Should it have made one, it is no good where the tests run.
        assert!(fs::remove_file(name).is_err(), "{name:?} was made");
        let error = opened.expect_err("it is refused");
        assert!(matches!(error, OpenError::NotShared { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
}

#[test]
fn a_missing_directory_is_refused_and_not_made() {
    let db = TempDb::new();
    let error = refused(db.beside("no/such/leases.db"));
    assert!(matches!(error, OpenError::NoDirectory { .. }), "{error}");
    assert!(error.to_string().contains("no/such"), "{error}");
    assert_eq!(db.files(), []);
}

#[test]
fn what_is_no_file_is_refused() {
    let db = TempDb::new();
    fs::create_dir(db.path()).unwrap();
    let error = refused_and_left(&db);
    assert!(matches!(error, OpenError::NotAFile { .. }), "{error}");
    assert!(matches!(refused("/dev/null"), OpenError::NotAFile { .. }));
}

#[test]
fn a_file_with_two_names_is_refused_by_either() {
    let db = TempDb::with(TABLE);
    let other = db.beside("other.db");
    fs::hard_link(db.path(), &other).unwrap();
    let error = refused_and_left(&db);
    assert!(matches!(error, OpenError::HardLinks { links: 2, .. }), "{error}");
    assert!(matches!(refused(&other), OpenError::HardLinks { .. }));
    fs::remove_file(other).unwrap();
    db.store(&SetClock::new());
}

#[test]
fn what_is_no_database_is_refused() {
    let db = TempDb::new();
    fs::write(db.path(), "Dear diary, today I was taken for a database.\n".repeat(100)).unwrap();
    let error = refused_and_left(&db);
    assert!(matches!(error, OpenError::Sqlite { .. }), "{error}");
    assert!(error.to_string().contains("not a database"), "{error}");
}

#[test]
fn a_table_of_another_form_is_refused() {
    let columns = "lease_name TEXT PRIMARY KEY, holder_id TEXT, fence INTEGER, acquired_at INTEGER";
    let table = |columns: &str| format!("CREATE TABLE instance_leases ({columns});");
    let cases = [
        ("CREATE VIEW instance_leases AS SELECT 1".into(), "there is: view"),
        ("CREATE TABLE a (b); CREATE INDEX instance_leases ON a (b)".into(), "there is: index"),
        (table(columns), "its columns are"),
        (table(&format!("{columns}, expires_at, region")), "its columns are"),
        (table(&format!("{columns}, expires")), "its columns are"),
        (table("lease_name, holder_id, fence, acquired_at, expires_at"), "not its primary key"),
        (TABLE.replace("expires_at INTEGER", "expires_at TEXT"), "column expires_at is of type TEXT"),
        (TABLE.replace("fence INTEGER", "fence DOUBLE"), "column fence is of type DOUBLE"),
        (TABLE.replace("lease_name TEXT", "lease_name INT"), "column lease_name is of type INT"),
        (table("lease_name, holder_id PRIMARY KEY, fence, acquired_at, expires_at"), "not its primary key"),
        (
            table("lease_name, holder_id, fence, acquired_at, expires_at, PRIMARY KEY (lease_name, fence)"),
            "not its primary key",
        ),
        (
            format!("{TABLE} CREATE TRIGGER meddler AFTER UPDATE ON Instance_Leases BEGIN SELECT 1; END"),
            "trigger meddler",
        ),
    ];
    for (sql, says) in cases {
        let error = refused_and_left(&TempDb::with(&sql));
        assert!(matches!(error, OpenError::Table { .. }), "{sql}: {error}");
        assert!(error.to_string().contains(says), "{sql}: {error}");
    }
}

#[test]
fn a_file_that_another_connection_holds_is_busy_and_left() {
    let db = TempDb::with("CREATE TABLE other (a)");
    let holder = db.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // Not looked at in detail: to open the file here would drop the locks that are at stake.
    let error = refused(db.path());
    assert!(matches!(error, OpenError::Busy { .. }), "{error}");
    holder.execute_batch("COMMIT").unwrap();
    db.store(&SetClock::new());
}

#[cfg(feature = "system")]
#[test]
fn a_file_that_can_only_be_read_is_refused() {
    use crate::mount::Mount;
    for sql in [TABLE, "CREATE TABLE other (a)", "PRAGMA journal_mode = WAL; CREATE TABLE other (a)", ""] {
        let db = TempDb::with(sql);
        let mount = Mount::read_only(db.path().parent().unwrap());
        let error = refused_and_left(&db);
        assert!(matches!(error, OpenError::ReadOnly { .. }), "{error}");
        drop(mount);
        db.store(&SetClock::new());
    }
}
