//! Running the checker to the end, and holding what it finds against what is known.
//!
//! The numbers of states are pinned: a change of the model that nobody meant shows as a change of a
//! number, and so does a run that ended early.

use crate::Lease;
use crate::config::{Config, Variant};
use crate::properties::{
    BELIEF_IS_BACKED, GRANTS_RISE, NONE_UNWANTED, ONE_BELIEVES, ONE_TENURE_A_FENCE, RELEASED_IS_STOPPED,
    RELEASED_STAYS,
};
use crate::state::State;
use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, Expectation, Model};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A configuration, and how many states and steps it has.
#[derive(Clone, Copy, Debug)]
pub struct Known<const N: usize> {
    /// What to explore.
    pub config: Config,
    /// Steps, and the states to begin with.
    pub generated: usize,
    /// States.
    pub unique: usize,
}

/// Two contenders, everything at once. The TTL is the least in which a renewal has its place: 1 of 3
/// ticks is margin, and after 1 of the other 2 a holder renews.
pub const TWO: Known<2> = Known {
    config: Config { ttl: 3, skew: 1, fold: false, variant: None },
    generated: 1_275_179,
    unique: 155_953,
};

/// Three contenders, everything at once but clocks that differ.
pub const THREE: Known<3> = Known {
    config: Config { ttl: 2, skew: 0, fold: true, variant: None },
    generated: 8_926_238,
    unique: 769_087,
};

/// Three contenders, everything at once. Takes a minute or two.
pub const THREE_SKEWED: Known<3> = Known {
    config: Config { ttl: 3, skew: 1, fold: true, variant: None },
    generated: 95_328_556,
    unique: 8_104_197,
};

/// For each variant a property that it breaks, and the length of the shortest run that does.
pub const BROKEN: [(Variant, &str, usize); 12] = [
    (Variant::NoIncrement, GRANTS_RISE, 7),
    (Variant::ReleaseDeletes, GRANTS_RISE, 10),
    (Variant::DeadlineFromReply, ONE_BELIEVES, 10),
    (Variant::NoMargin, ONE_BELIEVES, 10),
    (Variant::ReleaseFirst, RELEASED_IS_STOPPED, 6),
    (Variant::RenewsTheFree, RELEASED_STAYS, 11),
    (Variant::CheckThenWrite, ONE_BELIEVES, 8),
    (Variant::UnboundAcquire, BELIEF_IS_BACKED, 8),
    (Variant::LateReplyRevives, ONE_TENURE_A_FENCE, 9),
    (Variant::OwnRowBelieved, ONE_TENURE_A_FENCE, 9),
    (Variant::HoldsUnwanted, NONE_UNWANTED, 5),
    (Variant::SharedId, ONE_TENURE_A_FENCE, 6),
];

/// The configuration in which the variants are tried.
pub fn without(variant: Variant) -> Lease<2> {
    Lease { config: Config { variant: Some(variant), ..TWO.config } }
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
    pub fn is_as_known<const N: usize>(&self, known: &Known<N>) -> bool {
        (self.generated, self.unique) == (known.generated, known.unique)
            && self.properties.iter().all(|(_, _, good)| *good)
    }
}

/// Explores all states. One thread, breadth first: a depth-first checker keeps a path of thousands of
/// steps for each state ahead of it, and a second thread does not pay for states this cheap.
///
/// The checker would stop early if every property had been decided by an example or a
/// counterexample; as long as one that must always hold does hold, it goes to the end.
pub fn explore<const N: usize>(known: &Known<N>) -> Explored {
    let mut watch = Watch(Duration::ZERO);
    let checker = Lease::<N> { config: known.config }.checker().spawn_bfs();
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

/// Keeps how long the checker says it took, and nothing else of its report.
struct Watch(Duration);

impl<const N: usize> Reporter<Lease<N>> for Watch {
    fn report_checking(&mut self, data: ReportData) {
        self.0 = data.duration;
    }

    fn report_discoveries(&mut self, _: &Lease<N>, _: BTreeMap<&'static str, ReportDiscovery<Lease<N>>>)
    where
        State<N>: fmt::Debug,
    {
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(50)
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  generated {}, unique {}, depth {}, {:.1} s",
            self.generated,
            self.unique,
            self.depth,
            self.took.as_secs_f32()
        )?;
        for (expectation, name, good) in &self.properties {
            let verdict = if *good { "ok    " } else { "BROKEN" };
            writeln!(f, "  {verdict} {expectation:?}: {name}")?;
        }
        Ok(())
    }
}
