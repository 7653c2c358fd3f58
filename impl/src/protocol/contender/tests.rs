//! Every state with every input: the outcomes are pinned in `table.txt`, and what must hold of all is asserted.

#![allow(clippy::wildcard_enum_match_arm, reason = "an input that a test does not look for is no case")]

use super::*;
use crate::protocol::{Action, Bound, Durations, Label, Row, Seen, WallTime};
use std::collections::BTreeMap;
use std::fmt::Write;

const NOW: LocalTime = LocalTime::from_millis(1_000_000);
const WALL: WallTime = WallTime::from_unix_millis(50_000_000);
const OTHER: &str = "tenure1:wallclock:15000:00000000000000ff:other";

fn timing() -> Timing {
    Durations::default().check().unwrap()
}

fn me() -> HolderId {
    HolderId::new(&Label::new("me").unwrap(), 1, &timing())
}

fn fence(number: i64) -> Fence {
    Fence::new(number).unwrap()
}

fn flight() -> Flight {
    Flight { id: RequestId(7), sent: NOW.minus(1_000), give_up_at: NOW.plus(1_500) }
}

/// Every state in every situation that the machine tells apart.
fn states() -> Vec<(&'static str, Contender)> {
    let base = Contender { requests: 7, ..Contender::new(LeaseName::new("l").unwrap(), me(), timing()) };
    let at = |state| Contender { state, ..base.clone() };
    let knows = |state| Contender { floor: Some(fence(5)), ..at(state) };
    let holds = |deadline, renewal| knows(State::Holding { fence: fence(5), deadline, renewal });
    let unsure = |state| Contender { unsure: true, ..knows(state) };
    let (later, past, under_way) = (NOW.plus(9_000), NOW, Errand::UnderWay(flight()));
    let end = End::StoreWentBack { floor: fence(5), found: None };
    let releasing =
        |release| knows(State::Releasing { fence: fence(5), give_up_at: NOW.plus(1_500), release });
    vec![
        ("Waiting", at(State::Waiting { poll_at: NOW.plus(1) })),
        ("Waiting, poll due", at(State::Waiting { poll_at: NOW })),
        ("Waiting, acquire open", unsure(State::Waiting { poll_at: NOW.plus(1) })),
        ("Reading, first time", at(State::Reading(flight()))),
        ("Reading", knows(State::Reading(flight()))),
        ("Reading, acquire open", unsure(State::Reading(flight()))),
        (
            "Reading, three late grants",
            Contender { vain_grants: 3, unsure: true, ..knows(State::Reading(flight())) },
        ),
        ("Acquiring", knows(State::Acquiring(flight()))),
        (
            "Acquiring, granted too late",
            knows(State::Acquiring(Flight { sent: NOW.minus(13_996), ..flight() })),
        ),
        ("Holding", holds(later, Errand::Due(NOW.plus(1)))),
        ("Holding, renewal due", holds(later, Errand::Due(NOW))),
        ("Holding, renewing", holds(later, under_way)),
        ("Holding, deadline passed", holds(past, Errand::Due(NOW.plus(1)))),
        ("Holding, deadline passed, renewing", holds(past, under_way)),
        ("Lost", knows(State::Lost { end: None })),
        ("Lost, store went back", knows(State::Lost { end: Some(end) })),
        ("Releasing, due", releasing(Errand::Due(NOW))),
        ("Releasing", releasing(under_way)),
        ("Ended", knows(State::Ended)),
    ]
}

fn row(holder: &str, number: i64, expires: i64) -> Seen {
    let expires_at = WallTime::from_unix_millis(expires);
    Seen::Row(Row { holder: holder.into(), fence: fence(number), acquired_at: WALL, expires_at })
}

