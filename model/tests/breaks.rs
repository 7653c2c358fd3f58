//! The model bites: without each of its rules something breaks, and each property can be broken.

use clap::ValueEnum;
use model::Lease;
use model::broken::{BROKEN, find, soonest, without};
use model::check::ALL;
use model::config::Variant;
use model::survey::survey;
use stateright::{Expectation, Model};
use std::collections::BTreeSet;

/// Of a variant that breaks nothing this says that no run does, of any length: all its states were seen.
#[test]
fn every_rule_is_needed_as_the_table_says() {
    let wrong = BROKEN.iter().filter_map(|known| {
        let [sign, harm] = find(known.variant);
        let as_known = [known.sign, known.harm].map(|(length, properties)| (length, properties.to_vec()));
        let found = [sign, harm];
        (found != as_known).then(|| format!("{:?}: {found:?}", known.variant))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "not as in BROKEN:\n{}", wrong.join("\n"));
}

#[test]
fn every_variant_is_tried() {
    assert_eq!(BROKEN.map(|known| known.variant), Variant::value_variants());
}

/// A variant is tried in the smallest world that has what its rule is there for; with the rule, nothing breaks there.
#[test]
fn with_its_rule_the_same_world_is_safe() {
    let mut seen = BTreeSet::new();
    for variant in Variant::value_variants() {
        let config = model::config::Config { variant: None, ..without(*variant).config };
        if !seen.insert(format!("{config:?}")) {
            continue;
        }
        let found = survey(&Lease::<2>::new(config), |_, _| (), |_, _, _, _| ());
        assert_eq!(found.wrong, Vec::<&str>::new(), "{variant:?}");
    }
}

/// A property that nothing can break says nothing.
#[test]
fn every_property_can_be_broken() {
    let signs = BROKEN.iter().flat_map(|known| known.sign.1.iter().chain(known.harm.1));
    let mut broken: BTreeSet<&str> = signs.copied().collect();
    broken.extend(
        RULES
            .iter()
            .filter(|(property, variant)| !soonest(*variant, &[property]).1.is_empty())
            .map(|(p, _)| p),
    );
    let always = ALL.iter().flat_map(|known| Lease::<2>::new(known.config).properties());
    let always = always.filter(|property| property.expectation == Expectation::Always);
    let unbroken: Vec<_> =
        always.map(|property| property.name).filter(|name| !broken.contains(name)).collect();
    assert_eq!(unbroken, Vec::<&str>::new());
}

/// Properties about rules, and what breaks each.
const RULES: [(&str, Variant); 2] = [
    (model::properties::RELEASED_IS_STOPPED, Variant::ReleaseFirst),
    (model::properties::RELEASED_STAYS, Variant::RenewsTheReleased),
];
