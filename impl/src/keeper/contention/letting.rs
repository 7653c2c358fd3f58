//! How a tenure ends: given back, left to run out, or lost.

use super::Contention;
use crate::elector::AcquireError;
use crate::keeper::belief::{Belief, NotReleased, Stop};
use crate::keeper::log::Entry;
use crate::keeper::orders::earlier;
use crate::keeper::reach::Reach;
use crate::protocol::{End, Input, LocalTime, Loss};
use std::sync::Arc;

/// How a tenure is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letting {
    /// Its work may still run.
    NotYet,
    /// Its work has stopped: it is given back.
    Back,
    /// Its work was not seen to stop: it runs out.
    RunOut {
        /// Whether somebody still has it, and may work on.
        in_hands: bool,
    },
}

impl Letting {
    pub(super) fn is_running_out(self) -> bool {
        matches!(self, Self::RunOut { .. })
    }
}

impl Contention {
    /// Whether its work may still run, and it is not running out.
    pub(in crate::keeper) fn is_at_work(&self) -> bool {
        self.tenure.is_some() && self.letting == Letting::NotYet
    }

    /// Whether something is still to be done for it: not if it only runs out.
    pub(in crate::keeper) fn is_unsettled(&self) -> bool {
        !self.letting.is_running_out()
    }

    /// Whether it is being given back, or nobody waits for what it may still be granted.
    pub(in crate::keeper) fn is_leaving(&self) -> bool {
        self.letting == Letting::Back || self.tenure.is_none() && self.outcome.is_none()
    }

    /// Nobody has it any more. So its work has stopped, unless it was abandoned before: then what was left of it has.
    pub(in crate::keeper) fn let_go(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if !self.letting.is_running_out() {
            return self.give_back(now, reach);
        }
        self.letting = Letting::RunOut { in_hands: false };
        self.run_out(now, reach)
    }

    /// Its work has stopped: it is given back if it is still ours (SPEC.md R6).
    pub(in crate::keeper) fn give_back(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if self.letting.is_running_out() {
            // There is nothing to give back any more, but whoever says so has stopped.
            return self.let_go(now, reach);
        }
        if self.letting != Letting::NotYet {
            return None;
        }
        self.letting = Letting::Back;
        let end = self.stop(now, reach);
        // The release is not sent yet. Whoever else holds it, or waits for its end, is told before.
        self.tenure.iter().for_each(|tenure| drop(tenure.lose(Loss::GivenBack)));
        end
    }

    fn stop(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        let end = self.step(now, Input::WorkStopped, reach);
        end.or_else(|| self.step(now, Input::Shutdown, reach))
    }

    /// Its work was not seen to stop: nothing is asked for any more, and the lease runs out (SPEC.md R6.3).
    pub(in crate::keeper) fn abandon(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if !self.is_at_work() {
            return None;
        }
        self.letting = Letting::RunOut { in_hands: true };
        let tenure = self.tenure.as_ref()?;
        match tenure.check(now) {
            Ok(_) => {
                reach.record.not_released();
                reach.log.add(Entry::Abandoned(Arc::clone(tenure)));
                tenure.stopping.tell(Stop::Loss);
                tenure.released.tell(Err(NotReleased::RunsOut));
            }
            Err(loss) => tenure.released.tell(Err(NotReleased::Lost(loss))),
        }
        self.run_out(now, reach)
    }

    /// What work was left may believe until the deadline. From then on nothing does; but who still has it may work on,
    /// and until he has stopped nobody contends anew (SPEC.md R6.4).
    pub(super) fn run_out(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        let tenure = self.tenure.as_ref()?;
        if let Ok(deadline) = tenure.check(now) {
            self.due = earlier(Some(deadline), tenure.mind_grace(now));
            return None;
        }
        self.step(now, Input::Latched, reach);
        self.due = None;
        if self.letting == (Letting::RunOut { in_hands: true }) { None } else { self.stop(now, reach) }
    }

    /// The work of all is to stop.
    pub(in crate::keeper) fn shut_down(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        match &self.tenure {
            Some(tenure) => tenure.stopping.tell(Stop::Shutdown),
            None => self.resolve(Err(AcquireError::ShutDown)),
        }
        if self.letting.is_running_out() { None } else { self.step(now, Input::Shutdown, reach) }
    }

    /// The time that a shutdown gave is over. A grant that nobody has taken yet has no work: it is given back.
    pub(in crate::keeper) fn overdue(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        let tenure = self.tenure.as_ref()?;
        tenure.overdue.tell(());
        if tenure.is_taken() { self.abandon(now, reach) } else { self.give_back(now, reach) }
    }

    /// The keeper dies.
    pub(in crate::keeper) fn die(&mut self, reach: &Reach) {
        if let Some(tenure) = self.tenure.as_ref().filter(|tenure| tenure.lost.told().is_none()) {
            lose(tenure, Loss::KeeperDied, reach);
        }
    }

    pub(super) fn told_release(&self, outcome: Result<(), Option<Loss>>, reach: &Reach) {
        let Some(tenure) = &self.tenure else { return };
        match outcome {
            Ok(()) => {
                reach.record.released();
                reach.log.add(Entry::Released(Arc::clone(tenure)));
                tenure.released.tell(Ok(()));
            }
            Err(loss) => {
                reach.record.not_released();
                reach.log.add(Entry::NotReleased(Arc::clone(tenure), loss.clone()));
                tenure.released.tell(Err(loss.map_or(NotReleased::RunsOut, NotReleased::Lost)));
            }
        }
    }

    /// Nothing more will come: whoever still waits is told why.
    pub(in crate::keeper) fn ended(mut self, end: &End) {
        self.resolve(Err(AcquireError::from(end.clone())));
        if let Some(tenure) = &self.tenure {
            let loss = tenure.lose(Loss::GivenBack);
            tenure.released.tell(Err(NotReleased::Lost(loss)));
        }
    }
}

/// Whatever has not been told when it goes, as when the keeper dies, is told then.
impl Drop for Contention {
    fn drop(&mut self) {
        if let Some(tenure) = &self.tenure {
            tenure.lose(Loss::KeeperDied);
            tenure.released.tell(Err(NotReleased::RunsOut));
        }
    }
}

/// A loss is told, counted and logged once: it is the contender that says so, once a tenure.
pub(super) fn lose(tenure: &Arc<Belief>, loss: Loss, reach: &Reach) {
    let loss = tenure.end(loss);
    reach.record.lost(&loss);
    reach.log.add(Entry::Lost(Arc::clone(tenure), loss.clone()));
    tenure.lose(loss);
}
