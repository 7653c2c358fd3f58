//! One contender, and the handles that wait for it or hold what it was granted.

mod letting;

use super::belief::{Belief, Custody};
use super::log::Entry;
use super::notice::Pledge;
use super::orders::{Id, Outcome, Ticket, Witness, earlier};
use super::reach::Reach;
use crate::elector::AcquireError;
use crate::protocol::{
    Action, Contender, End, Event, Fence, HolderId, Input, LeaseName, LocalTime, Reply, RequestId, Tenure,
};
use letting::{Letting, lose};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Contention {
    id: Id,
    /// Whoever waits for the lease, until they are told or have gone. Not kept any longer: a grant in it that nobody
    /// takes must go with it.
    outcome: Option<Pledge<Outcome>>,
    witness: Option<Arc<dyn Witness>>,
    contender: Contender,
    tenure: Option<Arc<Belief>>,
    letting: Letting,
    /// When who does not wait is told that there was no answer. `None`: he waits.
    give_up_at: Option<LocalTime>,
    /// What the store's latest answer says stands in the way.
    met: Option<AcquireError>,
    /// When the contender wants to be called.
    next: Option<LocalTime>,
    /// When the renewal that is not confirmed yet was due.
    renewal_due: Option<LocalTime>,
    /// When it wants to be called.
    pub(super) due: Option<LocalTime>,
}

impl Contention {
    pub(super) fn new(
        ticket: Ticket,
        holder: HolderId,
        floor: Option<Fence>,
        now: LocalTime,
        reach: &Reach,
    ) -> Self {
        let Ticket { id, lease, outcome, give_up_at, witness, waits: _ } = ticket;
        Self {
            id,
            outcome: Some(outcome),
            witness,
            contender: Contender::new(lease, holder, reach.timing).with_floor(floor),
            tenure: None,
            letting: Letting::NotYet,
            give_up_at,
            met: None,
            next: None,
            renewal_due: None,
            due: Some(now),
        }
    }

    pub(super) fn lease(&self) -> &LeaseName {
        self.contender.lease()
    }

    pub(super) fn floor(&self) -> Option<Fence> {
        self.contender.floor()
    }

    /// Somebody does not want it any more; a tenure that was granted is let go by being dropped.
    pub(super) fn cancel(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        self.outcome = None;
        if self.tenure.is_some() { None } else { self.step(now, Input::Shutdown, reach) }
    }

    /// An answer; one that nobody awaits any more changes and says nothing.
    pub(super) fn reply(
        &mut self,
        now: LocalTime,
        id: RequestId,
        answer: Result<Reply, String>,
        reach: &mut Reach,
    ) -> Option<End> {
        if self.contender.awaits() != Some(id) || self.letting.is_running_out() {
            return None;
        }
        self.met = None;
        let reply = answer.unwrap_or_else(|why| {
            reach.log.add(Entry::Failed(self.lease().clone(), why.clone()));
            self.met = Some(AcquireError::NoAnswer(why));
            Reply::Failed
        });
        let end = self.step(now, Input::Reply { id, reply }, reach);
        if let Some(witness) = &self.witness {
            witness.met(self.met.clone());
        }
        end
    }

    pub(super) fn wake(&mut self, now: LocalTime, reach: &mut Reach) -> Option<End> {
        if self.letting.is_running_out() {
            return self.run_out(now, reach);
        }
        let end = self.step(now, Input::Wake, reach);
        if end.is_none() && self.awaits_grant() && self.give_up_at.is_some_and(|at| now >= at) {
            let why = match self.met.take() {
                Some(AcquireError::NoAnswer(why)) => why,
                _ => "no answer in time".into(),
            };
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
        } else if renewed
            && self.contender.tenure().is_some()
            && let Some(due) = self.renewal_due.take()
        {
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
        let (lease, holder) = (self.lease().clone(), self.contender.holder().clone());
        let belief = Arc::new(Belief::new(lease, holder, tenure, reach));
        reach.record.granted();
        reach.log.add(Entry::Granted(Arc::clone(&belief)));
        self.tenure = Some(Arc::clone(&belief));
        self.resolve(Ok(Custody::new(belief, self.id, &reach.orders, &reach.hands)));
    }

    /// Whoever waits is told; if nobody does, the outcome is dropped, and with it a tenure is let go.
    fn resolve(&mut self, outcome: Outcome) {
        if let Some(waiting) = self.outcome.take() {
            waiting.keep(outcome);
        }
    }

    /// Who waits goes on waiting; who does not is told.
    fn obstacle(&mut self, now: LocalTime, obstacle: AcquireError, reach: &mut Reach) -> Option<End> {
        self.met = Some(obstacle.clone());
        if self.give_up_at.is_some() && self.awaits_grant() {
            self.refuse(now, obstacle, reach)
        } else {
            None
        }
    }

    fn refuse(&mut self, now: LocalTime, why: AcquireError, reach: &mut Reach) -> Option<End> {
        self.resolve(Err(why));
        self.step(now, Input::Shutdown, reach)
    }
}
