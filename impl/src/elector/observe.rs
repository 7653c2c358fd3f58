//! Who holds a lease, without contending for it.

use super::wait::Wait;
use crate::clock::Clock;
use crate::keeper::{Hands, Id, Order, Sighting, Sightings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Sees who holds a lease, without contending for it. The row is read once a poll interval: a fifteenth of the TTL, at
/// most a second.
#[derive(Debug)]
pub struct Observer {
    id: Id,
    sightings: Arc<Sightings>,
    /// The number of the sighting that was told last; a future that was dropped has told none.
    told: Arc<AtomicU64>,
    clock: Arc<dyn Clock>,
    hands: Arc<Hands>,
}

impl Observer {
    pub(super) fn new(id: Id, sightings: Arc<Sightings>, clock: Arc<dyn Clock>, hands: Arc<Hands>) -> Self {
        Self { id, sightings, told: Arc::default(), clock, hands }
    }

    /// What was seen last; at first, nothing is known. It goes on after a shutdown, and without the elector.
    pub fn snapshot(&self) -> Sighting {
        self.sightings.latest().sighting
    }

    /// The next sighting that differs from the one told last, or the latest if several came since. Each renewal is one:
    /// it moves the expiry. Called in a loop, it is the stream of changes; a future that is dropped loses none.
    pub fn changed(&mut self) -> Wait<Sighting> {
        let (sightings, told) = (Arc::clone(&self.sightings), Arc::clone(&self.told));
        Wait::new(&self.clock, async move {
            loop {
                let latest = sightings.latest();
                if latest.number > told.load(SeqCst) {
                    told.store(latest.number, SeqCst);
                    return latest.sighting;
                }
                latest.changed.listen().await;
            }
        })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.hands.orders.send(Order::Unobserve(self.id));
    }
}
