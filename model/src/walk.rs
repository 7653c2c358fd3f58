//! A walk through all states, nearest first, that sees every step.
//!
//! The checker's visitors see one path to each state, and not each step; and of several states that
//! break a property the checker reports the last it met, which need not be the nearest. This walk
//! sees all steps, level by level. It knows states by themselves and not by a hash of them.

use crate::Lease;
use crate::actions::Action;
use crate::pack::Packed;
use crate::state::State;
use ahash::RandomState;
use stateright::{Expectation, Model, Property};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A walk, at some level: the states that are so many steps away from the beginning, and no fewer.
pub struct Walk<const N: usize> {
    lease: Lease<N>,
    known: HashMap<Packed<N>, u32, RandomState>,
    came_from: Vec<Option<(u32, Action)>>,
    level: Vec<State<N>>,
}

impl<const N: usize> Walk<N> {
    /// A walk that begins.
    pub fn new(lease: Lease<N>) -> Walk<N> {
        let level = lease.init_states();
        let known: HashMap<_, _, _> = level.iter().map(State::packed).zip(0..).collect();
        Walk { lease, came_from: vec![None; known.len()], known, level }
    }

    /// How many states are known.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// The states of this level, each with its number: they are numbered as they are met.
    pub fn level(&self) -> impl Iterator<Item = (usize, &State<N>)> {
        (self.known.len() - self.level.len()..).zip(&self.level)
    }

    /// Goes on to the next level, and tells of each step: where from, what, and the number of the state it leads to.
    pub fn advance(&mut self, mut tell: impl FnMut(&State<N>, usize, Action, usize)) {
        let mut next = Vec::new();
        let first = self.known.len() - self.level.len();
        for (at, state) in (first..).zip(std::mem::take(&mut self.level)) {
            for action in self.lease.offered(&state) {
                let Some(after) = state.after(&self.lease.config, action) else { continue };
                let number = self.came_from.len() as u32;
                let to = match self.known.entry(after.packed()) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        next.push(after);
                        self.came_from.push(Some((at as u32, action)));
                        *new.insert(number)
                    }
                };
                tell(&state, at, action, to as usize);
            }
        }
        self.level = next;
    }

    /// The shortest run to this state.
    pub fn run_to(&self, number: usize) -> Run<N> {
        let before = |at: usize| self.came_from[at];
        let steps = std::iter::successors(before(number), |(from, _)| before(*from as usize));
        let (mut begin, mut actions) = (number, Vec::new());
        for (from, action) in steps {
            begin = from as usize;
            actions.push(action);
        }
        actions.reverse();
        Run { begin: self.lease.init_states()[begin], actions }
    }
}

/// A run: where it begins, and what happens.
#[derive(Clone, Debug)]
pub struct Run<const N: usize> {
    /// The state that it begins with.
    pub begin: State<N>,
    /// What happens.
    pub actions: Vec<Action>,
}

/// The shortest runs that break something, all of one length.
#[derive(Clone, Debug)]
pub struct Break<const N: usize> {
    /// How many steps each has.
    pub length: usize,
    /// Each property that breaks so soon, and a run that breaks it.
    pub runs: Vec<(&'static str, Run<N>)>,
}

/// The shortest runs that break any of these properties; `None` if no run does, of any length.
pub fn shortest_breaks<const N: usize>(lease: &Lease<N>, among: &[&str]) -> Option<Break<N>> {
    let always = |p: &Property<Lease<N>>| p.expectation == Expectation::Always && among.contains(&p.name);
    let properties: Vec<_> = lease.properties().into_iter().filter(always).collect();
    let mut walk = Walk::new(lease.clone());
    for length in 0.. {
        let broken = properties.iter().filter_map(|property| {
            let (number, _) = walk.level().find(|(_, state)| !(property.condition)(lease, state))?;
            Some((property.name, walk.run_to(number)))
        });
        let runs: Vec<_> = broken.collect();
        if !runs.is_empty() {
            return Some(Break { length, runs });
        }
        if walk.level.is_empty() {
            break;
        }
        walk.advance(|_, _, _, _| ());
    }
    None
}
