//! Waiting for something outside: another process, another thread.

use std::time::Duration;
use tenure::clock::{Clock, SystemClock};

/// How long something may take that should take a moment, on a machine that is busy with other things.
const LIMIT_MS: u64 = 30_000;

/// What `look` finds, as soon as it finds something.
///
/// # Panics
/// If that takes far too long; `what` says what was waited for.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    retry(what, Duration::from_millis(5), look)
}

/// The same, with a pause of that length between two looks.
pub(crate) fn retry<T>(what: &str, pause: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let give_up_at = SystemClock.local().plus(LIMIT_MS);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(SystemClock.local() < give_up_at, "waited in vain: {what}");
        SystemClock.sleep(pause);
    }
}
