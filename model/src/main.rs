//! Checks the model, or serves it to a browser.

use clap::{Parser, Subcommand};
use model::Lease;
use model::check::{BROKEN, Known, THREE, THREE_SKEWED, TWO, explore, without};
use model::config::{Config, Variant};
use model::state::State;
use model::walk::{Run, shortest_break};
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
            if let Err(error) = std::net::TcpListener::bind(&address) {
                eprintln!("{address} cannot be listened on: {error}; choose another with --address");
                return ExitCode::FAILURE;
            }
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
    println!("Each rule taken away, and the shortest run that breaks a property then. Times are in ticks;");
    println!("a reply that is `good for 2` lets its contender believe for 2 ticks more if it comes now.");
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
    let lease = without(variant);
    let run = shortest_break(&lease, property);
    let steps = run.as_ref().map(|run| run.actions.len());
    match run {
        Some(run) => tell(&lease, variant, property, &run),
        None => println!("{} breaks NOTHING", variant.name()),
    }
    let good = steps == Some(length);
    if !good {
        println!("    EXPECTED {length} steps");
    }
    good
}

/// What happens, and after what cannot be seen from that, how things stand: at first, after each change that the
/// store makes, and in the end.
fn tell(lease: &Lease<2>, variant: Variant, property: &str, run: &Run<2>) {
    println!("{} breaks, in {} steps: {property}", variant.name(), run.actions.len());
    let mut state = run.begin;
    show(&state);
    for (step, action) in run.actions.iter().enumerate() {
        println!("    {action}");
        let Some(next) = state.after(&lease.config, *action) else { return };
        if next.row != state.row || step + 1 == run.actions.len() {
            show(&next);
        }
        state = next;
    }
}

fn show(state: &State<2>) {
    format!("{state:?}").lines().for_each(|line| println!("        | {line}"));
}
