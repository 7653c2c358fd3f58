//! What nobody can tell apart is one state.
//!
//! After each step the state is brought to a normal form: requests that can do nothing any more are
//! forgotten, and fences become ranks. Neither changes what can happen next; both together make the
//! space of states finite, and small.

use crate::config::{Config, Part, Policy, Variant};
use crate::state::{
    Clock, Contender, Expiry, Fence, Flight, Holder, Late, LateKind, Message, Phase, Reply, Request, Row,
    Seen, State, Who,
};
use crate::store::{Sender, bound, renewable};

impl<const N: usize> State<N> {
    /// Brings the state to its normal form.
    pub fn normalise(&mut self, config: &Config) {
        self.forget_the_powerless(config);
        if !config.counts_fences() {
            self.renumber();
        }
        if config.fold {
            *self = self.fold();
        }
    }

    /// A late renewal of a row that is released or expired, and a late release of a released one,
    /// change nothing, now and for ever. So does each of one that cannot be read.
    fn forget_the_powerless(&mut self, config: &Config) {
        if !config.has(Part::LateRequests) || config.renews_any_fence() || config.releases_any_fence() {
            return;
        }
        let row = self.row;
        let keep = |late: Late, holder, clock| {
            let by = Sender { holder, clock, age: 0 };
            let renewable = row.is_some_and(|row| renewable(config, row, by));
            let releasable =
                row.is_some_and(|row| !matches!(row.expiry, Expiry::Released | Expiry::Unreadable));
            late.keep(&[LateKind::Renew], renewable).keep(&[LateKind::Release], releasable)
        };
        for (who, late) in (0..).map(Who).zip(&mut self.late) {
            // A clock that is ahead may be put back.
            let clock = self.contenders[who.index()].clock;
            *late = keep(*late, config.id(who), if config.clocks_step() { Clock::Even } else { clock });
        }
        for (policy, late) in POLICIES.into_iter().zip(&mut self.orphaned) {
            *late = keep(*late, Holder::Gone(policy), Clock::Even);
        }
    }

    /// The row becomes this one. If it has changed hands, what was bound to it is powerless. If anything of it was
    /// touched, whoever watched it has to begin anew; and as an `Observed` row is taken by all its columns, what was
    /// bound to those is powerless too. SPEC.md section 6.
    pub fn replace_row(&mut self, config: &Config, row: Option<Row>, touched: bool) {
        let before = Seen::of(self.row);
        let observed = self.row.is_some_and(|row| config.policy_of(row.holder) == Policy::Observed);
        self.row = row;
        if touched {
            self.contenders.iter_mut().for_each(|one| one.watched = None);
        }
        let handed_over = before != Seen::of(row);
        let columns_changed = observed && touched && !config.breaks(Variant::ObservedUnbound);
        if handed_over {
            let (renews, releases) = (config.renews_any_fence(), config.releases_any_fence());
            self.keep_late(&[LateKind::Renew], renews);
            self.keep_late(&[LateKind::Release], releases);
        }
        let still = handed_over && bound(config, before, row);
        if (handed_over || columns_changed) && !still {
            self.keep_late(&[LateKind::Acquire, LateKind::AcquireAbove], false);
            self.outdate(before);
        }
    }

    fn keep_late(&mut self, kinds: &[LateKind], keep: bool) {
        self.late.iter_mut().chain(&mut self.orphaned).for_each(|late| *late = late.keep(kinds, keep));
    }

    /// An acquire bound to a row that is no more will be refused, so it does not matter what it was bound to, nor
    /// what deadline it would have given.
    fn outdate(&mut self, before: Seen) {
        for contender in &mut self.contenders {
            if let Phase::Reading(seen) = &mut contender.phase
                && *seen == before
            {
                *seen = Seen::Outdated;
            }
            if let Some(Flight { message: Message::Sent(Request::Acquire(seen, floor)), left }) =
                &mut contender.flight
                && *seen == before
            {
                (*seen, *floor, *left) = (Seen::Outdated, Fence::NONE, 0);
            }
        }
    }

    /// A request that its sender no longer waits for is late, if it is bound to the row as it is.
    pub fn give_up(&mut self, config: &Config, who: Who, request: Request) {
        if !config.has(Part::LateRequests) {
            return;
        }
        let seen_now = Seen::of(self.row);
        let own = |fence| Seen::Row(config.id(who), fence) == seen_now;
        let late = match request {
            // Bound to nothing, it could take its own sender's row at any time: SPEC.md assumes that it does not.
            Request::Acquire(Seen::Unseen, _) => None,
            Request::Acquire(seen, floor) if seen == seen_now => Some(match floor {
                Fence::NONE => LateKind::Acquire,
                _ => LateKind::AcquireAbove,
            }),
            Request::Renew(fence) if own(fence) || config.renews_any_fence() => Some(LateKind::Renew),
            Request::Release(fence) if own(fence) || config.releases_any_fence() => Some(LateKind::Release),
            _ => None,
        };
        let all = &mut self.late[who.index()];
        *all = late.map_or(*all, |kind| all.and(Late::only(kind)));
    }

