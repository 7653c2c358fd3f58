//! One contender, and the handles that wait for it or hold what it was granted.

use super::belief::{Belief, Custody, NotReleased, Stop};
use super::log::Entry;
use super::notice::Notice;
use super::orders::{Id, Outcome, Ticket, Witness, earlier};
use super::reach::Reach;
use crate::elector::AcquireError;
use crate::protocol::{
    Action, Contender, End, Event, Fence, HolderId, Input, LeaseName, LocalTime, Loss, Reply, RequestId,
    Tenure,
};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Contention {
    id: Id,
    lease: LeaseName,
    /// Whether to wait while somebody else holds it.
    waits: bool,
    /// Whoever waits for the lease, until they are told or have gone. Not kept any longer: a grant in it that nobody
    /// takes must go with it.
    outcome: Option<Arc<Notice<Outcome>>>,
    witness: Option<Arc<dyn Witness>>,
    /// What the answer that is being taken in says stands in the way, until the witness is told.
    met: Option<AcquireError>,
    contender: Contender,
    holder: HolderId,
    tenure: Option<Arc<Belief>>,
    letting: Letting,
    /// When who does not wait is told that there was no answer.
    give_up_at: Option<LocalTime>,
    /// What stood in the way, last time we looked.
    trouble: Option<String>,
    /// When the contender wants to be called.
    next: Option<LocalTime>,
    /// When the renewal that is not confirmed yet was due.
    renewal_due: Option<LocalTime>,
    /// When it wants to be called.
    pub(super) due: Option<LocalTime>,
}

/// How a tenure is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letting {
    /// Its work may still run.
    NotYet,
    /// Its work has stopped: it is given back.
    Go,
    /// Its work was not seen to stop: it runs out.
    RunOut,
}

impl Contention {
    pub(super) fn new(
        ticket: Ticket,
        holder: HolderId,
        floor: Option<Fence>,
        now: LocalTime,
        reach: &Reach,
    ) -> Self {
        let contender = Contender::new(ticket.lease.clone(), holder.clone(), reach.timing).with_floor(floor);
        let give_up_at = (!ticket.waits).then(|| now.plus(reach.timing.request_timeout_ms()));
        let Ticket { id, lease, waits, outcome, witness } = ticket;
        Self {
            id,
            lease,
            waits,
            outcome: Some(outcome),
            witness,
            met: None,
            contender,
            holder,
            tenure: None,
            letting: Letting::NotYet,
            give_up_at,
            trouble: None,
            next: None,
            renewal_due: None,
            due: Some(now),
        }
    }

    pub(super) fn lease(&self) -> &LeaseName {
        &self.lease
    }

    pub(super) fn floor(&self) -> Option<Fence> {
        self.contender.floor()
    }

    /// Whether its work may still run, and it is not running out.
    pub(super) fn is_at_work(&self) -> bool {
        self.tenure.is_some() && self.letting == Letting::NotYet
    }

    /// Whether something is still to be done for it: not if it only runs out.
    pub(super) fn is_unsettled(&self) -> bool {
        self.letting != Letting::RunOut
    }

    /// Whether it is being given back, or nobody waits for what it may still be granted.
    pub(super) fn is_leaving(&self) -> bool {
        self.letting == Letting::Go || self.tenure.is_none() && self.outcome.is_none()
    }

    /// Somebody does not want it any more; a tenure that was granted is let go by being dropped.
    pub(super) fn cancel(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        self.outcome = None;
        if self.tenure.is_some() { None } else { self.step(now, Input::Shutdown, reach) }
    }

    /// Its work has stopped: it is given back if it is still ours (SPEC.md R6).
    pub(super) fn let_go(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if self.letting != Letting::NotYet {
            return None;
        }
        self.letting = Letting::Go;
        let end = self.stop(now, reach);
        // The release is not sent yet. Whoever else holds it, or waits for its end, is told before.
        self.tenure.iter().for_each(|tenure| drop(tenure.lose(Loss::Released)));
        end
    }

    fn stop(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        let end = self.step(now, Input::WorkStopped, reach);
        end.or_else(|| self.step(now, Input::Shutdown, reach))
    }

