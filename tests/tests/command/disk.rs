//! A disk that is full, or read-only, while `tenure` waits, while its job runs, and while it gives the lease back.

use super::{Bench, UNTIL_GO};
use crate::mount::Mount;
use std::fs;
use tests::{TABLE, eventually};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Full,
    ReadOnly,
}

const FAULTS: [Fault; 2] = [Fault::Full, Fault::ReadOnly];

/// A database on a small file system of its own. It has a rollback journal, which each write must make anew.
fn bench() -> (Bench, Mount) {
    let bench = Bench::new();
    let mount = Mount::tiny(bench.directory(), 1024);
    bench.db.execute(TABLE);
    (bench, mount)
}

/// What makes it well again, when it is dropped.
enum Happened {
    Full(std::path::PathBuf),
    ReadOnly(#[expect(dead_code, reason = "it is unmounted when it is dropped")] Mount),
}

impl Drop for Happened {
    fn drop(&mut self) {
        if let Self::Full(filler) = self {
            fs::remove_file(filler).unwrap();
        }
    }
}

fn suffer(bench: &Bench, fault: Fault) -> Happened {
    match fault {
        Fault::Full => {
            let filler = bench.db.beside("filler");
            crate::full_disk::fill(&filler);
            Happened::Full(filler)
        }
        Fault::ReadOnly => Happened::ReadOnly(Mount::read_only(bench.directory())),
    }
}

/// It says why it cannot have the lease, and has it as soon as it can.
#[test]
fn while_it_waits() {
    for fault in FAULTS {
        let (bench, _mount) = bench();
        bench.db.execute("INSERT INTO instance_leases VALUES ('job', 'appview-1', 7, 1, 9000000000000)");
        let waiting = bench.start("--ttl 3s", "exit 5");
        eventually("it waits", || waiting.said("held by appview-1").then_some(()));
        bench.db.execute("UPDATE instance_leases SET expires_at = 0");
        let happened = suffer(&bench, fault);
        // The lease may have been acquired in the moment between.
        let told = || ["disk is full", "unable to open", "readonly"].iter().any(|word| waiting.said(word));
        eventually("it says what is wrong, or had the lease before", || {
            (told() || bench.row().fence == 8).then_some(())
        });
        drop(happened);
        waiting.end().expect(5);
        assert_eq!(bench.row().fence, 8, "{fault:?}");
    }
}

/// A blackout like any other: the job is dead before the lease can be anybody else's.
#[test]
fn while_its_job_runs() {
    for fault in FAULTS {
        let (bench, _mount) = bench();
        let holder = bench.started("--ttl 3s", "beat a; while alive; do :; done", "a");
        let happened = suffer(&bench, fault);
        holder.end().expect(76).says("cannot be renewed");
        let row = bench.row();
        assert_ne!(row.expires_at, 0, "{fault:?}: it could not be released");
        drop(happened);
        bench.start("--ttl 3s", "exit 0").end().expect(0);
        assert!(bench.row().acquired_at >= row.expires_at, "{fault:?}");
        assert_eq!(bench.row().fence, 2, "{fault:?}");
    }
}

/// The exit code is the job's, a message says that the lease was not released, and it runs out.
#[test]
fn while_it_gives_the_lease_back() {
    for fault in FAULTS {
        let (bench, _mount) = bench();
        let go = tempfile::tempdir().unwrap();
        let until_go = UNTIL_GO.replace("-e go", &format!("-e {}/go", go.path().display()));
        let holder = bench.started("--ttl 9s", &format!("{until_go} exit 5"), "up");
        let happened = suffer(&bench, fault);
        fs::write(go.path().join("go"), "").unwrap();
        holder.end().expect(5).says("could not be released");
        assert_ne!(bench.row().expires_at, 0, "{fault:?}");
        drop(happened);
    }
}
