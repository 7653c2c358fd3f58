//! What the tests and the benches share: a database of their own, clocks that they set, requests, a contender
//! that is driven by hand, and rivals that race for a lease.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a helper of tests looks at files, and fails by panicking"
)]

mod clock;
mod db;
mod player;
pub mod rival;
mod say;
mod wait;

pub use clock::HookedClock;
pub use db::{Dump, RawRow, TABLE, TempDb, execute};
pub use player::{Player, bound, holder, lease, request, timing};
pub use say::say;
pub use tenure::clock::SetClock;
pub use wait::eventually;
