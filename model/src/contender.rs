//! A contender: what it is doing, what it believes, and what it may do next.

mod asking;
mod ending;
mod moves;
mod replies;

pub use moves::{Move, Scene};

use crate::config::{Config, Policy, Variant};
use crate::requests::{Flight, Message, Request, Seen};
use crate::state::{Clock, Fence, Holder, Ticks, Who};

/// Why a tenure was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Its deadline passed.
    Deadline,
    /// The store said that the row is another tenure's, or no longer alive.
    Superseded,
}

/// What a contender is doing: the states of SPEC.md's state machine, and how it ends. A read is one step here, so
/// `Reading` is what is left of it: what was read, until the acquire is sent.
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

    /// Whether it has nothing and asks for nothing.
    pub fn is_idle(&self) -> bool {
        self.works().is_none() && self.flight.is_none() && !matches!(self.phase, Phase::Releasing { .. })
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
