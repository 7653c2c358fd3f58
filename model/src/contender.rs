//! The contender: what it does with what it knows. It sees the store only through a read and through
//! replies, and others not at all.
//!
//! Nothing here has to happen: each move is possible, none is forced. A stalled contender is one
//! that makes no move for a while, so stalls of any length, at any point, need no state of their own.

use crate::config::{Config, Variant};
use crate::state::{
    Contender, Expiry, Fence, Flight, Holder, Message, Phase, Reason, Reply, Request, Row, Seen, Ticks,
};
use crate::store::takeable;

/// A move of a contender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// It reads the row. A read that shows it held changes nothing, and is no move.
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
    /// It gives up releasing; the lease runs out.
    Leave,
    /// It crashes.
    Crash,
    /// It starts again, as a new contender.
    Restart,
}

impl Move {
    /// Every move.
    pub const ALL: [Move; 12] = [
        Move::Read,
        Move::Acquire,
        Move::Renew,
        Move::Release,
        Move::Deliver,
        Move::Fail,
        Move::NoticeDeadline,
        Move::Shutdown,
        Move::StopWork,
        Move::Leave,
        Move::Crash,
        Move::Restart,
    ];
}

impl Contender {
    /// The contender after this move, if it can make it. `me` is its id, `row` what a read would
    /// show.
    ///
    /// A request that was sent before the move and is not there after it is not gone: it is late.
    pub fn make(self, config: &Config, me: Holder, mv: Move, row: Option<Row>) -> Option<Self> {
        match mv {
            Move::Read => self.read(config, me, row),
            Move::Acquire => self.acquire(config),
            Move::Renew => self.renew(config),
            Move::Release => self.release(),
            Move::Deliver => self.deliver(config),
            Move::Fail => self.fail(),
            Move::NoticeDeadline => self.notice_deadline(),
            Move::Shutdown => self.shutdown(config),
            Move::StopWork => self.stop_work(),
            Move::Leave => self.leave(),
            Move::Crash => self.crash(),
            Move::Restart => self.restart(),
        }
    }

    /// A tick of its clocks.
    pub fn tick(&mut self) {
        if let Phase::Holding { left, .. } | Phase::Releasing { left, .. } = &mut self.phase {
            *left = left.saturating_sub(1);
        }
        if let Some(flight) = &mut self.flight {
            flight.left = flight.left.saturating_sub(1);
        }
    }

    /// It does this from now on, and waits for nothing: what was in flight is given up.
    fn now(self, phase: Phase) -> Option<Self> {
        Some(Contender { phase, flight: None, ..self })
    }

    /// It is done, and what it was asked is done with it.
    fn ended(self) -> Option<Self> {
        Contender { stopping: false, ..self }.now(Phase::Ended)
    }

    /// It waits for this request from now on. `left` starts to run here, at the send. SPEC.md R4.
    fn send(self, phase: Phase, request: Request, left: Ticks) -> Option<Self> {
        let flight = Some(Flight { message: Message::Sent(request), left });
        Some(Contender { phase, flight, ..self })
    }

    /// A contender decides by what it reads, and then acquires exactly that. SPEC.md R1, R7.
    fn read(self, config: &Config, me: Holder, row: Option<Row>) -> Option<Self> {
        if self.phase != Phase::Waiting {
            return None;
        }
        if self.stopping {
            return self.read_to_leave(me, row);
        }
        if let Some(fence) = adopted(config, me, row) {
            return self.now(Phase::Holding { fence, left: config.belief() });
        }
        let free = row.is_none_or(|row| takeable(row, me, config.ahead(self.clock)));
        free.then_some(Contender { phase: Phase::Reading(Seen::of(row)), ..self })
    }

    /// A contender that is to stop and does not know what became of its acquire: what it finds
    /// granted, it releases. SPEC.md R7.
    fn read_to_leave(self, me: Holder, row: Option<Row>) -> Option<Self> {
        match row.filter(|row| row.holder == me && row.expiry != Expiry::Released) {
            Some(Row { fence, .. }) => self.now(Phase::Releasing { fence, left: 0 }),
            None => self.ended(),
        }
    }

    /// It acquires what it has read, however long ago that was.
    fn acquire(self, config: &Config) -> Option<Self> {
        let Phase::Reading(seen) = self.phase else { return None };
        self.send(Phase::Acquiring, Request::Acquire(seen), config.belief())
    }

    /// A renewal is sent while the holder believes, and only when a grant would move its deadline.
    fn renew(self, config: &Config) -> Option<Self> {
        let Phase::Holding { fence, left } = self.phase else { return None };
        let due = 0 < left && left < config.belief() && self.flight.is_none();
        due.then(|| self.send(self.phase, Request::Renew(fence), config.belief()))?
    }

    /// Sent again as often as it fails: a second release of the same tenure changes nothing.
    fn release(self) -> Option<Self> {
        let Phase::Releasing { fence, .. } = self.phase else { return None };
        let unsent = self.flight.is_none();
        unsent.then(|| self.send(self.phase, Request::Release(fence), 0))?
    }

