//! Clocks that are read late, and one that panics.

use super::loss::look;
use super::stage::{Cell, SETTLE_MS, TTL_MS, are_left, guard};
use crate::clock::{Bell, Clock, SetClock};
use crate::instance::{Claim, ClaimError, Guard, Loss};
use crate::protocol::{LocalTime, WallTime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Its wall clock, which a step reads and nobody else does, is strange.
#[derive(Debug)]
struct Strange {
    clock: Arc<SetClock>,
    /// That time passes after each reading.
    held_up_ms: u32,
    panics: AtomicBool,
}

impl Clock for Strange {
    fn local(&self) -> LocalTime {
        self.clock.local()
    }

    fn wall(&self) -> WallTime {
        assert!(!self.panics.load(SeqCst), "the clock panics, as the test wants");
        let wall = self.clock.wall();
        self.clock.advance(self.held_up_ms);
        wall
    }

    fn sleep(&self, time: Duration) {
        self.clock.sleep(time);
    }

    fn wait(&self, bell: &Arc<Bell>, until: Option<LocalTime>) {
        self.clock.wait(bell, until);
    }
}

struct Stage {
    cell: Cell,
    clock: Arc<Strange>,
    guard: Guard,
}

impl Stage {
    fn new(held_up_ms: u32) -> Self {
        let (cell, panics) = (Cell::default(), AtomicBool::new(false));
        let clock = Arc::new(Strange { clock: SetClock::new(), held_up_ms, panics });
        let guard = guard(&cell, clock.clone());
        Self { cell, clock, guard }
    }

    fn claim(&self) -> Claim {
        let claim = self.guard.claim();
        self.clock.clock.settle(2);
        self.clock.clock.advance(SETTLE_MS);
        claim.wait().unwrap()
    }

    /// The thread that knows when to renew dies when it reads the clock next.
    fn dies(&self) {
        self.clock.panics.store(true, SeqCst);
        self.clock.clock.advance(TTL_MS / 3);
        are_left(&self.guard, 0);
    }
}

/// Who is held up between its readings of the two clocks believes in its record for a shorter time than others do.
#[test]
fn nobody_believes_in_a_record_for_longer_than_it_says() {
    let stage = Stage::new(40);
    let claim = stage.claim();
    let begin = stage.clock.local().as_millis() as i64 - stage.clock.clock.wall().as_unix_millis();
    let believes_until = claim.deadline().unwrap().as_millis() as i64;
    let says_until = stage.cell.record().unwrap().expires().as_unix_millis();
    assert!(believes_until - begin <= says_until, "{believes_until} {begin} {says_until}");
}

#[test]
fn a_claim_whose_guard_died_is_lost_and_nothing_is_waited_for_in_vain() {
    let stage = Stage::new(0);
    let claim = stage.claim();
    let mut lost = claim.lost();
    // As the thread of the records has it, while it hangs in a call.
    let _shared = Arc::clone(&claim.shared);
    stage.dies();
    assert_eq!((claim.is_current(), claim.check()), (false, Err(Loss::GuardDied)));
    assert_eq!(look(&mut lost), Some(Loss::GuardDied));
    assert_eq!(look(&mut claim.stand_down()).unwrap().unwrap_err().why, "the guard died");
}

#[test]
fn a_claim_whose_guard_died_before_it_stood_is_refused() {
    let stage = Stage::new(0);
    let mut claim = stage.guard.claim();
    stage.clock.clock.settle(2);
    stage.dies();
    assert!(matches!(look(&mut claim), Some(Err(ClaimError::GuardDied))));
}
