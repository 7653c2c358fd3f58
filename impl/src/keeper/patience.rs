//! Asking a busy store again.

use crate::clock::Clock;
use crate::protocol::Request;
use crate::random;
use crate::store::{Answer, StoreError};
use std::time::Duration;

/// How long the write lock is waited for between two tries: doubling from the first to the last. SQLite's own
/// busy handler lets one of many processes take nearly every turn; this shares them.
const RETRY_FIRST: Duration = Duration::from_micros(50);
const RETRY_LAST: Duration = Duration::from_millis(1);

/// So long before a request is given up on it is not tried again: then the answer that the file is busy still reaches
/// whoever asked, and this thread is not taken for one that hangs.
const ANSWER_LEAD_MS: u64 = 5;

/// Carries out a batch; what found the store busy is asked again, each until it is given up on. What was given up on
/// before it was begun is not begun.
pub(super) fn execute(
    mut carry_out: impl FnMut(&[Request]) -> Vec<Answer>,
    clock: &dyn Clock,
    batch: &[Request],
) -> Vec<Answer> {
    let mut answers: Vec<Answer> = batch.iter().map(|_| Err(StoreError::NotBegun)).collect();
    let mut open: Vec<usize> = (0..batch.len()).collect();
    let mut pauses = Pauses::default();
    let mut lead_ms = 0;
    loop {
        let now = clock.local();
        open.retain(|i| now < batch[*i].give_up_at.minus(lead_ms));
        if open.is_empty() {
            return answers;
        }
        pauses.take(clock);
        let again: Vec<Request> = open.iter().map(|i| batch[*i].clone()).collect();
        for (i, answer) in open.iter().zip(carry_out(&again)) {
            answers[*i] = answer;
        }
        open.retain(|i| answers[*i].as_ref().is_err_and(StoreError::is_busy));
        lead_ms = ANSWER_LEAD_MS;
    }
}

/// Pauses between tries, jittered.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Option<Duration>);

impl Pauses {
    /// None before the first try.
    pub(crate) fn take(&mut self, clock: &dyn Clock) {
        if let Some(pause) = self.0 {
            clock.sleep(pause.mul_f64(0.5 + (random::roll() % 1024) as f64 / 1024.0));
        }
        self.0 = Some(self.0.map_or(RETRY_FIRST, |pause| (pause * 2).min(RETRY_LAST)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SetClock;
    use crate::protocol::{
        Action, Bound, Durations, HolderId, Label, LeaseName, LocalTime, Reply, RequestId,
    };
    use crate::store::SqliteStore;
    use std::sync::Arc;

    /// A real file that another connection locks, and that is free again when the clock comes to a moment.
    #[derive(Debug)]
    struct Stage {
        directory: tempfile::TempDir,
        clock: Arc<SetClock>,
    }

    impl Stage {
        fn new() -> Self {
            Self { directory: tempfile::tempdir().unwrap(), clock: SetClock::new() }
        }

        fn file(&self) -> std::path::PathBuf {
            self.directory.path().join("leases.db")
        }

        fn store(&self) -> SqliteStore {
            SqliteStore::open(self.file(), Arc::clone(&self.clock) as Arc<dyn Clock>).unwrap()
        }

        fn lock(&self) -> rusqlite::Connection {
            let other = rusqlite::Connection::open(self.file()).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            other
        }
    }

    /// The other connection lets go after so many tries.
    #[derive(Debug)]
    struct LetsGoAfter {
        tries: u32,
        other: Option<rusqlite::Connection>,
        store: SqliteStore,
    }

    impl LetsGoAfter {
        fn execute(&mut self, batch: &[Request]) -> Vec<Answer> {
            self.tries -= 1;
            if self.tries == 0 {
                self.other = None;
            }
            self.store.execute(batch)
        }
    }

    fn acquire(lease: &str, give_up_at: LocalTime) -> Request {
        let holder = HolderId::new(&Label::new("test").unwrap(), 1, &Durations::default().check().unwrap());
        let lease = LeaseName::new(lease).unwrap();
        Request { id: RequestId::new(1), lease, holder, give_up_at, action: Action::Acquire(Bound::Absent) }
    }

    #[test]
    fn a_busy_file_is_tried_again_until_it_is_free() {
        let stage = Stage::new();
        let store = stage.store();
        let mut store = LetsGoAfter { tries: 50, other: Some(stage.lock()), store };
        let request = acquire("worker", LocalTime::from_millis(u64::MAX));
        let answers = execute(|batch| store.execute(batch), &*stage.clock, &[request]);
        assert!(matches!(&answers[..], [Ok(Reply::Granted(_))]), "{answers:?}");
        assert_eq!(store.tries, 0);
    }

    #[test]
    fn a_busy_file_is_not_tried_for_longer_than_the_request_lasts() {
        let stage = Stage::new();
        let (mut store, _other) = (stage.store(), stage.lock());
        let give_up_at = stage.clock.local().plus(500);
        let answers = execute(|batch| store.execute(batch), &*stage.clock, &[acquire("worker", give_up_at)]);
        assert!(matches!(&answers[..], [Err(StoreError::Busy)]), "{answers:?}");
        let ended = stage.clock.local();
        assert!(ended >= give_up_at.minus(ANSWER_LEAD_MS) && ended < give_up_at, "in time to be told");
    }

    #[test]
    fn a_request_that_nobody_waits_for_any_more_is_not_begun() {
        let stage = Stage::new();
        let mut store = stage.store();
        let now = stage.clock.local();
        let batch = [acquire("late", now), acquire("worker", now.plus(1_000))];
        let answers = execute(|batch| store.execute(batch), &*stage.clock, &batch);
        assert!(matches!(&answers[..], [Err(StoreError::NotBegun), Ok(Reply::Granted(_))]), "{answers:?}");
        let again = execute(|batch| store.execute(batch), &*stage.clock, &[acquire("late", now.plus(1_000))]);
        assert!(matches!(&again[..], [Ok(Reply::Granted(fence))] if fence.get() == 1), "{again:?}");
    }
}
