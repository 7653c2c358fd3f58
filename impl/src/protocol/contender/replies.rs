//! What each reply means in each state.

use super::state::{Errand, Flight, State};
use super::{Contender, End, Event, Loss, Tenure, Turn};
use crate::protocol::{Action, Bound, Fence, Free, Reply, Row, Seen, WallTime};

/// After so many grants in vain, a contender leaves its own row alone until it expires: its store is too slow to hold
/// a lease, and others may be luckier (SPEC.md R7).
const VAIN_GRANTS_MAX: u8 = 3;

impl Contender {
    /// A reply of a kind that the request cannot have is no answer: the outcome is unknown.
    pub(super) fn on_reply(&mut self, turn: &mut Turn, flight: Flight, reply: Reply) {
        match self.state {
            State::Reading(_) => self.on_read(turn, reply),
            State::Acquiring(_) => self.on_acquire(turn, flight, reply),
            State::Holding { fence, deadline, .. } => {
                self.on_renew(turn, flight, Tenure { fence, deadline }, reply);
            }
            State::Releasing { fence, give_up_at, .. } => match reply {
                Reply::Released => self.released(turn, Event::Released),
                Reply::Refused(seen) => {
                    let (loss, end) = self.judge(turn, fence, &seen).unzip();
                    self.released(turn, Event::NotReleased(loss));
                    end.flatten().into_iter().for_each(|end| self.end(turn, end));
                }
                Reply::Failed | Reply::Seen { .. } | Reply::Granted(_) | Reply::Renewed => {
                    let release = Errand::Due(turn.later(self.timing.retry_ms()).min(give_up_at));
                    self.state = State::Releasing { fence, give_up_at, release };
                }
            },
            State::Waiting { .. } | State::Lost { .. } | State::Ended => {}
        }
    }

    pub(super) fn released(&mut self, turn: &mut Turn, event: Event) {
        turn.out.events.push(event);
        self.wait(turn);
    }

    fn on_read(&mut self, turn: &mut Turn, reply: Reply) {
        self.wait(turn);
        let Reply::Seen { seen, wall } = reply else {
            // A shutdown does not wait for a store that does not answer: the lease runs out, if there is one.
            self.unsure &= !self.shutdown;
            return;
        };
        self.unsure = false;
        if let Err(end) = self.raise_floor(&seen) {
            return self.end(turn, end);
        }
        match seen {
            Seen::Absent => self.acquire(turn, Bound::Absent),
            Seen::Unreadable(why) => turn.out.events.push(Event::Unreadable(why)),
            Seen::Row(row) => self.on_row(turn, row, wall),
        }
    }

    fn on_row(&mut self, turn: &mut Turn, row: Row, wall: WallTime) {
        let own = row.names(&self.me);
        if own && !row.is_released() {
            if self.shutdown {
                return self.release(turn, row.fence);
            }
            self.vain_grants = self.vain_grants.saturating_add(1);
        }
        let free = self.free_to_me(&row);
        if row.expires_at > free.latest_free_expiry(wall) {
            turn.out.events.push(Event::Held(row));
        } else if row.fence == Fence::MAX {
            self.end(turn, End::FencesExhausted);
        } else {
            self.acquire(turn, Bound::Seen { holder: row.holder, fence: row.fence, free });
        }
    }

    /// When this contender, which believes in no tenure, may take that row.
    fn free_to_me(&self, row: &Row) -> Free {
        if row.names(&self.me) && self.vain_grants < VAIN_GRANTS_MAX {
            Free::Now
        } else {
            row.free_to_others(self.timing.max_skew)
        }
    }

    /// SPEC.md R1: bound to what was read. A contender that shuts down asks for nothing new.
    fn acquire(&mut self, turn: &mut Turn, bound: Bound) {
        if !self.shutdown {
            self.state = State::Acquiring(self.send(turn, Action::Acquire(bound)));
        }
    }

    fn on_acquire(&mut self, turn: &mut Turn, flight: Flight, reply: Reply) {
        self.wait(turn);
        match reply {
            Reply::Granted(fence) => self.on_grant(turn, flight, fence),
            Reply::Refused(seen) => self.on_refusal(turn, seen),
            Reply::Failed | Reply::Seen { .. } | Reply::Renewed | Reply::Released => self.unsure = true,
        }
    }

