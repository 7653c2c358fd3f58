//! `tenure run`, once the lease is held: the job runs, and the lease is let go only when it has stopped.

use super::inbox::Happening;
use super::job::{Job, Remains};
use super::run::{LOOK_AGAIN, Outcome, PATIENCE, Run};
use super::watchdog::Watchdog;
use super::{Exit, say, signals};
use crate::clock::Clock;
use crate::elector::Held;
use crate::keeper::NotReleased;
use crate::protocol::{LocalTime, Loss};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;

/// A group that was killed is given at least so long to be gone, however short the grace.
const DYING_MS: u64 = 1_000;

impl Run<'_> {
    /// Whether the tenure is good for so long that a job would not be told to stop at once.
    pub(super) fn may_begin(&self, held: &Held) -> bool {
        self.due_signal(held).0.is_none()
    }

    /// Runs the job while the lease is renewed, and lets go once the job's whole group has stopped.
    pub(super) fn work(&mut self, held: Held) -> Result<Outcome, Exit> {
        self.obstacle.clear();
        self.working = true;
        let (job, mut watchdog) = match self.start(&held) {
            Ok(started) => started,
            Err(error) => {
                self.let_go(held);
                return Err(Exit::new(Exit::STORE, format!("the job cannot be started: {error}")));
            }
        };
        let signalled = self.guard(&job, &held, &mut watchdog);
        job.kill_the_rest();
        let was_killed = watchdog.dismiss();
        if let Some(terminal) = &mut self.terminal {
            terminal.take(&job);
        }
        self.tell_loss(&held);
        let (status, remains) = job.bury();
        let lost = signalled || was_killed;
        let went_back = held.check() == Err(Loss::StoreWentBack);
        let are_gone = self.are_gone(&remains);
        if are_gone {
            self.let_go(held);
        } else {
            held.0.abandon();
            say(
                "processes of the job's group are still dying: the lease is not released, it runs out by itself",
            );
        }
        let status = status.map_err(|error| Exit::new(Exit::LOST, error))?;
        Ok(match lost {
            true => Outcome::Lost { for_good: !are_gone || went_back || self.told_to_end },
            false => Outcome::Ended(code_of(status)),
        })
    }

    /// The job begins only when somebody watches over it.
    fn start(&mut self, held: &Held) -> io::Result<(Job, Watchdog)> {
        let fence = held.fence().to_string();
        let environment = [
            ("TENURE_LEASE", OsStr::new(self.args.lease.as_str())),
            ("TENURE_FENCE", OsStr::new(&fence)),
            ("TENURE_HOLDER", OsStr::new(held.holder().as_str())),
            ("TENURE_DB", self.db.as_os_str()),
        ];
        let mut watchdog = Watchdog::start(&self.inbox)?;
        let inbox = Arc::clone(&self.inbox);
        let job = Job::start(&self.args.job, environment, move |happening| inbox.push(happening))?;
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
    fn instruct(&self, watchdog: &mut Watchdog, held: &Held) {
        if let Ok(deadline) = held.deadline() {
            watchdog.kill_at(deadline.minus(self.timing.kill_lead_ms()));
        }
    }

    /// Watches until the job's child has ended. Whether it was signalled on our account: then the lease counts as lost,
    /// whatever the job made of it.
    fn guard(&mut self, job: &Job, held: &Held, watchdog: &mut Watchdog) -> bool {
        let (mut lost, mut signalled) = (held.lost(), None);
        loop {
            // Looked at only so that it ends a later wait: the clock may know before.
            if !self.loss_told {
                let _ = self.inbox.look(&mut lost);
            }
            self.tell_loss(held);
            self.instruct(watchdog, held);
            let (signal, look_at) = self.due_signal(held);
            if let Some(signal) = signal
                && ![Some(signal), Some(Signal::KILL)].contains(&signalled)
                && !job.has_ended()
            {
                self.stop(job, held, signal);
                signalled = Some(signal);
            }
            match self.inbox.wait(look_at) {
                Some(Happening::JobStopped) => self.stopped(job),
                Some(Happening::JobEnded) => return signalled.is_some(),
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
    fn tell_loss(&mut self, held: &Held) {
        if !self.loss_told
            && let Err(loss) = held.check()
        {
            say(format!("lost lease {:?}: {loss}", self.args.lease.as_str()));
            self.loss_told = true;
        }
    }

    /// The signal that the job deserves by now, and when to look again (SPEC.md R5, R6): SIGTERM when only the grace is
    /// left, SIGKILL when only the time that killing takes is left, or when the lease is lost.
    fn due_signal(&self, held: &Held) -> (Option<Signal>, Option<LocalTime>) {
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

    fn stop(&self, job: &Job, held: &Held, signal: Signal) {
        let result = job.forward(signal);
        let lease = self.args.lease.as_str();
        match held.is_held() {
            true if signal == Signal::TERM => {
                say(format!("lease {lease:?} cannot be renewed: the job is told to stop"));
            }
            true => say(format!("lease {lease:?} cannot be renewed: the job is killed")),
            false => say(format!("lease {lease:?} is not held any more: the job is killed")),
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
    fn let_go(&mut self, held: Held) {
        if self.loss_told {
            return;
        }
        let outcome = held.release().wait_for(PATIENCE);
        while let Some(happening) = self.inbox.take() {
            match happening {
                Happening::Met(obstacle) => self.meet(obstacle),
                Happening::Signal(signal) => self.told_to_end |= signals::ends(signal),
                Happening::JobStopped | Happening::JobEnded | Happening::WatchdogEnded(_) => {}
            }
        }
        let lease = self.args.lease.as_str();
        match outcome {
            Some(Ok(())) => {}
            Some(Err(NotReleased::Lost(loss))) => {
                say(format!("lease {lease:?} was not ours to release: {loss}"));
            }
            Some(Err(NotReleased::RunsOut | NotReleased::InTransaction)) | None => {
                say(format!("lease {lease:?} could not be released: it runs out by itself"));
            }
        }
    }
}

/// As shells tell it: 128+n for a job that signal n ended.
pub(super) fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
