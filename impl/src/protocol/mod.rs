//! The protocol of SPEC.md as a pure state machine: times and replies go in, requests come out.
//!
//! No clock, no thread, no I/O, no randomness. A driver owns a [`Contender`] and
//!
//! 1. calls [`Contender::step`] once to begin, with [`Input::Wake`];
//! 2. carries the request that came out, if one did, to a store;
//! 3. acts on the events: starts the work on [`Event::Granted`], stops it on [`Event::Lost`];
//! 4. waits for the store's reply, for the work's end, or for [`Output::next`], whichever is first;
//! 5. calls `step` again with what happened; a call that was not needed changes nothing;
//! 6. ends on [`Event::Ended`].
//!
//! Between steps, [`Contender::tenure`] says until when the lease is believed to be held: past that moment
//! the work must not act, whether or not `step` was called (SPEC.md R5).
#![deny(clippy::disallowed_types, clippy::wildcard_enum_match_arm)]

mod contender;
mod error;
mod fence;
mod holder;
mod message;
mod name;
mod row;
mod time;
mod timing;

pub use contender::{Contender, End, Event, Input, Loss, Output, Tenure};
pub use error::ConfigError;
pub use fence::Fence;
pub use holder::{Form, HolderId, Policy};
pub use message::{Action, Bound, Free, Reply, Request, RequestId};
pub use name::{Label, LeaseName};
pub use row::{Row, Seen};
pub use time::{LocalTime, WallTime};
pub use timing::{Durations, Timing};
