//! Traces that failed once, as text: the world, then what is tried, line by line.

use super::blackout::Blackout;
use super::trace::{Try, World};
use clap::ValueEnum;
use model::actions::Action;
use model::config::Part;
use std::collections::HashMap;
use std::fmt::Write;

/// A trace as it is kept.
pub(super) fn written(world: &World, trace: &[Try]) -> String {
    let parts: String = world.parts.iter().map(|part| format!(" {}", part.name())).collect();
    let (mode, looks) =
        (if world.wal { "wal" } else { "delete" }, if world.looks { "look" } else { "do-not-look" });
    let mut text = format!("{} {mode} {looks}{parts}\n", world.contenders);
    for attempt in trace {
        writeln!(text, "{attempt:?}").expect("a string takes all");
    }
    text
}

/// Reads what is kept.
fn read(text: &str) -> Option<(World, Vec<Try>)> {
    let actions: HashMap<String, Action> =
        Action::all(5).map(|action| (format!("{action:?}"), action)).collect();
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ');
    let contenders = words.next()?.parse().ok()?;
    let (wal, looks) = (words.next()? == "wal", words.next()? == "look");
    let parts = words.map(|word| Part::from_str(word, false).ok()).collect::<Option<_>>()?;
    let attempt = |line: &str| {
        let (action, befalls) = line.split_once(" while ").map_or((line, None), |(a, b)| (a, Some(b)));
        let of = |name: &str| Blackout::ALL.into_iter().find(|blackout| format!("{blackout:?}") == name);
        let befalls = match befalls {
            Some(name) => Some(of(name)?),
            None => None,
        };
        Some(Try { action: *actions.get(action)?, befalls })
    };
    let trace = lines.map(attempt).collect::<Option<_>>()?;
    Some((World { contenders, wal, looks, parts }, trace))
}

/// All that are kept, each with its name.
pub(super) fn all() -> Vec<(String, (World, Vec<Try>))> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/kept");
    let files = std::fs::read_dir(folder).expect("the folder of kept traces");
    let mut all: Vec<_> = files
        .map(|file| {
            let path = file.expect("a file").path();
            let (name, text) = (path.display().to_string(), std::fs::read_to_string(&path).expect("a text"));
            let trace = read(&text).unwrap_or_else(|| panic!("{name} is no trace"));
            assert_eq!(written(&trace.0, &trace.1), text, "{name} says what it was read as");
            (name, trace)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}
