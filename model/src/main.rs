//! Checks the model, explains what a broken rule leads to, or serves the model to a browser.

mod commands;

use clap::{Parser, Subcommand};
use model::config::{Part, Variant};
use model::guard::config::Variant as GuardVariant;
use std::path::PathBuf;
use std::process::ExitCode;

/// The model of Tenure's protocol.
#[derive(Parser)]
#[command(name = "model")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Explore every state of each configuration, then take each rule away and show that something breaks.
    Check {
        /// Instead, let every two parts of the world meet, each pair explored to the end: some minutes, and some GB of
        /// memory.
        #[arg(long, conflicts_with = "large")]
        pairs: bool,
        /// Instead, explore the largest configuration: some minutes, and some GB of memory.
        #[arg(long)]
        large: bool,
    },
    /// Show the shortest run that goes wrong without a rule, as a timeline.
    Explain {
        /// The rule that is taken away.
        variant: Variant,
        /// Also draw it into this file.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Show how two instances come to run beside each other, although each has its guard: the shortest run, as a timeline.
    Guard {
        /// Instead, what goes wrong without this rule of the guard.
        variant: Option<GuardVariant>,
    },
    /// Serve two contenders to a browser, to walk through by hand.
    Explore {
        /// Take this rule away.
        #[arg(long)]
        variant: Option<Variant>,
        /// What can happen, instead of what fails between any process and any store.
        #[arg(long, value_name = "PART,…", value_delimiter = ',', conflicts_with = "variant")]
        with: Vec<Part>,
        /// Where to listen.
        #[arg(long, default_value = "localhost:3000")]
        address: String,
    },
}

fn main() -> ExitCode {
    let good = match Args::parse().command {
        Command::Check { pairs: true, .. } => commands::check_pairs(),
        Command::Check { large: true, .. } => commands::check_large(),
        Command::Check { .. } => commands::check(),
        Command::Explain { variant, svg } => commands::explain(variant, svg.as_deref()),
        Command::Guard { variant } => commands::guard(variant),
        Command::Explore { variant, with, address } => commands::explore(variant, &with, &address),
    };
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
