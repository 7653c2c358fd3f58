//! Runs of the guard whole: random ones, and the race.

use super::whole::{CONFIG, Play};
use crate::traces::{from_environment, runner};
use model::guard::actions::Action::{self, Execute, Hear, Start, Tick};
use model::state::Who;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};
use std::collections::HashSet;
use std::sync::Mutex;

const A: Who = Who(0);
const B: Who = Who(1);

/// The shortest run in which two run, with what the code does at once left out: it wakes by itself.
#[rustfmt::skip]
const RACE: [Action; 16] = [
    Start(A), Start(B), Execute(A), Execute(B), Hear(A), Execute(A), Hear(A), Tick, Hear(B), Execute(A), Execute(B), Hear(A),
    Hear(B), Tick, Execute(B), Hear(B),
];

/// Traces that begin as a race does, more or less far: by chance alone two run in none of a thousand.
fn beginnings() -> impl Strategy<Value = Vec<Action>> {
    let tries = proptest::collection::vec(tries(), 0..=400);
    (0..=RACE.len(), tries).prop_map(|(far, tries)| [&RACE[..far], &tries].concat())
}

/// What a trace tries; mostly what makes things go on.
fn tries() -> impl Strategy<Value = Action> + use<> {
    let each = Action::all(2)
        .filter(|action| !matches!(action, Action::Wake(_) | Action::Leave(_) | Action::Crash(_)));
    let often = |action: Action| match action {
        Action::Execute(_) | Action::Hear(_) => 60,
        Action::Tick | Action::Start(_) | Action::ExecuteLate(_) => 40,
        Action::Fail(_) | Action::FailLate(_) => 8,
        Action::StandDown(_) => 4,
        _ => 1,
    };
    let drawn: Vec<Action> = each.flat_map(|action| std::iter::repeat_n(action, often(action))).collect();
    (0..drawn.len()).no_shrink().prop_map(move |which| drawn[which])
}

#[test]
fn the_whole_guard_goes_through_the_models_runs() {
    let traces = from_environment("TENURE_TRACES", 1_000);
    let did = Mutex::new((HashSet::new(), 0, 0));
    let (mut runner, seed) = runner(traces);
    let outcome = runner.run(&beginnings(), |trace| {
        let mut play = Play::new();
        let played = play.play(&trace).map_err(TestCaseError::fail);
        let mut did = did.lock().unwrap();
        did.0.extend(play.did.iter().copied());
        did.1 += play.did.len();
        did.2 += usize::from(play.raced);
        played
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, _)) => panic!("with seed {seed}: {why}"),
        Err(TestError::Abort(why)) => panic!("with seed {seed}: {why}"),
    }
    let (did, steps, raced) = did.into_inner().unwrap();
    let average = steps / traces as usize;
    tests::say(format!("guard: {traces} traces of {average} steps, two ran in {raced}"));
    let missing: Vec<Action> = Action::all(2)
        .filter(|action| !did.contains(action) && !matches!(action, Action::Crash(_)))
        .collect();
    assert!(missing.is_empty() || traces < 100, "{missing:?}");
}

/// The shortest run in which two run, as the module's page shows it; and its end.
#[test]
fn two_guards_race_as_the_page_shows_and_one_is_told_to_stop() {
    let mut play = Play::new();
    play.play(&RACE).unwrap();
    assert!(play.state.two_run());
    let told = model::guard::walk::race(&model::guard::Guard {
        config: model::guard::config::Config { delay: Some(CONFIG.settle), ..CONFIG },
    });
    let steps = |run: &[Action]| run.iter().filter(|action| !matches!(action, Action::Wake(_))).count();
    assert_eq!(told.map(|run| steps(&run)), Some(steps(&play.did)), "there is none that is shorter");
    play.play(&[Execute(A), Hear(A)]).unwrap();
    assert!(!play.state.two_run());
}
