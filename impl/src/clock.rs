//! All reading of clocks and all waiting.

use crate::protocol::{LocalTime, WallTime};
use std::fmt::Debug;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The clocks of a machine, as SPEC.md R4 needs them.
pub trait Clock: Debug + Send + Sync {
    /// The clock that belief rests on: it never steps, and counts the time spent suspended.
    fn local(&self) -> LocalTime;

    /// The wall clock, for the row.
    fn wall(&self) -> WallTime;

    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The machine's own clocks: `CLOCK_BOOTTIME` on Linux, and the system's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

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
}

/// How long a wait lasts at most before the clock is looked at again: timers stand still while the machine is
/// suspended, the clock does not.
const SLICE: Duration = Duration::from_millis(250);

impl SystemClock {
    /// What comes next on a channel, or `None` at `until`; with no `until`, waits for as long as it takes.
    /// Also `None` when nothing can come any more.
    pub fn receive<T>(&self, from: &Receiver<T>, until: Option<LocalTime>) -> Option<T> {
        loop {
            let left = until.map_or(SLICE, |until| self.local().until(until));
            #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
            match from.recv_timeout(left.min(SLICE)) {
                Ok(thing) => return Some(thing),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if left <= SLICE && until.is_some() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_on_a_channel_ends_at_its_moment_or_with_what_comes() {
        let (send, receive) = std::sync::mpsc::channel();
        let clock = SystemClock;
        let begin = clock.local();
        assert_eq!(clock.receive::<u8>(&receive, Some(begin.plus(300))), None);
        assert!(clock.local() >= begin.plus(300));
        send.send(7).unwrap();
        assert_eq!(clock.receive(&receive, Some(begin)), Some(7));
        drop(send);
        assert_eq!(clock.receive(&receive, None), None);
    }
}
