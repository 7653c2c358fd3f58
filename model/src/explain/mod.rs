//! A run of the model, drawn: for the terminal, and as an SVG picture.
//!
//! A [`Story`] has all that a picture needs, in words and numbers that are ready to be drawn. [`of_run`] makes one of
//! any run; [`story`] is the shortest run that shows what a rule is there for. Fences are shown as the numbers that a
//! store would have given out, not as the model's ranks.

mod fences;
mod notes;
mod shapes;
mod svg;
mod terminal;
mod timeline;
mod wires;
mod words;

#[cfg(test)]
mod tests;

pub use svg::svg;
pub use terminal::terminal;
pub use timeline::of_run;
pub use words::words;

use crate::broken::{self, BROKEN};
use crate::config::Variant;
use crate::properties::{HARMS, OUTCOMES};
use crate::walk::shortest_breaks;
use clap::ValueEnum;
use std::fmt::{Display, Formatter, Result};

/// A run, as it is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// Its heading.
    pub title: String,
    /// The TTL and what else is measured in ticks.
    pub times: String,
    /// What is below the picture, a paragraph each: what was taken away, what broke, and why.
    pub paragraphs: Vec<String>,
    /// The contenders.
    pub lanes: Vec<Lane>,
    /// The row in the beginning.
    pub row: String,
    /// What happens, one thing after the other.
    pub moments: Vec<Moment>,
    /// Who is concerned by what is wrong in the end, by lane.
    pub wrong: Vec<bool>,
    /// Whether the store is.
    pub store_wrong: bool,
    /// What the signs of the terminal mean.
    pub legend: [&'static str; 4],
}

/// A contender's lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// What is special about it from the beginning, such as a clock that is ahead.
    pub about: String,
}

/// One step of the run, and how things are after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// How many ticks have passed.
    pub time: u32,
    /// Whether it is a tick that passes.
    pub tick: bool,
    /// What concerns everybody: a fault.
    pub across: Option<String>,
    /// Each contender.
    pub strands: Vec<Strand>,
    /// What becomes of requests.
    pub wires: Vec<Wire>,
    /// What is to be said of the store: the row, if it has changed.
    pub store: Option<String>,
}

/// A contender at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strand {
    /// What it has.
    pub bar: Bar,
    /// Whether it wastes the tick that passes.
    pub idle: Idle,
    /// What it does, or what happens to it.
    pub note: String,
}

/// What a contender has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bar {
    /// It has ended, or crashed.
    Over,
    /// No tenure.
    Nothing,
    /// A tenure for which it may act, with this fence.
    Acts(String),
    /// A tenure that is over, with this fence; its work has not stopped.
    Remains(String),
}

impl Bar {
    /// Whether this is where a tenure begins, if that was before.
    pub fn begins(&self, before: Option<&Bar>) -> Option<&str> {
        match self {
            Bar::Acts(fence) if before != Some(self) => Some(fence),
            _ => None,
        }
    }
}

/// Why a contender does nothing while a tick passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// There is nothing to do.
    No,
    /// It could go on and does not, or its local clock stands still.
    Stalls,
    /// Its request is under way.
    Waits,
}

/// What becomes of a request, or of its reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wire {
    /// Whose it is, by lane.
    pub who: usize,
    /// What becomes of it.
    pub way: Way,
    /// What it asks for, or says.
    pub label: String,
}

/// What can become of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// It sets out.
    Sent,
    /// The store carries it out.
    CarriedOut,
    /// The store carries it out, although nobody waits for it any more.
    Late,
    /// Its reply arrives.
    Delivered,
    /// It is given up before it was carried out.
    RequestLost,
    /// It was carried out, and its reply is lost.
    ReplyLost,
}

/// The shortest run to the first harm that is done without this rule, or else to the first sign. `None` if nothing
/// breaks; [`why_nothing_breaks`] says why.
pub fn story(variant: Variant) -> Option<Story> {
    let broken = BROKEN.iter().find(|broken| broken.variant == variant)?;
    let among: &[&str] = match (broken.harm.1, broken.sign.1) {
        ([], []) => return None,
        ([], _) => &OUTCOMES,
        _ => &HARMS,
    };
    let lease = broken::without(variant);
    let breaks = shortest_breaks(&lease, among)?;
    let (property, run) = breaks.runs.first()?;
    let told = of_run(&lease.config, run, property);
    let rule = if broken.rule.starts_with('R') { "rule" } else { "a rule of section" };
    let mut paragraphs = vec![format!("Taken away, {rule} {}: {}.", broken.rule, description(variant))];
    paragraphs.extend(told.paragraphs);
    paragraphs.push(words(variant).to_owned());
    Some(Story { title: format!("{}: without {rule} {}", variant.name(), broken.rule), paragraphs, ..told })
}

/// Why a variant without a story has none.
pub fn why_nothing_breaks(variant: Variant) -> String {
    format!("{}: {}", variant.name(), words(variant))
}

/// What stands beside the variant: how the protocol behaves without the rule. Its number is said elsewhere.
pub fn description(variant: impl ValueEnum) -> String {
    let help = variant.to_possible_value().and_then(|value| value.get_help().map(ToString::to_string));
    let help = help.unwrap_or_default();
    let end = help.rfind(" (").unwrap_or(help.len());
    help[..end].to_owned()
}

impl Display for Story {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&terminal(self))
    }
}

/// Cuts a text into lines of at most so many characters, between words where it can.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