/// Every row that the machine tells apart.
fn rows() -> Vec<(&'static str, Seen)> {
    let (me, wall) = (me().to_string(), WALL.as_unix_millis());
    vec![
        ("no row", Seen::Absent),
        ("a row it cannot read", Seen::Unreadable("why".into())),
        ("another's, live", row(OTHER, 6, wall + 1)),
        ("another's, expired", row(OTHER, 6, wall)),
        ("another's, released", row(OTHER, 6, 0)),
        ("a foreign one, expired within skew", row("appview", 6, wall - 999)),
        ("a foreign one, expired", row("appview", 6, wall - 1_000)),
        ("an unknown form's, expired", row("tenure2:x", 6, 1)),
        ("an unknown form's, released", row("tenure2:x", 6, 0)),
        ("another's, same fence, live", row(OTHER, 5, wall + 1)),
        ("another's, lower fence, released", row(OTHER, 4, 0)),
        ("another's, last fence, released", row(OTHER, i64::MAX, 0)),
        ("its own, live", row(&me, 5, wall + 1)),
        ("its own, expired", row(&me, 5, wall)),
        ("its own, released", row(&me, 5, 0)),
    ]
}

/// Every input, and how long after `NOW` it comes.
fn inputs() -> Vec<(String, u64, Input)> {
    let reply = |reply| Input::Reply { id: RequestId(7), reply };
    let mut inputs: Vec<(String, u64, Input)> = vec![
        ("wake".into(), 0, Input::Wake),
        ("wake after the timeout".into(), 1_500, Input::Wake),
        ("old reply".into(), 0, Input::Reply { id: RequestId(6), reply: Reply::Granted(fence(9)) }),
        ("failed".into(), 0, reply(Reply::Failed)),
        ("granted".into(), 0, reply(Reply::Granted(fence(6)))),
        ("granted a fence not above the floor".into(), 0, reply(Reply::Granted(fence(5)))),
        ("renewed".into(), 0, reply(Reply::Renewed)),
        ("released".into(), 0, reply(Reply::Released)),
        ("a check found it passed".into(), 0, Input::Latched),
        ("shutdown".into(), 0, Input::Shutdown),
        ("shutdown after the timeout".into(), 1_500, Input::Shutdown),
        ("work stopped".into(), 0, Input::WorkStopped),
    ];
    for (what, seen) in rows() {
        inputs.push((format!("read {what}"), 0, reply(Reply::Seen { seen: seen.clone(), wall: WALL })));
        inputs.push((format!("refused: {what}"), 0, reply(Reply::Refused(seen))));
    }
    inputs
}

fn every_step(mut check: impl FnMut(&str, &str, &Contender, LocalTime, &Input, &Contender, &Output)) {
    for shutdown in [false, true] {
        for (state, before) in states() {
            let before = Contender { shutdown, ..before };
            let state = if shutdown { format!("{state}, stopping") } else { state.to_owned() };
            for (name, after, input) in inputs() {
                let mut contender = before.clone();
                let now = NOW.plus(after);
                let output = contender.step(now, 0, input.clone());
                check(&state, &name, &before, now, &input, &contender, &output);
            }
        }
    }
}

#[test]
fn every_state_and_input_has_the_pinned_outcome() {
    let mut states: Vec<(String, BTreeMap<String, Vec<String>>)> = Vec::new();
    every_step(|state, input, _, _, _, after, output| {
        if states.last().is_none_or(|(last, _)| last != state) {
            states.push((state.to_owned(), BTreeMap::new()));
        }
        let (_, outcomes) = states.last_mut().unwrap();
        outcomes.entry(outcome(after, output)).or_default().push(input.to_owned());
    });
    let table: String = states.iter().map(|(state, outcomes)| told(state, outcomes)).collect();
    let pinned = include_str!("table.txt");
    assert!(table == pinned, "the table is now, in full:\n{table}");
}

