//! Contending for leases, and holding them.

mod build;
mod error;
mod held;
mod observe;
mod run;
#[cfg(test)]
pub(crate) mod tests;
mod wait;

pub use build::Builder;
pub use error::{AcquireError, BuildError, Remedy};
pub use held::Held;
pub use observe::Observer;
pub use wait::Wait;

use crate::clock::Clock;
use crate::fenced::inside::is_inside;
use crate::keeper::{Counters, Hands, Health, Id, Order, Pledge, Record, Sightings, Ticket, Watch, Witness};
use crate::protocol::{ConfigError, LeaseName, Timing};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Contends for leases in one file: one connection, one thread that renews and tells of losses, one that talks to the
/// store, for all of them. Clones are the same elector.
///
/// A lease name is contended for once per elector: who asks twice waits his turn. Dropping the last clone blocks until what
/// is being given back is, at most for the request timeout; async code awaits a [`shutdown`](Self::shutdown) before. What
/// is still [`Held`] then goes on.
#[derive(Clone, Debug)]
pub struct Elector(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: Arc<dyn Clock>,
    timing: Timing,
    /// Where the rows are.
    file: Arc<Path>,
    record: Arc<Record>,
    hands: Arc<Hands>,
}

impl Elector {
    /// An elector on an SQLite file, which is created if it is not there. See [`Builder`] for what can be set.
    pub fn builder(file: impl AsRef<Path>) -> Builder {
        Builder::new(file.as_ref())
    }

    /// Waits until the lease is ours. Dropped before that, it leaves nothing held.
    ///
    /// # Errors
    /// [`AcquireError`]; not because somebody else holds the lease, nor because the store fails: then it waits.
    pub fn acquire(&self, lease: &str) -> Wait<Result<Held, AcquireError>> {
        self.contend(lease, true, None)
    }

    /// The lease if it is free, without waiting for whoever holds it. The store is waited for, at most the request
    /// timeout.
    ///
    /// # Errors
    /// [`AcquireError`]: who holds it, among others.
    pub fn try_acquire(&self, lease: &str) -> Wait<Result<Held, AcquireError>> {
        self.contend(lease, false, None)
    }

    pub(crate) fn contend(
        &self,
        lease: &str,
        waits: bool,
        witness: Option<Arc<dyn Witness>>,
    ) -> Wait<Result<Held, AcquireError>> {
        let (lease, inner) = (LeaseName::new(lease), Arc::clone(&self.0));
        Wait::new(&self.0.clock, async move { inner.contend(lease?, waits, witness).await })
    }

    /// Sees who holds a lease, without contending for it.
    ///
    /// # Errors
    /// The name cannot be used.
    pub fn observe(&self, lease: &str) -> Result<Observer, ConfigError> {
        let lease = LeaseName::new(lease)?;
        let Inner { clock, hands, .. } = &*self.0;
        let (id, sightings) = (hands.orders.new_id(), Sightings::new());
        hands.orders.send(Order::Observe(id, Watch::new(lease, Arc::clone(&sightings))));
        Ok(Observer::new(id, sightings, Arc::clone(clock), Arc::clone(hands)))
    }

    /// Has all work stop, and gives each lease back when its work has stopped; renews until then (SPEC.md R6). Nothing
    /// is acquired any more. Work that has not stopped within `grace` is dropped if it is async; its lease is not given
    /// back, it runs out. A [`Held`] of your own counts as work: drop it, or it is waited for. Of several calls the grace
    /// that ends first counts.
    ///
    /// It begins with the call. It comes when nothing is left to be done: at the latest after the grace and four request
    /// timeouts, which a store that answers nothing takes.
    ///
    /// # Errors
    /// [`ShutdownError`]: what is left to run out.
    pub fn shutdown(&self, grace: Duration) -> Wait<Result<(), ShutdownError>> {
        let done = Pledge::new(|| None);
        let told = done.notice().listen();
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.0.hands.orders.send(Order::Shutdown { grace_ms, done });
        let inner = Arc::clone(&self.0);
        Wait::new(&self.0.clock, async move {
            let left = told.await;
            drop(inner);
            match left {
                Some(leases) if leases.is_empty() => Ok(()),
                Some(leases) => Err(ShutdownError::LeftToRunOut { leases }),
                None => Err(ShutdownError::KeeperDied),
            }
        })
    }

    /// How the elector, and its store, are. A service that acts on leases reports itself unwell when this does. It says
    /// nothing of single leases: those are lost, or cannot be acquired, each for itself.
    pub fn health(&self) -> Health {
        self.0.record.health(self.0.clock.local())
    }

    /// What it has counted.
    pub fn counters(&self) -> Counters {
        self.0.record.counters()
    }

    /// Its durations.
    pub fn timing(&self) -> Timing {
        self.0.timing
    }
}

/// Not all was given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The work of these leases did not stop in time: they are not given back, and run out within their TTL.
    #[error("work has not stopped in time; left to run out: {}", names(leases))]
    LeftToRunOut {
        /// Which.
        leases: Vec<LeaseName>,
    },
    /// The keeper has died of a defect, or this process is a fork of the one that built the elector: whatever was held runs
    /// out.
    #[error("the keeper died: what was held runs out")]
    KeeperDied,
}

fn names(leases: &[LeaseName]) -> String {
    leases.iter().map(LeaseName::as_str).collect::<Vec<_>>().join(", ")
}

impl Inner {
    async fn contend(
        self: Arc<Self>,
        lease: LeaseName,
        waits: bool,
        witness: Option<Arc<dyn Witness>>,
    ) -> Result<Held, AcquireError> {
        if is_inside(&self.file) {
            return Err(AcquireError::InTransaction);
        }
        let id = self.hands.orders.new_id();
        let ticket = Ticket::new(id, lease.clone(), waits, witness);
        let granted = ticket.outcome.notice().claim();
        let mut asking = Asking { id, lease, hands: &self.hands, is_answered: false };
        self.hands.orders.send(Order::Contend(ticket));
        let outcome = granted.await;
        asking.is_answered = true;
        outcome.map(Held::taken)
    }
}

/// An acquire under way; dropped before it is answered, it is called off.
struct Asking<'a> {
    id: Id,
    lease: LeaseName,
    hands: &'a Hands,
    is_answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.hands.orders.send(Order::Cancel(self.id, self.lease.clone()));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // If no handle is left, dropping the hands waits for the keeper's end.
        if Arc::strong_count(&self.hands) > 1 {
            let settled = Pledge::new(|| ());
            let told = settled.notice().listen();
            self.hands.orders.send(Order::Settle(settled));
            self.hands.wait_for(told);
        }
    }
}
