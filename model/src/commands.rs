//! What the command prints. Each of these says whether all was as expected.

use clap::ValueEnum;
use model::Lease;
use model::broken::{BROKEN, Broken, Soonest, find, setting};
use model::check::{ALL, CLASSIC, Explored, Known, LARGE, THREE, explore as run_checker, show_progress};
use model::config::{Config, Part, Variant};
use model::guard::{check as guards, config::Variant as GuardVariant, story};
use model::pairs::{self, Pair};
use model::progress::measure;
use model::survey::survey;
use stateright::Model;
use std::path::Path;
use std::sync::Mutex;

pub(crate) fn check() -> bool {
    println!("Every state of each configuration; times are in ticks.");
    let two = ALL.map(|known| closes(&known));
    let three = closes(&THREE);
    println!(
        "\nEach rule taken away: the first sign, and the first harm, with the length of the shortest run."
    );
    let broken = BROKEN.map(breaks);
    println!("\nThe instance guard, in the same way.");
    let guard = guards::ALL.map(|known| guard_closes::<2>(&known));
    let three_guards = guard_closes::<3>(&guards::THREE);
    let unguarded = guards::BROKEN.map(guard_breaks);
    let lease = two.into_iter().chain([three]).chain(broken);
    verdict(lease.chain(guard).chain([three_guards]).chain(unguarded).all(|good| good))
}

fn guard_closes<const N: usize>(known: &guards::Known) -> bool {
    let explored = guards::explore::<N>(known.config);
    print!("{}: TTL {}, settle time {}\n{explored}", known.name, known.config.ttl, known.config.settle);
    let good = explored.is_as_known(known.generated, known.unique);
    if !good {
        println!("  EXPECTED {} steps, {} states", known.generated, known.unique);
    }
    good
}

fn guard_breaks(known: guards::Broken) -> bool {
    let found = guards::find(known.variant);
    let told =
        found.map_or("nothing".to_owned(), |(length, property)| format!("{property} ({length} steps)"));
    println!("  {:<22} {:<6} {told}", known.variant.name(), known.rule);
    let good = found == Some((known.length, known.property));
    if !good {
        println!("    EXPECTED {} ({} steps)", known.property, known.length);
    }
    good
}

pub(crate) fn guard(variant: Option<GuardVariant>) -> bool {
    let story = match variant {
        Some(variant) => story::without(variant),
        None => story::race(),
    };
    story.iter().for_each(|story| print!("{story}"));
    story.is_some()
}

fn verdict(good: bool) -> bool {
    println!("{}", if good { "All as expected." } else { "NOT as expected." });
    good
}

fn closes<const N: usize>(known: &Known<N>) -> bool {
    println!("{}: TTL {}, skew {}", known.name, known.config.ttl, known.config.skew);
    let explored: Explored = run_checker::<N>(known.config);
    print!("{explored}");
    let progress = measure(&Lease::<N>::new(known.config), |_| ());
    println!(
        "  each contender can come to act within {} ticks, from wherever ({} states wait for a person)",
        progress.longest, progress.waiting
    );
    let good = explored.is_as_known(known.generated, known.unique) && progress.is_good(known.wait);
    if !good {
        println!("  EXPECTED generated {}, unique {}, wait {}", known.generated, known.unique, known.wait);
    }
    good
}

fn breaks(known: Broken) -> bool {
    let [sign, harm] = find(known.variant);
    let tell = |(length, properties): &(usize, Vec<&str>)| match properties[..] {
        [] => "nothing".to_owned(),
        _ => format!("{} ({length} steps)", properties.join(" + ")),
    };
    println!("  {:<22} {:<6} {}; {}", known.variant.name(), known.place(), tell(&sign), tell(&harm));
    let as_known = |found: &(usize, Vec<&str>), known: Soonest| (found.0, &found.1[..]) == known;
    let good = as_known(&sign, known.sign) && as_known(&harm, known.harm);
    if !good {
        println!("    EXPECTED {:?}; {:?}", known.sign, known.harm);
    }
    good
}

