//! What nobody can tell apart is one state.
//!
//! After each step the state is brought to a normal form: requests that can do nothing any more are
//! forgotten, and fences become ranks. Neither changes what can happen next; both together make the
//! space of states finite, and small.

use crate::config::Config;
use crate::state::{
    Clock, Expiry, Fence, Flight, Holder, Late, Message, Phase, Reply, Request, Row, Seen, State, Who,
};
use crate::store::{bound, renewable};

impl<const N: usize> State<N> {
    /// Brings the state to its normal form.
    pub fn normalise(&mut self, config: &Config) {
        self.forget_the_powerless(config);
        self.forget_the_outdated(config);
        self.renumber();
        if config.fold {
            *self = self.fold();
        }
    }

    /// A late renewal of a row that is released or expired, and a late release of a released one,
    /// change nothing, now and for ever.
    fn forget_the_powerless(&mut self, config: &Config) {
        let expiry = self.row.map_or(Expiry::Released, |row| row.expiry);
        let clocks = self.contenders.iter().map(|contender| contender.clock);
        let late = self.late.iter_mut().zip(clocks);
        for (late, clock) in late.chain(self.orphaned.iter_mut().zip([Clock::Even, Clock::Ahead])) {
            late.renew &= renewable(config, expiry, config.ahead(clock));
            late.release &= expiry != Expiry::Released;
        }
    }

    /// An acquire bound to a row that is no more will be refused, so it does not matter what it was
    /// bound to, nor what deadline it would have given.
    fn forget_the_outdated(&mut self, config: &Config) {
        let row = self.row;
        for contender in &mut self.contenders {
            if let Phase::Reading(seen) = &mut contender.phase
                && !bound(config, *seen, row)
            {
                *seen = Seen::Outdated;
            }
            if let Some(Flight { message: Message::Sent(Request::Acquire(seen)), left }) =
                &mut contender.flight
                && !bound(config, *seen, row)
            {
                (*seen, *left) = (Seen::Outdated, 0);
            }
        }
    }

    /// The row becomes this one. If it has changed hands, what was bound to it is powerless.
    pub fn replace_row(&mut self, config: &Config, row: Option<Row>) {
        let before = Seen::of(self.row);
        self.row = row;
        if before != Seen::of(row) {
            let still = bound(config, before, row);
            for late in self.late.iter_mut().chain(&mut self.orphaned) {
                *late = Late { acquire: late.acquire && still, ..Late::default() };
            }
        }
    }

    /// A request that its sender no longer waits for is late, if it is bound to the row as it is.
    pub fn give_up(&mut self, who: Who, request: Request) {
        let (row, me) = (self.row, Holder::Contender(who));
        let own = |fence| Seen::Row(me, fence) == Seen::of(row);
        let late = &mut self.late[who.index()];
        match request {
            Request::Acquire(seen) => late.acquire |= seen == Seen::of(row),
            Request::Renew(fence) => late.renew |= own(fence),
            Request::Release(fence) => late.release |= own(fence),
        }
    }

    /// A contender has ended or crashed: its id will never be used again. What bears it is from now
    /// on somebody's who is gone. SPEC.md R10.
    pub fn retire(&mut self, who: Who) {
        let late = std::mem::take(&mut self.late[who.index()]);
        let orphaned = &mut self.orphaned[self.contenders[who.index()].clock as usize];
        orphaned.acquire |= late.acquire;
        orphaned.renew |= late.renew;
        orphaned.release |= late.release;
        self.for_each_holder(|holder| {
            if *holder == Holder::Contender(who) {
                *holder = Holder::Gone;
            }
        });
    }

    /// Replaces each fence by its rank among those that somebody can still mention. Rules compare
    /// fences and count one up from the highest, so only their order matters.
    fn renumber(&mut self) {
        let mut mentioned = 0;
        self.for_each_fence(|fence| mentioned |= fence.bit());
        mentioned &= !Fence::NONE.bit();
        let rank = |fence: Fence| {
            let up_to_it = fence.bit() | (fence.bit() - 1);
            Fence((mentioned & up_to_it).count_ones() as u8)
        };
        self.for_each_fence(|fence| *fence = rank(*fence));
        let begun = (1..8).map(Fence).filter(|fence| self.ghost.begun & fence.bit() != 0);
        let remembered = begun.filter(|fence| mentioned & fence.bit() != 0);
        self.ghost.begun = remembered.fold(0, |set, fence| set | rank(fence).bit());
    }

    /// Visits every fence that is mentioned anywhere.
    fn for_each_fence(&mut self, mut visit: impl FnMut(&mut Fence)) {
        visit(&mut self.ghost.top);
        if let Some(row) = &mut self.row {
            visit(&mut row.fence);
        }
        for contender in &mut self.contenders {
            match &mut contender.phase {
                Phase::Reading(Seen::Row(_, fence))
                | Phase::Holding { fence, .. }
                | Phase::Lost { fence, .. }
                | Phase::Releasing { fence, .. } => visit(fence),
                Phase::Reading(Seen::Absent | Seen::Outdated)
                | Phase::Waiting
                | Phase::Acquiring
                | Phase::Ended
                | Phase::Crashed { .. } => {}
            }
            match contender.flight.as_mut().map(|flight| &mut flight.message) {
                Some(
                    Message::Sent(
                        Request::Acquire(Seen::Row(_, fence))
                        | Request::Renew(fence)
                        | Request::Release(fence),
                    )
                    | Message::Answered(Reply::Granted(fence)),
                ) => visit(fence),
                Some(Message::Sent(Request::Acquire(Seen::Absent | Seen::Outdated)))
                | Some(Message::Answered(Reply::Renewed | Reply::Released | Reply::Refused))
                | None => {}
            }
        }
    }

    /// Visits every holder id that is mentioned anywhere.
    pub fn for_each_holder(&mut self, mut visit: impl FnMut(&mut Holder)) {
        if let Some(row) = &mut self.row {
            visit(&mut row.holder);
        }
        for contender in &mut self.contenders {
            if let Phase::Reading(Seen::Row(holder, _)) = &mut contender.phase {
                visit(holder);
            }
            let message = contender.flight.as_mut().map(|flight| &mut flight.message);
            if let Some(Message::Sent(Request::Acquire(Seen::Row(holder, _)))) = message {
                visit(holder);
            }
        }
    }
}