    /// Its work was not seen to stop: nothing is asked for any more, and the lease runs out (SPEC.md R6.3).
    pub(super) fn abandon(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if !self.is_at_work() {
            return None;
        }
        self.letting = Letting::RunOut;
        if let Some(tenure) = &self.tenure
            && tenure.check(now).is_ok()
        {
            reach.record.not_released();
            reach.log.add(Entry::Abandoned(Arc::clone(tenure)));
            tenure.released.tell(Err(NotReleased::RunsOut));
        }
        self.run_out(now, reach)
    }

    /// What work was left may believe until the deadline; from then on nothing does.
    fn run_out(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        let tenure = self.tenure.as_ref()?;
        if let Ok(deadline) = tenure.check(now) {
            self.due = earlier(Some(deadline), tenure.mind_grace(now));
            return None;
        }
        self.step(now, Input::Latched, reach);
        self.stop(now, reach)
    }

    /// The work of all is to stop.
    pub(super) fn shut_down(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        match &self.tenure {
            Some(tenure) => tenure.stopping.tell(Stop::Shutdown),
            None => self.resolve(Err(AcquireError::ShutDown)),
        }
        if self.letting == Letting::RunOut { None } else { self.step(now, Input::Shutdown, reach) }
    }

    /// The time that a shutdown gave is over.
    pub(super) fn overdue(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        self.tenure.iter().for_each(|tenure| tenure.overdue.tell(()));
        self.abandon(now, reach)
    }

    /// The keeper dies.
    pub(super) fn die(&mut self, reach: &Reach) {
        self.resolve(Err(AcquireError::KeeperDied));
        if let Some(tenure) = &self.tenure {
            if tenure.lost.told().is_none() {
                lose(tenure, Loss::KeeperDied, reach);
            }
            tenure.released.tell(Err(NotReleased::RunsOut));
        }
    }

    pub(super) fn reply(
        &mut self,
        now: LocalTime,
        id: RequestId,
        answer: Result<Reply, String>,
        reach: &mut Reach,
    ) -> Option<End> {
        let reply = answer.unwrap_or_else(|why| {
            reach.log.add(Entry::Failed(self.lease.clone(), why.clone()));
            self.met = Some(AcquireError::NoAnswer(why.clone()));
            self.trouble = Some(why);
            Reply::Failed
        });
        let input = Input::Reply { id, reply };
        let end = if self.letting == Letting::RunOut { None } else { self.step(now, input, reach) };
        let met = self.met.take();
        self.witness.iter().for_each(|witness| witness.met(met.clone()));
        end
    }

    pub(super) fn wake(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if self.letting == Letting::RunOut {
            return self.run_out(now, reach);
        }
        let end = self.step(now, Input::Wake, reach);
        if self.give_up_at.is_some_and(|at| now >= at) && end.is_none() && self.awaits_grant() {
            let why = self.trouble.take().unwrap_or_else(|| "no answer in time".into());
            return self.refuse(now, AcquireError::NoAnswer(why), reach);
        }
        end
    }

    fn awaits_grant(&self) -> bool {
        self.outcome.is_some() && self.tenure.is_none()
    }

    /// A step of the contender, and what follows from it. Its end, when nothing more will come.
    fn step(&mut self, now: LocalTime, input: Input, reach: &mut Reach) -> Option<End> {
        let renewed = matches!(input, Input::Reply { reply: Reply::Renewed, .. });
        let output = self.contender.step(now, reach.roll(), input);
        let wanted = std::mem::replace(&mut self.next, output.next);
        if let Some(request) = output.request {
            if matches!(request.action, Action::Renew(_)) {
                self.renewal_due.get_or_insert(wanted.map_or(now, |wanted| wanted.min(now)));
            }
            reach.requests.push((self.id, request));
        }
        let mut end = output.events.into_iter().filter_map(|event| self.on(event, now, reach)).last();
        if !self.agrees() {
            end = self.step(now, Input::Latched, reach);
        } else if renewed && let Some(due) = self.renewal_due.take() {
            reach.record.renewed(due.until(now));
        }
        let grace = self.tenure.as_ref().and_then(|tenure| tenure.mind_grace(now));
        let give_up = self.give_up_at.filter(|_| self.awaits_grant());
        self.due = earlier(earlier(self.next, grace), give_up);
        end
    }

