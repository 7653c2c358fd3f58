//! What nobody waits for any more, and is carried out all the same.

use super::play::{Play, Wrong};
use super::stack::Stack;
use model::actions::Action;
use model::config::Policy;
use model::state::{Clock, LateKind, Who};
use tenure::protocol::{Action as Asks, Request};

impl<S: Stack, const N: usize> Play<'_, S, N> {
    /// A request that a contender gave up on, or a stale one that lies before the one it waits for.
    pub(super) fn execute_late(&mut self, who: usize, kind: LateKind) -> Result<(), Wrong> {
        if let Some(stale) = self.stale(who)
            && self.is_own(who, &stale)
            && is_of(kind, &stale)
        {
            return self.serve(who, None);
        }
        let found = self.seats[who].late.iter().position(|request| is_of(kind, request));
        match found.filter(|at| !self.is_on_edge(who, &self.seats[who].late[*at])) {
            Some(at) => {
                let request = self.seats[who].late[at].clone();
                self.carry_out_late(who, &request)
            }
            None => Ok(()),
        }
    }

    pub(super) fn execute_orphaned(&mut self, clock: Clock, kind: LateKind) -> Result<(), Wrong> {
        let by = |who: usize| kind == LateKind::Release || self.state.contenders[who].clock == clock;
        for who in (0..N).filter(|who| by(*who)) {
            if let Some(stale) = self.stale(who)
                && !self.is_own(who, &stale)
                && is_of(kind, &stale)
            {
                return self.serve(who, None);
            }
        }
        let fits = |(who, request): &&(usize, Request)| {
            is_of(kind, request) && by(*who) && !self.is_on_edge(*who, request)
        };
        match self.orphans.iter().find(fits).cloned() {
            Some((who, request)) => self.carry_out_late(who, &request),
            None => Ok(()),
        }
    }

    /// The first request on the desk, if it is not the one that is waited for.
    pub(super) fn stale(&self, who: usize) -> Option<Request> {
        let next = self.seats[who].stack.asked().into_iter().next()?;
        (Some(&next) != self.seats[who].flight.as_ref()).then_some(next)
    }

    fn is_own(&self, who: usize, request: &Request) -> bool {
        self.seats[who].me.as_deref() == Some(request.holder.as_str())
    }

    /// As a thread would that hung in this call until now.
    fn carry_out_late(&mut self, who: usize, request: &Request) -> Result<(), Wrong> {
        let late = self.late(who, request);
        let answer = self.seats[who].stack.carry_out_late(request);
        self.history.carried_out(self.ground, &self.lease, request, &answer);
        late.map_or(Ok(false), |late| self.may(late)).map(drop)
    }

    /// What it is to the model that a request is carried out that nobody waits for. `None`: nothing, it has forgotten it, for
    /// it is powerless.
    pub(super) fn late(&self, who: usize, request: &Request) -> Option<Action> {
        let kind = kind_of(request).filter(|_| self.is_bound(who, request))?;
        let clock = match kind {
            LateKind::Release => Clock::Even,
            _ => self.state.contenders[who].clock,
        };
        Some(match self.is_own(who, request) {
            true => Action::ExecuteLate(Who(who as u8), kind),
            false => Action::ExecuteOrphaned(Policy::WallClock, clock, kind),
        })
    }
}

fn is_of(kind: LateKind, request: &Request) -> bool {
    kind_of(request) == Some(kind)
}

fn kind_of(request: &Request) -> Option<LateKind> {
    match request.action {
        Asks::Read => None,
        Asks::Acquire(_) => Some(LateKind::Acquire),
        Asks::Renew(_) => Some(LateKind::Renew),
        Asks::Release(_) => Some(LateKind::Release),
    }
}
