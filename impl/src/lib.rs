//! A named lease with a fencing token, on SQLite: of many processes, exactly one holds it and may act.
#[cfg(all(unix, feature = "cli"))]
#[doc(hidden)]
pub mod cli;
pub mod clock;
pub mod protocol;
pub mod random;
pub mod store;
