//! Configurations, explored to the end, and held against what is known of them.
//!
//! The numbers of states are pinned: a change of the model that nobody meant shows as a change of a
//! number, and so does a run that ended early.

use crate::Lease;
use crate::config::{Config, Part};
use crate::state::Ticks;
use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, Expectation, Model};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// A configuration, and how many states and steps it has.
#[derive(Clone, Copy, Debug)]
pub struct Known<const N: usize> {
    /// What it is.
    pub name: &'static str,
    /// What to explore.
    pub config: Config,
    /// Steps, and the states to begin with.
    pub generated: usize,
    /// States.
    pub unique: usize,
    /// Within how many ticks after the last fault each contender can come to act, from wherever.
    pub wait: Ticks,
}

/// What goes wrong between any process and any store.
pub const CLASSIC: &[Part] = &[Part::Failures, Part::LateRequests, Part::Crashes, Part::Shutdowns];

/// Two contenders, with what goes wrong between any process and any store. The TTL is the least in which a renewal
/// has its place: 1 of 3 ticks is margin, and after 1 of the other 2 a holder renews.
pub const TWO: Known<2> =
    known("processes that die, requests that fail", Config::PLAIN.with(CLASSIC), (2_334_045, 263_238, 4));

/// Three contenders.
pub const THREE: Known<3> = Known {
    name: "three contenders that die and shut down",
    config: Config { fold: true, ..SMALL.with(&[Part::Crashes, Part::Shutdowns]) },
    generated: 2_475_792,
    unique: 266_901,
    wait: 2,
};

/// Three contenders with what goes wrong between any process and any store, and clocks that step: some minutes, and
/// some GB.
pub const LARGE: Known<3> = Known {
    name: "three contenders that die, requests that fail, clocks that step",
    config: Config { fold: true, ..Config::PLAIN.with(CLASSIC).with(&[Part::ClockSteps]) },
    generated: 485_749_285,
    unique: 30_904_552,
    wait: 4,
};

/// Two contenders with each part of the world at least once, as many at a time as can be explored in a moment.
pub const ALL: [Known<2>; 15] = [
    TWO,
    known(
        "wall clocks that step, within the bound",
        Config::PLAIN.with(&[Part::ClockSteps, Part::Failures, Part::LateRequests, Part::DroppedWork]),
        (686_833, 91_288, 2),
    ),
    known(
        "wall clocks that step beyond every bound, and rows that go by them",
        SMALL.with(&[Part::WrongClocks, Part::Failures, Part::FencedActs]),
        (3_050_509, 346_964, 0),
    ),
    known(
        "wall clocks that step beyond every bound, and rows that do not go by them",
        Config::PLAIN
            .with(&[Part::Observed, Part::WrongClocks, Part::LateRequests, Part::Crashes])
            .all_observe(),
        (4_634_107, 498_564, 4),
    ),
    known(
        "system A, somebody who observes, and clocks that step",
        Config::PLAIN.with(&[
            Part::SystemA,
            Part::Observed,
            Part::ClockSteps,
            Part::Failures,
            Part::LateRequests,
            Part::Crashes,
        ]),
        (2_638_763, 285_216, 5),
    ),
    known(
        "system A, and clocks that step",
        Config::PLAIN.with(&[
            Part::SystemA,
            Part::ClockSteps,
            Part::Failures,
            Part::LateRequests,
            Part::Crashes,
        ]),
        (1_906_905, 204_114, 5),
    ),
    known(
        "local clocks that drift",
        Config { skew: 0, ttl: 3, ..Config::PLAIN.with(&[Part::Drift, Part::Failures, Part::Crashes]) },
        (959_832, 127_444, 3),
    ),
    known(
        "power that fails, and writes that come true later",
        Config::PLAIN.with(&[Part::PowerLoss, Part::Recovery, Part::Failures, Part::LateRequests]),
        (1_969_611, 252_405, 3),
    ),
    known(
        "a store that goes back",
        SMALL.with(&[Part::Restore, Part::LateRequests, Part::Crashes]),
        (10_219_079, 1_430_433, 2),
    ),
    known(
        "a store that goes back under everybody, and a gate",
        SMALL.with(&[Part::LostFloors, Part::GatedActs]),
        (5_288_381, 1_035_580, 2),
    ),
    known(
        "a file that is replaced, a row that is garbled",
        Config::PLAIN.with(&[
            Part::Replacement,
            Part::UnreadableRow,
            Part::Failures,
            Part::LateRequests,
            Part::Crashes,
        ]),
        (1_012_576, 122_958, 4),
    ),
    known(
        "the integer's end",
        Config::PLAIN.with(&[Part::LastFence, Part::Failures, Part::Crashes]),
        (464_045, 73_227, 4),
    ),
    known(
        "acts in transactions",
        Config::PLAIN.with(&[Part::FencedActs, Part::Failures, Part::LateRequests, Part::DroppedWork]),
        (2_125_922, 301_397, 2),
    ),
    known("acts behind a gate", SMALL.with(&[Part::GatedActs, Part::Crashes]), (3_894_401, 539_335, 2)),
    known(
        "acts that nothing checks",
        Config::PLAIN.with(&[Part::UnfencedActs, Part::Crashes]),
        (2_760_608, 394_436, 3),
    ),
];

