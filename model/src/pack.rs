//! A state in a few words: one for the store and one for each contender.
//!
//! Every state that is generated is hashed and looked up. Field by field that costs more than the step that led to the
//! state. A tick, a fence and the number of a case fit in four bits each.

use crate::state::{
    Act, Contender, Expiry, Flight, Ghost, Holder, Late, Message, Phase, Reply, Request, Row, Seen, State,
    Ticks,
};
use std::hash::{Hash, Hasher};

/// Values of a few bits each, in one word. The order in which they are put in tells them apart.
struct Word(u128);

impl Word {
    fn put(self, bits: u32, value: u8) -> Word {
        debug_assert!(u32::from(value) < 1 << bits && self.0 >> (128 - bits) == 0);
        Word(self.0 << bits | u128::from(value))
    }

    /// A count that may be missing.
    fn ticks(self, ticks: Option<Ticks>) -> Word {
        self.put(4, ticks.map_or(0, |ticks| ticks + 1))
    }

    fn holder(self, holder: Holder) -> Word {
        self.put(
            3,
            match holder {
                Holder::Contender(who) => who.0,
                Holder::Gone(policy) => 4 + policy as u8,
            },
        )
    }

    fn seen(self, seen: Seen) -> Word {
        match seen {
            Seen::Absent => self.put(2, 0).put(7, 0),
            Seen::Outdated => self.put(2, 1).put(7, 0),
            Seen::Unseen => self.put(2, 2).put(7, 0),
            Seen::Row(holder, fence) => self.put(2, 3).holder(holder).put(4, fence.0),
        }
    }

    fn row(self, row: Option<Row>) -> Word {
        let Some(Row { holder, fence, expiry }) = row else { return self.put(7, 0).put(5, 31) };
        self.holder(holder).put(4, fence.0).put(
            5,
            match expiry {
                Expiry::In(left) => left,
                Expiry::Released => 16,
                Expiry::Far => 17,
                Expiry::Unreadable => 18,
            },
        )
    }

    fn phase(self, phase: Phase) -> Word {
        let (number, fence, rest) = match phase {
            Phase::Waiting => (0, 0, 0),
            Phase::Reading(seen) => return self.put(4, 1).seen(seen),
            Phase::Acquiring => (2, 0, 0),
            Phase::Holding { fence, left } => (3, fence.0, left),
            Phase::Dropped { fence, left } => (4, fence.0, left),
            Phase::Lost { fence, reason } => (5, fence.0, reason as u8),
            Phase::Releasing { fence, left } => (6, fence.0, left),
            Phase::WentBack => (7, 0, 0),
            Phase::Ended => (8, 0, 0),
            Phase::Crashed { held } => (9, 0, held as u8),
        };
        self.put(4, number).put(5, fence).put(4, rest)
    }

    fn flight(self, flight: Option<Flight>) -> Word {
        let Some(Flight { message, left }) = flight else { return self.put(8, 0).put(8, 0).put(4, 0) };
        let (number, fence) = match message {
            Message::Sent(Request::Acquire(seen, floor)) => {
                return self.put(3, 1).seen(seen).put(4, floor.0).put(4, left);
            }
            Message::Sent(Request::Renew(fence)) => (2, fence.0),
            Message::Sent(Request::Release(fence)) => (3, fence.0),
            Message::Answered(Reply::Granted(fence)) => (4, fence.0),
            Message::Answered(Reply::Renewed) => (5, 0),
            Message::Answered(Reply::Released) => (6, 0),
            Message::Answered(Reply::Refused) => (7, 0),
        };
        self.put(3, number).put(8, 0).put(5, fence).put(4, left)
    }

    fn act(self, act: Option<Act>) -> Word {
        let Some(Act { fence, by, stands }) = act else { return self.put(4, 0).put(5, 0) };
        self.put(4, fence.0 + 1).holder(by).put(2, stands as u8)
    }

    fn contender(self, one: &Contender, late: Late) -> Word {
        self.put(2, one.clock as u8)
            .phase(one.phase)
            .flight(one.flight)
            .put(1, one.stopping as u8)
            .put(1, one.floor_given as u8)
            .put(1, one.moved as u8)
            .ticks(one.watched)
            .ticks(one.noted)
            .put(4, one.steady)
            .put(4, one.floor.0)
            .put(2, one.stands as u8)
            .act(one.act)
            .put(4, late.bits())
    }

    fn ghost(self, ghost: &Ghost) -> Word {
        let [high, low] = ghost.begun.to_be_bytes();
        let happened = [
            ghost.given_back,
            ghost.not_rising,
            ghost.begun_twice,
            ghost.begun_unwanted,
            ghost.unreleased,
            ghost.renewed_others,
            ghost.stale_landed,
        ];
        let word = self.put(4, ghost.top.0).put(8, high).put(8, low);
        happened.into_iter().fold(word, |word, happened| word.put(1, happened as u8))
    }
}

/// A state, packed: two states are the same exactly when these are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packed<const N: usize> {
    store: u128,
    contenders: [u128; N],
}

impl<const N: usize> State<N> {
    /// This state, packed.
    pub fn packed(&self) -> Packed<N> {
        let rows = [self.row, self.failed, self.durable, self.backup, self.old_file];
        let rows = rows.into_iter().fold(Word(0), Word::row);
        let late = self.orphaned.iter().fold(rows, |word, late| word.put(4, late.bits()));
        let gate = late.put(4, self.gate.fence.0).holder(self.gate.by);
        let contender = |i: usize| Word(0).contender(&self.contenders[i], self.late[i]).0;
        Packed { store: gate.ghost(&self.ghost).0, contenders: std::array::from_fn(contender) }
    }
}

impl<const N: usize> Hash for State<N> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.packed().hash(hasher);
    }
}
