//! At a terminal there are two processes. The front is what the shell has started and waits for, and does nothing. The
//! guard, which the front starts, holds the lease and runs the job. So when the job is stopped the front can be, too, and
//! the shell goes on, while the guard renews.
//!
//! The guard has a group of its own: what is sent to the front's group reaches it once, by the front.

use super::args::{Cli, Command};
use super::terminal::{Terminal, is_ours};
use super::watchdog::own_program;
use super::work::code_of;
use super::{Exit, finish, instance, run, signals};
use clap::Parser;
use rustix::process::{Pid, RawPid, Signal, getpgid, getpgrp, getppid, getsid, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

/// The first word of our own program that makes it the guard; the second is the front's number, and the user's follow.
pub(super) const WORD: &str = "--guard-job";

/// Runs the job: in this process, unless a shell must be able to see it stopped.
pub(super) fn run(command: &Command) -> Result<ExitCode, Exit> {
    match () {
        () if !is_ours() => begin(command, None),
        // A shell with job control has a group for each of its jobs; in the session's first group nobody could wake a
        // process that is stopped.
        () if getsid(None) == Ok(getpgrp()) => begin(command, Some(Terminal::new(getpgrp(), None))),
        () => front(),
    }
}

/// Runs the job, in this process.
fn begin(command: &Command, terminal: Option<Terminal>) -> Result<ExitCode, Exit> {
    match command {
        Command::Run(args) => run::run(args, terminal),
        Command::Instance(args) => instance::run(args, terminal),
        Command::Status(_) | Command::Release(_) | Command::Completions(_) | Command::Man(_) => {
            Err(Exit::new(Exit::USAGE, "this runs no job"))
        }
    }
}

/// Starts the guard, passes signals on to it, and ends as it does.
fn front() -> Result<ExitCode, Exit> {
    let guard = Arc::new(OnceLock::new());
    let told = Arc::clone(&guard);
    signals::watch(true, move |signal| pass_on(*told.wait(), signal))?;
    let broken = |error: io::Error| Exit::new(Exit::STORE, format!("the guard cannot be run: {error}"));
    let mut command = std::process::Command::new(own_program().map_err(broken)?);
    command.arg0("tenure-guard").arg(WORD).arg(std::process::id().to_string());
    command.args(std::env::args_os().skip(1)).process_group(0);
    let mut child = command.spawn().map_err(broken)?;
    let _ = guard.set(Pid::from_child(&child));
    Ok(code_of(child.wait().map_err(broken)?))
}

/// SIGTSTP as well: it is the guard that stops us, once the job is stopped.
fn pass_on(guard: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(guard, signal);
    }
}

/// The guard's main program.
pub(super) fn guard(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let number = words.next().and_then(|number| number.to_str()?.parse::<RawPid>().ok());
    let front = number.and_then(Pid::from_raw);
    end_with(front);
    let Some(front) = front.filter(|front| getppid() == Some(*front)) else {
        return ExitCode::from(Exit::LOST);
    };
    let cli = Cli::parse_from(std::iter::once("tenure".into()).chain(words));
    let code = finish(match getpgid(Some(front)) {
        Ok(group) => begin(&cli.command, Some(Terminal::new(group, Some(front)))),
        Err(error) => Err(Exit::new(Exit::LOST, error)),
    });
    // It may be stopped: then the shell would not see the end.
    let _ = kill_process(front, Signal::CONT);
    code
}

/// Who kills the front wants the job to end: the guard is killed, and its watchdog kills the job.
#[cfg(target_os = "linux")]
fn end_with(_front: Option<Pid>) {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
}

/// The same where the system does not do it.
#[cfg(not(target_os = "linux"))]
fn end_with(front: Option<Pid>) {
    use crate::clock::{Clock, SystemClock};
    use rustix::process::getpid;
    #[expect(clippy::disallowed_methods, reason = "the thread that sees the front's end")]
    let _ = std::thread::Builder::new().name("tenure-front".into()).spawn(move || {
        while getppid() == front {
            SystemClock.sleep(std::time::Duration::from_millis(250));
        }
        let _ = kill_process(getpid(), Signal::KILL);
    });
}
