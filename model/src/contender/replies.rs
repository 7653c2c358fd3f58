//! What a contender makes of replies, and of none.

use super::{Contender, Phase, Reason, Scene, Stand};
use crate::config::{Part, Variant};
use crate::requests::{Flight, Message, Reply, Request, Seen};
use crate::state::{Fence, Ticks};

impl Contender {
    /// What a reply means depends on what the contender does when it comes.
    pub(super) fn deliver(self, scene: Scene<'_>) -> Option<Self> {
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
    pub(super) fn granted(self, scene: Scene<'_>, fence: Fence, left: Ticks) -> Option<Self> {
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
    pub(super) fn renewed(self, scene: Scene<'_>, fence: Fence, granted: Ticks) -> Option<Self> {
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
}
