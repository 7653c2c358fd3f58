//! `tenure run`: acquire, run the job, release.

use super::args::Run as Args;
use super::job::{Job, Remains};
use super::{Exit, say};
use crate::clock::{Clock, SystemClock};
use crate::protocol::{Contender, End, Event, HolderId, Input, LocalTime, Reply, RequestId, Tenure, Timing};
use crate::random;
use crate::store::{Answer, OpenError, SqliteStore, StoreThread};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How often the ended job's group is looked at until it is empty, and the open of a busy file is tried again.
const LOOK_AGAIN_MS: u64 = 5;

/// Holds the lease and runs the job. The exit code, or why it came to nothing.
pub(super) fn run(args: &Args) -> Result<ExitCode, Exit> {
    let mut run = Run::new(args)?;
    let tenure = run.acquire()?;
    run.work(tenure)
}

/// What the loop waits for.
enum Happening {
    Answer(RequestId, Answer),
    JobEnded,
    Signal(i32),
}

struct Run<'a> {
    args: &'a Args,
    timing: Timing,
    holder: HolderId,
    db: PathBuf,
    clock: SystemClock,
    contender: Contender,
    store: StoreThread,
    happenings: Receiver<Happening>,
    sender: Sender<Happening>,
    /// When the contender wants to be called.
    next: Option<LocalTime>,
    /// Whether the store ever answered.
    answered: bool,
    /// What stands between us and the lease, last time we looked.
    obstacle: String,
}

impl<'a> Run<'a> {
    fn new(args: &'a Args) -> Result<Self, Exit> {
        let timing = args.timing()?;
        let nonce = random::nonce().map_err(|error| Exit::new(Exit::STORE, error))?;
        let holder = HolderId::new(&args.label()?, nonce, &timing);
        let clock = SystemClock;
        let store = open(args, &timing, clock)?;
        let db = store.path().to_owned();
        let (sender, happenings) = channel();
        let answers = sender.clone();
        let store = StoreThread::start(store, Arc::new(clock), move |id, answer| {
            let _ = answers.send(Happening::Answer(id, answer));
        })
        .map_err(|error| Exit::new(Exit::STORE, error))?;
        let contender = Contender::new(args.lease.clone(), holder.clone(), timing);
        let (next, answered, obstacle) = (None, false, String::new());
        Ok(Self {
            args,
            timing,
            holder,
            db,
            clock,
            contender,
            store,
            happenings,
            sender,
            next,
            answered,
            obstacle,
        })
    }

    /// One step of the contender.
    fn step(&mut self, input: Input) -> Vec<Event> {
        let output = self.contender.step(self.clock.local(), random::roll(), input);
        if let Some(request) = output.request {
            self.store.send(request);
        }
        self.next = output.next;
        output.events
    }

    /// What happens next, at the latest when the contender wants to be called or at `until`.
    fn wait(&mut self, until: Option<LocalTime>) -> Option<Happening> {
        let until = [self.next, until].into_iter().flatten().min();
        self.clock.receive(&self.happenings, until)
    }

    fn reply(&mut self, id: RequestId, answer: Answer) -> Input {
        let reply = answer.unwrap_or_else(|error| {
            self.meet(error.to_string());
            Reply::Failed
        });
        self.answered |= reply != Reply::Failed;
        Input::Reply { id, reply }
    }

    /// Tells of each obstacle once; who does not wait is told at the end.
    fn meet(&mut self, obstacle: String) {
        if self.obstacle != obstacle {
            self.obstacle = obstacle;
            if !self.args.no_wait {
                say(format!("lease {:?}: {}", self.args.lease.as_str(), self.obstacle));
            }
        }
    }

