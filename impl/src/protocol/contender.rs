//! The state machine of one contender for one lease: SPEC.md's diagram.

mod event;
mod replies;
mod state;
#[cfg(test)]
mod tests;

pub use event::{End, Event, Input, Loss, Output, Tenure};

use super::{Action, Fence, HolderId, LeaseName, LocalTime, Reply, Request, RequestId, Timing};
use state::{Errand, Flight, State};

/// One contender for one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    lease: LeaseName,
    me: HolderId,
    timing: Timing,
    state: State,
    /// The highest fence seen: the store must never show a lower one (SPEC.md R11).
    floor: Option<Fence>,
    shutdown: bool,
    /// An acquire of ours may have been applied, and the row was not read since (SPEC.md R7).
    unsure: bool,
    /// How often in a row it found its own row where it believed in nothing: a grant that came too late to be believed,
    /// or whose answer never came.
    vain_grants: u8,
    requests: u64,
}

impl Contender {
    /// A contender that has not looked at the store yet. `me` must be this contender's alone (SPEC.md R10).
    pub fn new(lease: LeaseName, me: HolderId, timing: Timing) -> Self {
        Self {
            lease,
            me,
            timing,
            state: State::Waiting { poll_at: LocalTime::from_millis(0) },
            floor: None,
            shutdown: false,
            unsure: false,
            vain_grants: 0,
            requests: 0,
        }
    }

    /// The same, and what an earlier contender of the same process saw counts as seen: a store that shows less went
    /// back (SPEC.md R11).
    #[must_use]
    pub fn with_floor(self, floor: Option<Fence>) -> Self {
        Self { floor, ..self }
    }

    /// The lease that it contends for.
    pub fn lease(&self) -> &LeaseName {
        &self.lease
    }

    /// Who it is.
    pub fn holder(&self) -> &HolderId {
        &self.me
    }

    /// The highest fence seen.
    pub fn floor(&self) -> Option<Fence> {
        self.floor
    }

    /// The request whose reply is awaited. A reply to any other is the same as none.
    pub fn awaits(&self) -> Option<RequestId> {
        self.state.flight().map(|flight| flight.id)
    }

    /// The tenure that is believed in; its deadline must be compared with the clock before every act.
    pub fn tenure(&self) -> Option<Tenure> {
        match self.state {
            State::Holding { fence, deadline, .. } => Some(Tenure { fence, deadline }),
            State::Waiting { .. }
            | State::Reading(_)
            | State::Acquiring(_)
            | State::Lost { .. }
            | State::Releasing { .. }
            | State::Ended => None,
        }
    }

    /// Takes in what happened at `now` on the local clock. `roll` is any random number: it spreads polls and
    /// renewals of many contenders over time.
    pub fn step(&mut self, now: LocalTime, roll: u64, input: Input) -> Output {
        let mut turn = Turn { now, roll, out: Output::default() };
        self.shutdown |= input == Input::Shutdown;
        if let Some((flight, reply)) = self.answer(now, &input) {
            self.on_reply(&mut turn, flight, reply);
        }
        self.notice_deadline(&mut turn, &input);
        if input == Input::WorkStopped {
            self.on_work_stopped(&mut turn);
        }
        self.give_up_release(&mut turn);
        self.stop_contending(&mut turn);
        self.send_what_is_due(&mut turn);
        turn.out.next = self.state.next();
        turn.out
    }

    /// The reply to the request under way; past its time there is one in any case (SPEC.md R7).
    fn answer(&self, now: LocalTime, input: &Input) -> Option<(Flight, Reply)> {
        let flight = self.state.flight()?;
        match input {
            Input::Reply { id, reply } if *id == flight.id => Some((flight, reply.clone())),
            Input::Reply { .. } | Input::Wake | Input::Latched | Input::Shutdown | Input::WorkStopped => {
                (now >= flight.give_up_at).then_some((flight, Reply::Failed))
            }
        }
    }

    /// Past the deadline the tenure is over for good (SPEC.md R5).
    fn notice_deadline(&mut self, turn: &mut Turn, input: &Input) {
        let passed = |tenure: Tenure| turn.now >= tenure.deadline || *input == Input::Latched;
        if self.tenure().is_some_and(passed) {
            self.lose(turn, Loss::DeadlinePassed, None);
        }
    }