    /// A contender has ended or crashed: its id will never be used again. What bears it is from now
    /// on somebody's who is gone, and a transaction that it had begun is too. SPEC.md R10.
    pub fn retire(&mut self, config: &Config, who: Who) {
        let late = std::mem::take(&mut self.late[who.index()]);
        let policy = config.policy(who);
        let orphaned = &mut self.orphaned[policy as usize];
        *orphaned = orphaned.and(late);
        let contender = &mut self.contenders[who.index()];
        let act = contender.act.filter(|_| !config.has(Part::FencedActs));
        let dead = Contender { act, ..Contender::new(contender.clock) };
        *contender = Contender { phase: contender.phase, steady: contender.steady, ..dead };
        if config.ids_shared() {
            return;
        }
        self.for_each_holder(|holder| {
            if *holder == Holder::Contender(who) {
                *holder = Holder::Gone(policy);
            }
        });
    }

    /// Replaces each fence by its rank among those that somebody can still mention. Rules compare
    /// fences and count one up from the highest, so only their order matters.
    fn renumber(&mut self) {
        let mut mentioned = 0;
        self.for_each_fence(|fence| mentioned |= fence.bit());
        mentioned &= !Fence::NONE.bit();
        let in_order = mentioned & (mentioned + 2) == 0;
        if in_order {
            self.ghost.begun &= mentioned;
            return;
        }
        let rank = |fence: Fence| {
            let up_to_it = fence.bit() | (fence.bit() - 1);
            Fence((mentioned & up_to_it).count_ones() as u8)
        };
        self.for_each_fence(|fence| *fence = rank(*fence));
        let begun = (1..16).map(Fence).filter(|fence| self.ghost.begun & mentioned & fence.bit() != 0);
        self.ghost.begun = begun.fold(0, |set, fence| set | rank(fence).bit());
    }

    fn rows(&mut self) -> impl Iterator<Item = &mut Row> {
        let rows = [&mut self.row, &mut self.failed, &mut self.durable, &mut self.backup, &mut self.old_file];
        rows.into_iter().flatten()
    }

    /// Visits every fence that is mentioned anywhere.
    fn for_each_fence(&mut self, mut visit: impl FnMut(&mut Fence)) {
        visit(&mut self.ghost.top);
        visit(&mut self.gate.fence);
        self.rows().for_each(|row| visit(&mut row.fence));
        for contender in &mut self.contenders {
            visit(&mut contender.floor);
            contender.act.iter_mut().for_each(|act| visit(&mut act.fence));
            match &mut contender.phase {
                Phase::Reading(Seen::Row(_, fence))
                | Phase::Holding { fence, .. }
                | Phase::Dropped { fence, .. }
                | Phase::Lost { fence, .. }
                | Phase::Releasing { fence, .. } => visit(fence),
                Phase::Reading(Seen::Absent | Seen::Outdated | Seen::Unseen)
                | Phase::Waiting
                | Phase::Acquiring
                | Phase::WentBack
                | Phase::Ended
                | Phase::Crashed { .. } => {}
            }
            match contender.flight.as_mut().map(|flight| &mut flight.message) {
                Some(Message::Sent(Request::Acquire(seen, floor))) => {
                    visit(floor);
                    if let Seen::Row(_, fence) = seen {
                        visit(fence);
                    }
                }
                Some(
                    Message::Sent(Request::Renew(fence) | Request::Release(fence))
                    | Message::Answered(Reply::Granted(fence)),
                ) => visit(fence),
                Some(Message::Answered(Reply::Renewed | Reply::Released | Reply::Refused)) | None => {}
            }
        }
    }

    /// Visits every holder id that is mentioned anywhere.
    pub fn for_each_holder(&mut self, mut visit: impl FnMut(&mut Holder)) {
        visit(&mut self.gate.by);
        self.rows().for_each(|row| visit(&mut row.holder));
        for contender in &mut self.contenders {
            contender.act.iter_mut().for_each(|act| visit(&mut act.by));
            if let Phase::Reading(Seen::Row(holder, _)) = &mut contender.phase {
                visit(holder);
            }
            let message = contender.flight.as_mut().map(|flight| &mut flight.message);
            if let Some(Message::Sent(Request::Acquire(Seen::Row(holder, _), _))) = message {
                visit(holder);
            }
        }
    }
}

const POLICIES: [Policy; 3] = [Policy::WallClock, Policy::Observed, Policy::SystemA];
