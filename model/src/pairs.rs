//! Every two parts of the world, together in one closed configuration.
//!
//! All at once is too much to explore to the end; two at a time, each with requests that fail, is not. A pair has
//! met when some run has both: what the one leaves behind is there when the other happens.

use crate::Lease;
use crate::actions::Action;
use crate::clocks::Local;
use crate::config::{Config, Part, Parts, Policy};
use crate::contender::Move;
use crate::state::{Clock, State};
use crate::store::is_last;
use crate::survey::{Survey, survey};
use clap::ValueEnum;

/// What is known of a pair.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The two.
    pub parts: [Part; 2],
    /// What was found with both.
    pub survey: Survey,
    /// Whether some run has both.
    pub met: bool,
}

impl Pair {
    /// Whether the two have met, and nothing broke.
    pub fn is_good(&self) -> bool {
        self.met && self.survey.wrong.is_empty()
    }
}

/// All pairs, but for those of two things to act on: there is one at a time.
pub fn all() -> Vec<[Part; 2]> {
    let parts = Part::value_variants();
    let pairs =
        parts.iter().enumerate().flat_map(|(i, one)| parts[i + 1..].iter().map(|other| [*one, *other]));
    pairs.filter(|pair| !pair.iter().all(|part| ACTS.contains(part))).collect()
}

/// The configuration in which two parts meet, with requests that fail, but where a gate and a store that is put back make
/// that too many states. Where the store forgets, and nobody asks for clocks, the smallest times
/// will do: a renewal has its place in a TTL of two ticks if no margin is needed.
pub fn setting(parts: [Part; 2]) -> Config {
    let config = Config::PLAIN.with(&parts);
    let many = config.has(Part::Restore) && config.has(Part::GatedActs);
    let config = if many { config } else { config.with(&[Part::Failures]) };
    // No system A may run while the file is replaced, so it must be able to die.
    let dies = config.has(Part::SystemA) && config.has(Part::Replacement);
    let config = if dies { config.with(&[Part::Crashes]) } else { config };
    let clocks = config.has(Part::ClockSteps);
    let large = config.has(Part::LostFloors) || config.has(Part::Restore) || config.has(Part::GatedActs);
    match (clocks, large, config.has(Part::Drift)) {
        (false, true, false) => Config { ttl: 2, skew: 0, ..config },
        (false, _, true) => Config { ttl: 3, skew: 0, ..config },
        _ => config,
    }
}

/// Explores a pair to the end.
pub fn explore(parts: [Part; 2]) -> Pair {
    let config = setting(parts);
    let (mut had, mut met) = (Vec::new(), false);
    let survey = survey(
        &Lease::<2>::new(config),
        |_, _| (),
        |state, from, action, to| {
            had.resize(had.len().max(from + 1), Parts::of(&[])); // the states to begin with had nothing
            let all = had[from].and(shown(&config, state, action));
            met |= parts.iter().all(|part| all.has(*part));
            if to >= had.len() {
                had.resize(to, Parts::of(&[]));
                had.push(all);
            }
        },
    );
    Pair { parts, survey, met }
}

/// Which parts this step shows.
fn shown<const N: usize>(config: &Config, state: &State<N>, action: Action) -> Parts {
    let by = match action {
        Action::Tick(Local::Slow(_) | Local::Fast(_)) => Some(Part::Drift),
        Action::Step(who, clock) if [clock, state.contenders[who.index()].clock].contains(&Clock::Far) => {
            Some(Part::WrongClocks)
        }
        Action::Step(..) => Some(Part::ClockSteps),
        Action::Move(_, Move::Fail) => Some(Part::Failures),
        Action::Move(_, Move::Crash) => Some(Part::Crashes),
        Action::Move(_, Move::Shutdown) => Some(Part::Shutdowns),
        Action::Move(_, Move::DropWork) => Some(Part::DroppedWork),
        Action::ExecuteLate(..) | Action::ExecuteOrphaned(..) => Some(Part::LateRequests),
        Action::Execute(who) if config.policy(who) == Policy::SystemA => Some(Part::SystemA),
        Action::Land(_) => ACTS.into_iter().find(|part| config.has(*part)),
        _ => None,
    };
    let last = state.row.is_some_and(|row| is_last(config, row.fence)).then_some(Part::LastFence);
    let watched = state.contenders.iter().any(|one| one.watched.is_some()).then_some(Part::Observed);
    let suffered: &[Part] = if let Action::Suffer(fault) = action { fault.part() } else { &[] };
    [by, last, watched]
        .into_iter()
        .flatten()
        .chain(suffered.iter().copied())
        .fold(Parts::of(&[]), |all, part| all.and(Parts::of(&[part])))
}

const ACTS: [Part; 3] = [Part::UnfencedActs, Part::GatedActs, Part::FencedActs];
