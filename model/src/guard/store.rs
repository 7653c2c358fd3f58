//! The store: what it makes of a request, and what becomes of requests that are lost.

use super::config::{Config, Variant};
use super::state::{Claim, Errand, Found, Id, Instance, Late, Life, Record, Reply, Slot, Stage, State};
use crate::state::{Ticks, Who};

impl<const N: usize> State<N> {
    /// What stands there is written over.
    pub(super) fn put(&mut self, config: &Config, slot: Slot) {
        self.slot = slot;
        for one in &mut self.instances {
            if !config.breaks(Variant::SightingKept) {
                one.seen = None;
            }
            if let Some(Claim { stage: Stage::Answered(_, Reply::Other { fresh, .. }), .. }) = &mut one.claim
            {
                *fresh = false;
            }
        }
    }

    pub(super) fn garble(&mut self, config: &Config) -> Option<()> {
        let may = config.garbled && self.slot != Slot::Unreadable && !(config.goes_on && self.two_run());
        may.then(|| self.put(config, Slot::Unreadable))
    }

    pub(super) fn execute(&mut self, config: &Config, who: Who) -> Option<()> {
        let claim = self.instances[who.index()].claim?;
        let Stage::Asked(age) = claim.stage else { return None };
        let reply = match claim.errand {
            errand if errand.reads() => self.read(config, who, age),
            Errand::Remove => {
                self.put(config, Slot::Absent);
                Reply::Done
            }
            _ => {
                self.put(config, Slot::Record(Record { by: Id { of: who, life: Life::Now }, age }));
                Reply::Done
            }
        };
        let found = if claim.errand == Errand::Look { self.found(config) } else { claim.found };
        let lag = if claim.errand.reads() { 0 } else { claim.lag };
        let stage = Stage::Answered(age, reply);
        self.instances[who.index()].claim = Some(Claim { stage, found, lag, ..claim });
        Some(())
    }

    /// What a reader makes of what stands there. SPEC.md G6.
    fn read(&self, config: &Config, who: Who, asked: Ticks) -> Reply {
        match self.slot {
            Slot::Absent => Reply::Absent,
            Slot::Unreadable => Reply::Unreadable,
            Slot::Record(Record { by: Id { of, life: Life::Now }, .. }) if of == who => Reply::Own,
            Slot::Record(record) => {
                let Instance { claim, seen, .. } = &self.instances[who.index()];
                let is_patient = claim.is_some_and(|claim| claim.is_patient);
                let asked = if config.breaks(Variant::JudgedLate) { 0 } else { asked };
                let left = left(config, who, record, asked);
                // G6: the wall clock's word, or a TTL by its own.
                let left = if is_patient && seen.is_some() { 0 } else { left };
                let left = if config.breaks(Variant::JudgedLate) { left } else { left.min(1) };
                Reply::Other { left, fresh: config.ahead != 0 }
            }
        }
    }

    /// As it is, whatever anybody's clock says.
    fn found(&self, config: &Config) -> Found {
        match self.slot {
            Slot::Absent => Found::Nothing,
            Slot::Unreadable => Found::Unreadable,
            Slot::Record(record) if record.age < config.ttl => Found::Live,
            Slot::Record(record) if record.by.life == Life::Ended => Found::Old,
            Slot::Record(_) => Found::Nothing,
        }
    }

    fn may_fail(&self, config: &Config) -> bool {
        config.failures && !(config.goes_on && self.two_run())
    }

    pub(super) fn fail(&mut self, config: &Config, who: Who) -> Option<()> {
        self.may_fail(config).then_some(())?;
        let claim = self.instances[who.index()].claim.as_mut()?;
        claim.stage = match claim.stage {
            Stage::Asked(age) | Stage::Answered(age, Reply::Done) => Stage::Answered(age, Reply::Failed),
            _ => return None,
        };
        Some(())
    }

    pub(super) fn fail_late(&mut self, config: &Config, who: Who) -> Option<()> {
        (config.late && self.may_fail(config)).then_some(())?;
        let claim = self.instances[who.index()].claim?;
        let Stage::Asked(age) = claim.stage else { return None };
        (!claim.errand.reads()).then_some(())?;
        self.set_aside(config, who)?;
        self.instances[who.index()].claim =
            Some(Claim { stage: Stage::Answered(age, Reply::Failed), ..claim });
        Some(())
    }

    /// A write that is under way is no longer waited for.
    pub(super) fn set_aside(&mut self, config: &Config, who: Who) -> Option<()> {
        let claim = self.instances[who.index()].claim;
        let Some(Claim { stage: Stage::Asked(age), errand, lag, .. }) = claim else { return Some(()) };
        if errand.reads() {
            return Some(());
        }
        let record = Record { by: Id { of: who, life: Life::Now }, age };
        let record = (errand != Errand::Remove).then_some(record);
        let may = config.late || config.breaks(Variant::RemovesAtOnce);
        let room = &mut self.late[who.index()];
        (may && room.is_none()).then(|| *room = Some(Late { record, lag }))
    }
}

/// For how long a record is live by the reader's wall clock when it asked, so many ticks ago.
fn left(config: &Config, reader: Who, record: Record, asked: Ticks) -> Ticks {
    let by_wall = record.age as i8 - asked as i8 + config.ahead_of(reader, record.by.of);
    (config.ttl as i8 - by_wall).max(0) as Ticks
}
