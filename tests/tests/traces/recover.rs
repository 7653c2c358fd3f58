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
            for who in 0..N {
                self.go_on(who)?;
                self.compare()?;
            }
            if self.somebody_holds() {
                self.tally.recovered += 1;
                return Ok(());
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

    fn somebody_holds(&self) -> bool {
        let holds = |who: usize| self.state.contenders[who].believes(self.config(), Who(who as u8)).is_some();
        (0..N).any(holds)
    }

    /// A contender does all that it can do at this moment.
    fn go_on(&mut self, who: usize) -> Result<(), Wrong> {
        for _ in 0..8 {
            match self.state.contenders[who].phase {
                phase if phase.is_over() => self.restart(who)?,
                Phase::Lost { .. } => self.make(who, Move::StopWork, None)?,
                _ => self.settle(who)?,
            }
            if self.seats[who].stack.asked().is_empty() {
                return Ok(());
            }
            self.serve(who, None)?;
        }
        Ok(())
    }
}
