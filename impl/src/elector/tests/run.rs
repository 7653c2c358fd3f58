//! Work that runs while a lease is held.

use super::stage::{Fault, Stage, VALIDITY_MS, eventually};
use crate::elector::{AcquireError, Elector, Held};
use crate::protocol::Loss;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Runs blocking work on a thread of its own, beside what the test does.
fn beside<T: Send>(
    elector: &Elector,
    work: impl FnMut(&Held) -> T + Send,
    test: impl FnOnce(),
) -> Result<T, AcquireError> {
    std::thread::scope(|threads| {
        #[allow(clippy::disallowed_methods, reason = "the work's thread")]
        let running = threads.spawn(move || elector.run_blocking("worker", work));
        test();
        running.join().unwrap()
    })
}

#[test]
fn the_works_value_is_returned_and_the_lease_given_back() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let fence = elector.run_blocking("worker", |held| held.check().unwrap().get());
    assert_eq!(fence.unwrap(), 1);
    assert!(stage.is_released("worker"));
    assert_eq!(elector.run_blocking("worker", |held| held.fence().get()).unwrap(), 2);
}

/// Only a loss has it contend again; and not before the work has returned (SPEC.md R6.4).
#[test]
fn blocking_work_that_lost_its_lease_is_waited_for_and_run_again() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let (fences, returned) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = |held: &Held| {
        fences.lock().unwrap().push(held.fence().get());
        if held.fence().get() == 1 {
            eventually(|| (!held.is_held() && returned.load(SeqCst) > 0).then_some(()));
        }
        held.fence().get()
    };
    let value = beside(&elector, work, || {
        eventually(|| (!fences.lock().unwrap().is_empty()).then_some(()));
        stage.clock.settle(2);
        stage.faults.all(Fault::Fails);
        stage.clock.advance(u32::try_from(VALIDITY_MS).unwrap());
        stage.clock.settle(2);
        stage.faults.lift();
        stage.pass(60_000, 2);
        assert_eq!(*fences.lock().unwrap(), [1], "the work has not returned yet");
        returned.store(1, SeqCst);
        eventually(|| {
            stage.clock.advance(50);
            (fences.lock().unwrap().len() == 2).then_some(())
        });
    });
    assert_eq!(value.unwrap(), 2);
    assert_eq!(*fences.lock().unwrap(), [1, 2]);
}

/// Told to stop by a blackout that then ends: the work has not done what it was for.
#[test]
fn work_that_was_told_to_stop_by_a_blackout_is_run_again_though_the_lease_was_kept() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let runs = AtomicUsize::new(0);
    let work = |held: &Held| {
        if runs.fetch_add(1, SeqCst) == 0 {
            held.stopping().wait();
        }
        held.is_held()
    };
    let value = beside(&elector, work, || {
        stage.clock.settle(3);
        stage.faults.all(Fault::Fails);
        stage.pass(VALIDITY_MS - 3_750 - 46, 3);
        stage.faults.lift();
        stage.clock.advance(50);
        eventually(|| {
            stage.clock.advance(50);
            (runs.load(SeqCst) == 2).then_some(())
        });
    });
    assert!(value.unwrap());
    assert_eq!(elector.counters().lost_deadline_passed, 0);
    assert_eq!(elector.counters().releases, 2);
}

#[test]
fn after_a_shutdown_the_value_of_work_that_wound_down_is_returned() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let work = |held: &Held| {
        held.stopping().wait();
        "wound down"
    };
    let value = beside(&elector, work, || {
        stage.clock.settle(3);
        assert_eq!(elector.shutdown(Duration::from_secs(60)).wait(), Ok(()));
    });
    assert_eq!(value.unwrap(), "wound down");
    assert!(stage.is_released("worker"));
    assert!(matches!(elector.run_blocking("worker", |_| ()), Err(AcquireError::ShutDown)));
}

/// SPEC.md R6.3.
#[test]
fn blocking_work_that_panics_gives_nothing_back() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        elector.run_blocking("worker", |_| panic!("the work panics, as the test wants"))
    }));
    assert!(panicked.is_err());
    stage.clock.settle(2);
    stage.pass(30_000, 2);
    assert!(stage.row("worker").is_some() && !stage.is_released("worker"));
    // The thread that panicked can lead again, once the lease has run out.
    assert_eq!(elector.acquire("worker").wait().unwrap().fence().get(), 2);
}

/// The work has returned: whoever has a clone left has lost it, and is told before the lease is anybody else's.
#[test]
fn when_the_work_returns_its_clones_hold_nothing_any_more() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let clone = elector.run_blocking("worker", Held::clone).unwrap();
    assert_eq!(clone.check(), Err(Loss::GivenBack));
    assert!(stage.is_released("worker"));
    assert_eq!(elector.counters().losses(), 0);
    assert_eq!(elector.run_blocking("worker", |held| held.fence().get()).unwrap(), 2);
}
