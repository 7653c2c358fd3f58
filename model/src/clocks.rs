//! Time passes, and clocks go wrong.

use crate::config::{Config, Part, Policy, Variant};
use crate::state::{Clock, Contender, Expiry, Phase, Row, State, Ticks, Who};

/// How the local clocks take a tick.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Local {
    /// All count it.
    Steady,
    /// This one misses it: it has drifted.
    Slow(Who),
    /// This one counts two: it has drifted.
    Fast(Who),
    /// This one does not count, for its host is suspended; only where R4 is broken.
    Asleep(Who),
}

impl<const N: usize> State<N> {
    /// Time passes for everybody alike, and for the rows. A local clock errs at most once in the longest time
    /// that anybody measures by it; R4's drift is that much. SPEC.md R4.
    pub fn tick(&mut self, config: &Config, local: Local) -> Option<()> {
        let possible = match local {
            Local::Steady => true,
            Local::Slow(who) | Local::Fast(who) => {
                config.has(Part::Drift) && self.contenders[who.index()].steady == 0
            }
            Local::Asleep(_) => config.breaks(Variant::BlindToSuspend),
        };
        for row in [&mut self.row, &mut self.failed, &mut self.durable, &mut self.backup, &mut self.old_file]
        {
            row.iter_mut().for_each(age);
        }
        for (who, contender) in (0..).map(Who).zip(&mut self.contenders) {
            contender.tick(config, who, local);
        }
        possible.then_some(())
    }

    /// Somebody sets a wall clock. What is far beyond the bound comes back as suddenly.
    pub fn step(&mut self, config: &Config, who: Who, clock: Clock) -> Option<()> {
        let within = config.has(Part::ClockSteps);
        let contender = &mut self.contenders[who.index()];
        let beyond = clock == Clock::Far || contender.clock == Clock::Far;
        // SPEC.md, section 7, assumes so: system A's clock is not set back while it holds.
        let held = config.policy(who) == Policy::SystemA && !contender.is_idle() && clock < contender.clock;
        let possible = if beyond { config.has(Part::WrongClocks) } else { within };
        contender.clock = clock;
        (possible && !held && config.clocks().contains(&clock)).then_some(())
    }
}

fn age(row: &mut Row) {
    if let Expiry::In(left) = &mut row.expiry {
        *left = left.saturating_sub(1);
    }
}

impl Contender {
    fn tick(&mut self, config: &Config, who: Who, local: Local) {
        let by_wall = config.policy(who) == Policy::SystemA;
        let passed: Ticks = match local {
            Local::Slow(slow) | Local::Asleep(slow) if slow == who && !by_wall => 0,
            Local::Fast(fast) if fast == who && !by_wall => 2,
            _ => 1,
        };
        match &mut self.phase {
            Phase::Holding { left, .. } | Phase::Releasing { left, .. } | Phase::Dropped { left, .. } => {
                *left = left.saturating_sub(passed);
            }
            _ => {}
        }
        if let Some(flight) = &mut self.flight {
            flight.left = flight.left.saturating_sub(passed);
        }
        for since in [&mut self.watched, &mut self.noted] {
            *since = since.map(|ticks| (ticks + passed).min(config.patience()));
        }
        self.steady = if passed == 1 { self.steady.saturating_sub(1) } else { config.patience() };
    }
}
