//! The keeper's own death is a loss, and visible.

use super::stage::{Stage, look};
use crate::clock::{Bell, Clock, SetClock};
use crate::elector::{AcquireError, Elector, Remedy};
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

    clock.1.store(true, SeqCst);
    stage.clock.advance(10_000);
    assert_eq!(lost.wait(), Loss::KeeperDied);
    assert!(look(&mut stopping).is_some() && held.should_stop());
    assert_eq!(held.check(), Err(Loss::KeeperDied));
    assert!(!elector.health().is_alive && !elector.health().is_well());
    assert_eq!((elector.counters().lost_keeper_died, elector.counters().losses()), (1, 1));
    let error = waiting.wait().unwrap_err();
    assert!(matches!(error, AcquireError::KeeperDied), "{error}");
    // Nor does anybody wait for ever who comes later.
    let error = elector.acquire("another").wait().unwrap_err();
    assert_eq!(error.remedy(), Remedy::Fix);
    assert!(matches!(elector.try_acquire("another").wait(), Err(AcquireError::KeeperDied)));
    assert_eq!(held.release().wait(), Err(NotReleased::RunsOut));
    assert_eq!(elector.shutdown(Duration::ZERO).wait(), Ok(()));
    let snapshot = loop {
        match observer.snapshot() {
            Sighting::Unknown(why) => break why,
            _ => drop(observer.changed().wait()),
        }
    };
    assert!(snapshot.contains("keeper died"), "{snapshot}");
}
