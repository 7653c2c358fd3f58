//! Waiting, for async callers and for blocking ones.

use crate::clock::{Clock, block_on};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Something that is waited for: by `.await` in an async function, whatever its runtime, or by [`wait`](Self::wait) on a
/// thread.
///
/// An acquire that is dropped before it is ready leaves nothing behind: the lease is not acquired, or is given back. Nor
/// does an instance's claim. That is done on other threads, if the process goes on for so long. A release, a shutdown and a
/// stand-down go on whether or not somebody waits.
#[must_use = "nothing is waited for unless it is awaited, or `wait` is called"]
pub struct Wait<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    clock: Arc<dyn Clock>,
}

impl<T> Wait<T> {
    pub(crate) fn new(clock: &Arc<dyn Clock>, future: impl Future<Output = T> + Send + 'static) -> Self {
        Self { future: Box::pin(future), clock: Arc::clone(clock) }
    }

    /// Blocks the thread until it is there. Not for async functions, whose runtime it would stop.
    pub fn wait(mut self) -> T {
        loop {
            if let Some(value) = block_on(&*self.clock, self.future.as_mut(), None) {
                return value;
            }
        }
    }

    /// Blocks the thread, but no longer than that; `None` if it did not come in that time.
    pub fn wait_for(mut self, time: Duration) -> Option<T> {
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let until = self.clock.local().plus(time_ms);
        block_on(&*self.clock, self.future.as_mut(), Some(until))
    }
}

impl<T> Future for Wait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.future.as_mut().poll(context)
    }
}

impl<T> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wait")
    }
}
