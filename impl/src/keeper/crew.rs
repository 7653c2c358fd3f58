//! The store threads: the one at work, and at most one that hangs in a call and was given up on.

use super::desk::{Desk, Worker};
use super::orders::Id;
use super::record::{Kind, Record};
use crate::clock::{Bell, Clock};
use crate::protocol::{Action, LocalTime, Request, RequestId};
use crate::store::{Answer, Store, StoreError};
use std::io;
use std::sync::Arc;

/// How store threads are had.
#[derive(Debug)]
pub(super) enum Hire {
    /// From the operating system.
    Threads,
    /// Whoever drives the keeper by hand is all of them.
    ByHand(Vec<Worker>),
}

/// How many requests go into one batch: it must be done long before its requests time out, however many leases there
/// are. A thousand renewals take a few milliseconds, one sync among them.
const BATCH_MAX: usize = 1_000;

/// Whose request, which, and of what kind.
type Whose = (Id, RequestId, Kind);

#[derive(Debug)]
pub(super) struct Crew {
    hire: Hire,
    /// Closed: where the next thread's store comes from.
    spare: Box<dyn Store>,
    clock: Arc<dyn Clock>,
    keeper: Arc<Bell>,
    record: Arc<Record>,
    request_timeout_ms: u64,
    desk: Arc<Desk>,
    /// What lies on the desk, and since when.
    batch: Option<(Vec<Whose>, LocalTime)>,
    /// The desk of a thread that hangs.
    abandoned: Option<Arc<Desk>>,
    /// A thread that died is replaced then, not at once: the next one may die as well.
    replace_at: LocalTime,
    /// Requests that no thread has got yet.
    waiting: Vec<(Id, Request)>,
    /// Answers to what lay on the desk of a thread that was given up on.
    failed: Vec<(Whose, Answer)>,
}

impl Crew {
    /// The first thread, with an open store.
    pub(super) fn new(
        store: Box<dyn Store>,
        hire: Hire,
        clock: Arc<dyn Clock>,
        keeper: Arc<Bell>,
        record: Arc<Record>,
        request_timeout_ms: u64,
    ) -> io::Result<Self> {
        let (spare, desk) = (store.another(), Desk::new());
        let mut crew = Self {
            hire,
            spare,
            clock,
            keeper,
            record,
            request_timeout_ms,
            desk,
            batch: None,
            abandoned: None,
            replace_at: LocalTime::from_millis(0),
            waiting: Vec::new(),
            failed: Vec::new(),
        };
        crew.start(store)?;
        Ok(crew)
    }

    fn start(&mut self, store: Box<dyn Store>) -> io::Result<()> {
        let worker = Worker::new(&self.desk, store, Arc::clone(&self.clock), Arc::clone(&self.keeper));
        match &mut self.hire {
            Hire::ByHand(workers) => workers.push(worker),
            Hire::Threads => {
                #[expect(clippy::disallowed_methods, reason = "the store thread")]
                std::thread::Builder::new().name("tenure-store".into()).spawn(move || worker.serve())?;
            }
        }
        Ok(())
    }

    pub(super) fn ask(&mut self, whose: Id, request: Request) {
        self.waiting.push((whose, request));
    }

    /// The answers that have come. A thread that hangs, or has died, is replaced, and what lay on its desk has failed; one
    /// that hangs beside another that hangs is not replaced.
    pub(super) fn answers(&mut self, now: LocalTime) -> Vec<(Whose, Answer)> {
        self.abandoned.take_if(|desk| desk.has_ended());
        let came = self.batch.is_some().then(|| self.desk.answers()).flatten();
        let mut answers = match came.and_then(|came| Some((self.batch.take()?.0, came))) {
            Some((whose, came)) => whose.into_iter().zip(came).collect(),
            None => Vec::new(),
        };
        let died = self.desk.has_ended();
        if died && now >= self.replace_at {
            self.replace(now, StoreError::Died);
        } else if !died && self.hangs_since(now).is_some() && self.abandoned.is_none() {
            self.abandoned = Some(Arc::clone(&self.desk));
            self.replace(now, StoreError::Hangs);
        }
        self.record.hangs(self.hangs_since(now));
        answers.append(&mut self.failed);
        answers
    }

    /// Since when the batch has not been answered, if that is longer than it may be.
    fn hangs_since(&self, now: LocalTime) -> Option<LocalTime> {
        let since = self.batch.as_ref().map(|(_, since)| *since);
        since.filter(|since| now >= since.plus(self.request_timeout_ms))
    }

    fn replace(&mut self, now: LocalTime, why: StoreError) {
        self.desk.close();
        self.desk = Desk::new();
        let whose = self.batch.take().map(|(whose, _)| whose).unwrap_or_default();
        self.failed.extend(whose.into_iter().map(|whose| (whose, Err(why.clone()))));
        self.replace_at = now.plus(self.request_timeout_ms);
        // A worker that could not be started marks its desk as ended, so another is tried later.
        if let Err(error) = self.start(self.spare.another()) {
            self.record.store_failed(Kind::Write, now, &format!("no store thread could be started: {error}"));
        }
    }

    /// Gives the thread what waits; what gathered meanwhile is one batch. When to call again, if no answer comes.
    pub(super) fn hand_over(&mut self, now: LocalTime) -> Option<LocalTime> {
        self.waiting.retain(|(_, request)| now < request.give_up_at);
        if self.batch.is_none() && !self.waiting.is_empty() {
            // Who holds comes first: who waits for a lease loses nothing by waiting a little longer.
            self.waiting.sort_by_key(|(_, request)| rank(&request.action));
            let (whose, batch) = self
                .waiting
                .drain(..self.waiting.len().min(BATCH_MAX))
                .map(|(whose, request)| ((whose, request.id, Kind::of(&request.action)), request))
                .unzip();
            self.batch = Some((whose, now));
            self.desk.put(batch);
        }
        if self.desk.has_ended() {
            return Some(self.replace_at);
        }
        let since = self.batch.as_ref().filter(|_| self.abandoned.is_none()).map(|(_, since)| *since);
        since.map(|since| since.plus(self.request_timeout_ms))
    }

    /// One turn of a store thread that is served by hand.
    pub(super) fn serve(&mut self) -> bool {
        self.worker().is_some_and(Worker::turn)
    }

    /// The same, carried out by somebody else.
    pub(super) fn serve_by(&mut self, carry_out: impl FnMut(&[Request]) -> Vec<Answer>) -> bool {
        self.worker().is_some_and(|worker| worker.turn_by(carry_out))
    }

    /// The one at work. Whoever serves by hand has returned from the call that hung, if one did.
    fn worker(&mut self) -> Option<&mut Worker> {
        match &mut self.hire {
            Hire::ByHand(workers) => {
                workers.retain(|worker| !worker.is_given_up());
                workers.last_mut()
            }
            Hire::Threads => None,
        }
    }

    /// What was not carried out yet: what lies on the desk, and what waits for it.
    pub(super) fn asked(&self) -> Vec<Request> {
        let waiting = self.waiting.iter().map(|(_, request)| request.clone());
        self.desk.asked().into_iter().chain(waiting).collect()
    }
}

fn rank(action: &Action) -> u8 {
    match action {
        Action::Renew(_) | Action::Release(_) => 0,
        Action::Acquire(_) => 1,
        Action::Read => 2,
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.desk.close();
    }
}