    /// Another was faster. If its tenure has come and gone already, the lease is free again, and is looked at at once: who
    /// gave it back would else be the first to take it again, each time.
    fn on_refusal(&mut self, turn: &mut Turn, seen: Seen) {
        let before = self.floor;
        match (self.raise_floor(&seen), seen) {
            (Err(end), _) => self.end(turn, end),
            (Ok(()), Seen::Row(row)) if !row.is_released() => turn.out.events.push(Event::Held(row)),
            (Ok(()), Seen::Row(_)) if self.floor > before => {
                self.state = State::Waiting { poll_at: turn.now }
            }
            (Ok(()), Seen::Unreadable(why)) => turn.out.events.push(Event::Unreadable(why)),
            (Ok(()), Seen::Row(_) | Seen::Absent) => {}
        }
    }

    /// Belief counts from the moment the request was sent (SPEC.md R4); a grant that comes after that is over
    /// before it began, and stands in the row all the same (SPEC.md R7).
    fn on_grant(&mut self, turn: &mut Turn, flight: Flight, fence: Fence) {
        let deadline = flight.sent.plus(self.timing.validity_ms());
        if let Some(floor) = self.floor.filter(|floor| fence <= *floor) {
            return self.end(turn, End::StoreWentBack { floor, found: Some(fence) });
        }
        self.floor = Some(fence);
        if self.shutdown {
            self.release(turn, fence);
        } else if turn.now >= deadline {
            self.unsure = true;
        } else {
            self.vain_grants = 0;
            let renewal = self.next_renewal(turn, flight);
            self.state = State::Holding { fence, deadline, renewal };
            turn.out.events.push(Event::Granted(Tenure { fence, deadline }));
        }
    }

    fn next_renewal(&self, turn: &Turn, last: Flight) -> Errand {
        Errand::Due(last.sent.plus(turn.at_most(self.timing.renew_every)))
    }

    /// A reply that came after the deadline prolongs nothing, but may say why (SPEC.md R5).
    fn on_renew(&mut self, turn: &mut Turn, flight: Flight, tenure: Tenure, reply: Reply) {
        let Tenure { fence, deadline } = tenure;
        let in_time = turn.now < deadline;
        match reply {
            Reply::Renewed if in_time => {
                let deadline = deadline.max(flight.sent.plus(self.timing.validity_ms()));
                let renewal = self.next_renewal(turn, flight);
                self.state = State::Holding { fence, deadline, renewal };
            }
            Reply::Refused(seen) => match self.judge(turn, fence, &seen) {
                Some((loss, end)) => self.lose(turn, loss, end),
                None => self.renew_again(turn, tenure),
            },
            Reply::Renewed | Reply::Failed | Reply::Seen { .. } | Reply::Granted(_) | Reply::Released => {
                self.renew_again(turn, tenure);
            }
        }
    }

    /// After an unknown renewal the old deadline stands (SPEC.md R7).
    fn renew_again(&mut self, turn: &Turn, Tenure { fence, deadline }: Tenure) {
        let renewal = Errand::Due(turn.later(self.timing.retry_ms()));
        self.state = State::Holding { fence, deadline, renewal };
    }

    /// Why a renewal or a release matched nothing. An unreadable row is told, but is no loss: nobody can take it.
    fn judge(&mut self, turn: &mut Turn, fence: Fence, seen: &Seen) -> Option<(Loss, Option<End>)> {
        if let Seen::Unreadable(why) = seen {
            turn.out.events.push(Event::Unreadable(why.clone()));
        }
        if let Err(end) = self.raise_floor(seen) {
            return Some((Loss::StoreWentBack, Some(end)));
        }
        let Seen::Row(row) = seen else { return None };
        let loss = row.end_of(&self.me, fence);
        let end = (loss == Loss::StoreWentBack)
            .then_some(End::StoreWentBack { floor: fence, found: Some(row.fence) });
        Some((loss, end))
    }

    /// Remembers the highest fence seen; less than that, or no row any more, and the store went back (SPEC.md R11).
    fn raise_floor(&mut self, seen: &Seen) -> Result<(), End> {
        let found = match seen {
            Seen::Unreadable(_) => return Ok(()),
            Seen::Absent => None,
            Seen::Row(row) => Some(row.fence),
        };
        match self.floor {
            Some(floor) if found < Some(floor) => Err(End::StoreWentBack { floor, found }),
            Some(_) | None => {
                self.floor = found;
                Ok(())
            }
        }
    }
}
