//! Looking at a lease without contending for it.

use super::notice::Notice;
use crate::protocol::{
    Action, HolderId, LeaseName, LocalTime, Loss, Reply, Request, RequestId, Row, Seen, Timing, WallTime,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A lease as somebody sees it who does not contend for it.
///
/// It is a look back: by the time it is read, the lease may be somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sighting {
    /// The store cannot be read, or was not read yet, and why: anybody may hold the lease, or nobody.
    Unknown(String),
    /// Nobody has ever held it.
    Absent,
    /// Its row cannot be understood, and why. It counts as held (SPEC.md R12).
    Unreadable(String),
    /// Somebody holds it: who, with which fence, until when unless they renew it.
    Held(Row),
    /// Its expiry has come on this machine's wall clock, and nobody has taken it yet.
    Expired(Row),
    /// It was given back; the row tells by whom.
    Released(Row),
}

impl Sighting {
    /// The row, if there is one that can be understood: who holds the lease, or held it last.
    pub fn row(&self) -> Option<&Row> {
        match self {
            Self::Held(row) | Self::Expired(row) | Self::Released(row) => Some(row),
            Self::Unknown(_) | Self::Absent | Self::Unreadable(_) => None,
        }
    }

    fn of(seen: Seen, wall: WallTime) -> Self {
        match seen {
            Seen::Absent => Self::Absent,
            Seen::Unreadable(why) => Self::Unreadable(why),
            Seen::Row(row) if row.is_released() => Self::Released(row),
            Seen::Row(row) if row.expires_at <= wall => Self::Expired(row),
            Seen::Row(row) => Self::Held(row),
        }
    }
}

/// The latest sighting, shared with the observer.
#[derive(Debug)]
pub(crate) struct Sightings(Mutex<Latest>);

#[derive(Clone, Debug)]
pub(crate) struct Latest {
    pub(crate) sighting: Sighting,
    /// How many there have been.
    pub(crate) number: u64,
    /// Told when there is another one.
    pub(crate) changed: Arc<Notice<()>>,
}

impl Sightings {
    pub(crate) fn new() -> Arc<Self> {
        let sighting = Sighting::Unknown("it was not looked at yet".into());
        Arc::new(Self(Mutex::new(Latest { sighting, number: 0, changed: Notice::new() })))
    }

    pub(crate) fn latest(&self) -> Latest {
        self.lock().clone()
    }

    pub(super) fn unknown(&self, why: &str) {
        self.see(Sighting::Unknown(why.into()));
    }

    fn see(&self, sighting: Sighting) {
        let mut latest = self.lock();
        if latest.sighting == sighting {
            return;
        }
        let number = latest.number + 1;
        let before = std::mem::replace(&mut *latest, Latest { sighting, number, changed: Notice::new() });
        drop(latest);
        before.changed.tell(());
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a lease's row again and again, for an observer.
#[derive(Debug)]
pub(crate) struct Watch {
    lease: LeaseName,
    sightings: Arc<Sightings>,
    /// The read under way, and when it is given up.
    flight: Option<(RequestId, LocalTime)>,
    requests: u64,
    pub(super) due: LocalTime,
}

impl Watch {
    pub(crate) fn new(lease: LeaseName, sightings: Arc<Sightings>) -> Self {
        Self { lease, sightings, flight: None, requests: 0, due: LocalTime::from_millis(0) }
    }

    fn unknown(&self, why: &str) {
        self.sightings.unknown(why);
    }

    /// What was read, or why nothing was.
    pub(super) fn on_answer(
        &mut self,
        now: LocalTime,
        id: RequestId,
        answer: Result<Reply, String>,
        pause_ms: u64,
    ) {
        if self.flight.take_if(|(awaited, _)| *awaited == id).is_none() {
            return;
        }
        self.due = now.plus(pause_ms);
        match answer {
            Ok(Reply::Seen { seen, wall }) => self.sightings.see(Sighting::of(seen, wall)),
            Ok(_) => self.unknown("the store gave no answer to a read"),
            Err(why) => self.unknown(&why),
        }
    }

    /// The next read, if it is time for it. One that was not answered in time makes the lease unknown.
    pub(super) fn step(&mut self, now: LocalTime, reader: &HolderId, timing: &Timing) -> Option<Request> {
        if now < self.due {
            return None;
        }
        if self.flight.take().is_some() {
            self.unknown("the store does not answer");
        }
        self.requests += 1;
        let id = RequestId::new(self.requests);
        let give_up_at = now.plus(timing.request_timeout_ms());
        self.flight = Some((id, give_up_at));
        self.due = give_up_at;
        let (lease, holder) = (self.lease.clone(), reader.clone());
        Some(Request { id, lease, holder, give_up_at, action: Action::Read })
    }
}

/// Nobody will look any more.
impl Drop for Watch {
    fn drop(&mut self) {
        self.unknown(&Loss::KeeperDied.to_string());
    }
}
