//! The protocol of SPEC.md as a model that is checked to the end: every state that can be reached, by runs of any
//! length.
//!
//! # What is in it
//!
//! One lease and a few contenders. A contender reads the row; if it may take it, it sends an acquire
//! that is bound to what it read; the store carries that out in one conditional write; the
//! reply travels back; from then until its deadline the contender *believes* that it holds the lease,
//! and its work runs. It renews, gives the lease back or loses it, and may crash at any moment and
//! start again as somebody else. While it believes it may begin an act, which lands at some later time.
//!
//! Meanwhile anything that can go wrong does, between a process and a store, in clocks, and in the store itself: see
//! [`config::Part`]. A part can be switched on or off, since all at once have too many states.
//!
//! Stalling and resuming are no actions of their own. Nothing forces a contender to move: it stalls, at any
//! point, by not moving while ticks pass, and resumes by its next move. So a holder can sleep past its
//! deadline with a reply in its inbox, and so can everybody else.
//!
//! # How to read it
//!
//! | file | |
//! |---|---|
//! | [`state`] | what there is: a row, contenders, and what is outside |
//! | [`requests`] | what travels between them |
//! | [`store`] | the row × a request: three conditional writes (R1, R2, R3, R8, R12) |
//! | [`contender`] | what one is doing, and when it believes (R5) |
//! | `contender/` | a contender × a move: asking (R1, R11), replies (R4, R5, R7), ending (R6, R10) |
//! | [`actions`] | how these make a step of the whole |
//! | [`clocks`], [`acts`], [`faults`] | the other steps: time (R4), acts in two steps (R9), what befalls the store (R8, R11, R12) |
//! | [`properties`], [`progress`] | what must hold |
//! | [`config`], [`variants`] | how large it is, what can go wrong, and the rules that can be taken away |
//! | [`normal`], [`fold`], [`pack`] | why the number of states is finite, and small |
//! | [`check`], [`broken`], [`pairs`] | what is explored, and what is known of it |
//! | [`walk`], [`survey`] | exploring it without stateright |
//! | [`show`], [`explain`] | how it reads in the Explorer, and how a run is drawn |
//! | [`guard`] | a model of its own: the instance guard, which is no lock |
//!
//! Begin with one step: [`actions::Action::Execute`] is the store's, [`actions::Action::Move`] a contender's.
//! `store` and `contender` are functions of just a row and a request, or a contender and a move. So nearly each step of
//! the whole is one of a few thousand small steps, and those can be tried on the code that ships. The few that touch more
//! are in [`faults`] and [`acts`].
//!
//! # Why it ends
//!
//! Times are ticks left, not dates. Fences are ranks among those that somebody can still mention, not
//! numbers. A request that nobody waits for is remembered only as long as it could still change
//! something, and then it is bound to the row as it is, so one bit for each kind is enough. No run is cut
//! off: the checker returns to states that it knows, or stops finding new ones. SPEC.md, section 9, says what is capped.
//!
//! # What is not in it
//!
//! R7's standing back after grants that came too late, which only bounds how long others wait. Forms of holder ids that
//! a version does not know. What SQLite makes of a transaction that ends in its middle. These are tested on the code.

pub mod actions;
pub mod acts;
pub mod broken;
pub mod check;
pub mod clocks;
pub mod config;
pub mod contender;
pub mod explain;
pub mod faults;
pub mod fold;
pub mod guard;
pub mod normal;
pub mod pack;
pub mod pairs;
pub mod progress;
pub mod properties;
pub mod requests;
pub mod show;
pub mod state;
pub mod store;
pub mod survey;
pub mod variants;
pub mod walk;

use actions::Action;
use config::{Config, Variant};
use state::{Clock, State};
use stateright::{Model, Property};

/// One lease and `N` contenders.
#[derive(Clone, Debug)]
pub struct Lease<const N: usize> {
    /// How large it is, what can happen, and what is taken away.
    pub config: Config,
    /// What could happen at all.
    actions: Vec<Action>,
}

impl<const N: usize> Lease<N> {
    /// A model of this configuration.
    pub fn new(config: Config) -> Lease<N> {
        let actions = Action::all(N).filter(|action| action.is_of(&config, N)).collect();
        Lease { config, actions }
    }

    /// Each action that has a cause in this state, in a fixed order. One or the other changes nothing.
    pub fn offered(&self, state: &State<N>) -> impl Iterator<Item = Action> {
        self.actions.iter().copied().filter(|action| state.offers(*action))
    }
}

impl<const N: usize> Model for Lease<N> {
    type State = State<N>;
    type Action = Action;

    /// No row, and any number of clocks ahead; at least one is not, for only differences matter. Where clocks step,
    /// they all begin even.
    fn init_states(&self) -> Vec<State<N>> {
        let config = &self.config;
        let differ = config.skew > 0 && !config.clocks_step();
        let clock = |ahead, i| if ahead >> i & 1 == 1 { Clock::Ahead } else { Clock::Even };
        let all: u8 = (1 << N) - 1;
        let ahead = if differ { 0..all } else { 0..1 };
        // Which ones are ahead makes no difference but in names, unless they differ in more.
        let alike = config.policies[..N].windows(2).all(|two| two[0] == two[1]);
        let alike = alike && !config.breaks(Variant::OneWithoutMargin);
        let distinct = ahead.filter(|ahead| !alike || ahead.leading_zeros() + ahead.count_ones() == 8);
        distinct.map(|ahead| State::new(std::array::from_fn(|i| clock(ahead, i)))).collect()
    }

    /// What the configuration and the state give cause for; what leads nowhere is no step.
    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        actions.extend(self.offered(state));
    }

    fn next_state(&self, last: &State<N>, action: Action) -> Option<State<N>> {
        last.after(&self.config, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all(&self.config)
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }
}
