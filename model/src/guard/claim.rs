//! A claim × what happens to it: what it does next. SPEC.md section 10.

use super::config::{Config, Variant};
use super::state::{Claim, Errand, Found, Life, Reply, Stage, Stand};
use crate::state::Ticks;

/// What becomes of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It goes on so.
    Goes(Claim),
    /// It is over, and its id is from then on that.
    Ends(Life),
}

impl Claim {
    /// One that begins, by an instance that has seen what stands there for so many ticks. SPEC.md G1.
    pub fn begins(config: &Config, seen: Option<Ticks>) -> Claim {
        Claim {
            errand: if config.breaks(Variant::NoLook) { Errand::Announce } else { Errand::Look },
            stage: Stage::Asked(0),
            stand: Stand::Pending,
            until: 0,
            lag: 0,
            is_patient: seen.is_some_and(|ticks| ticks >= config.ttl),
            found: Found::Nothing,
        }
    }

    /// It is called because time has passed. `None`: that changes nothing.
    pub fn wakes(self, config: &Config) -> Option<Next> {
        match self.stage {
            Stage::Due(0) => Some(self.asks(self.errand)),
            _ if self.is_overdue(config) => Some(self.gives_up(config)),
            _ => None,
        }
    }

    /// Its answer arrives. `None`: there is none.
    pub fn hears(self, config: &Config) -> Option<Next> {
        let Stage::Answered(age, reply) = self.stage else { return None };
        let overdue = self.is_overdue(config);
        let leaves = overdue || self.stand == Stand::Leaves;
        Some(match (self.errand, reply) {
            (Errand::LastLook, _) => self.looked_last(config, reply),
            (Errand::Remove, Reply::Done) => Next::Ends(Life::Gone),
            (Errand::Remove, _) => self.tries_again(config, Errand::LastLook),
            (Errand::Look, _) if leaves => Next::Ends(Life::Gone),
            // G7.2: whatever it was, it is over.
            _ if leaves => self.leaves(config),
            (Errand::Renew, Reply::Done) if config.breaks(Variant::LateReplyRevives) => {
                self.renewed(config, age)
            }
            _ if self.stand == Stand::Lost => Next::Goes(Claim { stage: Stage::Idle, ..self }),
            (Errand::Look, _) => self.looked(config, reply),
            (Errand::Announce, _) => self.announced(config, age, reply),
            (Errand::Confirm, _) => self.settled(config, reply),
            (Errand::Check, _) => self.checked(config, reply),
            (Errand::Renew, Reply::Done) => self.renewed(config, age),
            (Errand::Renew, _) if config.breaks(Variant::FailureExtends) => self.renewed(config, age),
            (Errand::Renew, _) => self.tries_again(config, self.renewal(config)),
        })
    }

    /// It is to stand down. `None`: it does already. G7.
    pub fn stands_down(self, config: &Config) -> Option<Next> {
        (self.stand != Stand::Leaves).then(|| self.gives_up(config))
    }

    /// SPEC.md G7.
    fn gives_up(self, config: &Config) -> Next {
        match self.stage {
            _ if self.errand == Errand::Look => Next::Ends(Life::Gone),
            Stage::Asked(_) | Stage::Answered(..) if !config.breaks(Variant::RemovesAtOnce) => {
                Next::Goes(Claim { stand: Stand::Leaves, ..self })
            }
            _ => self.leaves(config),
        }
    }

    /// A claim that takes too long is refused: its answer to the user does not wait for the store. SPEC.md G8.
    pub(super) fn is_overdue(&self, config: &Config) -> bool {
        let (Stage::Asked(age) | Stage::Answered(age, _)) = self.stage else { return false };
        self.stand == Stand::Pending && age >= config.third()
    }

    /// Who looked refuses unless nobody is there. SPEC.md G1 and G2.
    fn looked(self, config: &Config, reply: Reply) -> Next {
        let is_free = match reply {
            Reply::Absent => true,
            Reply::Other { left, .. } => left == 0,
            Reply::Unreadable => config.breaks(Variant::UnreadableFree),
            _ => config.breaks(Variant::FailureFree),
        };
        if is_free { self.asks(Errand::Announce) } else { Next::Ends(Life::Gone) }
    }

    /// G3.1, G3.2, G8.
    fn announced(self, config: &Config, age: Ticks, reply: Reply) -> Next {
        let written = Claim { until: self.until_after(config, age), ..self };
        let passed = if config.breaks(Variant::SettleFromSend) { age } else { 0 };
        match reply {
            Reply::Done if config.settle == 0 || config.breaks(Variant::NoReadBack) => written.stands(config),
            Reply::Done => written.asks_in(config.settle.saturating_sub(passed), Errand::Confirm),
            _ if config.breaks(Variant::FailureForgotten) => Next::Ends(Life::Gone),
            _ => self.leaves(config),
        }
    }

    /// SPEC.md G3.
    fn settled(self, config: &Config, reply: Reply) -> Next {
        match reply {
            Reply::Own => self.stands(config),
            Reply::Absent if config.breaks(Variant::AbsentStands) => self.stands(config),
            Reply::Absent | Reply::Other { .. } | Reply::Unreadable => Next::Ends(Life::Gone),
            Reply::Done | Reply::Failed => self.leaves(config),
        }
    }

