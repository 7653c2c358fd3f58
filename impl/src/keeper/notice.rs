//! News that comes once, and who waits for it.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A value that is told once, by whoever is first.
#[derive(Debug)]
pub(crate) struct Notice<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    told: bool,
    value: Option<T>,
    listeners: BTreeMap<u64, Waker>,
    next_listener: u64,
}

impl<T> Notice<T> {
    pub(crate) fn new() -> Arc<Self> {
        let state = State { told: false, value: None, listeners: BTreeMap::new(), next_listener: 0 };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Tells it. Nothing changes if something was told before.
    pub(crate) fn tell(&self, value: T) {
        let mut state = self.lock();
        if state.told {
            return;
        }
        (state.told, state.value) = (true, Some(value));
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        listeners.into_values().for_each(wake);
    }

    /// Comes with the value, and takes it away from whoever else listens.
    pub(crate) fn claim(self: &Arc<Self>) -> Told<T> {
        Told { notice: Arc::clone(self), listener: None, get: Option::take }
    }

    /// No step under this lock can panic half way.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Notice<T> {
    /// What was told.
    pub(crate) fn told(&self) -> Option<T> {
        self.lock().value.clone()
    }

    /// Comes with the value.
    pub(crate) fn listen(self: &Arc<Self>) -> Told<T> {
        Told { notice: Arc::clone(self), listener: None, get: |value| value.clone() }
    }
}

/// A waker is somebody else's code, and who tells may be the thread that all leases depend on.
fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

/// The duty to tell something. Dropped before it was done, as when the keeper dies, it tells what it must.
#[derive(Debug)]
pub(crate) struct Pledge<T> {
    notice: Arc<Notice<T>>,
    otherwise: fn() -> T,
}

impl<T> Pledge<T> {
    pub(crate) fn new(otherwise: fn() -> T) -> Self {
        Self { notice: Notice::new(), otherwise }
    }

    pub(crate) fn notice(&self) -> &Arc<Notice<T>> {
        &self.notice
    }

    pub(crate) fn keep(self, value: T) {
        self.notice.tell(value);
    }
}

impl<T> Drop for Pledge<T> {
    fn drop(&mut self) {
        if !self.notice.lock().told {
            self.notice.tell((self.otherwise)());
        }
    }
}

/// Ready once it is told.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub(crate) struct Told<T> {
    notice: Arc<Notice<T>>,
    listener: Option<u64>,
    get: fn(&mut Option<T>) -> Option<T>,
}

impl<T> Future for Told<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let notice = Arc::clone(&self.notice);
        let mut state = notice.lock();
        if let Some(value) = (self.get)(&mut state.value) {
            return Poll::Ready(value);
        }
        let listener = *self.listener.get_or_insert_with(|| {
            state.next_listener += 1;
            state.next_listener
        });
        let is_new = !state.listeners.get(&listener).is_some_and(|known| known.will_wake(context.waker()));
        let before = is_new.then(|| state.listeners.insert(listener, context.waker().clone()));
        // What a waker does when it is dropped is not known: not under the lock.
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<T> Drop for Told<T> {
    fn drop(&mut self) {
        if let Some(listener) = self.listener {
            let waker = self.notice.lock().listeners.remove(&listener);
            drop(waker);
        }
    }
}
