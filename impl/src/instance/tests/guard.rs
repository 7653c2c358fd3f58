//! Claiming, and standing down.

use super::record::{record, unreadable};
use super::stage::{Cell, SETTLE_MS, Stage, TTL_MS, are_left, guard};
use crate::Remedy;
use crate::clock::SetClock;
use crate::instance::{ClaimError, Loss};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[test]
fn a_claim_writes_a_record_renews_it_each_third_of_the_ttl_and_removes_it_in_the_end() {
    let stage = Stage::new();
    let claim = stage.claim();
    let first = stage.cell.record().unwrap();
    assert!(claim.id().starts_with("me-") && claim.id().len() == 19, "{}", claim.id());
    assert_eq!((first.id.as_str(), first.ttl_ms), (claim.id(), TTL_MS.into()));
    assert_eq!((first.since.as_unix_millis(), first.renewed), (SetClock::BEGIN, first.since));
    for third in 1..=30 {
        // So long after the first write that the next renewal is due.
        let until = SetClock::BEGIN + third * i64::from(TTL_MS / 3);
        while stage.now() < until {
            assert_eq!(stage.cell.record().unwrap().renewed.as_unix_millis(), until - i64::from(TTL_MS / 3));
            stage.pass(50, 2);
        }
        assert!(claim.is_current());
    }
    assert_eq!(stage.cell.record().unwrap().since, first.since);
    assert_eq!(claim.stand_down().wait(), Ok(()));
    assert_eq!(stage.cell.bytes(), None);
    stage.over();
}

