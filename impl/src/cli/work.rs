//! `tenure run` once the lease is held, and `tenure instance` once the claim stands: the job runs, and what it runs under is
//! let go only when it has stopped.

use super::inbox::{Happening, Inbox};
use super::job::{Job, Remains};
use super::permit::Permit;
use super::run::LOOK_AGAIN;
use super::terminal::Terminal;
use super::watchdog::Watchdog;
use super::{Exit, say, signals};
use crate::clock::{Clock, SystemClock};
use crate::elector::AcquireError;
use crate::protocol::{LocalTime, Timing};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;

/// A group that was killed is given at least so long to be gone, however short the grace.
const DYING_MS: u64 = 1_000;

/// What came of a job.
pub(super) enum Outcome {
    /// It ended by itself, or by a signal that was forwarded.
    Ended(ExitCode),
    /// We have signalled it on our own account.
    Lost {
        /// It is not to be started again: somebody else wanted it to end, too; or it may still run; or the store went
        /// back (SPEC.md R11).
        for_good: bool,
    },
}

/// What was done to a job on our account.
#[derive(Clone, Copy, Debug, Default)]
struct Guarded {
    /// It was signalled: then the lease counts as lost, whatever the job made of it.
    signalled: bool,
    /// The signal that it was sent since its lease was renewed last.
    signal: Option<Signal>,
}

