//! A machine that is suspended, and wall clocks that step.

use super::stage::{Stage, VALIDITY_MS, look};
use crate::clock::SetClock;
use crate::protocol::Loss;

/// SPEC.md R4.2: the boot-time clock jumps, and nobody was called meanwhile.
#[test]
fn after_a_suspension_beyond_the_deadline_nothing_is_held_at_once() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    one.pass(7_000);
    stage.clock.advance(3_600_000);
    assert!(!held.is_held(), "before anything else ran");
    let mut lost = held.lost();
    one.settle();
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
    // It contends again, and does not take the row that it left for its own tenure.
    drop(held);
    assert_eq!(one.acquire("worker").fence().get(), 2);
}

#[test]
fn after_a_short_suspension_the_lease_is_renewed_at_once() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    one.pass(1_000);
    stage.clock.advance(u32::try_from(VALIDITY_MS - 1_001).unwrap());
    assert!(held.is_held());
    one.settle();
    one.pass(60_000);
    assert!(held.is_held());
}

#[test]
fn with_threads_a_suspension_is_noticed_when_the_machine_wakes() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let held = elector.acquire("worker").wait().unwrap();
    let mut lost = held.lost();
    stage.clock.settle(2);
    stage.clock.advance(3_600_000);
    stage.clock.settle(2);
    assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
}

/// Within the bound, a step costs nothing; nobody takes the lease early.
#[test]
fn a_wall_clock_that_steps_within_the_bound_costs_nothing() {
    for step in [-1_000, 1_000] {
        let stage = Stage::new();
        let (mut one, mut other) = (stage.by_hand(1), stage.by_hand(2));
        let held = one.acquire("worker");
        let mut rival = other.elector().acquire("worker");
        assert!(look(&mut rival).is_none());
        step_wall(&stage, step);
        for _ in 0..60 {
            one.pass(500);
            other.settle();
            assert!(held.is_held() && look(&mut rival).is_none(), "{step}");
        }
    }
}

/// Beyond the bound belief is not safe, but fences are, and the holder learns it: a row that has expired on its own
/// wall clock is not revived (SPEC.md R3.3).
#[test]
fn a_wall_clock_that_steps_far_ahead_costs_the_lease_and_no_fence_comes_twice() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let mut lost = held.lost();
    step_wall(&stage, 3_600_000);
    one.pass(5_000);
    assert_eq!(look(&mut lost), Some(Loss::Expired));
    drop(held);
    let held = one.acquire("worker");
    assert_eq!(held.fence().get(), 2);
    assert_eq!(held.fence(), stage.row("worker").unwrap().fence);
}

/// SPEC.md R3.4: the expiry does not go back with the clock.
#[test]
fn a_wall_clock_that_steps_far_back_costs_nothing() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let held = one.acquire("worker");
    let expires_at = stage.row("worker").unwrap().expires_at;
    step_wall(&stage, -3_600_000);
    one.pass(60_000);
    assert!(held.is_held());
    assert!(stage.row("worker").unwrap().expires_at > expires_at);
    // And a rival's patience does not go by the wall clock that went back.
    drop(held);
    one.settle();
    assert_eq!(one.acquire("worker").fence().get(), 2);
}

fn step_wall(stage: &Stage, ms: i64) {
    stage.clock.set_wall(SetClock::BEGIN + ms);
}
