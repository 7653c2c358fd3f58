//! A store that fails, hangs, and recovers; losses are told in time, and once: SPEC.md R5.

use super::stage::{Fault, Stage, TTL_MS, VALIDITY_MS, eventually, look};
use crate::clock::Clock;
use crate::protocol::{Action, Loss, Request};
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

fn losses(elector: &crate::Elector) -> [u64; 5] {
    let c = elector.counters();
    [c.lost_deadline_passed, c.lost_superseded, c.lost_expired, c.lost_released, c.lost_store_went_back]
}

#[test]
fn a_store_that_fails_for_a_while_costs_nothing() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    one.pass(1_000);
    assert_eq!(one.elector().health().store_trouble, None);
    stage.faults.all(Fault::Fails);
    one.pass(6_000);
    assert!(one.elector().health().is_well(), "not every hiccup is reported");
    one.pass(4_000);
    let health = one.elector().health();
    assert!(!health.is_well());
    assert!(health.store_trouble.unwrap().0 > Duration::from_secs(4));
    stage.faults.lift();
    one.pass(500);
    assert!(one.elector().health().is_well());
    one.pass(60_000);
    assert!(held.is_held());
    assert_eq!(losses(one.elector()), [0; 5]);
}

/// SPEC.md R5: not a millisecond later, and whoever asks is told by the clock alone.
#[test]
fn a_store_that_fails_for_longer_costs_the_lease_at_the_deadline() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let mut lost = held.lost();
    stage.faults.all(Fault::Fails);
    one.pass(VALIDITY_MS - 3_750 - 1);
    assert!(!held.should_stop(), "the grace has not begun");
    one.pass(1);
    assert!(held.should_stop() && held.is_held());
    one.pass(3_749);
    assert_eq!(held.check(), Ok(held.fence()));
    assert!(look(&mut lost).is_none());
    stage.clock.advance(1);
    assert!(!held.is_held(), "though the keeper was not called");
    assert_eq!(held.check(), Err(Loss::DeadlinePassed));
    one.settle();
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
    assert_eq!(losses(one.elector()), [1, 0, 0, 0, 0]);
}

/// By the clock alone, and for good: work that has begun to stop does not go on.
#[test]
fn who_should_stop_always_should() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    stage.clock.advance(u32::try_from(VALIDITY_MS - 3_751).unwrap());
    assert!(!held.should_stop());
    stage.clock.advance(1);
    assert!(held.should_stop(), "though the keeper was not called");
    one.pass(1_000);
    assert!(held.is_held() && one.elector().counters().renewals > 0);
    assert!(held.should_stop());
}

/// SPEC.md R5.4: a check finds the deadline passed; the reply that comes then was on its way before, and the keeper,
/// which read its clock before the check, takes it for timely. It changes nothing.
#[test]
fn a_renewal_that_comes_after_a_check_has_found_the_deadline_passed_changes_nothing() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    stage.faults.all(Fault::Fails);
    let deadline = held.deadline().unwrap();
    // So far, that the renewal which is sent next is answered in time.
    one.pass(VALIDITY_MS - 1_000);
    stage.faults.lift();
    let mut now = stage.clock.local();
    while !one.keeper.serve() {
        stage.clock.advance(1);
        now = stage.clock.local();
        one.keeper.step(now);
    }
    assert!(now < deadline);
    stage.clock.advance(u32::try_from(now.until(deadline).as_millis()).unwrap());
    assert!(!held.is_held());
    let mut lost = held.lost();
    one.keeper.step(now);
    assert!(!held.is_held());
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
    assert_eq!(losses(one.elector()), [1, 0, 0, 0, 0]);
    one.pass(60_000);
    assert!(!held.is_held());
    assert_eq!(losses(one.elector()), [1, 0, 0, 0, 0]);
}

