//! What an elector counts, and how it is.

use crate::protocol::{Action, LocalTime, Loss, Timing};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an elector has counted since it was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Tenures begun.
    pub grants: u64,
    /// Renewals that were confirmed.
    pub renewals: u64,
    /// How long after it was due the latest renewal was confirmed, in milliseconds.
    pub renewal_lag_ms: u64,
    /// The longest such time, in milliseconds. One that comes near the TTL, less the renewal interval, nearly cost a lease.
    pub renewal_lag_max_ms: u64,
    /// Leases given back.
    pub releases: u64,
    /// Leases that were not given back when their work had stopped, or was not seen to stop, and run out. One whose work
    /// was not seen to stop is counted as lost as well, when its deadline has passed.
    pub not_released: u64,
    /// Tenures lost since no renewal was confirmed before the deadline.
    pub lost_deadline_passed: u64,
    /// Tenures lost to somebody else.
    pub lost_superseded: u64,
    /// Tenures lost to this machine's wall clock, on which the row had expired.
    pub lost_expired: u64,
    /// Tenures that somebody else released by force.
    pub lost_released: u64,
    /// Tenures lost since the store went back.
    pub lost_store_went_back: u64,
    /// Tenures lost since the keeper died.
    pub lost_keeper_died: u64,
}

impl Counters {
    /// Tenures lost, for whatever reason.
    pub fn losses(&self) -> u64 {
        self.lost_deadline_passed
            + self.lost_superseded
            + self.lost_expired
            + self.lost_released
            + self.lost_store_went_back
            + self.lost_keeper_died
    }
}

/// How an elector is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The thread that renews and tells of losses is there. If not, nothing is held any more: build another elector.
    pub is_alive: bool,
    /// How much later than it wanted to be called that thread is by now: the machine is overloaded, or the process was
    /// stopped.
    pub late_by: Duration,
    /// The store has not answered for that long, or only reads and no writes, and why; `None` while it answers, or has
    /// nothing to answer.
    pub store_trouble: Option<(Duration, String)>,
    /// How much of either is nothing to report.
    patience: Duration,
}

impl Health {
    /// Whether all is well: the thread is there, and neither it nor the store is in trouble for longer than a request may
    /// take.
    pub fn is_well(&self) -> bool {
        let trouble = self.store_trouble.as_ref().map_or(Duration::ZERO, |(since, _)| *since);
        self.is_alive && self.late_by.max(trouble) <= self.patience
    }
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    grants: AtomicU64,
    renewals: AtomicU64,
    lag_ms: AtomicU64,
    lag_max_ms: AtomicU64,
    releases: AtomicU64,
    not_released: AtomicU64,
    losses: [AtomicU64; 6],
    state: Mutex<State>,
    /// How long a failure counts that was not followed by another try.
    memory_ms: u64,
    /// How long trouble may last that is nothing to report.
    patience_ms: u64,
}

#[derive(Debug, Default)]
struct State {
    dead: bool,
    next: Option<LocalTime>,
    reads: Option<Trouble>,
    writes: Option<Trouble>,
    /// A call does not return, and no other thread can be had.
    hangs_since: Option<LocalTime>,
}

/// Requests of one kind are not answered.
#[derive(Debug)]
struct Trouble {
    since: LocalTime,
    /// When one was not answered last.
    last: LocalTime,
    why: String,
}

/// A file that is locked, or a full disk, can be read and not written: an answer to the one says nothing of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

impl Kind {
    pub(super) fn of(action: &Action) -> Self {
        if *action == Action::Read { Self::Read } else { Self::Write }
    }
}

impl State {
    fn of(&mut self, kind: Kind) -> &mut Option<Trouble> {
        match kind {
            Kind::Read => &mut self.reads,
            Kind::Write => &mut self.writes,
        }
    }
}

impl Record {
    pub(super) fn new(timing: &Timing) -> Self {
        Self { memory_ms: timing.ttl_ms(), patience_ms: timing.request_timeout_ms(), ..Self::default() }
    }

    pub(super) fn granted(&self) {
        self.grants.fetch_add(1, Relaxed);
    }

    pub(super) fn renewed(&self, lag: Duration) {
        let lag = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
        self.renewals.fetch_add(1, Relaxed);
        self.lag_ms.store(lag, Relaxed);
        self.lag_max_ms.fetch_max(lag, Relaxed);
    }

    pub(super) fn released(&self) {
        self.releases.fetch_add(1, Relaxed);
    }

    pub(super) fn not_released(&self) {
        self.not_released.fetch_add(1, Relaxed);
    }

    pub(super) fn lost(&self, loss: &Loss) {
        let which = match loss {
            Loss::DeadlinePassed => 0,
            Loss::Superseded { .. } => 1,
            Loss::Expired => 2,
            Loss::Released => 3,
            Loss::StoreWentBack => 4,
            Loss::KeeperDied => 5,
            Loss::GivenBack => return,
        };
        self.losses[which].fetch_add(1, Relaxed);
    }

    pub(super) fn store_answered(&self, kind: Kind) {
        *self.lock().of(kind) = None;
    }

    pub(super) fn store_failed(&self, kind: Kind, now: LocalTime, why: &str) {
        let mut state = self.lock();
        let before = state.of(kind).as_ref().filter(|trouble| now < trouble.last.plus(self.memory_ms));
        let since = before.map_or(now, |trouble| trouble.since);
        *state.of(kind) = Some(Trouble { since, last: now, why: why.into() });
    }

    /// Since when a call does not return.
    pub(super) fn hangs(&self, since: Option<LocalTime>) {
        self.lock().hangs_since = since;
    }

    /// The keeper wants to be called then.
    pub(super) fn sleeps(&self, until: Option<LocalTime>) {
        self.lock().next = until;
    }

    pub(super) fn died(&self) {
        self.lock().dead = true;
    }

    pub(crate) fn counters(&self) -> Counters {
        let get = |count: &AtomicU64| count.load(Relaxed);
        let [passed, superseded, expired, released, went_back, died] = &self.losses;
        Counters {
            grants: get(&self.grants),
            renewals: get(&self.renewals),
            renewal_lag_ms: get(&self.lag_ms),
            renewal_lag_max_ms: get(&self.lag_max_ms),
            releases: get(&self.releases),
            not_released: get(&self.not_released),
            lost_deadline_passed: get(passed),
            lost_superseded: get(superseded),
            lost_expired: get(expired),
            lost_released: get(released),
            lost_store_went_back: get(went_back),
            lost_keeper_died: get(died),
        }
    }

    pub(crate) fn health(&self, now: LocalTime) -> Health {
        let state = self.lock();
        let is_current = |trouble: &&Trouble| now < trouble.last.plus(self.memory_ms);
        let troubles = [&state.reads, &state.writes].into_iter().flatten().filter(is_current);
        let hang = state.hangs_since.map(|since| (since, "a call of the store does not return"));
        let all = troubles.map(|trouble| (trouble.since, trouble.why.as_str())).chain(hang);
        let worst = all.min_by_key(|(since, _)| *since);
        Health {
            is_alive: !state.dead,
            late_by: state.next.map_or(Duration::ZERO, |next| next.until(now)),
            store_trouble: worst.map(|(since, why)| (since.until(now), why.to_owned())),
            patience: Duration::from_millis(self.patience_ms),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
