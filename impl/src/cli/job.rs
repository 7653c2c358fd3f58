//! The job: a child in a process group of its own.

use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// A job that runs, or has ended and is not reaped yet.
#[derive(Debug)]
pub(super) struct Job {
    child: Child,
    group: Pid,
}

impl Job {
    /// Starts it. `ended` is called, on a thread of its own, when the child has ended; it stays unreaped, so
    /// that the group's number is not used again.
    pub(super) fn start<'a>(
        command: &[OsString],
        environment: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        adopt_orphans();
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let child = Command::new(program).args(arguments).envs(environment).process_group(0).spawn()?;
        let group = Pid::from_child(&child);
        #[expect(
            clippy::disallowed_methods,
            reason = "only a thread can wait for a child and leave it unreaped"
        )]
        std::thread::Builder::new().name("tenure-job".into()).spawn(move || {
            while process::waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
                .is_err_and(|error| error == rustix::io::Errno::INTR)
            {}
            ended();
        })?;
        Ok(Self { child, group })
    }

    /// Signals the whole group. If it is stopped, as by reading from the terminal, it goes on, or a signal that is to
    /// end it would never reach it.
    pub(super) fn forward(&self, signal: Signal) {
        self.signal(signal);
        if [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].contains(&signal) {
            self.signal(Signal::CONT);
        }
    }

    /// A group that is gone needs no signal.
    fn signal(&self, signal: Signal) {
        let _ = process::kill_process_group(self.group, signal);
    }

    /// Kills what the ended child left in its group, then takes the child's status.
    pub(super) fn bury(mut self) -> io::Result<(ExitStatus, Remains)> {
        self.signal(Signal::KILL);
        Ok((self.child.wait()?, Remains { group: self.group }))
    }
}

/// What the job leaves behind becomes our child, so that we can reap it: not every process 1 does, and not all
/// do it soon. Where there is no such setting, on macOS, process 1 does.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = process::set_child_subreaper(Some(process::getpid()));
}

/// The group of a job whose child is buried: other members may still be dying. It must not be signalled any
/// more, since its number may be another group's once it is empty.
#[derive(Debug)]
pub(super) struct Remains {
    group: Pid,
}

impl Remains {
    /// Whether nobody is left.
    pub(super) fn are_gone(&self) -> bool {
        // A zombie keeps its group from being empty.
        while let Ok(Some(_)) = process::waitpgid(self.group, process::WaitOptions::NOHANG) {}
        process::test_kill_process_group(self.group) == Err(rustix::io::Errno::SRCH)
    }
}
