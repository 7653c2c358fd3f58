//! The machine alone, driven by hand.

use crate::instance::machine::{Answer, Input, Machine, Now, Request, Timing};
use crate::instance::{ClaimError, Loss, Seen};
use crate::protocol::{LocalTime, WallTime};

const TIMING: Timing = Timing { ttl_ms: 12_000, settle_ms: 100 };

fn at(ms: u64) -> Now {
    Now { local: LocalTime::from_millis(ms), wall: WallTime::from_unix_millis(1_000_000 + ms as i64) }
}

fn machine(id: &str) -> Machine {
    Machine::new(id.into(), TIMING, None)
}

/// Two machines and one record between them: each request is carried out at once, or at the next `answer`.
struct World {
    machines: [Machine; 2],
    stands: Seen,
    open: [Option<Request>; 2],
    now: u64,
}

impl World {
    fn new() -> Self {
        Self { machines: ["a", "b"].map(machine), stands: Seen::Absent, open: [None, None], now: 1_000 }
    }

    fn step(&mut self, who: usize, input: Input) {
        let request = self.machines[who].step(at(self.now), input);
        assert!(request.is_none() || self.open[who].is_none(), "never two at a time");
        self.open[who] = request.or(self.open[who].take());
    }

    /// Carries out what it has asked.
    fn answer(&mut self, who: usize) -> bool {
        let answer = match self.open[who].take() {
            None => return false,
            Some(Request::Read) => Answer::Read(Ok(self.stands.clone())),
            Some(Request::Write(record)) => {
                self.stands = Seen::Record(record);
                Answer::Done(Ok(()))
            }
            Some(Request::Delete) => {
                self.stands = Seen::Absent;
                Answer::Done(Ok(()))
            }
        };
        self.step(who, Input::Answer(answer));
        true
    }

    fn run_until(&mut self, end: u64) {
        while self.now <= end {
            for who in 0..2 {
                self.step(who, Input::Wake);
                while self.answer(who) {}
            }
            self.now += 10;
        }
    }

    fn current(&mut self) -> [bool; 2] {
        let now = at(self.now).local;
        self.machines.each_mut().map(|m| matches!(m.outcome(), Some(Ok(()))) && m.check(now).is_ok())
    }
}

/// What the settle time does not catch, the next renewal tells.
#[test]
fn of_two_that_both_begin_one_is_told_at_its_next_renewal() {
    let mut world = World::new();
    for who in 0..2 {
        world.step(who, Input::Wake);
    }
    world.answer(0);
    world.answer(1);
    // Both have seen nobody. A writes; B stalls for longer than A's settle time.
    world.answer(0);
    world.now += 100;
    world.step(0, Input::Wake);
    world.answer(0);
    world.answer(1);
    world.run_until(1_400);
    assert_eq!(world.current(), [true, true], "not a lock");
    world.run_until(1_000 + 4_000 + 10);
    assert_eq!(world.current(), [false, true]);
    assert_eq!(world.machines[0].loss(), Some(&Loss::Overwritten { by: "b".into() }));
}

/// Every order of the steps in which two claims begin: at most one of them stands, or one is told by the next renewal.
#[test]
fn whatever_the_order_of_the_first_steps_one_stands_in_the_end() {
    let mut both = 0;
    for order in 0..1_u32 << 12 {
        let mut world = World::new();
        for turn in 0..12 {
            let who = (order >> turn & 1) as usize;
            if !world.answer(who) {
                world.now += 60;
                world.step(who, Input::Wake);
            }
        }
        both += u32::from(world.current() == [true, true]);
        world.run_until(8_000);
        let current = world.current();
        assert_eq!(current.iter().filter(|current| **current).count(), 1, "{order:b}: {current:?}");
    }
    assert!(both > 0, "the race is narrow, and there");
}

#[test]
fn a_call_that_was_not_needed_changes_nothing() {
    let mut machine = machine("a");
    let answers =
        [Input::Wake, Input::Answer(Answer::Done(Ok(()))), Input::Answer(Answer::Read(Ok(Seen::Absent)))];
    assert_eq!(machine.step(at(0), Input::Wake), Some(Request::Read));
    for wrong in &answers[..2] {
        assert_eq!(machine.step(at(1), wrong.clone()), None);
    }
    let Some(Request::Write(record)) = machine.step(at(2), answers[2].clone()) else { panic!() };
    assert_eq!(machine.step(at(3), answers[2].clone()), None);
    assert_eq!(machine.step(at(3), answers[1].clone()), None);
    for early in &answers {
        assert_eq!(machine.step(at(102), early.clone()), None);
    }
    assert_eq!(machine.step(at(103), Input::Wake), Some(Request::Read));
    let ours = Input::Answer(Answer::Read(Ok(Seen::Record(record))));
    assert_eq!(machine.step(at(104), ours), None);
    assert_eq!(machine.outcome().map(Result::is_ok), Some(true));
    // Counted from before the write was sent.
    assert_eq!(machine.next(), Some(LocalTime::from_millis(2 + 4_000)));
    assert_eq!(machine.check(LocalTime::from_millis(104)), Ok(LocalTime::from_millis(2 + 12_000)));
}

