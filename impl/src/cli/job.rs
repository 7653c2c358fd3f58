//! The job: a child in a process group of its own.

use super::inbox::Happening;
use super::launch;
use super::watchdog::own_program;
use rustix::io::Errno;
use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};

/// A job that runs, or has ended and is not reaped yet.
#[derive(Debug)]
pub(super) struct Job {
    child: Child,
    group: Pid,
    /// Has the thread wait for what comes next.
    look: Sender<Pid>,
}

impl Job {
    /// Starts its process, which waits, stopped, to be told to [`go`](Self::go). `tell` is called, on a thread of its own,
    /// when the process is stopped later, and when it has ended; it stays unreaped, so that the group's number is not used
    /// again. The thread is there before the process: one that nobody could wait for would have to be killed.
    pub(super) fn start<'a>(
        command: &[OsString],
        environment: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        tell: impl Fn(Happening) + Send + 'static,
    ) -> io::Result<Self> {
        let (look, looks) = channel();
        #[expect(
            clippy::disallowed_methods,
            reason = "only a thread can wait for a child and leave it unreaped"
        )]
        std::thread::Builder::new().name("tenure-job".into()).spawn(move || {
            for child in looks {
                let status = wait_for(child, WaitIdOptions::EXITED | WaitIdOptions::STOPPED);
                let stopped = status.is_some_and(|status| status.stopped());
                tell(if stopped { Happening::JobStopped } else { Happening::JobEnded });
            }
        })?;
        let mut launch = Command::new(own_program()?);
        launch.arg(launch::WORD).arg(std::process::id().to_string()).args(command).envs(environment);
        let child = launch.process_group(0).spawn()?;
        let group = Pid::from_child(&child);
        wait_for(group, WaitIdOptions::EXITED | WaitIdOptions::STOPPED);
        let job = Self { child, group, look };
        job.take_stop();
        Ok(job)
    }

    pub(super) fn group(&self) -> Pid {
        self.group
    }

    /// Now it is watched over, and becomes the job.
    pub(super) fn go(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// The signal by which it is stopped, if it still is; to be asked for when that was told. The next one is told again.
    pub(super) fn take_stop(&self) -> Option<i32> {
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        let status = process::waitid(WaitId::Pid(self.group), look);
        let _ = self.look.send(self.group);
        status.ok()??.stopping_signal()
    }

    /// Whether its first process has ended; not whether its group is empty.
    pub(super) fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        process::waitid(WaitId::Pid(self.group), look).is_ok_and(|status| status.is_some())
    }

    /// Signals the whole group. If it is stopped, as by reading from the terminal, it goes on, or a signal that is to
    /// end it would never reach it.
    pub(super) fn forward(&self, signal: Signal) -> io::Result<()> {
        self.signal(signal)?;
        if [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].contains(&signal) {
            self.signal(Signal::CONT)?;
        }
        Ok(())
    }

    /// A group that is gone needs no signal.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        match process::kill_process_group(self.group, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills what the ended child left in its group. What cannot be killed is seen by `Remains`.
    pub(super) fn kill_the_rest(&self) {
        let _ = self.signal(Signal::KILL);
    }

    /// Takes the child's status: from then on the group's number may be another's.
    pub(super) fn bury(mut self) -> (io::Result<ExitStatus>, Remains) {
        (self.child.wait(), Remains { group: self.group })
    }
}

/// Waits until one of these is so, and leaves it to be seen again.
fn wait_for(child: Pid, what: WaitIdOptions) -> Option<WaitIdStatus> {
    loop {
        match process::waitid(WaitId::Pid(child), what | WaitIdOptions::NOWAIT) {
            Err(Errno::INTR) => {}
            outcome => return outcome.ok().flatten(),
        }
    }
}

/// The group of a job whose child is buried: other members may still be dying. It must not be signalled any
/// more, since its number may be another group's once it is empty.
#[derive(Debug)]
pub(super) struct Remains {
    group: Pid,
}

impl Remains {
    /// Whether nobody is left, but zombies: those do nothing any more, and not every process 1 reaps them soon.
    pub(super) fn are_gone(&self) -> bool {
        let empty = process::test_kill_process_group(self.group) == Err(Errno::SRCH);
        empty || only_zombies(self.group).unwrap_or(false)
    }
}

/// Whether a group has zombies and nothing else, as `/proc` tells on Linux. What cannot be read is no evidence.
fn only_zombies(group: Pid) -> io::Result<bool> {
    let group = group.to_string();
    let mut zombies = 0;
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let is_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let Some(stat) = stat_of(&entry.path()).filter(|_| is_process).transpose()? else { continue };
        // The name, in parentheses, may contain anything; state, parent and group follow it.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(1);
        let (state, of) = (fields.next(), fields.nth(1));
        if of == Some(&group) {
            let last_thread = || std::fs::read_dir(entry.path().join("task")).map(|tasks| tasks.count() <= 1);
            if state != Some("Z") || !last_thread()? {
                return Ok(false);
            }
            zombies += 1;
        }
    }
    Ok(zombies > 0)
}

/// A process's line in `/proc`; none if it has ended meanwhile.
#[expect(clippy::disallowed_methods, reason = "the system tells it in a file")]
fn stat_of(process: &Path) -> Option<io::Result<String>> {
    match std::fs::read(process.join("stat")) {
        Ok(line) => Some(Ok(String::from_utf8_lossy(&line).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => None,
        Err(error) => Some(Err(error)),
    }
}
