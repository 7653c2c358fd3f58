//! What can be set.

use super::error::OptionsError;
use super::machine::Timing;
use super::record::TTL_MS;
use crate::clock::{Clock, SystemClock};
use crate::protocol::Label;
use std::sync::Arc;
use std::time::Duration;

/// The settle time unless set, in milliseconds; an eighth of the TTL if that is shorter.
const SETTLE_MS: u64 = 1_000;

/// What can be set; the defaults are usable.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a record is live after it was written; it is renewed each third of this. From 1 s to a day; 2 minutes.
    pub ttl: Duration,
    /// How long after the first write it is read back, to yield if another record stands there: if
    /// clocks agree, and nobody else touches records, two instances run only if one's write is carried out later than the
    /// other's settle time after its read. From 1 ms to an eighth of the TTL; 1 s, or that eighth if it is shorter. A claim
    /// takes that much longer. SPEC.md G3.
    pub settle: Option<Duration>,
    /// What the id begins with, for people; a random number follows. The host name.
    pub label: Option<String>,
    /// The clock, and what waits by it: for tests, [`SetClock`](crate::clock::SetClock).
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(120), settle: None, label: None, clock: Arc::new(SystemClock) }
    }
}

impl Options {
    pub(super) fn timing(&self) -> Result<Timing, OptionsError> {
        let ttl = millis(self.ttl).filter(|ms| TTL_MS.contains(ms));
        let ttl_ms = ttl.ok_or(OptionsError::Ttl { ttl: self.ttl })?;
        let max = ttl_ms / 8;
        let Some(settle) = self.settle else { return Ok(Timing { ttl_ms, settle_ms: SETTLE_MS.min(max) }) };
        let settle_ms = millis(settle).filter(|ms| (1..=max).contains(ms));
        let bad = OptionsError::Settle { settle, max: Duration::from_millis(max) };
        Ok(Timing { ttl_ms, settle_ms: settle_ms.ok_or(bad)? })
    }

    pub(super) fn label(&self) -> Result<Label, OptionsError> {
        Ok(match &self.label {
            Some(label) => Label::new(label)?,
            None => Label::new(&rustix::system::uname().nodename().to_string_lossy())?,
        })
    }
}

/// If it is a whole number of them.
fn millis(duration: Duration) -> Option<u64> {
    let whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    whole.then(|| u64::try_from(duration.as_millis()).ok()).flatten()
}
