//! A claim as its holder and its two threads share it.

use super::error::{ClaimError, Loss, NotRemoved};
use super::log::Log;
use super::machine::{Answer, Input, Machine, Now, Request, Sighting};
use crate::clock::{Bell, Clock};
use crate::elector::AcquireError;
use crate::keeper::{Notice, Witness};
use crate::protocol::LocalTime;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a guard remembers of another's record, from claim to claim.
pub(super) type Memory = Arc<Mutex<Option<Sighting>>>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: String,
    pub(super) clock: Arc<dyn Clock>,
    /// The one truth: whoever checks the claim asks it, by the clock, and so does the timer thread. No step of it blocks.
    machine: Mutex<Machine>,
    inputs: Mutex<VecDeque<Input>>,
    /// Rung for the timer thread.
    bell: Arc<Bell>,
    desk: Desk,
    memory: Memory,
    pub(super) outcome: Arc<Notice<Result<(), ClaimError>>>,
    pub(super) lost: Arc<Notice<Loss>>,
    pub(super) farewell: Arc<Notice<Result<(), NotRemoved>>>,
    log: Log,
    witness: Option<Arc<dyn Witness>>,
}

impl Shared {
    pub(super) fn new(
        machine: Machine,
        clock: Arc<dyn Clock>,
        memory: Memory,
        log: Log,
        witness: Option<Arc<dyn Witness>>,
    ) -> Self {
        Self {
            id: machine.id().to_owned(),
            clock,
            machine: Mutex::new(machine),
            inputs: Mutex::default(),
            bell: Bell::new(),
            desk: Desk::default(),
            memory,
            outcome: Notice::new(),
            lost: Notice::new(),
            farewell: Notice::new(),
            log,
            witness,
        }
    }

    /// Compares the clock.
    pub(super) fn check(&self) -> Result<LocalTime, Loss> {
        // Read under the lock: a check never comes between a step's reading of the clock and what it makes of it.
        let mut machine = lock(&self.machine);
        machine.check(self.clock.local())
    }

    pub(super) fn trouble(&self) -> Option<String> {
        lock(&self.machine).trouble().map(str::to_owned)
    }

    #[cfg(feature = "cli")]
    pub(super) fn obstacle(&self) -> String {
        lock(&self.machine).obstacle()
    }

    pub(super) fn put(&self, input: Input) {
        lock(&self.inputs).push_back(input);
        self.bell.ring();
    }

    /// What the timer thread does, until the machine has ended.
    pub(super) fn drive(&self) {
        loop {
            let input = lock(&self.inputs).pop_front();
            let is_idle = input.is_none();
            let (is_over, next) = self.step(input.unwrap_or(Input::Wake));
            if is_over {
                return;
            }
            if is_idle {
                self.clock.wait(&self.bell, next);
            }
        }
    }

    fn step(&self, input: Input) -> (bool, Option<LocalTime>) {
        let mut machine = lock(&self.machine);
        let local = self.clock.local();
        let request = machine.step(Now { local, wall: self.clock.wall() }, input);
        let after = machine.clone();
        drop(machine);
        if let Some(request) = request {
            self.desk.leave(request);
        }
        self.tell(&after);
        (after.farewell().is_some(), after.next())
    }

    /// Tells the news: each piece once, however often it is told.
    fn tell(&self, machine: &Machine) {
        self.log.tell(&self.id, machine);
        if let Some(witness) = &self.witness {
            witness.met(machine.trouble().map(|why| AcquireError::NoAnswer(why.into())));
        }
        match (machine.outcome(), machine.farewell()) {
            // SPEC.md G7.4: who is told may end the process.
            (None, _) | (Some(Err(_)), None) => {}
            (Some(outcome), _) => self.tell_outcome(outcome, machine.sighting()),
        }
        if let Some(loss) = machine.loss() {
            self.lost.tell(loss.clone());
        }
        if let Some(farewell) = machine.farewell() {
            self.farewell.tell(farewell.clone());
        }
    }

    fn tell_outcome(&self, outcome: &Result<(), ClaimError>, sighting: Option<&Sighting>) {
        // Later claims of the guard may remember better.
        if self.outcome.told().is_none()
            && let Some(sighting) = sighting
        {
            *lock(&self.memory) = Some(sighting.clone());
        }
        self.outcome.tell(outcome.clone());
    }

    /// The timer thread is no more: nothing is waited for in vain, and nothing more is asked.
    pub(super) fn close(&self) {
        lock(&self.machine).lose(Loss::GuardDied);
        self.outcome.tell(Err(ClaimError::GuardDied));
        self.lost.tell(Loss::GuardDied);
        self.farewell.tell(Err(NotRemoved { why: "the guard died".into() }));
        self.desk.close();
    }

    /// What the thread of the records does: what it is asked, until nothing more will be.
    pub(super) fn serve<T>(&self, records: &Mutex<T>, carry_out: impl Fn(&mut T, Request) -> Answer) {
        while let Some(request) = self.desk.next(&*self.clock) {
            let mut records = lock(records);
            // A call of another claim may have hung in there for longer than anybody has waited for this one.
            if self.desk.is_closed() {
                return;
            }
            let answer = carry_out(&mut records, request);
            drop(records);
            self.put(Input::Answer(answer));
        }
    }
}

/// Where the timer thread leaves what the other one is to do. That one waits by the clock, too: so a test can tell when all
/// has happened.
#[derive(Debug, Default)]
struct Desk {
    bell: Arc<Bell>,
    order: Mutex<Order>,
}

#[derive(Debug, Default)]
enum Order {
    #[default]
    Nothing,
    Do(Request),
    Close,
}

impl Desk {
    fn leave(&self, request: Request) {
        *lock(&self.order) = Order::Do(request);
        self.bell.ring();
    }

    fn close(&self) {
        *lock(&self.order) = Order::Close;
        self.bell.ring();
    }

    fn is_closed(&self) -> bool {
        matches!(*lock(&self.order), Order::Close)
    }

    fn next(&self, clock: &dyn Clock) -> Option<Request> {
        loop {
            // In a statement of its own: the lock is not held while it waits.
            let order = std::mem::take(&mut *lock(&self.order));
            match order {
                Order::Do(request) => return Some(request),
                Order::Close => return None,
                Order::Nothing => clock.wait(&self.bell, None),
            }
        }
    }
}

/// What is in there is whole whatever happened to who held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
