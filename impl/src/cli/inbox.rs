//! What the command waits for.

use crate::clock::{Bell, Clock, SystemClock};
use crate::elector::{AcquireError, Wait};
use crate::keeper::Witness;
use crate::protocol::LocalTime;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
pub(super) enum Happening {
    Signal(i32),
    JobStopped,
    JobEnded,
    /// The one of that number.
    WatchdogEnded(Pid),
    /// The store has answered, or failed to; this stands in the way.
    Met(Option<AcquireError>),
}

/// What has happened and was not looked at yet. Any thread puts something in, one takes it out.
#[derive(Debug)]
pub(super) struct Inbox {
    happenings: Mutex<VecDeque<Happening>>,
    bell: Arc<Bell>,
}

impl Inbox {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { happenings: Mutex::default(), bell: Bell::new() })
    }

    pub(super) fn push(&self, happening: Happening) {
        self.lock().push_back(happening);
        self.bell.ring();
    }

    /// What happened next. `None` at that moment, and when a future that was looked at may be ready.
    pub(super) fn wait(&self, until: Option<LocalTime>) -> Option<Happening> {
        if let Some(happening) = self.take() {
            return Some(happening);
        }
        SystemClock.wait(&self.bell, until);
        self.take()
    }

    /// What a future came to. If nothing yet, it ends a later wait.
    pub(super) fn look<T>(&self, future: &mut Wait<T>) -> Option<T> {
        let waker = Waker::from(Arc::clone(&self.bell));
        match Pin::new(future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// What has happened next, without waiting.
    pub(super) fn take(&self) -> Option<Happening> {
        self.lock().pop_front()
    }

    /// A queue is whole whatever happened to who held the lock.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Happening>> {
        self.happenings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Witness for Inbox {
    fn met(&self, obstacle: Option<AcquireError>) {
        self.push(Happening::Met(obstacle));
    }
}
