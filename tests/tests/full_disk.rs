//! R8 on a disk that is full.

use crate::mount::Mount;
use std::fs::{self, File};
use std::io::Write;
use tenure::protocol::{Action, Bound, HolderId, Reply, Request};
use tenure::store::SqliteStore;
use tests::{SetClock, TABLE, execute, holder, lease, request, timing};

const ATTEMPTS: usize = 200;

fn acquire(number: usize) -> Request {
    request(&lease(&name(number)), &me(), Action::Acquire(Bound::Absent))
}

/// Long, so that not many rows fit a page.
fn name(number: usize) -> String {
    format!("{number:0>200}")
}

fn me() -> HolderId {
    holder(1, &timing(10_000))
}

/// Fills the file system to its last byte.
pub(crate) fn fill(path: &std::path::Path) {
    let mut file = File::create(path).unwrap();
    for block in [4096, 1] {
        while file.write_all(&vec![7; block]).is_ok() {}
    }
}

/// SPEC.md R8.
#[test]
fn on_a_full_disk_no_grant_is_claimed_that_is_not_stored_and_it_recovers() {
    for mode in ["DELETE", "WAL"] {
        let directory = tempfile::tempdir().unwrap();
        let _mount = Mount::tiny(directory.path(), 1024);
        let (path, filler) = (directory.path().join("leases.db"), directory.path().join("filler"));
        execute(&path, &format!("PRAGMA journal_mode = {mode}; {TABLE}"));
        let mut store = SqliteStore::open(&path, SetClock::new()).unwrap();
        assert!(matches!(store.execute(&[acquire(0)])[..], [Ok(Reply::Granted(_))]), "{mode}");
        fill(&filler);
        let answers: Vec<_> = (1..=ATTEMPTS).flat_map(|number| store.execute(&[acquire(number)])).collect();
        let fresh = rusqlite::Connection::open(&path).unwrap();
        let mut refusals = 0;
        for (number, answer) in (1..).zip(answers) {
            let stored = tests::RawRow::read(&fresh, &name(number));
            match answer {
                Ok(Reply::Granted(fence)) => {
                    assert_eq!(stored.map(|row| row.fence), Some(fence.get()), "{mode}")
                }
                Ok(other) => panic!("{mode}: {other:?}"),
                Err(_) => refusals += 1,
            }
        }
        drop(fresh);
        assert!(refusals > ATTEMPTS / 2, "{mode}: the disk was not full");
        fs::remove_file(filler).unwrap();
        let answer = store.execute(&[acquire(ATTEMPTS + 1)]);
        assert!(matches!(answer[..], [Ok(Reply::Granted(_))]), "{mode}: {answer:?}");
    }
}
