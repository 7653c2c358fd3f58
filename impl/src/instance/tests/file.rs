//! A record in a file.

use super::stage::eventually;
use crate::clock::SetClock;
use crate::instance::{ClaimError, FileRecords, Guard, Options, Records, Seen};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tempfile::tempdir;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_written_is_read_and_what_is_deleted_is_not_there() {
    let directory = tempdir().unwrap();
    let mut records = FileRecords::new(directory.path().join("instance"));
    assert_eq!(records.read().unwrap(), None);
    records.delete().unwrap();
    for bytes in ["one", "two, which is longer", ""] {
        records.write(bytes.as_bytes()).unwrap();
        assert_eq!(records.read().unwrap(), Some(bytes.as_bytes().to_vec()));
        assert_eq!(names(directory.path()), ["instance"]);
    }
    records.delete().unwrap();
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn no_reader_ever_sees_half_a_record_or_none() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("instance");
    let [one, two] = [b'1', b'2'].map(|byte| vec![byte; 4_000]);
    FileRecords::new(&path).write(&one).unwrap();
    let over = AtomicBool::new(false);
    let reads = AtomicU32::new(0);
    let read = || {
        let mut records = FileRecords::new(&path);
        while !over.load(SeqCst) {
            let bytes = records.read().unwrap().unwrap();
            assert!(bytes == one || bytes == two, "{} bytes", bytes.len());
            reads.fetch_add(1, SeqCst);
        }
    };
    std::thread::scope(|threads| {
        #[allow(clippy::disallowed_methods, reason = "the test's thread")]
        threads.spawn(read);
        let mut records = FileRecords::new(&path);
        let mut rounds = 0;
        while rounds < 20 || reads.load(SeqCst) < 1_000 {
            records.write(&two).unwrap();
            records.write(&one).unwrap();
            rounds += 1;
        }
        over.store(true, SeqCst);
    });
}

#[test]
fn of_a_huge_file_no_more_is_read_than_shows_that_it_is_none() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("instance");
    fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!(FileRecords::new(&path).read().unwrap().unwrap().len(), 4_097);
}

fn refused(path: &Path) -> ClaimError {
    let options = Options { clock: SetClock::new(), ..Options::default() };
    Guard::new(FileRecords::new(path), options).unwrap().claim().wait().unwrap_err()
}

#[test]
fn a_file_that_may_not_be_read_counts_as_live_and_the_file_is_named() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("instance");
    fs::create_dir(&path).unwrap();
    let error = refused(&path);
    assert!(
        matches!(error, ClaimError::Unreadable(_)) && error.to_string().contains("/instance"),
        "{error:?}"
    );
    FileRecords::new(&path).write(b"x").unwrap_err();
    assert_eq!(names(directory.path()), ["instance"], "what was written beside it is gone");
    fs::remove_dir(&path).unwrap();
    FileRecords::new(&path).write(b"x").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    let error = refused(&path).to_string();
    // Root reads what it likes, and finds no record.
    let says = if rustix::process::geteuid().is_root() { "not JSON" } else { "Permission denied" };
    assert!(error.contains(says), "{error}");
}

#[test]
fn without_the_directory_or_the_right_to_write_there_a_claim_is_refused_and_nothing_left() {
    let directory = tempdir().unwrap();
    let error = refused(&directory.path().join("no/such/instance"));
    assert!(matches!(&error, ClaimError::NotWritten(why) if why.contains("no/such/instance")), "{error:?}");
    assert_eq!(names(directory.path()), [""; 0]);
    FileRecords::new(directory.path().join("file")).write(b"").unwrap();
    let error = refused(&directory.path().join("file/instance"));
    assert!(matches!(error, ClaimError::Unreadable(_)), "{error:?}");
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o500)).unwrap();
        let error = refused(&directory.path().join("instance"));
        assert!(matches!(error, ClaimError::NotWritten(_)), "{error:?}");
        fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o700)).unwrap();
    }
}

/// By the machine's clock, in earnest.
#[test]
fn a_claim_on_a_file_stands_beside_no_other_and_is_renewed() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("instance");
    let guard = || {
        let options = Options { ttl: Duration::from_secs(3), ..Options::default() };
        Guard::new(FileRecords::new(&path), options).unwrap()
    };
    let claim = guard().claim().wait().unwrap();
    let renewed = || match Seen::of(FileRecords::new(&path).read().unwrap().as_deref()) {
        Seen::Record(record) => record.renewed,
        seen => panic!("{seen:?}"),
    };
    let first = renewed();
    eventually(|| renewed() > first);
    assert!(claim.is_current());
    let error = guard().claim().wait().unwrap_err();
    assert!(matches!(&error, ClaimError::AnotherInstance { id, .. } if id == claim.id()), "{error:?}");
    drop(claim);
    assert_eq!(names(directory.path()), [""; 0]);
    guard().claim().wait().unwrap().stand_down().wait().unwrap();
}

/// Renaming would replace the link: of two hosts with a link each both would run.
#[test]
fn a_symbolic_link_is_refused_and_left_alone() {
    let directory = tempdir().unwrap();
    let [link, file] = ["link", "file"].map(|name| directory.path().join(name));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for is_there in [false, true] {
        if is_there {
            FileRecords::new(&file).write(b"").unwrap();
        }
        let guard = Guard::new(FileRecords::new(&link), Options::default()).unwrap();
        let error = guard.claim().wait().unwrap_err();
        assert!(matches!(error, ClaimError::Unreadable(_)), "{error:?}");
        assert!(error.to_string().contains("symbolic link: name the file"), "{error}");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(names(directory.path()).contains(&"file".to_owned()), is_there);
    }
}

/// A record in a directory that was moved away, and both directories.
fn moved_away(outer: &Path) -> (FileRecords, PathBuf, PathBuf) {
    let [directory, away] = ["share", "away"].map(|name| outer.join(name));
    fs::create_dir(&directory).unwrap();
    let mut records = FileRecords::new(directory.join("record"));
    records.write(b"ours").unwrap();
    fs::rename(&directory, &away).unwrap();
    (records, directory, away)
}

/// As when a share is unmounted: what is written to another directory tells nobody anything.
#[test]
fn in_another_directory_than_before_each_call_fails() {
    let outer = tempdir().unwrap();
    let (mut records, directory, away) = moved_away(outer.path());
    let fails = |records: &mut FileRecords| {
        [records.read().map(drop), records.write(b"ours"), records.delete()]
            .map(|done| done.unwrap_err().to_string())
    };
    assert!(fails(&mut records).iter().all(|why| why.contains("its directory is gone")));
    fs::create_dir(&directory).unwrap();
    for why in fails(&mut records) {
        assert!(why.contains("another one than before"), "{why}");
    }
    assert_eq!(names(&directory), [""; 0]);
    fs::remove_dir(&directory).unwrap();
    fs::rename(&away, &directory).unwrap();
    assert_eq!(records.read().unwrap(), Some(b"ours".to_vec()));
}

/// As where a file system numbers its directories anew.
#[test]
fn in_another_directory_that_has_the_record_all_goes_on() {
    let outer = tempdir().unwrap();
    let (mut records, directory, away) = moved_away(outer.path());
    fs::create_dir(&directory).unwrap();
    fs::rename(away.join("record"), directory.join("record")).unwrap();
    assert_eq!(records.read().unwrap(), Some(b"ours".to_vec()));
    records.write(b"ours again").unwrap();
    records.delete().unwrap();
    assert_eq!(records.read().unwrap(), None);
}
