//! What there is: one record, two instances, and writes that nobody waits for any more.
//!
//! Every time is a number of ticks, passed or left, never a date; and an id is one of a few, never a number that grows.

use crate::state::{Ticks, Who};

/// Whether somebody still goes by an id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Life {
    /// The claim that the instance makes now.
    Now,
    /// An earlier claim, or that of a process that crashed.
    Ended,
    /// An earlier claim whose instance was told that nothing of it is left.
    Gone,
}

/// The id in a record: one for each claim. All earlier claims of an instance look alike: nobody goes by them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    /// Whose.
    pub of: Who,
    /// Which of its claims.
    pub life: Life,
}

/// What an instance says of itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Record {
    /// Who.
    pub by: Id,
    /// How long ago it was renewed, which is when its write was sent; not beyond what makes a difference.
    pub age: Ticks,
}

/// What stands in the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// Nothing.
    Absent,
    /// A record.
    Record(Record),
    /// Something else.
    Unreadable,
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Errand {
    /// Reads: whether somebody is there.
    Look,
    /// Writes, for the first time.
    Announce,
    /// Reads: whether ours still stands there when it has settled.
    Confirm,
    /// Reads: the same, before each renewal.
    Check,
    /// Writes.
    Renew,
    /// Reads: the same, before it is removed.
    LastLook,
    /// Deletes.
    Remove,
}

impl Errand {
    /// Whether the store is only read.
    pub fn reads(self) -> bool {
        matches!(self, Errand::Look | Errand::Confirm | Errand::Check | Errand::LastLook)
    }
}

/// What came of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reply {
    /// Of a read: nothing stands there.
    Absent,
    /// Of a read: ours.
    Own,
    /// Of a read: another's.
    Other {
        /// For how many ticks it is live by the reader's wall clock when it asked: 0 or 1, as no more is asked of it.
        left: Ticks,
        /// Nothing was written since.
        fresh: bool,
    },
    /// Of a read.
    Unreadable,
    /// Of a write or a delete.
    Done,
    /// Whether it was carried out is not known.
    Failed,
}

/// How far a claim is with its errand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// To be asked in so many ticks, or later.
    Due(Ticks),
    /// Asked so many ticks ago.
    Asked(Ticks),
    /// The same, and the answer is on its way.
    Answered(Ticks, Reply),
    /// Nothing is to be asked.
    Idle,
}

/// How a claim stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stand {
    /// Nothing has come of it yet.
    Pending,
    /// The instance runs.
    Runs,
    /// It was told to stop.
    Lost,
    /// Its record is to be removed.
    Leaves,
}

/// What stood there when the first look was carried out; for the properties.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Found {
    /// Nothing that they ask for.
    Nothing,
    /// The record of a claim that ended without a word, and had run out.
    Old,
    /// Another's live record.
    Live,
    /// Something unreadable.
    Unreadable,
}

/// One claim, from the first look to the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Claim {
    /// What for.
    pub errand: Errand,
    /// How far.
    pub stage: Stage,
    /// How it stands.
    pub stand: Stand,
    /// For how long it may run unless it renews: ticks left of a TTL from before its last write was sent.
    pub until: Ticks,
    /// How many ticks have passed since the read was carried out on which a write rests that was not; where that is bounded.
    pub lag: Ticks,
    /// When it looked it had seen what stood there for a TTL.
    pub is_patient: bool,
    /// What it found.
    pub found: Found,
}

/// A write or a delete that was given up, and may yet be carried out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Late {
    /// What it writes; `None`: it deletes.
    pub record: Option<Record>,
    /// As of a claim.
    pub lag: Ticks,
}

/// A process that claims, runs, ends, and claims again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instance {
    /// Its claim, if it makes one.
    pub claim: Option<Claim>,
    /// For how many ticks it has seen what stands there unchanged, if it has, up to a TTL; where clocks differ.
    pub seen: Option<Ticks>,
}

impl Instance {
    /// Whether its claim stands.
    pub fn runs(&self) -> bool {
        self.claim.is_some_and(|claim| claim.stand == Stand::Runs)
    }
}

/// Everything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State<const N: usize = 2> {
    /// What stands in the store.
    pub slot: Slot,
    /// The instances.
    pub instances: [Instance; N],
    /// What each of them no longer waits for: there is room for one.
    pub late: [Option<Late>; N],
    /// For how many ticks both have run, where the store and the processes go on.
    pub both: Ticks,
}

impl<const N: usize> State<N> {
    /// Nothing is there, and nobody.
    pub const EMPTY: State<N> = {
        let nobody = Instance { claim: None, seen: None };
        State { slot: Slot::Absent, instances: [nobody; N], late: [None; N], both: 0 }
    };

    /// Whether two run: what a lock would exclude.
    pub fn two_run(&self) -> bool {
        self.instances.iter().filter(|one| one.runs()).count() > 1
    }

    /// The instances, by their places.
    pub fn whos() -> impl Iterator<Item = Who> {
        (0..N as u8).map(Who)
    }

    /// The claim of one of them.
    pub fn claim(&self, who: Who) -> Option<&Claim> {
        self.instances[who.index()].claim.as_ref()
    }
}