    /// G3.4.
    fn stands(self, config: &Config) -> Next {
        let until = if config.breaks(Variant::ExpiredStands) { self.until.max(1) } else { self.until };
        if until == 0 {
            return self.leaves(config);
        }
        let due = config.third().saturating_sub(config.ttl - until);
        Claim { stand: Stand::Runs, until, ..self }.asks_in(due, self.renewal(config))
    }

    /// Another's record is not written over; what cannot be understood may be one. SPEC.md G4.
    fn checked(self, config: &Config, reply: Reply) -> Next {
        match reply {
            Reply::Own | Reply::Absent => self.asks(Errand::Renew),
            Reply::Other { .. } | Reply::Unreadable => {
                Next::Goes(Claim { stand: Stand::Lost, stage: Stage::Idle, until: 0, ..self })
            }
            Reply::Done | Reply::Failed => self.tries_again(config, Errand::Check),
        }
    }

    /// SPEC.md G5.
    fn renewed(self, config: &Config, age: Ticks) -> Next {
        let until = self.until_after(config, age);
        let runs = Claim { until, stand: Stand::Runs, ..self };
        runs.asks_in(config.third().saturating_sub(age), self.renewal(config))
    }

    /// What failed may be carried out a little later: it has settled before it is asked again, by one that renews. G5.4.
    fn tries_again(self, config: &Config, errand: Errand) -> Next {
        let at_once = self.stand == Stand::Leaves || config.breaks(Variant::RetriesAtOnce);
        let pause = if at_once { 0 } else { config.settle };
        self.asks_in(pause.max(1), errand)
    }

    fn until_after(&self, config: &Config, age: Ticks) -> Ticks {
        if config.breaks(Variant::UntilFromReply) { config.ttl } else { config.ttl.saturating_sub(age) }
    }

    /// With what a renewal begins.
    fn renewal(&self, config: &Config) -> Errand {
        if config.breaks(Variant::RenewsUnchecked) { Errand::Renew } else { Errand::Check }
    }

    /// G7.1.
    fn leaves(self, config: &Config) -> Next {
        let first = if config.breaks(Variant::RemovesUnseen) { Errand::Remove } else { Errand::LastLook };
        Claim { stand: Stand::Leaves, until: 0, ..self }.asks(first)
    }

    fn looked_last(self, config: &Config, reply: Reply) -> Next {
        match reply {
            Reply::Own => self.asks(Errand::Remove),
            Reply::Absent | Reply::Other { .. } | Reply::Unreadable => Next::Ends(Life::Gone),
            Reply::Done | Reply::Failed => self.tries_again(config, Errand::LastLook),
        }
    }

    fn asks(self, errand: Errand) -> Next {
        let lag = if errand.reads() { 0 } else { self.lag };
        Next::Goes(Claim { errand, stage: Stage::Asked(0), lag, ..self })
    }

    fn asks_in(self, ticks: Ticks, errand: Errand) -> Next {
        match ticks {
            0 => self.asks(errand),
            ticks => Next::Goes(Claim { errand, stage: Stage::Due(ticks), lag: 0, ..self }),
        }
    }

    /// A tick passes. A claim that has not been renewed for a TTL is lost then, whether or not anybody calls. G5.1.
    pub(super) fn tick(&mut self, config: &Config) {
        self.lag += Ticks::from(config.delay.is_some() && self.rests_on_a_read());
        let passes = self.until == 1;
        self.until = self.until.saturating_sub(1);
        let most = if self.errand.reads() { config.third() } else { config.oldest() };
        self.stage = match self.stage {
            Stage::Due(left) => Stage::Due(left.saturating_sub(1)),
            Stage::Asked(age) => Stage::Asked((age + 1).min(most)),
            Stage::Answered(age, reply) => Stage::Answered((age + 1).min(most), older(config, reply)),
            Stage::Idle => Stage::Idle,
        };
        if self.stand == Stand::Runs {
            (self.found, self.is_patient) = (Found::Nothing, false);
        }
        if passes && self.stand == Stand::Runs {
            self.stand = Stand::Lost;
            if matches!(self.stage, Stage::Due(_)) {
                self.stage = Stage::Idle;
            }
        }
    }

    /// Between a read that was carried out and the write that rests on it.
    pub(super) fn rests_on_a_read(&self) -> bool {
        match self.stage {
            Stage::Asked(_) => !self.errand.reads(),
            Stage::Answered(..) => self.errand.reads() && self.errand != Errand::Confirm,
            Stage::Due(_) | Stage::Idle => false,
        }
    }
}

/// An answer that is under way does not change, unless it is judged only when it arrives.
fn older(config: &Config, reply: Reply) -> Reply {
    match reply {
        Reply::Other { left, fresh } if config.breaks(Variant::JudgedLate) => {
            Reply::Other { left: left.saturating_sub(1), fresh }
        }
        reply => reply,
    }
}
