//! Measures contention for leases, and prints it as Markdown. README.md, in this directory, says how to read it.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a benchmark writes its plot, and stops where it fails"
)]

use benches::rounds::{Plan, Results};
use benches::{alone, belief, plot, process, table};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Parser)]
#[command(about = "Measures contention for leases, and prints it as Markdown")]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// How often every contest is held
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long each contest is, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    millis: u64,
    /// A few short contests: for right counting, not for speed
    #[arg(long, conflicts_with_all = ["rounds", "millis"])]
    short: bool,
    /// Where to draw the plot
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Subcommand)]
enum Part {
    /// Is one contender of many
    #[command(name = process::COMMAND, hide = true)]
    Contend(process::Orders),
}

impl Arguments {
    fn plan(&self) -> Plan {
        let Self { rounds, millis, short, .. } = *self;
        let all = Plan { rounds, time: Duration::from_millis(millis), sizes: &[1, 2, 4, 8, 16] };
        if short { Plan::SHORT } else { all }
    }
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(Part::Contend(orders)) = arguments.part {
        return process::serve(&orders);
    }
    let plan = arguments.plan();
    let (belief, alone) = (belief::measure(), alone::measure(10 * plan.time));
    let results = Results::measure(&plan, |round| eprintln!("round {} of {}", round + 1, plan.rounds));
    print!("{}", table::markdown(&plan, &alone, &results, belief));
    if let Some(file) = arguments.svg {
        std::fs::write(file, plot::svg(&plan, &results)).expect("the plot is written");
    }
}
