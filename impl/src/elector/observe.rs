//! Who holds a lease, without contending for it.

use super::wait::Wait;
use crate::clock::Clock;
use crate::keeper::{Hands, Id, Order, Sighting, Sightings};
use std::sync::Arc;

/// Sees who holds a lease, without contending for it. The row is read once a poll interval: a fifteenth of the TTL, at
/// most a second.
#[derive(Debug)]
pub struct Observer {
    id: Id,
    sightings: Arc<Sightings>,
    seen: u64,
    clock: Arc<dyn Clock>,
    hands: Arc<Hands>,
}

impl Observer {
    pub(super) fn new(id: Id, sightings: Arc<Sightings>, clock: Arc<dyn Clock>, hands: Arc<Hands>) -> Self {
        Self { id, sightings, seen: 0, clock, hands }
    }

    /// What was seen last.
    pub fn snapshot(&self) -> Sighting {
        self.sightings.latest().sighting
    }

    /// The next sighting that differs from the one before, or the latest if several came since the last call. Each
    /// renewal is one: it moves the expiry. Called in a loop, it is the stream of changes.
    pub fn changed(&mut self) -> Wait<Sighting> {
        let latest = self.sightings.latest();
        let sightings = Arc::clone(&self.sightings);
        let is_new = latest.number > self.seen;
        self.seen = latest.number + u64::from(!is_new);
        Wait::new(&self.clock, async move {
            if !is_new {
                latest.changed.listen().await;
            }
            sightings.latest().sighting
        })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.hands.0.send(Order::Unobserve(self.id));
    }
}
