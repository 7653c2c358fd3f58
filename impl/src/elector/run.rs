//! Running work while a lease is held.

use super::{AcquireError, Elector, Held};
use crate::keeper::Stop;

impl Elector {
    /// Waits for the lease and runs `work` on this thread while it is held; when the work returns, gives the lease back,
    /// whoever has a clone of it, and returns the work's value. If the lease was lost, or was about to be so that the work
    /// was told to stop, the value is dropped, and it contends again. What the work does it may so do again.
    ///
    /// After a shutdown the value of work that returned in time is returned like any other; the next call gives
    /// [`AcquireError::ShutDown`]. So a worker that is to go on for ever is called again until then.
    ///
    /// The work must look at [`Held::should_stop`] now and then, and return soon when it should: nobody can stop a thread
    /// from outside. It is waited for before anything else happens. If it panics, the lease is not given back, it runs
    /// out (SPEC.md R6).
    ///
    /// # Errors
    /// [`AcquireError`]: the elector was shut down, among others.
    pub fn run_blocking<T>(&self, lease: &str, mut work: impl FnMut(&Held) -> T) -> Result<T, AcquireError> {
        loop {
            let held = self.acquire(lease).wait()?;
            if held.should_stop() {
                continue; // This thread was held up for so long that the work would be told to stop at once.
            }
            let at_work = AtWork::begin(&held);
            let value = work(&held);
            if let Some(held) = at_work.has_returned() {
                let _ = held.release().wait();
                return Ok(value);
            }
        }
    }

    /// The same for async work, which also gets a token that is cancelled when it should stop: because of a shutdown, or
    /// since renewals fail and only the grace is left.
    ///
    /// Work that has not returned when its grace is over is dropped, before the deadline and so before anybody else can
    /// hold the lease. So cleaning up belongs into a `Drop`, and watching for the end to the token: [`Held::lost`] comes
    /// too late here. What the work has spawned is not dropped: give it a clone of the token, and of [`Held`], without
    /// which nobody contends again before it is gone. Dropped or panicked work gives nothing back, the lease runs out
    /// (SPEC.md R6); so it is if this future is dropped while the work runs.
    /// On a runtime that is starved the drop comes late: before each act, the work should ask [`Held::is_held`].
    ///
    /// The work owns what it is given, so that this future can go to any thread; what several tenures share, as a
    /// connection, is behind an `Arc` or a `Mutex`.
    ///
    /// # Errors
    /// [`AcquireError`]: the elector was shut down, among others.
    #[cfg(feature = "tokio")]
    pub async fn run<T, F>(
        &self,
        lease: &str,
        mut work: impl FnMut(Held, crate::CancellationToken) -> F,
    ) -> Result<T, AcquireError>
    where
        F: Future<Output = T>,
    {
        loop {
            let held = self.acquire(lease).await?;
            if held.should_stop() {
                continue; // As above.
            }
            let at_work = AtWork::begin(&held);
            let token = crate::CancellationToken::new();
            // Also when this future is dropped, or the work panics: whatever the work has given the token to is told.
            let _cancelled_at_last = token.clone().drop_guard();
            let work = work(held.clone(), token.clone());
            let value = until_overdue(&held, work, || token.cancel()).await;
            drop(held);
            if let Some(value) = value
                && let Some(held) = at_work.has_returned()
            {
                let _ = held.release().await;
                return Ok(value);
            }
        }
    }
}

/// The work's value, or `None` if it was overdue and is dropped.
#[cfg(feature = "tokio")]
async fn until_overdue<T>(held: &Held, work: impl Future<Output = T>, tell_to_stop: impl Fn()) -> Option<T> {
    use std::task::Poll;
    let belief = &held.0.belief;
    let mut stopping = std::pin::pin!(belief.stopping.listen());
    let mut overdue = std::pin::pin!(belief.overdue.listen());
    let mut work = std::pin::pin!(work);
    let mut told = false;
    std::future::poll_fn(|context| {
        if !told && stopping.as_mut().poll(context).is_ready() {
            told = true;
            tell_to_stop();
        }
        // First: a runtime that was starved must not run work whose time is over.
        if overdue.as_mut().poll(context).is_ready() || belief.is_overdue() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}

/// Work that runs. If it is dropped, or unwound, before it has returned, the lease is not given back.
struct AtWork(Option<Held>);

impl AtWork {
    fn begin(held: &Held) -> Self {
        Self(Some(held.clone()))
    }

    /// The work has returned. Its lease, unless that was lost, or was about to be when the work was told to stop: then it
    /// is given back, if it is still ours, and the work's outcome does not count.
    fn has_returned(mut self) -> Option<Held> {
        let held = self.0.take()?;
        let was_told = held.0.belief.stopping.told() == Some(Stop::Loss);
        (held.is_held() && !was_told).then_some(held)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.iter().for_each(|held| held.0.abandon());
    }
}
