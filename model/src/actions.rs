//! What can happen, one thing at a time: time passes, a contender moves, or the store carries out a
//! request.

use crate::config::Config;
use crate::contender::Move;
use crate::state::{Clock, Expiry, Flight, Holder, Message, Phase, Reply, Request, Row, Seen, State, Who};
use crate::store;

/// A step of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Time passes.
    Tick,
    /// A contender moves.
    Move(Who, Move),
    /// The store carries out the request that a contender waits for.
    Execute(Who),
    /// The store carries out a request that a contender no longer waits for.
    ExecuteLate(Who, LateKind),
    /// The store carries out a request of somebody who is gone and had this clock.
    ExecuteOrphaned(Clock, LateKind),
}

/// Which of somebody's late requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateKind {
    /// An acquire.
    Acquire,
    /// A renewal.
    Renew,
    /// A release.
    Release,
}

impl LateKind {
    /// Every kind.
    pub const ALL: [LateKind; 3] = [LateKind::Acquire, LateKind::Renew, LateKind::Release];
}

impl Action {
    /// Every action there is among `n` contenders, in a fixed order.
    pub fn all(n: usize) -> impl Iterator<Item = Action> {
        let of = |who| {
            let moves = Move::ALL.map(|mv| Action::Move(who, mv));
            let late = LateKind::ALL.map(|kind| Action::ExecuteLate(who, kind));
            moves.into_iter().chain([Action::Execute(who)]).chain(late)
        };
        let orphaned = [Clock::Even, Clock::Ahead]
            .into_iter()
            .flat_map(|clock| LateKind::ALL.map(|kind| Action::ExecuteOrphaned(clock, kind)));
        let contenders = (0..n as u8).map(Who);
        std::iter::once(Action::Tick).chain(contenders.flat_map(of)).chain(orphaned)
    }
}

impl<const N: usize> State<N> {
    /// The state after this action, if it can happen and changes anything.
    pub fn after(&self, config: &Config, action: Action) -> Option<State<N>> {
        let mut state = *self;
        match action {
            Action::Tick => state.tick(),
            Action::Move(who, mv) => state.make(config, who, mv)?,
            Action::Execute(who) => state.execute(config, who)?,
            Action::ExecuteLate(who, kind) => {
                let (late, clock) = (self.late[who.index()], self.contenders[who.index()].clock);
                let request = self.late_request(kind, late.has(kind))?;
                state.write(config, request, Holder::Contender(who), clock);
            }
            Action::ExecuteOrphaned(clock, kind) => {
                let request = self.late_request(kind, self.orphaned[clock as usize].has(kind))?;
                state.write(config, request, Holder::Gone, clock);
            }
        }
        state.normalise(config);
        (state != *self).then_some(state)
    }

    /// Time passes for everybody alike, and for the row.
    fn tick(&mut self) {
        if let Some(Row { expiry: Expiry::In(left), .. }) = &mut self.row {
            *left = left.saturating_sub(1);
        }
        self.contenders.iter_mut().for_each(|contender| contender.tick());
    }

    /// A contender moves. A request that it no longer waits for after that becomes late, and one that
    /// has ended or crashed has no name any more.
    fn make(&mut self, config: &Config, who: Who, mv: Move) -> Option<()> {
        let before = self.contenders[who.index()];
        let after = before.make(config, Holder::Contender(who), mv, self.row)?;
        self.contenders[who.index()] = after;
        if let Some(request) = before.sent()
            && after.sent() != before.sent()
        {
            self.give_up(who, request);
        }
        if let Some(fence) = after.believes()
            && before.believes().is_none()
        {
            self.ghost.begun_twice |= self.ghost.begun & fence.bit() != 0;
            self.ghost.begun_unwanted |= before.stopping && before.works().is_none();
            self.ghost.begun |= fence.bit();
        }
        if matches!(after.phase, Phase::Ended | Phase::Crashed { .. }) {
            self.retire(who);
        }
        Some(())
    }

    /// The store carries out what a contender waits for. How long a grant is good for was settled
    /// when the request was sent, and the reply carries it back. SPEC.md R4.
    fn execute(&mut self, config: &Config, who: Who) -> Option<()> {
        let contender = self.contenders[who.index()];
        let reply = self.write(config, contender.sent()?, Holder::Contender(who), contender.clock);
        let grants = matches!(reply, Reply::Granted(_) | Reply::Renewed);
        let left = if grants { contender.flight?.left } else { 0 };
        let message = Message::Answered(reply);
        self.contenders[who.index()].flight = Some(Flight { message, left });
        Some(())
    }

    /// A late request, as it was sent: it is bound to the row as it is.
    fn late_request(&self, kind: LateKind, exists: bool) -> Option<Request> {
        exists.then(|| match kind {
            LateKind::Acquire => Some(Request::Acquire(Seen::of(self.row))),
            LateKind::Renew => self.row.map(|row| Request::Renew(row.fence)),
            LateKind::Release => self.row.map(|row| Request::Release(row.fence)),
        })?
    }

    /// A request meets the row; what the properties need to know of it is put down.
    fn write(&mut self, config: &Config, request: Request, by: Holder, clock: Clock) -> Reply {
        let (row, reply) = store::carry_out(config, self.row, request, by, config.ahead(clock));
        let released = |row: Option<Row>| row.is_some_and(|row| row.expiry == Expiry::Released);
        self.ghost.unreleased |= reply == Reply::Renewed && released(self.row) && !released(row);
        self.replace_row(config, row);
        if let Reply::Granted(fence) = reply {
            self.ghost.not_rising |= fence <= self.ghost.top;
            self.ghost.top = self.ghost.top.max(fence);
        }
        reply
    }
}
