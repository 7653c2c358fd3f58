//! What all contenders of a trace share: a file, time, and each one's wall clock.

use model::state::Clock as Setting;
use rusqlite::Connection;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tenure::clock::{Bell, Clock, SetClock};
use tenure::protocol::{Durations, LocalTime, Timing, WallTime};
use tests::{TABLE, TempDb};

/// A tick of the model.
pub(super) const TICK_MS: u64 = 1_000;

/// How far ahead a clock jumps that is set wrong, each time it is read: then no clock within the bound comes near it, and
/// of two of them neither can be relied on.
const FAR_MS: i64 = 315_360_000_000;

/// What everybody goes by: a TTL of six ticks, and a margin of one, of which drift and truncation take 3 ms. These clocks
/// neither drift nor truncate, so one that is ahead may be so by the whole margin. A renewal is due after two ticks, and a
/// request is given up after two.
pub(super) fn durations() -> Durations {
    let ms = |ms| Some(Duration::from_millis(ms));
    Durations {
        ttl: Duration::from_millis(6 * TICK_MS),
        renew_every: ms(2 * TICK_MS),
        request_timeout: ms(2 * TICK_MS),
        grace: ms(TICK_MS),
        kill_lead: ms(0),
        max_skew: ms(TICK_MS - 3),
    }
}

/// The same, checked.
pub(super) fn timing() -> Timing {
    durations().check().unwrap()
}

/// Time, which goes on from one trace to the next.
#[derive(Debug, Default)]
pub(super) struct Time {
    local_ms: AtomicU64,
    /// How often a clock that is set wrong was read.
    wrong: AtomicI64,
    /// How many ticks somebody slept who waited for the write lock.
    slept: AtomicU64,
}

impl Time {
    /// The local clocks, which all agree.
    pub(super) fn now(&self) -> LocalTime {
        LocalTime::from_millis(self.local_ms.load(SeqCst))
    }

    /// What a wall clock shows that is not ahead.
    pub(super) fn even_ms(&self) -> i64 {
        SetClock::BEGIN + self.local_ms.load(SeqCst) as i64
    }

    /// A tick passes.
    pub(super) fn tick(&self) {
        self.local_ms.fetch_add(TICK_MS, SeqCst);
    }

    /// Clocks that are set wrong begin anew: rows of earlier traces do not matter.
    pub(super) fn forget(&self) {
        self.wrong.store(0, SeqCst);
    }

    /// How many ticks were slept since this was asked last.
    pub(super) fn slept(&self) -> u64 {
        self.slept.swap(0, SeqCst)
    }
}

/// A contender's clocks.
#[derive(Debug)]
pub(super) struct Clocks {
    time: Arc<Time>,
    setting: AtomicU8,
}

impl Clocks {
    fn new(time: &Arc<Time>) -> Arc<Self> {
        Arc::new(Self { time: Arc::clone(time), setting: AtomicU8::new(0) })
    }

    /// Sets the wall clock.
    pub(super) fn set(&self, setting: Setting) {
        self.setting.store(setting as u8, SeqCst);
    }
}

impl Clock for Clocks {
    fn local(&self) -> LocalTime {
        self.time.now()
    }

    fn wall(&self) -> WallTime {
        let ahead = match self.setting.load(SeqCst) {
            even if even == Setting::Even as u8 => 0,
            ahead if ahead == Setting::Ahead as u8 => TICK_MS as i64,
            _ => FAR_MS * (self.time.wrong.fetch_add(1, SeqCst) + 1),
        };
        WallTime::from_unix_millis(self.time.even_ms() + ahead)
    }

    /// Who waits for the write lock waits as long as whoever has it likes: a tick between two tries, for everybody.
    fn sleep(&self, _: Duration) {
        self.time.tick();
        self.time.slept.fetch_add(1, SeqCst);
    }

    /// Whoever is driven by hand never waits.
    fn wait(&self, _: &Arc<Bell>, _: Option<LocalTime>) {}
}

/// A file, and who meets there. Traces share it, one after the other: each has a lease of its own.
pub(super) struct Ground {
    /// The file.
    pub(super) db: TempDb,
    /// Sees what is in the file, and does to it what nobody foresees.
    pub(super) outsider: Connection,
    /// Time.
    pub(super) time: Arc<Time>,
    /// Each contender's clocks.
    pub(super) clocks: [Arc<Clocks>; 5],
    leases: Mutex<u64>,
}

impl Ground {
    /// A file in WAL mode, or with a rollback journal.
    pub(super) fn new(wal: bool) -> Self {
        let mode = if wal { "WAL" } else { "DELETE" };
        let acts = "CREATE TABLE acts (lease TEXT, fence INTEGER); CREATE TABLE ballast (bytes BLOB);";
        let db = TempDb::in_memory(&format!("PRAGMA journal_mode = {mode}; {TABLE} {acts}"));
        let time = Arc::new(Time::default());
        time.local_ms.store(TICK_MS, SeqCst);
        let clocks = std::array::from_fn(|_| Clocks::new(&time));
        let outsider = db.raw();
        outsider.execute_batch("PRAGMA synchronous = OFF").unwrap();
        Self { db, outsider, time, clocks, leases: Mutex::new(0) }
    }

    /// How many acts have landed in the name of a lease.
    pub(super) fn acts(&self, lease: &str) -> i64 {
        let sql = "SELECT count(*) FROM acts WHERE lease = ?";
        let mut query = self.outsider.prepare_cached(sql).unwrap();
        query.query_row([lease], |row| row.get(0)).unwrap()
    }

    /// A lease that nobody has used.
    pub(super) fn new_lease(&self) -> String {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        *leases += 1;
        format!("trace-{leases}")
    }
}

/// Whether an expiry was written by a clock that was set wrong.
pub(super) fn is_far(expires_at: i64) -> bool {
    expires_at > SetClock::BEGIN + FAR_MS
}
