//! What changes, told to `tracing` from a thread of its own: a subscriber that blocks must delay neither a renewal nor a
//! loss.

use super::machine::Machine;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tracing::{Dispatch, info, warn};

/// What filters go by.
const TARGET: &str = "tenure";

/// How many events may wait for a subscriber that blocks; more are dropped.
pub(super) const QUEUE: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Claimed,
    Troubled(String),
    Lost(String),
    StoodDown,
    NotRemoved(String),
}

#[derive(Debug)]
pub(super) struct Log {
    events: SyncSender<(String, Event)>,
    /// What was told last.
    last: Mutex<Option<Event>>,
}

impl Log {
    pub(super) fn start() -> io::Result<Self> {
        let (sender, events) = sync_channel(QUEUE);
        // Where only this thread has a subscriber, the other one gets it, too.
        let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
        let is_scoped = !dispatch.is::<tracing::subscriber::NoSubscriber>();
        #[expect(clippy::disallowed_methods, reason = "the log's thread")]
        std::thread::Builder::new().name("tenure-instance-log".into()).spawn(move || match is_scoped {
            true => tracing::dispatcher::with_default(&dispatch, || write_all(&events)),
            false => write_all(&events),
        })?;
        Ok(Self { events: sender, last: Mutex::default() })
    }

    /// Tells how it stands, if that has changed.
    pub(super) fn tell(&self, id: &str, machine: &Machine) {
        let event = state_of(machine);
        let mut last = super::shared::lock(&self.last);
        if *last != event {
            last.clone_from(&event);
            if let Some(event) = event {
                let _ = self.events.try_send((id.to_owned(), event));
            }
        }
    }
}

/// Of a claim that came to nothing its caller is told; but not of what it leaves.
fn state_of(machine: &Machine) -> Option<Event> {
    if let Some(Err(error)) = machine.farewell() {
        return Some(Event::NotRemoved(error.why.clone()));
    }
    machine.outcome()?.as_ref().ok()?;
    Some(match (machine.farewell(), machine.loss(), machine.trouble()) {
        (Some(_), ..) => Event::StoodDown,
        (None, Some(super::Loss::StoodDown), _) => return None,
        (None, Some(loss), _) => Event::Lost(loss.to_string()),
        (None, None, Some(why)) => Event::Troubled(why.into()),
        (None, None, None) => Event::Claimed,
    })
}

/// A subscriber is somebody else's code: one event at which it panics is lost, and no other.
fn write_all(events: &Receiver<(String, Event)>) {
    for (id, event) in events {
        let _ = catch_unwind(AssertUnwindSafe(|| write(&id, &event)));
    }
}

fn write(instance: &str, event: &Event) {
    match event {
        Event::Claimed => info!(target: TARGET, instance, "the instance's record stands"),
        Event::Troubled(why) => warn!(target: TARGET, instance, why, "the instance's record was not renewed"),
        Event::Lost(reason) => warn!(target: TARGET, instance, reason, "the instance's claim is lost"),
        Event::StoodDown => info!(target: TARGET, instance, "the instance has stood down"),
        Event::NotRemoved(why) => warn!(target: TARGET, instance, why, "the instance's record runs out"),
    }
}
