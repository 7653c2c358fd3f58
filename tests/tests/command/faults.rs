//! What becomes of the database file, while `tenure` waits, while its job runs, and while it gives the lease back: in each
//! case when the job last acted, the exit code, what was said, and the row that is left.

use super::{Bench, Running, UNTIL_GO};
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;
use tests::eventually;

const TTL: &str = "--ttl 3s";

/// A job that beats until it is killed.
const BEATS: &str = "while alive; do beat a; done";

/// What happens to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Locked,
    /// With its side files.
    Removed,
    /// By another one, which nobody has used.
    Replaced,
}

const FAULTS: [Fault; 3] = [Fault::Locked, Fault::Removed, Fault::Replaced];

/// A fault that has happened. Dropped, what was locked is free again.
struct Happened {
    lock: Option<Connection>,
    away: PathBuf,
}

impl Bench {
    fn suffer(&self, fault: Fault) -> Happened {
        let away = self.alive.path().join("away");
        fs::create_dir_all(&away).unwrap();
        let lock = (fault == Fault::Locked).then(|| {
            let connection = self.db.raw();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            connection
        });
        if fault != Fault::Locked {
            self.move_files(&away, true);
        }
        if fault == Fault::Replaced {
            self.db.execute(&format!("PRAGMA journal_mode = WAL; {}", tests::TABLE));
        }
        Happened { lock, away }
    }

    fn move_files(&self, to: &std::path::Path, there: bool) {
        for name in ["leases.db", "leases.db-wal", "leases.db-shm"] {
            let (here, there_path) = (self.db.beside(name), to.join(name));
            let (from, to) = if there { (here, there_path) } else { (there_path, here) };
            let _ = fs::rename(from, to);
        }
    }

    /// All is as it was before.
    fn mend(&self, happened: Happened) {
        if let Some(lock) = happened.lock {
            lock.execute_batch("COMMIT").unwrap();
        } else {
            self.move_files(&happened.away, false);
        }
        let _ = fs::remove_dir_all(&happened.away);
    }
}

fn says(of: &Running, what: &str) {
    eventually(&format!("it says {what:?}"), || of.said(what).then_some(()));
}

/// It goes on waiting where waiting can help, says what for, and has the lease when all is well again.
#[test]
fn while_it_waits() {
    for fault in FAULTS {
        let bench = Bench::new();
        let holder = bench.started("--ttl 30s", UNTIL_GO, "up");
        let waiting = bench.start(TTL, "beat b");
        says(&waiting, "held by");
        bench.go();
        // Taken by somebody who does not look at the file any more, so that it is held all the while.
        bench.db.execute(
            "UPDATE instance_leases SET holder_id = 'appview-1', fence = 7, expires_at = 9000000000000",
        );
        holder.end();
        let happened = bench.suffer(fault);
        if fault == Fault::Replaced {
            // SPEC.md R11: what was seen before is not there any more.
            waiting.end().expect(69).says("went back");
            bench.mend(happened);
        } else {
            if fault == Fault::Removed {
                says(&waiting, "does not exist any more");
            }
            bench.mend(happened);
            bench.db.execute("UPDATE instance_leases SET expires_at = 0");
            waiting.end().expect(0);
            assert_eq!((bench.row().fence, bench.row().expires_at), (8, 0), "{fault:?}");
        }
        assert_eq!(bench.log().contains(&"b".to_owned()), fault != Fault::Replaced, "{fault:?}");
    }
}

/// The job is dead before anybody else can hold the lease; where the store went back, at once.
#[test]
fn while_its_job_runs() {
    for fault in FAULTS {
        let bench = Bench::new();
        let holder = bench.started(TTL, BEATS, "a");
        let before = bench.row();
        let happened = bench.suffer(fault);
        let ended = holder.end().expect(76);
        ended.says(if fault == Fault::Replaced { "went back" } else { "cannot be renewed" });
        let lines = bench.log().len();
        if fault == Fault::Replaced {
            assert_eq!(bench.db.row("job"), None, "nothing is written to the new file");
        }
        bench.mend(happened);
        assert_eq!(bench.row().fence, before.fence);
        bench.start(TTL, "beat b").end().expect(0);
        assert_eq!(bench.log().len(), lines + 1, "{fault:?}: nothing was written after its end");
        assert_eq!((bench.row().fence, bench.row().expires_at), (before.fence + 1, 0), "{fault:?}");
    }
}

/// The job has ended by itself, and so is the exit code; what could not be given back runs out.
#[test]
fn while_it_gives_the_lease_back() {
    for fault in FAULTS {
        let bench = Bench::new();
        let holder = bench.started("--ttl 6s", "beat a; while alive && [ ! -e go ]; do :; done; exit 5", "a");
        let happened = bench.suffer(fault);
        bench.go();
        let ended = holder.end().expect(5);
        ended.says(if fault == Fault::Replaced { "went back" } else { "could not be released" });
        bench.mend(happened);
        let row = bench.row();
        assert_ne!(row.expires_at, 0, "{fault:?}: it runs out");
        bench.start("--ttl 6s", "beat b").end().expect(0);
        assert!(bench.row().acquired_at >= row.expires_at);
        assert_eq!(bench.row().fence, 2);
    }
}

/// A stopped job's lease goes on being renewed, for longer than a TTL.
#[test]
fn while_its_job_is_stopped_the_lease_is_renewed() {
    let bench = Bench::new();
    let holder = bench.started(TTL, "beat $$; beat a; kill -STOP $$; beat c; exit 4", "a");
    let first = bench.row();
    eventually("two TTLs have passed", || (bench.row().expires_at > first.expires_at + 6_000).then_some(()));
    assert_eq!((bench.row().fence, &bench.row().holder), (first.fence, &first.holder));
    let group = rustix::process::Pid::from_raw(bench.log()[0].parse().unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::CONT).unwrap();
    holder.end().expect(4);
    assert_eq!(bench.log().last().unwrap(), "c");
}
