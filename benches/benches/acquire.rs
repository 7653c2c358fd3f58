//! An acquire with its release, of each kind, by the number of threads that contend for one lease; and `is_held()` beside
//! a bare reading of the clock. Kinds are not interleaved here: for their ratios see the program `contention`.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark stops where it fails")]

use benches::contender::Kind;
use benches::contest::{Leases, Setting, Who, on_disk, race};
use benches::figures::Figures;
use benches::rounds::kinds;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tenure::Elector;
use tenure::clock::{Clock, SystemClock};

/// How long so many tenures take.
fn time(kind: Kind, setting: Setting, tenures: u64) -> Duration {
    Duration::from_secs_f64(tenures as f64 / Figures::new(&race(kind, setting, tenures)).rate)
}

fn acquire_and_release(c: &mut Criterion) {
    let mut group = c.benchmark_group("acquire and release");
    group.sample_size(10);
    for contenders in [1, 2, 4, 8, 16] {
        let setting = Setting { who: Who::Threads, leases: Leases::One, contenders };
        for kind in kinds(setting) {
            let id = BenchmarkId::new(kind.name(), contenders);
            group.bench_function(id, |b| b.iter_custom(|tenures| time(kind, setting, tenures)));
        }
    }
}

fn is_held(c: &mut Criterion) {
    let directory = on_disk();
    let elector = Elector::builder(directory.path().join("leases.db")).build().expect("an elector");
    let held = elector.acquire("lease").wait().expect("a lease");
    let mut group = c.benchmark_group("is_held");
    group.bench_function("tenure", |b| b.iter(|| black_box(&held).is_held()));
    group.bench_function("the clock alone", |b| b.iter(|| SystemClock.local()));
}

criterion_group!(benches, acquire_and_release, is_held);
criterion_main!(benches);