    /// What a reply means depends on what the contender does when it comes.
    fn deliver(self, config: &Config) -> Option<Self> {
        let Flight { message: Message::Answered(reply), left } = self.flight? else { return None };
        let from_reply = config.breaks(Variant::DeadlineFromReply);
        let left = if from_reply { config.belief() } else { left };
        match (self.phase, reply) {
            (Phase::Acquiring, Reply::Granted(fence)) => self.granted(config, fence, left),
            (Phase::Acquiring, _) if self.stopping => self.ended(),
            (Phase::Acquiring, _) => self.now(Phase::Waiting),
            (Phase::Holding { fence, .. }, Reply::Renewed) => self.renewed(config, fence, left),
            (Phase::Holding { fence, .. }, _) => self.now(Phase::Lost { fence, reason: Reason::Superseded }),
            _ => self.ended(),
        }
    }

    /// A grant that comes too late is not believed; the contender reads again and finds its own row.
    /// One that nobody waits for any more leaves nothing held. SPEC.md R4, R7.
    fn granted(self, config: &Config, fence: Fence, left: Ticks) -> Option<Self> {
        let wanted = !self.stopping || config.breaks(Variant::HoldsUnwanted);
        self.now(match left {
            _ if !wanted => Phase::Releasing { fence, left: 0 },
            0 => Phase::Waiting,
            left => Phase::Holding { fence, left },
        })
    }

    /// A renewal moves the deadline to what its own sending gives. Past the deadline the tenure is
    /// over, whatever the reply says. SPEC.md R4, R5.
    fn renewed(self, config: &Config, fence: Fence, granted: Ticks) -> Option<Self> {
        let revives = config.breaks(Variant::LateReplyRevives);
        self.now(match self.believes() {
            None if !revives => Phase::Lost { fence, reason: Reason::Deadline },
            _ => Phase::Holding { fence, left: granted },
        })
    }

    /// An unknown outcome: the request may have been carried out, or may be later. Nothing is
    /// assumed. An acquirer reads again, a holder's old deadline stands, a release is sent again.
    /// SPEC.md R7.
    fn fail(self) -> Option<Self> {
        self.flight?;
        match self.phase {
            Phase::Acquiring => self.now(Phase::Waiting),
            phase => self.now(phase),
        }
    }

    /// Whoever finds that the deadline has passed puts that down, and no reply takes it back.
    /// SPEC.md R5.
    fn notice_deadline(self) -> Option<Self> {
        let Phase::Holding { fence, left: 0 } = self.phase else { return None };
        self.now(Phase::Lost { fence, reason: Reason::Deadline })
    }

    /// Without a tenure there is nothing to wind down; an acquire in flight is awaited; a holder goes
    /// on renewing until its work has stopped. SPEC.md R6.
    fn shutdown(self, config: &Config) -> Option<Self> {
        if self.stopping {
            return None;
        }
        let stopping = Contender { stopping: true, ..self };
        match self.phase {
            Phase::Waiting | Phase::Reading(_) => self.ended(),
            Phase::Holding { fence, .. } if config.breaks(Variant::ReleaseFirst) => {
                stopping.send(self.phase, Request::Release(fence), 0)
            }
            Phase::Acquiring | Phase::Holding { .. } | Phase::Lost { .. } => Some(stopping),
            Phase::Releasing { .. } | Phase::Ended | Phase::Crashed { .. } => None,
        }
    }

    /// Only when the work has stopped is the lease released, or contended for again. SPEC.md R6.
    fn stop_work(self) -> Option<Self> {
        match self.phase {
            Phase::Holding { fence, left } if self.stopping && left > 0 => {
                self.now(Phase::Releasing { fence, left })
            }
            Phase::Lost { .. } if self.stopping => self.ended(),
            Phase::Lost { .. } => self.now(Phase::Waiting),
            _ => None,
        }
    }

    /// Without an answer to its release it may go all the same; the row expires by itself.
    fn leave(self) -> Option<Self> {
        let Phase::Releasing { .. } = self.phase else { return None };
        self.ended()
    }

    /// At any moment; nothing is told to anybody.
    fn crash(self) -> Option<Self> {
        if matches!(self.phase, Phase::Ended | Phase::Crashed { .. }) {
            return None;
        }
        let held = self.believes().is_some();
        Contender { stopping: false, ..self }.now(Phase::Crashed { held })
    }

    /// It starts with nothing, not even its old id. SPEC.md R10.
    fn restart(self) -> Option<Self> {
        let over = matches!(self.phase, Phase::Ended | Phase::Crashed { .. });
        over.then_some(Contender::new(self.clock))
    }
}

/// The fence that a reader takes for its own, if R7 or R10 is taken away. With them, none.
fn adopted(config: &Config, me: Holder, row: Option<Row>) -> Option<Fence> {
    let mine = match row?.holder {
        Holder::Contender(_) if row?.holder == me => config.breaks(Variant::OwnRowBelieved),
        Holder::Contender(_) => false,
        Holder::Gone => config.breaks(Variant::SharedId),
    };
    mine.then_some(row?.fence)
}
