//! The shipped code through the model's traces.
//!
//! A trace is a list of the model's actions (`model::actions::Action`). Each is tried on the model and on the shipped code,
//! which works on a real SQLite file. Of a contender's own moves most are the same to the code, a call at that moment: it does
//! what is due, and what it does is then a move of the model, or the trace has failed. `play` says how, `agree` where both must be the same, `history` what must hold
//! besides, `tally` what a trace cannot do, and why. A trace that failed is in `kept`, and played each time.

mod agree;
mod bare;
mod blackout;
mod ground;
mod history;
mod kept;
mod late;
mod moves;
mod play;
mod recover;
mod seat;
mod stack;
mod steps;
mod tally;
mod trace;
mod whole;

use bare::Bare;
use ground::Ground;
use model::actions::Action;
use model::config::Part;
use model::contender::Move;
use model::state::{LateKind, Who};
use play::{Play, Wrong};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use stack::Stack;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tally::{Tally, cannot, named};
use tenure::store::SqliteStore;
use tests::say;
use trace::{Try, World};
use whole::Whole;

/// What may go wrong besides.
const OPTIONAL: &[Part] = &[Part::WrongClocks, Part::UnreadableRow, Part::FencedActs];

/// The same for contenders that have no transactions.
const OPTIONAL_BARE: &[Part] = &[Part::WrongClocks, Part::UnreadableRow];

/// A number that the environment may set: more traces, or other ones.
pub(crate) fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Plays a trace with contenders that `sit` makes; what was played is told as the model's timeline if it goes wrong.
fn play<'a, S: Stack, const N: usize>(
    ground: &'a Ground,
    (world, trace): (&'a World, &[Try]),
    stacks: Vec<S>,
    lease: String,
    tally: &'a mut Tally,
) -> Result<(), Wrong> {
    let mut play = Play::<S, N>::new(ground, world, lease, stacks, tally);
    let played = catch_unwind(AssertUnwindSafe(|| play.play(trace)));
    played.unwrap_or_else(|panic| Err(format!("a panic: {}", words(&*panic)))).map_err(|wrong| {
        let story = model::explain::of_run(&world.config(), &play.run(), &wrong);
        format!("{wrong}\n\n{story}")
    })
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref().copied()).unwrap_or("?")
}

/// Where traces are played, one after the other: two files, and stores for contenders that have none.
struct Stage {
    grounds: [Ground; 2],
    stores: [RefCell<Vec<SqliteStore>>; 2],
    tally: RefCell<Tally>,
    traces: RefCell<u64>,
}

impl Stage {
    fn new() -> Self {
        let grounds = [true, false].map(Ground::new);
        let stores = [&grounds[0], &grounds[1]]
            .map(|ground| RefCell::new(ground.clocks.iter().map(|clock| ground.db.store(clock)).collect()));
        Self { grounds, stores, tally: RefCell::default(), traces: RefCell::new(0) }
    }

    fn whole(&self, world: &World, trace: &[Try]) -> Result<(), Wrong> {
        let ground = &self.grounds[usize::from(!world.wal)];
        let (lease, seed) = (ground.new_lease(), self.next());
        let stacks = (0..world.contenders).map(|who| Whole::new(ground, &lease, who, seed)).collect();
        self.play(ground, world, trace, stacks, lease.clone())
    }

    fn bare(&self, world: &World, trace: &[Try]) -> Result<(), Wrong> {
        let at = usize::from(!world.wal);
        let (ground, mut stores) = (&self.grounds[at], self.stores[at].borrow_mut());
        let (lease, seed) = (ground.new_lease(), self.next());
        let stores = stores.iter_mut().take(world.contenders).enumerate();
        let stacks = stores.map(|(who, store)| Bare::new(ground, store, &lease, who, seed)).collect();
        self.play(ground, world, trace, stacks, lease.clone())
    }

    fn next(&self) -> u64 {
        *self.traces.borrow_mut() += 1;
        *self.traces.borrow()
    }

