//! A walk through all states that looks at everything at once: how many there are, which properties break, which
//! witnesses are found. And one that looks at what the store is asked.

use crate::Lease;
use crate::actions::Action;
use crate::config::Config;
use crate::state::{Phase, Request, Row, State};
use crate::store::Sender;
use crate::walk::Walk;
use ahash::HashSet;
use stateright::{Expectation, Model};

/// What was found.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Steps, and the states to begin with.
    pub generated: usize,
    /// States.
    pub unique: usize,
    /// How many states the longest of the shortest runs to a state has.
    pub depth: usize,
    /// The properties that are not as they should be: broken, or never witnessed.
    pub wrong: Vec<&'static str>,
}

/// Looks at all states. Tells before each level how many states are known, and how many of them are ahead; and of each
/// step where it begins, what it is, and the number of the state it leads to.
pub fn survey<const N: usize>(
    lease: &Lease<N>,
    mut tell: impl FnMut(usize, usize),
    mut visit: impl FnMut(&State<N>, usize, Action, usize),
) -> Survey {
    let properties = lease.properties();
    let mut decided = vec![false; properties.len()];
    let mut walk = Walk::new(lease.clone());
    let mut found = Survey { generated: walk.known(), unique: 0, depth: 0, wrong: Vec::new() };
    while walk.known() > found.unique {
        tell(walk.known(), walk.known() - found.unique);
        found.unique = walk.known();
        found.depth += 1;
        for (property, decided) in properties.iter().zip(&mut decided) {
            let looks_for = property.expectation != Expectation::Always;
            *decided =
                *decided || walk.level().any(|(_, state)| (property.condition)(lease, state) == looks_for);
        }
        walk.advance(|state, from, action, to| {
            visit(state, from, action, to);
            found.generated += 1;
        });
    }
    let wrong = properties.iter().zip(decided);
    let wrong = wrong.filter(|(p, decided)| *decided == (p.expectation == Expectation::Always));
    found.wrong = wrong.map(|(property, _)| property.name).collect();
    found
}

/// Something that the store is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// Of this row.
    pub row: Option<Row>,
    /// This; `None`: to show it.
    pub request: Option<Request>,
    /// Who asks.
    pub by: Sender,
}

/// What two contenders ask the store in any state, also where it would change nothing.
pub fn asked(config: Config) -> HashSet<Asked> {
    let lease = Lease::<2>::new(config);
    let (mut walk, mut states, mut asked) = (Walk::new(lease.clone()), 0, HashSet::default());
    while walk.known() > states {
        states = walk.known();
        for (_, state) in walk.level() {
            let row = state.row;
            let writes = lease.offered(state).filter_map(|action| state.asked(&config, action));
            asked.extend(writes.map(|(request, by)| Asked { row, request: Some(request), by }));
            asked.extend(readers(&config, state).map(|by| Asked { row, request: None, by }));
        }
        walk.advance(|_, _, _, _| ());
    }
    asked
}

/// A read is a move of the contender's, here, and no request. What one that is to stop makes of it is no matter of the
/// store's.
fn readers(config: &Config, state: &State<2>) -> impl Iterator<Item = Sender> {
    let waiting = state.named().filter(|(_, one)| one.phase == Phase::Waiting && !one.stopping);
    waiting.map(|(who, _)| state.sender(config, who))
}
