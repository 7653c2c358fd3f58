//! Contenders that are processes: this same program, started again.

use crate::contender::{Arena, Kind};
use crate::log::{Log, contend};
use crate::watch::Watch;
use clap::{Args, ValueEnum};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The word that makes this program a contender.
pub const COMMAND: &str = "contend";

/// What a contender is told at its start.
#[derive(Args, Debug)]
pub struct Orders {
    kind: Kind,
    file: PathBuf,
    lease: String,
    millis: u64,
}

/// Is one contender: says that it is ready, waits for a line, contends, and says what it did.
pub fn serve(orders: &Orders) {
    let Orders { kind, file, lease, millis } = orders;
    let mut contender = Arena::new(*kind, file).contender(lease);
    println!("ready");
    std::io::stdin().lock().read_line(&mut String::new()).expect("a line");
    let (watch, time) = (Watch::start(), Duration::from_millis(*millis));
    print!("{}", contend(&mut *contender, || watch.elapsed() < time));
}

struct Process {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Process {
    fn start(kind: Kind, file: &Path, lease: &str, time: Duration) -> Self {
        let kind = kind.to_possible_value().expect("every kind has a name");
        let mut child = Command::new(std::env::current_exe().expect("this program's path"))
            .args([COMMAND, kind.get_name()])
            .arg(file)
            .args([lease, &time.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let says = BufReader::new(child.stdout.take().expect("it was piped"));
        Self { child, says }
    }

    fn await_ready(&mut self) {
        let mut line = String::new();
        self.says.read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
    }

    fn go(&mut self) {
        let stdin = self.child.stdin.as_mut().expect("it was piped");
        stdin.write_all(b"go\n").expect("it listens");
    }

    fn end(mut self) -> Log {
        let mut log = String::new();
        self.says.read_to_string(&mut log).expect("a log");
        assert!(self.child.wait().expect("it ends").success(), "a contender has failed");
        log.parse().expect("a log")
    }
}

/// A process for each lease; they start at one moment, when the last is ready.
pub(crate) fn contest(kind: Kind, file: &Path, leases: &[String], time: Duration) -> Vec<Log> {
    let mut processes: Vec<_> = leases.iter().map(|lease| Process::start(kind, file, lease, time)).collect();
    processes.iter_mut().for_each(Process::await_ready);
    processes.iter_mut().for_each(Process::go);
    processes.into_iter().map(Process::end).collect()
}
