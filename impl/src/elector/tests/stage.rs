//! A file, a clock, faults, and electors that are driven by hand or by their own threads.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests start threads, and fail by panicking"
)]

use crate::clock::{Clock, SetClock};
use crate::elector::{Builder, Elector, Held, Wait};
use crate::keeper::Keeper;
use crate::protocol::{Action, LeaseName, LocalTime, Reply, Request, Row, Seen};
use crate::random::Dice;
use crate::store::{Answer, SqliteStore, Store, StoreError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tempfile::TempDir;

/// The TTL of all leases here; by default 5 s between renewals, 13,996 ms of belief, a poll each second.
pub(super) const TTL_MS: u64 = 15_000;
/// How long a grant or a renewal is believed, from its sending.
pub(super) const VALIDITY_MS: u64 = 13_996;

/// What the store does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not executed.
    Fails,
    /// It is executed, and the answer is lost.
    AnswerLost,
    /// The call does not return before the fault is lifted; then it is executed.
    Hangs,
    /// The store's thread dies.
    Dies,
}

/// Which requests meet a fault.
type Meets = Box<dyn Fn(&Request) -> Option<Fault> + Send>;

/// The faults of a store; all stores of one file share them.
pub(super) struct Faults {
    meets: Mutex<Meets>,
    /// How often they were set.
    era: Mutex<u64>,
    lifted: Condvar,
    /// Calls that hang.
    pub(super) hanging: AtomicUsize,
    /// The batches that were executed: which leases, and what was asked.
    pub(super) batches: Mutex<Vec<Vec<(String, Action)>>>,
}

impl Faults {
    pub(super) fn set(&self, meets: impl Fn(&Request) -> Option<Fault> + Send + 'static) {
        *self.meets.lock().unwrap() = Box::new(meets);
        *self.era.lock().unwrap() += 1;
        self.lifted.notify_all();
    }

    /// All requests meet it.
    pub(super) fn all(&self, fault: Fault) {
        self.set(move |_| Some(fault));
    }

    pub(super) fn lift(&self) {
        self.set(|_| None);
    }

    pub(super) fn asked(&self) -> Vec<(String, Action)> {
        self.batches.lock().unwrap().concat()
    }

    /// What a batch meets. A call that hangs does so until the faults are set anew; then it is executed.
    fn met_by(&self, batch: &[Request]) -> Option<Fault> {
        let meets = self.meets.lock().unwrap();
        let fault = batch.iter().find_map(&**meets);
        if fault != Some(Fault::Hangs) {
            return fault;
        }
        drop(meets);
        let mut era = self.era.lock().unwrap();
        let begun = *era;
        self.hanging.fetch_add(1, SeqCst);
        while *era == begun {
            era = self.lifted.wait(era).unwrap();
        }
        self.hanging.fetch_sub(1, SeqCst);
        None
    }
}

/// A real store that meets faults.
struct Faulty {
    store: Box<dyn Store>,
    faults: Arc<Faults>,
}

impl Store for Faulty {
    fn execute(&mut self, batch: &[Request]) -> Vec<Answer> {
        let failed = || {
            batch.iter().map(|_| Err(StoreError::Sqlite(Arc::new(rusqlite::Error::InvalidQuery)))).collect()
        };
        let fault = self.faults.met_by(batch);
        assert_ne!(fault, Some(Fault::Dies), "the store's thread dies, as the test wants");
        if fault == Some(Fault::Fails) {
            return failed();
        }
        let asked = batch.iter().map(|r| (r.lease.to_string(), r.action.clone())).collect();
        self.faults.batches.lock().unwrap().push(asked);
        let answers = self.store.execute(batch);
        if fault == Some(Fault::AnswerLost) { failed() } else { answers }
    }

    fn another(&self) -> Box<dyn Store> {
        Box::new(Self { store: self.store.another(), faults: Arc::clone(&self.faults) })
    }
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faulty")
    }
}

/// A file and a clock.
pub(super) struct Stage {
    directory: TempDir,
    pub(super) clock: Arc<SetClock>,
    pub(super) faults: Arc<Faults>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let faults = Faults {
            meets: Mutex::new(Box::new(|_| None)),
            era: Mutex::new(0),
            lifted: Condvar::new(),
            hanging: AtomicUsize::new(0),
            batches: Mutex::default(),
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { directory, clock: SetClock::new(), faults: Arc::new(faults) }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.directory.path().join("leases.db")
    }

