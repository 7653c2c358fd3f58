//! R1: one write decides, however many ask at once.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use tests::rival::{Rival, race, serve};
use tests::{SetClock, TempDb};

const RIVALS: usize = 16;
const ROUNDS: usize = 1_000;

/// SPEC.md R1: one write decides.
#[test]
fn of_16_threads_that_race_for_a_free_lease_exactly_one_wins_in_each_of_1000_rounds() {
    let db = new_file();
    std::thread::scope(|scope| {
        let mut rivals: Vec<_> = (0..RIVALS)
            .map(|number| {
                let (tell, told) = channel();
                let (say, answers) = channel();
                let path = db.path();
                scope
                    .spawn(move || serve(path, number, told.into_iter(), |answer| say.send(answer).unwrap()));
                Thread { tell, answers }
            })
            .collect();
        race(db.path(), &mut rivals, ROUNDS);
    });
}

/// SPEC.md R1, with all that processes do not share.
#[test]
fn of_16_processes_that_race_for_a_free_lease_exactly_one_wins_in_each_of_1000_rounds() {
    let db = new_file();
    let mut rivals: Vec<_> = (0..RIVALS).map(|number| Process::start(&db, number)).collect();
    race(db.path(), &mut rivals, ROUNDS);
}

fn new_file() -> TempDb {
    let db = TempDb::new();
    db.store(&SetClock::new());
    db
}

struct Thread {
    tell: Sender<String>,
    answers: Receiver<String>,
}

impl Rival for Thread {
    fn tell(&mut self, line: &str) {
        self.tell.send(line.into()).unwrap();
    }

    fn answer(&mut self) -> String {
        self.answers.recv().unwrap()
    }
}

struct Process {
    child: Child,
    tell: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start(db: &TempDb, number: usize) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rival"))
            .arg(db.path())
            .arg(number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let tell = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, tell, answers }
    }
}

impl Rival for Process {
    fn tell(&mut self, line: &str) {
        writeln!(self.tell, "{line}").unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().into()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
