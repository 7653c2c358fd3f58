//! The fencing token.

use std::fmt;

/// A tenure's number: it grows with every tenure and is never used twice (SPEC.md R2).
///
/// From 0 (a row that no tenure has held yet) to `i64::MAX`, so that it fits SQLite's INTEGER. Hand it to
/// whatever the lease protects, and have that refuse a lower one than the highest it has seen:
/// [`Held::fence`](crate::Held::fence) has how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(i64);

impl Fence {
    /// The first fence of a lease whose row does not exist yet.
    pub const FIRST: Self = Self(1);

    /// The last fence. A lease that reaches it is refused from then on: it can never be acquired again.
    pub const MAX: Self = Self(i64::MAX);

    /// A fence, unless the number is negative.
    pub const fn new(number: i64) -> Option<Self> {
        if number < 0 { None } else { Some(Self(number)) }
    }

    /// The number, 0 or more.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
