//! Every step of the model, done to the state machine that ships.

use super::agree::difference;
use super::twin::Twin;
use model::guard::Guard;
use model::guard::actions::Action;
use model::guard::check::PROMPT;
use model::guard::config::Config;
use model::guard::state::State;
use model::state::Who;
use std::collections::HashSet;
use std::sync::Mutex;

/// The model's state, and what the model does not know: whether the code has waited long enough for its record to be removed.
type Key = (State, [bool; 2]);

fn key(state: State, twin: &Twin) -> Key {
    (state, [Who(0), Who(1)].map(|who| twin.leaves_in(who) == Some(0)))
}

/// Nearest first, as the model is explored. How many states of both there are, and how many steps; tells of each.
fn walk(config: Config, mut tell: impl FnMut(Action)) -> (usize, usize) {
    let guard = Guard { config };
    let (mut known, mut steps) = (HashSet::<Key>::new(), 0);
    let mut level = vec![(State::EMPTY, Twin::new())];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (state, twin) in level {
            for (action, after) in guard.steps(&state).filter(|(action, _)| twin.can(*action)) {
                steps += 1;
                tell(action);
                let mut then = twin.clone();
                then.act(&config, action, &state, &after);
                if let Some(what) = difference(&config, &state, action, &after, &then) {
                    panic!("after {action} in {state:#?}: {what}");
                }
                if known.insert(key(after, &then)) {
                    next.push((after, then));
                }
            }
        }
        level = next;
    }
    (known.len(), steps)
}

/// What is walked through, the largest first; each with how many states and steps it has.
const WALKS: [(Config, (usize, usize)); 3] = [
    (Config { failures: true, late: true, ..PROMPT }, (970_707, 4_804_911)),
    (Config { crashes: true, garbled: true, ..Config::PLAIN }, (396_273, 2_913_917)),
    (Config { ahead: -4, ..PROMPT }, (403_349, 1_860_376)),
];

/// Two at a time. The numbers of states are pinned: a walk that ended early would show.
#[test]
fn the_machine_takes_every_step_that_the_model_takes() {
    let (ahead, happened) = (Mutex::new(WALKS.iter()), Mutex::new(HashSet::new()));
    let next = || ahead.lock().unwrap().next();
    let work = || {
        while let Some((config, known)) = next() {
            let mut did = HashSet::new();
            let found = walk(*config, |action| {
                did.insert(action);
            });
            happened.lock().unwrap().extend(did);
            assert_eq!(found, *known, "{config:?}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let happened = happened.into_inner().unwrap();
    let missing: Vec<Action> = Action::all(2).filter(|action| !happened.contains(action)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
