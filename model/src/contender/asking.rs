//! What a contender asks for: it reads, acquires, renews, releases; and it begins acts.

use super::{Act, Contender, Phase, Scene, Stand};
use crate::config::{Part, Policy, Variant};
use crate::requests::{Request, Seen};
use crate::state::{Expiry, Fence, Row};
use crate::store::{Sender, takeable};

impl Contender {
    /// Only where a rule is broken: it looks at a clock, then stalls, then does what it looked for.
    pub(super) fn look(self, scene: Scene<'_>) -> Option<Self> {
        let early = match self.phase {
            Phase::Waiting => scene.breaks(Variant::ObservedFromSend),
            Phase::Holding { .. } => scene.breaks(Variant::WallClockFirst) && self.flight.is_none(),
            _ => false,
        };
        (early && self.noted.is_none()).then_some(Contender { noted: Some(0), ..self })
    }

    /// A contender decides by what it reads, and then acquires exactly that. System A does not read.
    /// SPEC.md R1, R7.
    pub(super) fn read(mut self, scene: Scene<'_>) -> Option<Self> {
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
    pub(super) fn read_to_leave(self, scene: Scene<'_>) -> Option<Self> {
        let unreleased = |row: &Row| !matches!(row.expiry, Expiry::Released | Expiry::Unreadable);
        match scene.row.filter(|row| row.holder == scene.me() && unreleased(row)) {
            Some(Row { fence, .. }) => self.now(Phase::Releasing { fence, left: 0 }),
            None => self.ended(),
        }
    }

    /// A fence below its floor, or no row where it has seen one, unless its user gave that floor. SPEC.md R11.
    pub(super) fn went_back(self, scene: Scene<'_>) -> bool {
        let stored = scene.row.map_or(Fence::NONE, |row| row.fence);
        let unreadable = scene.row.is_some_and(|row| row.expiry == Expiry::Unreadable);
        let careless = scene.breaks(Variant::FloorCheckedAfter) || scene.breaks(Variant::FloorForgotten);
        stored < self.floor && !self.floor_given && !unreadable && !careless
    }

    /// It remembers the highest fence that it has seen. SPEC.md R11.
    pub(super) fn raise_floor(self, scene: Scene<'_>, seen: Seen) -> Self {
        match seen {
            Seen::Row(_, fence) if fence > self.floor && scene.config.keeps_floors() => {
                Contender { floor: fence, floor_given: false, ..self }
            }
            _ => self,
        }
    }

    /// From the reply of the first read that showed the row as it is, it knows it. SPEC.md section 6.
    pub(super) fn watch(self, scene: Scene<'_>) -> Self {
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
    pub(super) fn acquire(self, scene: Scene<'_>) -> Option<Self> {
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

    /// A renewal is sent while the holder believes, and only when a grant would move its deadline. If the file has
    /// moved, this one fails, and the path is opened anew. SPEC.md R11.
    pub(super) fn renew(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Holding { fence, left } = self.phase else { return None };
        if self.moved && !scene.breaks(Variant::MovedUnnoticed) {
            return Some(Contender { moved: false, ..self });
        }
        let full = if scene.is_system_a() { scene.belief() + scene.config.skew } else { scene.belief() };
        let believes = self.believes(scene.config, scene.who).is_some();
        let due = believes && left < full && self.flight.is_none();
        let noted = if scene.breaks(Variant::ClockBeforeLock) { Some(0) } else { self.noted };
        due.then(|| Contender { noted, ..self }.send(self.phase, Request::Renew(fence), scene.belief()))?
    }

    /// Sent again as often as it fails: a second release of the same tenure changes nothing.
    pub(super) fn release(self, scene: Scene<'_>) -> Option<Self> {
        let Phase::Releasing { fence, .. } = self.phase else { return None };
        let moved = self.moved && scene.breaks(Variant::MovedUnnoticed);
        let unsent = self.flight.is_none();
        unsent.then(|| Contender { moved, ..self }.send(self.phase, Request::Release(fence), 0))?
    }

    /// A check, and the effect later. SPEC.md R9.
    pub(super) fn begin(self, scene: Scene<'_>) -> Option<Self> {
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
