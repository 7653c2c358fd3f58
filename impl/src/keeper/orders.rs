//! What handles ask of the keeper.

use super::belief::Custody;
use super::notice::Notice;
use super::watch::Sightings;
use crate::clock::Bell;
use crate::elector::AcquireError;
use crate::protocol::{LeaseName, LocalTime, Loss};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which contention, or observer.
pub(crate) type Id = u64;

/// A tenure, or why there is none.
pub(crate) type Outcome = Result<Arc<Custody>, AcquireError>;

/// Somebody who wants a lease.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) id: Id,
    pub(crate) lease: LeaseName,
    /// Whether to wait while somebody else holds it.
    pub(crate) waits: bool,
    /// Dropped with a tenure in it that nobody has taken, it lets that go.
    pub(crate) outcome: Arc<Notice<Outcome>>,
    pub(crate) witness: Option<Arc<dyn Witness>>,
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
    Cancel(Id),
    /// The work has stopped.
    LetGo(Id),
    /// The work has not been seen to stop.
    Abandon(Id),
    Observe(Id, LeaseName, Arc<Sightings>),
    Unobserve(Id),
    /// Everybody is to stop, within so many milliseconds.
    Shutdown {
        grace_ms: u64,
        done: Arc<Notice<Vec<LeaseName>>>,
    },
    /// To be told when nothing is being given back any more.
    Settle(Arc<Notice<()>>),
}

impl Order {
    /// There is nobody to carry it out.
    pub(super) fn refuse(self) {
        match self {
            Self::Contend(ticket) => {
                ticket.outcome.tell(Err(AcquireError::KeeperDied));
            }
            Self::Observe(_, _, sightings) => sightings.unknown(&Loss::KeeperDied.to_string()),
            Self::Shutdown { done, .. } => done.tell(Vec::new()),
            Self::Settle(done) => done.tell(()),
            Self::Cancel(_) | Self::LetGo(_) | Self::Abandon(_) | Self::Unobserve(_) => {}
        }
    }
}

/// Orders on their way to the keeper.
#[derive(Debug)]
pub(crate) struct Orders {
    queue: Mutex<Queue>,
    /// Rung when there is something to do.
    pub(crate) bell: Arc<Bell>,
    next_id: AtomicU64,
    process: u32,
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
        let (queue, bell) = (Mutex::default(), Bell::new());
        Arc::new(Self { queue, bell, next_id: AtomicU64::new(0), process: std::process::id() })
    }

    pub(crate) fn new_id(&self) -> Id {
        self.next_id.fetch_add(1, SeqCst)
    }

    /// A fork of this process has no keeper: only the thread that forked is in it (SPEC.md, section 7).
    pub(crate) fn send(&self, order: Order) {
        let mut queue = self.lock();
        if queue.closed || self.process != std::process::id() {
            drop(queue);
            return order.refuse();
        }
        queue.orders.push(order);
        drop(queue);
        self.bell.ring();
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

    /// Whatever is in it, or will be sent, is refused.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.take().into_iter().for_each(Order::refuse);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every handle holds. When the last is dropped, the keeper ends.
#[derive(Debug)]
pub(crate) struct Hands(pub(crate) Arc<Orders>);

impl Drop for Hands {
    fn drop(&mut self) {
        self.0.lock().orphaned = true;
        self.0.bell.ring();
    }
}

/// When something is to happen, if at all: the earlier of two.
pub(super) fn earlier(one: Option<LocalTime>, other: Option<LocalTime>) -> Option<LocalTime> {
    one.into_iter().chain(other).min()
}
