//! `tenure run`: how it comes to hold the lease.

use super::args::Run as Args;
use super::inbox::{Happening, Inbox};
use super::permit::Tenure;
use super::terminal::Terminal;
use super::work::{Outcome, Work, obstacle_of};
use super::{Exit, say, signals};
use crate::clock::{Clock, SystemClock};
use crate::elector::{AcquireError, Elector, Held};
use crate::keeper::Witness;
use crate::protocol::{LocalTime, Timing};
use crate::random::Dice;
use crate::store::{OpenError, SqliteStore};
use signal_hook::consts::SIGTSTP;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How often the ended job's group is looked at until it is empty, and the open of a busy file is tried again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long the store is waited for by who does not wait for the lease, and by who gives it back.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How long the outcome of an acquire is waited for when a signal ends us.
const LEAVE: Duration = Duration::from_secs(1);

/// Holds the lease and runs the job. The exit code, or why it came to nothing.
pub(super) fn run(args: &Args, terminal: Option<Terminal>) -> Result<ExitCode, Exit> {
    let mut run = Run::new(args, terminal)?;
    loop {
        let held = run.acquire()?;
        let held = Tenure { held, db: &run.db };
        if !run.work.may_begin(&held) {
            // We were held up for so long that the job would have to be killed at once: it is given back.
            continue;
        }
        match run.work.run(held)? {
            Outcome::Ended(code) => return Ok(code),
            Outcome::Lost { for_good: false } if args.restart => run.begin_again(),
            Outcome::Lost { .. } => return Ok(ExitCode::from(Exit::LOST)),
        }
    }
}

pub(super) struct Run<'a> {
    args: &'a Args,
    timing: Timing,
    db: PathBuf,
    work: Work<'a>,
    clock: SystemClock,
    inbox: Arc<Inbox>,
    /// Never dropped: that would wait for a store that hangs, where we have waited for it as long as we mean to.
    elector: ManuallyDrop<Elector>,
    begin: LocalTime,
    /// When the store was open.
    opened: LocalTime,
    /// Whether the store ever answered.
    answered: bool,
    /// What stands between us and the lease, last time we looked.
    obstacle: String,
}

impl<'a> Run<'a> {
    fn new(args: &'a Args, terminal: Option<Terminal>) -> Result<Self, Exit> {
        let (timing, label) = (args.timing()?, args.label()?);
        let (clock, inbox) = (SystemClock, Inbox::new());
        let begin = clock.local();
        let signals = Arc::clone(&inbox);
        signals::watch(terminal.is_some(), move |signal| signals.push(Happening::Signal(signal)))?;
        let store = open(args, clock, &inbox, give_up_at(args, &timing, begin))?;
        let db = store.path().to_owned();
        let builder = Elector::builder(&db).durations(args.durations()).label(label.as_str());
        let (elector, keeper) = builder.on(Box::new(store), Dice::system(), true).map_err(unusable)?;
        keeper.start().map_err(unusable)?;
        Ok(Self {
            args,
            timing,
            db,
            work: Work::new(&args.job, format!("lease {:?}", args.lease.as_str()), timing, terminal, &inbox),
            clock,
            inbox,
            elector: ManuallyDrop::new(elector),
            begin,
            opened: clock.local(),
            answered: false,
            obstacle: String::new(),
        })
    }

    /// The job of a tenure that is lost has stopped: it contends for another, as at the beginning.
    fn begin_again(&mut self) {
        let now = self.clock.local();
        (self.begin, self.opened) = (now, now);
        self.answered = false;
        self.obstacle.clear();
    }

    /// Contends until the lease is ours, or the time for it is over.
    fn acquire(&mut self) -> Result<Held, Exit> {
        let witness: Arc<dyn Witness> = Arc::<Inbox>::clone(&self.inbox);
        let mut acquiring = self.elector.contend(self.args.lease.as_str(), true, Some(witness));
        let (within, exit) = loop {
            // A signal that came before the lease did ends us all the same.
            if self.inbox.is_empty()
                && let Some(outcome) = self.inbox.look(&mut acquiring)
            {
                return outcome.map_err(unusable);
            }
            let stop_at = self.stop_at();
            if stop_at.is_some_and(|at| self.clock.local() >= at) {
                break (PATIENCE, self.not_acquired());
            }
            match self.inbox.wait(stop_at) {
                Some(Happening::Met(obstacle)) => self.meet(obstacle),
                Some(Happening::Signal(signal)) if signals::ends_waiting(signal) => {
                    break (LEAVE, ended_by(signal));
                }
                // The shell goes on; and we wait on.
                Some(Happening::Signal(SIGTSTP)) => {
                    let _ = self.work.terminal.as_ref().map(Terminal::stop);
                }
                Some(
                    Happening::JobStopped
                    | Happening::JobEnded
                    | Happening::WatchdogEnded(_)
                    | Happening::Signal(_),
                )
                | None => {}
            }
        };
        // An acquire that is under way may still be granted: then it is given back (SPEC.md R7).
        drop(acquiring);
        self.elector.shutdown(within).wait_for(within);
        Err(exit)
    }

    /// Takes in what the store's latest answer tells, and tells of each obstacle once; who does not wait for the lease is
    /// told at the end.
    fn meet(&mut self, obstacle: Option<AcquireError>) {
        self.answered |= !matches!(obstacle, Some(AcquireError::NoAnswer(_)));
        let Some(obstacle) = obstacle.map(obstacle_of) else { return };
        if self.obstacle == obstacle {
            return;
        }
        self.obstacle = obstacle;
        if self.args.waits() {
            say(format!("waiting for lease {:?}: {}", self.args.lease.as_str(), self.obstacle));
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
}

/// Until when the lease is waited for; who does not wait gives the store some time to answer.
fn give_up_at(args: &Args, timing: &Timing, begin: LocalTime) -> Option<LocalTime> {
    let patience = || Duration::from_millis(timing.request_timeout_ms()).min(PATIENCE);
    let wait = if args.waits() { args.wait? } else { patience() };
    Some(after(begin, wait))
}

fn after(begin: LocalTime, time: Duration) -> LocalTime {
    begin.plus(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Opens the store; a file that is busy is tried again for as long as the lease would be waited for.
fn open(
    args: &Args,
    clock: SystemClock,
    inbox: &Inbox,
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
            Err(error) => return Err(unusable(error)),
        }
        let again = after(clock.local(), LOOK_AGAIN);
        if let Some(Happening::Signal(signal)) = inbox.wait(Some(again))
            && signals::ends_waiting(signal)
        {
            return Err(ended_by(signal));
        }
    }
}

fn unusable(error: impl std::fmt::Display) -> Exit {
    Exit::new(Exit::STORE, error)
}

/// As shells tell it.
pub(super) fn ended_by(signal: i32) -> Exit {
    let code = u8::try_from(128 + signal).unwrap_or(u8::MAX);
    Exit::new(code, format!("ended by signal {signal} while waiting"))
}