/// Where no clock differs, a renewal has its place in a TTL of two ticks.
pub const SMALL: Config = Config { ttl: 2, skew: 0, ..Config::PLAIN };

const fn known(
    name: &'static str,
    config: Config,
    (generated, unique, wait): (usize, usize, Ticks),
) -> Known<2> {
    Known { name, config, generated, unique, wait }
}

/// What the checker found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Steps, and the states to begin with.
    pub generated: usize,
    /// States.
    pub unique: usize,
    /// How many states the longest of the shortest runs to a state has.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// The properties, each with whether it came out as it should.
    pub properties: Vec<(Expectation, &'static str, bool)>,
}

impl Explored {
    /// Whether everything is as it should be.
    pub fn is_as_known(&self, generated: usize, unique: usize) -> bool {
        (self.generated, self.unique) == (generated, unique)
            && self.properties.iter().all(|(_, _, good)| *good)
    }
}

/// Explores all states with stateright's checker. One thread, breadth first: a depth-first checker keeps a path of
/// thousands of steps for each state ahead of it, and a second thread does not pay for states this cheap.
///
/// The checker would stop early if every property had been decided by an example or a
/// counterexample; as long as one that must always hold does hold, it goes to the end.
pub fn explore<const N: usize>(config: Config) -> Explored {
    explore_all(Lease::<N>::new(config))
}

/// The same of any model.
pub(crate) fn explore_all<M>(model: M) -> Explored
where
    M: Model<State: fmt::Debug + Clone + Eq + Hash + Send + Sync, Action: fmt::Debug + Clone + Eq>
        + Send
        + Sync
        + 'static,
{
    let mut watch = Watch(Duration::ZERO);
    let checker = model.checker().spawn_bfs();
    let checker = checker.join_and_report(&mut watch);
    let found = checker.discoveries();
    let properties = checker.model().properties().into_iter().map(|property| {
        let good = match property.expectation {
            Expectation::Always => !found.contains_key(property.name),
            Expectation::Sometimes | Expectation::Eventually => found.contains_key(property.name),
        };
        (property.expectation, property.name, good)
    });
    Explored {
        generated: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: watch.0,
        properties: properties.collect(),
    }
}

/// Keeps how long the checker says it took, and shows a person how far it is.
struct Watch(Duration);

impl<M: Model> Reporter<M> for Watch {
    fn report_checking(&mut self, data: ReportData) {
        self.0 = data.duration;
        show_progress(data.unique_states, data.done);
    }

    fn report_discoveries(&mut self, _: &M, _: BTreeMap<&'static str, ReportDiscovery<M>>)
    where
        M::Action: fmt::Debug + PartialEq,
        M::State: fmt::Debug + Hash + PartialEq,
    {
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(50)
    }
}

/// A line that is written over, if somebody is there to see it.
pub fn show_progress(states: usize, done: bool) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let line = if done { String::new() } else { format!("{states} states…") };
        write!(out, "\r\x1b[K{line}").and_then(|()| out.flush()).ok();
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millions = self.generated as f32 / 1e6 / self.took.as_secs_f32().max(0.001);
        writeln!(
            f,
            "  {} steps, {} states, the farthest {} steps away, {:.1} s ({millions:.1} million steps a second)",
            self.generated,
            self.unique,
            self.depth,
            self.took.as_secs_f32()
        )?;
        for (expectation, name, good) in &self.properties {
            let verdict = if *good { "ok    " } else { "BROKEN" };
            let expected = match expectation {
                Expectation::Always => "in every state",
                Expectation::Sometimes | Expectation::Eventually => "as expected, in some state",
            };
            writeln!(f, "  {verdict} {expected}: {name}")?;
        }
        Ok(())
    }
}
