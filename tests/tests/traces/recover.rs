//! After the last fault: somebody holds the lease within TTL + margin + a poll.

use super::play::{Play, Wrong};
use super::stack::Stack;
use model::actions::Action;
use model::contender::{Move, Phase};
use model::faults::Fault;
use model::state::{Clock, Expiry, Who};

/// In ticks: the TTL, the margin, and one in which there is a poll.
const IN_TIME: u64 = 6 + 1 + 1;

impl<S: Stack, const N: usize> Play<'_, S, N> {
    /// Nothing goes wrong any more: clocks are right, the row can be read, calls return, and work stops that is to stop.
    pub(super) fn recover(&mut self) -> Result<(), Wrong> {
        for who in 0..N {
            if self.may(Action::Step(Who(who as u8), Clock::Even))? {
                self.ground.clocks[who].set(Clock::Even);
            }
            self.seats[who].hangs = false;
        }
        let mut ticks = 0;
        // Where a renewal moved the expiry by a millisecond (SPEC.md R3.4), the next tick is the first after it.
        while ticks <= IN_TIME + u64::from(self.expires_between_ticks()) {
            self.suffer(Fault::Mend)?;
            self.all_go_on()?;
            if let Some(holder) = self.holder_for_a_while() {
                self.tally.recovered += 1;
                // There are many short traces; of those, the ones of two contenders will do.
                let goes_on = S::ENDS_WITH_ITS_TENURE || N == 2;
                return if goes_on { self.keeps_it(holder) } else { Ok(()) };
            }
            self.tick()?;
            ticks += 1;
        }
        // SPEC.md, section 8, promises nothing for such rows.
        let stuck = matches!(self.state.row.map(|row| row.expiry), Some(Expiry::Far | Expiry::Unreadable));
        if stuck {
            Ok(())
        } else {
            Err(format!("nobody holds the lease {IN_TIME} ticks after the last fault"))
        }
    }

    /// Nothing goes wrong for a TTL, so the holder renews, and keeps the lease. Where clocks were wrong, another may have
    /// taken it before; and a row that nobody can read is mended only when nobody acts.
    fn keeps_it(&mut self, holder: Who) -> Result<(), Wrong> {
        let is_readable = self.state.row.is_some_and(|row| row.expiry != Expiry::Unreadable);
        let keeps = is_readable && self.world.is_bounded();
        let believes = |play: &Self| play.state.contenders[holder.index()].believes(play.config(), holder);
        for _ in 0..IN_TIME {
            self.tick()?;
            self.all_go_on()?;
            if keeps && believes(self).is_none() {
                return Err(format!("{holder} lost the lease while nothing went wrong"));
            }
        }
        Ok(())
    }

    fn all_go_on(&mut self) -> Result<(), Wrong> {
        for who in 0..N {
            self.go_on(who)?;
            self.compare()?;
        }
        Ok(())
    }

    /// Somebody who holds it, and has a tick to renew it.
    fn holder_for_a_while(&self) -> Option<Who> {
        let has_time = |phase| matches!(phase, Phase::Holding { left: 2.., .. });
        (0..N).find(|who| has_time(self.state.contenders[*who].phase)).map(|who| Who(who as u8))
    }

    /// A contender does all that it can do at this moment.
    fn go_on(&mut self, who: usize) -> Result<(), Wrong> {
        for _ in 0..8 {
            match self.state.contenders[who].phase {
                phase if phase.is_over() => self.restart(who)?,
                Phase::Lost { .. } => self.make(who, Move::StopWork, None)?,
                _ if self.is_called(who) => self.settle(who)?,
                _ => {}
            }
            if self.seats[who].stack.asked().is_empty() {
                return Ok(());
            }
            self.serve(who, None)?;
        }
        Ok(())
    }

    /// Whether there is an answer for it, or it wanted to be called by now: nobody calls it otherwise.
    fn is_called(&self, who: usize) -> bool {
        let (now, seat) = (self.ground.time.now(), &self.seats[who]);
        seat.answer.is_some() || seat.next.is_some_and(|at| at <= now)
    }
}
