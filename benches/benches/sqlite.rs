//! What a poll and a renewal cost, each beside the same thing written by hand with rusqlite. Only the ratios within one
//! run mean anything: a sync takes as long as the disk likes.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark stops where it fails")]

use benches::contender::{ByHand, Contender};
use benches::contest::{make, on_disk};
use criterion::{Criterion, criterion_group, criterion_main};
use rusqlite::named_params;
use std::hint::black_box;
use std::sync::Arc;
use tempfile::TempDir;
use tenure::clock::{Clock, SystemClock};
use tenure::protocol::{Action, Bound, Fence, HolderId, Reply};
use tenure::store::SqliteStore;
use tests::{holder, lease, request, timing};

/// The shipped store, and a connection with the same settings, on a file each.
struct Rivals {
    store: SqliteStore,
    me: HolderId,
    by_hand: ByHand,
    _directory: TempDir,
}

const RENEW: &str = "UPDATE instance_leases SET expires_at = max(expires_at + 1, :now + 15000)
    WHERE lease_name = 'l' AND holder_id = :me AND fence = :fence AND expires_at > :now";

impl Rivals {
    fn new() -> Self {
        let directory = on_disk();
        let [ours, theirs] = ["ours.db", "theirs.db"].map(|name| directory.path().join(name));
        make(&theirs);
        Self {
            store: SqliteStore::open(ours, Arc::new(SystemClock)).expect("the store opens"),
            me: holder(1, &timing(15_000)),
            by_hand: ByHand::new(&theirs, "l"),
            _directory: directory,
        }
    }

    fn ask(&mut self, action: Action) -> Reply {
        self.store.execute(&[request(&lease("l"), &self.me, action)]).remove(0).expect("an answer")
    }

    /// Both hold the lease, each in its file.
    fn acquire(&mut self) -> (Fence, i64) {
        match (self.ask(Action::Acquire(Bound::Absent)), self.by_hand.try_acquire()) {
            (Reply::Granted(fence), Some(by_hand)) => (fence, by_hand),
            other => unreachable!("a free lease was not granted: {other:?}"),
        }
    }
}

fn poll(c: &mut Criterion) {
    let mut rivals = Rivals::new();
    rivals.acquire();
    let mut group = c.benchmark_group("poll a held lease");
    group.bench_function("tenure", |b| b.iter(|| black_box(rivals.ask(Action::Read))));
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let sql = "SELECT holder_id, fence, expires_at FROM instance_leases WHERE lease_name = 'l'";
            let mut select = rivals.by_hand.connection.prepare_cached(sql).expect("a statement");
            let row = select.query_one([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
            black_box(row.expect("a row"))
        });
    });
}

fn renew(c: &mut Criterion) {
    let mut rivals = Rivals::new();
    let (fence, by_hand) = rivals.acquire();
    let mut group = c.benchmark_group("renew");
    group.bench_function("tenure", |b| {
        b.iter(|| assert_eq!(rivals.ask(Action::Renew(fence)), Reply::Renewed));
    });
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let now = SystemClock.wall().as_unix_millis();
            let mut renew = rivals.by_hand.connection.prepare_cached(RENEW).expect("a statement");
            let me = rivals.by_hand.me();
            let changed = renew.execute(named_params! {":me": me, ":now": now, ":fence": by_hand});
            assert_eq!(changed, Ok(1));
        });
    });
}

criterion_group!(benches, poll, renew);
criterion_main!(benches);
