//! Many leases of one elector.

use super::stage::{Fault, Stage, TTL_MS, look};
use crate::elector::Held;
use crate::protocol::{Action, Loss};
use rusqlite::Connection;

/// The store fails for one of them; the other one is none the wiser.
#[test]
fn two_leases_of_one_elector_do_not_disturb_each_other() {
    for fault in [Fault::Fails, Fault::AnswerLost] {
        let stage = Stage::new();
        let mut one = stage.by_hand(1);
        let (ill, well) = (one.acquire("ill"), one.acquire("well"));
        let (mut ill_lost, mut well_lost) = (ill.lost(), well.lost());
        one.pass(2_000);
        stage.faults.set(move |request| (request.lease.as_str() == "ill").then_some(fault));
        one.pass(60_000);
        assert_eq!(look(&mut ill_lost), Some(Loss::DeadlinePassed));
        assert!(well.is_held() && look(&mut well_lost).is_none());
        // One is given back, the other one goes on.
        drop(ill);
        one.pass(10_000);
        assert!(well.is_held());
        drop(well);
        one.settle();
        assert!(stage.is_released("well") && !stage.is_released("ill"));
    }
}

/// The work of one panics, or is abandoned; the other one is held on.
#[test]
fn a_lease_that_runs_out_disturbs_no_other() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let (left, kept) = (one.acquire("left"), one.acquire("kept"));
    left.0.abandon();
    one.pass(60_000);
    assert!(!left.is_held() && kept.is_held());
}

#[test]
fn two_thousand_leases_are_held_by_one_elector_through_blackouts() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let names: Vec<String> = (0..2_000).map(|number| format!("lease-{number}")).collect();
    let mut acquires: Vec<_> = names.iter().map(|name| one.elector().acquire(name)).collect();
    assert!(acquires.iter_mut().all(|acquire| look(acquire).is_none()));
    one.settle();
    let held: Vec<Held> = acquires.iter_mut().map(|acquire| look(acquire).unwrap().unwrap()).collect();
    // What was asked at once went in batches of a thousand: two of reads, two of acquires.
    assert_eq!(stage.faults.batches.lock().unwrap().len(), 4);
    one.pass(TTL_MS * 2);
    stage.faults.all(Fault::Fails);
    one.pass(5_000);
    stage.faults.lift();
    one.pass(TTL_MS * 2);
    assert!(held.iter().all(Held::is_held));
    assert_eq!(one.elector().counters().grants, 2_000);
    stage.faults.batches.lock().unwrap().clear();
    drop(held);
    one.settle();
    assert!(names.iter().step_by(97).all(|name| stage.is_released(name)));
    let releases = stage.faults.asked();
    assert_eq!(releases.iter().filter(|(_, action)| matches!(action, Action::Release(_))).count(), 2_000);
    assert_eq!(one.elector().counters().releases, 2_000);
}

/// A constraint of the application refuses one of them; they were one transaction, and the others are answered.
#[test]
fn a_row_that_is_refused_disturbs_no_other() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    drop(one.acquire("there is a table now"));
    one.settle();
    let guard = "CREATE TRIGGER guard BEFORE INSERT ON instance_leases WHEN new.lease_name = 'refused'
                 BEGIN SELECT RAISE(ABORT, 'no'); END";
    Connection::open(stage.file()).unwrap().execute_batch(guard).unwrap();
    let names = ["one", "refused", "other"];
    let mut acquires = names.map(|name| one.elector().acquire(name));
    assert!(acquires.iter_mut().all(|acquire| look(acquire).is_none()));
    one.settle();
    let granted = acquires.each_mut().map(|acquire| look(acquire).is_some());
    assert_eq!(granted, [true, false, true]);
}

/// However many wait for the store, who holds comes first, and no batch is so large that it times out.
#[test]
fn renewals_go_before_whatever_else_waits_in_batches_of_a_thousand_at_most() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("held");
    one.pass(4_000);
    stage.faults.batches.lock().unwrap().clear();
    let names: Vec<String> = (0..2_500).map(|number| format!("lease-{number}")).collect();
    let mut acquires: Vec<_> = names.iter().map(|name| one.elector().acquire(name)).collect();
    assert!(acquires.iter_mut().all(|acquire| look(acquire).is_none()));
    one.keeper.step(crate::clock::Clock::local(&*stage.clock));
    stage.clock.advance(1_000);
    one.settle();
    assert!(acquires.iter_mut().all(|acquire| look(acquire).is_some_and(|granted| granted.is_ok())));
    let batches = stage.faults.batches.lock().unwrap();
    assert!(batches.iter().all(|batch| batch.len() <= 1_000));
    // 1,500 reads waited already when its renewal became due.
    assert_eq!(batches[1][0].0, held.lease().as_str());
}
