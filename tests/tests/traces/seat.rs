//! A contender's place in a trace: the code, and what is to be remembered of it to hold it against the model.

use tenure::protocol::{Action, LocalTime, Request};
use tenure::store::Answer;

/// A contender's place.
pub(super) struct Seat<S> {
    pub(super) stack: S,
    /// The id of who contends now.
    pub(super) me: Option<String>,
    /// What it waits for.
    pub(super) flight: Option<Request>,
    /// Its answer, which it has not heard yet.
    pub(super) answer: Option<Answer>,
    /// The call hangs.
    pub(super) hangs: bool,
    /// What was asked for, and was not carried out, as of the last look.
    pub(super) open: Vec<Request>,
    /// What it gave up on.
    pub(super) late: Vec<Request>,
    /// An acquire's fate is open (SPEC.md R7.5).
    pub(super) is_unsure: bool,
    /// When it first asked for the release that it asks for.
    pub(super) releases_since: Option<LocalTime>,
    /// When it wants to be called, if nothing comes before.
    pub(super) next: Option<LocalTime>,
    /// Since when it waits for nothing.
    pub(super) idle_since: LocalTime,
    /// When that was sent which was confirmed last, if nothing failed since.
    pub(super) confirmed: Option<LocalTime>,
    /// How often in a row it found its own row (SPEC.md R7.6).
    pub(super) in_vain: u8,
}

impl<S> Seat<S> {
    pub(super) fn new(stack: S) -> Self {
        let (open, late) = (Vec::new(), Vec::new());
        Self {
            stack,
            me: None,
            flight: None,
            answer: None,
            hangs: false,
            open,
            late,
            is_unsure: false,
            releases_since: None,
            next: None,
            idle_since: LocalTime::from_millis(u64::MAX),
            confirmed: None,
            in_vain: 0,
        }
    }

    /// Somebody else begins.
    pub(super) fn forget(&mut self) {
        (self.me, self.flight, self.answer) = (None, None, None);
        (self.next, self.idle_since, self.confirmed) = (None, LocalTime::from_millis(u64::MAX), None);
        (self.hangs, self.is_unsure, self.releases_since, self.in_vain) = (false, false, None, 0);
    }

    /// Whether a read is under way, or its answer is.
    pub(super) fn is_reading(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.action == Action::Read)
    }

    /// It waits for nothing any more; what is under way goes on.
    pub(super) fn give_up(&mut self, now: LocalTime) {
        (self.flight, self.answer, self.idle_since) = (None, None, now);
    }

    /// Whether it would hear by now that its request has failed.
    pub(super) fn has_failed(&self, now: LocalTime) -> bool {
        match &self.answer {
            Some(answer) => answer.is_err(),
            None => self.flight.as_ref().is_some_and(|flight| now >= flight.give_up_at),
        }
    }
}
