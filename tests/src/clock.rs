//! Clocks that a test sets.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tenure::clock::Clock;
use tenure::protocol::{LocalTime, WallTime};

type Hook = Box<dyn Fn() + Send + Sync>;

/// A local clock and a wall clock that move only when told to. Sleeping moves both.
pub struct SetClock {
    local_ms: AtomicU64,
    wall_ms: AtomicI64,
    when_wall_is_read: Option<Hook>,
}

impl SetClock {
    /// The wall clock that tests begin with, in Unix milliseconds.
    pub const BEGIN: i64 = 1_767_225_600_000;

    /// Clocks at [`Self::BEGIN`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self::at_begin(None))
    }

    /// The same, and `hook` is called whenever the wall clock is read: in a write, that is in the midst of its
    /// transaction.
    pub fn with_hook(hook: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self::at_begin(Some(Box::new(hook))))
    }

    fn at_begin(when_wall_is_read: Option<Hook>) -> Self {
        Self { local_ms: AtomicU64::new(1_000), wall_ms: AtomicI64::new(Self::BEGIN), when_wall_is_read }
    }

    /// Time passes: both clocks move.
    pub fn advance(&self, ms: u32) {
        self.local_ms.fetch_add(ms.into(), SeqCst);
        self.wall_ms.fetch_add(ms.into(), SeqCst);
    }

    /// Sets the wall clock, in Unix milliseconds.
    pub fn set_wall(&self, ms: i64) {
        self.wall_ms.store(ms, SeqCst);
    }
}

impl Clock for SetClock {
    fn local(&self) -> LocalTime {
        LocalTime::from_millis(self.local_ms.load(SeqCst))
    }

    fn wall(&self) -> WallTime {
        self.when_wall_is_read.iter().for_each(|hook| hook());
        WallTime::from_unix_millis(self.wall_ms.load(SeqCst))
    }

    fn sleep(&self, time: Duration) {
        // At least one, so that whoever waits for a moment comes to it.
        self.advance(u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1));
        std::thread::yield_now();
    }
}

impl fmt::Debug for SetClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SetClock({:?}, {:?})", self.local_ms, self.wall_ms)
    }
}
