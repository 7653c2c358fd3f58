//! The state machine and the store, nothing between them.

use super::blackout::Blackout;
use super::ground::{Ground, timing};
use super::stack::{Stack, Told};
use std::sync::Arc;
use tenure::clock::Clock;
use tenure::protocol::{
    Contender, Event, Fence, HolderId, Input, LeaseName, LocalTime, Reply, Request, RequestId, Tenure,
};
use tenure::store::{Answer, SqliteStore};
use tests::{holder, lease};

/// A contender, and a store that outlives it.
pub(super) struct Bare<'a> {
    ground: &'a Ground,
    clock: Arc<dyn Clock>,
    store: &'a mut SqliteStore,
    lease: LeaseName,
    /// What is drawn next; each contender's numbers are its own.
    dice: u64,
    contender: Option<Contender>,
    asked: Vec<Request>,
    next: Option<LocalTime>,
    answered: Option<(RequestId, Reply)>,
    inputs: Vec<Input>,
    /// Its work was dropped, with what it believed in then.
    dropped: Option<Tenure>,
}

impl<'a> Bare<'a> {
    /// Nobody yet.
    pub(super) fn new(
        ground: &'a Ground,
        store: &'a mut SqliteStore,
        name: &str,
        who: usize,
        seed: u64,
    ) -> Self {
        Self {
            ground,
            clock: Arc::clone(&ground.clocks[who]) as Arc<dyn Clock>,
            store,
            lease: lease(name),
            dice: seed.wrapping_mul(8).wrapping_add(who as u64) << 32,
            contender: None,
            asked: Vec::new(),
            next: None,
            answered: None,
            inputs: Vec::new(),
            dropped: None,
        }
    }

    fn draw(&mut self) -> u64 {
        self.dice += 1;
        self.dice
    }

    fn new_holder(&mut self) -> HolderId {
        holder(self.draw(), &timing())
    }

    fn take(&mut self, input: Input) -> Vec<Event> {
        let (now, roll) = (self.clock.local(), self.draw().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32);
        let Some(contender) = &mut self.contender else { return Vec::new() };
        let output = contender.step(now, roll, input);
        self.asked.extend(output.request);
        self.next = output.next;
        output.events
    }

    /// Until the deadline nothing is asked for; then what was left of the work has stopped (SPEC.md R6.3).
    fn run_out(&mut self, tenure: Tenure) -> Vec<Event> {
        if self.clock.local() < tenure.deadline {
            return Vec::new();
        }
        self.dropped = None;
        let heard_meanwhile = std::mem::take(&mut self.inputs);
        let inputs = [Input::Latched, Input::WorkStopped].into_iter().chain(heard_meanwhile);
        inputs.flat_map(|input| self.take(input)).collect()
    }

    /// What is out of time is not carried out any more.
    fn give_up(&mut self) {
        let now = self.clock.local();
        self.asked.retain(|request| now < request.give_up_at);
    }

    fn tenure(&self) -> Option<Tenure> {
        self.contender.as_ref().and_then(Contender::tenure)
    }
}

impl Stack for Bare<'_> {
    const ENDS_WITH_ITS_TENURE: bool = false;

    fn begin(&mut self) {
        let me = self.new_holder();
        self.contender = Some(Contender::new(self.lease.clone(), me, timing()));
    }

    fn step(&mut self) -> (Vec<Told>, Option<LocalTime>) {
        let answered = self.answered.take();
        self.give_up();
        if let Some(tenure) = self.dropped {
            let told = self.run_out(tenure).into_iter().filter_map(told).collect();
            return (told, self.dropped.map_or(self.next, |tenure| Some(tenure.deadline)));
        }
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.extend(answered.map(|(id, reply)| Input::Reply { id, reply }));
        if inputs.is_empty() {
            inputs.push(Input::Wake);
        }
        let told = inputs.into_iter().flat_map(|input| self.take(input)).filter_map(told).collect();
        (told, self.next)
    }

    fn asked(&self) -> Vec<Request> {
        self.asked.clone()
    }

    fn serve(&mut self, befalls: Option<Blackout>) -> Vec<(Request, Answer)> {
        let request = self.asked.remove(0);
        if self.clock.local() >= request.give_up_at {
            return Vec::new();
        }
        let batch = [request.clone()];
        let answers = match befalls {
            None => self.store.execute(&batch),
            Some(blackout) => blackout.befall(self.ground, self.store, &batch),
        };
        let answer = answers.into_iter().next().expect("an answer");
        // Two contenders, one after the other, count their requests alike.
        if self
            .contender
            .as_ref()
            .is_some_and(|one| *one.holder() == request.holder && one.awaits() == Some(request.id))
        {
            self.answered = Some((request.id, answer.clone().unwrap_or(Reply::Failed)));
        }
        vec![(request, answer)]
    }

    fn carry_out_late(&mut self, request: &Request) -> Answer {
        self.store.execute(std::slice::from_ref(request)).remove(0)
    }

    fn stop_work(&mut self) {
        self.inputs.push(Input::WorkStopped);
    }

    fn drop_work(&mut self) {
        self.dropped = self.tenure();
    }

    fn shut_down(&mut self) {
        self.inputs.push(Input::Shutdown);
    }

    fn crash(&mut self) {
        (self.contender, self.answered, self.dropped) = (None, None, None);
        self.asked.clear();
        self.inputs.clear();
    }

    fn belief(&self) -> Option<(Fence, LocalTime)> {
        let tenure = self.tenure().filter(|_| self.dropped.is_none())?;
        (self.clock.local() < tenure.deadline).then_some((tenure.fence, tenure.deadline))
    }

    fn should_stop(&self) -> Option<bool> {
        None
    }

    fn act(&mut self) -> bool {
        unreachable!("a bare contender has no transactions");
    }

    fn losses_counted(&self) -> Option<u64> {
        None
    }
}

fn told(event: Event) -> Option<Told> {
    match event {
        Event::Granted(tenure) => Some(Told::Granted(tenure.fence)),
        Event::Lost(loss) => Some(Told::Lost(loss)),
        Event::Released => Some(Told::Released),
        _ => None,
    }
}
