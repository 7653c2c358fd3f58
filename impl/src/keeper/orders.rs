//! What handles ask of the keeper.

use super::belief::Custody;
use super::notice::{Notice, Pledge, Told};
use super::watch::Watch;
use crate::clock::{Bell, Clock, block_on};
use crate::elector::AcquireError;
use crate::protocol::{LeaseName, LocalTime};
use std::fmt::Debug;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

/// Which contention, or observer.
pub(crate) type Id = u64;

/// What a shutdown has left to run out; `None` if the keeper has died.
pub(crate) type LeftOver = Option<Vec<LeaseName>>;

/// A tenure, or why there is none.
pub(crate) type Outcome = Result<Arc<Custody>, AcquireError>;

/// Somebody who wants a lease.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) id: Id,
    pub(crate) lease: LeaseName,
    /// Whether to wait while somebody else holds it.
    pub(crate) waits: bool,
    pub(crate) outcome: Pledge<Outcome>,
    /// Until when he waits who does not wait, once the keeper has the ticket.
    pub(super) give_up_at: Option<LocalTime>,
    pub(crate) witness: Option<Arc<dyn Witness>>,
}

impl Ticket {
    pub(crate) fn new(id: Id, lease: LeaseName, waits: bool, witness: Option<Arc<dyn Witness>>) -> Self {
        let outcome = Pledge::new(|| Err(AcquireError::KeeperDied));
        Self { id, lease, waits, outcome, give_up_at: None, witness }
    }
}

/// Somebody who wants to know what stands between a contender and its lease, or its next renewal.
pub(crate) trait Witness: Debug + Send + Sync {
    /// What does by the latest answer of the store. Called by the timer thread: it must not block.
    fn met(&self, obstacle: Option<AcquireError>);
}

#[derive(Debug)]
pub(crate) enum Order {
    Contend(Ticket),
    /// Nobody waits any more.
    Cancel(Id, LeaseName),
    /// The work has stopped: what is held is given back.
    Release(Id),
    /// Nobody has it any more.
    LetGo(Id),
    /// The work has not been seen to stop.
    Abandon(Id),
    /// Who holds it has read that it is lost.
    FoundLost(Id),
    Observe(Id, Watch),
    Unobserve(Id),
    /// Everybody is to stop, within so many milliseconds.
    Shutdown {
        grace_ms: u64,
        done: Pledge<LeftOver>,
    },
    /// To be told when nothing is being given back any more.
    Settle(Pledge<()>),
}

/// Orders on their way to the keeper.
#[derive(Debug)]
pub(crate) struct Orders {
    queue: Mutex<Queue>,
    /// Rung when there is something to do.
    pub(crate) bell: Arc<Bell>,
    next_id: AtomicU64,
    process: u32,
    /// The thread that drives the keeper, once it does.
    pub(super) driver: OnceLock<ThreadId>,
    /// Told when the keeper has ended, and all that it had to say is said.
    pub(super) over: Arc<Notice<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    orders: Vec<Order>,
    /// No handle is left, so nothing more will come.
    orphaned: bool,
    /// The keeper is gone.
    closed: bool,
}

impl Orders {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            bell: Bell::new(),
            next_id: AtomicU64::new(0),
            process: std::process::id(),
            driver: OnceLock::new(),
            over: Notice::new(),
        })
    }

    pub(crate) fn new_id(&self) -> Id {
        self.next_id.fetch_add(1, SeqCst)
    }

    /// A fork of this process has no keeper: only the thread that forked is in it (SPEC.md, section 7).
    /// An order that nobody can carry out is dropped, and what it pledged is told: then it is false.
    pub(crate) fn send(&self, order: Order) -> bool {
        let mut queue = self.lock();
        let refused = if queue.closed || self.process != std::process::id() {
            Some(order)
        } else {
            queue.orders.push(order);
            None
        };
        drop(queue);
        self.bell.ring();
        refused.is_none()
    }

    pub(super) fn take(&self) -> Vec<Order> {
        std::mem::take(&mut self.lock().orders)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().orders.is_empty()
    }

    pub(super) fn is_orphaned(&self) -> bool {
        self.lock().orphaned
    }

    /// Whatever is in it, or will be sent, is dropped.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        drop(self.take());
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every handle holds. When the last is dropped, the keeper ends, and is waited for until all is given back that
/// was being given back; at most for the request timeout.
#[derive(Debug)]
pub(crate) struct Hands {
    pub(crate) orders: Arc<Orders>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) patience_ms: u64,
}

impl Hands {
    /// Waits for news from the keeper; not on its own thread, and not where no thread drives it.
    pub(crate) fn wait_for(&self, news: Told<()>) {
        let driver = self.orders.driver.get();
        if driver.is_some_and(|driver| *driver != std::thread::current().id()) {
            let until = self.clock.local().plus(self.patience_ms);
            block_on(&*self.clock, pin!(news), Some(until));
        }
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        self.orders.lock().orphaned = true;
        self.orders.bell.ring();
        self.wait_for(self.orders.over.listen());
    }
}

/// When something is to happen, if at all: the earlier of two.
pub(super) fn earlier(one: Option<LocalTime>, other: Option<LocalTime>) -> Option<LocalTime> {
    one.into_iter().chain(other).min()
}
