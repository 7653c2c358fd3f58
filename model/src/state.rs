//! What there is: one row, the contenders, the requests nobody waits for any more, and what the outside world
//! has of all this.
//!
//! Every time in here is a number of ticks *left*, never a date, and every fence is a rank, never a
//! number that grows. So a lease that has changed hands a million times looks like one that has
//! changed hands twice, and the space of states is finite although runs are not.

use crate::config::{Config, Policy};
pub use crate::contender::{Act, Contender, Phase, Reason, Stand};
pub use crate::requests::{Flight, Late, LateKind, Message, Reply, Request, Seen};

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
    pub fn bit(self) -> u16 {
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

/// A holder id. It names one contender and says how its rows may be taken over. A contender that ends or
/// crashes and starts again is a new contender with a new id: whatever its earlier self wrote is from then
/// on somebody's who is gone. SPEC.md R10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Holder {
    /// A contender as it is now.
    Contender(Who),
    /// An earlier self of some contender that had this policy.
    Gone(Policy),
}

/// When a row expires. SPEC.md R3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expiry {
    /// Released: free for everybody, whatever the clocks say.
    Released,
    /// Ticks until an [`Clock::Even`] clock finds it free; 0 also stands for the past. The row of system A
    /// is free a whole skew after the time that is stored in it.
    In(Ticks),
    /// Absurdly far ahead: written by a clock that was wrong.
    Far,
    /// Some value that is no time at all. SPEC.md R12.
    Unreadable,
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

/// A wall clock. It may be set (see [`crate::config::Part`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Clock {
    /// Not ahead.
    Even,
    /// Ahead by the whole skew.
    Ahead,
    /// Absurdly far ahead: beyond every bound.
    Far,
}

/// A gate in front of something outside the store: the highest fence that has passed it, and whose. SPEC.md R9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Gate {
    /// The highest fence.
    pub fence: Fence,
    /// Its holder.
    pub by: Holder,
}

/// What happened, for the properties, and for what users and operators do: no contender reads it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ghost {
    /// The highest fence granted so far.
    pub top: Fence,
    /// The fences, as a set of bits, in which somebody has once begun to believe.
    pub begun: u16,
    /// The holder has given the lease back, and nobody was granted it since.
    pub given_back: bool,
    /// A fence was granted that was not above all before.
    pub not_rising: bool,
    /// Two tenures began with the same fence.
    pub begun_twice: bool,
    /// A tenure began although its contender had been asked to shut down.
    pub begun_unwanted: bool,
    /// A released row was no longer released, and not because of a grant.
    pub unreleased: bool,
    /// A tenure was renewed that is not the row's.
    pub renewed_others: bool,
    /// An act landed for a tenure after which another had come.
    pub stale_landed: bool,
}

/// Everything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State<const N: usize> {
    /// The lease's row.
    pub row: Option<Row>,
    /// The contenders.
    pub contenders: [Contender; N],
    /// What each of them no longer waits for.
    pub late: [Late; N],
    /// What earlier selves left behind, by their policy.
    pub orphaned: [Late; 3],
    /// The row as a write that failed would have made it: recovery may yet bring it up.
    pub failed: Option<Row>,
    /// The row as it is on the disk, where power can be lost.
    pub durable: Option<Row>,
    /// A backup of the row, where the store can be put back.
    pub backup: Option<Row>,
    /// The row of a file that is no longer at the path; only in the broken variant that goes on with it.
    pub old_file: Option<Row>,
    /// The gate, where there is one.
    pub gate: Gate,
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
            orphaned: [Late::default(); 3],
            failed: None,
            durable: None,
            backup: None,
            old_file: None,
            gate: Gate { fence: Fence::NONE, by: Holder::Gone(Policy::WallClock) },
            ghost: Ghost {
                top: Fence::NONE,
                begun: 0,
                given_back: false,
                not_rising: false,
                begun_twice: false,
                begun_unwanted: false,
                unreleased: false,
                renewed_others: false,
                stale_landed: false,
            },
        }
    }

    /// The contenders, each with its name.
    pub fn named(&self) -> impl Iterator<Item = (Who, &Contender)> {
        (0..).map(Who).zip(&self.contenders)
    }

    /// The tenures for which something may act.
    pub fn actors(&self, config: &Config) -> impl Iterator<Item = (Who, Fence)> {
        self.named().filter_map(|(who, one)| Some((who, one.acts(config, who)?)))
    }
}