/// The machine was suspended while the record settled: by now others may count it as gone.
#[test]
fn a_record_that_settled_for_a_ttl_is_no_claim() {
    let mut machine = machine("a");
    machine.step(at(0), Input::Wake);
    let Some(Request::Write(ours)) = machine.step(at(0), Input::Answer(Answer::Read(Ok(Seen::Absent))))
    else {
        panic!()
    };
    machine.step(at(0), Input::Answer(Answer::Done(Ok(()))));
    assert_eq!(machine.step(at(11_999), Input::Wake), Some(Request::Read));
    let seen = Input::Answer(Answer::Read(Ok(Seen::Record(ours))));
    assert_eq!(machine.step(at(12_000), seen.clone()), Some(Request::Read), "it withdraws");
    assert!(matches!(machine.outcome(), Some(Err(ClaimError::NotWritten(why))) if why.contains("held up")));
    assert_eq!(machine.step(at(12_000), seen), Some(Request::Delete));
}

#[test]
fn a_claim_that_stands_down_before_it_wrote_asks_nothing_more() {
    let mut machine = machine("a");
    machine.step(at(0), Input::Wake);
    assert_eq!(machine.step(at(1), Input::StandDown), None);
    assert_eq!(machine.farewell(), Some(&Ok(())));
    assert_eq!(machine.step(at(2), Input::Answer(Answer::Read(Ok(Seen::Absent)))), None);
    assert_eq!(machine.next(), None);
}

/// What failed may be carried out late, within the settle time: a renewal does not come before it. Of who leaves there is
/// none, and somebody waits for it.
#[test]
fn after_a_failure_the_settle_time_passes_first_and_of_who_leaves_a_second_at_most() {
    let failed = || Input::Answer(Answer::Read(Err("gone".into())));
    let in_ms = |machine: &Machine, from: u64| machine.next().unwrap().as_millis() - from;
    for (ttl_ms, settle_ms, then) in [(12_000, 100, 400), (12_000, 1_500, 1_500), (300_000, 1_000, 10_000)] {
        let mut machine = Machine::new("a".into(), Timing { ttl_ms, settle_ms }, None);
        machine.step(at(0), Input::Wake);
        let Some(Request::Write(ours)) = machine.step(at(0), Input::Answer(Answer::Read(Ok(Seen::Absent))))
        else {
            panic!()
        };
        machine.step(at(0), Input::Answer(Answer::Done(Ok(()))));
        machine.step(at(settle_ms), Input::Wake);
        machine.step(at(settle_ms), Input::Answer(Answer::Read(Ok(Seen::Record(ours)))));
        let renews = ttl_ms / 3;
        assert_eq!(machine.step(at(renews), Input::Wake), Some(Request::Read));
        machine.step(at(renews), failed());
        assert_eq!(in_ms(&machine, renews), then);
        assert_eq!(machine.step(at(renews), Input::StandDown), Some(Request::Read));
        machine.step(at(renews), failed());
        assert_eq!(in_ms(&machine, renews), then.min(1_000));
    }
}

/// A write that took two seconds may have been carried out at their beginning.
#[test]
fn a_renewal_is_believed_from_before_its_write_was_sent_and_one_that_comes_too_late_not_at_all() {
    let read = |seen: Seen| Input::Answer(Answer::Read(Ok(seen)));
    let done = || Input::Answer(Answer::Done(Ok(())));
    let mut machine = machine("a");
    machine.step(at(0), Input::Wake);
    let Some(Request::Write(ours)) = machine.step(at(0), read(Seen::Absent)) else { panic!() };
    machine.step(at(0), done());
    machine.step(at(100), Input::Wake);
    machine.step(at(100), read(Seen::Record(ours.clone())));
    assert_eq!(machine.step(at(4_000), Input::Wake), Some(Request::Read));
    let renewed = machine.step(at(4_001), read(Seen::Record(ours.clone())));
    let Some(Request::Write(renewed)) = renewed else { panic!() };
    assert_eq!((renewed.since, renewed.renewed), (ours.since, at(4_001).wall));
    assert_eq!(machine.step(at(6_000), done()), None);
    assert_eq!(machine.check(at(6_000).local), Ok(LocalTime::from_millis(4_001 + 12_000)));
    assert_eq!(machine.next(), Some(LocalTime::from_millis(4_001 + 4_000)));
    machine.step(at(8_001), Input::Wake);
    machine.step(at(8_001), read(Seen::Record(renewed)));
    assert_eq!(machine.step(at(16_001), done()), None);
    assert!(matches!(machine.check(at(16_001).local), Err(Loss::NotRenewed { .. })));
}