    /// Contends until the lease is ours, or the time for it is over.
    fn acquire(&mut self) -> Result<Tenure, Exit> {
        let stop_at = self
            .args
            .wait
            .map(|wait| self.clock.local().plus(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
        let mut stopped = false;
        let mut input = Input::Wake;
        loop {
            for event in self.step(input) {
                match event {
                    Event::Granted(tenure) => return Ok(tenure),
                    Event::Ended(End::Shutdown) => return Err(self.not_acquired()),
                    Event::Ended(end) => return Err(Exit::new(Exit::STORE, end)),
                    other => self.tell(&other),
                }
            }
            let refused = self.args.no_wait && !self.obstacle.is_empty();
            let over = stop_at.is_some_and(|at| self.clock.local() >= at);
            if !stopped && (refused || over) {
                stopped = true;
                input = Input::Shutdown;
                continue;
            }
            input = match self.wait(stop_at.filter(|_| !stopped)) {
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::JobEnded | Happening::Signal(_)) | None => Input::Wake,
            };
        }
    }

    fn not_acquired(&self) -> Exit {
        let code = if self.answered { Exit::HELD } else { Exit::STORE };
        let obstacle = if self.obstacle.is_empty() { "no answer in time" } else { &self.obstacle };
        Exit::new(code, format!("lease {:?} was not acquired: {obstacle}", self.args.lease.as_str()))
    }

    fn tell(&mut self, event: &Event) {
        let lease = self.args.lease.as_str();
        match event {
            Event::Held(row) => self.meet(format!("held by {} with fence {}", row.holder, row.fence)),
            Event::Unreadable(why) => self.meet(format!("its row is unreadable and counts as held: {why}")),
            Event::Lost(loss) => say(format!("lost lease {lease:?}: {loss}")),
            Event::LeftToExpire => {
                say(format!("lease {lease:?} could not be released: it runs out by itself"))
            }
            Event::Granted(_) | Event::Released | Event::Ended(_) => {}
        }
    }

    /// Runs the job, renews meanwhile, and lets go once the job's whole group has stopped.
    fn work(&mut self, tenure: Tenure) -> Result<ExitCode, Exit> {
        self.obstacle.clear();
        self.forward_signals()?;
        let job = match self.start(tenure) {
            Ok(job) => job,
            Err(exit) => {
                self.let_go();
                return Err(exit);
            }
        };
        let lost = self.guard(&job);
        let (status, remains) = job.bury().map_err(|error| Exit::new(Exit::LOST, error))?;
        if self.are_gone(&remains) {
            self.let_go();
        } else {
            say(
                "processes of the job's group are still dying: the lease is not released, it runs out by itself",
            );
        }
        Ok(if lost { ExitCode::from(Exit::LOST) } else { code_of(status) })
    }

    fn start(&self, tenure: Tenure) -> Result<Job, Exit> {
        let fence = tenure.fence.to_string();
        let environment = [
            ("TENURE_LEASE", OsStr::new(self.args.lease.as_str())),
            ("TENURE_FENCE", OsStr::new(&fence)),
            ("TENURE_HOLDER", OsStr::new(self.holder.as_str())),
            ("TENURE_DB", self.db.as_os_str()),
        ];
        let ended = self.sender.clone();
        let job = Job::start(&self.args.job, environment, move || {
            let _ = ended.send(Happening::JobEnded);
        });
        job.map_err(|error| {
            let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
            let program = self.args.job.first().map(|program| program.to_string_lossy());
            Exit::new(code, format!("{} cannot be run: {error}", program.unwrap_or_default()))
        })
    }

    /// Renews until the job's child has ended. Whether it was signalled on our account: then the lease counts as
    /// lost, whatever the job made of it.
    fn guard(&mut self, job: &Job) -> bool {
        let mut signalled = None;
        let mut input = Input::Wake;
        loop {
            for event in self.step(input) {
                self.tell(&event);
            }
            let (signal, look_at) = self.due_signal();
            if signal.is_some() && signal != signalled && signalled != Some(Signal::KILL) {
                signal.inspect(|signal| self.stop(job, *signal));
                signalled = signal;
            }
            input = match self.wait(look_at) {
                Some(Happening::JobEnded) => return signalled.is_some(),
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::Signal(signal)) => {
                    Signal::from_named_raw(signal).inspect(|signal| job.signal(*signal));
                    Input::Wake
                }
                None => Input::Wake,
            };
        }
    }

