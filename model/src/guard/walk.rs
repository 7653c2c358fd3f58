//! A walk through the states, nearest first, that knows the shortest run to each.

use super::Guard;
use super::actions::Action;
use super::state::State;
use ahash::RandomState;
use stateright::{Expectation, Model};
use std::collections::HashSet;

/// States in the order in which they are met.
#[derive(Debug)]
pub struct Walk {
    /// Each, with where it was met from, and by which step.
    states: Vec<(State, Option<(usize, Action)>)>,
    /// How many steps there are, and states to begin with.
    pub generated: usize,
}

impl Walk {
    /// Goes through all states, or until it is told that one is enough. It tells of each step: where from, what, and to
    /// where.
    pub fn through(
        guard: &Guard,
        is_enough: impl Fn(&State) -> bool,
        mut tell: impl FnMut(&State, Action, &State),
    ) -> Walk {
        let begin = guard.init_states();
        let mut known: HashSet<State, RandomState> = begin.iter().copied().collect();
        let states: Vec<_> = begin.into_iter().map(|state| (state, None)).collect();
        let mut walk = Walk { generated: states.len(), states };
        let mut at = 0;
        while let Some((state, _)) = walk.states.get(at).copied() {
            if is_enough(&state) {
                break;
            }
            for (action, next) in guard.steps(&state) {
                tell(&state, action, &next);
                walk.generated += 1;
                if known.insert(next) {
                    walk.states.push((next, Some((at, action))));
                }
            }
            at += 1;
        }
        walk
    }

    /// How many states are known.
    pub fn unique(&self) -> usize {
        self.states.len()
    }

    /// The shortest run to such a state, if there is one.
    pub fn run_to(&self, is_it: impl Fn(&State) -> bool) -> Option<Vec<Action>> {
        let found = self.states.iter().position(|(state, _)| is_it(state))?;
        let before = |at: usize| self.states[at].1;
        let steps = std::iter::successors(before(found), |(from, _)| before(*from));
        let mut run: Vec<Action> = steps.map(|(_, action)| action).collect();
        run.reverse();
        Some(run)
    }
}

/// The shortest run that breaks a property that must always hold, and which; of several of one length the first property.
pub fn first_break(guard: &Guard) -> Option<(&'static str, Vec<Action>)> {
    let properties = guard.properties();
    let always = properties.iter().filter(|property| property.expectation == Expectation::Always);
    let always: Vec<_> = always.map(|property| (property.name, property.condition)).collect();
    let broken = |state: &State| always.iter().find(|(_, holds)| !holds(guard, state)).map(|(name, _)| *name);
    let walk = Walk::through(guard, |state| broken(state).is_some(), |_, _, _| ());
    let name = walk.states.iter().find_map(|(state, _)| broken(state))?;
    Some((name, walk.run_to(|state| broken(state).is_some())?))
}

/// The shortest run in which two instances run.
pub fn race(guard: &Guard) -> Option<Vec<Action>> {
    Walk::through(guard, State::two_run, |_, _, _| ()).run_to(State::two_run)
}