pub(crate) fn check_large() -> bool {
    println!("{}: TTL {}, skew {}", LARGE.name, LARGE.config.ttl, LARGE.config.skew);
    let found =
        survey(&Lease::<3>::new(LARGE.config), |known, _| show_progress(known, false), |_, _, _, _| ());
    show_progress(0, true);
    println!("  generated {}, unique {}, depth {}", found.generated, found.unique, found.depth);
    found.wrong.iter().for_each(|property| println!("  BROKEN: {property}"));
    let as_known = (found.generated, found.unique) == (LARGE.generated, LARGE.unique);
    if !as_known {
        println!("  EXPECTED generated {}, unique {}", LARGE.generated, LARGE.unique);
    }
    verdict(as_known && found.wrong.is_empty())
}

/// Two at a time, as there are two cores; the last ones first, for they are the largest.
pub(crate) fn check_pairs() -> bool {
    let ahead = Mutex::new(pairs::all());
    let done = Mutex::new(Vec::new());
    let next = || ahead.lock().ok()?.pop();
    let work = || {
        while let Some(parts) = next() {
            let pair = pairs::explore(parts);
            println!("{}", told(&pair));
            done.lock().map(|mut done| done.push(pair)).ok();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let done = done.into_inner().unwrap_or_default();
    print!("{}", table(&done));
    verdict(done.len() == pairs::all().len() && done.iter().all(Pair::is_good))
}

fn told(pair: &Pair) -> String {
    let [one, other] = pair.parts.map(Part::name);
    let met = if pair.met { "" } else { ", which have NOT met" };
    let wrong: String = pair.survey.wrong.iter().map(|property| format!("; BROKEN: {property}")).collect();
    format!("{one} and {other}{met}: {} states, {} steps{wrong}", pair.survey.unique, pair.survey.generated)
}

/// A line and a column for each part: the number of states in which both can happen.
fn table(done: &[Pair]) -> String {
    let parts = Part::value_variants();
    let cell = |one: Part, other: Part| {
        let pair = done.iter().find(|pair| pair.parts == [one, other] || pair.parts == [other, one]);
        match pair {
            Some(pair) if pair.is_good() => rounded(pair.survey.unique),
            Some(_) => "WRONG".to_owned(),
            None => "·".to_owned(),
        }
    };
    let head: String = (1..=parts.len()).map(|number| format!("{number:>6}")).collect();
    let rows = parts.iter().zip(1..).map(|(one, number)| {
        let cells: String = parts.iter().map(|other| format!("{:>6}", cell(*one, *other))).collect();
        format!("{number:>2} {:<16}{cells}\n", one.name())
    });
    format!("\nStates of each pair:\n{:19}{head}\n{}", "", rows.collect::<String>())
}

fn rounded(states: usize) -> String {
    match states {
        0..10_000 => states.to_string(),
        10_000..1_000_000 => format!("{}k", states / 1_000),
        _ => format!("{:.1}M", states as f32 / 1e6),
    }
}

pub(crate) fn explain(variant: Variant, svg: Option<&Path>) -> bool {
    let Some(story) = model::explain::story(variant) else {
        println!("{}", model::explain::why_nothing_breaks(variant));
        return true;
    };
    print!("{story}");
    let Some(file) = svg else { return true };
    #[expect(clippy::disallowed_methods, reason = "the user asked for this file")]
    let written = std::fs::write(file, model::explain::svg(&story));
    if let Err(error) = &written {
        eprintln!(
            "{} cannot be written: {error}; name a file in a directory that may be written to",
            file.display()
        );
    }
    written.is_ok()
}

pub(crate) fn explore(variant: Option<Variant>, with: &[Part], address: &str) -> bool {
    if let Err(error) = std::net::TcpListener::bind(address) {
        eprintln!("{address} cannot be listened on: {error}; choose another with --address");
        return false;
    }
    println!("http://{address}");
    let parts = if with.is_empty() { CLASSIC } else { with };
    let config = variant.map_or(Config::PLAIN.with(parts), setting);
    Lease::<2>::new(config).checker().serve(address);
    true
}
