//! The command `tenure`.

mod args;
mod ask;
mod front;
mod inbox;
mod instance;
mod job;
mod launch;
mod pages;
mod permit;
mod release;
mod run;
mod say;
mod signals;
mod status;
mod table;
mod terminal;
mod watchdog;
mod work;

use clap::Parser;
use say::say;
use std::ffi::OsStr;
use std::fmt;
use std::process::ExitCode;

/// Runs the command with the process's own arguments.
pub fn main() -> ExitCode {
    // Three words make it another program, which a user never calls.
    let mut words = std::env::args_os().skip(1);
    match words.next().as_deref().and_then(OsStr::to_str) {
        Some(front::WORD) => return front::guard(words),
        Some(launch::WORD) => return launch::main(words),
        Some(watchdog::process::WORD) => return watchdog::process::main(),
        Some(_) | None => {}
    }
    let command = args::Cli::parse().command;
    finish(match &command {
        args::Command::Run(_) | args::Command::Instance(_) => front::run(&command),
        args::Command::Status(args) => status::status(args),
        args::Command::Release(args) => release::release(args),
        args::Command::Completions(args) => pages::completions(args),
        args::Command::Man(args) => pages::man(args),
    })
}

/// Says why it came to nothing, if it did. The exit code.
fn finish(outcome: Result<ExitCode, Exit>) -> ExitCode {
    let code = outcome.unwrap_or_else(|exit| {
        say(&exit.why);
        exit.code
    });
    say::finish();
    code
}

/// A reason to end, and the exit code for it.
#[derive(Debug)]
struct Exit {
    code: ExitCode,
    why: String,
}

impl Exit {
    /// Not acquired in the time given; most often since somebody else holds the lease.
    const HELD: u8 = 75;
    /// The lease was lost while the job ran.
    const LOST: u8 = 76;
    /// The store cannot be used.
    const STORE: u8 = 69;
    /// What was asked for was not done, and nothing was changed.
    const REFUSED: u8 = 1;
    /// The arguments cannot work.
    const USAGE: u8 = 2;

    fn new(code: u8, why: impl fmt::Display) -> Self {
        Self { code: code.into(), why: why.to_string() }
    }
}
