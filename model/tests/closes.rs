//! The model holds, and it bites.

use clap::ValueEnum;
use model::Lease;
use model::actions::Action;
use model::check::{BROKEN, Known, THREE, TWO, explore, without};
use model::config::{Config, Variant};
use model::walk::{every_step, shortest_break};
use stateright::{Expectation, Model};
use std::collections::HashSet;
use std::io::Write;

fn closes<const N: usize>(known: &Known<N>) {
    let explored = explore(known);
    // Not with `println!`, which a test that passes swallows.
    writeln!(std::io::stdout(), "{N} contenders:\n{explored}").ok();
    assert!(explored.is_as_known(known), "{explored}");
}

#[test]
fn two_contenders_are_safe_for_ever() {
    closes(&TWO);
}

#[test]
fn three_contenders_are_safe_for_ever() {
    closes(&THREE);
}

/// The checker knows states by a hash of 64 bits, the walk by themselves.
#[test]
fn a_second_count_agrees() {
    let lease = Lease::<2> { config: TWO.config };
    let mut generated = lease.init_states().len();
    let unique = every_step(&lease, |_, _, _| generated += 1);
    assert_eq!((generated, unique), (TWO.generated, TWO.unique));
}

/// Otherwise a property could hold because what it forbids is never tried.
#[test]
fn everything_that_can_happen_happens() {
    let mut seen = HashSet::new();
    every_step(&Lease::<2> { config: TWO.config }, |_, action, _| {
        seen.insert(format!("{action:?}"));
    });
    let missing = Action::all(2).filter(|action| !seen.contains(&format!("{action:?}")));
    assert_eq!(missing.collect::<Vec<_>>(), []);
}

#[test]
fn folding_loses_no_verdict() {
    let folded = Known::<2> { config: Config { fold: true, ..TWO.config }, ..TWO };
    let (folded, whole) = (explore(&folded), explore(&TWO));
    assert_eq!(folded.properties, whole.properties);
    assert!(folded.unique < whole.unique);
}

#[test]
fn every_rule_is_needed() {
    for (variant, property, length) in BROKEN {
        let run = shortest_break(&without(variant), property);
        assert_eq!(run.map(|run| run.actions.len()), Some(length), "{variant:?}");
    }
}

#[test]
fn every_variant_is_tried() {
    assert_eq!(BROKEN.map(|(variant, _, _)| variant), Variant::value_variants());
}

/// A property that nothing can break says nothing.
#[test]
fn every_property_can_be_broken() {
    let lease = Lease::<2> { config: TWO.config };
    let always = lease.properties().into_iter().filter(|p| p.expectation == Expectation::Always);
    for property in always {
        assert!(BROKEN.iter().any(|(_, broken, _)| *broken == property.name), "{}", property.name);
    }
}
