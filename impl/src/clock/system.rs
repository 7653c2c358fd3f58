//! The machine's own clocks.

use super::{Bell, Clock};
use crate::protocol::{LocalTime, WallTime};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's own clocks: `CLOCK_BOOTTIME` on Linux, and the system's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// How long a wait lasts at most before the clock is looked at again: timers stand still while the machine is
/// suspended, the clock does not.
const SLICE: Duration = Duration::from_millis(250);

impl Clock for SystemClock {
    fn local(&self) -> LocalTime {
        // On macOS CLOCK_MONOTONIC counts the time spent asleep; on Linux only CLOCK_BOOTTIME does.
        #[cfg(target_os = "linux")]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
        let time = rustix::time::clock_gettime(CLOCK);
        // Neither part of a boot-time clock is ever negative.
        let part = |part: i64| u64::try_from(part).unwrap_or(0);
        LocalTime::from_millis(part(time.tv_sec) * 1000 + part(time.tv_nsec) / 1_000_000)
    }

    fn wall(&self) -> WallTime {
        #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
        let now = SystemTime::now();
        let ms = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        WallTime::from_unix_millis(match now.duration_since(UNIX_EPOCH) {
            Ok(since) => ms(since),
            Err(before) => -ms(before.duration()),
        })
    }

    fn sleep(&self, time: Duration) {
        #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
        std::thread::sleep(time);
    }

    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>) {
        bell.wait(|| until.map(|until| self.local().until(until).min(SLICE)));
        bell.silence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_moment_or_when_the_bell_is_rung() {
        let bell = Bell::new();
        let begin = SystemClock.local();
        SystemClock.wait(&bell, Some(begin.plus(300)));
        assert!(SystemClock.local() >= begin.plus(300));
        bell.ring();
        SystemClock.wait(&bell, None);
        bell.ring();
        SystemClock.wait(&bell, Some(LocalTime::from_millis(u64::MAX)));
        SystemClock.wait(&bell, Some(begin));
    }
}
