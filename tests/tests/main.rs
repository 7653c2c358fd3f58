//! The shipped code on real files and in real processes. A module per topic.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests start threads, and fail by panicking"
)]

mod citations;
mod command;
mod durable;
#[cfg(feature = "system")]
mod full_disk;
mod guard;
#[cfg(feature = "system")]
mod mount;
mod moved;
mod objects;
mod race;
mod refusals;
mod rows;
mod system_a;
mod traces;
mod unreadable;
mod variants;