/// A state's outcomes with the inputs that lead to each; the most frequent one is "all else".
fn told(state: &str, outcomes: &BTreeMap<String, Vec<String>>) -> String {
    let most = outcomes.values().map(Vec::len).max();
    let mut text = format!("{state}\n");
    let mut else_is = None;
    for (outcome, inputs) in outcomes {
        if Some(inputs.len()) == most && else_is.is_none() {
            else_is = Some(outcome);
        } else {
            writeln!(text, "    {}\n        → {outcome}", inputs.join(" | ")).unwrap();
        }
    }
    writeln!(text, "    all else\n        → {}\n", else_is.unwrap()).unwrap();
    text
}

fn outcome(after: &Contender, output: &Output) -> String {
    let mut text = match &after.state {
        State::Waiting { .. } => "Waiting".to_owned(),
        State::Reading(_) => "Reading".into(),
        State::Acquiring(_) => "Acquiring".into(),
        State::Holding { fence, deadline, .. } => {
            format!("Holding {fence} for {} ms", NOW.until(*deadline).as_millis())
        }
        State::Lost { end: None } => "Lost".into(),
        State::Lost { end: Some(_) } => "Lost for good".into(),
        State::Releasing { fence, .. } => format!("Releasing {fence}"),
        State::Ended => "Ended".into(),
    };
    if let Some(request) = &output.request {
        match &request.action {
            Action::Acquire(Bound::Seen { holder, fence, free }) => {
                let whose = if *holder == after.me.as_str() { "its own" } else { "another's" };
                write!(text, "; asks to acquire {whose} {fence}, free: {free:?}").unwrap();
            }
            action => write!(text, "; asks: {action:?}").unwrap(),
        }
    }
    for event in &output.events {
        match event {
            Event::Held(row) => write!(text, "; tells: held with fence {}", row.fence).unwrap(),
            Event::Lost(loss) => write!(text, "; tells: lost, {loss}").unwrap(),
            Event::Ended(end) => write!(text, "; tells: ended, {end}").unwrap(),
            Event::Granted(tenure) => write!(text, "; tells: granted {}", tenure.fence).unwrap(),
            other => write!(text, "; tells: {other:?}").unwrap(),
        }
    }
    text
}

/// SPEC.md R4, R5: belief ends at the deadline, and nothing but a grant in time begins or prolongs it.
#[test]
fn belief_comes_from_timely_grants_only() {
    every_step(|state, name, before, now, input, after, _| {
        let Some(Tenure { deadline, .. }) = after.tenure() else { return };
        assert!(now < deadline, "{state}, {name}: believes past its deadline");
        let sent = before.state.flight().map(|flight| flight.sent);
        let from_send = sent.map(|sent| sent.plus(timing().validity_ms()));
        let unchanged = before.tenure().map(|tenure| tenure.deadline) == Some(deadline);
        let granted = matches!(input, Input::Reply { reply: Reply::Granted(_) | Reply::Renewed, .. });
        assert!(unchanged || granted && from_send == Some(deadline), "{state}, {name}: {deadline:?}");
    });
}

/// SPEC.md R5: a loss is told exactly once, whenever a tenure ends without its work having stopped.
#[test]
fn every_loss_is_told_once() {
    every_step(|state, name, before, _, input, after, output| {
        let lost = output.events.iter().filter(|event| matches!(event, Event::Lost(_))).count();
        let over = before.tenure().is_some() && after.tenure().is_none();
        let released = *input == Input::WorkStopped && matches!(after.state, State::Releasing { .. });
        assert_eq!(lost, usize::from(over && !released), "{state}, {name}");
    });
}

/// SPEC.md R6: while work may run there is no release and no contending; R7: an open acquire is looked into.
#[test]
fn only_stopped_work_lets_go() {
    every_step(|state, name, before, _, input, after, output| {
        let working = matches!(before.state, State::Holding { .. } | State::Lost { .. });
        let still = matches!(after.state, State::Holding { .. } | State::Lost { .. });
        assert!(!working || still || *input == Input::WorkStopped, "{state}, {name}");
        let asks = output.request.as_ref().map(|request| &request.action);
        let harmless = matches!(asks, None | Some(Action::Renew(_)));
        assert!(!working || *input == Input::WorkStopped || harmless, "{state}, {name}: asks {asks:?}");
        assert!(!before.shutdown || !matches!(asks, Some(Action::Acquire(_))), "{state}, {name}");
    });
}

