//! All reading of clocks and all waiting.

mod bell;
mod block;
mod set;
mod system;

pub use bell::Bell;
pub(crate) use block::block_on;
pub use set::SetClock;
pub use system::SystemClock;

use crate::protocol::{LocalTime, WallTime};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The clocks of a machine, as SPEC.md R4 needs them, and the waiting that goes by them.
///
/// [`SystemClock`] is the machine's own; [`SetClock`] moves when a test says so. One of your own passes on to one of these
/// what it does not change; above all `wait`, which only they can do.
pub trait Clock: Debug + Send + Sync {
    /// The clock that belief rests on: it never steps, and counts the time spent suspended.
    fn local(&self) -> LocalTime;

    /// The wall clock, for the row.
    fn wall(&self) -> WallTime;

    /// Waits for that time.
    fn sleep(&self, time: Duration);

    /// Waits until the bell is rung, or has been since it was last waited for, or until that moment; with no moment,
    /// for as long as it takes. It may return early.
    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>);
}