/// On every path by which a tenure ends, its holder is told once, with the true reason, and it is counted once.
#[test]
fn a_loss_is_told_and_counted_once_with_its_reason() {
    let superseded = "UPDATE instance_leases SET holder_id = 'appview-2', fence = fence + 1";
    type IsReason = fn(&Loss) -> bool;
    let paths: [(&str, Option<&str>, IsReason, [u64; 5]); 5] = [
        ("blackout", None, |loss| *loss == Loss::DeadlinePassed, [1, 0, 0, 0, 0]),
        (
            "superseded",
            Some(superseded),
            |loss| matches!(loss, Loss::Superseded { fence, holder } if fence.get() == 2 && holder == "appview-2"),
            [0, 1, 0, 0, 0],
        ),
        (
            "expired",
            Some("UPDATE instance_leases SET expires_at = 1"),
            |loss| *loss == Loss::Expired,
            [0, 0, 1, 0, 0],
        ),
        (
            "released",
            Some("UPDATE instance_leases SET expires_at = 0"),
            |loss| *loss == Loss::Released,
            [0, 0, 0, 1, 0],
        ),
        (
            "went back",
            Some("DELETE FROM instance_leases"),
            |loss| *loss == Loss::StoreWentBack,
            [0, 0, 0, 0, 1],
        ),
    ];
    for (name, sql, is_reason, counted) in paths {
        let stage = Stage::new();
        let mut one = stage.by_hand(1);
        let held = one.acquire("worker");
        let mut lost = held.lost();
        match sql {
            Some(sql) => Connection::open(stage.file()).unwrap().execute_batch(sql).unwrap(),
            None => stage.faults.all(Fault::Fails),
        }
        one.pass(TTL_MS);
        let reason = look(&mut lost).unwrap_or_else(|| panic!("{name}: not told"));
        assert!(is_reason(&reason), "{name}: {reason}");
        assert_eq!(held.check(), Err(reason.clone()), "{name}");
        stage.faults.lift();
        one.pass(60_000);
        drop(held);
        one.pass(60_000);
        assert_eq!(losses(one.elector()), counted, "{name}");
    }
}

/// SPEC.md R7.2.
#[test]
fn a_renewal_whose_answer_is_lost_changes_nothing_by_itself() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let deadline = held.deadline().unwrap();
    stage.faults.all(Fault::AnswerLost);
    one.pass(VALIDITY_MS - 1);
    assert_eq!(held.deadline(), Ok(deadline));
    one.pass(1);
    assert!(!held.is_held());
}

fn renews(request: &Request) -> bool {
    matches!(request.action, Action::Renew(_))
}

/// Meets the first request of a kind, and no other.
fn first(fault: Fault, is_meant: fn(&Request) -> bool) -> impl Fn(&Request) -> Option<Fault> {
    let armed = AtomicBool::new(true);
    move |request| (is_meant(request) && armed.swap(false, SeqCst)).then_some(fault)
}

fn hangs(stage: &Stage, calls: usize) {
    eventually(|| (stage.faults.hanging.load(SeqCst) == calls).then_some(()));
}

#[test]
fn a_call_that_hangs_is_given_up_on_and_the_lease_is_kept_by_another_thread() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    stage.clock.settle(2);
    stage.faults.set(first(Fault::Hangs, renews));
    stage.clock.advance(5_000);
    hangs(&stage, 1);
    stage.clock.settle(1);
    // The request timeout: the hung thread is given up on, and another begins.
    stage.clock.advance(2_500);
    stage.clock.settle(2);
    stage.pass(60_000, 2);
    assert!(held.is_held());
    assert_eq!(stage.faults.hanging.load(SeqCst), 1);
    assert_eq!(elector.counters().lost_deadline_passed, 0);
    // What it did in the end, a renewal of the same tenure, harms nobody.
    stage.faults.lift();
    hangs(&stage, 0);
    stage.pass(60_000, 2);
    assert!(held.is_held());
}

