//! The terminal: the job has it while it runs in the foreground, as each job of a shell does.

use super::job::Job;
use nix::sys::signal::{SigSet, SigmaskHow};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group, test_kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};
use signal_hook::consts::{SIGTSTP, SIGTTIN, SIGTTOU};
use std::io::{self, stdin};

pub(super) struct Terminal {
    /// The group that the shell knows: it has the terminal while no job does.
    group: Pid,
    /// Who is stopped when the job is, for the shell to see. None where no shell is that could wake it.
    front: Option<Pid>,
    /// The modes when the job got the terminal.
    users: Option<Termios>,
    /// The modes when it was taken from a job that has stopped.
    jobs: Option<Termios>,
}

/// Whether our standard input is a terminal, and our group has it.
pub(super) fn is_ours() -> bool {
    is_of(getpgrp())
}

fn is_of(group: Pid) -> bool {
    tcgetpgrp(stdin()) == Ok(group)
}

impl Terminal {
    pub(super) fn new(group: Pid, front: Option<Pid>) -> Self {
        Self { group, front, users: None, jobs: None }
    }

    /// A job is about to begin. Where the terminal is somebody else's by now, it begins in the background, and the shell
    /// learns that what was stopped while it waited runs again.
    pub(super) fn begin(&mut self, job: &Job) {
        self.jobs = None;
        if !self.give(job)
            && let Some(front) = self.front
        {
            let _ = kill_process(front, Signal::CONT);
        }
    }

    /// Hands it to the job, with the modes that the job has left; if it is ours to give.
    fn give(&mut self, job: &Job) -> bool {
        if !is_of(self.group) {
            return false;
        }
        let _unstopped = Unstopped::new();
        self.users = tcgetattr(stdin()).ok();
        set_modes(self.jobs.take().as_ref());
        tcsetpgrp(stdin(), job.group()).is_ok()
    }

    /// Takes it from the job, or from a group of the job's that is gone, and puts its modes back. From nobody else: while
    /// the job is in the background the shell has it.
    pub(super) fn take(&mut self, job: &Job) {
        let is_gone = |group| test_kill_process_group(group) == Err(Errno::SRCH);
        if tcgetpgrp(stdin()).is_ok_and(|group| group != job.group() && !is_gone(group)) {
            return;
        }
        let _unstopped = Unstopped::new();
        if tcsetpgrp(stdin(), self.group).is_ok() {
            self.jobs = tcgetattr(stdin()).ok();
            set_modes(self.users.as_ref());
        }
    }

    /// The job was stopped by that signal: so is all that the shell waits for, and the shell goes on.
    pub(super) fn job_stopped(&mut self, job: &Job, by: i32) -> io::Result<()> {
        // Shells do not tell a job that runs that it comes to the foreground. It has found out.
        if [SIGTTIN, SIGTTOU].contains(&by) && self.give(job) {
            return job.signal(Signal::CONT);
        }
        match self.front {
            Some(_) => {
                self.take(job);
                self.stop()
            }
            // As for any program that nobody could wake.
            None if by == SIGTSTP => job.signal(Signal::CONT),
            None => Ok(()),
        }
    }

    /// Stops what the shell waits for.
    pub(super) fn stop(&self) -> io::Result<()> {
        let Some(front) = self.front else { return Ok(()) };
        // First, and in a way that it cannot handle: it would pass the other one on to us.
        kill_process(front, Signal::STOP)?;
        Ok(kill_process_group(self.group, Signal::TSTP)?)
    }

    /// The shell has us go on: with the terminal, as by `fg`, or without, as by `bg`.
    pub(super) fn go_on(&mut self, job: &Job) -> io::Result<()> {
        self.give(job);
        job.signal(Signal::CONT)
    }
}

fn set_modes(modes: Option<&Termios>) {
    if let Some(modes) = modes {
        let _ = tcsetattr(stdin(), OptionalActions::Now, modes);
    }
}

/// While it is there, this thread may use the terminal without having it. Otherwise each try would send SIGTTOU to our
/// group, and since we catch that, be tried again, for ever.
pub(super) struct Unstopped {
    before: Option<SigSet>,
}

impl Unstopped {
    pub(super) fn new() -> Self {
        let signal = SigSet::from(nix::sys::signal::Signal::SIGTTOU);
        Self { before: signal.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok() }
    }
}

/// Children begin with the mask of the thread that starts them, and the job must not begin with this one.
impl Drop for Unstopped {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = before.thread_set_mask();
        }
    }
}