    fn play<S: Stack>(
        &self,
        ground: &Ground,
        world: &World,
        trace: &[Try],
        stacks: Vec<S>,
        lease: String,
    ) -> Result<(), Wrong> {
        let tally = &mut self.tally.borrow_mut();
        tally.traces += 1;
        let played = (world, trace);
        match world.contenders {
            2 => play::<S, 2>(ground, played, stacks, lease, tally),
            3 => play::<S, 3>(ground, played, stacks, lease, tally),
            4 => play::<S, 4>(ground, played, stacks, lease, tally),
            5 => play::<S, 5>(ground, played, stacks, lease, tally),
            other => Err(format!("from two to five contenders, not {other}")),
        }
    }
}

/// Traces with a fixed seed, unless the environment gives another.
pub(crate) fn runner(traces: u64) -> (TestRunner, u64) {
    let seed = from_environment("TENURE_SEED", 0);
    let config = Config {
        cases: u32::try_from(traces).expect("fewer traces"),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    (TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)), seed)
}

/// Plays so many traces; what fails is shrunk, and told so that it can be kept.
fn play_all(
    traces: u64,
    strategy: impl Strategy<Value = (World, Vec<Try>)>,
    play: impl Fn(&World, &[Try]) -> Result<(), Wrong>,
) {
    let (mut runner, seed) = runner(traces);
    let outcome = runner.run(&strategy, |(world, trace)| play(&world, &trace).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (world, trace))) => {
            panic!("with seed {seed}: {why}\n\nTo be kept:\n{}", kept::written(&world, &trace))
        }
        Err(TestError::Abort(why)) => panic!("with seed {seed}: {why}"),
    }
}

#[test]
fn the_whole_stack_goes_through_the_models_traces() {
    let stage = Stage::new();
    let traces = from_environment("TENURE_TRACES", 1_000);
    let strategy = World::any(OPTIONAL).prop_flat_map(|world| world.traces(1_200));
    play_all(traces, strategy, |world, trace| stage.whole(world, trace));
    let tally = stage.tally.borrow();
    say(&*tally);
    // An elector's contender is gone when it gives up on a release: it is one of somebody gone.
    let gives_up = Action::ExecuteLate(Who(0), LateKind::Release);
    let missing = tally.missing(Action::all(2).filter(|action| named(*action) != named(gives_up)));
    assert!(traces < 1_000 || missing.is_empty(), "{missing:?}");
}

#[test]
fn state_machine_and_store_go_through_the_models_traces() {
    let stage = Stage::new();
    let traces = from_environment("TENURE_SHORT_TRACES", 100_000);
    // In WAL, which is quicker; `rows` has each request in both modes.
    let world = World::any(OPTIONAL_BARE).prop_map(|world| World { wal: true, ..world });
    let strategy = world.prop_flat_map(|world| world.traces(150));
    play_all(traces, strategy, |world, trace| stage.bare(world, trace));
    let tally = stage.tally.borrow();
    say(&*tally);
    // What acts in transactions is no part of it.
    let acts = [Action::Move(Who(0), Move::Begin), Action::Land(Who(0))].map(named);
    let missing = tally.missing(Action::all(2).filter(|action| !acts.contains(&named(*action))));
    assert!(traces < 100_000 || missing.is_empty(), "{missing:?}");
}

#[test]
fn what_failed_once_is_played_again() {
    let stage = Stage::new();
    for (name, (world, trace)) in kept::all() {
        let whole = stage.whole(&world, &trace);
        let bare = if world.parts.contains(&Part::FencedActs) { Ok(()) } else { stage.bare(&world, &trace) };
        whole.and(bare).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    }
}

/// What a trace cannot do is in README.md with the reason, and nothing else is; all other actions must occur.
#[test]
fn readme_says_what_a_trace_cannot_do_and_why() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let reasons: BTreeSet<&str> = Action::all(2).filter_map(cannot).collect();
    let rows = readme.split("### What a trace cannot do").nth(1).unwrap().lines();
    let rows =
        rows.skip_while(|line| !line.starts_with("|--")).skip(1).take_while(|line| line.starts_with('|'));
    let told: BTreeSet<&str> =
        rows.filter_map(|row| row.trim_matches(['|', ' ']).split(" | ").nth(1)).collect();
    assert_eq!(told, reasons);
}
