//! The end of all work, when it was asked for.

use super::Keeper;
use super::contention::Contention;
use super::notice::Pledge;
use super::orders::{Id, LeftOver};
use crate::elector::AcquireError;
use crate::protocol::{LeaseName, LocalTime};

#[derive(Debug)]
pub(super) struct Shutdown {
    overdue_at: LocalTime,
    done: Vec<Pledge<LeftOver>>,
    /// What is left to run out.
    left: Vec<LeaseName>,
}

impl Keeper {
    /// Nobody contends any more; who holds is told to stop (SPEC.md R6). Of several graces the one that ends first counts.
    pub(super) fn begin_shutdown(&mut self, now: LocalTime, grace_ms: u64, done: Pledge<LeftOver>) {
        let overdue_at = now.plus(grace_ms);
        let begun = Shutdown { overdue_at, done: Vec::new(), left: Vec::new() };
        let shutdown = self.shutdown.get_or_insert(begun);
        shutdown.overdue_at = overdue_at.min(shutdown.overdue_at);
        shutdown.done.push(done);
        for ticket in self.seats.drain() {
            ticket.outcome.keep(Err(AcquireError::ShutDown));
        }
        for id in self.ids() {
            self.with(id, now, |contention, reach| contention.shut_down(now, reach));
        }
    }

    /// When work that has not stopped is overdue.
    pub(super) fn overdue_at(&self, now: LocalTime) -> Option<LocalTime> {
        self.shutdown.as_ref().map(|shutdown| shutdown.overdue_at).filter(|at| *at > now)
    }

    /// Work that has not stopped within its grace is let run out (SPEC.md R6.3).
    pub(super) fn mind_shutdown(&mut self, now: LocalTime) {
        if self.shutdown.as_ref().is_some_and(|shutdown| now >= shutdown.overdue_at) {
            self.leave_overdue(now);
        }
        if !self.contentions.values().any(Contention::is_unsettled)
            && let Some(shutdown) = &mut self.shutdown
        {
            shutdown.left.sort();
            shutdown.done.drain(..).for_each(|done| done.keep(Some(shutdown.left.clone())));
        }
    }

    fn leave_overdue(&mut self, now: LocalTime) {
        let at_work = |id: &Id| self.contentions.get(id).is_some_and(Contention::is_at_work);
        let overdue: Vec<Id> = self.ids().into_iter().filter(at_work).collect();
        for id in &overdue {
            self.with(*id, now, |contention, reach| contention.overdue(now, reach));
        }
        let left = overdue.iter().filter_map(|id| self.contentions.get(id)).filter(|c| !c.is_unsettled());
        let left: Vec<LeaseName> = left.map(|contention| contention.lease().clone()).collect();
        self.shutdown.iter_mut().for_each(|shutdown| shutdown.left.extend(left.iter().cloned()));
    }

    pub(super) fn mind_settling(&mut self) {
        if !self.settling.is_empty() && !self.contentions.values().any(Contention::is_leaving) {
            self.settling.drain(..).for_each(|settled| settled.keep(()));
        }
    }

    /// In an order that is the same each time.
    fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.contentions.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
}
