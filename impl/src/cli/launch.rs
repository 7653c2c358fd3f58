//! The job's own process before it is the job: it waits, stopped, until somebody watches over it.

use super::Exit;
use crate::cli::say;
use rustix::process::{Pid, RawPid, Signal, getppid, kill_process};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The first word of our own program that makes it this one; the second is the number of who starts it.
pub(super) const WORD: &str = "--launch-job";

/// Stops itself, and becomes the job once it is told to go on: by whoever started it, and has told the watchdog. If that
/// one has died meanwhile there is nobody who renews, and no job.
pub(super) fn main(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let guard =
        words.next().and_then(|number| number.to_str()?.parse::<RawPid>().ok()).and_then(Pid::from_raw);
    // Where the system can: should tenure and its watchdog be killed at one moment, this process is, too.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let is_watched = || getppid() == guard;
    // Before as well: in a group whose parent has gone nobody would wake a process that is stopped.
    if !is_watched() || kill_process(rustix::process::getpid(), Signal::STOP).is_err() || !is_watched() {
        return ExitCode::from(Exit::LOST);
    }
    let Some(program) = words.next() else { return ExitCode::from(Exit::USAGE) };
    let error = Command::new(&program).args(words).exec();
    say(format!("{} cannot be run: {error}", program.to_string_lossy()));
    say::finish();
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}
