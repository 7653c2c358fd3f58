//! Checks the model, or serves it to a browser.

use clap::{Parser, Subcommand};
use model::Lease;
use model::check::{BROKEN, Known, THREE, THREE_SKEWED, TWO, explore, without};
use model::config::{Config, Variant};
use model::walk::shortest_break;
use stateright::Model;
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
    /// Explore every state, then take each rule away and show that a property breaks.
    Check,
    /// Serve two contenders to a browser, to walk through by hand.
    Explore {
        /// Take this rule away.
        #[arg(long)]
        variant: Option<Variant>,
        /// Where to listen.
        #[arg(long, default_value = "localhost:3000")]
        address: String,
    },
}

fn main() -> ExitCode {
    match Args::parse().command {
        Command::Check => check(),
        Command::Explore { variant, address } => {
            println!("http://{address}");
            let config = Config { variant, ..TWO.config };
            Lease::<2> { config }.checker().serve(address);
            ExitCode::SUCCESS
        }
    }
}

fn check() -> ExitCode {
    let explored = [
        closes("two contenders", &TWO),
        closes("three contenders, clocks that agree", &THREE),
        closes("three contenders", &THREE_SKEWED),
    ];
    println!("Each rule taken away, and the shortest run that breaks a property then:");
    let broken = BROKEN.map(|(variant, property, length)| breaks(variant, property, length));
    if explored.into_iter().chain(broken).all(|good| good) {
        println!("All as expected.");
        ExitCode::SUCCESS
    } else {
        println!("NOT as expected.");
        ExitCode::FAILURE
    }
}

fn closes<const N: usize>(name: &str, known: &Known<N>) -> bool {
    println!("All that can ever happen to {name}, TTL {}, skew {}:", known.config.ttl, known.config.skew);
    let explored = explore(known);
    println!("{explored}");
    let good = explored.is_as_known(known);
    if !good {
        println!("  EXPECTED generated {}, unique {}", known.generated, known.unique);
    }
    good
}

fn breaks(variant: Variant, property: &'static str, length: usize) -> bool {
    let run = shortest_break(&without(variant), property).unwrap_or_default();
    println!("{} breaks, in {} steps: {property}", variant.name(), run.len());
    run.iter().for_each(|action| println!("    {action}"));
    let good = run.len() == length;
    if !good {
        println!("    EXPECTED {length} steps; 0 says that nothing breaks");
    }
    good
}
