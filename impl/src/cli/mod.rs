//! The command `tenure`.

mod args;
mod inbox;
mod job;
mod run;
mod say;
mod signals;
mod work;

use clap::Parser;
use say::say;
use std::fmt;
use std::process::ExitCode;

/// Runs the command with the process's own arguments.
pub fn main() -> ExitCode {
    let args::Cli { command: args::Command::Run(run) } = args::Cli::parse();
    let code = run::run(&run).unwrap_or_else(|exit| {
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
    /// The arguments cannot work.
    const USAGE: u8 = 2;

    fn new(code: u8, why: impl fmt::Display) -> Self {
        Self { code: code.into(), why: why.to_string() }
    }
}
