//! What befalls a contender, and what it is made to do.

use super::blackout::Blackout;
use super::play::{Play, Wrong};
use super::stack::Stack;
use model::actions::Action;
use model::contender::{Move, Phase};
use model::state::{Expiry, Who};
use tenure::protocol::Action as Asks;

impl<S: Stack, const N: usize> Play<'_, S, N> {
    /// A contender moves, where it has a cause to. What it then does besides is told by what it asks for.
    pub(super) fn make(&mut self, who: usize, mv: Move, befalls: Option<Blackout>) -> Result<(), Wrong> {
        let phase = self.state.contenders[who].phase;
        let has_cause = match mv {
            Move::Read => return if phase == Phase::Waiting { self.read(who, befalls) } else { Ok(()) },
            Move::Shutdown => return self.shut_down(who),
            Move::StopWork => return self.stop_work(who),
            Move::DropWork => return self.drop_work(who),
            Move::Crash => return self.crash(who),
            Move::Restart => return self.restart(who),
            Move::Begin => return self.act(who),
            Move::Deliver => self.seats[who].answer.as_ref().is_some_and(Result::is_ok),
            Move::Fail => self.seats[who].has_failed(self.ground.time.now()),
            Move::Acquire => matches!(phase, Phase::Reading(_)),
            Move::Renew | Move::NoticeDeadline => matches!(phase, Phase::Holding { .. }),
            Move::Release => matches!(phase, Phase::Releasing { .. }),
            Move::Leave => !phase.is_over() && self.state.contenders[who].offers(mv),
            Move::Look => false,
        };
        if has_cause { self.settle(who) } else { Ok(()) }
    }

    /// The read is one step of the model, the moment when the store is looked at.
    fn read(&mut self, who: usize, befalls: Option<Blackout>) -> Result<(), Wrong> {
        if self.seats[who].answer.is_some() || self.seats[who].flight.is_none() {
            self.settle(who)?;
        }
        if self.stale(who).is_some_and(|stale| stale.action == Asks::Read) {
            self.serve(who, None)?;
            self.settle(who)?;
        }
        if self.seats[who].is_reading() { self.execute(who, befalls) } else { Ok(()) }
    }

    pub(super) fn execute(&mut self, who: usize, befalls: Option<Blackout>) -> Result<(), Wrong> {
        let next = self.seats[who].stack.asked().into_iter().next();
        if next.is_some() && next == self.seats[who].flight {
            self.serve(who, befalls)?;
        }
        Ok(())
    }

    fn shut_down(&mut self, who: usize) -> Result<(), Wrong> {
        let (contender, seat) = (self.state.contenders[who], &mut self.seats[who]);
        // A last read that was answered before, and not heard yet, is one step of the model already.
        let has_read = seat.is_unsure && seat.answer.is_some();
        if contender.stopping || contender.phase.is_over() || (has_read && seat.is_reading()) {
            return Ok(());
        }
        if !seat.is_unsure && seat.is_reading() {
            (seat.flight, seat.answer) = (None, None);
        }
        // Told at a moment when its request is out of time, it does not wait for an answer that may be there already.
        let now = self.ground.time.now();
        seat.answer.take_if(|_| seat.flight.as_ref().is_some_and(|flight| now >= flight.give_up_at));
        seat.stack.shut_down();
        self.must(Action::Move(Who(who as u8), Move::Shutdown))?;
        self.settle(who)
    }

    fn stop_work(&mut self, who: usize) -> Result<(), Wrong> {
        match self.state.contenders[who].phase {
            Phase::Holding { left: 0, .. } => {
                self.must(Action::Move(Who(who as u8), Move::NoticeDeadline))?;
            }
            Phase::Holding { .. } => self.history.ends(who),
            Phase::Lost { .. } => {}
            _ => return Ok(()),
        }
        self.seats[who].stack.stop_work();
        self.let_go(who)?;
        self.settle(who)
    }

    /// The work of a tenure has stopped; who ends with his tenure has been asked to.
    pub(super) fn let_go(&mut self, who: usize) -> Result<(), Wrong> {
        let me = Who(who as u8);
        self.must(Action::Move(me, Move::StopWork))?;
        if S::ENDS_WITH_ITS_TENURE {
            self.may(Action::Move(me, Move::Shutdown))?;
        }
        self.seats[who].give_up(self.ground.time.now());
        Ok(())
    }

    fn drop_work(&mut self, who: usize) -> Result<(), Wrong> {
        if !matches!(self.state.contenders[who].phase, Phase::Holding { left: 1.., .. }) {
            return Ok(());
        }
        self.history.drops(who);
        self.seats[who].stack.drop_work();
        self.must(Action::Move(Who(who as u8), Move::DropWork))?;
        self.seats[who].give_up(self.ground.time.now());
        self.settle(who)
    }

    fn crash(&mut self, who: usize) -> Result<(), Wrong> {
        if self.state.contenders[who].phase.is_over() {
            return Ok(());
        }
        if !matches!(self.state.contenders[who].phase, Phase::Lost { .. }) {
            self.history.ends(who);
        }
        let seat = &mut self.seats[who];
        seat.stack.crash();
        let open = std::mem::take(&mut seat.open);
        seat.late.extend(open.into_iter().filter(|request| request.action != Asks::Read));
        self.must(Action::Move(Who(who as u8), Move::Crash))
    }

    pub(super) fn restart(&mut self, who: usize) -> Result<(), Wrong> {
        if !self.state.contenders[who].phase.is_over() {
            return Ok(());
        }
        self.must(Action::Move(Who(who as u8), Move::Restart))?;
        let seat = &mut self.seats[who];
        seat.forget();
        seat.stack.begin();
        self.settle(who)?;
        let asks = self.seats[who].flight.as_ref().map(|flight| &flight.action);
        if asks == Some(&Asks::Read) {
            Ok(())
        } else {
            Err(format!("who begins reads first, and not {asks:?}"))
        }
    }

    /// The check and the effect are one. Who is refused since he was superseded is told so, which in the model only a
    /// renewal does: his process ends here.
    fn act(&mut self, who: usize) -> Result<(), Wrong> {
        let me = Who(who as u8);
        let Some(fence) = self.state.contenders[who].believes(self.config(), me) else { return Ok(()) };
        if !self.may(Action::Move(me, Move::Begin))? {
            return Ok(());
        }
        let row = self.state.row.filter(|row| (row.holder, row.fence) == (self.config().id(me), fence));
        let is_current = row.is_some_and(|row| !matches!(row.expiry, Expiry::Unreadable | Expiry::Released));
        let before = self.ground.acts(&self.lease);
        let has_landed = self.seats[who].stack.act();
        self.must(Action::Land(me))?;
        let landed = self.ground.acts(&self.lease) - before;
        if (has_landed, landed) != (is_current, i64::from(is_current)) {
            return Err(format!("an act landed: {has_landed}, {landed} times, on {:?}", self.state.row));
        }
        if row.is_none() { self.crash(who) } else { Ok(()) }
    }
}
