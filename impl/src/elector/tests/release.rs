//! A lease is given back when its work has stopped, and not before: SPEC.md R6.

use super::stage::{Fault, Stage, TTL_MS, VALIDITY_MS, look};
use crate::elector::AcquireError;
use crate::keeper::NotReleased;
use crate::protocol::{Action, Loss};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[test]
fn the_lease_is_given_back_when_the_last_clone_is_dropped() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let clone = held.clone();
    drop(held);
    one.pass(60_000);
    assert!(clone.is_held(), "it is renewed for as long as anybody has it");
    assert!(!stage.is_released("worker"));
    drop(clone);
    one.settle();
    assert!(stage.is_released("worker"));
}

#[test]
fn a_release_takes_the_lease_from_its_clones_before_it_is_sent() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let clone = held.clone();
    let (mut release, mut lost) = (held.release(), clone.lost());
    one.keeper.step(crate::clock::Clock::local(&*stage.clock));
    assert_eq!(look(&mut lost), Some(Loss::GivenBack));
    assert!(!clone.is_held());
    assert!(!stage.is_released("worker"), "it lies on the store thread's desk");
    one.settle();
    assert_eq!(look(&mut release), Some(Ok(())));
    assert!(stage.is_released("worker"));
    assert_eq!(one.elector().counters().lost_released, 0, "no loss");
}

#[test]
fn a_release_that_is_not_answered_is_tried_for_the_request_timeout() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let mut release = one.acquire("worker").release();
    stage.faults.all(Fault::Fails);
    one.pass(1_000);
    assert!(look(&mut release).is_none());
    one.pass(1_500);
    assert_eq!(look(&mut release), Some(Err(NotReleased::RunsOut)));
    stage.faults.lift();
    one.pass(60_000);
    assert!(!stage.is_released("worker"));
}

#[test]
fn a_release_of_a_lost_lease_says_that_it_was_lost() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    stage.faults.all(Fault::Fails);
    one.pass(TTL_MS);
    let mut release = held.release();
    one.settle();
    assert_eq!(look(&mut release), Some(Err(NotReleased::Lost(Loss::DeadlinePassed))));
}

/// SPEC.md R6.3, and nothing is renewed any more.
#[test]
fn a_lease_that_is_dropped_in_a_panic_runs_out() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let left = held.clone();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _held = held;
        panic!("the work panics, as the test wants");
    }));
    assert!(panicked.is_err());
    let expires_at = stage.row("worker").unwrap().expires_at;
    one.pass(VALIDITY_MS - 1);
    assert!(left.is_held(), "what was left may believe until the deadline");
    one.pass(1);
    assert!(!left.is_held());
    drop(left);
    one.pass(60_000);
    let row = stage.row("worker").unwrap();
    assert_eq!(row.expires_at, expires_at, "neither renewed nor released");
}

#[test]
fn after_a_panic_the_same_process_waits_like_any_other() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let _ = catch_unwind(AssertUnwindSafe(move || {
        let _held = held;
        panic!("the work panics, as the test wants");
    }));
    let mut again = one.elector().acquire("worker");
    assert!(look(&mut again).is_none());
    one.pass(TTL_MS - 1);
    assert!(look(&mut again).is_none());
    one.pass(2_000);
    assert_eq!(look(&mut again).unwrap().unwrap().fence().get(), 2);
}

/// SPEC.md R6: renewed while the work winds down, given back when it has stopped.
#[test]
fn a_shutdown_renews_until_the_work_has_stopped_then_gives_the_lease_back() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    assert!(!held.should_stop());
    let mut shutdown = one.elector().shutdown(Duration::from_secs(300));
    let mut waiting = one.elector().acquire("another");
    one.settle();
    assert!(held.should_stop() && held.is_held());
    assert!(look(&mut waiting).is_none(), "asked only now");
    one.settle();
    assert!(matches!(look(&mut waiting), Some(Err(AcquireError::ShutDown))));
    one.pass(120_000);
    assert!(held.is_held());
    assert!(look(&mut shutdown).is_none());
    drop(held);
    one.settle();
    assert_eq!(look(&mut shutdown), Some(Ok(())));
    assert!(stage.is_released("worker"));
}

