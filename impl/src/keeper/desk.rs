//! Where a batch of requests is put for a store thread, and its answers are picked up.

use super::patience::execute;
use crate::clock::{Bell, Clock};
use crate::protocol::Request;
use crate::store::{Answer, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One store thread's desk. It holds one batch at a time.
#[derive(Debug)]
pub(super) struct Desk {
    state: Mutex<State>,
    /// Rung for the store thread.
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct State {
    batch: Option<Vec<Request>>,
    answers: Option<Vec<Answer>>,
    /// Nobody will come back to it.
    closed: bool,
    /// Its thread has ended, or died.
    ended: bool,
}

impl Desk {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), bell: Bell::new() })
    }

    pub(super) fn put(&self, batch: Vec<Request>) {
        self.lock().batch = Some(batch);
        self.bell.ring();
    }

    /// What lies there, and was not begun.
    pub(super) fn asked(&self) -> Vec<Request> {
        self.lock().batch.clone().unwrap_or_default()
    }

    /// Carries out the batch that lies there, if one does, and tells the keeper.
    fn serve(
        &self,
        clock: &dyn Clock,
        keeper: &Bell,
        carry_out: impl FnMut(&[Request]) -> Vec<Answer>,
    ) -> bool {
        let Some(batch) = self.lock().batch.take() else { return false };
        let answers = execute(carry_out, clock, &batch);
        self.lock().answers = Some(answers);
        keeper.ring();
        true
    }

    pub(super) fn answers(&self) -> Option<Vec<Answer>> {
        self.lock().answers.take()
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.bell.ring();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store, and the desk that it serves: what a store thread is made of.
#[derive(Debug)]
pub(super) struct Worker {
    desk: Arc<Desk>,
    store: Box<dyn Store>,
    clock: Arc<dyn Clock>,
    keeper: Arc<Bell>,
    /// Dropped after the store: whoever comes next must not find the file busy with being closed.
    _end: End,
}

/// Says that a worker has ended, or died.
#[derive(Debug)]
struct End(Arc<Desk>, Arc<Bell>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.1.ring();
    }
}

impl Worker {
    pub(super) fn new(
        desk: &Arc<Desk>,
        store: Box<dyn Store>,
        clock: Arc<dyn Clock>,
        keeper: Arc<Bell>,
    ) -> Self {
        let end = End(Arc::clone(desk), Arc::clone(&keeper));
        Self { desk: Arc::clone(desk), store, clock, keeper, _end: end }
    }

    /// Whether nobody will come back to its desk.
    pub(super) fn is_given_up(&self) -> bool {
        self.desk.lock().closed
    }

    /// Serves until the desk is closed: the body of a store thread.
    pub(super) fn serve(mut self) {
        while !self.is_given_up() {
            if !self.turn() {
                self.clock.wait(&self.desk.bell, None);
            }
        }
    }

    /// Carries out the batch that lies there, if one does.
    pub(super) fn turn(&mut self) -> bool {
        let store = &mut self.store;
        self.desk.serve(&*self.clock, &self.keeper, |batch| store.execute(batch))
    }

    /// The same, carried out by somebody else.
    pub(super) fn turn_by(&mut self, carry_out: impl FnMut(&[Request]) -> Vec<Answer>) -> bool {
        self.desk.serve(&*self.clock, &self.keeper, carry_out)
    }
}
