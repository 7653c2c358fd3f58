//! The instance guard: SPEC.md section 10, checked to the end as well.
//!
//! It is no lock, and this is where that is shown: two instances and one record in a store that reads, writes and deletes
//! without conditions. Everything takes as long as it likes, so two can run at once, and [`story::race`] draws the
//! shortest run in which they do. What the guard does promise holds in every state.
//!
//! Times are counted in ticks, marks that pass. Between two events some pass, or none; so a delay in which fewer marks pass
//! than in the settle time is one that may be longer than it by less than a tick.
//!
//! | file | |
//! |---|---|
//! | [`state`] | what there is |
//! | [`claim`] | a claim × what happens to it |
//! | [`actions`] | the steps of the whole |
//! | `store` | the store × a request, carried out or lost |
//! | [`properties`] | what must hold, and what can happen |
//! | [`config`] | how large it is, and the rules that can be taken away |
//! | [`check`] | what is explored, and what is known of it |
//! | [`walk`] | exploring it, nearest first |
//! | [`story`] | how a run is drawn |
//! | `forget` | what makes no difference any more |

pub mod actions;
pub mod check;
pub mod claim;
pub mod config;
mod forget;
pub mod properties;
pub mod state;
mod store;
pub mod story;
pub mod walk;

use actions::Action;
use config::Config;
use state::State;
use stateright::{Model, Property};

/// One record and `N` instances; two unless it is said.
#[derive(Clone, Debug)]
pub struct Guard<const N: usize = 2> {
    /// How large it is, what can go wrong, and what is taken away.
    pub config: Config,
}

impl<const N: usize> Guard<N> {
    /// Each step that there is cause for, and what it leads to.
    pub fn steps(&self, state: &State<N>) -> impl Iterator<Item = (Action, State<N>)> {
        Action::all(N).filter_map(|action| Some((action, state.after(&self.config, action)?)))
    }
}

impl<const N: usize> Model for Guard<N> {
    type State = State<N>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<N>> {
        vec![State::EMPTY]
    }

    fn actions(&self, _: &State<N>, actions: &mut Vec<Action>) {
        actions.extend(Action::all(N));
    }

    fn next_state(&self, last: &State<N>, action: Action) -> Option<State<N>> {
        last.after(&self.config, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all(&self.config)
    }
}
