//! How tenures end, and contenders.

use super::{Contender, Phase, Reason, Scene};
use crate::config::{Part, Variant};
use crate::requests::Request;
use crate::state::Fence;

impl Contender {
    /// Whoever finds that the deadline has passed puts that down, and no reply takes it back.
    /// SPEC.md R5.
    pub(super) fn notice_deadline(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left } = self.phase else { return None };
        let over = left == 0 || self.believes(scene.config, scene.who).is_none();
        let lost = Phase::Lost { fence, reason: Reason::Deadline };
        let unlatched = scene.breaks(Variant::Unlatched).then_some(Contender { phase: lost, ..self });
        over.then(|| unlatched.or_else(|| self.now(lost)))?
    }

    /// Without a tenure there is nothing to wind down, but if an acquire's fate is open it reads once more; an acquire in
    /// flight is awaited; a holder goes on renewing until its work has stopped. SPEC.md R6, R7.
    pub(super) fn shutdown(self, scene: Scene<'_>) -> Option<Self> {
        if self.stopping || !scene.has(Part::Shutdowns) {
            return None;
        }
        let stopping = Contender { stopping: true, ..self };
        match self.phase {
            Phase::Reading(_) => self.ended(),
            Phase::Holding { fence, .. } if scene.breaks(Variant::ReleaseFirst) => {
                stopping.send(self.phase, Request::Release(fence), 0)
            }
            Phase::Waiting
            | Phase::Acquiring
            | Phase::Holding { .. }
            | Phase::Dropped { .. }
            | Phase::Lost { .. }
            | Phase::Releasing { .. } => Some(stopping),
            Phase::WentBack | Phase::Ended | Phase::Crashed { .. } => None,
        }
    }

    /// Only when the work has stopped, because it was told to or has come to its end, is the lease released, or
    /// contended for again. Of work that was dropped nobody knows; past the deadline it can do no harm. SPEC.md R6.
    pub(super) fn stop_work(self, scene: Scene<'_>) -> Option<Self> {
        let believes = self.believes(scene.config, scene.who).is_some();
        match self.phase {
            Phase::Holding { fence, left } if believes => self.now(Phase::Releasing { fence, left }),
            Phase::Lost { .. } | Phase::Dropped { left: 0, .. } => self.let_go(),
            _ => None,
        }
    }

    /// The future that did the work is gone, and may have left anything behind. SPEC.md R6.
    pub(super) fn drop_work(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left: left @ 1.. } = self.phase else { return None };
        let dropped = Phase::Dropped { fence, left };
        match scene.has(Part::DroppedWork) && !scene.is_system_a() {
            true if scene.breaks(Variant::DroppedReleased) => self.send(dropped, Request::Release(fence), 0),
            true => self.now(dropped),
            false => None,
        }
    }

    /// Without an answer to its release it may go on all the same; the row expires by itself. Whoever is to stop and waits
    /// ends if no acquire's fate is open, or if the read that was to tell it fails.
    pub(super) fn leave(self) -> Option<Self> {
        match self.phase {
            Phase::Waiting if self.stopping => self.ended(),
            Phase::Releasing { .. } => self.let_go(),
            _ => None,
        }
    }

    /// At any moment; nothing is told to anybody.
    pub(super) fn crash(self, scene: Scene<'_>) -> Option<Self> {
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
    pub(super) fn restart(self, scene: Scene<'_>) -> Option<Self> {
        let again = self.phase.is_over() || self.phase == Phase::WentBack;
        let unfit = scene.is_system_a() && scene.floor > Fence::NONE;
        let (floor, floor_given) = (scene.floor, scene.floor > Fence::NONE);
        let (steady, act) = (self.steady, self.act);
        let fresh = Contender { floor, floor_given, steady, act, ..Contender::new(self.clock) };
        (again && !unfit).then_some(fresh)
    }
}
