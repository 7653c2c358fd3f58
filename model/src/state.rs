//! What there is: one row, the contenders, the requests nobody waits for any more, and what the outside world
//! has of all this.
//!
//! Every time in here is a number of ticks *left*, never a date, and every fence is a rank, never a
//! number that grows. So a lease that has changed hands a million times looks like one that has
//! changed hands twice, and the space of states is finite although runs are not.

use crate::config::{Config, Policy, Variant};

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
    /// Its work was dropped: nobody knows whether it has stopped, so nothing is released. SPEC.md R6.
    Dropped {
        /// The tenure's fence.
        fence: Fence,
        /// Ticks until its deadline: until then what the work left behind may act.
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
    /// It found that the store went back, and waits for its user. SPEC.md R11.
    WentBack,
    /// It has shut down.
    Ended,
    /// It has crashed and forgotten everything.
    Crashed {
        /// Whether it held a tenure then; no rule looks at this, only a property does.
        held: bool,
    },
}

impl Phase {
    /// Whether nothing of this contender runs.
    pub fn is_over(self) -> bool {
        matches!(self, Phase::Ended | Phase::Crashed { .. })
    }
}

/// An act that was begun while its holder believed, and has not landed yet. A process may stop for any time
/// between the two, and a message may be under way for any time, also after its sender has died.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Act {
    /// The fence that it carries.
    pub fence: Fence,
    /// Who began it.
    pub by: Holder,
    /// Where its tenure stands with what it acts on; no rule looks at this, only a property does.
    pub stands: Stand,
}

/// Where a tenure stands with what it acts on, in the order in which that has seen tenures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stand {
    /// It has not come yet.
    Outside,
    /// It has come.
    Inside,
    /// Another has come since.
    Past,
}

/// One contender. All clocks tick together, but for [`crate::clocks::Local`].
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
    /// For how long, by its local clock, it has seen the row as it is. `None` if it has not seen that. Only
    /// rows of the policy `Observed`, and system A's, need watching.
    pub watched: Option<Ticks>,
    /// Its floor: the highest fence that it has seen, or that its user gave. SPEC.md R11.
    pub floor: Fence,
    /// Its user gave the floor, so a stored fence below it is no surprise.
    pub floor_given: bool,
    /// The file that it has open is not the file at the path any more. SPEC.md R11.
    pub moved: bool,
    /// Ticks until its local clock may err again.
    pub steady: Ticks,
    /// Only in two broken variants: when it looked at a clock too early, as ticks left or ticks ago.
    pub noted: Option<Ticks>,
    /// Where its tenure stands with what it acts on.
    pub stands: Stand,
    /// What it has begun.
    pub act: Option<Act>,
}

impl Contender {
    /// A contender that has just started.
    pub fn new(clock: Clock) -> Contender {
        Contender {
            clock,
            phase: Phase::Waiting,
            flight: None,
            stopping: false,
            watched: None,
            floor: Fence::NONE,
            floor_given: false,
            moved: false,
            steady: 0,
            noted: None,
            stands: Stand::Outside,
            act: None,
        }
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
    pub fn believes(&self, config: &Config, who: Who) -> Option<Fence> {
        match self.phase {
            Phase::Holding { fence, left } if self.in_time(config, who, left) => Some(fence),
            _ => None,
        }
    }

    /// Whether that much is left. System A goes by its wall clock, everybody else by the local one. SPEC.md R5.
    pub fn in_time(&self, config: &Config, who: Who, left: Ticks) -> bool {
        let blind = config.breaks(Variant::BlackoutIgnored) && self.flight.is_some();
        match config.policy(who) {
            Policy::SystemA => config.ahead(self.clock).is_some_and(|ahead| left > ahead),
            _ => left > 0 || blind || config.breaks(Variant::TimerTrusted),
        }
    }

    /// The tenure for which something of it may act: a holder that believes, and work that was dropped, which
    /// asks for the deadline as well.
    pub fn acts(&self, config: &Config, who: Who) -> Option<Fence> {
        match self.phase {
            Phase::Dropped { fence, left: 1.. } => Some(fence),
            _ => self.believes(config, who),
        }
    }

    /// The tenure for which its work runs, or may still run.
    pub fn works(&self) -> Option<Fence> {
        match self.phase {
            Phase::Holding { fence, .. } | Phase::Lost { fence, .. } | Phase::Dropped { fence, .. } => {
                Some(fence)
            }
            _ => None,
        }
    }
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

/// A gate in front of something outside the store: the highest fence that has passed it, and whose. SPEC.md R9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Gate {
    /// The highest fence.
    pub fence: Fence,
    /// Its holder.
    pub by: Holder,
}

/// What happened, for the properties: no rule reads it.
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