    fn lose(&mut self, turn: &mut Turn, loss: Loss, end: Option<End>) {
        self.state = State::Lost { end };
        turn.out.events.push(Event::Lost(loss));
    }

    /// Only work that has stopped lets go: of a lease still held by a release, of a lost one by contending
    /// again (SPEC.md R6).
    fn on_work_stopped(&mut self, turn: &mut Turn) {
        match &self.state {
            State::Holding { fence, .. } => self.release(turn, *fence),
            State::Lost { end: Some(end) } => {
                let end = end.clone();
                self.end(turn, end);
            }
            State::Lost { end: None } => self.wait(turn),
            State::Waiting { .. }
            | State::Reading(_)
            | State::Acquiring(_)
            | State::Releasing { .. }
            | State::Ended => {}
        }
    }

    /// A release is tried again and again, but not for ever.
    fn give_up_release(&mut self, turn: &mut Turn) {
        if matches!(self.state, State::Releasing { give_up_at, release: Errand::Due(_), .. } if turn.now >= give_up_at)
        {
            self.released(turn, Event::NotReleased(None));
        }
    }

    fn release(&mut self, turn: &Turn, fence: Fence) {
        self.state = State::Releasing {
            fence,
            give_up_at: turn.now.plus(self.timing.request_timeout),
            release: Errand::Due(turn.now),
        };
    }

    fn wait(&mut self, turn: &Turn) {
        self.state = State::Waiting { poll_at: turn.later(self.timing.poll_ms()) };
    }

    fn end(&mut self, turn: &mut Turn, end: End) {
        self.state = State::Ended;
        turn.out.events.push(Event::Ended(end));
    }

    /// After a shutdown a contender that holds nothing ends; one that may hold something reads first.
    fn stop_contending(&mut self, turn: &mut Turn) {
        if !self.shutdown {
            return;
        }
        match &self.state {
            State::Waiting { .. } if self.unsure => self.state = State::Waiting { poll_at: turn.now },
            State::Reading(_) if self.unsure => {}
            State::Waiting { .. } | State::Reading(_) => self.end(turn, End::Shutdown),
            State::Acquiring(_)
            | State::Holding { .. }
            | State::Lost { .. }
            | State::Releasing { .. }
            | State::Ended => {}
        }
    }

    fn send_what_is_due(&mut self, turn: &mut Turn) {
        let due = |at: LocalTime| turn.now >= at;
        match self.state {
            State::Waiting { poll_at } if due(poll_at) => {
                self.state = State::Reading(self.send(turn, Action::Read));
            }
            State::Holding { fence, deadline, renewal: Errand::Due(at) } if due(at) => {
                let renewal = Errand::UnderWay(self.send(turn, Action::Renew(fence)));
                self.state = State::Holding { fence, deadline, renewal };
            }
            State::Releasing { fence, give_up_at, release: Errand::Due(at) } if due(at) => {
                let mut flight = self.send(turn, Action::Release(fence));
                flight.give_up_at = flight.give_up_at.min(give_up_at);
                let release = Errand::UnderWay(flight);
                self.state = State::Releasing { fence, give_up_at, release };
            }
            State::Waiting { .. }
            | State::Reading(_)
            | State::Acquiring(_)
            | State::Holding { .. }
            | State::Lost { .. }
            | State::Releasing { .. }
            | State::Ended => {}
        }
    }

    fn send(&mut self, turn: &mut Turn, action: Action) -> Flight {
        self.requests += 1;
        let flight = Flight {
            id: RequestId(self.requests),
            sent: turn.now,
            give_up_at: turn.now.plus(self.timing.request_timeout),
        };
        turn.out.request = Some(Request {
            id: flight.id,
            lease: self.lease.clone(),
            holder: self.me.clone(),
            give_up_at: flight.give_up_at,
            action,
        });
        flight
    }
}

/// One call of [`Contender::step`].
struct Turn {
    now: LocalTime,
    roll: u64,
    out: Output,
}

impl Turn {
    /// About `ms` from now: an eighth more or less, so that a fleet does not poll in step.
    fn later(&self, ms: u64) -> LocalTime {
        self.now.plus(ms - ms / 8 + self.roll % (ms / 4 + 1))
    }

    /// `ms` or up to a tenth less.
    fn at_most(&self, ms: u64) -> u64 {
        ms - self.roll % (ms / 10 + 1)
    }
}
