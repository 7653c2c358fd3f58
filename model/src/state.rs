//! What there is: one row, the contenders, the requests nobody waits for any more.
//!
//! Every time in here is a number of ticks *left*, never a date, and every fence is a rank, never a
//! number that grows. So a lease that has changed hands a million times looks like one that has
//! changed hands twice, and the space of states is finite although runs are not.

use crate::actions::LateKind;

/// Ticks.
pub type Ticks = u8;

/// The number of a tenure, as its rank among the fences that somebody can still mention: the
/// smallest is 1. `Fence::NONE` is below them all. SPEC.md R2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fence(pub u8);

impl Fence {
    /// Below every fence that was ever granted.
    pub const NONE: Fence = Fence(0);

    /// The set that holds this fence only.
    pub fn bit(self) -> u8 {
        1 << self.0
    }
}

/// One of the contenders, by its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Who(pub u8);

impl Who {
    /// Its place.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A holder id. A contender that ends or crashes and starts again is a new contender with a new id:
/// whatever its earlier self wrote is from then on somebody's who is gone. SPEC.md R10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Holder {
    /// A contender as it is now.
    Contender(Who),
    /// An earlier self of some contender.
    Gone,
}

/// When a row expires. SPEC.md R3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expiry {
    /// Released: free for everybody, whatever the clocks say.
    Released,
    /// Ticks until the stored time comes on a clock that is not ahead; 0 also stands for the past.
    In(Ticks),
}

/// The lease's row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Row {
    /// Who wrote it.
    pub holder: Holder,
    /// The holder's tenure.
    pub fence: Fence,
    /// When it becomes free.
    pub expiry: Expiry,
}

/// A wall clock. How far it is ahead never changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Clock {
    /// Not ahead.
    Even,
    /// Ahead by the whole skew.
    Ahead,
}

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
    /// Take the lease, if it is still as seen, and free.
    Acquire(Seen),
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

/// Why a tenure was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Its deadline passed.
    Deadline,
    /// The store said that the row is another tenure's, or no longer alive.
    Superseded,
}

/// What a contender is doing: the states of SPEC.md's state machine, by the same names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// It has nothing and will read.
    Waiting,
    /// It read a row that it may take, and has not sent the acquire yet.
    Reading(Seen),
    /// Its acquire is in flight.
    Acquiring,
    /// It has a tenure, and work runs.
    Holding {
        /// The tenure's fence.
        fence: Fence,
        /// Ticks until its deadline. At 0 it holds nothing, whether it has noticed or not.
        left: Ticks,
    },
    /// Its tenure is over, its work may still run.
    Lost {
        /// The fence that the work may still carry.
        fence: Fence,
        /// Why it is over.
        reason: Reason,
    },
    /// Its work has stopped; the release is to be sent, or in flight. SPEC.md R6.
    Releasing {
        /// The tenure's fence.
        fence: Fence,
        /// Ticks until the deadline it would have had.
        left: Ticks,
    },
    /// It has shut down.
    Ended,
    /// It has crashed and forgotten everything.
    Crashed {
        /// Whether it held a tenure then; no rule looks at this, only a property does.
        held: bool,
    },
}

/// One contender. All clocks tick together, the wall clocks a constant apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender {
    /// Its wall clock.
    pub clock: Clock,
    /// What it is doing.
    pub phase: Phase,
    /// What it waits for.
    pub flight: Option<Flight>,
    /// It was asked to shut down.
    pub stopping: bool,
}

impl Contender {
    /// A contender that has just started.
    pub fn new(clock: Clock) -> Contender {
        Contender { clock, phase: Phase::Waiting, flight: None, stopping: false }
    }

    /// The request that it has sent and that the store has not carried out yet.
    pub fn sent(&self) -> Option<Request> {
        match self.flight?.message {
            Message::Sent(request) => Some(request),
            Message::Answered(_) => None,
        }
    }

    /// The tenure it believes in. Every check asks this, and this asks the clock: no timer has to
    /// fire and no call has to return for a belief to end. SPEC.md R5.
    pub fn believes(&self) -> Option<Fence> {
        match self.phase {
            Phase::Holding { fence, left } if left > 0 => Some(fence),
            _ => None,
        }
    }

    /// The tenure for which its work runs, or may still run.
    pub fn works(&self) -> Option<Fence> {
        match self.phase {
            Phase::Holding { fence, .. } | Phase::Lost { fence, .. } => Some(fence),
            _ => None,
        }
    }
}

/// The requests of one sender that nobody waits for any more: it gave up on them, or is gone. Each
/// may be carried out at any later time, any number of times, or never; the reply goes nowhere.
/// SPEC.md R7.
///
/// All of them are bound to the row as it is. Others will be refused for ever, change nothing and
/// tell nobody, so they are forgotten (see [`crate::normal`]). That is why three bits are enough for
/// any number of requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Late {
    /// An acquire.
    pub acquire: bool,
    /// A renewal.
    pub renew: bool,
    /// A release.
    pub release: bool,
}

impl Late {
    /// Whether there is one of this kind.
    pub fn has(&self, kind: LateKind) -> bool {
        match kind {
            LateKind::Acquire => self.acquire,
            LateKind::Renew => self.renew,
            LateKind::Release => self.release,
        }
    }
}

/// What happened, for the properties: no rule reads it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ghost {
    /// The highest fence granted so far.
    pub top: Fence,
    /// The fences, as a set of bits, in which somebody has once begun to believe.
    pub begun: u8,
    /// A fence was granted that was not above all before.
    pub not_rising: bool,
    /// Two tenures began with the same fence.
    pub begun_twice: bool,
    /// A tenure began although its contender had been asked to shut down.
    pub begun_unwanted: bool,
    /// A released row was no longer released, and not because of a grant.
    pub unreleased: bool,
}

/// Everything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State<const N: usize> {
    /// The lease's row.
    pub row: Option<Row>,
    /// The contenders.
    pub contenders: [Contender; N],
    /// What each of them no longer waits for.
    pub late: [Late; N],
    /// What earlier selves left behind; of a sender who is gone only the [`Clock`] matters.
    pub orphaned: [Late; 2],
    /// What happened so far.
    pub ghost: Ghost,
}

impl<const N: usize> State<N> {
    /// No row yet, and nobody has done anything.
    pub fn new(clocks: [Clock; N]) -> State<N> {
        State {
            row: None,
            contenders: clocks.map(Contender::new),
            late: [Late::default(); N],
            orphaned: [Late::default(); 2],
            ghost: Ghost {
                top: Fence::NONE,
                begun: 0,
                not_rising: false,
                begun_twice: false,
                begun_unwanted: false,
                unreleased: false,
            },
        }
    }

    /// The contenders, each with its name.
    pub fn named(&self) -> impl Iterator<Item = (Who, &Contender)> {
        (0..).map(Who).zip(&self.contenders)
    }
}
