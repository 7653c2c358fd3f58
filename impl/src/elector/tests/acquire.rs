//! Waiting for a lease, not waiting for it, and giving up.

use super::stage::{Fault, Stage, eventually, look};
use crate::clock::Clock;
use crate::elector::{AcquireError, Remedy};
use crate::protocol::{Action, End, Fence, Loss, Request};
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

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
fn who_loses_a_race_for_a_lease_that_is_free_again_has_it_at_once() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    drop(one.acquire("worker"));
    one.settle();
    let mut attempt = other.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    other.keeper.step(stage.clock.local());
    assert!(other.keeper.serve(), "it reads, and the lease is free");
    drop(one.acquire("worker"));
    one.settle();
    other.settle();
    assert_eq!(look(&mut attempt).unwrap().unwrap().fence().get(), 3);
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
            drop(other.acquire("worker"));
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

/// SPEC.md R7.6: its acquires are executed, and the answers never come. It stands back, and another can have the lease.
#[test]
fn who_is_granted_the_lease_in_vain_again_and_again_stands_back() {
    let stage = Stage::new();
    let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
    let acquires = |request: &Request| matches!(request.action, Action::Acquire(_));
    stage.faults.set(move |request| acquires(request).then_some(Fault::AnswerLost));
    let mut acquire = one.elector().acquire("worker");
    assert!(look(&mut acquire).is_none());
    one.pass(10_000);
    let fence = stage.row("worker").unwrap().fence.get();
    assert_eq!(fence, 3, "it has tried three times");
    stage.faults.lift();
    // From now on the store is well for the other one, who was not there before.
    let mut rival = other.elector().acquire("worker");
    assert!(look(&mut rival).is_none());
    let mut waited_ms = 0;
    while look(&mut rival).is_none() {
        other.pass(500);
        waited_ms += 500;
        assert!(waited_ms < 20_000, "the other waits for ever");
    }
}

/// A hung acquire is executed at last, when its contender has long given it up and has stopped waiting.
#[test]
fn an_acquire_that_is_executed_long_after_it_was_given_up_is_no_tenure() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let armed = AtomicBool::new(true);
    stage.faults.set(move |request| {
        let is_meant = matches!(request.action, Action::Acquire(_)) && armed.swap(false, SeqCst);
        is_meant.then_some(Fault::Hangs)
    });
    let mut acquire = elector.acquire("worker");
    assert!(look(&mut acquire).is_none());
    eventually(|| (stage.faults.hanging.load(SeqCst) == 1).then_some(()));
    stage.clock.settle(1);
    stage.clock.advance(2_500);
    stage.clock.settle(2);
    stage.pass(2_000, 2);
    let held = look(&mut acquire).expect("another thread has got it").unwrap();
    assert_eq!(held.fence(), Fence::FIRST);
    stage.faults.lift();
    eventually(|| (stage.faults.hanging.load(SeqCst) == 0).then_some(()));
    stage.pass(30_000, 2);
    assert!(held.is_held(), "it was bound to a row that was not there any more");
    assert_eq!(stage.row("worker").unwrap().fence, Fence::FIRST);
}

/// SPEC.md R11.2: not for who waited in the queue, nor for who comes later.
#[test]
fn nobody_contends_for_a_lease_whose_store_went_back() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    drop(one.acquire("worker"));
    one.settle();
    let held = one.acquire("worker");
    let mut queued = one.elector().acquire("worker");
    assert!(look(&mut queued).is_none());
    Connection::open(stage.file()).unwrap().execute_batch("UPDATE instance_leases SET fence = 1").unwrap();
    one.pass(5_000);
    assert_eq!(held.check(), Err(Loss::StoreWentBack));
    drop(held);
    one.settle();
    let went_back = |error: AcquireError| {
        let is_it = matches!(error, AcquireError::Ended(End::StoreWentBack { floor, found: Some(found) }) if floor.get() == 2 && found.get() == 1);
        assert!(is_it && error.remedy() == Remedy::Fix, "{error}");
    };
    went_back(look(&mut queued).unwrap().unwrap_err());
    // Nor when the count has caught up since: what was given out meanwhile is not known.
    Connection::open(stage.file()).unwrap().execute_batch("UPDATE instance_leases SET fence = 50").unwrap();
    let mut later = one.elector().acquire("worker");
    assert!(look(&mut later).is_none());
    one.settle();
    went_back(look(&mut later).unwrap().unwrap_err());
    // Another lease is another matter.
    drop(one.acquire("another"));
}

/// What was seen by an earlier tenure of this process counts: nobody starts again at 1 where 2 was seen.
#[test]
fn the_highest_fence_seen_is_remembered_from_tenure_to_tenure() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    for _ in 0..2 {
        drop(one.acquire("worker"));
        one.settle();
    }
    Connection::open(stage.file()).unwrap().execute_batch("DELETE FROM instance_leases").unwrap();
    let mut acquire = one.elector().acquire("worker");
    assert!(look(&mut acquire).is_none());
    one.settle();
    let error = look(&mut acquire).unwrap().unwrap_err();
    assert!(matches!(error, AcquireError::Ended(End::StoreWentBack { found: None, .. })), "{error}");
    assert_eq!(stage.row("worker"), None);
}

/// It is being given back: the store is waited for, not the holder.
#[test]
fn who_has_just_let_go_can_have_it_again_without_waiting() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    drop(held);
    let mut attempt = one.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    one.settle();
    assert_eq!(look(&mut attempt).unwrap().unwrap().fence().get(), 2);
}

/// Behind one who leaves, he waits for the store, and not for longer than if he had come alone.
#[test]
fn who_does_not_wait_does_not_wait_longer_behind_one_who_leaves() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    drop(one.acquire("worker"));
    stage.faults.all(Fault::Fails);
    let mut attempt = one.elector().try_acquire("worker");
    assert!(look(&mut attempt).is_none());
    one.pass(2_499);
    assert!(look(&mut attempt).is_none());
    one.pass(1);
    assert!(matches!(look(&mut attempt), Some(Err(AcquireError::NoAnswer(_)))));
}