/// SPEC.md R6.3.
#[test]
fn work_that_has_not_stopped_within_the_grace_of_a_shutdown_is_left_to_run_out() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let (held, other) = (one.acquire("worker"), one.acquire("another"));
    let mut shutdown = one.elector().shutdown(Duration::from_secs(30));
    drop(other);
    one.pass(29_999);
    assert!(look(&mut shutdown).is_none());
    one.pass(1);
    let left = look(&mut shutdown).unwrap().unwrap_err();
    assert_eq!(left.to_string(), "work has not stopped in time; left to run out: worker");
    assert!(stage.is_released("another"));
    let expires_at = stage.row("worker").unwrap().expires_at;
    assert!(held.is_held(), "until its deadline");
    one.pass(TTL_MS);
    assert!(!held.is_held());
    drop(held);
    one.pass(60_000);
    assert_eq!(stage.row("worker").unwrap().expires_at, expires_at);
}

#[test]
fn a_shutdown_ends_who_waits() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let _held = other.acquire("worker");
    let (mut first, mut second) = (one.elector().acquire("worker"), one.elector().acquire("worker"));
    assert!(look(&mut first).is_none() && look(&mut second).is_none());
    one.pass(5_000);
    let mut shutdown = one.elector().shutdown(Duration::ZERO);
    one.settle();
    assert!(matches!(look(&mut first), Some(Err(AcquireError::ShutDown))));
    assert!(matches!(look(&mut second), Some(Err(AcquireError::ShutDown))));
    assert_eq!(look(&mut shutdown), Some(Ok(())));
}

#[test]
fn a_dropped_elector_waits_for_what_is_being_given_back() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    drop(held);
    drop(elector);
    assert!(stage.is_released("worker"));
}

#[test]
fn a_dropped_elector_waits_also_where_other_handles_live_on() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let (held, _observer) = (elector.acquire("worker").wait().unwrap(), elector.observe("worker").unwrap());
    drop(held);
    drop(elector);
    assert!(stage.is_released("worker"));
}

#[test]
fn what_is_held_outlives_its_elector() {
    let stage = Stage::new();
    let held = stage.with_threads().acquire("worker").wait().unwrap();
    stage.clock.settle(2);
    stage.pass(60_000, 2);
    assert!(held.is_held());
    drop(held);
    super::stage::eventually(|| stage.is_released("worker").then_some(()));
    // And its threads end.
    stage.clock.settle(0);
}

#[test]
fn a_dropped_elector_waits_for_a_hung_store_no_longer_than_the_request_timeout() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    stage.faults.set(|request| matches!(request.action, Action::Release(_)).then_some(Fault::Hangs));
    drop(held);
    std::thread::scope(|threads| {
        #[allow(clippy::disallowed_methods, reason = "the test's thread")]
        let dropping = threads.spawn(move || drop(elector));
        super::stage::eventually(|| {
            (stage.faults.hanging.load(std::sync::atomic::Ordering::SeqCst) > 0).then_some(())
        });
        // The timer thread, and the one that drops the elector.
        stage.clock.settle(2);
        stage.clock.advance(2_499);
        stage.clock.settle(2);
        assert!(!dropping.is_finished());
        stage.clock.advance(1);
        dropping.join().unwrap();
    });
    stage.faults.lift();
}

/// SPEC.md R6.4: one panics, others work on with their clones; until they have gone nobody contends again.
#[test]
fn after_a_panic_nobody_contends_before_the_other_clones_are_gone() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let clone = held.clone();
    #[allow(clippy::disallowed_methods, reason = "the test's thread")]
    let panicked = std::thread::spawn(move || {
        let _held = held;
        panic!("the work panics, as the test wants");
    });
    assert!(panicked.join().is_err());
    let mut again = one.elector().acquire("worker");
    assert!(look(&mut again).is_none());
    one.settle();
    assert!(clone.should_stop() && clone.is_held(), "it is told at once, and may believe until the deadline");
    one.pass(60_000);
    assert!(!clone.is_held());
    assert!(look(&mut again).is_none(), "its work may still run");
    drop(clone);
    one.pass(2_000);
    assert_eq!(look(&mut again).unwrap().unwrap().fence().get(), 2);
}

