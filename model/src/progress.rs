//! How long anybody has to wait for the lease once faults stop.
//!
//! A property of one state cannot say "this contender can come to hold within so many ticks", so this is a pass of its
//! own over the graph of all states: for each contender, backward from the states in which it acts, along those steps
//! that no fault has a part in, counting ticks. A state's distance is then the least number of ticks that must pass before
//! it holds, if the others let it.

use crate::Lease;
use crate::actions::Action;
use crate::clocks::Local;
use crate::config::Config;
use crate::contender::Move;
use crate::properties::{waits_for_an_operator, waits_for_its_user};
use crate::state::{Phase, State, Ticks, Who};
use crate::walk::{Run, Walk};
use std::collections::VecDeque;

/// What was found.
#[derive(Clone, Debug)]
pub struct Progress<const N: usize> {
    /// How many states there are.
    pub states: usize,
    /// In how many of them an operator, or a contender's user, has to do something first.
    pub waiting: usize,
    /// The longest of all shortest waits, and a state that has it.
    pub longest: Ticks,
    /// A run to a state from which somebody can never come to hold, though no person is waited for.
    pub stuck: Option<Run<N>>,
    /// A run to a state in which the lease was given back, somebody has to wait for it all the same.
    pub lost_handover: Option<Run<N>>,
}

impl<const N: usize> Progress<N> {
    /// Whether nobody is stuck, no handover was lost, and this is the longest wait.
    pub fn is_good(&self, longest: Ticks) -> bool {
        self.longest == longest && self.stuck.is_none() && self.lost_handover.is_none()
    }
}

const NEVER: Ticks = Ticks::MAX;

/// What has to be known of a contender in a state.
#[derive(Clone, Copy)]
struct Mark {
    acts: bool,
    waits: bool,
    given_back: bool,
}

/// Explores all states, then measures for each contender. Tells of each step's action.
pub fn measure<const N: usize>(lease: &Lease<N>, mut tell: impl FnMut(Action)) -> Progress<N> {
    let mut walk = Walk::new(lease.clone());
    let (mut marks, mut steps): (Vec<[Mark; N]>, _) = (Vec::new(), Vec::new());
    while walk.known() > marks.len() {
        marks.extend(walk.level().map(|(_, state)| marks_of(&lease.config, state)));
        walk.advance(|state, from, action, to| {
            tell(action);
            if goes_well(state, action) {
                steps.push((to as u32, from as u32, action == Action::Tick(Local::Steady)));
            }
        });
    }
    steps.sort_unstable();
    let mut progress =
        Progress { states: marks.len(), waiting: 0, longest: 0, stuck: None, lost_handover: None };
    for who in 0..N {
        let marks: Vec<Mark> = marks.iter().map(|marks| marks[who]).collect();
        progress.note(&walk, &marks, &distances(&marks, &steps));
    }
    progress
}

fn marks_of<const N: usize>(config: &Config, state: &State<N>) -> [Mark; N] {
    let operator = waits_for_an_operator(config, state);
    std::array::from_fn(|i| {
        let who = Who(i as u8);
        Mark {
            acts: state.contenders[i].acts(config, who).is_some(),
            waits: operator || waits_for_its_user(config, state, who),
            given_back: state.ghost.given_back,
        }
    })
}

impl<const N: usize> Progress<N> {
    fn note(&mut self, walk: &Walk<N>, marks: &[Mark], distances: &[Ticks]) {
        let all = || (0..marks.len()).filter(|at| !marks[*at].waits);
        let first = |wrong: &dyn Fn(usize) -> bool| all().find(|at| wrong(*at)).map(|at| walk.run_to(at));
        let longest = all().map(|at| distances[at]).filter(|ticks| *ticks != NEVER).max();
        self.longest = self.longest.max(longest.unwrap_or(0));
        self.waiting = self.waiting.max(marks.len() - all().count());
        self.stuck = self.stuck.take().or_else(|| first(&|at| distances[at] == NEVER));
        let lost = || first(&|at| marks[at].given_back && distances[at] > 0);
        self.lost_handover = self.lost_handover.take().or_else(lost);
    }
}

/// Whether no fault and no new order has a part in this step. A request on a file that moved can only fail, and whoever
/// waits for his user because the store went back starts again only by that.
fn goes_well<const N: usize>(state: &State<N>, action: Action) -> bool {
    match action {
        Action::Tick(local) => local == Local::Steady,
        Action::Execute(_) => true,
        Action::Move(who, Move::Fail) => state.contenders[who.index()].moved,
        Action::Move(who, Move::Restart) => state.contenders[who.index()].phase != Phase::WentBack,
        Action::Move(_, mv) => !matches!(mv, Move::Shutdown | Move::Crash | Move::DropWork),
        _ => false,
    }
}

/// Backward, ticks counting one and all other steps nothing.
fn distances(marks: &[Mark], steps: &[(u32, u32, bool)]) -> Vec<Ticks> {
    let mut distances = vec![NEVER; marks.len()];
    let mut ahead = VecDeque::new();
    for (at, _) in marks.iter().enumerate().filter(|(_, mark)| mark.acts) {
        distances[at] = 0;
        ahead.push_back((at as u32, 0));
    }
    while let Some((to, ticks)) = ahead.pop_front() {
        if ticks > distances[to as usize] {
            continue;
        }
        let begin = steps.partition_point(|step| step.0 < to);
        for (_, from, is_tick) in steps[begin..].iter().take_while(|step| step.0 == to) {
            let longer = ticks + Ticks::from(*is_tick);
            if longer < distances[*from as usize] {
                distances[*from as usize] = longer;
                let next = (*from, longer);
                if *is_tick { ahead.push_back(next) } else { ahead.push_front(next) }
            }
        }
    }
    distances
}
