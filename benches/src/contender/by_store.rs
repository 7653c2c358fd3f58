//! The crate's requests alone, on the thread that wants the lease: a read, an acquire bound to what was read, a release.

use super::{Contender, PAUSE, TTL, pause};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tenure::clock::SystemClock;
use tenure::protocol::{Action, Bound, Durations, Fence, Free, HolderId, Label, LeaseName, Reply, Seen};
use tenure::store::{OpenError, SqliteStore, StoreError};
use tests::{eventually, request};

/// The crate asks a busy store again after this, which doubles up to a millisecond.
const RETRY_FIRST: Duration = Duration::from_micros(50);

pub(super) struct ByStore {
    store: SqliteStore,
    lease: LeaseName,
    me: HolderId,
    fence: Option<Fence>,
}

fn open(file: &Path) -> Option<SqliteStore> {
    match SqliteStore::open(file, Arc::new(SystemClock)) {
        Err(OpenError::Busy { .. }) => None,
        opened => Some(opened.expect("a store")),
    }
}

impl ByStore {
    pub(super) fn new(file: &Path, lease: &str) -> Self {
        let timing = Durations { ttl: TTL, ..Durations::default() }.check().expect("durations");
        let nonce = tenure::random::nonce().expect("a random number");
        Self {
            store: eventually("the file is not busy", || open(file)),
            lease: LeaseName::new(lease).expect("a name"),
            me: HolderId::new(&Label::new("bench").expect("a label"), nonce, &timing),
            fence: None,
        }
    }

    fn ask(&mut self, action: Action) -> Reply {
        let request = request(&self.lease, &self.me, action);
        let mut wait = RETRY_FIRST;
        loop {
            match self.store.execute(std::slice::from_ref(&request)).remove(0) {
                Err(StoreError::Busy) => pause(wait),
                answer => return answer.expect("an answer"),
            }
            wait = (wait * 2).min(PAUSE);
        }
    }
}

impl Contender for ByStore {
    fn try_acquire(&mut self) -> Option<i64> {
        let bound = match self.ask(Action::Read) {
            Reply::Seen { seen: Seen::Absent, .. } => Bound::Absent,
            Reply::Seen { seen: Seen::Row(row), .. } if row.is_released() => {
                let free = Free::AfterExpiry { slack_ms: 0 };
                Bound::Seen { holder: row.holder, fence: row.fence, free }
            }
            _ => return None,
        };
        match self.ask(Action::Acquire(bound)) {
            Reply::Granted(fence) => Some(self.fence.insert(fence).get()),
            _ => None,
        }
    }

    fn release(&mut self) {
        let fence = self.fence.take().expect("it holds");
        assert_eq!(self.ask(Action::Release(fence)), Reply::Released);
    }
}
