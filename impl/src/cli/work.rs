//! `tenure run`, once the lease is held: the job runs, and the lease is let go only when it has stopped.

use super::job::{Job, Remains};
use super::run::{Happening, LOOK_AGAIN_MS, PATIENCE_MS, Run};
use super::{Exit, say};
use crate::clock::Clock;
use crate::protocol::{Event, Input, LocalTime, Tenure};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

/// A group that was killed is given at least so long to be gone, however short the grace.
const DYING_MS: u64 = 1_000;

impl Run<'_> {
    /// Whether the tenure is good for so long that a job would not be told to stop at once.
    pub(super) fn may_begin(&mut self) -> bool {
        self.step(Input::Wake);
        self.due_signal().0.is_none()
    }

    /// Runs the job, renews meanwhile, and lets go once the job's whole group has stopped.
    pub(super) fn work(&mut self, tenure: Tenure) -> Result<ExitCode, Exit> {
        self.obstacle.clear();
        self.working = true;
        let job = match self.start(tenure) {
            Ok(job) => job,
            Err(exit) => {
                self.let_go();
                return Err(exit);
            }
        };
        let lost = self.guard(&job);
        let (status, remains) = job.bury();
        if self.are_gone(&remains) {
            self.let_go();
        } else {
            say(
                "processes of the job's group are still dying: the lease is not released, it runs out by itself",
            );
        }
        let status = status.map_err(|error| Exit::new(Exit::LOST, error))?;
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
            if let Some(signal) = signal
                && ![Some(signal), Some(Signal::KILL)].contains(&signalled)
            {
                self.stop(job, signal);
                signalled = Some(signal);
            }
            input = match self.wait(look_at) {
                Some(Happening::JobEnded) => return signalled.is_some(),
                Some(Happening::Answer(id, answer)) => self.reply(id, answer),
                Some(Happening::Signal(signal)) => {
                    let forwarded = Signal::from_named_raw(signal).map(|signal| job.forward(signal));
                    if let Some(Err(error)) = forwarded {
                        say(format!("signal {signal} could not be passed on to the job: {error}"));
                    }
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
        let result = job.forward(signal);
        let lease = self.args.lease.as_str();
        match self.contender.tenure() {
            Some(_) if signal == Signal::TERM => {
                say(format!("lease {lease:?} cannot be renewed: the job is told to stop"));
            }
            Some(_) => say(format!("lease {lease:?} cannot be renewed: the job is killed")),
            None => say(format!("lease {lease:?} is not held any more: the job is killed")),
        }
        if let Err(error) = result {
            say(format!("the job could not be signalled: {error}; it may run on beside the next holder's"));
        }
    }

    /// Waits, and goes on renewing, until the job's group is empty; not longer than the grace, or a second if that is
    /// shorter (SPEC.md R6).
    fn are_gone(&mut self, remains: &Remains) -> bool {
        let give_up_at = self.clock.local().plus(self.timing.grace_ms().max(DYING_MS));
        loop {
            if remains.are_gone() {
                return true;
            }
            let now = self.clock.local();
            if now >= give_up_at {
                return false;
            }
            let input = self.next_input(Some(now.plus(LOOK_AGAIN_MS)));
            for event in self.step(input) {
                self.tell(&event);
            }
        }
    }

    /// The work has stopped: gives the lease back, if it is still ours (SPEC.md R6).
    fn let_go(&mut self) {
        for event in self.step(Input::Shutdown) {
            self.tell(&event);
        }
        if !self.settle(Input::WorkStopped, PATIENCE_MS) {
            self.tell(&Event::NotReleased(None));
        }
    }
}

/// As shells tell it: 128+n for a job that signal n ended.
fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
