//! Contention for leases, measured beside what else one could use. README.md, in this directory, says how to read it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark starts threads, opens files, and stops where it fails"
)]

pub mod alone;
pub mod belief;
pub mod contender;
pub mod contest;
pub mod figures;
mod goals;
pub mod log;
pub mod plot;
pub mod process;
pub mod rounds;
pub mod table;
mod watch;

pub use watch::Watch;
