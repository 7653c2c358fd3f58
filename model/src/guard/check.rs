//! Configurations, explored to the end, and held against what is known of them; and what becomes of the guard without each
//! of its rules.

use super::Guard;
use super::config::{Config, Variant};
use super::properties::{HEALS, NOTHING_LEFT, ONE_RUNS, REFUSED, UNREADABLE_REFUSED};
use super::walk::first_break;
use crate::check::{Explored, explore_all};

/// No write rests on a read that is as old as the settle time: fewer ticks pass between the two.
pub const PROMPT: Config = Config { ttl: 6, settle: 2, delay: Some(1), ..Config::PLAIN };

/// A configuration, and how many steps and states it has.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What it is.
    pub name: &'static str,
    /// What to explore.
    pub config: Config,
    /// Steps, and the state to begin with.
    pub generated: usize,
    /// States.
    pub unique: usize,
}

const fn known(name: &'static str, config: Config, (generated, unique): (usize, usize)) -> Known {
    Known { name, config, generated, unique }
}

/// What is explored.
pub const ALL: [Known; 10] = [
    known(
        "no write as late as the settle time; whatever else can go wrong",
        Config { failures: true, late: true, crashes: true, garbled: true, ..PROMPT },
        (13_009_898, 1_515_467),
    ),
    known("a write as late as the settle time", Config { delay: Some(2), ..PROMPT }, (706_270, 145_310)),
    known(
        "no settle time, and no write late",
        Config { settle: 0, delay: Some(0), ..PROMPT },
        (91_005, 20_083),
    ),
    known(
        "anything takes any time; crashes, garbled records",
        Config { crashes: true, garbled: true, ..Config::PLAIN },
        (2_608_503, 335_488),
    ),
    known(
        "anything takes any time; failures",
        Config { failures: true, ..Config::PLAIN },
        (3_235_764, 552_491),
    ),
    known(
        "failures, and what failed comes true a little later",
        Config { failures: true, late: true, delay: Some(1), ..Config::PLAIN },
        (10_910_000, 1_873_062),
    ),
    known("a clock a little ahead", Config { ahead: 1, crashes: true, ..PROMPT }, (3_432_036, 498_879)),
    known("a clock ahead by almost a TTL", Config { ahead: 5, ..PROMPT }, (3_612_020, 712_641)),
    known(
        "both run, and all goes on from then on",
        Config { goes_on: true, failures: true, ..Config::PLAIN },
        (3_114_090, 532_119),
    ),
    known(
        "both run, and all goes on from then on, but for what is late",
        Config { goes_on: true, failures: true, late: true, delay: Some(1), ..Config::PLAIN },
        (10_526_477, 1_803_570),
    ),
];

/// Three instances, of which no write comes late at all.
pub const THREE: Known = known(
    "three instances, and no write late",
    Config { ttl: 3, settle: 1, delay: Some(0), ..Config::PLAIN },
    (11_028_079, 1_568_597),
);

/// Explores all states with stateright's checker.
pub fn explore<const N: usize>(config: Config) -> Explored {
    explore_all(Guard::<N> { config })
}

/// What breaks without a rule.
#[derive(Clone, Copy, Debug)]
pub struct Broken {
    /// The rule that is taken away.
    pub variant: Variant,
    /// Its number in SPEC.md.
    pub rule: &'static str,
    /// How long the shortest run is that breaks something.
    pub length: usize,
    /// What it breaks.
    pub property: &'static str,
}

const fn breaks(variant: Variant, rule: &'static str, length: usize, property: &'static str) -> Broken {
    Broken { variant, rule, length, property }
}