/// Who runs jobs, and what is known meanwhile.
pub(super) struct Work<'a> {
    job: &'a [OsString],
    /// What they run under, for people.
    what: String,
    timing: Timing,
    pub(super) terminal: Option<Terminal>,
    clock: SystemClock,
    inbox: Arc<Inbox>,
    /// Whether a signal that ends programs was passed on to the job.
    told_to_end: bool,
    /// Whether somebody was told of the loss.
    loss_told: bool,
    /// Why the last renewal failed.
    obstacle: String,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        job: &'a [OsString],
        what: String,
        timing: Timing,
        terminal: Option<Terminal>,
        inbox: &Arc<Inbox>,
    ) -> Self {
        Self {
            job,
            what,
            timing,
            terminal,
            clock: SystemClock,
            inbox: Arc::clone(inbox),
            told_to_end: false,
            loss_told: false,
            obstacle: String::new(),
        }
    }

    /// Whether the tenure is good for so long that a job would not be told to stop at once.
    pub(super) fn may_begin(&self, held: &impl Permit) -> bool {
        self.due_signal(held).0.is_none()
    }

    /// Runs the job while the lease is renewed, and lets go once the job's whole group has stopped.
    pub(super) fn run(&mut self, held: impl Permit) -> Result<Outcome, Exit> {
        self.obstacle.clear();
        self.loss_told = false;
        let (job, mut watchdog) = match self.start(&held) {
            Ok(started) => started,
            Err(error) => {
                self.let_go(held);
                return Err(Exit::new(Exit::STORE, format!("the job cannot be started: {error}")));
            }
        };
        let guarded = self.guard(&job, &held, &mut watchdog);
        job.kill_the_rest();
        let was_killed = watchdog.dismiss();
        if let Some(terminal) = &mut self.terminal {
            terminal.take(&job);
        }
        self.tell_loss(&held);
        if was_killed && guarded.signal != Some(Signal::KILL) && !self.loss_told {
            say(format!("{}: the watchdog killed the job in time", self.what));
        }
        let (status, remains) = job.bury();
        let lost = guarded.signalled || was_killed;
        let went_back = held.went_back();
        let are_gone = self.are_gone(&remains);
        if are_gone {
            self.let_go(held);
        } else {
            held.abandon();
            let what = &self.what;
            say(format!(
                "processes of the job's group are still dying: {what} is not released, it runs out by itself"
            ));
        }
        let status = status.map_err(|error| Exit::new(Exit::LOST, error))?;
        Ok(match lost {
            true => Outcome::Lost { for_good: !are_gone || went_back || self.told_to_end },
            false => Outcome::Ended(code_of(status)),
        })
    }

    /// The job begins only when somebody watches over it.
    fn start(&mut self, held: &impl Permit) -> io::Result<(Job, Watchdog)> {
        let environment = held.environment();
        let environment = environment.iter().map(|(name, value)| (*name, OsStr::new(value)));
        let mut watchdog = Watchdog::start(&self.inbox)?;
        let inbox = Arc::clone(&self.inbox);
        let job = Job::start(self.job, environment, move |happening| inbox.push(happening))?;
        watchdog.watch(job.group());
        self.instruct(&mut watchdog, held);
        // Starting it may have outlasted the lease: then it is killed as it is, and never begins.
        if self.due_signal(held).0.is_none() {
            if let Some(terminal) = &mut self.terminal {
                terminal.begin(&job);
            }
            job.go()?;
        }
        Ok((job, watchdog))
    }

    /// Tells the watchdog until when the lease is good.
    fn instruct(&self, watchdog: &mut Watchdog, held: &impl Permit) {
        if let Ok(deadline) = held.deadline() {
            watchdog.kill_at(deadline.minus(self.timing.kill_lead_ms()));
        }
    }

    /// Watches until the job's child has ended.
    fn guard(&mut self, job: &Job, held: &impl Permit, watchdog: &mut Watchdog) -> Guarded {
        let (mut lost, mut guarded) = (held.lost(), Guarded::default());
        loop {
            // Looked at only so that it ends a later wait: the clock may know before.
            if !self.loss_told {
                let _ = self.inbox.look(&mut lost);
            }
            self.tell_loss(held);
            self.instruct(watchdog, held);
            let (signal, look_at) = self.due_signal(held);
            if let Some(signal) = signal
                && ![Some(signal), Some(Signal::KILL)].contains(&guarded.signal)
                && !job.has_ended()
            {
                self.stop(job, held, signal);
                guarded = Guarded { signalled: true, signal: Some(signal) };
            }
            // Renewed since, and it has gone on: the next time begins with SIGTERM again.
            if signal.is_none() {
                guarded.signal = None;
            }
            match self.inbox.wait(look_at) {
                Some(Happening::JobStopped) => self.stopped(job),
                Some(Happening::JobEnded) => return guarded,
                Some(Happening::WatchdogEnded(which)) => watchdog.ended(which),
                Some(Happening::Met(obstacle)) => self.meet(obstacle),
                Some(Happening::Signal(signal)) => {
                    self.told_to_end |= signals::ends(signal);
                    self.pass_on(job, signal);
                }
                None => {}
            }
        }
    }

    fn pass_on(&mut self, job: &Job, signal: i32) {
        let passed_on = match (&mut self.terminal, Signal::from_named_raw(signal)) {
            (Some(terminal), Some(Signal::CONT)) => terminal.go_on(job),
            (_, Some(signal)) => job.forward(signal),
            (_, None) => Ok(()),
        };
        if let Err(error) = passed_on {
            say(format!("signal {signal} could not be passed on to the job: {error}"));
        }
    }

    /// The lease of a job that was stopped is renewed all the same.
    fn stopped(&mut self, job: &Job) {
        if let Some(by) = job.take_stop()
            && let Some(terminal) = &mut self.terminal
            && let Err(error) = terminal.job_stopped(job, by)
        {
            say(format!("the job is stopped: {error}"));
        }
    }

    /// Tells of the loss, once.
    fn tell_loss(&mut self, held: &impl Permit) {
        if !self.loss_told
            && let Err(loss) = held.deadline()
        {
            say(format!("lost {}: {loss}", self.what));
            self.loss_told = true;
        }
    }

    /// The signal that the job deserves by now, and when to look again (SPEC.md R5, R6): SIGTERM when only the grace is
    /// left, SIGKILL when only the time that killing takes is left, or when the lease is lost.
    fn due_signal(&self, held: &impl Permit) -> (Option<Signal>, Option<LocalTime>) {
        let Ok(deadline) = held.deadline() else {
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

    fn stop(&self, job: &Job, held: &impl Permit, signal: Signal) {
        let result = job.forward(signal);
        let what = &self.what;
        let why = held.trouble().map_or(String::new(), |why| format!(" ({why})"));
        match held.deadline() {
            Ok(_) if signal == Signal::TERM => {
                say(format!("{what} cannot be renewed{why}: the job is told to stop"));
            }
            Ok(_) => say(format!("{what} cannot be renewed{why}: the job is killed")),
            Err(_) => say(format!("{what} is not held any more: the job is killed")),
        }
        if let Err(error) = result {
            say(format!("the job could not be signalled: {error}; it may run on beside the next holder's"));
        }
    }

    /// Waits until the job's group is empty, while the lease is renewed; not longer than the grace, or a second if that
    /// is shorter (SPEC.md R6).
    fn are_gone(&self, remains: &Remains) -> bool {
        let give_up_at = self.clock.local().plus(self.timing.grace_ms().max(DYING_MS));
        while !remains.are_gone() {
            if self.clock.local() >= give_up_at {
                return false;
            }
            self.clock.sleep(LOOK_AGAIN);
        }
        true
    }

    /// The work has stopped: gives the lease back, if it is still ours (SPEC.md R6).
    pub(super) fn let_go(&mut self, held: impl Permit) {
        if self.loss_told {
            return;
        }
        let outcome = held.let_go();
        while let Some(happening) = self.inbox.take() {
            match happening {
                Happening::Met(obstacle) => self.meet(obstacle),
                Happening::Signal(signal) => self.told_to_end |= signals::ends(signal),
                Happening::JobStopped | Happening::JobEnded | Happening::WatchdogEnded(_) => {}
            }
        }
        if let Err(why) = outcome {
            say(format!("{} {why}", self.what));
        }
    }

    /// Takes in what the store's latest answer tells of a renewal, and tells of each obstacle once.
    pub(super) fn meet(&mut self, obstacle: Option<AcquireError>) {
        let obstacle = obstacle.map(obstacle_of).unwrap_or_default();
        if !obstacle.is_empty() && self.obstacle != obstacle {
            say(format!("{}: {obstacle}", self.what));
        }
        self.obstacle = obstacle;
    }
}

/// For people.
pub(super) fn obstacle_of(error: AcquireError) -> String {
    match error {
        AcquireError::NoAnswer(why) => why,
        other => other.to_string(),
    }
}

/// As shells tell it: 128+n for a job that signal n ended.
pub(super) fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
