//! The whole of it: elector, keeper, store, as a process has them.

use super::blackout::Blackout;
use super::ground::{Ground, durations};
use super::stack::{Stack, Told};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tenure::clock::Clock;
use tenure::keeper::{Keeper, NotReleased};
use tenure::protocol::{Fence, LocalTime, Loss, Request};
use tenure::store::{Answer, SqliteStore};
use tenure::{AcquireError, Elector, Held, TransactionError, Wait};

/// A place where processes run, one after the other.
pub(super) struct Whole<'a> {
    ground: &'a Ground,
    clock: Arc<dyn Clock>,
    lease: String,
    seed: u64,
    process: Option<Process>,
    turn: bool,
    /// What processes before this one have counted.
    counted: u64,
}

/// A process. What is first goes first when it is gone: without its keeper nothing is given back.
struct Process {
    keeper: Keeper,
    store: SqliteStore,
    acquire: Option<Wait<Result<Held, AcquireError>>>,
    held: Option<Held>,
    lost: Option<Wait<Loss>>,
    released: Option<Wait<Result<(), NotReleased>>>,
    is_shut: bool,
    elector: Elector,
}

impl<'a> Whole<'a> {
    /// No process yet.
    pub(super) fn new(ground: &'a Ground, lease: &str, who: usize, seed: u64) -> Self {
        let clock = Arc::clone(&ground.clocks[who]) as Arc<dyn Clock>;
        let seed = seed.wrapping_mul(8).wrapping_add(who as u64) << 16;
        Self { ground, clock, lease: lease.to_owned(), seed, process: None, turn: false, counted: 0 }
    }

    fn new_process(&mut self) -> Process {
        self.seed += 1;
        let builder = Elector::builder(self.ground.db.path()).durations(durations()).label("test");
        let builder = builder.clock(Arc::clone(&self.clock));
        let (elector, keeper) = builder.build_by_hand(self.seed).expect("an elector");
        let store = SqliteStore::open(self.ground.db.path(), Arc::clone(&self.clock)).expect("a store");
        let (acquire, held, lost, released) = (None, None, None, None);
        Process { keeper, store, acquire, held, lost, released, is_shut: false, elector }
    }

    /// Of two ways to do something, each in its turn.
    fn takes_turns(&mut self) -> bool {
        self.turn = !self.turn;
        self.turn
    }

    fn running(&mut self) -> &mut Process {
        self.process.as_mut().expect("a process")
    }
}

impl Process {
    /// What its user hears.
    fn told(&mut self) -> Vec<Told> {
        let mut told = Vec::new();
        match look(&mut self.acquire) {
            Some(Ok(held)) => {
                told.push(Told::Granted(held.fence()));
                self.lost = Some(held.lost());
                self.held = Some(held);
            }
            Some(Err(AcquireError::ShutDown)) if self.is_shut => {}
            Some(Err(error)) => panic!("who waits goes on waiting, whatever happens: {error}"),
            None => {}
        }
        match look(&mut self.lost) {
            Some(Loss::GivenBack) | None => {}
            Some(loss) => told.push(Told::Lost(loss)),
        }
        if let Some(Ok(())) = look(&mut self.released) {
            told.push(Told::Released);
        }
        told
    }
}

/// What has come, once.
fn look<T>(waits: &mut Option<Wait<T>>) -> Option<T> {
    let wait = waits.as_mut()?;
    let Poll::Ready(value) = Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) else {
        return None;
    };
    *waits = None;
    Some(value)
}

impl Stack for Whole<'_> {
    const ENDS_WITH_ITS_TENURE: bool = true;

    fn begin(&mut self) {
        if self.process.as_ref().is_none_or(|process| process.is_shut) {
            self.crash();
            self.process = Some(self.new_process());
        }
        let lease = self.lease.clone();
        let process = self.running();
        process.acquire = Some(process.elector.acquire(&lease));
        process.told();
    }

    fn step(&mut self) -> (Vec<Told>, Option<LocalTime>) {
        let now = self.clock.local();
        let process = self.running();
        let next = process.keeper.step(now);
        (process.told(), next)
    }

    fn asked(&self) -> Vec<Request> {
        self.process.as_ref().map(|process| process.keeper.asked()).unwrap_or_default()
    }

    fn serve(&mut self, befalls: Option<Blackout>) -> Vec<(Request, Answer)> {
        let (ground, mut done) = (self.ground, Vec::new());
        let Process { keeper, store, .. } = self.running();
        keeper.serve_by(|batch| {
            let answers = match befalls {
                None => store.execute(batch),
                Some(blackout) => blackout.befall(ground, store, batch),
            };
            done = batch.iter().cloned().zip(answers.iter().cloned()).collect();
            answers
        });
        done
    }

    fn carry_out_late(&mut self, request: &Request) -> Answer {
        let mut store = SqliteStore::open(self.ground.db.path(), Arc::clone(&self.clock)).expect("a store");
        store.execute(std::slice::from_ref(request)).remove(0)
    }

    /// It is released, and the outcome is heard; or just dropped.
    fn stop_work(&mut self) {
        let is_heard = self.takes_turns();
        let process = self.running();
        let held = process.held.take();
        process.released = held.filter(|_| is_heard).map(Held::release);
        process.told();
    }

    /// Its thread unwinds, and drops what it holds.
    fn drop_work(&mut self) {
        let held = self.running().held.take();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _held = held;
            resume_unwind(Box::new("the work panics"));
        }));
        assert!(unwound.is_err());
    }

    /// Who waits stops waiting, or the elector is shut down.
    fn shut_down(&mut self) {
        let all = self.takes_turns();
        let process = self.running();
        if all || process.acquire.take().is_none() {
            process.is_shut = true;
            drop(process.elector.shutdown(Duration::MAX));
        }
    }

    fn crash(&mut self) {
        self.counted = self.losses_counted().unwrap_or_default();
        self.process = None;
    }

    fn belief(&self) -> Option<(Fence, LocalTime)> {
        let held = self.process.as_ref()?.held.as_ref()?;
        Some((held.check().ok()?, held.deadline().ok()?))
    }

    fn should_stop(&self) -> Option<bool> {
        Some(self.process.as_ref()?.held.as_ref()?.should_stop())
    }

    fn act(&mut self) -> bool {
        let mut connection = self.ground.db.raw();
        let held = self.running().held.as_ref().expect("a lease that is held");
        let done = held.transaction(&mut connection, |transaction| {
            let sql = "INSERT INTO acts SELECT ?, ?";
            transaction.execute(sql, (held.lease().as_str(), held.fence().get()))
        });
        match done {
            Ok(rows) => rows == 1,
            Err(TransactionError::Unreadable(_) | TransactionError::Lost(_)) => false,
            Err(error) => panic!("its act lands, or is refused: {error}"),
        }
    }

    fn losses_counted(&self) -> Option<u64> {
        let process = self.process.as_ref().map_or(0, |process| process.elector.counters().losses());
        Some(self.counted + process)
    }
}
