//! Waiting for a lease, not waiting for it, and giving up.

use super::stage::{Fault, Stage, look};
use crate::elector::{AcquireError, Remedy};
use crate::protocol::{Action, Fence};

#[test]
fn a_free_lease_is_acquired_and_the_next_tenure_has_the_next_fence() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    assert_eq!(held.fence(), Fence::FIRST);
    assert_eq!(stage.row("worker").unwrap().holder, held.holder().as_str());
    drop(held);
    one.settle();
    assert!(stage.is_released("worker"));
    assert_eq!(one.acquire("worker").fence().get(), 2);
}

#[test]
fn who_waits_is_granted_the_lease_a_poll_after_it_was_given_back() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let held = one.acquire("worker");
    let mut acquire = other.elector().acquire("worker");
    assert!(look(&mut acquire).is_none());
    other.pass(4_000);
    assert!(look(&mut acquire).is_none());
    drop(held);
    one.settle();
    other.pass(1_125);
    assert_eq!(look(&mut acquire).unwrap().unwrap().fence().get(), 2);
}

#[test]
fn who_does_not_wait_is_told_who_holds_it() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let held = one.acquire("worker");
    let mut attempt = other.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    other.settle();
    let error = look(&mut attempt).unwrap().unwrap_err();
    assert_eq!(error.remedy(), Remedy::Retry);
    let AcquireError::Held(row) = error else { panic!("{error}") };
    assert_eq!((row.holder.as_str(), row.fence), (held.holder().as_str(), held.fence()));
    // In the same process, too.
    let mut attempt = one.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    one.settle();
    assert!(matches!(look(&mut attempt), Some(Err(AcquireError::HeldHere))));
    // And a free one it gets.
    let mut attempt = other.elector().try_acquire("another");
    assert!(look(&mut attempt).is_none());
    other.settle();
    assert_eq!(look(&mut attempt).unwrap().unwrap().fence(), Fence::FIRST);
}

#[test]
fn who_does_not_wait_is_told_when_the_store_does_not_answer() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    stage.faults.all(Fault::Fails);
    let mut attempt = one.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    one.pass(2_499);
    assert!(look(&mut attempt).is_none());
    one.pass(1);
    assert!(matches!(look(&mut attempt), Some(Err(AcquireError::NoAnswer(_)))));
    // Nothing is left of it.
    stage.faults.lift();
    one.pass(20_000);
    assert_eq!(stage.row("worker"), None);
}

/// SPEC.md R6.4: never two tenures of one name in one process.
#[test]
fn who_asks_twice_waits_his_turn() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let (mut second, mut third) = (one.elector().acquire("worker"), one.elector().acquire("worker"));
    assert!(look(&mut second).is_none() && look(&mut third).is_none());
    one.pass(60_000);
    assert!(look(&mut second).is_none() && look(&mut third).is_none());
    drop(held);
    one.pass(1_000);
    let held = look(&mut second).unwrap().unwrap();
    assert_eq!(held.fence().get(), 2);
    assert!(look(&mut third).is_none());
    // Who gave up in the queue is passed over.
    drop(third);
    let mut fourth = one.elector().acquire("worker");
    assert!(look(&mut fourth).is_none());
    drop(held);
    one.pass(1_000);
    assert_eq!(look(&mut fourth).unwrap().unwrap().fence().get(), 3);
}

/// SPEC.md R6.4: also after a loss, when its work has not stopped yet.
#[test]
fn a_lost_lease_is_contended_for_again_only_when_its_work_has_stopped() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    stage.faults.all(Fault::Fails);
    one.pass(20_000);
    stage.faults.lift();
    assert!(!held.is_held());
    let mut again = one.elector().acquire("worker");
    assert!(look(&mut again).is_none());
    one.pass(60_000);
    assert!(look(&mut again).is_none());
    drop(held);
    one.pass(1_000);
    assert_eq!(look(&mut again).unwrap().unwrap().fence().get(), 2);
}

#[test]
fn a_name_that_cannot_be_used_is_refused_before_anything_is_written() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let error = look(&mut one.elector().acquire("a\nb")).unwrap().unwrap_err();
    assert!(matches!(error, AcquireError::Name(_)) && error.remedy() == Remedy::Fix, "{error}");
    one.settle();
    assert_eq!(stage.faults.asked(), []);
}

/// SPEC.md R7.5: the future is dropped at every moment between two events of an acquire, with a store that answers,
/// fails, or answers in vain. Nothing stays held, and another can have the lease at once.
#[test]
fn a_future_that_is_dropped_in_any_state_of_an_acquire_leaves_nothing_held() {
    for fault in [None, Some(Fault::Fails), Some(Fault::AnswerLost)] {
        for stop_after in 0..12 {
            let stage = Stage::new();
            let mut one = stage.by_hand(1);
            stage.faults.set(move |request| fault.filter(|_| matches!(request.action, Action::Acquire(_))));
            let mut acquire = one.elector().acquire("worker");
            if stop_after > 0 {
                assert!(look(&mut acquire).is_none());
            }
            // One event each: a step of the keeper, or a turn of its store.
            for event in 1..stop_after {
                if event % 2 == 1 {
                    one.keeper.step(crate::clock::Clock::local(&*stage.clock));
                } else {
                    one.keeper.serve();
                }
            }
            drop(acquire);
            stage.faults.lift();
            one.settle();
            let row = stage.row("worker");
            let is_free = row.as_ref().is_none_or(|row| row.is_released());
            assert!(is_free, "{fault:?}, dropped after {stop_after} events: {row:?}");
            let mut other = stage.by_hand(2);
            other.acquire("worker");
        }
    }
}

/// The same where the grant comes when nobody is there any more: it is in the queue between two threads.
#[test]
fn a_grant_that_nobody_takes_is_given_back() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let mut acquire = one.elector().acquire("worker");
    assert!(look(&mut acquire).is_none());
    one.settle();
    assert!(!stage.is_released("worker"), "it was granted, and not taken yet");
    drop(acquire);
    one.settle();
    assert!(stage.is_released("worker"));
    assert_eq!(one.elector().counters().grants, 1);
}
