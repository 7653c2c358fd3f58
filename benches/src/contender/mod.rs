//! Who contends for a lease: the crate, and what else one could use. All pause alike between two tries.

mod by_elector;
mod by_flock;
mod by_hand;
mod by_store;

pub use by_hand::ByHand;

use clap::ValueEnum;
use std::path::Path;
use std::time::Duration;
use tenure::Elector;
use tenure::clock::{Clock, SystemClock};
use tenure::random::roll;

/// So long that nothing expires and no request times out, even on a machine that is busy with other things: what is
/// measured is custody that is given back.
pub(crate) const TTL: Duration = Duration::from_secs(60);

/// How long whoever is refused waits before he tries again, half more or less.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);

/// Contends for one lease, again and again.
pub trait Contender: Send {
    /// Tries once: the tenure's fence, or `None` if not now. Of a lock without fences it is always 0.
    fn try_acquire(&mut self) -> Option<i64>;

    /// Gives back what the last try got.
    fn release(&mut self);
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Kind {
    /// An `Elector` for each contender.
    Tenure,
    /// One `Elector`, and a clone of it for each contender.
    OneElector,
    /// The crate's `SqliteStore` for each contender, without elector and threads: the same statements.
    Store,
    /// The best hand-written rusqlite for one contender, with SQLite's own busy handler: for several, the naive loop.
    ByHand,
    /// `flock(2)` on a file beside, which is not waited for. No fence, no expiry, no sync.
    Flock,
}

impl Kind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tenure => "tenure",
            Self::OneElector => "tenure, one elector",
            Self::Store => "tenure's store alone",
            Self::ByHand => "by hand",
            Self::Flock => "flock",
        }
    }

    /// Whether its tenures are numbered, in a row.
    pub fn has_fences(self) -> bool {
        self != Self::Flock
    }
}

/// A file that is contended in, and what contenders of one process share.
#[derive(Debug)]
pub struct Arena<'a> {
    kind: Kind,
    file: &'a Path,
    shared: Option<Elector>,
}

impl<'a> Arena<'a> {
    /// On a file that has the table.
    pub fn new(kind: Kind, file: &'a Path) -> Self {
        Self { kind, file, shared: (kind == Kind::OneElector).then(|| by_elector::elector(file)) }
    }

    /// Somebody who contends for that lease, ready to.
    pub fn contender(&self, lease: &str) -> Box<dyn Contender> {
        match self.kind {
            Kind::Tenure => Box::new(by_elector::ByElector::new(by_elector::elector(self.file), lease)),
            Kind::OneElector => {
                let shared = self.shared.clone().expect("it was built with the arena");
                Box::new(by_elector::ByElector::new(shared, lease))
            }
            Kind::Store => Box::new(by_store::ByStore::new(self.file, lease)),
            Kind::ByHand => Box::new(ByHand::new(self.file, lease)),
            Kind::Flock => Box::new(by_flock::ByFlock::new(self.file, lease)),
        }
    }
}

/// Half of that time more or less.
pub(crate) fn pause(time: Duration) {
    SystemClock.sleep(time.mul_f64(0.5 + (roll() % 1024) as f64 / 1024.0));
}
