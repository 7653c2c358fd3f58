//! The protocol of SPEC.md, its first form, as a model that is checked to the end: every state that
//! can be reached, by runs of any length.
//!
//! # What is in it
//!
//! One lease and a few contenders. A contender reads the row; if it may take it, it sends an acquire
//! that is bound to what it read; the store carries that out in one conditional write; the
//! reply travels back; from then until its deadline the contender *believes* that it holds the lease,
//! and its work runs. It renews, loses its tenure or shuts down, and may crash at any moment and
//! start again as somebody else. Meanwhile anything that can go wrong between a process and a
//! store does: requests and replies are lost, requests are given up on and carried out an arbitrary time
//! later, or more than once; a contender stalls for as long as it likes; wall clocks differ.
//!
//! Stalling and resuming are no actions of their own. Nothing forces a contender to move: it stalls, at any
//! point, by not moving while ticks pass, and resumes by its next move. So a holder can sleep past its
//! deadline with a reply in its inbox, and so can everybody else.
//!
//! # How to read it
//!
//! | file | |
//! |---|---|
//! | [`state`] | what there is |
//! | [`store`] | the row × a request: three conditional writes |
//! | [`contender`] | a contender × a move |
//! | [`actions`] | how both make a step of the whole |
//! | [`properties`] | what must hold |
//! | [`config`] | how large it is, and the rules that can be taken away |
//! | [`normal`], [`fold`] | why the number of states is finite, and small |
//! | [`check`], [`walk`] | exploring all of it |
//! | [`show`] | how it reads in the Explorer |
//!
//! A step touches one contender, or the row, or both; `store` and `contender` are functions of just
//! that. So each step of the whole is one of a few thousand small steps, and those can be tried on the
//! code that ships.
//!
//! # Why it ends
//!
//! Times are ticks left, not dates. Fences are ranks among those that somebody can still mention, not
//! numbers. A request that nobody waits for is remembered only as long as it could still change
//! something, and then it is bound to the row as it is, so one bit for each kind is enough. No run is cut
//! off: the checker returns to states that it knows, or stops finding new ones.
//!
//! # What is not in it yet
//!
//! R9 (fenced acts), R11 (a store that goes back), R12 (rows that cannot be read). The takeover policy
//! `Observed`, and with it R3's `expiry + 1`. Clocks that step or drift. Loss of power, and with it
//! all of R8 but its order: a change is durable before it is answered. Acting in two steps, a check
//! and an act. The integer's end. R7's standing back after grants that came too late. Foreign rows.

pub mod actions;
pub mod check;
pub mod config;
pub mod contender;
pub mod fold;
pub mod normal;
pub mod properties;
pub mod show;
pub mod state;
pub mod store;
pub mod walk;

use actions::Action;
use config::Config;
use state::{Clock, State};
use stateright::{Model, Property};

/// One lease and `N` contenders.
#[derive(Clone, Copy, Debug)]
pub struct Lease<const N: usize> {
    /// How large it is, and what is taken away.
    pub config: Config,
}

impl<const N: usize> Model for Lease<N> {
    type State = State<N>;
    type Action = Action;

    /// No row, and any number of clocks ahead; at least one is not, for only differences matter.
    /// Which ones are ahead makes no difference but in names.
    fn init_states(&self) -> Vec<State<N>> {
        let clock = |even, i| if i < even { Clock::Even } else { Clock::Ahead };
        let fewest_even = if self.config.skew > 0 { 1 } else { N };
        (fewest_even..=N).map(|even| State::new(std::array::from_fn(|i| clock(even, i)))).collect()
    }

    /// An action is possible exactly when it leads somewhere.
    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        let leads_on = |action: &Action| state.after(&self.config, *action).is_some();
        actions.extend(Action::all(N).filter(leads_on));
    }

    fn next_state(&self, last: &State<N>, action: Action) -> Option<State<N>> {
        last.after(&self.config, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }
}
