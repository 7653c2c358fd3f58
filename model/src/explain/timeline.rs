//! How a run becomes a [`Story`]: step by step, from what is different after each.

use super::fences::Numbers;
use super::notes::{self, Step};
use super::terminal::LEGEND;
use super::{Bar, Idle, Lane, Moment, Story, Strand, Way, Wire};
use crate::actions::Action;
use crate::clocks::Local;
use crate::config::{Config, Policy};
use crate::contender::Move;
use crate::properties::{BELIEF_IS_BACKED, ONE_ACTS, ONE_TENURE_A_FENCE, TWO_ACT};
use crate::state::{Clock, Contender, Message, Phase, State, Who};
use crate::walk::Run;

/// The story of any run, and of the property that is broken in its end.
pub fn of_run<const N: usize>(config: &Config, run: &Run<N>, property: &str) -> Story {
    let (mut state, mut numbers, mut time) = (run.begin, Numbers::of(&run.begin), 0);
    let mut moments = Vec::new();
    for action in run.actions.iter().copied() {
        let Some(after) = state.after(config, action) else { break };
        let ranks = numbers.clone().after(config, &state, action, &after);
        time += u32::from(matches!(action, Action::Tick(_)));
        let step = Step { config, before: &state, action, after: &after, were: &numbers, are: &ranks };
        moments.push(moment(&step, time));
        (state, numbers) = (after, ranks);
    }
    Story {
        title: property.to_owned(),
        times: times(config),
        paragraphs: vec![format!("No longer true: “{property}”.")],
        lanes: run.begin.named().map(|(who, one)| lane(config, who, one)).collect(),
        row: notes::row(config, run.begin.row, &Numbers::of(&run.begin)),
        wrong: wrong(config, &state, run.actions.last(), property),
        store_wrong: run.actions.last().is_some_and(|action| is_of_the_store(*action)),
        moments,
        legend: LEGEND,
    }
}

/// What the ticks in the picture are to be held against.
fn times(config: &Config) -> String {
    let drift = if config.drift() > 0 { ", local clocks may drift by 1" } else { "" };
    let skew = match config.skew {
        0 => "all wall clocks agree".to_owned(),
        ticks => format!("wall clocks may differ by {ticks}"),
    };
    format!("TTL {} ticks, {skew}{drift}: a holder believes for {}", config.ttl, config.ttl - config.margin())
}

fn lane(config: &Config, who: Who, one: &Contender) -> Lane {
    let policy = match config.policy(who) {
        Policy::WallClock => "",
        Policy::Observed => "observed",
        Policy::SystemA => "system A",
    };
    let clock = match one.clock {
        Clock::Even => "",
        Clock::Ahead => "clock ahead",
        Clock::Far => "clock far ahead",
    };
    let about: Vec<_> = [policy, clock].into_iter().filter(|word| !word.is_empty()).collect();
    Lane { name: who.to_string(), about: about.join(", ") }
}

/// Two who act at once are both concerned, and so is who acts with a fence that somebody else has. Otherwise it is
/// whoever made the last step.
fn wrong<const N: usize>(
    config: &Config,
    state: &State<N>,
    last: Option<&Action>,
    property: &str,
) -> Vec<bool> {
    let acts = |who: Who| state.contenders[who.index()].acts(config, who);
    let has = |who: Who| acts(who).or(state.contenders[who.index()].works());
    let all_actors = [ONE_ACTS, BELIEF_IS_BACKED, TWO_ACT].contains(&property);
    let by = last.and_then(|action| subject(*action));
    let same = |who| property == ONE_TENURE_A_FENCE && has(who).is_some() && has(who) == by.and_then(has);
    let concerned = |who: Who| if all_actors { acts(who).is_some() } else { by == Some(who) || same(who) };
    state.named().map(|(who, _)| concerned(who)).collect()
}