#[test]
fn while_every_call_hangs_the_loss_is_on_time_and_at_most_two_threads_hang() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    let mut lost = held.lost();
    stage.clock.settle(2);
    stage.faults.all(Fault::Hangs);
    stage.clock.advance(5_000);
    hangs(&stage, 1);
    stage.clock.settle(1);
    stage.clock.advance(2_500);
    stage.clock.settle(2);
    // The renewal is tried again, a quarter of a poll later.
    stage.clock.advance(300);
    hangs(&stage, 2);
    stage.clock.settle(1);
    stage.pass(VALIDITY_MS - 7_800 - 46, 1);
    assert!(look(&mut lost).is_none() && held.is_held());
    stage.clock.advance(46);
    stage.clock.settle(1);
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
    stage.pass(60_000, 1);
    assert_eq!(stage.faults.hanging.load(SeqCst), 2, "no third");
    assert!(elector.health().store_trouble.is_some());
    drop(held);
    let mut again = elector.acquire("worker");
    assert!(look(&mut again).is_none());
    // The store is well again, and so is the elector.
    stage.faults.lift();
    hangs(&stage, 0);
    stage.clock.settle(2);
    stage.pass(20_000, 2);
    assert!(look(&mut again).unwrap().is_ok());
    assert!(elector.health().is_well(), "{:?}", elector.health());
}

#[test]
fn a_store_thread_that_dies_is_replaced() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    stage.clock.settle(2);
    stage.faults.set(first(Fault::Dies, renews));
    stage.clock.advance(5_000);
    stage.clock.settle(2);
    stage.pass(60_000, 2);
    assert!(held.is_held());
    assert_eq!(
        stage.faults.asked().iter().filter(|(_, action)| matches!(action, Action::Renew(_))).count() as u64,
        elector.counters().renewals
    );
}

/// A full disk, or a writer that keeps the lock: reads go on, and say nothing of writes.
#[test]
fn a_store_that_can_only_be_read_is_not_well() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let _observer = one.elector().observe("worker");
    one.pass(5_000);
    stage.faults.set(|request| (request.action != Action::Read).then_some(Fault::Fails));
    one.pass(8_000);
    for _ in 0..10 {
        one.pass(300);
        assert!(!one.elector().health().is_well());
    }
    // Nothing is tried any more once the lease is lost, so nothing is known.
    one.pass(60_000);
    assert!(!held.is_held());
    assert_eq!(one.elector().health().store_trouble, None);
    assert_eq!(one.elector().counters().losses(), 1);
    // What comes then is another trouble, and began now.
    drop(held);
    let mut again = one.elector().acquire("worker");
    assert!(look(&mut again).is_none());
    one.pass(2_000);
    let (since, _) = one.elector().health().store_trouble.unwrap();
    assert!(since <= Duration::from_secs(2) && one.elector().health().is_well(), "{since:?}");
}

/// Each call returns, but only after it was given up on; or each kills its thread. Nothing is ever answered.
#[test]
fn a_store_that_answers_too_late_or_never_is_not_well() {
    for fault in [Fault::Hangs, Fault::Dies] {
        let stage = Stage::new();
        let elector = stage.with_threads();
        let held = elector.acquire("worker").wait().unwrap();
        stage.clock.settle(2);
        stage.faults.all(fault);
        let (mut unwell, mut hangs_since) = (0, None);
        // In earnest, for a moment after each step: threads come and go.
        for _ in 0..400 {
            stage.clock.advance(50);
            crate::clock::SystemClock.sleep(Duration::from_millis(2));
            let now = stage.clock.local();
            hangs_since = (stage.faults.hanging.load(SeqCst) > 0).then(|| hangs_since.unwrap_or(now));
            if hangs_since.take_if(|since| since.plus(2_650) <= now).is_some() {
                stage.faults.all(fault); // The call returns.
            }
            unwell += usize::from(!elector.health().is_well());
        }
        assert!(unwell > 100, "{fault:?}: {unwell}");
        assert!(!held.is_held());
        assert!(elector.health().store_trouble.is_some(), "{fault:?}");
        stage.faults.lift();
    }
}