/// One request at a time, each with an id of its own, and a moment to be called again while there is more to do.
#[test]
fn at_most_one_request_is_awaited() {
    every_step(|state, name, before, now, _, after, output| {
        let flight = after.state.flight();
        match &output.request {
            Some(request) => {
                assert_eq!(flight.map(|flight| flight.id), Some(request.id), "{state}, {name}");
                assert!(request.id.0 > before.requests, "{state}, {name}: an id used twice");
                assert_eq!(flight.map(|flight| flight.sent), Some(now), "{state}, {name}");
            }
            None => assert!(flight.is_none() || flight == before.state.flight(), "{state}, {name}"),
        }
        let idle = matches!(after.state, State::Lost { .. } | State::Ended);
        assert_eq!(output.next.is_none(), idle, "{state}, {name}");
        assert!(output.next.is_none_or(|next| next > now), "{state}, {name}: would spin");
    });
}

/// A call that was not needed changes nothing.
#[test]
fn waking_twice_is_waking_once() {
    for (state, mut contender) in states() {
        contender.step(NOW, 0, Input::Wake);
        let before = contender.clone();
        let output = contender.step(NOW, 0, Input::Wake);
        assert_eq!((contender, output.request, output.events), (before, None, vec![]), "{state}");
    }
}

/// SPEC.md R7: whoever finds his own row for the third time, and believes in nothing, stands back: its grants come too
/// late, or their answers never come. One in time forgives.
#[test]
fn vain_grants_make_it_stand_back_until_one_is_in_time() {
    let (_, own) = rows().into_iter().find(|(name, _)| *name == "its own, live").unwrap();
    let mut contender = states().swap_remove(5).1;
    for round in 1..=4 {
        contender.state = State::Reading(flight());
        let reply = Reply::Seen { seen: own.clone(), wall: WALL };
        let output = contender.step(NOW, 0, Input::Reply { id: flight().id, reply });
        assert_eq!(contender.vain_grants, round);
        assert_eq!(output.request.is_some(), round < 3, "{round}");
        assert_eq!(matches!(output.events[..], [Event::Held(_)]), round >= 3, "{round}");
    }
    contender.state = State::Acquiring(flight());
    contender.step(NOW, 0, Input::Reply { id: flight().id, reply: Reply::Granted(fence(9)) });
    assert_eq!((contender.vain_grants, contender.tenure().unwrap().fence), (0, fence(9)));
}

/// A release is not waited for beyond the time that there was for all its tries.
#[test]
fn the_last_try_of_a_release_ends_with_the_others() {
    let state = State::Releasing { fence: fence(5), give_up_at: NOW.plus(100), release: Errand::Due(NOW) };
    let mut contender = Contender { state, ..states().swap_remove(9).1 };
    let output = contender.step(NOW, 0, Input::Wake);
    assert_eq!(output.next, Some(NOW.plus(100)));
    let output = contender.step(NOW.plus(100), 0, Input::Wake);
    assert_eq!(output.events, [Event::NotReleased(None)]);
}

/// The spread of polls and renewals stays within what the timing was checked for.
#[test]
fn jitter_keeps_renewals_early_and_polls_near() {
    for roll in (0..10_000).chain([u64::MAX]) {
        let turn = Turn { now: NOW, roll, out: Output::default() };
        assert!((4_500..=5_000).contains(&turn.at_most(5_000)));
        let later = NOW.until(turn.later(1_000)).as_millis();
        assert!((875..=1_125).contains(&later));
    }
}
