//! What contenders ask the store for, and what it answers.

use crate::actions::Action;
use crate::config::Config;
use crate::faults::Fault;
use crate::state::{Fence, Holder, Row, State, Ticks};
use crate::store::Sender;

/// The row as a read showed it, as far as an acquire is bound to it: absent, or exactly that holder
/// and fence. SPEC.md R1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Seen {
    /// There was no row.
    Absent,
    /// There was a row of this holder, with this fence.
    Row(Holder, Fence),
    /// There was something that is no more, and never will be again (see [`crate::normal`]).
    Outdated,
    /// System A does not look first: its acquire is bound to nothing.
    Unseen,
}

impl Seen {
    /// What a read of this row shows.
    pub fn of(row: Option<Row>) -> Seen {
        row.map_or(Seen::Absent, |row| Seen::Row(row.holder, row.fence))
    }
}

/// What a contender asks the store for. Who asks, and by which wall clock, travels along.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Request {
    /// Take the lease, if it is still as seen, and free. The new fence is above the stored one and above this
    /// floor, which a user gave; without one it is [`Fence::NONE`]. SPEC.md R11.
    Acquire(Seen, Fence),
    /// Push the expiry of this tenure out.
    Renew(Fence),
    /// Let this tenure's row go.
    Release(Fence),
}

/// What the store answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reply {
    /// Acquired, with this fence.
    Granted(Fence),
    /// Renewed.
    Renewed,
    /// Released.
    Released,
    /// The row was not as the request demanded; nothing has changed.
    Refused,
}

/// Where the request is that a contender waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Message {
    /// On its way to the store.
    Sent(Request),
    /// Carried out; the reply is on its way back.
    Answered(Reply),
}

/// A request that a contender waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Flight {
    /// Where it is.
    pub message: Message,
    /// Ticks until the deadline that a grant would give, counted since the request was *sent*.
    pub left: Ticks,
}

/// A kind of request that nobody waits for any more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LateKind {
    /// An acquire.
    Acquire,
    /// An acquire with a floor that a user gave.
    AcquireAbove,
    /// A renewal.
    Renew,
    /// A release.
    Release,
}

impl LateKind {
    /// Every kind.
    pub const ALL: [LateKind; 4] =
        [LateKind::Acquire, LateKind::AcquireAbove, LateKind::Renew, LateKind::Release];
}

/// The requests of one sender that nobody waits for any more: it gave up on them, or is gone. Each
/// may be carried out at any later time, any number of times, or never; the reply goes nowhere.
/// SPEC.md R7.
///
/// All of them are bound to the row as it is. Others will be refused for ever, change nothing and
/// tell nobody, so they are forgotten (see [`crate::normal`]). That is why a set of kinds is enough for
/// any number of requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Late(u8);

impl Late {
    /// Whether there is one of this kind.
    pub fn has(self, kind: LateKind) -> bool {
        self.0 & Late::only(kind).0 != 0
    }

    /// The kinds, as a set of bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// One request.
    pub fn only(kind: LateKind) -> Late {
        Late(1 << kind as u8)
    }

    /// These and those.
    pub fn and(self, other: Late) -> Late {
        Late(self.0 | other.0)
    }

    /// Those of these kinds that are to be kept.
    pub fn keep(self, kinds: &[LateKind], keep: bool) -> Late {
        let of_these = kinds.iter().fold(Late::default(), |all, kind| all.and(Late::only(*kind)));
        if keep { self } else { Late(self.0 & !of_these.0) }
    }
}

impl<const N: usize> State<N> {
    /// The request that the store carries out by this action, and who asks. A file that has moved carries out nothing.
    pub fn asked(&self, config: &Config, action: Action) -> Option<(Request, Sender)> {
        match action {
            Action::Execute(who) | Action::Suffer(Fault::FailButWrite(who)) => {
                let contender = self.contenders[who.index()];
                let request = contender.sent().filter(|_| !contender.moved)?;
                Some((request, self.sender(config, who)))
            }
            Action::ExecuteLate(who, kind) => {
                let request = self.late_request(kind, self.late[who.index()].has(kind))?;
                Some((request, Sender { age: 0, ..self.sender(config, who) }))
            }
            Action::ExecuteOrphaned(policy, clock, kind) => {
                let request = self.late_request(kind, self.orphaned[policy as usize].has(kind))?;
                config.clocks().contains(&clock).then_some(())?;
                Some((request, Sender { holder: Holder::Gone(policy), clock, age: 0 }))
            }
            _ => None,
        }
    }

    /// A late request, as it was sent: it is bound to the row as it is.
    fn late_request(&self, kind: LateKind, exists: bool) -> Option<Request> {
        let seen = Seen::of(self.row);
        exists.then(|| match kind {
            LateKind::Acquire => Some(Request::Acquire(seen, Fence::NONE)),
            LateKind::AcquireAbove => Some(Request::Acquire(seen, self.ghost.top)),
            LateKind::Renew => self.row.map(|row| Request::Renew(row.fence)),
            LateKind::Release => self.row.map(|row| Request::Release(row.fence)),
        })?
    }
}
