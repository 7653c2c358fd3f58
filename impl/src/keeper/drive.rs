//! The timer thread.

use super::Keeper;
use super::contention::Contention;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Keeper {
    /// Drives itself on a thread of its own until no handle is left.
    pub(crate) fn start(self) -> io::Result<()> {
        let orders = Arc::clone(&self.reach.orders);
        #[expect(clippy::disallowed_methods, reason = "the timer thread")]
        std::thread::Builder::new().name("tenure-timer".into()).spawn(move || {
            let _ = orders.driver.set(std::thread::current().id());
            self.drive();
        })?;
        Ok(())
    }

    /// A defect that kills the keeper is a loss of every tenure, and everybody is told. In the end the log's thread, which
    /// gets no more entries, tells whoever waits that it is over.
    fn drive(mut self) {
        let run = catch_unwind(AssertUnwindSafe(|| {
            let (clock, bell) = (Arc::clone(&self.reach.clock), Arc::clone(&self.reach.orders.bell));
            while !self.is_over() {
                let next = self.step(clock.local());
                if !self.is_over() {
                    clock.wait(&bell, next);
                }
            }
        }));
        self.reach.record.died();
        if run.is_err() {
            self.contentions.values_mut().for_each(|contention| contention.die(&self.reach));
        }
    }

    /// Whether no handle is left, and nothing is to be done for those that were.
    fn is_over(&self) -> bool {
        self.reach.orders.is_orphaned()
            && self.reach.orders.is_empty()
            && !self.contentions.values().any(Contention::is_unsettled)
    }
}

/// Nothing is accepted any more; and whoever still waits for something is told, as that is dropped.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.reach.record.died();
        self.reach.orders.close();
    }
}
