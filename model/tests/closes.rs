//! The model holds, in every configuration.

use model::Lease;
use model::actions::Action;
use model::check::{ALL, Explored, Known, THREE, TWO, explore};
use model::config::{Config, Part};
use model::progress::measure;
use model::state::State;
use stateright::Model;
use std::collections::{HashSet, VecDeque};
use std::io::Write;
use std::sync::Mutex;

/// Explores it, says what was found although a test that passes says nothing, and gives every action that happened.
fn closes<const N: usize>(known: &Known<N>) -> HashSet<Action> {
    let mut happened = HashSet::new();
    let explored: Explored = explore::<N>(known.config);
    let progress = measure(&Lease::<N>::new(known.config), |action| {
        happened.insert(action);
    });
    let tell = |out: &mut dyn Write| {
        writeln!(
            out,
            "{}:\n{explored}  each contender can come to act within {} ticks",
            known.name, progress.longest
        )
    };
    tell(&mut std::io::stdout()).ok();
    assert!(explored.is_as_known(known.generated, known.unique), "{}: {explored}", known.name);
    assert!(progress.stuck.is_none(), "{}: somebody is stuck after {:?}", known.name, progress.stuck);
    assert!(progress.lost_handover.is_none(), "{}: {:?}", known.name, progress.lost_handover);
    assert_eq!((progress.states, progress.longest), (known.unique, known.wait), "{}", known.name);
    happened
}

/// And everything that can happen happens: otherwise a property could hold because what it forbids is never tried. Two
/// at a time, since a second thread does not make one of them faster.
#[test]
fn two_contenders_are_safe_for_ever_whatever_goes_wrong() {
    let (ahead, happened) = (Mutex::new(ALL.iter()), Mutex::new(HashSet::new()));
    let next = || ahead.lock().unwrap().next();
    let work = || {
        while let Some(known) = next() {
            let found = closes(known); // not while the others wait
            happened.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let happened = happened.into_inner().unwrap();
    let of =
        |known: &Known<2>| Action::all(2).filter(|action| action.is_of(&known.config, 2)).collect::<Vec<_>>();
    let missing: HashSet<Action> =
        ALL.iter().flat_map(of).filter(|action| !happened.contains(action)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn three_contenders_are_safe_for_ever() {
    closes(&THREE);
}

#[test]
fn every_part_of_the_world_is_in_a_configuration_that_is_explored() {
    use clap::ValueEnum;
    let explored = |part: &Part| ALL.iter().any(|known| known.config.has(*part));
    let missing: Vec<_> = Part::value_variants().iter().filter(|part| !explored(part)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Breadth first, with nothing of stateright and nothing of ours but the steps. The checker knows states by a hash of 64
/// bits, the walk by a packed form; this knows them by all their fields.
#[test]
fn a_plain_search_of_a_few_lines_counts_the_same() {
    #[derive(PartialEq, Eq)]
    struct Whole(State<2>);
    impl std::hash::Hash for Whole {
        fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
            format!("{:?}", self.0).hash(hasher);
        }
    }
    let known = ALL.iter().min_by_key(|known| known.unique).unwrap();
    let lease = Lease::<2>::new(known.config);
    let mut ahead: VecDeque<State<2>> = lease.init_states().into();
    let mut seen: HashSet<_> = ahead.iter().copied().map(Whole).collect();
    let mut generated = ahead.len();
    while let Some(state) = ahead.pop_front() {
        for next in Action::all(2).filter_map(|action| state.after(&known.config, action)) {
            generated += 1;
            if seen.insert(Whole(next)) {
                ahead.push_back(next);
            }
        }
    }
    assert_eq!((generated, seen.len()), (known.generated, known.unique));
}

#[test]
fn folding_loses_no_verdict() {
    let folded = explore::<2>(Config { fold: true, ..TWO.config });
    let whole = explore::<2>(TWO.config);
    assert_eq!(folded.properties, whole.properties);
    assert!(folded.unique < whole.unique);
}

/// What the checker and the walk look states up by.
#[test]
fn a_state_is_a_few_tens_of_bytes() {
    assert_eq!(size_of::<model::pack::Packed<2>>(), 48);
    assert!(size_of::<State<2>>() <= 96, "{}", size_of::<State<2>>());
}
