//! What `tracing` is told.

use super::page::Page;
use super::stage::{Fault, Stage, TTL_MS, eventually};
use tracing::{Dispatch, Level};
use tracing_subscriber::fmt::MakeWriter;

/// With lease, fence and holder; and nothing else at info, whatever goes on.
#[test]
fn each_change_of_custody_is_told_once_and_nothing_else_is() {
    let (stage, page) = (Stage::new(), Page::default());
    tracing::dispatcher::with_default(&page.subscriber(Level::INFO), || {
        let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
        let held = one.acquire("worker");
        let _waiting = super::stage::look(&mut other.elector().acquire("worker"));
        other.pass(5_000);
        one.pass(60_000);
        drop(held);
        one.settle();
        let held = one.acquire("worker");
        stage.faults.all(Fault::Fails);
        one.pass(TTL_MS);
        drop(held);
        stage.faults.lift();
        let held = one.acquire("worker");
        held.0.abandon();
        one.pass(TTL_MS);
        drop(held);
        let held = one.acquire("another");
        drop(held);
        stage.faults.all(Fault::Fails);
        one.pass(5_000);
    });
    let told: Vec<String> = page.lines();
    let short = |line: &String| {
        let line = line.split(" holder=tenure1:wallclock:15000:").collect::<Vec<_>>();
        let rest = line[1].split_once(":test").unwrap();
        assert_eq!(rest.0.len(), 16, "a nonce");
        format!("{}{}", line[0].trim(), rest.1)
    };
    let told: Vec<String> = told.iter().map(short).collect();
    assert_eq!(
        told,
        [
            "INFO acquired lease=worker fence=1",
            "INFO released lease=worker fence=1",
            "INFO acquired lease=worker fence=2",
            "WARN lost lease=worker fence=2 reason=no renewal was confirmed before the deadline",
            "INFO acquired lease=worker fence=3",
            "WARN not released, since its work was not seen to stop: the lease runs out lease=worker fence=3",
            "WARN lost lease=worker fence=3 reason=no renewal was confirmed before the deadline",
            "INFO acquired lease=another fence=1",
            "WARN not released, since the store did not confirm it: the lease runs out lease=another fence=1",
        ]
    );
}

/// A subscriber that writes to a pipe which nobody reads costs no lease, and delays no loss.
#[test]
fn a_subscriber_that_blocks_delays_nothing() {
    let (stage, page) = (Stage::new(), Page::blocked());
    tracing::dispatcher::with_default(&page.subscriber(Level::TRACE), || {
        let elector = stage.with_threads();
        let held = elector.acquire("worker").wait().unwrap();
        stage.clock.settle(2);
        stage.pass(3 * TTL_MS, 2);
        assert!(held.is_held());
        let mut lost = held.lost();
        stage.faults.all(Fault::Fails);
        stage.pass(TTL_MS, 2);
        assert!(super::stage::look(&mut lost).is_some());
        page.unblock();
        eventually(|| page.lines().iter().any(|line| line.contains("lost")).then_some(()));
    });
}

/// The process may end when its last handle is gone.
#[test]
fn the_last_handle_waits_until_the_last_event_is_told() {
    let (stage, page) = (Stage::new(), Page::blocked());
    tracing::dispatcher::with_default(&page.subscriber(Level::INFO), || {
        let elector = stage.with_threads();
        drop(elector.acquire("worker").wait().unwrap());
        std::thread::scope(|threads| {
            #[allow(clippy::disallowed_methods, reason = "the test's thread")]
            threads.spawn(|| {
                crate::clock::Clock::sleep(&crate::clock::SystemClock, std::time::Duration::from_millis(100));
                page.unblock();
            });
            drop(elector);
            assert!(page.lines().iter().any(|line| line.contains("released")), "{:?}", page.lines());
        });
    });
}

/// One event at which a subscriber panics is lost, and no other.
#[test]
fn a_subscriber_that_panics_once_is_told_the_next_event() {
    struct Panics(Page, std::sync::atomic::AtomicBool);

    impl<'a> MakeWriter<'a> for Panics {
        type Writer = Page;

        fn make_writer(&'a self) -> Page {
            assert!(
                self.1.swap(true, std::sync::atomic::Ordering::SeqCst),
                "the subscriber panics, as the test wants"
            );
            self.0.clone()
        }
    }

    let (stage, page) = (Stage::new(), Page::default());
    let writer = Panics(page.clone(), std::sync::atomic::AtomicBool::new(false));
    let subscriber = Dispatch::new(tracing_subscriber::fmt().with_writer(writer).finish());
    tracing::dispatcher::with_default(&subscriber, || {
        let elector = stage.with_threads();
        drop(elector.acquire("worker").wait().unwrap());
    });
    assert!(page.lines().iter().any(|line| line.contains("released")), "{:?}", page.lines());
}
