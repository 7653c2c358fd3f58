//! What `tracing` is told.

use super::record::record;
use super::stage::{SETTLE_MS, Stage, TTL_MS, eventually};
use crate::elector::tests::page::Page;
use crate::instance::Loss;
use crate::instance::log::QUEUE;
use tracing::Dispatch;

fn subscriber(page: &Page) -> Dispatch {
    let format = tracing_subscriber::fmt().without_time().with_ansi(false);
    Dispatch::new(format.with_writer(page.clone()).finish())
}

/// What is told of what happens there, the ids left out, once no thread can tell more.
fn told(happens: impl FnOnce(&Stage)) -> Vec<String> {
    let (stage, page) = (Stage::new(), Page::default());
    let subscriber = subscriber(&page);
    tracing::dispatcher::with_default(&subscriber, || happens(&stage));
    stage.over();
    let last = subscriber.downgrade();
    drop(subscriber);
    eventually(|| last.upgrade().is_none());
    page.lines().iter().map(|line| without_id(line)).collect()
}

fn without_id(line: &str) -> String {
    let (before, after) = line.split_once("instance=\"me-").unwrap();
    let (digits, after) = after.split_once('"').unwrap();
    assert_eq!(digits.len(), 16, "{line}");
    format!("{}{after}", before.trim())
}

const CLAIMED: &str = "INFO tenure: the instance's record stands";
const STOOD_DOWN: &str = "INFO tenure: the instance has stood down";

#[test]
fn each_change_is_told_once_and_renewals_are_not() {
    let told = told(|stage| {
        let claim = stage.claim();
        stage.pass(3 * TTL_MS, 2);
        stage.cell.fail_after(Some(0));
        stage.pass(TTL_MS / 2, 2);
        stage.cell.fail_after(None);
        stage.pass(TTL_MS, 2);
        stage.cell.fail_after(Some(0));
        stage.pass(2 * TTL_MS, 2);
        stage.cell.fail_after(None);
        drop(claim);
    });
    let troubled = "WARN tenure: the instance's record was not renewed why=\"the share is gone\"";
    let lost = "WARN tenure: the instance's claim is lost reason=\"the record could not be renewed for a whole ttl, so \
                another instance may have started: the share is gone\"";
    assert_eq!(told, [CLAIMED, troubled, CLAIMED, troubled, lost, STOOD_DOWN]);
}

#[test]
fn an_instance_that_is_overwritten_is_told() {
    let told = told(|stage| {
        let claim = stage.claim();
        stage.cell.put(Some(record("other", stage.now(), 1_000).to_json().as_bytes()));
        stage.pass(TTL_MS / 3, 2);
        drop(claim);
    });
    let lost = "WARN tenure: the instance's claim is lost reason=\"the record was overwritten by other\"";
    assert_eq!(told, [CLAIMED, lost, STOOD_DOWN]);
}

#[test]
fn a_record_that_is_not_removed_is_told() {
    let told = told(|stage| {
        let claim = stage.claim();
        stage.cell.fail_after(Some(0));
        let gone = claim.stand_down();
        stage.clock.settle(2);
        stage.pass(TTL_MS / 3 - 50, 2);
        stage.clock.advance(50);
        gone.wait().unwrap_err();
    });
    let runs_out = "WARN tenure: the instance's record runs out why=\"the share is gone\"";
    assert_eq!(told, [CLAIMED, runs_out]);
}

#[test]
fn of_a_claim_that_comes_to_nothing_only_what_it_leaves_is_told() {
    let told = told(|stage| {
        stage.cell.fail_after(Some(1));
        let claim = stage.guard.claim();
        stage.clock.settle(2);
        stage.pass(TTL_MS / 3 - 50, 2);
        stage.clock.advance(50);
        claim.wait().unwrap_err();
    });
    assert_eq!(told, ["WARN tenure: the instance's record runs out why=\"the share is gone\""]);
}

/// Its caller is told.
#[test]
fn of_a_claim_that_leaves_nothing_nothing_is_told() {
    let told = told(|stage| {
        stage.cell.put(Some(b"nobody"));
        stage.text_of_refusal();
        stage.cell.put(None);
        drop(stage.guard.claim());
    });
    assert_eq!(told, [""; 0]);
}

/// A subscriber that writes to a pipe which nobody reads, and more changes than may wait for it.
#[test]
fn a_subscriber_that_blocks_delays_no_renewal_and_no_loss() {
    let (stage, page) = (Stage::new(), Page::blocked());
    tracing::dispatcher::with_default(&subscriber(&page), || {
        let claim = stage.claim();
        let mut lost = claim.lost();
        for fails in [true, false].repeat(40) {
            stage.cell.fail_after(fails.then_some(0));
            stage.pass(TTL_MS / 3, 2);
        }
        assert!(claim.is_current());
        stage.cell.fail_after(Some(0));
        stage.pass(TTL_MS + SETTLE_MS, 2);
        assert!(matches!(super::loss::look(&mut lost), Some(Loss::NotRenewed { .. })));
        page.unblock();
        stage.cell.fail_after(None);
        eventually(|| page.lines().len() >= QUEUE);
    });
}
