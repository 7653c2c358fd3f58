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
    queue: VecDeque<Ticket>,
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
    pub(super) fn come(&mut self, ticket: Ticket) -> Turn {
        let seat = self.0.entry(ticket.lease.clone()).or_default();
        match &seat.closed {
            Some(end) => Turn::Closed(ticket, end.clone()),
            None if seat.taken_by.is_none() => {
                seat.taken_by = Some(ticket.id);
                Turn::Now(ticket, seat.floor)
            }
            None if ticket.waits => {
                seat.queue.push_back(ticket);
                Turn::Later
            }
            None => Turn::Taken(ticket),
        }
    }

    /// A contender has ended. Those who waited come anew, in order.
    pub(super) fn leave(&mut self, lease: &LeaseName, floor: Option<Fence>, end: End) -> VecDeque<Ticket> {
        let Some(seat) = self.0.get_mut(lease) else { return VecDeque::new() };
        seat.taken_by = None;
        seat.floor = seat.floor.max(floor);
        seat.closed = (end != End::Shutdown).then_some(end);
        std::mem::take(&mut seat.queue)
    }

    /// Somebody does not wait any more.
    pub(super) fn cancel(&mut self, id: Id) {
        self.0.values_mut().for_each(|seat| seat.queue.retain(|ticket| ticket.id != id));
    }

    /// All who wait.
    pub(super) fn drain(&mut self) -> Vec<Ticket> {
        self.0.values_mut().flat_map(|seat| std::mem::take(&mut seat.queue)).collect()
    }
}
