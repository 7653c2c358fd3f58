//! Two claims of the code and one store, to which the model's actions are done.

use model::guard::actions::Action;
use model::guard::config::Config;
use model::guard::state::{Claim, Stand, State};
use model::state::Who;
use tenure::instance::Seen;
use tenure::instance::machine::{Answer, Input, Machine, Now, Request, Sighting, Timing};
use tenure::protocol::{LocalTime, WallTime};

/// A tick of the model.
pub(super) const TICK_MS: u32 = 1_000;

/// An instance of the code.
#[derive(Clone, Default)]
pub(super) struct One {
    pub(super) machine: Option<Machine>,
    /// What its last step asked for, until the store has carried it out.
    pub(super) asked: Option<Request>,
    /// What the store has answered, until it is heard.
    answer: Option<Answer>,
    late: Option<Request>,
    sighting: Option<Sighting>,
    /// Until when its machine waits for its record to be removed.
    leave_by: Option<LocalTime>,
    claims: u32,
    ended: Option<Machine>,
}

/// Everything, as the code has it.
#[derive(Clone)]
pub(super) struct Twin {
    pub(super) ones: [One; 2],
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) local: LocalTime,
}

impl Twin {
    pub(super) fn new() -> Self {
        Self { ones: Default::default(), bytes: None, local: LocalTime::from_millis(1_000_000) }
    }

    /// Both clocks of an instance.
    pub(super) fn now(&self, config: &Config, who: Who) -> Now {
        let ahead = i64::from(config.ahead) * i64::from(who.0) * i64::from(TICK_MS);
        let wall = 1_767_225_600_000 + self.local.as_millis() as i64 + ahead;
        Now { local: self.local, wall: WallTime::from_unix_millis(wall) }
    }

    /// In how many ticks the machine stops waiting for its record to be removed.
    pub(super) fn leaves_in(&self, who: Who) -> Option<u64> {
        let by = self.ones[who.index()].leave_by?;
        Some(by.as_millis().saturating_sub(self.local.as_millis()) / u64::from(TICK_MS))
    }

    /// Whether the code can do this now. When it stops waiting is the model's choice and the code's clock.
    pub(super) fn can(&self, action: Action) -> bool {
        let leaves = |who| self.leaves_in(who) == Some(0);
        match action {
            Action::Leave(who) => leaves(who),
            Action::Hear(who) | Action::Wake(who) | Action::StandDown(who) => !leaves(who),
            _ => true,
        }
    }

    /// Does to the code what the model has done.
    pub(super) fn act(&mut self, config: &Config, action: Action, before: &State, after: &State) {
        match action {
            Action::Tick => self.tick(),
            Action::Garble => self.bytes = Some(b"{".to_vec()),
            Action::Start(who) => self.start(config, who),
            Action::Execute(who) => {
                let request = self.ones[who.index()].asked.take().expect("it has asked");
                let answer = self.carry_out(request);
                self.ones[who.index()].answer = Some(answer);
            }
            Action::Fail(who) | Action::FailLate(who) => self.fail(who, action == Action::FailLate(who)),
            Action::ExecuteLate(who) => {
                let request = self.ones[who.index()].late.take().expect("something is late");
                self.carry_out(request);
            }
            Action::Hear(who) => {
                let answer = self.ones[who.index()].answer.take().expect("an answer has come");
                self.step(config, who, Input::Answer(answer));
            }
            Action::Wake(who) | Action::Leave(who) => self.step(config, who, Input::Wake),
            Action::StandDown(who) => self.step(config, who, Input::StandDown),
            Action::Crash(who) => {
                let one = &mut self.ones[who.index()];
                *one = One { late: one.late.take(), claims: one.claims, ..One::default() };
            }
        }
        for who in [Who(0), Who(1)] {
            self.mind(config, who, before.claim(who), after.claim(who));
        }
    }

    fn tick(&mut self) {
        self.local = self.local.plus(TICK_MS.into());
        for machine in self.ones.iter_mut().flat_map(|one| &mut one.machine) {
            let _ = machine.check(self.local);
        }
    }

    fn start(&mut self, config: &Config, who: Who) {
        let ticks = |ticks: u8| u64::from(ticks) * u64::from(TICK_MS);
        let timing = Timing { ttl_ms: ticks(config.ttl), settle_ms: ticks(config.settle) };
        let one = &mut self.ones[who.index()];
        one.claims += 1;
        one.ended = None;
        let id = format!("{who}-{}", one.claims);
        one.machine = Some(Machine::new(id, timing, one.sighting.clone()));
        self.step(config, who, Input::Wake);
    }

    fn step(&mut self, config: &Config, who: Who, input: Input) {
        let now = self.now(config, who);
        let one = &mut self.ones[who.index()];
        let machine = one.machine.as_mut().expect("it claims");
        if let Some(request) = machine.step(now, input) {
            assert!(one.asked.is_none() && one.answer.is_none(), "a second request before the answer");
            one.asked = Some(request);
        }
        if machine.outcome().is_some() {
            one.sighting = machine.sighting().cloned().or(one.sighting.take());
        }
    }

    fn carry_out(&mut self, request: Request) -> Answer {
        match request {
            Request::Read => Answer::Read(Ok(Seen::of(self.bytes.as_deref()))),
            Request::Write(record) => {
                self.bytes = Some(record.to_json().into_bytes());
                Answer::Done(Ok(()))
            }
            Request::Delete => {
                self.bytes = None;
                Answer::Done(Ok(()))
            }
        }
    }

    fn fail(&mut self, who: Who, is_late: bool) {
        let one = &mut self.ones[who.index()];
        let reads = matches!(one.asked, Some(Request::Read)) || matches!(one.answer, Some(Answer::Read(_)));
        let request = one.asked.take();
        if is_late {
            one.late = request;
        }
        let why = || "the share is gone".to_owned();
        one.answer = Some(if reads { Answer::Read(Err(why())) } else { Answer::Done(Err(why())) });
    }

    /// What the driver of a machine keeps of it: since when it leaves, and what it left under way when it ended.
    fn mind(&mut self, config: &Config, who: Who, before: Option<&Claim>, after: Option<&Claim>) {
        let leaves = |claim: Option<&Claim>| claim.is_some_and(|claim| claim.stand == Stand::Leaves);
        let third = u64::from(config.third()) * u64::from(TICK_MS);
        let local = self.local;
        let one = &mut self.ones[who.index()];
        match (leaves(before), leaves(after)) {
            (false, true) => one.leave_by = Some(local.plus(third)),
            (_, false) => one.leave_by = None,
            (true, true) => {}
        }
        if after.is_none() && before.is_some() {
            one.ended = one.machine.take();
            let farewell = one.ended.as_ref().map(Machine::farewell);
            assert!(farewell.is_none_or(|farewell| farewell.is_some()), "it has ended");
            let write = one.asked.take().filter(|request| *request != Request::Read);
            one.late = write.or(one.late.take());
            one.answer = None;
        }
    }

    /// The machine of its claim, or of the one that has just ended.
    pub(super) fn last(&self, who: Who) -> Option<&Machine> {
        let one = &self.ones[who.index()];
        one.machine.as_ref().or(one.ended.as_ref())
    }

    pub(super) fn late(&self, who: Who) -> Option<&Request> {
        self.ones[who.index()].late.as_ref()
    }

    /// Whether its claim goes by this id.
    pub(super) fn is_current(&self, who: Who, id: &str) -> bool {
        let one = &self.ones[who.index()];
        one.machine.is_some() && id == format!("{who}-{}", one.claims)
    }
}
