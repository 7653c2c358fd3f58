//! How long things take: a lease's durations, checked against each other once.

use super::ConfigError;
use std::time::Duration;

/// The shortest and the longest TTL, in milliseconds: 100 ms and 30 days.
pub(super) const TTL_MS: std::ops::RangeInclusive<u64> = 100..=2_592_000_000;

/// By how much a second of the local clock may differ from a true one, in parts per million. Quartz keeps
/// within 100, and two clocks may drift apart.
const DRIFT_PPM: u64 = 200;

/// The durations of a lease as a user gives them; what is `None` is derived from the TTL.
///
/// All contenders of a lease must agree on `ttl` and `max_skew` (SPEC.md R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durations {
    /// How long a lease lasts without a renewal. From 100 ms to 30 days; 15 s.
    pub ttl: Duration,
    /// How long after a renewal was sent the next one is. TTL/3.
    pub renew_every: Option<Duration>,
    /// How long a request may take before its outcome counts as unknown. TTL/6.
    pub request_timeout: Option<Duration>,
    /// How long before the deadline work is told to stop when renewals fail. TTL/4.
    pub grace: Option<Duration>,
    /// How long before the deadline work is killed, or dropped if it is async, since that takes time. So from being told
    /// to stop it has grace less this. TTL/20.
    pub kill_lead: Option<Duration>,
    /// By how much wall clocks may differ and step, see SPEC.md R4. The smaller of 1 s and TTL/10.
    pub max_skew: Option<Duration>,
}

impl Default for Durations {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(15),
            renew_every: None,
            request_timeout: None,
            grace: None,
            kill_lead: None,
            max_skew: None,
        }
    }
}

impl Durations {
    /// Fills in what was not given, and checks all of it.
    ///
    /// # Errors
    /// A TTL out of range, a duration that is no whole number of milliseconds or zero where it may not
    /// be, or a sum that leaves a healthy holder no time:
    /// `renew + request timeout + grace + kill lead < TTL − max skew` must hold.
    pub fn check(self) -> Result<Timing, ConfigError> {
        let ttl = millis("ttl", self.ttl)?;
        if !TTL_MS.contains(&ttl) {
            return Err(ConfigError::Ttl { ttl: self.ttl });
        }
        let or = |what, given: Option<Duration>, derived: u64| {
            given.map_or(Ok(derived), |given| millis(what, given))
        };
        let timing = Timing {
            ttl,
            renew_every: or("renew-every", self.renew_every, ttl / 3)?,
            request_timeout: or("request timeout", self.request_timeout, ttl / 6)?,
            grace: or("grace", self.grace, ttl / 4)?,
            kill_lead: or("kill-lead", self.kill_lead, ttl / 20)?,
            max_skew: or("max-skew", self.max_skew, (ttl / 10).min(1000))?,
        };
        timing.check()
    }
}

/// A duration in milliseconds; it must be a whole number of them.
fn millis(what: &'static str, duration: Duration) -> Result<u64, ConfigError> {
    let not_whole = ConfigError::NotWholeMillis { what, duration };
    if !duration.subsec_nanos().is_multiple_of(1_000_000) {
        return Err(not_whole);
    }
    u64::try_from(duration.as_millis()).map_err(|_| not_whole)
}

/// Checked durations of a lease, all in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub(super) ttl: u64,
    pub(super) renew_every: u64,
    pub(super) request_timeout: u64,
    pub(super) grace: u64,
    pub(super) kill_lead: u64,
    pub(super) max_skew: u64,
}

impl Timing {
    fn check(self) -> Result<Self, ConfigError> {
        for (what, value) in [("renew-every", self.renew_every), ("request timeout", self.request_timeout)] {
            if value == 0 {
                return Err(ConfigError::Zero { what });
            }
        }
        let sum = [self.renew_every, self.request_timeout, self.grace, self.kill_lead]
            .into_iter()
            .fold(0, u64::saturating_add);
        if sum >= self.ttl.saturating_sub(self.max_skew) {
            return Err(ConfigError::Sum(self));
        }
        // The margin exceeds max_skew by drift and a millisecond.
        if self.renew_every.saturating_add(self.request_timeout) >= self.validity_ms() {
            return Err(ConfigError::TooLateToRenew { validity: Duration::from_millis(self.validity_ms()) });
        }
        Ok(self)
    }

