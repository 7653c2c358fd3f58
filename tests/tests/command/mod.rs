//! The command `tenure`, in processes of its own.
//!
//! A job's shell script writes a letter into `log`, again and again: what was appended to one file is in
//! order, whatever clocks say. Every script ends by itself when its test does.

#[cfg(feature = "system")]
mod disk;
mod exit;
#[cfg(feature = "system")]
mod faketime;
mod faults;
mod guard;
mod instance;
mod loss;
mod pages;
mod release;
mod restart;
mod status;
#[cfg(target_os = "linux")]
mod stopped;
mod takeover;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod typist;
#[cfg(target_os = "linux")]
mod watchdog;

use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use tempfile::TempDir;
use tests::{RawRow, TABLE, TempDb, eventually};

/// A job that runs until it is told to go.
const UNTIL_GO: &str = "beat up; while alive && [ ! -e go ]; do :; done;";

/// A directory for a database and the files of the jobs.
struct Bench {
    db: TempDb,
    /// A directory that is there until the test is over.
    alive: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { db: TempDb::new(), alive: tempfile::tempdir().unwrap() }
    }

    /// The command and its options, which are split at spaces; the job is still missing.
    fn tenure(&self, options: &str) -> Command {
        self.tenure_on(self.db.path(), options)
    }

    /// The same, on that database. It runs in the directory.
    fn tenure_on(&self, db: impl AsRef<OsStr>, options: &str) -> Command {
        let mut command = fresh();
        command.arg(env!("CARGO_BIN_EXE_tenure-under-test"));
        command.arg("run").arg("--db").arg(db).args(["--lease", "job"]).args(options.split_whitespace());
        command.current_dir(self.directory()).env("ALIVE", self.alive.path());
        command.stdin(Stdio::null());
        command
    }

    /// Starts it with a job of `sh`, in which `beat X` appends a line to `log`, and `alive` is true until the
    /// test is over.
    fn start(&self, options: &str, script: &str) -> Running {
        Running::start(self.job(options, script))
    }

    /// What [`Self::start`] starts.
    fn job(&self, options: &str, script: &str) -> Command {
        let mut command = self.tenure(options);
        command.args(["--", "sh", "-c", &with_prelude(script)]);
        command
    }

    /// Starts it, and waits until the script wrote `letter` into the log.
    fn started(&self, options: &str, script: &str, letter: &str) -> Running {
        self.until(self.start(options, script), letter)
    }

    /// The same, by a shell that did something else before.
    fn started_by(&self, before: &str, options: &str, script: &str, letter: &str) -> Running {
        let job = self.job(options, script);
        let words = job.get_args().skip_while(|word| *word == DEFAULT_SIGNALS);
        let mut command = fresh();
        command.args(["sh", "-c", &format!("{before}; exec \"$@\""), "sh"]).args(words);
        command.current_dir(self.directory()).env("ALIVE", self.alive.path()).stdin(Stdio::null());
        self.until(Running::start(command), letter)
    }

    fn until(&self, mut running: Running, letter: &str) -> Running {
        eventually(&format!("{letter:?} in the log"), || {
            assert_eq!(running.child.try_wait().unwrap(), None, "it has ended");
            self.log().iter().any(|line| line == letter).then_some(())
        });
        running
    }

    /// Runs it to its end with a job of a program and its arguments.
    fn run(&self, options: &str, job: &[&str]) -> Ended {
        let mut command = self.tenure(options);
        command.arg("--").args(job);
        Running::start(command).end()
    }

    /// Another subcommand, on the database.
    fn asking(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let mut command = fresh();
        command.arg(env!("CARGO_BIN_EXE_tenure-under-test")).arg(subcommand).arg("--db").arg(self.db.path());
        command.args(arguments).current_dir(self.directory()).stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    fn ask(&self, subcommand: &str, arguments: &[&str]) -> Ended {
        Running::start(self.asking(subcommand, arguments)).end()
    }

    /// A file as a crash of a writer leaves it, who had spilled part of a transaction: the journal must be rolled back.
    fn crashed(row: &str) -> Self {
        let bench = Self::new();
        let [original, journal] = ["original.db", "original.db-journal"].map(|name| bench.db.beside(name));
        let bulk = "CREATE TABLE bulk (a); INSERT INTO bulk SELECT zeroblob(100000)";
        tests::execute(&original, &format!("{TABLE} {row}; {bulk}"));
        let writer = rusqlite::Connection::open(&original).unwrap();
        let spill = "PRAGMA cache_size = 1; BEGIN; UPDATE instance_leases SET fence = 99;";
        writer.execute_batch(&format!("{spill} INSERT INTO bulk SELECT zeroblob(1000000)")).unwrap();
        fs::copy(&original, bench.db.path()).unwrap();
        fs::copy(&journal, bench.db.beside("leases.db-journal")).unwrap();
        drop(writer);
        fs::remove_file(original).unwrap();
        bench
    }

    fn directory(&self) -> &Path {
        self.db.path().parent().unwrap()
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.db.beside("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn wait_for(&self, letter: &str) {
        eventually(&format!("{letter:?} in the log"), || {
            self.log().iter().any(|l| l == letter).then_some(())
        });
    }

    /// Tells a script that waits for the file `go`.
    fn go(&self) {
        fs::write(self.db.beside("go"), "").unwrap();
    }

    fn row(&self) -> RawRow {
        self.db.row("job").unwrap()
    }

    /// Whether `first` was written for the last time before `then` was for the first time.
    fn never_overlap(&self, first: &str, then: &str) {
        let log = self.log();
        let last = log.iter().rposition(|l| l == first).expect("the first one ran");
        let begin = log.iter().position(|l| l == then).expect("the other one ran");
        assert!(last < begin, "{first:?} in line {last} of the log, after {then:?} in line {begin}");
    }
}

impl Drop for Bench {
    /// Jobs that outlive their guards see that the test is over; until they have, they write.
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.alive.path());
        if std::thread::panicking() {
            return;
        }
        eventually("the jobs write no more", || {
            let _ = fs::remove_dir_all(self.directory());
            (!self.directory().exists()).then_some(())
        });
    }
}

