//! The watchdog as `tenure` has it: a process that kills the job's group when `tenure` is no more, or stands still.

pub(super) mod process;

use super::inbox::{Happening, Inbox};
use super::say;
use crate::clock::{Clock, SystemClock, block_on};
use crate::keeper::{Notice, Pledge};
use crate::protocol::LocalTime;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// How long a watchdog has to hear that it is not needed any more, and one that was killed to be gone. Long: one that has
/// killed the group, and is killed before it can tell so, has a loss pass for the job's own end.
const ENDS_WITHIN_MS: u64 = 1_000;

/// A watchdog at the other end of a pipe. If it dies, there is another one at once.
pub(super) struct Watchdog {
    pid: Pid,
    pipe: PipeWriter,
    /// Told when it has ended: whether it has killed the group.
    killed: Arc<Notice<bool>>,
    /// The same of those that were replaced: one may have killed, and the lease been renewed before anybody knew.
    before: Vec<Arc<Notice<bool>>>,
    inbox: Arc<Inbox>,
    /// What it was told last.
    group: Option<Pid>,
    kill_at: Option<LocalTime>,
}

impl Watchdog {
    pub(super) fn start(inbox: &Arc<Inbox>) -> io::Result<Self> {
        let (pid, pipe, killed) = process(inbox)?;
        let inbox = Arc::clone(inbox);
        Ok(Self { pid, pipe, killed, before: Vec::new(), inbox, group: None, kill_at: None })
    }

    /// That is the group.
    pub(super) fn watch(&mut self, group: Pid) {
        self.group = Some(group);
        self.tell(&process::group(group));
    }

    /// Then the group must be dead, unless it is told otherwise before.
    pub(super) fn kill_at(&mut self, moment: LocalTime) {
        if self.kill_at != Some(moment) {
            self.kill_at = Some(moment);
            self.tell(&process::kill_at(moment));
        }
    }

    /// The job has ended, and its process is not reaped yet: from then on the group's number may be another's, so the watchdog
    /// is gone before. Whether it, or one before it, has killed the group.
    pub(super) fn dismiss(mut self) -> bool {
        let _ = self.pipe.write_all(process::OFF.as_bytes());
        let ended = |killed: &Arc<Notice<bool>>| {
            let until = SystemClock.local().plus(ENDS_WITHIN_MS);
            block_on(&SystemClock, pin!(killed.listen()), Some(until))
        };
        // One that is stopped does not hear.
        let killed = ended(&self.killed).or_else(|| {
            let _ = kill_process(self.pid, Signal::KILL);
            ended(&self.killed)
        });
        killed == Some(true) || self.before.iter().any(|killed| ended(killed) == Some(true))
    }

    /// That one has ended. It may be an earlier job's, or one that was replaced already: then nothing is to be done, and to
    /// replace one that is alive would have it kill the job.
    pub(super) fn ended(&mut self, which: Pid) {
        if which == self.pid {
            self.replace();
        }
    }

    /// There must be another one, unless it has done what it was for.
    fn replace(&mut self) {
        if self.kill_at.is_some_and(|at| SystemClock.local() >= at) {
            return;
        }
        match process(&self.inbox) {
            Ok((pid, pipe, killed)) => {
                self.before.push(std::mem::replace(&mut self.killed, killed));
                (self.pid, self.pipe) = (pid, pipe);
            }
            Err(error) => return say(format!("no watchdog could be started: {error}")),
        }
        let group = self.group.map(process::group);
        let kill_at = self.kill_at.map(process::kill_at);
        for line in [group, kill_at].into_iter().flatten() {
            let _ = self.pipe.write_all(line.as_bytes());
        }
    }

    /// The pipe never blocks. One that is closed is that of a watchdog which has died. One that is full is that of a stopped
    /// one: should it go on later, and find its pipe closed, it would kill the job, so it must not.
    fn tell(&mut self, line: &str) {
        if let Err(error) = self.pipe.write_all(line.as_bytes()) {
            if error.kind() == io::ErrorKind::WouldBlock {
                let _ = kill_process(self.pid, Signal::KILL);
            }
            self.replace();
        }
    }
}

/// A watchdog's process, in a group of its own, which no signal of the terminal reaches. `inbox` is told of its end.
fn process(inbox: &Arc<Inbox>) -> io::Result<(Pid, PipeWriter, Arc<Notice<bool>>)> {
    let (read, write) = io::pipe()?;
    rustix::fs::fcntl_setfl(&write, rustix::fs::OFlags::NONBLOCK)?;
    let mut command = Command::new(own_program()?);
    command.arg0("tenure-watchdog").arg(process::WORD).process_group(0).current_dir("/");
    command.stdin(Stdio::from(read)).stdout(Stdio::null()).stderr(Stdio::null());
    let (inbox, mut child) = (Arc::clone(inbox), command.spawn()?);
    let (pid, pledge) = (Pid::from_child(&child), Pledge::new(|| false));
    let killed = Arc::clone(pledge.notice());
    #[expect(clippy::disallowed_methods, reason = "the thread that waits for the watchdog's end")]
    std::thread::Builder::new().name("tenure-watchdog".into()).spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        pledge.keep(code == Some(process::HAS_KILLED.into()));
        inbox.push(Happening::WatchdogEnded(pid));
    })?;
    Ok((pid, write, killed))
}

/// Our own program, also if its file was replaced since.
pub(super) fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}
