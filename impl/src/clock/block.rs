//! Waiting for a future on a thread.

use super::{Bell, Clock};
use crate::protocol::LocalTime;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The future's value; `None` if it has not come at that moment.
pub(crate) fn block_on<T>(
    clock: &dyn Clock,
    mut future: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    until: Option<LocalTime>,
) -> Option<T> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        if until.is_some_and(|until| clock.local() >= until) {
            return None;
        }
        clock.wait(&bell, until);
    }
}