    /// The signal that the job deserves by now, and when to look again (SPEC.md R5, R6): SIGTERM when only the grace is
    /// left, SIGKILL when only the time that killing takes is left, or when the lease is lost.
    fn due_signal(&self) -> (Option<Signal>, Option<LocalTime>) {
        let Some(Tenure { deadline, .. }) = self.contender.tenure() else {
            return (Some(Signal::KILL), None);
        };
        let now = self.clock.local();
        let term_at = deadline.minus(self.timing.grace_ms());
        let kill_at = deadline.minus(self.timing.kill_lead_ms());
        match () {
            () if now >= kill_at => (Some(Signal::KILL), None),
            () if now >= term_at => (Some(Signal::TERM), Some(kill_at)),
            () => (None, Some(term_at.min(kill_at))),
        }
    }

    fn stop(&self, job: &Job, signal: Signal) {
        let lease = self.args.lease.as_str();
        match self.contender.tenure() {
            Some(_) if signal == Signal::TERM => {
                say(format!("lease {lease:?} cannot be renewed: the job is told to stop"))
            }
            _ => say(format!("lease {lease:?} is not held any more: the job is killed")),
        }
        job.signal(signal);
    }

    /// Waits, and goes on renewing, until the job's group is empty; not longer than the grace (SPEC.md R6).
    fn are_gone(&mut self, remains: &Remains) -> bool {
        let give_up_at = self.clock.local().plus(self.timing.grace_ms());
        loop {
            if remains.are_gone() {
                return true;
            }
            let now = self.clock.local();
            if now >= give_up_at {
                return false;
            }
            let input = match self.wait(Some(now.plus(LOOK_AGAIN_MS))) {
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::JobEnded | Happening::Signal(_)) | None => Input::Wake,
            };
            for event in self.step(input) {
                self.tell(&event);
            }
        }
    }

    /// The work has stopped: gives the lease back, if it is still ours (SPEC.md R6).
    fn let_go(&mut self) {
        let mut events = self.step(Input::Shutdown);
        events.extend(self.step(Input::WorkStopped));
        loop {
            for event in events {
                self.tell(&event);
                if matches!(event, Event::Ended(_)) {
                    return;
                }
            }
            let input = match self.wait(None) {
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::JobEnded | Happening::Signal(_)) | None => Input::Wake,
            };
            events = self.step(input);
        }
    }

    /// From now on these signals go to the job, and change nothing else. Ctrl-Z is caught and does nothing: it would
    /// stop us, and leave the job running with nobody to renew its lease or to kill it.
    fn forward_signals(&self) -> Result<(), Exit> {
        let broken = |error| Exit::new(Exit::STORE, format!("signals cannot be forwarded: {error}"));
        let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP];
        let mut signals = signal_hook::iterator::Signals::new(caught).map_err(broken)?;
        let sender = self.sender.clone();
        #[expect(clippy::disallowed_methods, reason = "the thread that waits for signals")]
        std::thread::Builder::new()
            .name("tenure-signals".into())
            .spawn(move || {
                for signal in signals.forever().filter(|signal| *signal != SIGTSTP) {
                    let _ = sender.send(Happening::Signal(signal));
                }
            })
            .map_err(broken)?;
        Ok(())
    }
}

/// Opens the store; a file that is busy is tried again for as long as a request may take.
fn open(args: &Args, timing: &Timing, clock: SystemClock) -> Result<SqliteStore, Exit> {
    let give_up_at = clock.local().plus(timing.request_timeout_ms());
    loop {
        match SqliteStore::open(&args.db, Arc::new(clock)) {
            Ok(store) => return Ok(store),
            Err(OpenError::Busy { .. }) if clock.local() < give_up_at => {
                clock.sleep(Duration::from_millis(LOOK_AGAIN_MS));
            }
            Err(error) => return Err(Exit::new(Exit::STORE, error)),
        }
    }
}

/// As shells tell it: 128+n for a job that signal n ended.
fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
