//! Whose turn it is: a lease name is contended for once per elector (SPEC.md R6.4), and what was seen of it is
//! remembered (SPEC.md R11).

use super::orders::{Id, Ticket};
use crate::protocol::{End, Fence, LeaseName};
use std::collections::{HashMap, VecDeque};

#[derive(Debug, Default)]
pub(super) struct Seats(HashMap<LeaseName, Seat>);

#[derive(Debug, Default)]
struct Seat {
    /// Who contends, or holds.
    taken_by: Option<Id>,
    /// Those who wait their turn.
    queue: VecDeque<Ticket>,
    /// Those who would not wait for a holder, but do for one who is leaving.
    brief: VecDeque<Ticket>,
    /// The highest fence seen.
    floor: Option<Fence>,
    /// Why nobody may contend any more.
    closed: Option<End>,
}

/// What becomes of somebody who comes.
#[derive(Debug)]
pub(super) enum Turn {
    /// It is his.
    Now(Ticket, Option<Fence>),
    /// He waits his turn.
    Later,
    /// Another contends, and he does not wait.
    Taken(Ticket),
    /// Nobody may contend.
    Closed(Ticket, End),
}

impl Seats {
    /// Who waits queues up; so does who does not wait, if the one before him `is_leaving`.
    pub(super) fn come(&mut self, ticket: Ticket, is_leaving: impl Fn(Id) -> bool) -> Turn {
        let seat = self.0.entry(ticket.lease.clone()).or_default();
        match (&seat.closed, seat.taken_by) {
            (Some(end), _) => return Turn::Closed(ticket, end.clone()),
            (None, None) => {
                seat.taken_by = Some(ticket.id);
                return Turn::Now(ticket, seat.floor);
            }
            (None, Some(_)) if ticket.waits => seat.queue.push_back(ticket),
            (None, Some(id)) if is_leaving(id) => seat.brief.push_back(ticket),
            (None, Some(_)) => return Turn::Taken(ticket),
        }
        Turn::Later
    }

    /// A contender has ended. Those whom that concerns come anew: the next, and who would not wait for him; all, if nobody
    /// may contend any more.
    pub(super) fn leave(&mut self, lease: &LeaseName, floor: Option<Fence>, end: End) -> Vec<Ticket> {
        let Some(seat) = self.0.get_mut(lease) else { return Vec::new() };
        seat.taken_by = None;
        seat.floor = seat.floor.max(floor);
        seat.closed = (end != End::Shutdown).then_some(end);
        let waiting = if seat.closed.is_some() { seat.queue.len() } else { 1 };
        let next = seat.queue.drain(..waiting.min(seat.queue.len()));
        let next: Vec<Ticket> = next.chain(seat.brief.drain(..)).collect();
        if next.is_empty() && seat.floor.is_none() && seat.closed.is_none() {
            self.0.remove(lease);
        }
        next
    }

    /// Somebody does not wait any more.
    pub(super) fn cancel(&mut self, lease: &LeaseName, id: Id) {
        if let Some(seat) = self.0.get_mut(lease) {
            seat.queue.retain(|ticket| ticket.id != id);
            seat.brief.retain(|ticket| ticket.id != id);
        }
    }

    /// All who wait.
    pub(super) fn drain(&mut self) -> Vec<Ticket> {
        let all = |seat: &mut Seat| seat.queue.drain(..).chain(seat.brief.drain(..)).collect::<Vec<_>>();
        self.0.values_mut().flat_map(all).collect()
    }
}
