//! The thread that talks to the store, so that a call that hangs delays nobody's loss.

use super::sqlite::{Answer, SqliteStore, StoreError};
use crate::clock::Clock;
use crate::protocol::{Request, RequestId};
use crate::random;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long the write lock is waited for between two tries: doubling from the first to the last. SQLite's own
/// busy handler lets one of many processes take nearly every turn; this shares them.
const RETRY_FIRST: Duration = Duration::from_micros(50);
const RETRY_LAST: Duration = Duration::from_millis(1);

/// A store on a thread of its own. Dropping it lets the thread finish the request that it is at, and end.
#[derive(Debug)]
pub struct StoreThread {
    requests: Sender<Request>,
}

impl StoreThread {
    /// Starts the thread. `answer` is called on it, with each request's answer in turn. It serves one contender: of two,
    /// both would count their requests from 1, and an answer would not tell whose it is.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(
        store: SqliteStore,
        clock: Arc<dyn Clock>,
        answer: impl FnMut(RequestId, Answer) + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, queue) = channel();
        #[expect(clippy::disallowed_methods, reason = "the store's thread")]
        std::thread::Builder::new()
            .name("tenure-store".into())
            .spawn(move || serve(store, &*clock, &queue, answer))?;
        Ok(Self { requests })
    }

    /// Queues a request. Should the thread have died, no answer comes, which is an outcome like any other.
    pub fn send(&self, request: Request) {
        let _ = self.requests.send(request);
    }
}

/// Whatever has queued up meanwhile goes into one transaction.
fn serve(
    mut store: SqliteStore,
    clock: &dyn Clock,
    queue: &Receiver<Request>,
    mut answer: impl FnMut(RequestId, Answer),
) {
    while let Ok(first) = queue.recv() {
        let mut batch: Vec<Request> = std::iter::once(first).chain(queue.try_iter()).collect();
        // Nobody waits any more for a request that queued behind a call that hung.
        batch.retain(|request| clock.local() < request.give_up_at);
        for (request, result) in batch.iter().zip(execute(&mut store, clock, &batch)) {
            answer(request.id, result);
        }
    }
}

/// Asks again what found the file busy, each until it is given up on.
fn execute(store: &mut SqliteStore, clock: &dyn Clock, batch: &[Request]) -> Vec<Answer> {
    let mut answers = store.execute(batch);
    let mut pause = RETRY_FIRST;
    loop {
        let is_busy = |answer: &Answer| answer.as_ref().is_err_and(StoreError::is_busy);
        let now = clock.local();
        let (busy, again): (Vec<usize>, Vec<Request>) = (batch.iter().enumerate())
            .filter(|(i, request)| now < request.give_up_at && answers.get(*i).is_some_and(is_busy))
            .map(|(i, request)| (i, request.clone()))
            .unzip();
        if busy.is_empty() {
            return answers;
        }
        clock.sleep(pause.mul_f64(0.5 + (random::roll() % 1024) as f64 / 1024.0));
        pause = (pause * 2).min(RETRY_LAST);
        for (i, answer) in busy.into_iter().zip(store.execute(&again)) {
            answers[i] = answer;
        }
    }
}
