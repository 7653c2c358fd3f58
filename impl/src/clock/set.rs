//! A clock that a test sets.

use super::{Bell, Clock, SystemClock};
use crate::protocol::{LocalTime, WallTime};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Clocks that move when told to, for tests of what is built on Tenure: two days pass in no time, and a test ends the same
/// way each time.
///
/// Who waits by this clock waits in earnest, until it is moved to the moment. Who sleeps by it moves it: a store thread
/// does, between two tries of a file that another connection keeps locked.
///
/// ```
/// use std::time::Duration;
/// use tenure::{Elector, clock::SetClock, protocol::Loss};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("app.db");
/// let clock = SetClock::new();
/// let elector = Elector::builder(&file).ttl(Duration::from_secs(15)).clock(clock.clone()).build()?;
/// let held = elector.acquire("cleanup").wait()?;
///
/// // In steps, the lease is renewed. An elector has two threads that wait by the clock.
/// for _ in 0..100 {
///     clock.settle(2);
///     clock.advance(1_000);
/// }
/// assert!(held.is_held());
///
/// // In one leap, as when the machine was suspended, it is lost.
/// clock.settle(2);
/// clock.advance(20_000);
/// assert!(!held.is_held());
/// assert_eq!(held.lost().wait(), Loss::DeadlinePassed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SetClock {
    local_ms: AtomicU64,
    wall_ms: AtomicI64,
    waiting: Mutex<Vec<Waiting>>,
    /// Somebody began to wait.
    settling: Condvar,
}

#[derive(Debug)]
struct Waiting {
    bell: Arc<Bell>,
    until: Option<LocalTime>,
}

impl SetClock {
    /// The wall clock at first: 2026-01-01, in Unix milliseconds.
    pub const BEGIN: i64 = 1_767_225_600_000;

    /// Clocks at their beginning.
    #[allow(clippy::new_without_default, reason = "it is shared from the start")]
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            local_ms: AtomicU64::new(1_000),
            wall_ms: AtomicI64::new(Self::BEGIN),
            waiting: Mutex::default(),
            settling: Condvar::new(),
        })
    }

    /// Time passes: both clocks move on by so many milliseconds.
    pub fn advance(&self, ms: u32) {
        self.wall_ms.fetch_add(ms.into(), SeqCst);
        self.local_ms.fetch_add(ms.into(), SeqCst);
        let waiting = self.lock();
        waiting.iter().for_each(|waiting| waiting.bell.nudge());
    }

    /// Sets the wall clock, in Unix milliseconds; the local clock goes on as before.
    pub fn set_wall(&self, ms: i64) {
        self.wall_ms.store(ms, SeqCst);
    }

    /// Waits, in earnest, until that many threads wait by this clock, and nothing has come for any of them: all that
    /// follows from what was done so far has happened. An elector has two such threads, unless a call of its store hangs; one
    /// that is in [`Wait::wait`](crate::Wait::wait) is another, a task that awaits is none.
    ///
    /// # Panics
    /// If that does not come about in half a minute: another number of threads waits.
    pub fn settle(&self, threads: usize) {
        let mut waiting = self.lock();
        let idle = |waiting: &Waiting| {
            !waiting.bell.is_rung() && waiting.until.is_none_or(|until| until > self.local())
        };
        let give_up_at = SystemClock.local().plus(30_000);
        while waiting.len() != threads || !waiting.iter().all(idle) {
            let left = SystemClock.local().until(give_up_at);
            assert!(!left.is_zero(), "{threads} threads should wait by this clock, and {} do", waiting.len());
            #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
            let waited = self.settling.wait_timeout(waiting, left);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SetClock {
    fn local(&self) -> LocalTime {
        LocalTime::from_millis(self.local_ms.load(SeqCst))
    }

    fn wall(&self) -> WallTime {
        WallTime::from_unix_millis(self.wall_ms.load(SeqCst))
    }

    fn sleep(&self, time: Duration) {
        // At least one, so that whoever waits for a moment comes to it.
        self.advance(u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1));
        // In earnest, too, for a moment: who sleeps between two tries waits for something that takes its time.
        SystemClock.sleep(time.min(Duration::from_millis(1)));
    }

    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>) {
        self.lock().push(Waiting { bell: Arc::clone(bell), until });
        self.settling.notify_all();
        bell.wait(|| {
            let come = until.is_some_and(|until| until <= self.local());
            come.then_some(Duration::ZERO)
        });
        // In this order: at no moment does it look as if this thread waited on, and nothing had come for it.
        self.lock().retain(|waiting| !Arc::ptr_eq(&waiting.bell, bell));
        bell.silence();
        self.settling.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_woken_when_the_clock_comes_to_the_moment_or_the_bell_is_rung() {
        let clock = SetClock::new();
        let (bell, woken) = (Bell::new(), AtomicU64::new(0));
        let at = clock.local().plus(100);
        std::thread::scope(|threads| {
            #[allow(clippy::disallowed_methods, reason = "the test's thread")]
            threads.spawn(|| {
                clock.wait(&bell, Some(at));
                woken.store(1, SeqCst);
                clock.wait(&bell, None);
                woken.store(2, SeqCst);
            });
            clock.settle(1);
            clock.advance(99);
            clock.settle(1);
            assert_eq!(woken.load(SeqCst), 0);
            clock.advance(1);
            clock.settle(1);
            assert_eq!(woken.load(SeqCst), 1);
            bell.ring();
        });
        assert_eq!(woken.load(SeqCst), 2);
        clock.settle(0);
    }
}
