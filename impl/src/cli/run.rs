//! `tenure run`: how it talks with the store, and how it comes to hold the lease.

use super::args::Run as Args;
use super::{Exit, say, signals};
use crate::clock::{Clock, SystemClock};
use crate::protocol::{Contender, Event, HolderId, Input, LocalTime, Reply, RequestId, Tenure, Timing};
use crate::random;
use crate::store::{Answer, OpenError, SqliteStore, StoreThread};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How often the ended job's group is looked at until it is empty, and the open of a busy file is tried again.
pub(super) const LOOK_AGAIN_MS: u64 = 5;

/// How long the store is waited for by who does not wait for the lease, and by who gives it back.
pub(super) const PATIENCE_MS: u64 = 5_000;

/// How long the outcome of an acquire is waited for when a signal ends us.
const LEAVE_MS: u64 = 1_000;

/// Holds the lease and runs the job. The exit code, or why it came to nothing.
pub(super) fn run(args: &Args) -> Result<ExitCode, Exit> {
    let mut run = Run::new(args)?;
    loop {
        let tenure = run.acquire()?;
        if run.may_begin() {
            return run.work(tenure);
        }
        // We were held up for so long that the job would have to be killed at once.
        run.step(Input::WorkStopped);
    }
}

/// What the loop waits for.
pub(super) enum Happening {
    Answer(RequestId, Answer),
    JobEnded,
    Signal(i32),
}

pub(super) struct Run<'a> {
    pub(super) args: &'a Args,
    pub(super) timing: Timing,
    pub(super) holder: HolderId,
    pub(super) db: PathBuf,
    pub(super) clock: SystemClock,
    pub(super) contender: Contender,
    store: StoreThread,
    happenings: Receiver<Happening>,
    pub(super) sender: Sender<Happening>,
    /// When the contender wants to be called.
    next: Option<LocalTime>,
    begin: LocalTime,
    /// When the store was open.
    opened: LocalTime,
    /// Whether the job has been started.
    pub(super) working: bool,
    /// Whether the store ever answered.
    answered: bool,
    /// What stands between us and the lease, last time we looked.
    pub(super) obstacle: String,
}

