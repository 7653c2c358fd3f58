//! How often everything happened.

use super::blackout::Blackout;
use model::actions::Action;
use model::clocks::Local;
use model::config::Policy;
use model::contender::Move;
use model::faults::Fault;
use model::state::{Clock, LateKind};
use std::collections::BTreeMap;
use std::fmt;
use tenure::protocol::Action as Asks;

/// How often each action happened, and each kind of blackout during each kind of request.
#[derive(Default)]
pub(super) struct Tally {
    actions: BTreeMap<String, u64>,
    blackouts: BTreeMap<(Blackout, &'static str), u64>,
    /// Traces.
    pub(super) traces: u64,
    /// Traces in whose end somebody held the lease in time.
    pub(super) recovered: u64,
}

/// The kinds of requests.
pub(super) const KINDS: [&str; 4] = ["read", "acquire", "renew", "release"];

fn kind(asks: &Asks) -> &'static str {
    match asks {
        Asks::Read => KINDS[0],
        Asks::Acquire(_) => KINDS[1],
        Asks::Renew(_) => KINDS[2],
        Asks::Release(_) => KINDS[3],
    }
}

/// An action, whoever does it.
pub(super) fn named(action: Action) -> String {
    match action {
        Action::Tick(local) => format!("Tick({local:?})"),
        Action::Step(_, clock) => format!("Step({clock:?})"),
        Action::Move(_, mv) => format!("{mv:?}"),
        Action::Execute(_) => "Execute".to_owned(),
        Action::ExecuteLate(_, kind) => format!("ExecuteLate({kind:?})"),
        Action::ExecuteOrphaned(policy, clock, kind) => {
            format!("ExecuteOrphaned({policy:?}, {clock:?}, {kind:?})")
        }
        Action::Enter(_) => "Enter".to_owned(),
        Action::Land(_) => "Land".to_owned(),
        Action::Suffer(Fault::FailButWrite(_)) => "FailButWrite".to_owned(),
        Action::Suffer(fault) => format!("{fault:?}"),
    }
}

/// Why a trace cannot do this on the shipped code; `None`: it can.
pub(super) fn cannot(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Tick(Local::Asleep(_)) | Action::Move(_, Move::Look) => {
            "only where a rule is broken: the shipped code has no such step"
        }
        Action::Tick(Local::Slow(_) | Local::Fast(_)) => {
            "drift takes two milliseconds of these leases' margin, and not a tick of it"
        }
        Action::ExecuteOrphaned(Policy::Observed, ..) => "the policy Observed is not built yet",
        Action::ExecuteOrphaned(Policy::SystemA, ..) => "another program: tests/system_a.rs has it",
        Action::ExecuteLate(_, LateKind::AcquireAbove)
        | Action::ExecuteOrphaned(_, _, LateKind::AcquireAbove)
        | Action::Suffer(Fault::BackUp | Fault::Restore | Fault::Empty) => {
            "a user cannot give a floor yet (R11.5), and who starts after that needs one: tests/moved.rs"
        }
        Action::ExecuteOrphaned(_, Clock::Far, LateKind::Renew) => {
            "to a clock that is far ahead every row has expired: it is refused, always"
        }
        Action::ExecuteOrphaned(_, Clock::Ahead | Clock::Far, LateKind::Release) => {
            "a release asks no clock: the model has it with one that is even"
        }
        Action::Suffer(Fault::Replace) => {
            "the store opens the file anew and carries out what the model calls lost: tests/moved.rs"
        }
        Action::Suffer(Fault::FailButWrite(_) | Fault::Recover | Fault::LosePower) => {
            "needs a disk that fails, or forgets: tests/durable.rs"
        }
        Action::Enter(_) => "a gate is the user's own code",
        _ => return None,
    })
}

impl Tally {
    /// The model did this, and so the code.
    pub(super) fn did(&mut self, action: Action) {
        *self.actions.entry(named(action)).or_default() += 1;
    }

    /// A request was to be carried out, and this befell it.
    pub(super) fn met(&mut self, blackout: Option<Blackout>, asks: &Asks) {
        if let Some(blackout) = blackout {
            *self.blackouts.entry((blackout, kind(asks))).or_default() += 1;
        }
    }

    /// How many steps there were.
    pub(super) fn steps(&self) -> u64 {
        self.actions.values().sum()
    }

    /// How often that happened.
    pub(super) fn of(&self, action: &str) -> u64 {
        self.actions.get(action).copied().unwrap_or_default()
    }

    /// What never happened.
    pub(super) fn missing(&self, actions: impl Iterator<Item = Action>) -> Vec<String> {
        let possible = actions.filter(|action| cannot(*action).is_none()).map(named);
        let pairs = Blackout::ALL.into_iter().flat_map(|blackout| KINDS.map(|kind| (blackout, kind)));
        let pairs = pairs.filter(|pair| !self.blackouts.contains_key(pair));
        let pairs = pairs.map(|(blackout, kind)| format!("{kind} while {blackout}"));
        possible.filter(|action| self.of(action) == 0).chain(pairs).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} traces, {} steps; in the end of {} somebody held the lease in time",
            self.traces,
            self.steps(),
            self.recovered
        )?;
        for (action, times) in &self.actions {
            writeln!(f, "  {times:>9}  {action}")?;
        }
        writeln!(f, "  {:34}{}", "", KINDS.map(|kind| format!("{kind:>9}")).concat())?;
        for blackout in Blackout::ALL {
            let times = KINDS.map(|kind| self.blackouts.get(&(blackout, kind)).copied().unwrap_or_default());
            writeln!(
                f,
                "  {:34}{}",
                blackout.to_string(),
                times.map(|times| format!("{times:>9}")).concat()
            )?;
        }
        Ok(())
    }
}
