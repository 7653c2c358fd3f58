//! A claim that is lost, and stores that fail or hang.

use super::record::record;
use super::stage::{SETTLE_MS, Stage, TTL_MS, eventually};
use crate::instance::guard::CLAIMS_MAX;
use crate::instance::shared::lock;
use crate::instance::{ClaimError, Loss};
use crate::{Remedy, Wait};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub(super) fn look<T>(wait: &mut Wait<T>) -> Option<T> {
    match Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// SPEC.md G4.
#[test]
fn a_record_that_somebody_overwrote_is_a_loss_at_the_next_renewal_and_is_not_written_over() {
    let unreadable = b"{\"tenure_instance\":2}".to_vec();
    let other = record("other", 0, 1_000).to_json().into_bytes();
    for (bytes, says) in [(other, "other"), (unreadable, "version: 2")] {
        let stage = Stage::new();
        let claim = stage.claim();
        let mut lost = claim.lost();
        stage.cell.put(Some(&bytes));
        stage.pass(TTL_MS / 3 - SETTLE_MS - 50, 2);
        assert!(claim.is_current() && look(&mut lost).is_none());
        stage.pass(50, 2);
        let loss = look(&mut lost).unwrap();
        assert_eq!((claim.check(), loss.remedy()), (Err(loss.clone()), Remedy::StopActing));
        assert!(loss.to_string().contains(says), "{loss}");
        assert!(matches!(loss, Loss::Overwritten { .. }));
        stage.pass(3 * TTL_MS, 2);
        assert_eq!(stage.cell.bytes(), Some(bytes.clone()));
        drop(claim);
        assert_eq!(stage.cell.bytes(), Some(bytes));
    }
}

#[test]
fn a_record_that_a_person_removed_is_written_again() {
    let stage = Stage::new();
    let claim = stage.claim();
    stage.cell.put(None);
    stage.pass(TTL_MS / 3, 2);
    assert!(claim.is_current());
    assert_eq!(stage.cell.record().unwrap().id, claim.id());
}

#[test]
fn a_store_that_fails_is_asked_again_each_thirtieth_of_the_ttl_and_the_claim_stands_meanwhile() {
    // 0: the read of the renewal fails; 1: its write.
    for calls in [0, 1] {
        let stage = Stage::new();
        let claim = stage.claim();
        stage.cell.fail_after(Some(calls));
        stage.pass(TTL_MS - SETTLE_MS - 50, 2);
        assert!(claim.is_current());
        assert_eq!(claim.trouble().as_deref(), Some("the share is gone"));
        let calls = stage.cell.calls();
        assert!(calls > 15 && calls < 60, "{calls}");
        stage.cell.fail_after(None);
    }
}

#[test]
fn a_store_that_is_back_in_time_renews() {
    let stage = Stage::new();
    let claim = stage.claim();
    stage.cell.fail_after(Some(0));
    stage.pass(TTL_MS - SETTLE_MS - 1_000, 2);
    stage.cell.fail_after(None);
    stage.pass(TTL_MS, 2);
    assert!(claim.is_current());
}

/// SPEC.md G5.
#[test]
fn a_store_that_fails_for_a_ttl_is_a_loss_at_that_moment_and_the_reason_told() {
    let stage = Stage::new();
    let claim = stage.claim();
    let mut lost = claim.lost();
    stage.cell.fail_after(Some(0));
    // The TTL counts from the first write.
    stage.pass(TTL_MS - SETTLE_MS - 50, 2);
    stage.clock.advance(49);
    stage.clock.settle(2);
    assert!(claim.is_current() && look(&mut lost).is_none());
    stage.clock.advance(1);
    stage.clock.settle(2);
    assert_eq!(look(&mut lost), Some(Loss::NotRenewed { why: "the share is gone".into() }));
    // For good, though the store is back; and nothing more is asked.
    stage.cell.fail_after(None);
    let calls = stage.cell.calls();
    stage.pass(TTL_MS, 2);
    assert!(!claim.is_current());
    assert_eq!(stage.cell.calls(), calls);
    assert_eq!(claim.stand_down().wait(), Ok(()));
    assert_eq!(stage.cell.bytes(), None, "it was still ours");
}

#[test]
fn a_call_that_hangs_delays_no_loss_and_what_it_says_at_last_changes_nothing() {
    // The read of the renewal, and its write.
    for calls in [0, 1] {
        let stage = Stage::new();
        let claim = stage.claim();
        let mut lost = claim.lost();
        stage.cell.hang_after(Some(calls));
        stage.pass(TTL_MS / 3 - SETTLE_MS - 50, 2);
        stage.clock.advance(50);
        stage.hangs();
        stage.pass(2 * TTL_MS / 3 - 50, 1);
        assert!(claim.is_current() && look(&mut lost).is_none());
        stage.clock.advance(50);
        stage.clock.settle(1);
        let loss = Loss::NotRenewed { why: "the store does not answer".into() };
        assert_eq!((look(&mut lost), claim.check()), (Some(loss.clone()), Err(loss.clone())));
        stage.cell.hang_after(None);
        stage.clock.settle(2);
        assert_eq!(claim.check(), Err(loss));
        drop(claim);
        assert_eq!(stage.cell.bytes(), None);
    }
}

#[test]
fn a_check_knows_of_the_loss_though_no_thread_has_come_to_tell() {
    let stage = Stage::new();
    let claim = stage.claim();
    // In one leap, as when the machine was suspended.
    stage.clock.advance(TTL_MS);
    assert!(!claim.is_current());
    stage.clock.settle(2);
    let loss = claim.check().unwrap_err();
    assert!(loss.to_string().contains("held up"), "{loss}");
    assert_eq!(claim.lost().wait(), loss);
}

/// SPEC.md G8.
#[test]
fn a_claim_on_a_store_that_hangs_is_refused_after_a_third_of_the_ttl() {
    // The first read, the write, and the read back.
    for calls in 0..3 {
        let stage = Stage::new();
        stage.cell.hang_after(Some(calls));
        let mut claim = stage.guard.claim();
        if calls == 2 {
            stage.clock.settle(2);
            stage.clock.advance(SETTLE_MS);
        }
        stage.hangs();
        stage.clock.advance(TTL_MS / 3 - 1);
        stage.clock.settle(1);
        assert!(look(&mut claim).is_none());
        stage.clock.advance(1);
        if calls > 0 {
            stage.clock.settle(1);
            assert!(look(&mut claim).is_none(), "something of it is left");
            // The write comes true when the store is back: what is there is removed.
            stage.cell.hang_after(None);
        }
        let error = claim.wait().unwrap_err();
        assert!(matches!(error, ClaimError::NoAnswer), "{error:?}");
        assert_eq!(error.remedy(), Remedy::Retry);
        assert_eq!(stage.cell.bytes(), None);
        stage.cell.hang_after(None);
        stage.over();
    }
}

/// SPEC.md G7, G8.
#[test]
fn a_claim_that_cannot_remove_its_record_is_refused_after_a_second_third() {
    let stage = Stage::new();
    stage.cell.hang_after(Some(1));
    let mut claim = stage.guard.claim();
    stage.hangs();
    stage.clock.advance(TTL_MS / 3);
    stage.clock.settle(1);
    stage.clock.advance(TTL_MS / 3 - 1);
    stage.clock.settle(1);
    assert!(look(&mut claim).is_none());
    stage.clock.advance(1);
    assert!(matches!(claim.wait(), Err(ClaimError::NoAnswer)));
    stage.cell.hang_after(None);
    stage.over();
    assert!(stage.cell.bytes().is_some(), "it runs out");
}

/// As behind another claim's call, that hangs: what it asks then would come after its end.
#[test]
fn a_claim_that_waits_for_its_turn_asks_nothing_once_it_has_ended() {
    let stage = Stage::new();
    let turn = lock(&stage.guard.records);
    let mut claim = stage.guard.claim();
    // Whether it has asked for its turn cannot be seen: it has when it has waited for long.
    eventually(|| {
        stage.clock.advance(50);
        matches!(look(&mut claim), Some(Err(ClaimError::NoAnswer)))
    });
    drop(turn);
    stage.over();
    assert_eq!(stage.cell.calls(), 0);
}

/// Each keeps a thread.
#[test]
fn a_store_that_hangs_is_not_asked_by_ever_more_claims() {
    let stage = Stage::new();
    stage.cell.hang_after(Some(0));
    let first: Vec<_> = (0..CLAIMS_MAX).map(|_| stage.guard.claim()).collect();
    let is_refused = || matches!(look(&mut stage.guard.claim()), Some(Err(ClaimError::NoAnswer)));
    assert!(is_refused());
    drop(first);
    // They hang all the same; but for one whose thread had not come so far.
    eventually(is_refused);
    stage.cell.hang_after(None);
    stage.over();
    drop(stage.claim());
}

#[test]
fn a_claim_whose_write_fails_is_refused_and_leaves_no_record() {
    let stage = Stage::new();
    stage.cell.fail_after(Some(1));
    let mut claim = stage.guard.claim();
    stage.clock.settle(2);
    // It may have been written all the same: whoever is told may end the process.
    assert!(look(&mut claim).is_none());
    let calls = stage.cell.calls();
    stage.cell.fail_after(None);
    stage.clock.advance(TTL_MS / 30);
    let error = claim.wait().unwrap_err();
    assert!(matches!(&error, ClaimError::NotWritten(why) if why == "the share is gone"), "{error:?}");
    assert_eq!(stage.cell.calls(), calls + 1);
    stage.over();
}

#[test]
fn a_claim_that_cannot_read_back_its_record_removes_it_before_it_is_refused() {
    let stage = Stage::new();
    stage.cell.fail_after(Some(2));
    let mut claim = stage.guard.claim();
    stage.clock.settle(2);
    stage.clock.advance(SETTLE_MS);
    stage.clock.settle(2);
    assert!(stage.cell.bytes().is_some() && look(&mut claim).is_none());
    stage.cell.fail_after(None);
    stage.clock.advance(TTL_MS / 30);
    let error = claim.wait().unwrap_err().to_string();
    assert!(error.contains("its record cannot be read back: the share is gone"), "{error}");
    assert_eq!(stage.cell.bytes(), None);
    stage.over();
}

#[test]
fn a_stand_down_that_does_not_come_through_is_told_after_a_third_of_the_ttl() {
    let stage = Stage::new();
    let claim = stage.claim();
    stage.cell.fail_after(Some(0));
    let mut gone = claim.stand_down();
    stage.clock.settle(2);
    stage.pass(TTL_MS / 3 - 50, 2);
    assert!(look(&mut gone).is_none());
    stage.clock.advance(50);
    let error = gone.wait().unwrap_err();
    assert!(error.to_string().contains("the share is gone"), "{error}");
    stage.over();
    assert!(stage.cell.bytes().is_some());
}

#[test]
fn what_a_stand_down_came_to_is_told_and_not_why_the_renewals_failed_before() {
    let stage = Stage::new();
    let claim = stage.claim();
    stage.cell.fail_after(Some(0));
    stage.pass(TTL_MS / 2, 2);
    assert_eq!(claim.trouble().as_deref(), Some("the share is gone"));
    stage.cell.fail_after(None);
    stage.cell.hang_after(Some(0));
    let gone = claim.stand_down();
    stage.hangs();
    stage.clock.advance(TTL_MS / 3);
    assert_eq!(gone.wait().unwrap_err().why, "the store does not answer");
    stage.cell.hang_after(None);
    stage.over();
}

#[test]
fn a_stand_down_waits_for_a_renewal_under_way_which_would_bring_the_record_back() {
    let stage = Stage::new();
    let claim = stage.claim();
    stage.cell.hang_after(Some(1));
    stage.pass(TTL_MS / 3 - SETTLE_MS - 50, 2);
    stage.clock.advance(50);
    stage.hangs();
    let mut gone = claim.stand_down();
    stage.clock.settle(1);
    assert!(look(&mut gone).is_none());
    stage.cell.hang_after(None);
    assert_eq!(gone.wait(), Ok(()));
    assert_eq!(stage.cell.bytes(), None);
}