/// SPEC.md R7.5: in each state of an acquire; it is granted to nobody, or not at all.
#[test]
fn a_shutdown_in_any_state_of_an_acquire_leaves_nothing_held() {
    for events in 0..12 {
        let stage = Stage::new();
        let mut one = stage.by_hand(1);
        let mut acquire = one.elector().acquire("worker");
        assert!(look(&mut acquire).is_none());
        for event in 0..events {
            if event % 2 == 0 {
                one.keeper.step(crate::clock::Clock::local(&*stage.clock));
            } else {
                one.keeper.serve();
            }
        }
        let mut shutdown = one.elector().shutdown(Duration::ZERO);
        one.settle();
        // A grant that was on its way may still be taken; nothing is left of it then, either.
        drop(look(&mut acquire).unwrap());
        one.settle();
        assert_eq!(look(&mut shutdown), Some(Ok(())), "after {events} events");
        let row = stage.row("worker");
        assert!(row.as_ref().is_none_or(|row| row.is_released()), "after {events} events: {row:?}");
    }
}

#[test]
fn of_two_shutdowns_the_grace_that_ends_first_counts() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let _held = one.acquire("worker");
    let mut first = one.elector().shutdown(Duration::from_secs(10));
    one.pass(1_000);
    let mut second = one.elector().shutdown(Duration::MAX);
    one.pass(8_999);
    assert!(look(&mut first).is_none() && look(&mut second).is_none());
    one.pass(1);
    assert!(look(&mut first).unwrap().is_err() && look(&mut second).unwrap().is_err());
}

/// The process may end when its last handle is gone.
#[test]
fn the_last_handle_waits_for_its_release() {
    let stage = Stage::new();
    let held = stage.with_threads().acquire("worker").wait().unwrap();
    drop(held);
    assert!(stage.is_released("worker"));
}

#[test]
fn a_release_whose_last_try_hangs_is_given_up_in_time() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let mut release = one.acquire("worker").release();
    stage.faults.all(Fault::Fails);
    one.pass(2_200);
    assert!(look(&mut release).is_none());
    // From now on nobody serves the desk.
    for _ in 0..3 {
        stage.clock.advance(100);
        one.keeper.step(crate::clock::Clock::local(&*stage.clock));
    }
    assert_eq!(look(&mut release), Some(Err(NotReleased::RunsOut)));
}

/// Lost first, then abandoned, by a shutdown whose grace is over or by a panic: whoever still has it and says that his
/// work has stopped is answered, and the name is free again.
#[test]
fn a_release_of_what_was_lost_and_then_abandoned_is_answered() {
    for by_shutdown in [true, false] {
        let stage = Stage::new();
        let mut one = stage.by_hand(1);
        let held = one.acquire("worker");
        stage.faults.all(Fault::Fails);
        one.pass(TTL_MS);
        assert!(!held.is_held());
        if by_shutdown {
            drop(one.elector().shutdown(Duration::ZERO));
        } else {
            held.0.abandon();
        }
        one.pass(1_000);
        stage.faults.lift();
        let mut release = held.release();
        one.settle();
        assert_eq!(look(&mut release), Some(Err(NotReleased::Lost(Loss::DeadlinePassed))));
        if !by_shutdown {
            drop(one.acquire("worker"));
        }
    }
}

/// The same where it was abandoned first: it runs out, and a release changes nothing.
#[test]
fn a_release_of_what_was_abandoned_is_answered() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    held.0.abandon();
    let mut release = held.release();
    one.settle();
    assert_eq!(look(&mut release), Some(Err(NotReleased::RunsOut)));
    assert!(!stage.is_released("worker"));
}
