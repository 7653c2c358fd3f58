//! A clock that does something when it is read.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tenure::clock::{Bell, Clock, SetClock};
use tenure::protocol::{LocalTime, WallTime};

/// A set clock, and `hook` is called whenever the wall clock is read: in a write, that is in the midst of its
/// transaction.
pub struct HookedClock {
    clock: Arc<SetClock>,
    hook: Box<dyn Fn() + Send + Sync>,
}

impl HookedClock {
    /// A clock at its beginning.
    pub fn new(hook: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { clock: SetClock::new(), hook: Box::new(hook) })
    }
}

impl Clock for HookedClock {
    fn local(&self) -> LocalTime {
        self.clock.local()
    }

    fn wall(&self) -> WallTime {
        (self.hook)();
        self.clock.wall()
    }

    fn sleep(&self, time: Duration) {
        self.clock.sleep(time);
    }

    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>) {
        self.clock.wait(bell, until);
    }
}

impl fmt::Debug for HookedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clock.fmt(f)
    }
}
