//! A walk through all states, nearest first, that sees every step.
//!
//! The checker's visitors see one path to each state, and not each step; and of several states that
//! break a property the checker reports the last it met, which need not be the nearest. This walk
//! sees all steps and stops at the nearest state. It is also a second count, by states and not by
//! their hashes.

use crate::Lease;
use crate::actions::Action;
use crate::state::State;
use stateright::Model;
use std::collections::{HashMap, HashSet, VecDeque};

/// Visits every step that can ever be made, and returns the number of states.
pub fn every_step<const N: usize>(
    lease: &Lease<N>,
    mut visit: impl FnMut(&State<N>, Action, &State<N>),
) -> usize {
    let mut known: HashSet<State<N>> = lease.init_states().into_iter().collect();
    let mut ahead: VecDeque<State<N>> = lease.init_states().into();
    while let Some(state) = ahead.pop_front() {
        for action in Action::all(N) {
            let Some(next) = state.after(&lease.config, action) else { continue };
            visit(&state, action, &next);
            if known.insert(next) {
                ahead.push_back(next);
            }
        }
    }
    known.len()
}

/// A run: where it begins, and what happens.
#[derive(Clone, Debug)]
pub struct Run<const N: usize> {
    /// The state that it begins with.
    pub begin: State<N>,
    /// What happens.
    pub actions: Vec<Action>,
}

/// The shortest run to a state that breaks this property, if there is one.
pub fn shortest_break<const N: usize>(lease: &Lease<N>, property: &'static str) -> Option<Run<N>> {
    let holds = lease.property(property).condition;
    let mut came_from: HashMap<State<N>, Option<(State<N>, Action)>> =
        lease.init_states().into_iter().map(|state| (state, None)).collect();
    let mut ahead: VecDeque<State<N>> = lease.init_states().into();
    while let Some(state) = ahead.pop_front() {
        if !holds(lease, &state) {
            return Some(run_to(&came_from, state));
        }
        for action in Action::all(N) {
            let Some(next) = state.after(&lease.config, action) else { continue };
            came_from.entry(next).or_insert_with(|| {
                ahead.push_back(next);
                Some((state, action))
            });
        }
    }
    None
}

fn run_to<const N: usize>(
    came_from: &HashMap<State<N>, Option<(State<N>, Action)>>,
    end: State<N>,
) -> Run<N> {
    let before = |state: &State<N>| came_from.get(state).copied().flatten();
    let steps = std::iter::successors(before(&end), |(state, _)| before(state));
    let (mut begin, mut actions) = (end, Vec::new());
    for (state, action) in steps {
        begin = state;
        actions.push(action);
    }
    actions.reverse();
    Run { begin, actions }
}
