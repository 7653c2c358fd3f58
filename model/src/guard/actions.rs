//! The steps of the whole.

use super::claim::Next;
use super::config::{Config, Variant};
use super::state::{Claim, Errand, Id, Instance, Life, Record, Reply, Slot, Stage, Stand, State};
use crate::state::{Ticks, Who};
use std::fmt;

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Time passes.
    Tick,
    /// An instance begins a claim: it looks who is there.
    Start(Who),
    /// The store carries out its request.
    Execute(Who),
    /// Its request, or the answer, is lost.
    Fail(Who),
    /// The same, and the store will carry it out all the same.
    FailLate(Who),
    /// The store carries out what it no longer waits for.
    ExecuteLate(Who),
    /// The answer arrives.
    Hear(Who),
    /// It is called because time has passed.
    Wake(Who),
    /// It is told to stand down.
    StandDown(Who),
    /// It stops waiting until its record is removed.
    Leave(Who),
    /// Its process is no more.
    Crash(Who),
    /// Somebody makes the record unreadable.
    Garble,
}

impl Action {
    /// All of so many instances.
    pub fn all(instances: usize) -> impl Iterator<Item = Action> {
        let each: [fn(Who) -> Action; 10] = [
            Action::Start,
            Action::Execute,
            Action::Fail,
            Action::FailLate,
            Action::ExecuteLate,
            Action::Hear,
            Action::Wake,
            Action::StandDown,
            Action::Leave,
            Action::Crash,
        ];
        let of = move |action: fn(Who) -> Action| (0..instances as u8).map(Who).map(action);
        [Action::Tick, Action::Garble].into_iter().chain(each.into_iter().flat_map(of))
    }

    /// Whose it is.
    pub fn who(self) -> Option<Who> {
        match self {
            Action::Tick | Action::Garble => None,
            Action::Start(who) | Action::Execute(who) | Action::Fail(who) | Action::FailLate(who) => {
                Some(who)
            }
            Action::ExecuteLate(who) | Action::Hear(who) | Action::Wake(who) => Some(who),
            Action::StandDown(who) | Action::Leave(who) | Action::Crash(who) => Some(who),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl<const N: usize> State<N> {
    /// What a step leads to; `None` if there is no cause for it.
    pub fn after(&self, config: &Config, action: Action) -> Option<State<N>> {
        let mut next = *self;
        let one = |who: Who| &self.instances[who.index()];
        let claim = |who: Who| one(who).claim;
        match action {
            Action::Tick => return self.tick(config),
            Action::Garble => next.garble(config)?,
            Action::Start(who) => {
                let begins = Claim::begins(config, one(who).seen);
                claim(who).is_none().then(|| next.instances[who.index()].claim = Some(begins))?;
            }
            Action::Execute(who) => next.execute(config, who)?,
            Action::Fail(who) => next.fail(config, who)?,
            Action::FailLate(who) => next.fail_late(config, who)?,
            Action::ExecuteLate(who) => {
                let late = next.late[who.index()].take()?;
                next.put(config, late.record.map_or(Slot::Absent, Slot::Record));
            }
            Action::Hear(who) => {
                let heard = claim(who)?.hears(config)?;
                next.sight(config, who);
                next.go(who, heard);
            }
            Action::Wake(who) => {
                let next_claim = claim(who)?.wakes(config)?;
                next.let_go(config, who, next_claim)?;
            }
            Action::StandDown(who) => {
                let next_claim = claim(who)?.stands_down(config)?;
                next.let_go(config, who, next_claim)?;
            }
            Action::Leave(who) => {
                (claim(who)?.stand == Stand::Leaves).then_some(())?;
                next.set_aside(config, who)?;
                next.go(who, Next::Ends(Life::Ended));
            }
            Action::Crash(who) => {
                (config.crashes && claim(who).is_some()).then_some(())?;
                next.go(who, Next::Ends(Life::Ended));
                next.instances[who.index()].seen = None;
            }
        }
        next.both = if next.two_run() { next.both } else { 0 };
        next.forget(config);
        Some(next)
    }

    fn tick(&self, config: &Config) -> Option<State<N>> {
        self.lets_time_pass(config).then_some(())?;
        let mut next = *self;
        if let Slot::Record(record) = &mut next.slot {
            grow_old(config, record);
        }
        for late in next.late.iter_mut().flatten() {
            late.lag += Ticks::from(config.delay.is_some());
            late.record.iter_mut().for_each(|record| grow_old(config, record));
        }
        for one in &mut next.instances {
            one.seen = one.seen.map(|ticks| (ticks + 1).min(config.ttl));
            if let Some(claim) = &mut one.claim {
                claim.tick(config);
            }
        }
        let counts = config.goes_on && next.two_run();
        next.both = if counts { (self.both + 1).min(config.ttl) } else { 0 };
        next.forget(config);
        Some(next)
    }

    /// Nothing is late beyond the bound, if there is one; and where things go on, nothing is left to be done.
    fn lets_time_pass(&self, config: &Config) -> bool {
        let in_time = |lag: Ticks| config.delay.is_none_or(|delay| lag < delay);
        let waits = |claim: Claim| matches!(claim.stage, Stage::Due(1..) | Stage::Idle);
        let goes_on = config.goes_on && self.two_run();
        let mut claims = self.instances.iter().filter_map(|one| one.claim);
        self.late.iter().flatten().all(|late| in_time(late.lag) && !goes_on)
            && claims
                .all(|claim| (in_time(claim.lag) || !claim.rests_on_a_read()) && (waits(claim) || !goes_on))
    }

    /// What it has seen of another's record it remembers.
    fn sight(&mut self, config: &Config, who: Who) {
        let Instance { claim, seen } = &mut self.instances[who.index()];
        if let Some(claim) = *claim
            && claim.errand == Errand::Look
            && !claim.is_overdue(config)
            && let Stage::Answered(_, Reply::Other { fresh, .. }) = claim.stage
        {
            let keeps = fresh || config.breaks(Variant::SightingKept) && config.ahead != 0;
            *seen = if keeps { seen.or(Some(0)) } else { None };
        }
    }

    /// What may leave a write under way behind, if a rule is taken away.
    fn let_go(&mut self, config: &Config, who: Who, next: Next) -> Option<()> {
        let before = self.claim(who)?.errand;
        let turns = matches!(next, Next::Goes(Claim { errand, .. }) if errand != before);
        if config.breaks(Variant::RemovesAtOnce) && turns {
            self.set_aside(config, who)?;
        }
        self.go(who, next);
        Some(())
    }

    fn go(&mut self, who: Who, next: Next) {
        match next {
            Next::Goes(claim) => self.instances[who.index()].claim = Some(claim),
            Next::Ends(life) => self.end(who, life),
        }
    }

    /// From then on nobody goes by its id.
    fn end(&mut self, who: Who, life: Life) {
        self.instances[who.index()].claim = None;
        let now = Id { of: who, life: Life::Now };
        let rename = |record: &mut Record| {
            if record.by == now {
                record.by.life = life;
            }
        };
        if let Slot::Record(record) = &mut self.slot {
            rename(record);
        }
        self.late.iter_mut().flatten().flat_map(|late| &mut late.record).for_each(rename);
    }
}

fn grow_old(config: &Config, record: &mut Record) {
    record.age = (record.age + 1).min(config.oldest());
}
