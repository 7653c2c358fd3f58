//! One contest: so many contenders of one kind, in one file, from one moment on.

use crate::contender::{Arena, Contender, Kind};
use crate::log::{Log, contend};
use crate::process;
use crate::watch::Watch;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tempfile::TempDir;
use tenure::clock::SystemClock;
use tenure::store::SqliteStore;

/// What the contenders are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Threads of this process.
    Threads,
    /// A process each.
    Processes,
}

/// What they contend for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leases {
    /// All for the same lease.
    One,
    /// Each for a lease of its own: they share only the file.
    Each,
}

/// Who contends for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// What the contenders are.
    pub who: Who,
    /// What they contend for.
    pub leases: Leases,
    /// How many they are.
    pub contenders: usize,
}

impl Setting {
    /// The lease of each contender.
    pub fn leases(self) -> Vec<String> {
        let lease = |number: usize| match self.leases {
            Leases::One => "lease".into(),
            Leases::Each => format!("lease-{number}"),
        };
        (0..self.contenders).map(lease).collect()
    }
}

/// A directory on the disk that holds the build, where a sync is one: `TMPDIR` may be in memory.
pub fn on_disk() -> TempDir {
    let exe = std::env::current_exe().expect("this program's path");
    tempfile::tempdir_in(exe.parent().expect("a directory")).expect("a temporary directory")
}

/// All contend for that time, each in what it is.
pub fn contest(kind: Kind, setting: Setting, time: Duration) -> Vec<Log> {
    hold(kind, setting, |file, leases| match setting.who {
        Who::Threads => threads(kind, file, leases, || {
            let watch = Watch::start();
            move || watch.elapsed() < time
        }),
        Who::Processes => process::contest(kind, file, leases, time),
    })
}

/// Threads contend until they have had so many tenures in all, and one each.
pub fn race(kind: Kind, setting: Setting, tenures: u64) -> Vec<Log> {
    let had = AtomicU64::new(0);
    hold(kind, setting, |file, leases| {
        threads(kind, file, leases, || || had.fetch_add(1, Ordering::Relaxed) + 1 < tenures)
    })
}

fn hold(kind: Kind, setting: Setting, run: impl FnOnce(&Path, &[String]) -> Vec<Log>) -> Vec<Log> {
    let directory = on_disk();
    let file = directory.path().join("leases.db");
    make(&file);
    let leases = setting.leases();
    let logs = run(&file, &leases);
    if kind.has_fences() {
        check(&file, &leases, &logs);
    }
    logs
}

/// Makes the file as the crate does, whoever then contends in it: the same table, index and journal mode.
pub fn make(file: &Path) {
    drop(SqliteStore::open(file, Arc::new(SystemClock)).expect("a new file"));
}

fn threads<F: FnMut() -> bool>(
    kind: Kind,
    file: &Path,
    leases: &[String],
    until: impl Fn() -> F + Sync,
) -> Vec<Log> {
    let (arena, start) = (Arena::new(kind, file), Barrier::new(leases.len()));
    let contenders: Vec<_> = leases.iter().map(|lease| arena.contender(lease)).collect();
    let run = |mut contender: Box<dyn Contender>| {
        start.wait();
        contend(&mut *contender, until())
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = contenders.into_iter().map(|one| scope.spawn(|| run(one))).collect();
        runs.into_iter().map(|run| run.join().expect("a contender does not fail")).collect()
    })
}

/// Right counting: each fence was granted once, none was left out, and the row has the last.
fn check(file: &Path, leases: &[String], logs: &[Log]) {
    for lease in leases {
        let of_lease = logs.iter().zip(leases).filter(|(_, of)| *of == lease);
        let mut fences: Vec<i64> =
            of_lease.flat_map(|(log, _)| log.tenures.iter().map(|(fence, _)| *fence)).collect();
        fences.sort_unstable();
        let granted = fences.len() as i64;
        assert!(fences.into_iter().eq(1..=granted), "of {lease} not each fence was granted once");
        assert_eq!(last_fence(file, lease), Some(granted), "the row of {lease} has another fence");
    }
}

fn last_fence(file: &Path, lease: &str) -> Option<i64> {
    let connection = Connection::open(file).expect("a connection");
    let sql = "SELECT fence FROM instance_leases WHERE lease_name = ? AND expires_at = 0";
    connection.query_row(sql, [lease], |row| row.get(0)).optional().expect("a row")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(fences: &[i64]) -> Log {
        let tenures = fences.iter().map(|fence| (*fence, Duration::ZERO)).collect();
        Log { tenures, took: Duration::ZERO }
    }

    fn checked(fence: i64, logs: &[Log]) -> bool {
        let directory = on_disk();
        let file = directory.path().join("leases.db");
        make(&file);
        let row = format!("INSERT INTO instance_leases VALUES ('lease', 'me', {fence}, 0, 0)");
        ::tests::execute(&file, &row);
        let leases = vec!["lease".to_owned(); logs.len()];
        std::panic::catch_unwind(|| check(&file, &leases, logs)).is_ok()
    }

    #[test]
    fn what_was_counted_wrong_is_noticed() {
        assert!(checked(3, &[log(&[1, 3]), log(&[2])]));
        assert!(!checked(3, &[log(&[1, 3]), log(&[1])]), "granted twice");
        assert!(!checked(3, &[log(&[1, 3]), log(&[])]), "not granted to anybody");
        assert!(!checked(4, &[log(&[1, 3]), log(&[2])]), "not counted");
    }
}
