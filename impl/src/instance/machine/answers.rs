//! What follows from an answer.

use super::{Answer, Errand, Machine, Now, Sighting, State};
use crate::instance::error::{ClaimError, Loss};
use crate::instance::record::{Record, Seen};
use crate::protocol::LocalTime;

impl Machine {
    pub(super) fn take_in(&mut self, now: Now, answer: Answer) {
        let State::UnderWay(errand, sent) = self.state else { return };
        let is_last = matches!(errand, Errand::LastLook | Errand::Remove);
        if self.leave_by.is_some() && !is_last {
            // Whatever it was: it is over, and the record can be removed.
            self.state = State::Due(Errand::LastLook, now.local);
            return;
        }
        if self.loss.is_some() && !is_last {
            self.state = State::Idle;
            return;
        }
        match (errand, answer) {
            (Errand::Look, Answer::Read(seen)) => self.looked(now, sent, seen),
            (Errand::Announce, Answer::Done(done)) => self.announced(now, sent, done),
            (Errand::Confirm, Answer::Read(seen)) => self.settled(now, sent, seen),
            (Errand::Check, Answer::Read(seen)) => self.checked(now, seen),
            (Errand::Renew, Answer::Done(done)) => self.renewed(now, sent, done),
            (Errand::LastLook, Answer::Read(seen)) => self.looked_last(now, seen),
            (Errand::Remove, Answer::Done(done)) => self.removed(now, done),
            // No answer to what was asked.
            (Errand::Look | Errand::Confirm | Errand::Check | Errand::LastLook, Answer::Done(_)) => {}
            (Errand::Announce | Errand::Renew | Errand::Remove, Answer::Read(_)) => {}
        }
    }

    /// What cannot be read counts as live. SPEC.md G2.
    fn looked(&mut self, now: Now, sent: Now, seen: Result<Seen, String>) {
        match seen {
            Ok(Seen::Absent) => self.state = State::Due(Errand::Announce, now.local),
            Ok(Seen::Record(record)) => self.met(now, sent, record),
            Ok(Seen::Unreadable(why)) | Err(why) => self.give_up(ClaimError::Unreadable(why)),
        }
    }

    /// While another's record is live nothing is written. SPEC.md G1.
    fn met(&mut self, now: Now, sent: Now, record: Record) {
        let (id, since) = (record.id.clone(), record.since);
        let sighting = Sighting::of(record, self.sighting.take(), now.local);
        let expires = sighting.live_until(sent);
        self.sighting = Some(sighting);
        match expires {
            Some(expires) => self.give_up(ClaimError::AnotherInstance { id, since, expires }),
            None => self.state = State::Due(Errand::Announce, now.local),
        }
    }

    /// A write that failed may have been carried out.
    fn announced(&mut self, now: Now, sent: Now, done: Result<(), String>) {
        match done {
            Ok(()) => {
                self.until = sent.local.plus(self.timing.ttl_ms);
                self.state = State::Due(Errand::Confirm, now.local.plus(self.timing.settle_ms));
            }
            Err(why) => self.withdraw(now, ClaimError::NotWritten(why)),
        }
    }

    /// Whoever wrote last, of two that found nobody, stays; the other one yields. SPEC.md G3.
    fn settled(&mut self, now: Now, sent: Now, seen: Result<Seen, String>) {
        match seen {
            Ok(Seen::Record(record)) if record.id == self.id => self.begin(now),
            Ok(Seen::Record(record)) => {
                let (id, since) = (record.id.clone(), record.since);
                let expires = Sighting::of(record, None, now.local).live_until(sent).unwrap_or(sent.wall);
                self.give_up(ClaimError::AnotherInstance { id, since, expires });
            }
            Ok(Seen::Absent) => self.give_up(ClaimError::NotWritten("its record was removed at once".into())),
            Ok(Seen::Unreadable(why)) => self.give_up(ClaimError::Unreadable(why)),
            Err(why) => {
                self.withdraw(now, ClaimError::NotWritten(format!("its record cannot be read back: {why}")));
            }
        }
    }

    /// The claim stands, unless this took so long that others may count the record as gone.
    fn begin(&mut self, now: Now) {
        if now.local >= self.until {
            return self.withdraw(now, ClaimError::NotWritten("this process was held up for a ttl".into()));
        }
        self.outcome = Some(Ok(()));
        self.renew_later(self.until.minus(self.timing.ttl_ms));
    }

    /// Another's record is not written over. What cannot be understood is another's: ours can. SPEC.md G4.
    fn checked(&mut self, now: Now, seen: Result<Seen, String>) {
        match seen {
            Ok(Seen::Record(record)) if record.id != self.id => self.overwritten(record.id),
            Ok(Seen::Unreadable(why)) => self.overwritten(format!("something unreadable: {why}")),
            // Nobody else is there: a record that a person removed is written again.
            Ok(Seen::Record(_) | Seen::Absent) => self.state = State::Due(Errand::Renew, now.local),
            Err(why) => self.try_again(now, Errand::Check, why),
        }
    }

    fn overwritten(&mut self, by: String) {
        self.lose(Loss::Overwritten { by });
        self.state = State::Idle;
    }

    /// From before it was sent. SPEC.md G5.
    fn renewed(&mut self, now: Now, sent: Now, done: Result<(), String>) {
        match done {
            Ok(()) => {
                self.trouble = None;
                self.until = sent.local.plus(self.timing.ttl_ms);
                self.renew_later(sent.local);
            }
            Err(why) => self.try_again(now, Errand::Check, why),
        }
    }

    fn looked_last(&mut self, now: Now, seen: Result<Seen, String>) {
        match seen {
            Ok(Seen::Record(record)) if record.id == self.id => {
                self.state = State::Due(Errand::Remove, now.local);
            }
            Ok(Seen::Record(_) | Seen::Absent | Seen::Unreadable(_)) => self.end(Ok(())),
            Err(why) => self.try_again(now, Errand::LastLook, why),
        }
    }

    fn removed(&mut self, now: Now, done: Result<(), String>) {
        match done {
            Ok(()) => self.end(Ok(())),
            Err(why) => self.try_again(now, Errand::LastLook, why),
        }
    }

    fn renew_later(&mut self, written: LocalTime) {
        self.state = State::Due(Errand::Check, written.plus(self.timing.third_ms()));
    }

    fn try_again(&mut self, now: Now, errand: Errand, why: String) {
        self.trouble = Some(why);
        self.state = State::Due(errand, now.local.plus(self.timing.retry_ms(self.leave_by.is_some())));
    }

    /// Nothing of ours is there.
    fn give_up(&mut self, error: ClaimError) {
        self.refuse(error);
        self.end(Ok(()));
    }

    /// Something of ours may be there.
    fn withdraw(&mut self, now: Now, error: ClaimError) {
        self.refuse(error);
        self.state = State::Idle;
        self.stand_down(now.local);
    }
}