    /// What the contender believes is passed on to whoever holds the tenure. False: a check found the deadline passed
    /// before (SPEC.md R5.4).
    fn agrees(&self) -> bool {
        match (&self.tenure, self.contender.tenure()) {
            (Some(belief), Some(Tenure { deadline, .. })) => belief.extend(deadline),
            (Some(_) | None, _) => true,
        }
    }

    fn on(&mut self, event: Event, now: LocalTime, reach: &mut Reach) -> Option<End> {
        match event {
            Event::Held(row) => self.obstacle(now, AcquireError::Held(row), reach),
            Event::Unreadable(why) => self.obstacle(now, AcquireError::Unreadable(why), reach),
            Event::Granted(tenure) => {
                self.granted(tenure, reach);
                None
            }
            Event::Lost(loss) => {
                self.tenure.iter().for_each(|tenure| lose(tenure, loss.clone(), reach));
                None
            }
            Event::Released => {
                self.told_release(Ok(()), reach);
                None
            }
            Event::NotReleased(loss) => {
                self.told_release(Err(loss), reach);
                None
            }
            Event::Ended(end) => Some(end),
        }
    }

    fn granted(&mut self, tenure: Tenure, reach: &mut Reach) {
        let (lease, holder) = (self.lease.clone(), self.holder.clone());
        let belief = Arc::new(Belief::new(lease, holder, tenure, reach.timing, Arc::clone(&reach.clock)));
        reach.record.granted();
        reach.log.add(Entry::Granted(Arc::clone(&belief)));
        self.tenure = Some(Arc::clone(&belief));
        self.resolve(Ok(Custody::new(belief, self.id, &reach.orders, &reach.hands)));
    }

    /// Whoever waits is told; if nobody does, the outcome is dropped, and with it a tenure is let go.
    fn resolve(&mut self, outcome: Outcome) {
        if let Some(waiting) = self.outcome.take() {
            waiting.tell(outcome);
        }
    }

    /// Who waits goes on waiting; who does not is told.
    fn obstacle(&mut self, now: LocalTime, obstacle: AcquireError, reach: &mut Reach) -> Option<End> {
        self.met = Some(obstacle.clone());
        if self.waits || !self.awaits_grant() { None } else { self.refuse(now, obstacle, reach) }
    }

    fn refuse(&mut self, now: LocalTime, why: AcquireError, reach: &mut Reach) -> Option<End> {
        self.resolve(Err(why));
        self.step(now, Input::Shutdown, reach)
    }

    fn told_release(&self, outcome: Result<(), Option<Loss>>, reach: &Reach) {
        let Some(tenure) = &self.tenure else { return };
        let entry = |tenure: &Arc<Belief>| Arc::clone(tenure);
        match outcome {
            Ok(()) => {
                reach.record.released();
                reach.log.add(Entry::Released(entry(tenure)));
                tenure.released.tell(Ok(()));
            }
            Err(loss) => {
                reach.record.not_released();
                reach.log.add(Entry::NotReleased(entry(tenure), loss.clone()));
                tenure.released.tell(Err(loss.map_or(NotReleased::RunsOut, NotReleased::Lost)));
            }
        }
    }

    /// Nothing more will come: whoever still waits is told why.
    pub(super) fn ended(mut self, end: &End) {
        self.resolve(Err(AcquireError::from(end.clone())));
        if let Some(tenure) = &self.tenure {
            let loss = tenure.lose(Loss::Released);
            tenure.released.tell(Err(NotReleased::Lost(loss)));
        }
    }
}

/// A loss is told, counted and logged once: it is the contender that says so, once a tenure.
fn lose(tenure: &Arc<Belief>, loss: Loss, reach: &Reach) {
    let loss = tenure.end(loss);
    reach.record.lost(&loss);
    reach.log.add(Entry::Lost(Arc::clone(tenure), loss.clone()));
    tenure.lose(loss);
}