/// SPEC.md G1.
#[test]
fn while_another_record_is_live_a_claim_is_refused_and_says_what_to_do() {
    let stage = Stage::beside_another(5_000);
    let before = stage.cell.bytes();
    let error = stage.guard.claim().wait().unwrap_err();
    assert_eq!(error.remedy(), Remedy::Retry);
    let text = error.to_string();
    for says in [
        "other",
        "2025-12-31T23:59:55.000Z",
        "stop it",
        "without overlap",
        "wait until 2026-01-01T00:00:07.000Z, when its record is not live any more; if it is then",
        "remove it",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let ClaimError::AnotherInstance { id, since, expires } = error else { panic!("{error:?}") };
    assert_eq!(id, "other");
    assert_eq!(since.as_unix_millis(), SetClock::BEGIN - 5_000);
    assert_eq!(expires.as_unix_millis(), SetClock::BEGIN + 7_000);
    assert_eq!((stage.cell.bytes(), stage.cell.calls()), (before, 1));
}

#[test]
fn a_record_is_live_to_the_millisecond() {
    let stage = Stage::beside_another(i64::from(TTL_MS) - 1);
    assert!(stage.text_of_refusal().contains("other"));
    let stage = Stage::beside_another(TTL_MS.into());
    assert_eq!(stage.claim().id(), stage.cell.record().unwrap().id);
}

/// Two deployments may be set differently: what counts is how long its writer has promised to wait.
#[test]
fn a_record_is_live_by_the_ttl_that_stands_in_it_and_not_by_the_readers() {
    for ttl_ms in [TTL_MS / 2, TTL_MS * 2] {
        // By the wall clock; and one from the future, by the local clock.
        for renewed in [SetClock::BEGIN, SetClock::BEGIN + 1_000_000_000] {
            let stage = Stage::on(Cell::of(&record("other", renewed, ttl_ms.into())));
            stage.text_of_refusal();
            stage.clock.advance(ttl_ms - 1);
            assert!(stage.text_of_refusal().contains("other"));
            stage.clock.advance(1);
            assert_eq!(stage.claim().id(), stage.cell.record().unwrap().id);
        }
    }
}

/// SPEC.md G2.
#[test]
fn whatever_is_unreadable_counts_as_live_for_ever_is_left_alone_and_the_reason_told() {
    for (bytes, says) in unreadable() {
        let stage = Stage::new();
        stage.cell.put(Some(&bytes));
        for _ in 0..2 {
            let error = stage.guard.claim().wait().unwrap_err();
            assert_eq!(error.remedy(), Remedy::Fix);
            let text = error.to_string();
            assert!(text.contains(says) && text.contains("remove"), "{text}");
            stage.over();
            stage.clock.advance(10 * TTL_MS);
        }
        assert_eq!(stage.cell.bytes(), Some(bytes));
    }
}

#[test]
fn a_record_that_cannot_be_read_counts_as_live() {
    let stage = Stage::new();
    stage.cell.fail_after(Some(0));
    assert!(
        stage.text_of_refusal().contains("unreadable and counts as another instance's: the share is gone")
    );
    assert_eq!(stage.cell.calls(), 1);
}

#[test]
fn a_store_whose_code_panics_is_one_that_fails() {
    let stage = Stage::new();
    stage.cell.panic_from_now();
    assert!(stage.text_of_refusal().contains("panicked"));
}

/// SPEC.md G6.
#[test]
fn a_record_from_the_future_is_live_until_its_ttl_after_it_was_first_seen_unchanged() {
    let future = |ahead| record("other", SetClock::BEGIN + ahead, TTL_MS.into());
    let stage = Stage::on(Cell::of(&future(1_000_000_000)));
    // The text says until when, by our clock, not by the record's; and what a process does that ends now.
    let text = stage.text_of_refusal();
    assert!(text.contains("remove its record, whose times are ahead"), "{text}");
    assert!(text.contains("in this process from 2026-01-01T00:00:12.000Z on"), "{text}");
    stage.clock.advance(TTL_MS / 2);
    // It changes: somebody is alive.
    stage.cell.put(Some(future(1_000_000_001).to_json().as_bytes()));
    assert!(stage.text_of_refusal().contains("2026-01-01T00:00:18.000Z"));
    stage.clock.advance(TTL_MS - 1);
    assert!(stage.text_of_refusal().contains("2026-01-01T00:00:18.000Z"));
    stage.clock.advance(1);
    let claim = stage.claim();
    assert_eq!(stage.cell.record().unwrap().id, claim.id());
}

/// A claim that goes on for long remembers an older record.
#[test]
fn what_a_later_claim_has_seen_is_not_forgotten() {
    let stage = Stage::beside_another(TTL_MS.into());
    let first = stage.claim();
    let future = record("another", SetClock::BEGIN + 1_000_000_000, TTL_MS.into());
    stage.cell.put(Some(future.to_json().as_bytes()));
    assert!(stage.guard.claim().wait().unwrap_err().to_string().contains("another"));
    are_left(&stage.guard, 1);
    stage.pass(TTL_MS, 2);
    assert!(!first.is_current());
    drop(first);
    stage.over();
    assert_eq!(stage.claim().id(), stage.cell.record().unwrap().id);
}

/// SPEC.md G3.
#[test]
fn of_two_that_found_nobody_the_one_that_wrote_first_yields_and_leaves_the_others_record() {
    let stage = Stage::new();
    let first = stage.guard.claim();
    stage.clock.settle(2);
    assert!(stage.cell.bytes().is_some(), "it has written, and waits");
    let other = record("other", stage.now(), TTL_MS.into());
    stage.cell.put(Some(other.to_json().as_bytes()));
    stage.clock.advance(SETTLE_MS - 1);
    stage.clock.settle(2);
    stage.clock.advance(1);
    let error = first.wait().unwrap_err();
    assert!(matches!(&error, ClaimError::AnotherInstance { id, .. } if id == "other"), "{error:?}");
    stage.over();
    assert_eq!(stage.cell.record(), Some(other));
}

/// A write that came late, of an instance that is gone: it need not be waited for.
#[test]
fn of_an_old_record_that_is_read_back_the_time_that_is_told_is_now() {
    let stage = Stage::new();
    let claim = stage.guard.claim();
    stage.clock.settle(2);
    stage.cell.put(Some(record("other", 0, TTL_MS.into()).to_json().as_bytes()));
    stage.clock.advance(SETTLE_MS);
    let error = claim.wait().unwrap_err();
    let ClaimError::AnotherInstance { expires, .. } = error else { panic!("{error:?}") };
    assert_eq!(expires.as_unix_millis(), stage.now());
    stage.over();
}

#[test]
fn a_second_claim_in_the_process_is_another_instance() {
    let stage = Stage::new();
    let claim = stage.claim();
    for (guard, living) in [(&stage.guard, 1), (&guard(&stage.cell, stage.clock.clone()), 0)] {
        let error = guard.claim().wait().unwrap_err();
        assert!(matches!(&error, ClaimError::AnotherInstance { id, .. } if id == claim.id()), "{error:?}");
        are_left(guard, living);
    }
    assert!(claim.is_current());
    let id = claim.id().to_owned();
    drop(claim);
    stage.over();
    assert_ne!(stage.claim().id(), id);
}

/// SPEC.md G7.
#[test]
fn drop_and_stand_down_remove_the_record_only_if_it_is_ours() {
    for stands_down in [true, false] {
        let stage = Stage::new();
        let claim = stage.claim();
        let other = record("other", stage.now(), TTL_MS.into());
        stage.cell.put(Some(other.to_json().as_bytes()));
        match stands_down {
            true => assert_eq!(claim.stand_down().wait(), Ok(())),
            false => drop(claim),
        }
        assert_eq!(stage.cell.record(), Some(other));
        stage.over();
        stage.cell.put(None);
        let claim = stage.claim();
        drop(claim);
        assert_eq!(stage.cell.bytes(), None, "and when the drop returns it is gone");
        stage.over();
    }
}

#[test]
fn a_claim_that_nobody_waits_for_any_more_leaves_no_record() {
    let stage = Stage::new();
    let claim = stage.guard.claim();
    stage.clock.settle(2);
    assert!(stage.cell.bytes().is_some());
    drop(claim);
    stage.over();
    assert_eq!(stage.cell.bytes(), None);
}

#[test]
fn async_callers_need_no_runtime() {
    let stage = Stage::new();
    let mut context = Context::from_waker(Waker::noop());
    let mut claiming = pin!(stage.guard.claim());
    assert!(claiming.as_mut().poll(&mut context).is_pending());
    stage.clock.settle(2);
    stage.clock.advance(SETTLE_MS);
    stage.clock.settle(2);
    let Poll::Ready(Ok(claim)) = claiming.as_mut().poll(&mut context) else { panic!("it stands") };
    let mut lost = pin!(claim.lost());
    assert!(lost.as_mut().poll(&mut context).is_pending());
    let mut gone = pin!(claim.stand_down());
    stage.over();
    assert_eq!(gone.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert_eq!(lost.as_mut().poll(&mut context), Poll::Ready(Loss::StoodDown));
}
