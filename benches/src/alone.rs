//! What a tenure costs whom nobody disturbs, beside the same written by hand. A disk that is slow for some seconds spoils
//! any comparison that takes as long, so each turn is one tenure of each kind, each time another first.

use crate::contender::{Arena, Contender, Kind};
use crate::contest::{make, on_disk};
use crate::watch::Watch;
use std::time::Duration;

const KINDS: [Kind; 3] = [Kind::ByHand, Kind::Store, Kind::Tenure];

/// Quarters of something over all turns.
#[derive(Clone, Copy, Debug)]
pub struct Quarters<T> {
    /// A quarter is below.
    pub lower: T,
    /// Half is below.
    pub median: T,
    /// Three quarters are below.
    pub upper: T,
}

/// One kind's acquire with its release.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// Which.
    pub kind: Kind,
    /// What it took.
    pub took: Quarters<Duration>,
    /// What it took by hand in the same turn, divided by that: the share of hand-written code's speed.
    pub share: Quarters<f64>,
}

/// Measures each kind for a third of that time or so.
pub fn measure(time: Duration) -> Vec<Alone> {
    let (watch, directory) = (Watch::start(), on_disk());
    let mut contenders = KINDS.map(|kind| {
        let file = directory.path().join(kind.name());
        make(&file);
        Arena::new(kind, &file).contender("lease")
    });
    let mut turns = Vec::new();
    while turns.is_empty() || watch.elapsed() < time {
        turns.push(turn(&mut contenders, turns.len()));
    }
    KINDS.into_iter().enumerate().map(|(index, kind)| alone(kind, index, &turns)).collect()
}

fn turn(contenders: &mut [Box<dyn Contender>; 3], number: usize) -> [Duration; 3] {
    let mut took = [Duration::ZERO; 3];
    for place in 0..3 {
        let index = (number + place) % 3;
        let watch = Watch::start();
        contenders[index].try_acquire().expect("nobody else contends");
        contenders[index].release();
        took[index] = watch.elapsed();
    }
    took
}

fn alone(kind: Kind, index: usize, turns: &[[Duration; 3]]) -> Alone {
    let took = quarters(turns.iter().map(|turn| turn[index]));
    let share = quarters(turns.iter().map(|turn| turn[0].as_secs_f64() / turn[index].as_secs_f64()));
    Alone { kind, took, share }
}

fn quarters<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> Quarters<T> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    let [lower, median, upper] = [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4]);
    Quarters { lower, median, upper }
}
