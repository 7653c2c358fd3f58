//! A trace: the world it is played in, and what is tried.

use super::blackout::Blackout;
use super::tally::cannot;
use model::actions::Action;
use model::clocks::Local;
use model::config::{Config, Part};
use model::contender::Move;
use model::state::{LateKind, Who};
use proptest::prelude::*;
use std::fmt;

/// One thing that is tried: an action of the model, and what befalls the store when a request comes to be carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Try {
    pub(super) action: Action,
    pub(super) befalls: Option<Blackout>,
}

/// What a trace is played in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct World {
    /// From two to five.
    pub(super) contenders: usize,
    /// The file's journal mode is WAL, and not DELETE.
    pub(super) wal: bool,
    /// Holders look at their deadline after each step. Else only what they do shows whether they go by it.
    pub(super) looks: bool,
    /// Besides [`ALWAYS`].
    pub(super) parts: Vec<Part>,
}

/// What can always go wrong.
const ALWAYS: &[Part] = &[
    Part::Failures,
    Part::LateRequests,
    Part::Crashes,
    Part::Shutdowns,
    Part::DroppedWork,
    Part::ClockSteps,
];

impl World {
    /// The model of it, in ticks as [`super::ground::durations`] has them.
    pub(super) fn config(&self) -> Config {
        Config { ttl: 6, skew: 1, ..Config::PLAIN.with(ALWAYS).with(&self.parts) }
    }

    /// Whether wall clocks keep within the bound.
    pub(super) fn is_bounded(&self) -> bool {
        !self.parts.contains(&Part::WrongClocks)
    }

    /// A world of so many parts.
    pub(super) fn any(optional: &'static [Part]) -> impl Strategy<Value = World> {
        let parts = proptest::sample::subsequence(optional, 0..=optional.len());
        (2..=5_usize, any::<bool>(), any::<bool>(), parts).prop_map(|(contenders, wal, looks, parts)| World {
            contenders,
            wal,
            looks,
            parts,
        })
    }

    /// A trace in this world, of so many tries. Most lead nowhere at their moment, and are left out.
    pub(super) fn traces(self, tries: usize) -> impl Strategy<Value = (World, Vec<Try>)> {
        let trace = proptest::collection::vec(self.tries(), 0..=tries);
        trace.prop_map(move |trace| (self.clone(), trace))
    }

    /// Drawn by a number, since a choice of strategies costs more than playing what was chosen. It is not made simpler: of a
    /// trace that fails, tries are left out.
    fn tries(&self) -> impl Strategy<Value = Try> + use<> {
        let (config, contenders) = (self.config(), self.contenders);
        let possible = Action::all(contenders)
            .filter(|action| action.is_of(&config, contenders) && cannot(*action).is_none())
            .filter(|action| !matches!(action, Action::Land(_))); // one with its beginning
        let weights = possible.flat_map(|action| std::iter::repeat_n(action, weight(action, contenders)));
        let drawn: Vec<Action> = weights.collect();
        (0..drawn.len(), 0..BLACKOUT_ONE_OF).no_shrink().prop_map(move |(which, blackout)| {
            let action = drawn[which];
            let is_served = matches!(action, Action::Execute(_) | Action::Move(_, Move::Read));
            Try { action, befalls: Blackout::ALL.get(blackout).copied().filter(|_| is_served) }
        })
    }
}

/// Of so many requests that come to be carried out, each kind of blackout befalls one.
const BLACKOUT_ONE_OF: usize = 35;

/// How likely it is to be tried. What leads on is; what ends things is not, or nothing would come of anything. The first
/// two contenders do most.
fn weight(action: Action, contenders: usize) -> usize {
    let of = |who: Who, weight: usize| weight * if who.0 < 2 { 3 } else { 1 };
    match action {
        Action::Tick(Local::Steady) => 70 * contenders.min(3),
        Action::Tick(_) | Action::Enter(_) | Action::Land(_) => 1,
        Action::Step(who, _) => of(who, 2),
        Action::Execute(who) => of(who, 60),
        Action::ExecuteLate(who, _) => of(who, 8),
        Action::ExecuteOrphaned(_, _, LateKind::Renew) => 80, // while the row still has some time
        Action::ExecuteOrphaned(..) => 12,
        Action::Suffer(_) => 2,
        Action::Move(who, mv) => of(
            who,
            match mv {
                Move::Read | Move::Acquire | Move::Deliver => 40,
                Move::Renew => 60,
                Move::Restart | Move::Fail => 20,
                Move::Release => 30,
                Move::StopWork => 8,
                Move::Leave | Move::Begin => 4,
                Move::Shutdown | Move::DropWork | Move::NoticeDeadline | Move::Look => 2,
                Move::Crash => 1,
            },
        ),
    }
}

impl fmt::Debug for Try {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.action)?;
        self.befalls.map_or(Ok(()), |befalls| write!(f, " while {befalls:?}"))
    }
}
