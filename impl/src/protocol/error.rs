//! What can be wrong with a configuration.

use super::Timing;
use std::time::Duration;

/// A configuration that cannot work. Nothing was written: fix the value and start again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The TTL is out of range.
    #[error("ttl {ttl:?} is out of range: it may be 100ms to 30 days")]
    Ttl {
        /// The TTL that was given.
        ttl: Duration,
    },
    /// A duration is finer than the resolution, or longer than any clock counts.
    #[error("{what} {duration:?} is not a whole number of milliseconds below 584 million years")]
    NotWholeMillis {
        /// Which duration.
        what: &'static str,
        /// What was given.
        duration: Duration,
    },
    /// A duration that may not be zero.
    #[error("{what} is 0: it must be at least 1ms")]
    Zero {
        /// Which duration.
        what: &'static str,
    },
    /// The durations leave a healthy holder no time to renew.
    #[error(
        "renew + request timeout + grace + kill lead must be less than ttl − max skew, but {}",
        sum(.0)
    )]
    Sum(Timing),
    /// A renewal could not be confirmed before the lease is over (SPEC.md R4).
    #[error(
        "renew + request timeout must be less than {validity:?}, for which a lease is believed: ttl less the margin"
    )]
    TooLateToRenew {
        /// TTL − margin.
        validity: Duration,
    },
    /// A name or label that no row can hold.
    #[error("{what} \"{value}\": {wrong}; it must have 1 to 255 bytes of UTF-8 without control characters")]
    Text {
        /// Which text.
        what: &'static str,
        /// Its beginning, with control characters escaped.
        value: String,
        /// What is wrong with it.
        wrong: String,
    },
}

/// The sum that does not hold, with its figures.
fn sum(t: &Timing) -> String {
    let d = Duration::from_millis;
    let total =
        [t.renew_every, t.request_timeout, t.grace, t.kill_lead].into_iter().fold(0, u64::saturating_add);
    format!(
        "{:?} + {:?} + {:?} + {:?} = {:?}, and {:?} − {:?} = {:?}",
        d(t.renew_every),
        d(t.request_timeout),
        d(t.grace),
        d(t.kill_lead),
        d(total),
        d(t.ttl),
        d(t.max_skew),
        d(t.ttl.saturating_sub(t.max_skew)),
    )
}
