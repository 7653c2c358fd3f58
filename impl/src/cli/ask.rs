//! Asking a file that others use.

use super::Exit;
use crate::clock::{Clock, SystemClock};
use crate::random::roll;
use crate::store::ByHandError;
use std::time::Duration;

/// How long a file that others keep locked is asked again.
const PATIENCE_MS: u64 = 5_000;

/// How long it is let alone between two tries; up to twice as long, so that many who ask do not ask in step.
const PAUSE_MS: u64 = 20;

/// Asks until there is an answer, or the patience is over.
pub(super) fn patiently<T>(mut ask: impl FnMut() -> Result<T, ByHandError>) -> Result<T, ByHandError> {
    let give_up_at = SystemClock.local().plus(PATIENCE_MS);
    loop {
        let answer = ask();
        let busy = answer.as_ref().is_err_and(ByHandError::is_busy);
        if !busy || SystemClock.local() >= give_up_at {
            return answer;
        }
        SystemClock.sleep(Duration::from_millis(PAUSE_MS + roll() % PAUSE_MS));
    }
}

/// No answer.
pub(super) fn unusable(error: impl std::fmt::Display) -> Exit {
    Exit::new(Exit::STORE, error)
}
