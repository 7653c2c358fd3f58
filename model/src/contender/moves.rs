//! The moves of a contender: what it does with what it knows. It sees the store only through a read and through
//! replies, and others not at all.
//!
//! Nothing here has to happen: each move is possible, none is forced. A stalled contender is one
//! that makes no move for a while, so stalls of any length, at any point, need no state of their own. For the
//! same reason a process that was started while its earlier self was only stalled is just another contender.

use super::{Contender, Phase};
use crate::config::{Config, Part, Policy, Variant};
use crate::requests::{Flight, Message, Request};
use crate::state::{Fence, Holder, Row, Ticks, Who};

/// A move of a contender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// It looks at a clock too early; only where R4 or the observation is broken.
    Look,
    /// It reads the row. A read that tells it nothing new is no move.
    Read,
    /// It sends the acquire for what it has read.
    Acquire,
    /// It sends a renewal.
    Renew,
    /// It sends the release, perhaps again.
    Release,
    /// It receives the reply it waits for.
    Deliver,
    /// It learns only that its request failed, or waits no longer.
    Fail,
    /// It finds that its deadline has passed.
    NoticeDeadline,
    /// It is asked to shut down.
    Shutdown,
    /// Its work has stopped.
    StopWork,
    /// Its work is dropped.
    DropWork,
    /// It gives up releasing, and the lease runs out; or it was to stop, and there is nothing to release.
    Leave,
    /// It crashes.
    Crash,
    /// It starts again, as a new contender.
    Restart,
    /// It looks at its deadline and begins an act, which lands at some later time.
    Begin,
}

impl Move {
    /// Every move.
    pub const ALL: [Move; 15] = [
        Move::Look,
        Move::Read,
        Move::Acquire,
        Move::Renew,
        Move::Release,
        Move::Deliver,
        Move::Fail,
        Move::NoticeDeadline,
        Move::Shutdown,
        Move::StopWork,
        Move::DropWork,
        Move::Leave,
        Move::Crash,
        Move::Restart,
        Move::Begin,
    ];
}

/// What a contender can know when it moves.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Which contender it is.
    pub who: Who,
    /// The row, which it sees if it reads.
    pub row: Option<Row>,
    /// The floor that its user gives it when it starts: none, unless the store went back. SPEC.md R11.
    pub floor: Fence,
}

impl Scene<'_> {
    pub(super) fn has(&self, part: Part) -> bool {
        self.config.has(part)
    }

    pub(super) fn breaks(&self, variant: Variant) -> bool {
        self.config.breaks(variant)
    }

    pub(super) fn me(&self) -> Holder {
        self.config.id(self.who)
    }

    pub(super) fn belief(&self) -> Ticks {
        self.config.belief(self.who)
    }

    pub(super) fn is_system_a(&self) -> bool {
        self.config.policy(self.who) == Policy::SystemA
    }
}

impl Contender {
    /// Whether it is at a point at which it might make this move.
    pub fn offers(&self, mv: Move) -> bool {
        let phase = self.phase;
        match mv {
            Move::Read => phase == Phase::Waiting,
            Move::Acquire => matches!(phase, Phase::Reading(_) | Phase::Waiting),
            Move::Renew | Move::NoticeDeadline | Move::DropWork | Move::Begin => {
                matches!(phase, Phase::Holding { .. })
            }
            Move::Release => matches!(phase, Phase::Releasing { .. }),
            Move::Leave => {
                matches!(phase, Phase::Releasing { .. }) || (phase == Phase::Waiting && self.stopping)
            }
            Move::Deliver => matches!(self.flight, Some(Flight { message: Message::Answered(_), .. })),
            Move::Fail => self.flight.is_some(),
            Move::StopWork => self.works().is_some(),
            Move::Look => matches!(phase, Phase::Waiting | Phase::Holding { .. }),
            Move::Shutdown => !self.stopping,
            Move::Crash => !phase.is_over(),
            Move::Restart => phase.is_over() || phase == Phase::WentBack,
        }
    }

    /// What has become of it after this move, if it can make it.
    pub fn make(self, scene: Scene<'_>, mv: Move) -> Option<Contender> {
        match mv {
            Move::Look => self.look(scene),
            Move::Read => self.read(scene),
            Move::Acquire => self.acquire(scene),
            Move::Renew => self.renew(scene),
            Move::Release => self.release(scene),
            Move::Deliver => self.deliver(scene),
            Move::Fail => self.fail(scene),
            Move::NoticeDeadline => self.notice_deadline(scene),
            Move::Shutdown => self.shutdown(scene),
            Move::StopWork => self.stop_work(scene),
            Move::DropWork => self.drop_work(scene),
            Move::Leave => self.leave(),
            Move::Crash => self.crash(scene),
            Move::Restart => self.restart(scene),
            Move::Begin => self.begin(scene),
        }
    }

    /// It does this from now on, and waits for nothing: what was in flight is given up.
    pub(super) fn now(self, phase: Phase) -> Option<Self> {
        Some(Contender { phase, flight: None, noted: None, ..self })
    }

    /// Its lease is let go, or it could not be. Whoever was not asked to stop may contend again.
    pub(super) fn let_go(self) -> Option<Self> {
        if self.stopping { self.ended() } else { self.now(Phase::Waiting) }
    }

    /// It is done, and what it was asked is done with it.
    pub(super) fn ended(self) -> Option<Self> {
        Contender { stopping: false, ..self }.now(Phase::Ended)
    }

    /// It waits for this request from now on. `left` starts to run here, at the send. A connection to a file
    /// that has moved was opened anew before. SPEC.md R4, R11.
    pub(super) fn send(self, phase: Phase, request: Request, left: Ticks) -> Option<Self> {
        let flight = Some(Flight { message: Message::Sent(request), left });
        Some(Contender { phase, flight, ..self })
    }
}