    /// The TTL, in milliseconds.
    pub const fn ttl_ms(&self) -> u64 {
        self.ttl
    }

    /// How long after a renewal was sent the next one is, in milliseconds, up to a tenth less.
    pub const fn renew_every_ms(&self) -> u64 {
        self.renew_every
    }

    /// How long before the deadline work is told to stop, in milliseconds.
    pub const fn grace_ms(&self) -> u64 {
        self.grace
    }

    /// How long before the deadline work is killed, or dropped if it is async, in milliseconds.
    pub const fn kill_lead_ms(&self) -> u64 {
        self.kill_lead
    }

    /// By how much wall clocks may differ and step, in milliseconds.
    pub const fn max_skew_ms(&self) -> u64 {
        self.max_skew
    }

    /// How long a request may take, in milliseconds.
    pub const fn request_timeout_ms(&self) -> u64 {
        self.request_timeout
    }

    /// How much earlier than the row's expiry a holder stops believing, in milliseconds: skew, drift, and
    /// one for the wall clock's cut to whole milliseconds (SPEC.md R4).
    pub const fn margin_ms(&self) -> u64 {
        self.max_skew + (self.ttl * DRIFT_PPM).div_ceil(1_000_000) + 1
    }

    /// How long a grant is believed, from the moment its request was sent, in milliseconds (SPEC.md R4).
    pub const fn validity_ms(&self) -> u64 {
        self.ttl.saturating_sub(self.margin_ms())
    }

    /// How often a standby looks at the row, in milliseconds, an eighth more or less: what a handover takes at most.
    pub const fn poll_ms(&self) -> u64 {
        let fifteenth = self.ttl / 15;
        if fifteenth > 1000 { 1000 } else { fifteenth }
    }

    /// How long after a failed request the next one is sent, in milliseconds.
    pub(super) const fn retry_ms(&self) -> u64 {
        self.poll_ms() / 4 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_defaults_are_the_documented_shares_of_the_ttl() {
        let timing = Durations::default().check().unwrap();
        assert_eq!(
            (timing.ttl, timing.renew_every, timing.request_timeout, timing.grace, timing.kill_lead),
            (15_000, 5_000, 2_500, 3_750, 750)
        );
        assert_eq!((timing.max_skew, timing.margin_ms(), timing.validity_ms()), (1_000, 1_004, 13_996));
    }

    #[test]
    fn every_ttl_in_the_range_has_usable_defaults() {
        for ttl in (100..20_000).chain([2_592_000_000]) {
            let durations = Durations { ttl: ms(ttl), ..Durations::default() };
            durations.check().unwrap();
        }
    }

    #[test]
    fn what_cannot_work_is_refused_and_the_value_named() {
        let base = Durations::default();
        let cases = [
            (Durations { ttl: ms(99), ..base }, "ttl 99ms"),
            (Durations { ttl: ms(2_592_000_001), ..base }, "ttl 2592000.001s"),
            (Durations { ttl: Duration::from_micros(1_500_500), ..base }, "ttl 1.5005s"),
            (Durations { renew_every: Some(ms(0)), ..base }, "renew-every"),
            (Durations { request_timeout: Some(ms(0)), ..base }, "request timeout"),
            (Durations { renew_every: Some(ms(7_000)), ..base }, "7s + 2.5s + 3.75s + 750ms = 14s"),
            (Durations { max_skew: Some(ms(15_000)), ..base }, "15s − 15s"),
            (
                Durations {
                    renew_every: Some(ms(11_499)),
                    grace: Some(ms(0)),
                    kill_lead: Some(ms(0)),
                    ..base
                },
                "less than 13.996s",
            ),
            (Durations { grace: Some(Duration::MAX), ..base }, "grace"),
        ];
        for (durations, says) in cases {
            let error = durations.check().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_sum_must_be_strictly_less() {
        let just = Durations { renew_every: Some(ms(6_999)), ..Durations::default() };
        just.check().unwrap();
    }
}
