//! Who holds what, without contending.

use super::stage::{Fault, Stage, TTL_MS, look};
use crate::keeper::Sighting;
use rusqlite::Connection;

#[test]
fn an_observer_sees_each_change_of_custody_and_when_nothing_can_be_seen() {
    let stage = Stage::new();
    let (mut one, mut watch) = (stage.by_hand(1), stage.by_hand(2));
    let mut observer = watch.elector().observe("worker").unwrap();
    assert!(matches!(observer.snapshot(), Sighting::Unknown(_)), "nothing was seen yet");
    let mut changed = observer.changed();
    assert!(look(&mut changed).is_none());
    watch.settle();
    assert_eq!(look(&mut changed), Some(Sighting::Absent));

    let held = one.acquire("worker");
    watch.pass(1_000);
    let Sighting::Held(row) = observer.snapshot() else { panic!("{:?}", observer.snapshot()) };
    assert_eq!((row.holder.as_str(), row.fence), (held.holder().as_str(), held.fence()));
    assert_eq!(row, stage.row("worker").unwrap());

    // A renewal is a change.
    assert!(matches!(look(&mut observer.changed()), Some(Sighting::Held(_))));
    let mut changed = observer.changed();
    assert!(look(&mut changed).is_none());
    one.pass(5_000);
    watch.pass(1_000);
    assert!(
        matches!(look(&mut changed), Some(Sighting::Held(renewed)) if renewed.expires_at > row.expires_at)
    );

    // Of several changes the latest is told.
    stage.faults.all(Fault::Fails);
    watch.pass(1_000);
    let Sighting::Unknown(why) = observer.snapshot() else { panic!("{:?}", observer.snapshot()) };
    assert!(!why.is_empty());
    stage.faults.lift();
    drop(held);
    one.settle();
    watch.pass(1_000);
    assert!(
        matches!(look(&mut observer.changed()), Some(Sighting::Released(last)) if last.holder == row.holder)
    );

    // An expiry changes no row.
    std::mem::forget(one.acquire("worker"));
    watch.pass(2_000);
    assert!(matches!(observer.snapshot(), Sighting::Held(_)));
    watch.pass(TTL_MS);
    assert!(matches!(observer.snapshot(), Sighting::Expired(_)));

    Connection::open(stage.file()).unwrap().execute_batch("UPDATE instance_leases SET fence = 'x'").unwrap();
    watch.pass(1_000);
    assert!(matches!(observer.snapshot(), Sighting::Unreadable(_)));
}

/// Also while calls hang: it is not left with what was true before.
#[test]
fn an_observer_is_told_that_nothing_is_known_when_a_read_is_not_answered_in_time() {
    let stage = Stage::new();
    let mut watch = stage.by_hand(1);
    let observer = watch.elector().observe("worker").unwrap();
    watch.settle();
    assert_eq!(observer.snapshot(), Sighting::Absent);
    // Nobody serves the desk.
    for _ in 0..40 {
        stage.clock.advance(100);
        watch.keeper.step(crate::clock::Clock::local(&*stage.clock));
    }
    assert!(matches!(observer.snapshot(), Sighting::Unknown(_)));
    watch.pass(3_000);
    assert_eq!(observer.snapshot(), Sighting::Absent);
}

#[test]
fn an_observer_takes_no_lease_and_is_forgotten_when_it_is_dropped() {
    let stage = Stage::new();
    let mut watch = stage.by_hand(1);
    let observer = watch.elector().observe("worker").unwrap();
    watch.pass(10_000);
    assert_eq!(stage.row("worker"), None);
    let asked = stage.faults.asked().len();
    assert!((9..=11).contains(&asked), "{asked}");
    drop(observer);
    watch.pass(10_000);
    assert_eq!(stage.faults.asked().len(), asked);
}

/// In a `select!`, a future is dropped each time that another branch is taken.
#[test]
fn a_change_is_told_once_also_where_futures_are_dropped() {
    let stage = Stage::new();
    let (mut one, mut watch) = (stage.by_hand(1), stage.by_hand(2));
    let mut observer = watch.elector().observe("worker").unwrap();
    watch.settle();
    drop(observer.changed());
    assert_eq!(look(&mut observer.changed()), Some(Sighting::Absent), "one that was not polled");
    let mut changed = observer.changed();
    assert!(look(&mut changed).is_none());
    drop(changed);
    let held = one.acquire("worker");
    watch.pass(1_000);
    assert!(matches!(look(&mut observer.changed()), Some(Sighting::Held(_))), "one that was polled in vain");
    // Two changes before the poll are one.
    let mut changed = observer.changed();
    assert!(look(&mut changed).is_none());
    one.pass(5_000);
    watch.pass(1_000);
    drop(held);
    one.settle();
    watch.pass(1_000);
    assert!(matches!(look(&mut changed), Some(Sighting::Released(_))));
    assert!(look(&mut observer.changed()).is_none(), "and told once");
}
