//! The one word that says whether a tenure is held: SPEC.md R5.
//!
//! It is a deadline, and once it is not, it never is again. So whoever finds the deadline passed writes that down by
//! compare and exchange, and a renewal that comes a moment later finds no deadline to prolong.

use crate::protocol::LocalTime;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the word is kept in: an atomic, here the standard library's, in the test one of `loom`'s.
pub(crate) trait Word {
    fn load(&self) -> u64;
    /// Whether it was `old` and is `new` now.
    fn exchange(&self, old: u64, new: u64) -> bool;
}

impl Word for AtomicU64 {
    fn load(&self) -> u64 {
        Self::load(self, Ordering::Acquire)
    }

    fn exchange(&self, old: u64, new: u64) -> bool {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A check found the deadline passed.
const PASSED: u64 = u64::MAX;
/// The tenure is over for a reason that was written down before.
const TOLD: u64 = u64::MAX - 1;

#[derive(Debug)]
pub(crate) struct Latch<W = AtomicU64>(W);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Holds(LocalTime),
    Passed,
    Told,
}

impl Latch {
    pub(crate) fn new(deadline: LocalTime) -> Self {
        Self(AtomicU64::new(word(deadline)))
    }
}

/// No deadline is ever so far ahead that its word would mean something else.
fn word(deadline: LocalTime) -> u64 {
    deadline.as_millis().min(TOLD - 1)
}

impl<W: Word> Latch<W> {
    fn standing(&self) -> Standing {
        match self.0.load() {
            PASSED => Standing::Passed,
            TOLD => Standing::Told,
            deadline => Standing::Holds(LocalTime::from_millis(deadline)),
        }
    }

    /// Compares the clock; a deadline that has come is past for good (SPEC.md R5).
    pub(crate) fn check(&self, now: LocalTime) -> Standing {
        loop {
            match self.standing() {
                Standing::Holds(deadline) if now >= deadline => {
                    // If this fails, the tenure was prolonged, or is over, since the look: look again.
                    self.0.exchange(word(deadline), PASSED);
                }
                standing => return standing,
            }
        }
    }

    /// Prolongs the tenure. False: it is over.
    pub(crate) fn extend(&self, later: LocalTime) -> bool {
        self.replace(|deadline| word(deadline.max(later)))
    }

    /// The tenure is over for a reason that is written down. False: it was over already.
    pub(crate) fn tell(&self) -> bool {
        self.replace(|_| TOLD)
    }

    fn replace(&self, new: impl Fn(LocalTime) -> u64) -> bool {
        loop {
            match self.standing() {
                Standing::Holds(deadline) if self.0.exchange(word(deadline), new(deadline)) => return true,
                Standing::Holds(_) => {}
                Standing::Passed | Standing::Told => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64 as LoomU64;

    impl Word for LoomU64 {
        fn load(&self) -> u64 {
            Self::load(self, Ordering::Acquire)
        }

        fn exchange(&self, old: u64, new: u64) -> bool {
            self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
        }
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }

    /// SPEC.md R5: in every interleaving of two checks, a renewal and a loss, who was once told that the tenure is over
    /// is never told otherwise, a renewal that took effect is seen by the next check, and the loss has one reason.
    #[test]
    fn what_was_found_lost_is_never_held_again_in_any_interleaving() {
        loom::model(|| {
            let latch = Arc::new(Latch(LoomU64::new(100)));
            let checks = |latch: &Latch<LoomU64>| {
                let first = latch.check(at(100));
                let second = latch.check(at(101));
                let held = |standing| matches!(standing, Standing::Holds(_));
                assert!(held(first) || second == first, "{first:?}, then {second:?}");
                assert!(!held(first) || first == Standing::Holds(at(200)));
            };
            let checking = loom::thread::spawn({
                let latch = Arc::clone(&latch);
                move || checks(&latch)
            });
            let losing = loom::thread::spawn({
                let latch = Arc::clone(&latch);
                move || latch.tell()
            });
            let extended = latch.extend(at(200));
            checking.join().unwrap();
            let told = losing.join().unwrap();
            let last = latch.check(at(150));
            assert_eq!(told, last == Standing::Told, "{last:?}");
            assert!(extended || last != Standing::Holds(at(200)));
            assert!(told || last == Standing::Passed || extended);
        });
    }

    #[test]
    fn a_deadline_is_passed_when_it_has_come_and_not_before() {
        let latch = Latch::new(at(100));
        assert_eq!(latch.check(at(99)), Standing::Holds(at(100)));
        assert!(latch.extend(at(50)), "an older renewal");
        assert_eq!(latch.check(at(99)), Standing::Holds(at(100)), "does not shorten it");
        assert_eq!(latch.check(at(100)), Standing::Passed);
        assert!(!latch.extend(at(200)));
        assert!(!latch.tell());
        assert_eq!(latch.check(at(0)), Standing::Passed);
    }
}
