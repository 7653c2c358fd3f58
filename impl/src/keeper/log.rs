//! Changes of custody, told to `tracing` from a thread of its own: a subscriber that blocks, as one does that writes
//! to a pipe nobody reads, must delay neither a renewal nor a loss.

use super::belief::Belief;
use crate::protocol::{LeaseName, Loss};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
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

/// Where entries are left. Without a thread, they are told at once.
#[derive(Debug)]
pub(super) struct Log(Option<Sender<Entry>>);

impl Log {
    pub(super) fn by_thread() -> io::Result<Self> {
        let (sender, entries) = channel();
        // Where only this thread has a subscriber, the other one gets it, too. The program's own may come later.
        let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
        let is_scoped = !dispatch.is::<NoSubscriber>();
        #[expect(clippy::disallowed_methods, reason = "the log's thread")]
        std::thread::Builder::new().name("tenure-log".into()).spawn(move || match is_scoped {
            true => tracing::dispatcher::with_default(&dispatch, || tell_all(&entries)),
            false => tell_all(&entries),
        })?;
        Ok(Self(Some(sender)))
    }

    pub(super) fn at_once() -> Self {
        Self(None)
    }

    pub(super) fn add(&self, entry: Entry) {
        match &self.0 {
            Some(thread) => drop(thread.send(entry)),
            None => tell(&entry),
        }
    }
}

fn tell_all(entries: &Receiver<Entry>) {
    entries.iter().for_each(|entry| tell(&entry));
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
            warn!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, %reason, "was not ours to release");
        }
        Entry::NotReleased(b, None) => {
            warn!(target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder, "could not be released: it runs out");
        }
        Entry::Abandoned(b) => warn!(
            target: TARGET, lease = %b.lease, fence = %b.fence, holder = %b.holder,
            "is not released, since its work was not seen to stop: it runs out"
        ),
        Entry::Failed(lease, why) => debug!(target: TARGET, %lease, %why, "the store did not answer"),
    }
}
