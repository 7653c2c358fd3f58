//! What must hold in every state, and what can be reached.

use super::Guard;
use super::config::Config;
use super::state::{Claim, Found, Id, Life, Record, Slot, Stand, State};
use crate::state::Who;
use stateright::Property;

/// The race: it is no lock.
pub const BOTH_RUN: &str = "two instances run";
/// Where no write is later than the settle time after the read that it rests on.
pub const ONE_RUNS: &str = "no two instances run";
/// A record that can be seen is respected.
pub const REFUSED: &str = "an instance that found another's live record is refused";
/// What cannot be understood is respected.
pub const UNREADABLE_REFUSED: &str = "an instance that found something unreadable is refused";
/// A race is noticed.
pub const HEALS: &str = "two that run are one again within a third of the TTL, if all goes on";
/// A late delete lets both find nothing.
pub const HEALS_LATE: &str = "two that run are one again within two thirds of the TTL, if all else goes on";
/// What a stand-down says is so.
pub const NOTHING_LEFT: &str = "an instance that was told that nothing of it is left has left no record";
/// A crash is survived.
pub const AFTER_A_CRASH: &str = "an instance runs after another crashed";
/// A clock that was wrong blocks nobody for ever.
pub const AFTER_THE_FUTURE: &str = "an instance runs after it has waited for a record from the future";

/// All that are promised, or expected, in this configuration.
pub fn all<const N: usize>(config: &Config) -> Vec<Property<Guard<N>>> {
    let mut all = vec![
        Property::<Guard<N>>::always(UNREADABLE_REFUSED, |_, state| {
            !anyone(state, |_, found| found == Found::Unreadable)
        }),
        Property::always(REFUSED, refused),
    ];
    match is_exclusive(config) {
        true => all.push(Property::<Guard<N>>::always(ONE_RUNS, |_, state| !state.two_run())),
        false => all.push(Property::<Guard<N>>::sometimes(BOTH_RUN, |_, state| state.two_run())),
    }
    match config.goes_on {
        true if config.late => all.push(Property::<Guard<N>>::always(HEALS_LATE, |guard, state| {
            state.both <= 2 * guard.config.third()
        })),
        true => {
            all.push(Property::<Guard<N>>::always(HEALS, |guard, state| state.both <= guard.config.third()))
        }
        false => {}
    }
    if !config.late {
        all.push(Property::<Guard<N>>::always(NOTHING_LEFT, |_, state| !left_something(state)));
    }
    if config.crashes {
        all.push(Property::<Guard<N>>::sometimes(AFTER_A_CRASH, |_, state| {
            anyone(state, |_, found| found == Found::Old)
        }));
    }
    if config.ahead != 0 {
        all.push(Property::<Guard<N>>::sometimes(AFTER_THE_FUTURE, |_, state| {
            anyone(state, |claim, found| claim.is_patient && found == Found::Old)
        }));
    }
    all
}

/// Nothing is so late, and no clock so wrong, that two can run.
pub fn is_exclusive(config: &Config) -> bool {
    config.ahead == 0 && config.delay.is_some_and(|delay| delay < config.settle)
}

/// Whether somebody runs who found such a thing.
fn anyone<const N: usize>(state: &State<N>, is_so: fn(&Claim, Found) -> bool) -> bool {
    let claims = state.instances.iter().filter_map(|one| one.claim.as_ref());
    claims.filter(|claim| claim.stand == Stand::Runs).any(|claim| is_so(claim, claim.found))
}

/// Not one whose clock is ahead: to it the record is older than it is.
fn refused<const N: usize>(guard: &Guard<N>, state: &State<N>) -> bool {
    let trespasses = |who: Who| {
        let is_ahead = State::<N>::whos().any(|other| guard.config.ahead_of(who, other) > 0);
        let claim = state.claim(who).filter(|_| !is_ahead);
        claim.is_some_and(|claim| claim.stand == Stand::Runs && claim.found == Found::Live)
    };
    !State::<N>::whos().any(trespasses)
}

fn left_something<const N: usize>(state: &State<N>) -> bool {
    matches!(state.slot, Slot::Record(Record { by: Id { life: Life::Gone, .. }, .. }))
}