/// Who it is that does this, or whose request is carried out.
pub(super) fn subject(action: Action) -> Option<Who> {
    match action {
        Action::Step(who, _)
        | Action::Move(who, _)
        | Action::Execute(who)
        | Action::ExecuteLate(who, _)
        | Action::Enter(who)
        | Action::Land(who) => Some(who),
        Action::Tick(_) | Action::ExecuteOrphaned(..) | Action::Suffer(_) => None,
    }
}

fn is_of_the_store(action: Action) -> bool {
    matches!(
        action,
        Action::Execute(_) | Action::ExecuteLate(..) | Action::ExecuteOrphaned(..) | Action::Suffer(_)
    )
}

fn moment<const N: usize>(step: &Step<'_, N>, time: u32) -> Moment {
    let whos = || (0..N as u8).map(Who);
    Moment {
        time,
        tick: matches!(step.action, Action::Tick(_)),
        across: notes::across(step),
        strands: whos().map(|who| strand(step, who)).collect(),
        wires: whos().filter_map(|who| wire(step, who)).collect(),
        store: notes::store(step),
    }
}

fn strand<const N: usize>(step: &Step<'_, N>, who: Who) -> Strand {
    let one = &step.after.contenders[who.index()];
    let name = |fence| step.are.name(step.config, fence);
    let bar = match (one.acts(step.config, who), one.works()) {
        _ if one.phase.is_over() => Bar::Over,
        (Some(fence), _) => Bar::Acts(name(fence)),
        (None, Some(fence)) => Bar::Remains(name(fence)),
        (None, None) => Bar::Nothing,
    };
    Strand { bar, idle: idle(step, who), note: notes::note(step, who) }
}

/// Nothing forces a contender to move: that it stalls shows only in what it leaves undone while a tick passes.
fn idle<const N: usize>(step: &Step<'_, N>, who: Who) -> Idle {
    let Action::Tick(local) = step.action else { return Idle::No };
    let one = &step.before.contenders[who.index()];
    let stands_still = local == Local::Asleep(who) || local == Local::Slow(who);
    let answered = one.flight.is_some() && one.sent().is_none();
    let unnoticed = match one.phase {
        Phase::Holding { left, .. } => left == 0 || one.believes(step.config, who).is_none(),
        Phase::Reading(_) => true,
        _ => false,
    };
    match one.sent() {
        _ if stands_still || answered || one.noted.is_some() => Idle::Stalls,
        Some(_) => Idle::Waits,
        None if unnoticed => Idle::Stalls,
        None => Idle::No,
    }
}

fn wire<const N: usize>(step: &Step<'_, N>, who: Who) -> Option<Wire> {
    let flight = |state: &State<N>| state.contenders[who.index()].flight.map(|flight| flight.message);
    let (before, after) = (flight(step.before), flight(step.after));
    let own = matches!(step.action, Action::Move(mover, _) if mover == who);
    let says = |message, numbers| notes::message(step.config, message, numbers);
    let (way, label) = match (before, after) {
        _ if matches!(step.action, Action::ExecuteLate(sender, _) if sender == who) => {
            (Way::Late, notes::late(step.action))
        }
        (Some(message), None) if step.action == Action::Move(who, Move::Deliver) => {
            (Way::Delivered, says(message, step.were))
        }
        (Some(message @ Message::Sent(_)), Some(Message::Answered(_))) => {
            (Way::CarriedOut, says(message, step.were))
        }
        (None | Some(Message::Answered(_)), Some(message @ Message::Sent(_))) => {
            (Way::Sent, says(message, step.are))
        }
        (Some(old @ Message::Sent(_)), Some(new @ Message::Sent(_))) if own && old != new => {
            (Way::Sent, says(new, step.are))
        }
        (Some(message @ Message::Sent(_)), None) => (Way::RequestLost, says(message, step.were)),
        (Some(message @ Message::Answered(_)), None) => (Way::ReplyLost, says(message, step.were)),
        _ => return None,
    };
    Some(Wire { who: who.index(), way, label })
}
