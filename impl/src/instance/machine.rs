//! One claim as a pure state machine: times and answers go in, requests come out.
//!
//! No clock, no thread, no I/O, no randomness. A driver owns a [`Machine`] and
//!
//! 1. calls [`Machine::step`] once to begin, with [`Input::Wake`];
//! 2. carries out the request that came out, if one did: there is never a second one before the answer;
//! 3. looks at the news: [`Machine::outcome`], [`Machine::loss`], [`Machine::farewell`], each of which comes once;
//! 4. waits for the answer, for the wish to stand down, or for [`Machine::next`], whichever is first;
//! 5. calls `step` again with what happened; a call that was not needed changes nothing;
//! 6. ends when there is a `farewell`.
//!
//! Between steps [`Machine::check`] says whether the claim stands: past its moment it is over, whether or not `step`
//! was called.
#![deny(clippy::disallowed_types, clippy::wildcard_enum_match_arm)]

mod answers;
mod sighting;

pub use sighting::Sighting;

use super::error::{ClaimError, Loss, NotRemoved};
use super::record::{Record, Seen};
use crate::protocol::{LocalTime, WallTime};

/// How often it is tried at least to remove a record.
const LEAVE_RETRY_MS: u64 = 1_000;

const NO_ANSWER: &str = "the store does not answer";

/// Both clocks, the local one read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Never steps.
    pub local: LocalTime,
    /// What stands in records.
    pub wall: WallTime,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time has passed.
    Wake,
    /// The last request was carried out, or not.
    Answer(Answer),
    /// The record is to be removed, if it is still ours.
    StandDown,
}

/// What came of a request; or why it failed, so that whether it was carried out is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of a read.
    Read(Result<Seen, String>),
    /// Of a write or a delete.
    Done(Result<(), String>),
}

/// What the store is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// What stands there.
    Read,
    /// To put this in its place.
    Write(Record),
    /// To remove what stands there.
    Delete,
}

/// What the durations of a guard are, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a record is live after it was written.
    pub ttl_ms: u64,
    /// How long after the first write it is read back.
    pub settle_ms: u64,
}

impl Timing {
    /// How often the record is renewed; and how long a call may take that somebody waits for.
    fn third_ms(self) -> u64 {
        self.ttl_ms / 3
    }