    fn builder(&self) -> Builder {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Elector::builder(self.file()).ttl(Duration::from_millis(TTL_MS)).label("test").clock(clock)
    }

    fn store(&self) -> Box<dyn Store> {
        let store = SqliteStore::open(self.file(), Arc::clone(&self.clock) as Arc<dyn Clock>);
        Box::new(Faulty { store: Box::new(store.unwrap()), faults: Arc::clone(&self.faults) })
    }

    /// An elector that is driven by hand.
    pub(super) fn by_hand(&self, seed: u64) -> Hand {
        let (elector, keeper) = self.builder().on(self.store(), Dice::seeded(seed), false).unwrap();
        Hand { elector: Some(elector), keeper, clock: Arc::clone(&self.clock) }
    }

    /// An elector with its threads.
    pub(super) fn with_threads(&self) -> Elector {
        let (elector, keeper) = self.builder().on(self.store(), Dice::system(), true).unwrap();
        keeper.start().unwrap();
        elector
    }

    /// Time passes in small steps; after each, all that follows has happened. `threads` wait by the clock besides.
    pub(super) fn pass(&self, ms: u64, threads: usize) {
        for _ in 0..ms / 50 {
            self.clock.advance(50);
            self.clock.settle(threads);
        }
    }

    /// A lease's row, as a store of its own reads it.
    pub(super) fn row(&self, lease: &str) -> Option<Row> {
        // Busy is the file while the last connection to it is being closed.
        let mut store =
            eventually(|| SqliteStore::open(self.file(), Arc::clone(&self.clock) as Arc<dyn Clock>).ok());
        let lease = LeaseName::new(lease).unwrap();
        let timing = crate::protocol::Durations::default().check().unwrap();
        let holder = crate::protocol::HolderId::new(&crate::protocol::Label::new("x").unwrap(), 0, &timing);
        let give_up_at = LocalTime::from_millis(u64::MAX);
        let id = crate::protocol::RequestId::new(0);
        let read = Request { id, lease, holder, give_up_at, action: Action::Read };
        match store.execute(&[read]).pop().unwrap().unwrap() {
            Reply::Seen { seen: Seen::Row(row), .. } => Some(row),
            Reply::Seen { seen: Seen::Absent, .. } => None,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn is_released(&self, lease: &str) -> bool {
        self.row(lease).is_some_and(|row| row.is_released())
    }
}

/// An elector that is driven by hand.
pub(super) struct Hand {
    /// `None` once it was dropped.
    pub(super) elector: Option<Elector>,
    pub(super) keeper: Keeper,
    clock: Arc<SetClock>,
}

impl Hand {
    pub(super) fn elector(&self) -> &Elector {
        self.elector.as_ref().expect("not dropped yet")
    }

    /// Steps until nothing more happens at this moment; the store answers at once.
    pub(super) fn settle(&mut self) -> Option<LocalTime> {
        loop {
            let next = self.keeper.step(self.clock.local());
            if !self.keeper.serve() && next.is_none_or(|next| next > self.clock.local()) {
                return next;
            }
        }
    }

    /// Time passes, from each moment at which something is to be done to the next.
    pub(super) fn pass(&mut self, ms: u64) {
        let end = self.clock.local().plus(ms);
        while let Some(at) = self.settle().filter(|at| *at < end) {
            self.go_to(at);
        }
        self.go_to(end);
        self.settle();
    }

    fn go_to(&self, at: LocalTime) {
        let ms = self.clock.local().until(at).as_millis();
        self.clock.advance(u32::try_from(ms).unwrap());
    }

    /// The lease, which is free.
    pub(super) fn acquire(&mut self, lease: &str) -> Held {
        let mut acquire = self.elector().acquire(lease);
        assert!(look(&mut acquire).is_none());
        self.settle();
        look(&mut acquire).expect("it is free").expect("it is granted")
    }
}

/// The value, if it is there.
pub(super) fn look<T>(wait: &mut Wait<T>) -> Option<T> {
    match std::pin::Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Looks until there is something.
pub(super) fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let give_up_at = crate::clock::SystemClock.local().plus(30_000);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(crate::clock::SystemClock.local() < give_up_at, "waited in vain");
        crate::clock::SystemClock.sleep(Duration::from_millis(1));
    }
}
