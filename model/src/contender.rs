//! The contender: what it does with what it knows. It sees the store only through a read and through
//! replies, and others not at all.
//!
//! Nothing here has to happen: each move is possible, none is forced. A stalled contender is one
//! that makes no move for a while, so stalls of any length, at any point, need no state of their own. For the
//! same reason a process that was started while its earlier self was only stalled is just another contender.

use crate::config::{Config, Part, Policy, Variant};
use crate::state::{
    Act, Contender, Expiry, Fence, Flight, Holder, Message, Phase, Reason, Reply, Request, Row, Seen, Stand,
    Ticks, Who,
};
use crate::store::{Sender, takeable};

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
    /// It gives up releasing; the lease runs out.
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
    fn has(&self, part: Part) -> bool {
        self.config.has(part)
    }

    fn breaks(&self, variant: Variant) -> bool {
        self.config.breaks(variant)
    }

    fn me(&self) -> Holder {
        self.config.id(self.who)
    }

    fn belief(&self) -> Ticks {
        self.config.belief(self.who)
    }

    fn is_system_a(&self) -> bool {
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
            Move::Release | Move::Leave => matches!(phase, Phase::Releasing { .. }),
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
    fn now(self, phase: Phase) -> Option<Self> {
        Some(Contender { phase, flight: None, noted: None, ..self })
    }

    /// Its lease is let go, or it could not be. Whoever was not asked to stop may contend again.
    fn let_go(self) -> Option<Self> {
        if self.stopping { self.ended() } else { self.now(Phase::Waiting) }
    }

    /// It is done, and what it was asked is done with it.
    fn ended(self) -> Option<Self> {
        Contender { stopping: false, ..self }.now(Phase::Ended)
    }

    /// It waits for this request from now on. `left` starts to run here, at the send. A connection to a file
    /// that has moved was opened anew before. SPEC.md R4, R11.
    fn send(self, phase: Phase, request: Request, left: Ticks) -> Option<Self> {
        let flight = Some(Flight { message: Message::Sent(request), left });
        Some(Contender { phase, flight, ..self })
    }

    /// Only where a rule is broken: it looks at a clock, then stalls, then does what it looked for.
    fn look(self, scene: Scene<'_>) -> Option<Self> {
        let early = match self.phase {
            Phase::Waiting => scene.breaks(Variant::ObservedFromSend),
            Phase::Holding { .. } => scene.breaks(Variant::WallClockFirst) && self.flight.is_none(),
            _ => false,
        };
        (early && self.noted.is_none()).then_some(Contender { noted: Some(0), ..self })
    }

    /// A contender decides by what it reads, and then acquires exactly that. System A does not read.
    /// SPEC.md R1, R7.
    fn read(mut self, scene: Scene<'_>) -> Option<Self> {
        match self.phase {
            Phase::Waiting if scene.is_system_a() => return self.stopping.then(|| self.ended())?,
            Phase::Waiting => self.moved &= scene.breaks(Variant::MovedUnnoticed),
            _ => return None,
        }
        if self.stopping {
            return self.read_to_leave(scene);
        }
        if self.went_back(scene) {
            return self.now(Phase::WentBack);
        }
        if let Some(fence) = adopted(scene) {
            return self.now(Phase::Holding { fence, left: scene.belief() });
        }
        let before = self;
        self = self.watch(scene).raise_floor(scene, Seen::of(scene.row));
        let by = Sender { holder: scene.me(), clock: self.clock, age: 0 };
        let watched = self.watched.is_some_and(|ticks| ticks >= scene.config.patience());
        let free = scene.row.is_none_or(|row| takeable(scene.config, row, by, watched));
        let phase = if free { Phase::Reading(Seen::of(scene.row)) } else { Phase::Waiting };
        let read = Contender { phase, noted: None, ..self };
        (read != before).then_some(read)
    }

    /// A contender that is to stop and does not know what became of its acquire: what it finds
    /// granted, it releases. SPEC.md R7.
    fn read_to_leave(self, scene: Scene<'_>) -> Option<Self> {
        let unreleased = |row: &Row| !matches!(row.expiry, Expiry::Released | Expiry::Unreadable);
        match scene.row.filter(|row| row.holder == scene.me() && unreleased(row)) {
            Some(Row { fence, .. }) => self.now(Phase::Releasing { fence, left: 0 }),
            None => self.ended(),
        }
    }

    /// A fence below its floor, or no row where it has seen one, unless its user gave that floor. SPEC.md R11.
    fn went_back(self, scene: Scene<'_>) -> bool {
        let stored = scene.row.map_or(Fence::NONE, |row| row.fence);
        let unreadable = scene.row.is_some_and(|row| row.expiry == Expiry::Unreadable);
        let careless = scene.breaks(Variant::FloorCheckedAfter) || scene.breaks(Variant::FloorForgotten);
        stored < self.floor && !self.floor_given && !unreadable && !careless
    }

    /// It remembers the highest fence that it has seen. SPEC.md R11.
    fn raise_floor(self, scene: Scene<'_>, seen: Seen) -> Self {
        match seen {
            Seen::Row(_, fence) if fence > self.floor && scene.config.keeps_floors() => {
                Contender { floor: fence, floor_given: false, ..self }
            }
            _ => self,
        }
    }

    /// From the reply of the first read that showed the row as it is, it knows it. SPEC.md section 6.
    fn watch(self, scene: Scene<'_>) -> Self {
        let worth = scene.row.is_some_and(|row| match scene.config.policy_of(row.holder) {
            Policy::Observed => true,
            Policy::SystemA => scene.config.policy(scene.who) == Policy::Observed,
            Policy::WallClock => scene.breaks(Variant::EitherPolicy) || scene.breaks(Variant::TakersPolicy),
        });
        let since = self.noted.unwrap_or(0);
        Contender { watched: if worth { self.watched.or(Some(since)) } else { None }, ..self }
    }

    /// It acquires what it has read, however long ago that was; if the file has moved since, it reads again.
    /// SPEC.md R1, R11.
    fn acquire(self, scene: Scene<'_>) -> Option<Self> {
        let seen = match self.phase {
            Phase::Reading(_) if self.moved && !scene.breaks(Variant::MovedUnnoticed) => {
                return self.now(Phase::Waiting);
            }
            Phase::Reading(seen) => seen,
            Phase::Waiting if scene.is_system_a() && !self.stopping => Seen::Unseen,
            _ => return None,
        };
        let floor = if self.floor_given { self.floor } else { Fence::NONE };
        let noted = scene.breaks(Variant::ClockBeforeLock).then_some(0);
        let one = Contender { noted, ..self };
        one.send(Phase::Acquiring, Request::Acquire(seen, floor), scene.belief())
    }

    /// A renewal is sent while the holder believes, and only when a grant would move its deadline.
    fn renew(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left } = self.phase else { return None };
        let full = if scene.is_system_a() { scene.belief() + scene.config.skew } else { scene.belief() };
        let believes = self.believes(scene.config, scene.who).is_some();
        let due = believes && left < full && self.flight.is_none();
        let noted = if scene.breaks(Variant::ClockBeforeLock) { Some(0) } else { self.noted };
        due.then(|| Contender { noted, ..self }.send(self.phase, Request::Renew(fence), scene.belief()))?
    }

    /// Sent again as often as it fails: a second release of the same tenure changes nothing.
    fn release(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Releasing { fence, .. } = self.phase else { return None };
        let moved = self.moved && scene.breaks(Variant::MovedUnnoticed);
        let unsent = self.flight.is_none();
        unsent.then(|| Contender { moved, ..self }.send(self.phase, Request::Release(fence), 0))?
    }

    /// What a reply means depends on what the contender does when it comes.
    fn deliver(self, scene: Scene<'_>) -> Option<Self> {
        let Flight { message: Message::Answered(reply), left } = self.flight? else { return None };
        let from_reply = scene.breaks(Variant::DeadlineFromReply);
        let left = if from_reply { scene.belief() } else { left };
        match (self.phase, reply) {
            (Phase::Acquiring, Reply::Granted(fence)) => self.granted(scene, fence, left),
            (Phase::Acquiring, _) if self.stopping => self.ended(),
            (Phase::Acquiring, _) => self.now(Phase::Waiting),
            (Phase::Holding { fence, .. }, Reply::Renewed) => self.renewed(scene, fence, left),
            (Phase::Holding { fence, .. }, _) => self.now(Phase::Lost { fence, reason: Reason::Superseded }),
            (Phase::Lost { fence, .. }, Reply::Renewed) if scene.breaks(Variant::Unlatched) && left > 0 => {
                self.now(Phase::Holding { fence, left })
            }
            (Phase::Lost { .. } | Phase::Dropped { .. }, _) => self.now(self.phase),
            _ => self.let_go(),
        }
    }

    /// A grant that comes too late is not believed; the contender reads again and finds its own row.
    /// One that nobody waits for any more leaves nothing held. SPEC.md R4, R7.
    fn granted(self, scene: Scene<'_>, fence: Fence, left: Ticks) -> Option<Self> {
        let wanted = !self.stopping || scene.breaks(Variant::HoldsUnwanted);
        if scene.breaks(Variant::FloorCheckedAfter) && fence <= self.floor && !self.floor_given {
            return self.now(Phase::WentBack);
        }
        let seen = Seen::Row(scene.me(), fence);
        let one = Contender { stands: Stand::Outside, watched: None, ..self.raise_floor(scene, seen) };
        one.now(match left {
            _ if !wanted => Phase::Releasing { fence, left: 0 },
            left if self.in_time(scene.config, scene.who, left) => Phase::Holding { fence, left },
            _ => Phase::Waiting,
        })
    }

    /// A renewal moves the deadline to what its own sending gives. Past the deadline the tenure is
    /// over, whatever the reply says. SPEC.md R4, R5.
    fn renewed(self, scene: Scene<'_>, fence: Fence, granted: Ticks) -> Option<Self> {
        let revives = scene.breaks(Variant::LateReplyRevives);
        // System A asks only whether its row is still its own.
        let revives = revives || scene.is_system_a();
        self.now(match self.believes(scene.config, scene.who) {
            None if !revives => Phase::Lost { fence, reason: Reason::Deadline },
            _ => Phase::Holding { fence, left: granted },
        })
    }

    /// An unknown outcome: the request may have been carried out, or may be later. Nothing is
    /// assumed. An acquirer reads again, a holder's old deadline stands, a release is sent again. A request on
    /// a file that is not the one at the path ends like this too. SPEC.md R7, R11.
    pub fn fail(self, scene: Scene<'_>) -> Option<Self> {
        let left = self.flight?.left;
        if !scene.has(Part::Failures) && !self.moved {
            return None;
        }
        match (self.phase, self.sent()) {
            (Phase::Acquiring, Some(Request::Acquire(Seen::Row(_, fence), _)))
                if scene.breaks(Variant::FailureBelieved) && left > 0 && !self.stopping =>
            {
                self.now(Phase::Holding { fence: Fence(fence.0 + 1), left })
            }
            (Phase::Acquiring, _) => self.now(Phase::Waiting),
            (Phase::Holding { fence, .. }, _) if scene.breaks(Variant::FailureExtends) => {
                self.now(Phase::Holding { fence, left })
            }
            (phase, _) => self.now(phase),
        }
    }

    /// Whoever finds that the deadline has passed puts that down, and no reply takes it back.
    /// SPEC.md R5.
    fn notice_deadline(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left } = self.phase else { return None };
        let over = left == 0 || self.believes(scene.config, scene.who).is_none();
        let lost = Phase::Lost { fence, reason: Reason::Deadline };
        let unlatched = scene.breaks(Variant::Unlatched).then_some(Contender { phase: lost, ..self });
        over.then(|| unlatched.or_else(|| self.now(lost)))?
    }

    /// Without a tenure there is nothing to wind down; an acquire in flight is awaited; a holder goes
    /// on renewing until its work has stopped. SPEC.md R6.
    fn shutdown(self, scene: Scene<'_>) -> Option<Self> {
        if self.stopping || !scene.has(Part::Shutdowns) {
            return None;
        }
        let stopping = Contender { stopping: true, ..self };
        match self.phase {
            Phase::Waiting | Phase::Reading(_) => self.ended(),
            Phase::Holding { fence, .. } if scene.breaks(Variant::ReleaseFirst) => {
                stopping.send(self.phase, Request::Release(fence), 0)
            }
            Phase::Acquiring
            | Phase::Holding { .. }
            | Phase::Dropped { .. }
            | Phase::Lost { .. }
            | Phase::Releasing { .. } => Some(stopping),
            Phase::WentBack | Phase::Ended | Phase::Crashed { .. } => None,
        }
    }

    /// Only when the work has stopped, because it was told to or has come to its end, is the lease released, or
    /// contended for again. Of work that was dropped nobody knows; past the deadline it can do no harm. SPEC.md R6.
    fn stop_work(self, scene: Scene<'_>) -> Option<Self> {
        let believes = self.believes(scene.config, scene.who).is_some();
        match self.phase {
            Phase::Holding { fence, left } if believes => self.now(Phase::Releasing { fence, left }),
            Phase::Lost { .. } | Phase::Dropped { left: 0, .. } => self.let_go(),
            _ => None,
        }
    }

    /// The future that did the work is gone, and may have left anything behind. SPEC.md R6.
    fn drop_work(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left: left @ 1.. } = self.phase else { return None };
        let dropped = Phase::Dropped { fence, left };
        match scene.has(Part::DroppedWork) && !scene.is_system_a() {
            true if scene.breaks(Variant::DroppedReleased) => self.send(dropped, Request::Release(fence), 0),
            true => self.now(dropped),
            false => None,
        }
    }

    /// Without an answer to its release it may go on all the same; the row expires by itself.
    fn leave(self) -> Option<Self> {
        let Phase::Releasing { .. } = self.phase else { return None };
        self.let_go()
    }

    /// At any moment; nothing is told to anybody.
    fn crash(self, scene: Scene<'_>) -> Option<Self> {
        if self.phase.is_over() || !scene.has(Part::Crashes) {
            return None;
        }
        self.dead(scene)
    }

    /// Crashed, or without power. Of what it did only acts outside the store are still under way.
    pub fn dead(self, scene: Scene<'_>) -> Option<Self> {
        let held = self.believes(scene.config, scene.who).is_some();
        Contender { stopping: false, ..self }.now(Phase::Crashed { held })
    }

    /// It starts with nothing, not even its old id, but for a floor that its user gives. Whoever waits for its
    /// user because the store went back starts again with one. SPEC.md R10, R11.
    fn restart(self, scene: Scene<'_>) -> Option<Self> {
        let again = self.phase.is_over() || self.phase == Phase::WentBack;
        let unfit = scene.is_system_a() && scene.floor > Fence::NONE;
        let (floor, floor_given) = (scene.floor, scene.floor > Fence::NONE);
        let (steady, act) = (self.steady, self.act);
        let fresh = Contender { floor, floor_given, steady, act, ..Contender::new(self.clock) };
        (again && !unfit).then_some(fresh)
    }

    /// A check, and the effect later. SPEC.md R9.
    fn begin(self, scene: Scene<'_>) -> Option<Self> {
        let fence = self.believes(scene.config, scene.who)?;
        let gated = scene.has(Part::GatedActs);
        let acts = gated || scene.has(Part::UnfencedActs) || scene.has(Part::FencedActs);
        let let_in = !gated || self.stands != Stand::Outside;
        let act = Act { fence, by: scene.me(), stands: self.stands };
        let stands = if gated { self.stands } else { Stand::Inside };
        let act = Act { stands, ..act };
        let begun = Contender { act: Some(act), ..self };
        (acts && let_in && begun != self && !scene.is_system_a()).then_some(begun)
    }
}

/// The fence that a reader takes for its own, if R7 or R10 is taken away. With them, none.
fn adopted(scene: Scene<'_>) -> Option<Fence> {
    let adopts = scene.breaks(Variant::OwnRowBelieved) || scene.breaks(Variant::RestartAdopts);
    let row = scene.row.filter(|row| row.holder == scene.me() && row.expiry != Expiry::Released)?;
    adopts.then_some(row.fence)
}
