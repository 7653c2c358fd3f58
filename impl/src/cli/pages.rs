//! What a package of the command has besides: completions for shells, and manual pages.

use super::Exit;
use super::args::{Cli, Completions, Man};
use super::status::print;
use clap::CommandFactory;
use std::process::ExitCode;

/// Completions for a shell, to standard output.
pub(super) fn completions(args: &Completions) -> Result<ExitCode, Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tenure", &mut text);
    print(&String::from_utf8_lossy(&text)).map(|()| ExitCode::SUCCESS)
}

/// The manual pages, one for the command and one for each subcommand, into a directory that is there.
pub(super) fn man(args: &Man) -> Result<ExitCode, Exit> {
    let cannot = |error| {
        Exit::new(Exit::REFUSED, format!("no page can be written to {}: {error}", args.directory.display()))
    };
    clap_mangen::generate_to(Cli::command(), &args.directory).map_err(cannot)?;
    Ok(ExitCode::SUCCESS)
}
