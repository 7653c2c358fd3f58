//! Electors on real files, by a clock that is set, with a store that fails when told to.

mod acquire;
mod blackout;
mod clocks;
mod death;
mod fenced;
mod log;
mod many;
mod observe;
pub(crate) mod page;
mod release;
mod run;
mod stage;
#[cfg(feature = "tokio")]
mod starved;
