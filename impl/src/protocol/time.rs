//! One type per clock: times of different clocks cannot be compared by accident.

use std::time::Duration;

/// A reading of a contender's own clock, in milliseconds since an arbitrary start.
///
/// It never steps and counts the time that the machine spends suspended (SPEC.md R4). Only compare
/// readings of one machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime(u64);

impl LocalTime {
    /// A reading, in milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the clock's start.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This moment and `ms` milliseconds more.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// This moment less `ms` milliseconds, at least the clock's start.
    #[must_use]
    pub const fn minus(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// How long it is until `later`; zero when that has passed.
    pub const fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

/// A reading of the wall clock, in Unix milliseconds: what the row's columns hold.
///
/// Wall clocks of different machines differ, and step; `max_skew` bounds by how much (SPEC.md R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(i64);

impl WallTime {
    /// The expiry of a released lease: exactly zero (SPEC.md R3).
    pub const RELEASED: Self = Self(0);

    /// A reading, in Unix milliseconds.
    pub const fn from_unix_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Unix milliseconds.
    pub const fn as_unix_millis(self) -> i64 {
        self.0
    }

    /// This moment and `ms` milliseconds more.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add_unsigned(ms))
    }
}
