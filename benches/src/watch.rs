//! The one clock that measures: finer than the crate's own, which counts milliseconds.

use std::time::{Duration, Instant};

/// Measures from the moment it is started.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Instant);

impl Watch {
    /// Starts.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long ago that was.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
