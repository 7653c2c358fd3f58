//! What asking `is_held()` costs beside a bare reading of the clock that it compares.

use crate::contest::on_disk;
use crate::figures::median;
use crate::watch::Watch;
use std::hint::black_box;
use tenure::Elector;
use tenure::clock::{Clock, SystemClock};

const CALLS: u32 = 100_000;
const TURNS: usize = 21;

/// Nanoseconds a call, at the median of turns that alternate.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// `is_held()`.
    pub is_held: f64,
    /// `SystemClock.local()`.
    pub clock: f64,
    /// The first divided by the second.
    pub ratio: f64,
}

/// Measures it.
pub fn measure() -> Belief {
    let directory = on_disk();
    let elector = Elector::builder(directory.path().join("leases.db")).build().expect("an elector");
    let held = elector.acquire("lease").wait().expect("a lease");
    let turns: Vec<_> = (0..TURNS)
        .map(|_| {
            (
                nanos(|| assert!(black_box(&held).is_held())),
                nanos(|| {
                    black_box(SystemClock.local());
                }),
            )
        })
        .collect();
    Belief {
        is_held: median(turns.iter().map(|turn| turn.0)),
        clock: median(turns.iter().map(|turn| turn.1)),
        ratio: median(turns.iter().map(|turn| turn.0 / turn.1)),
    }
}

fn nanos(call: impl Fn()) -> f64 {
    let watch = Watch::start();
    (0..CALLS).for_each(|_| call());
    watch.elapsed().as_nanos() as f64 / f64::from(CALLS)
}