impl<'a> Run<'a> {
    fn new(args: &'a Args) -> Result<Self, Exit> {
        let timing = args.timing()?;
        let nonce = random::nonce().map_err(|error| Exit::new(Exit::STORE, error))?;
        let holder = HolderId::new(&args.label()?, nonce, &timing);
        let clock = SystemClock;
        let begin = clock.local();
        let (sender, happenings) = channel();
        let (signals, answers) = (sender.clone(), sender.clone());
        signals::watch(move |signal| drop(signals.send(Happening::Signal(signal))))?;
        let store = open(args, clock, &happenings, give_up_at(args, &timing, begin))?;
        let db = store.path().to_owned();
        let store = StoreThread::start(store, Arc::new(clock), move |id, answer| {
            let _ = answers.send(Happening::Answer(id, answer));
        })
        .map_err(|error| Exit::new(Exit::STORE, error))?;
        let contender = Contender::new(args.lease.clone(), holder.clone(), timing);
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
            next: None,
            begin,
            opened: clock.local(),
            working: false,
            answered: false,
            obstacle: String::new(),
        })
    }

    /// One step of the contender.
    pub(super) fn step(&mut self, input: Input) -> Vec<Event> {
        let output = self.contender.step(self.clock.local(), random::roll(), input);
        if let Some(request) = output.request {
            self.store.send(request);
        }
        self.next = output.next;
        output.events
    }

    /// What happens next, at the latest when the contender wants to be called or at `until`.
    pub(super) fn wait(&self, until: Option<LocalTime>) -> Option<Happening> {
        let until = [self.next, until].into_iter().flatten().min();
        self.clock.receive(&self.happenings, until)
    }

    /// The same, where signals and the job's end make no difference.
    pub(super) fn next_input(&mut self, until: Option<LocalTime>) -> Input {
        match self.wait(until) {
            Some(Happening::Answer(id, answer)) => self.reply(id, answer),
            Some(Happening::JobEnded | Happening::Signal(_)) | None => Input::Wake,
        }
    }

    pub(super) fn reply(&mut self, id: RequestId, answer: Answer) -> Input {
        let reply = answer.unwrap_or_else(|error| {
            self.meet(error.to_string());
            Reply::Failed
        });
        self.answered |= reply != Reply::Failed;
        if reply == Reply::Renewed {
            self.obstacle.clear();
        }
        Input::Reply { id, reply }
    }

    /// Tells of each obstacle once; who does not wait for the lease is told at the end.
    fn meet(&mut self, obstacle: String) {
        if self.obstacle == obstacle {
            return;
        }
        self.obstacle = obstacle;
        let lease = self.args.lease.as_str();
        if self.working {
            say(format!("lease {lease:?}: {}", self.obstacle));
        } else if self.args.waits() {
            say(format!("waiting for lease {lease:?}: {}", self.obstacle));
        }
    }

    /// Contends until the lease is ours, or the time for it is over.
    fn acquire(&mut self) -> Result<Tenure, Exit> {
        let mut input = Input::Wake;
        loop {
            for event in self.step(input) {
                match event {
                    Event::Granted(tenure) => return Ok(tenure),
                    Event::Ended(end) => return Err(Exit::new(Exit::STORE, end)),
                    other => self.tell(&other),
                }
            }
            let stop_at = self.stop_at();
            // An acquire that is under way may still be granted: then it is given back (SPEC.md R7).
            if stop_at.is_some_and(|at| self.clock.local() >= at) {
                self.settle(Input::Shutdown, PATIENCE_MS);
                return Err(self.not_acquired());
            }
            input = match self.wait(stop_at) {
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::Signal(signal)) if signals::ends_waiting(signal) => {
                    self.settle(Input::Shutdown, LEAVE_MS);
                    return Err(ended_by(signal));
                }
                Some(Happening::JobEnded | Happening::Signal(_)) | None => Input::Wake,
            };
        }
    }

    /// Goes on until nothing is left to be done. False if that time is over before: then the lease runs out by itself,
    /// if it is held.
    pub(super) fn settle(&mut self, input: Input, within_ms: u64) -> bool {
        let at = self.clock.local().plus(within_ms);
        let mut events = self.step(input);
        loop {
            events.iter().for_each(|event| self.tell(event));
            if events.iter().any(|event| matches!(event, Event::Ended(_))) {
                return true;
            }
            if self.clock.local() >= at {
                return false;
            }
            let input = self.next_input(Some(at));
            events = self.step(input);
        }
    }

    /// When to stop contending: at the end of the time given, or at once, but not before anything is known of the
    /// lease or the store had the time to answer.
    fn stop_at(&self) -> Option<LocalTime> {
        let waits = self.args.waits();
        let begin = if waits { self.begin } else { self.opened };
        let at = give_up_at(self.args, &self.timing, begin)?;
        Some(match (self.obstacle.is_empty(), waits) {
            (true, true) => at.max(self.opened.plus(self.timing.poll_ms())),
            (false, false) => self.opened,
            (true, false) | (false, true) => at,
        })
    }

    fn not_acquired(&self) -> Exit {
        let code = if self.answered { Exit::HELD } else { Exit::STORE };
        let obstacle = if self.obstacle.is_empty() { "no answer in time" } else { &self.obstacle };
        Exit::new(code, format!("lease {:?} was not acquired: {obstacle}", self.args.lease.as_str()))
    }

    pub(super) fn tell(&mut self, event: &Event) {
        let lease = self.args.lease.as_str();
        match event {
            Event::Held(row) => self.meet(format!("held by {} with fence {}", row.holder, row.fence)),
            Event::Unreadable(why) => self.meet(format!("its row is unreadable and counts as held: {why}")),
            Event::Lost(loss) => say(format!("lost lease {lease:?}: {loss}")),
            Event::NotReleased(Some(loss)) => say(format!("lease {lease:?} was not ours to release: {loss}")),
            Event::NotReleased(None) => {
                say(format!("lease {lease:?} could not be released: it runs out by itself"))
            }
            Event::Granted(_) | Event::Released | Event::Ended(_) => {}
        }
    }
}

/// Until when the lease is waited for; who does not wait gives the store some time to answer.
fn give_up_at(args: &Args, timing: &Timing, begin: LocalTime) -> Option<LocalTime> {
    if !args.waits() {
        return Some(begin.plus(timing.request_timeout_ms().min(PATIENCE_MS)));
    }
    args.wait.map(|wait| begin.plus(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
}

/// Opens the store; a file that is busy is tried again for as long as the lease would be waited for.
fn open(
    args: &Args,
    clock: SystemClock,
    happenings: &Receiver<Happening>,
    give_up_at: Option<LocalTime>,
) -> Result<SqliteStore, Exit> {
    let mut said = !args.waits();
    loop {
        match SqliteStore::open(&args.db, Arc::new(clock)) {
            Ok(store) => return Ok(store),
            Err(error @ OpenError::Busy { .. }) if give_up_at.is_none_or(|at| clock.local() < at) => {
                if !std::mem::replace(&mut said, true) {
                    say(format!("waiting: {error}"));
                }
            }
            Err(error) => return Err(Exit::new(Exit::STORE, error)),
        }
        let again = clock.local().plus(LOOK_AGAIN_MS);
        if let Some(Happening::Signal(signal)) = clock.receive(happenings, Some(again))
            && signals::ends_waiting(signal)
        {
            return Err(ended_by(signal));
        }
    }
}

/// As shells tell it.
fn ended_by(signal: i32) -> Exit {
    let code = u8::try_from(128 + signal).unwrap_or(u8::MAX);
    Exit::new(code, format!("ended by signal {signal} while waiting"))
}