/// For each variant what it breaks, and how soon.
#[rustfmt::skip] // a table
pub const BROKEN: [Broken; 17] = [
    breaks(Variant::NoLook, "G1.1", 16, ONE_RUNS),
    breaks(Variant::JudgedLate, "G1.2", 20, REFUSED),
    breaks(Variant::UnreadableFree, "G2.1", 11, UNREADABLE_REFUSED),
    breaks(Variant::FailureFree, "G2.2", 20, ONE_RUNS),
    breaks(Variant::NoReadBack, "G3.1", 10, ONE_RUNS),
    breaks(Variant::SettleFromSend, "G3.2", 19, ONE_RUNS),
    breaks(Variant::AbsentStands, "G3.3", 29, ONE_RUNS),
    breaks(Variant::ExpiredStands, "G3.4", 28, ONE_RUNS),
    breaks(Variant::RenewsUnchecked, "G4.1", 29, HEALS),
    breaks(Variant::UntilFromReply, "G5.1", 28, ONE_RUNS),
    breaks(Variant::FailureExtends, "G5.2", 28, ONE_RUNS),
    breaks(Variant::LateReplyRevives, "G5.3", 28, ONE_RUNS),
    breaks(Variant::RetriesAtOnce, "G5.4", 40, ONE_RUNS),
    breaks(Variant::SightingKept, "G6.2", 29, REFUSED),
    breaks(Variant::RemovesUnseen, "G7.1", 27, ONE_RUNS),
    breaks(Variant::RemovesAtOnce, "G7.2", 7, NOTHING_LEFT),
    breaks(Variant::FailureForgotten, "G7.3", 6, NOTHING_LEFT),
];

/// The configuration in which a variant is tried: the smallest that has what its rule is there for.
pub fn setting(variant: Variant) -> Config {
    let config = match variant {
        Variant::UnreadableFree => Config { garbled: true, ..PROMPT },
        Variant::FailureFree | Variant::FailureExtends | Variant::FailureForgotten => {
            Config { failures: true, ..PROMPT }
        }
        Variant::RetriesAtOnce => Config { failures: true, late: true, ..PROMPT },
        Variant::RenewsUnchecked => Config { goes_on: true, ..Config::PLAIN },
        Variant::SightingKept => Config { ahead: 1, ..PROMPT },
        _ => PROMPT,
    };
    Config { variant: Some(variant), ..config }
}

/// What a variant breaks soonest, as it is found: how long the run is, and the property.
pub fn find(variant: Variant) -> Option<(usize, &'static str)> {
    let (property, run) = first_break(&Guard { config: setting(variant) })?;
    Some((run.len(), property))
}

/// The number of the rule that a variant takes away.
pub fn rule(variant: Variant) -> &'static str {
    BROKEN.iter().find(|broken| broken.variant == variant).map_or("", |broken| broken.rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::properties::HEALS_LATE;
    use crate::guard::walk::Walk;
    use clap::ValueEnum;

    #[test]
    fn the_guard_is_as_safe_as_it_says_and_no_safer() {
        let two = ALL.iter().map(|known| (known, explore::<2>(known.config)));
        let all = two.chain([(&THREE, explore::<3>(THREE.config))]);
        let wrong = all.filter_map(|(known, explored)| {
            println!("{}:\n{explored}", known.name);
            (!explored.is_as_known(known.generated, known.unique))
                .then(|| format!("{}:\n{explored}", known.name))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_rule_of_the_guard_is_needed_as_the_table_says() {
        assert_eq!(BROKEN.map(|broken| broken.variant), Variant::value_variants());
        let found = BROKEN.map(|broken| (broken.variant, find(broken.variant)));
        let known = BROKEN.map(|broken| (broken.variant, Some((broken.length, broken.property))));
        assert_eq!(found, known);
    }

    #[test]
    fn with_its_rule_the_same_world_is_safe() {
        for variant in Variant::value_variants() {
            let guard = Guard { config: Config { variant: None, ..setting(*variant) } };
            assert_eq!(first_break(&guard), None, "{variant:?}");
        }
    }

    /// Of the rules above none breaks it, as each is tried where it breaks something sooner.
    #[test]
    fn that_two_are_one_again_needs_the_check_also_where_something_is_late() {
        let late = ALL[9].config;
        assert!(late.goes_on && late.late);
        let guard = Guard { config: Config { variant: Some(Variant::RenewsUnchecked), ..late } };
        let (property, run) = first_break(&guard).unwrap();
        assert_eq!((property, run.len()), (HEALS_LATE, 37));
    }

    /// Otherwise a property could hold because what it forbids is never tried.
    #[test]
    fn everything_that_can_happen_happens() {
        let mut missing: std::collections::HashSet<_> = super::super::actions::Action::all(2).collect();
        for known in &ALL[3..6] {
            Walk::through(
                &Guard { config: known.config },
                |_| false,
                |_, action, _| {
                    missing.remove(&action);
                },
            );
        }
        assert!(missing.is_empty(), "{missing:?}");
    }
}
