//! The keeper's own death is a loss, and visible.

use super::stage::{Stage, look};
use crate::clock::{Bell, Clock, SetClock};
use crate::elector::{AcquireError, Elector, Remedy, ShutdownError};
use crate::keeper::{NotReleased, Sighting};
use crate::protocol::{LocalTime, Loss, WallTime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// A clock that kills whoever waits by it, once told to: the timer thread waits by nothing else.
#[derive(Debug)]
struct Deadly(Arc<SetClock>, AtomicBool);

impl Clock for Deadly {
    fn local(&self) -> LocalTime {
        self.0.local()
    }

    fn wall(&self) -> WallTime {
        self.0.wall()
    }

    fn sleep(&self, time: Duration) {
        self.0.sleep(time);
    }

    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>) {
        let is_timer = std::thread::current().name() == Some("tenure-timer");
        self.0.wait(bell, until);
        assert!(!is_timer || !self.1.load(SeqCst), "the keeper dies, as the test wants");
    }
}

#[test]
fn when_the_keeper_dies_everybody_is_told() {
    let stage = Stage::new();
    let clock = Arc::new(Deadly(Arc::clone(&stage.clock), AtomicBool::new(false)));
    let elector = Elector::builder(stage.file()).clock(Arc::clone(&clock) as Arc<dyn Clock>).build().unwrap();
    let held = elector.acquire("worker").wait().unwrap();
    let mut waiting = elector.acquire("worker");
    let mut observer = elector.observe("worker").unwrap();
    let (lost, mut stopping) = (held.lost(), held.stopping());
    assert!(look(&mut waiting).is_none());
    while !matches!(observer.snapshot(), Sighting::Held(_)) {
        let _ = observer.changed().wait();
    }
    stage.clock.settle(2);
    assert!(elector.health().is_alive);

    // Held up by what is held, and not told yet when the keeper dies.
    let shutdown = elector.shutdown(Duration::from_secs(3_600));
    stage.clock.settle(2);
    clock.1.store(true, SeqCst);
    stage.clock.advance(10_000);
    assert_eq!(lost.wait(), Loss::KeeperDied);
    assert!(look(&mut stopping).is_some() && held.should_stop());
    assert_eq!(held.check(), Err(Loss::KeeperDied));
    assert!(!elector.health().is_alive && !elector.health().is_well());
    assert_eq!((elector.counters().lost_keeper_died, elector.counters().losses()), (1, 1));
    assert_eq!(shutdown.wait(), Err(ShutdownError::KeeperDied));
    assert!(matches!(waiting.wait(), Err(AcquireError::ShutDown)));
    // Nor does anybody wait for ever who comes later.
    let error = elector.acquire("another").wait().unwrap_err();
    assert_eq!(error.remedy(), Remedy::Fix);
    assert!(matches!(elector.try_acquire("another").wait(), Err(AcquireError::KeeperDied)));
    assert_eq!(held.release().wait(), Err(NotReleased::RunsOut));
    assert_eq!(elector.shutdown(Duration::ZERO).wait(), Err(ShutdownError::KeeperDied));
    let snapshot = loop {
        match observer.snapshot() {
            Sighting::Unknown(why) => break why,
            _ => drop(observer.changed().wait()),
        }
    };
    assert!(snapshot.contains("keeper died"), "{snapshot}");
}

/// Those who wait, for whatever, are told, too.
#[test]
fn when_the_keeper_dies_nobody_waits_for_ever() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let (mut queued, mut other) = (one.elector().acquire("worker"), one.elector().try_acquire("other"));
    assert!(look(&mut queued).is_none() && look(&mut other).is_none());
    one.keeper.step(stage.clock.local());
    let mut late = one.elector().acquire("late");
    assert!(look(&mut late).is_none(), "its order was not taken yet");
    let mut released = one.elector().acquire("worker");
    let mut lost = held.lost();
    assert!(look(&mut released).is_none());
    drop(one.keeper);
    for waiting in [&mut queued, &mut other, &mut late, &mut released] {
        assert!(matches!(look(waiting), Some(Err(AcquireError::KeeperDied))));
    }
    assert_eq!(look(&mut lost), Some(Loss::KeeperDied));
    assert!(!held.is_held());
    assert_eq!(look(&mut held.release()), Some(Err(NotReleased::RunsOut)));
}

/// A waker is somebody else's code.
#[derive(Debug)]
struct Panics;

impl std::task::Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("the waker panics, as the test wants");
    }
}

#[test]
fn a_waker_that_panics_costs_no_lease() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    stage.clock.settle(2);
    let waker = std::task::Waker::from(Arc::new(Panics));
    let mut lost = Box::pin(held.lost());
    assert!(lost.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    let other = elector.acquire("another").wait().unwrap();
    // It is lost, which wakes; the other one is not.
    stage.clock.settle(2);
    stage.faults.set(|request| (request.lease.as_str() == "worker").then_some(super::stage::Fault::Fails));
    stage.pass(30_000, 2);
    assert!(!held.is_held() && other.is_held() && elector.health().is_alive);
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
}

/// Some executors drop a task where it is woken: then the last elector may be dropped on the timer thread.
struct DropsElector(std::sync::Mutex<Option<Elector>>);

impl std::task::Wake for DropsElector {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

#[test]
fn an_elector_that_is_dropped_by_its_own_thread_waits_for_nothing() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    stage.clock.settle(2);
    let mut observer = elector.observe("worker").unwrap();
    let mut changed = Box::pin(observer.changed());
    let waker = std::task::Waker::from(Arc::new(DropsElector(std::sync::Mutex::new(Some(elector)))));
    // The first sighting wakes, and so drops, while time stands still.
    let _ = changed.as_mut().poll(&mut std::task::Context::from_waker(&waker));
    stage.clock.settle(2);
    assert!(held.is_held());
    let mut release = held.release();
    stage.clock.settle(2);
    assert!(look(&mut release).is_some());
}
