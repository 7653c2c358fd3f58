//! Changes of custody, told to `tracing` from a thread of its own: a subscriber that blocks, as one does that writes
//! to a pipe nobody reads, must delay neither a renewal nor a loss.

use super::belief::Belief;
use super::notice::Notice;
use crate::protocol::{LeaseName, Loss};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, debug, info, warn};

/// What filters go by.
const TARGET: &str = "tenure";

#[derive(Debug)]
pub(super) enum Entry {
    Granted(Arc<Belief>),
    Lost(Arc<Belief>, Loss),
    Released(Arc<Belief>),
    NotReleased(Arc<Belief>, Option<Loss>),
    /// Its work was not seen to stop.
    Abandoned(Arc<Belief>),
    /// A request was not answered.
    Failed(LeaseName, String),
}

/// How many entries may wait for a subscriber that blocks; more are dropped.
const QUEUE: usize = 16_384;

/// Where entries are left.
#[derive(Debug)]
pub(super) enum Log {
    /// They are told at once.
    AtOnce,
    Thread(SyncSender<Entry>),
}

impl Log {
    /// `over` is told when nothing more will come, and all is told.
    pub(super) fn by_thread(over: Arc<Notice<()>>) -> io::Result<Self> {
        let (sender, entries) = sync_channel(QUEUE);
        // Where only this thread has a subscriber, the other one gets it, too. The program's own may come later.
        let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
        let is_scoped = !dispatch.is::<NoSubscriber>();
        #[expect(clippy::disallowed_methods, reason = "the log's thread")]
        std::thread::Builder::new().name("tenure-log".into()).spawn(move || {
            match is_scoped {
                true => tracing::dispatcher::with_default(&dispatch, || tell_all(&entries)),
                false => tell_all(&entries),
            }
            over.tell(());
        })?;
        Ok(Self::Thread(sender))
    }

    pub(super) fn add(&self, entry: Entry) {
        match self {
            Self::AtOnce => tell(&entry),
            Self::Thread(entries) => drop(entries.try_send(entry)),
        }
    }
}

/// A subscriber is somebody else's code: one event at which it panics is lost, and no other.
fn tell_all(entries: &Receiver<Entry>) {
    for entry in entries {
        let _ = catch_unwind(AssertUnwindSafe(|| tell(&entry)));
    }
}

fn tell(entry: &Entry) {
    match entry {
        Entry::Granted(b) => {
            info!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, "acquired")
        }
        Entry::Lost(b, reason) => {
            warn!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, %reason, "lost");
        }
        Entry::Released(b) => {
            info!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, "released")
        }
        Entry::NotReleased(b, Some(reason)) => {
            warn!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, %reason, "not released, since it was not held any more");
        }
        Entry::NotReleased(b, None) => {
            warn!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, "not released, since the store did not confirm it: the lease runs out");
        }
        Entry::Abandoned(b) => warn!(
            target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder,
            "not released, since its work was not seen to stop: the lease runs out"
        ),
        Entry::Failed(lease, why) => debug!(target: TARGET, %lease, %why, "the store did not answer"),
    }
}
