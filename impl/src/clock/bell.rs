//! What a thread waits for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Wake;
use std::time::Duration;

/// A bell that any thread rings and one thread waits for, through a [`Clock`](super::Clock). Rung before it is waited
/// for, it ends the next wait. It is also the waker of whoever waits for a future on a thread.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    /// A bell.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Ends the wait, or the next one.
    pub fn ring(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    /// Has who waits look at the clock.
    pub(super) fn nudge(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    pub(super) fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Waits until it is rung, or `left` says that no time is left. It is asked again at every nudge, and after the
    /// time that it gives; `None` is no limit. It stays rung until it is silenced.
    pub(super) fn wait(&self, left: impl Fn() -> Option<Duration>) {
        let mut rung = self.lock();
        while !*rung {
            rung = match left() {
                Some(Duration::ZERO) => return,
                Some(time) => {
                    #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
                    let waited = self.changed.wait_timeout(rung, time);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(rung).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Before whatever it was rung for is looked at.
    pub(super) fn silence(&self) {
        *self.lock() = false;
    }

    /// A flag is whole whatever happened to who held the lock.
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}