const DEFAULT_SIGNALS: &str = "--default-signal";

/// Begins with all signals as they are by default, whatever is ignored around the tests.
fn fresh() -> Command {
    let mut command = Command::new("env");
    if cfg!(target_os = "linux") {
        command.arg(DEFAULT_SIGNALS);
    }
    command
}

fn with_prelude(script: &str) -> String {
    let prelude = "beat() { echo \"$1\" >> log; }; alive() { sleep 0.01; [ -d \"$ALIVE\" ]; };";
    format!("{prelude} {script}")
}

/// The command while it runs. It is killed when dropped; its job then ends with the test.
struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

/// What came of it.
#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Running {
    /// Its output goes to files: of a pipe, what the job leaves behind might keep the other end.
    fn start(mut command: Command) -> Self {
        let [stdout, stderr] = [(), ()].map(|()| tempfile::tempfile().unwrap());
        command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        Self { child: command.spawn().unwrap(), stdout, stderr }
    }

    fn said(&self, what: &str) -> bool {
        text(&self.stderr).contains(what)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    fn end(mut self) -> Ended {
        let status = eventually("tenure ends", || self.child.try_wait().unwrap());
        let (stdout, stderr) = (text(&self.stdout), text(&self.stderr));
        Ended { status, stdout, stderr }
    }
}

/// What has been written so far.
fn text(file: &File) -> String {
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    String::from_utf8(bytes).unwrap()
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// What a shell would call its exit code; it is that one.
    fn expect(self, code: i32) -> Self {
        let as_shells_say = self.status.code().or(self.status.signal().map(|signal| 128 + signal));
        assert_eq!(as_shells_say, Some(code), "{self:?}");
        self
    }

    /// It says that.
    fn says(&self, what: impl AsRef<str>) -> &Self {
        assert!(self.stderr.contains(what.as_ref()), "no {:?}: {self:?}", what.as_ref());
        self
    }
}
