//! From ranks back to numbers. The model keeps fences as ranks among those that somebody can still mention, so that
//! fence 2 becomes fence 1 once the first is forgotten. A reader wants the number that the store gave out.

use crate::actions::Action;
use crate::config::{Config, Part, Policy};
use crate::state::{Fence, Holder, LateKind, Message, Phase, Reply, Request, Seen, State};
use crate::store::{Sender, carry_out};

/// The number of each rank, from rank 1 on.
#[derive(Clone, Debug)]
pub(super) struct Numbers(Vec<u32>);

impl Numbers {
    /// In this state ranks and numbers are the same.
    pub(super) fn of<const N: usize>(state: &State<N>) -> Numbers {
        Numbers((1..=highest(state)).collect())
    }

    /// How this fence is shown.
    pub(super) fn name(&self, config: &Config, fence: Fence) -> String {
        match fence {
            Fence(0) => "0".to_owned(),
            // The model's integer ends early.
            Fence(3) if config.has(Part::LastFence) => "max".to_owned(),
            Fence(rank) => self.0.get(usize::from(rank) - 1).map_or(u32::from(rank), |n| *n).to_string(),
        }
    }

    /// The numbers after a step. Its ranks are those before it, without what was forgotten, and with at most one
    /// that is new: one above all. Of all the ways to forget, it is the one that leaves most of what is mentioned as
    /// it was.
    pub(super) fn after<const N: usize>(
        self,
        config: &Config,
        before: &State<N>,
        action: Action,
        after: &State<N>,
    ) -> Numbers {
        if config.has(Part::LastFence) {
            return Numbers::of(after);
        }
        let grant = granted(config, before, action);
        let expected = expected(before, action, grant);
        let (found, ranks) = (places(after), highest(after));
        let all = self.with_next();
        let kept = |mask: &u32| mask.count_ones() == ranks && grant.is_none_or(|fence| has(*mask, fence));
        let agreeing = |mask: &u32| {
            let same = |(old, new): &(&Fence, &Fence)| **new != Fence::NONE && rank(*mask, **old) == **new;
            expected.iter().zip(&found).filter(same).count()
        };
        // Of equals the last one counts: what needs no new number.
        let best = (0..1 << all.len()).rev().filter(kept).max_by_key(agreeing);
        best.map_or_else(
            || Numbers::of(after),
            |mask| {
                let bits = (0..).zip(&all).filter(|(bit, _)| mask >> bit & 1 == 1);
                Numbers(bits.map(|(_, number)| *number).collect())
            },
        )
    }

    fn with_next(self) -> Vec<u32> {
        let next = self.0.last().map_or(1, |last| last + 1);
        let mut all = self.0;
        all.push(next);
        all
    }
}

fn has(mask: u32, fence: Fence) -> bool {
    fence == Fence::NONE || mask >> (fence.0 - 1) & 1 == 1
}

/// Its rank among the ranks of the mask; none if it is not one of them.
fn rank(mask: u32, fence: Fence) -> Fence {
    if fence == Fence::NONE || !has(mask, fence) {
        return Fence::NONE;
    }
    let up_to_it = (1 << fence.0) - 1;
    Fence((mask & up_to_it).count_ones() as u8)
}

fn highest<const N: usize>(state: &State<N>) -> u32 {
    u32::from(places(state).into_iter().max().unwrap_or(Fence::NONE).0)
}

/// The fence that this step grants, by the ranks before it.
fn granted<const N: usize>(config: &Config, before: &State<N>, action: Action) -> Option<Fence> {
    match reply(config, before, action)? {
        Reply::Granted(fence) => Some(fence),
        _ => None,
    }
}

/// What the store answers, if this step carries out a request; a grant is by the ranks before it.
pub(super) fn reply<const N: usize>(config: &Config, before: &State<N>, action: Action) -> Option<Reply> {
    let (row, request, by) = match action {
        Action::Execute(who) => {
            let contender = before.contenders[who.index()];
            let row = if contender.moved { before.old_file } else { before.row };
            (row, contender.sent()?, before.sender(config, who))
        }
        Action::ExecuteLate(who, kind) => {
            let by = Sender { age: 0, ..before.sender(config, who) };
            (before.row, late(before, config.policy(who), kind)?, by)
        }
        Action::ExecuteOrphaned(policy, clock, kind) => {
            let by = Sender { holder: Holder::Gone(policy), clock, age: 0 };
            (before.row, late(before, policy, kind)?, by)
        }
        _ => return None,
    };
    Some(carry_out(config, row, request, by).1)
}

/// A late request is bound to the row as it is, but for system A's acquire.
fn late<const N: usize>(before: &State<N>, policy: Policy, kind: LateKind) -> Option<Request> {
    let seen = if policy == Policy::SystemA { Seen::Unseen } else { Seen::of(before.row) };
    match kind {
        LateKind::Acquire => Some(Request::Acquire(seen, Fence::NONE)),
        LateKind::AcquireAbove => Some(Request::Acquire(seen, before.ghost.top)),
        LateKind::Renew => before.row.map(|row| Request::Renew(row.fence)),
        LateKind::Release => before.row.map(|row| Request::Release(row.fence)),
    }
}

/// Where fences are mentioned, in a fixed order: the highest one, the row, others, and five for each contender.
fn places<const N: usize>(state: &State<N>) -> Vec<Fence> {
    let rows = [state.row, state.failed, state.durable, state.backup, state.old_file];
    let mut all = vec![state.ghost.top, state.gate.fence];
    all.extend(rows.map(|row| row.map_or(Fence::NONE, |row| row.fence)));
    for one in &state.contenders {
        let (seen, floor) = match one.flight.map(|flight| flight.message) {
            Some(Message::Sent(Request::Acquire(seen, floor))) => (of_seen(seen), floor),
            Some(
                Message::Sent(Request::Renew(fence) | Request::Release(fence))
                | Message::Answered(Reply::Granted(fence)),
            ) => (fence, Fence::NONE),
            _ => (Fence::NONE, Fence::NONE),
        };
        let phase = match one.phase {
            Phase::Reading(seen) => of_seen(seen),
            Phase::Releasing { fence, .. } => fence,
            _ => one.works().unwrap_or(Fence::NONE),
        };
        all.extend([one.floor, one.act.map_or(Fence::NONE, |act| act.fence), phase, seen, floor]);
    }
    all
}

/// What would be mentioned after the step if nothing were forgotten: what was mentioned, and the grant.
fn expected<const N: usize>(before: &State<N>, action: Action, grant: Option<Fence>) -> Vec<Fence> {
    let mut all = places(before);
    let Some(fence) = grant else { return all };
    (all[0], all[2]) = (all[0].max(fence), fence);
    if let Action::Execute(who) = action {
        all[7 + 5 * who.index() + 3] = fence;
    }
    all
}

fn of_seen(seen: Seen) -> Fence {
    match seen {
        Seen::Row(_, fence) => fence,
        Seen::Absent | Seen::Outdated | Seen::Unseen => Fence::NONE,
    }
}
