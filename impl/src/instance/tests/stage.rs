//! Records that are kept in memory, and fail, hang, or are written by somebody else when a test says so.

use super::record::record;
use crate::clock::{Clock, SetClock, SystemClock};
use crate::instance::shared::lock;
use crate::instance::{Claim, Guard, Options, Record, Records, RecordsError, Seen};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

pub(super) const TTL_MS: u32 = 12_000;
pub(super) const SETTLE_MS: u32 = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct Cell(Arc<(Mutex<Kept>, Condvar)>);

#[derive(Debug, Default)]
struct Kept {
    bytes: Option<Vec<u8>>,
    calls: usize,
    /// The first call that fails, counted from now, or hangs.
    fails_after: Option<usize>,
    hangs_after: Option<usize>,
    hanging: bool,
    panics: bool,
}

impl Cell {
    pub(super) fn of(record: &Record) -> Self {
        let cell = Self::default();
        cell.put(Some(record.to_json().as_bytes()));
        cell
    }

    /// Somebody else writes.
    pub(super) fn put(&self, bytes: Option<&[u8]>) {
        lock(&self.0.0).bytes = bytes.map(<[u8]>::to_vec);
    }

    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        lock(&self.0.0).bytes.clone()
    }

    pub(super) fn record(&self) -> Option<Record> {
        match Seen::of(self.bytes().as_deref()) {
            Seen::Record(record) => Some(record),
            Seen::Absent => None,
            Seen::Unreadable(why) => panic!("{why}"),
        }
    }

    pub(super) fn calls(&self) -> usize {
        lock(&self.0.0).calls
    }

    /// So many calls go well, then all fail; `None`: none does.
    pub(super) fn fail_after(&self, calls: Option<usize>) {
        lock(&self.0.0).fails_after = calls;
    }

    /// So many calls go well, then they hang, until this is taken back: then they do what they were to do.
    pub(super) fn hang_after(&self, calls: Option<usize>) {
        lock(&self.0.0).hangs_after = calls;
        self.0.1.notify_all();
    }

    pub(super) fn panic_from_now(&self) {
        lock(&self.0.0).panics = true;
    }

    fn call<T>(&self, what: impl FnOnce(&mut Option<Vec<u8>>) -> T) -> Result<T, RecordsError> {
        let mut kept = lock(&self.0.0);
        kept.calls += 1;
        assert!(!kept.panics, "as it was told to");
        if due(&mut kept.fails_after) {
            return Err("the share is gone".into());
        }
        if due(&mut kept.hangs_after) {
            kept.hanging = true;
            kept = self.0.1.wait_while(kept, |kept| kept.hangs_after.is_some()).unwrap();
            kept.hanging = false;
        }
        Ok(what(&mut kept.bytes))
    }
}

/// Counts down to zero, and stays there.
fn due(after: &mut Option<usize>) -> bool {
    match after {
        Some(0) => true,
        Some(left) => {
            *left -= 1;
            false
        }
        None => false,
    }
}

impl Records for Cell {
    fn read(&mut self) -> Result<Option<Vec<u8>>, RecordsError> {
        self.call(|bytes| bytes.clone())
    }

    fn write(&mut self, record: &[u8]) -> Result<(), RecordsError> {
        self.call(|bytes| *bytes = Some(record.to_vec()))
    }

    fn delete(&mut self) -> Result<(), RecordsError> {
        self.call(|bytes| *bytes = None)
    }
}

pub(super) struct Stage {
    pub(super) cell: Cell,
    pub(super) clock: Arc<SetClock>,
    pub(super) guard: Guard,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::on(Cell::default())
    }

    pub(super) fn on(cell: Cell) -> Self {
        let clock = SetClock::new();
        let guard = guard(&cell, clock.clone());
        Self { cell, clock, guard }
    }

    /// Another instance's record, which was renewed so long ago.
    pub(super) fn beside_another(renewed_ago_ms: i64) -> Self {
        Self::on(Cell::of(&record("other", SetClock::BEGIN - renewed_ago_ms, TTL_MS.into())))
    }

    /// A claim that stands: nobody else is there.
    pub(super) fn claim(&self) -> Claim {
        let claim = self.guard.claim();
        self.clock.settle(2);
        self.clock.advance(SETTLE_MS);
        claim.wait().unwrap()
    }

    /// Time passes in small steps; after each, all that follows has happened: so many threads wait by the clock.
    pub(super) fn pass(&self, ms: u32, threads: usize) {
        for _ in 0..ms / 50 {
            self.clock.advance(50);
            self.clock.settle(threads);
        }
    }

    pub(super) fn text_of_refusal(&self) -> String {
        let text = self.guard.claim().wait().unwrap_err().to_string();
        self.over();
        text
    }

    /// Waits until a call hangs, and all else that is to happen has: one thread waits by the clock, and not that of the
    /// records.
    pub(super) fn hangs(&self) {
        eventually(|| lock(&self.cell.0.0).hanging);
        self.clock.settle(1);
    }

    /// Waits until no claim's threads are left, and all that they were to do is done.
    pub(super) fn over(&self) {
        are_left(&self.guard, 0);
    }

    pub(super) fn now(&self) -> i64 {
        self.clock.wall().as_unix_millis()
    }
}

/// Waits until a guard's claims that have not ended are so many: each has a thread of the records, which is the last to end.
pub(super) fn are_left(guard: &Guard, claims: usize) {
    eventually(|| Arc::strong_count(&guard.records) == 1 + claims);
}

pub(super) fn eventually(mut is_so: impl FnMut() -> bool) {
    let give_up_at = SystemClock.local().plus(30_000);
    while !is_so() {
        assert!(SystemClock.local() < give_up_at, "waited in vain");
        SystemClock.sleep(Duration::from_millis(1));
    }
}

pub(super) fn guard(cell: &Cell, clock: Arc<dyn Clock>) -> Guard {
    let options = Options {
        ttl: Duration::from_millis(TTL_MS.into()),
        settle: Some(Duration::from_millis(SETTLE_MS.into())),
        label: Some("me".into()),
        clock,
    };
    Guard::new(cell.clone(), options).unwrap()
}