    /// How long after a failed request the next one is sent. What failed may be carried out a little later: the settle time
    /// passes first, or a late write would put an earlier time into a record that was renewed since. Who leaves renews
    /// nothing, and somebody waits for it.
    fn retry_ms(self, leaves: bool) -> u64 {
        let retry_ms = self.settle_ms.max(self.ttl_ms / 30);
        if leaves { retry_ms.min(LEAVE_RETRY_MS) } else { retry_ms }
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errand {
    /// Whether somebody is there.
    Look,
    /// The first write.
    Announce,
    /// Whether ours still stands there when it has settled.
    Confirm,
    /// The same, before each renewal.
    Check,
    Renew,
    /// The same, before it is removed.
    LastLook,
    Remove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be sent then.
    Due(Errand, LocalTime),
    /// Sent then.
    UnderWay(Errand, Now),
    /// Lost, and not stood down.
    Idle,
    Over,
}

/// One claim, from the first look to the end.
#[derive(Clone, Debug)]
pub struct Machine {
    id: String,
    timing: Timing,
    state: State,
    /// What this process remembers of another's record.
    sighting: Option<Sighting>,
    since: Option<WallTime>,
    /// Until when our record is believed to be live: a TTL from before the last write that succeeded was sent.
    until: LocalTime,
    /// Until when it tries to remove its record.
    leave_by: Option<LocalTime>,
    /// What the last try that failed came to.
    trouble: Option<String>,
    outcome: Option<Result<(), ClaimError>>,
    loss: Option<Loss>,
    farewell: Option<Result<(), NotRemoved>>,
}

impl Machine {
    /// A claim that has not begun. `id` is this claim's alone; `sighting` is what earlier claims of this process remember.
    pub fn new(id: String, timing: Timing, sighting: Option<Sighting>) -> Self {
        Self {
            id,
            timing,
            state: State::Due(Errand::Look, LocalTime::from_millis(0)),
            sighting,
            since: None,
            until: LocalTime::from_millis(0),
            leave_by: None,
            trouble: None,
            outcome: None,
            loss: None,
            farewell: None,
        }
    }

    /// What stands in its record.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Takes in what happened. What to ask the store now.
    pub fn step(&mut self, now: Now, input: Input) -> Option<Request> {
        // First: what has come too late changes nothing.
        self.mind_time(now.local);
        match input {
            Input::Wake => {}
            Input::Answer(answer) => self.take_in(now, answer),
            Input::StandDown => self.stand_down(now.local),
        }
        self.ask(now)
    }

    /// When it next wants to be called, if nothing else happens.
    pub fn next(&self) -> Option<LocalTime> {
        let act_at = match self.state {
            State::Due(_, at) => Some(at),
            State::UnderWay(_, sent) if self.outcome.is_none() => Some(self.give_up_at(sent)),
            State::UnderWay(..) | State::Idle => None,
            State::Over => return None,
        };
        let until = self.stands().then_some(self.until);
        [act_at, until, self.leave_by].into_iter().flatten().min()
    }

    /// Until when the claim stands unless it is renewed. Once it does not, it never does again.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&mut self, now: LocalTime) -> Result<LocalTime, Loss> {
        if self.stands() && now >= self.until {
            self.lose(Loss::NotRenewed { why: self.obstacle() });
        }
        match &self.loss {
            Some(loss) => Err(loss.clone()),
            None => Ok(self.until),
        }
    }

    /// What came of the claim.
    pub fn outcome(&self) -> Option<&Result<(), ClaimError>> {
        self.outcome.as_ref()
    }

    /// Why it is over, after it stood.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Nothing more will be asked: our record is not there, or it is left to run out.
    pub fn farewell(&self) -> Option<&Result<(), NotRemoved>> {
        self.farewell.as_ref()
    }

    /// Why the last request failed, if it did.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Why the record is not renewed, as far as is known.
    pub fn obstacle(&self) -> String {
        let hangs = || matches!(self.state, State::UnderWay(..)).then_some(NO_ANSWER);
        self.trouble().or_else(hangs).unwrap_or("this process was held up").into()
    }

    /// What the next claim of this process is to remember.
    pub fn sighting(&self) -> Option<&Sighting> {
        self.sighting.as_ref()
    }

    /// The claim is over for this reason, if it is not for another. Nothing is written any more.
    pub fn lose(&mut self, loss: Loss) {
        if self.stands() {
            self.loss = Some(loss);
            if matches!(self.state, State::Due(..)) {
                self.state = State::Idle;
            }
        }
    }

    fn stands(&self) -> bool {
        matches!(self.outcome, Some(Ok(()))) && self.loss.is_none()
    }

    fn give_up_at(&self, sent: Now) -> LocalTime {
        sent.local.plus(self.timing.third_ms())
    }

    /// What is over by the time alone. SPEC.md G8.
    fn mind_time(&mut self, now: LocalTime) {
        let _ = self.check(now);
        if let State::UnderWay(_, sent) = self.state
            && self.outcome.is_none()
            && now >= self.give_up_at(sent)
        {
            self.refuse(ClaimError::NoAnswer);
            self.stand_down(now);
        }
        if self.leave_by.is_some_and(|at| now >= at) {
            let why = self.trouble.take().unwrap_or_else(|| NO_ANSWER.into());
            self.end(Err(NotRemoved { why }));
        }
    }

    /// Nobody waits for the claim any more, or for its end: the record is removed, if it is still ours. SPEC.md G7.
    fn stand_down(&mut self, now: LocalTime) {
        self.lose(Loss::StoodDown);
        self.refuse(ClaimError::NoAnswer);
        let leave_by = now.plus(self.timing.third_ms());
        if self.leave_by.is_none() {
            self.trouble = None;
        }
        match self.state {
            State::Over => {}
            // Nothing was written.
            State::Due(Errand::Look | Errand::Announce, _) | State::UnderWay(Errand::Look, _) => {
                self.end(Ok(()));
            }
            // What is under way is waited for: a write that came after the delete would leave a record.
            State::UnderWay(..) | State::Due(Errand::LastLook | Errand::Remove, _) => {
                self.leave_by.get_or_insert(leave_by);
            }
            State::Due(Errand::Confirm | Errand::Check | Errand::Renew, _) | State::Idle => {
                self.leave_by = Some(leave_by);
                self.state = State::Due(Errand::LastLook, now);
            }
        }
    }

    /// The claim comes to nothing, if nothing came of it yet.
    fn refuse(&mut self, error: ClaimError) {
        self.outcome.get_or_insert(Err(error));
    }

    fn end(&mut self, farewell: Result<(), NotRemoved>) {
        if self.farewell.is_none() {
            (self.state, self.leave_by, self.farewell) = (State::Over, None, Some(farewell));
        }
    }

    /// Sends what is due.
    fn ask(&mut self, now: Now) -> Option<Request> {
        let State::Due(errand, at) = self.state else { return None };
        if now.local < at {
            return None;
        }
        self.state = State::UnderWay(errand, now);
        Some(match errand {
            Errand::Look | Errand::Confirm | Errand::Check | Errand::LastLook => Request::Read,
            Errand::Announce | Errand::Renew => Request::Write(Record {
                id: self.id.clone(),
                since: *self.since.get_or_insert(now.wall),
                renewed: now.wall,
                ttl_ms: self.timing.ttl_ms,
            }),
            Errand::Remove => Request::Delete,
        })
    }
}
