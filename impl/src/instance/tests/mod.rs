//! The guard by a clock that is set, on records that fail when told to; and its parts.

mod clocks;
mod file;
mod guard;
mod log;
mod loss;
mod machine;
#[cfg(feature = "object_store")]
mod objects;
mod options;
mod record;
mod stage;
