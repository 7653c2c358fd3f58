//! What a poll, a renewal and an acquire with its release cost, each beside the same thing written by hand with
//! rusqlite. Only the ratios within one run mean anything: a sync takes as long as the disk likes.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark stops where it fails")]

use criterion::{Criterion, criterion_group, criterion_main};
use rusqlite::{Connection, named_params};
use std::hint::black_box;
use std::sync::Arc;
use tenure::clock::{Clock, SystemClock};
use tenure::protocol::{Action, Bound, Fence, Free, HolderId, Reply};
use tenure::store::SqliteStore;
use tests::{TempDb, bound, holder, lease, request, timing};

/// The shipped store, and a connection with the same settings, on a file each.
struct Rivals {
    store: SqliteStore,
    me: HolderId,
    by_hand: Connection,
    _databases: [TempDb; 2],
}

const RENEW: &str = "UPDATE instance_leases SET expires_at = max(expires_at + 1, :now + 15000)
    WHERE lease_name = 'l' AND holder_id = :me AND fence = :fence AND expires_at > :now";
const RELEASE: &str = "UPDATE instance_leases SET expires_at = 0
    WHERE lease_name = 'l' AND holder_id = :me AND fence = :fence";
const ACQUIRE: &str = "INSERT INTO instance_leases VALUES ('l', :me, 1, :now, :now + 15000)
    ON CONFLICT (lease_name) DO UPDATE SET holder_id = excluded.holder_id, fence = fence + 1,
    acquired_at = excluded.acquired_at, expires_at = excluded.expires_at WHERE expires_at <= :now RETURNING fence";

impl Rivals {
    fn new() -> Self {
        let databases = [TempDb::new(), TempDb::new()];
        // Both are opened as stores, for the same table, index and journal mode.
        let [store, _] = databases.each_ref().map(|db| db.store(&Arc::new(SystemClock)));
        let by_hand = Connection::open(databases[1].path()).expect("a connection");
        by_hand.pragma_update(None, "synchronous", "EXTRA").expect("a setting");
        Self { store, me: holder(1, &timing(15_000)), by_hand, _databases: databases }
    }

    fn ask(&mut self, action: Action) -> Reply {
        self.store.execute(&[request(&lease("l"), &self.me, action)]).remove(0).expect("an answer")
    }

    fn acquire(&mut self, bound: Bound) -> Fence {
        match self.ask(Action::Acquire(bound)) {
            Reply::Granted(fence) => fence,
            reply => unreachable!("a free lease was not granted: {reply:?}"),
        }
    }

    /// The row after our own release.
    fn own(&self, fence: Fence) -> Bound {
        bound(self.me.as_str(), fence.get(), Free::AfterExpiry { slack_ms: 0 })
    }

    fn acquire_by_hand(&self) -> i64 {
        let now = SystemClock.wall().as_unix_millis();
        let mut acquire = self.by_hand.prepare_cached(ACQUIRE).expect("a statement");
        acquire
            .query_one(named_params! {":me": self.me.as_str(), ":now": now}, |row| row.get(0))
            .expect("a fence")
    }
}

fn poll(c: &mut Criterion) {
    let mut rivals = Rivals::new();
    rivals.acquire(Bound::Absent);
    rivals.acquire_by_hand();
    let mut group = c.benchmark_group("poll a held lease");
    group.bench_function("tenure", |b| b.iter(|| black_box(rivals.ask(Action::Read))));
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let sql = "SELECT holder_id, fence, expires_at FROM instance_leases WHERE lease_name = 'l'";
            let mut select = rivals.by_hand.prepare_cached(sql).expect("a statement");
            let row = select.query_one([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
            black_box(row.expect("a row"))
        });
    });
}

fn renew(c: &mut Criterion) {
    let mut rivals = Rivals::new();
    let fence = rivals.acquire(Bound::Absent);
    let by_hand = rivals.acquire_by_hand();
    let mut group = c.benchmark_group("renew");
    group.bench_function("tenure", |b| {
        b.iter(|| assert_eq!(rivals.ask(Action::Renew(fence)), Reply::Renewed));
    });
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let now = SystemClock.wall().as_unix_millis();
            let mut renew = rivals.by_hand.prepare_cached(RENEW).expect("a statement");
            let changed =
                renew.execute(named_params! {":me": rivals.me.as_str(), ":now": now, ":fence": by_hand});
            assert_eq!(changed, Ok(1));
        });
    });
}

fn acquire_and_release(c: &mut Criterion) {
    let mut rivals = Rivals::new();
    let mut fence = rivals.acquire(Bound::Absent);
    rivals.ask(Action::Release(fence));
    let mut group = c.benchmark_group("acquire and release");
    group.bench_function("tenure", |b| {
        b.iter(|| {
            fence = rivals.acquire(rivals.own(fence));
            assert_eq!(rivals.ask(Action::Release(fence)), Reply::Released);
        });
    });
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let fence = rivals.acquire_by_hand();
            let mut release = rivals.by_hand.prepare_cached(RELEASE).expect("a statement");
            let changed = release.execute(named_params! {":me": rivals.me.as_str(), ":fence": fence});
            assert_eq!(changed, Ok(1));
        });
    });
}

criterion_group!(benches, poll, renew, acquire_and_release);
criterion_main!(benches);
