//! A claim that stands.

use super::error::{ClaimError, Loss, NotRemoved};
use super::machine::Input;
use super::shared::Shared;
use crate::clock::block_on;
use crate::elector::Wait;
use crate::protocol::LocalTime;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;

/// How long a claim that is dropped waits at most until its record is removed.
const DROP_PATIENCE_MS: u64 = 5_000;

/// This instance is announced, and its record is renewed each third of its TTL for as long as this is there.
///
/// Dropping it stops the renewals and removes the record, if it is still ours; that blocks, at most 5 seconds by its clock. An
/// async program awaits [`stand_down`](Self::stand_down) instead. If the process ends before, by `exit`, a signal, or a crash, the
/// record is live until its TTL has passed.
#[must_use = "an instance whose claim is dropped stands down"]
pub struct Claim {
    pub(super) shared: Arc<Shared>,
    /// Whether its end is still to be told, and whether to wait for that.
    on_drop: OnDrop,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    Nothing,
    StandDown,
    StandDownAndWait,
}

impl Claim {
    /// One that somebody waits for, and may cease to.
    pub(super) fn pending(shared: Arc<Shared>) -> Self {
        Self { shared, on_drop: OnDrop::StandDown }
    }

    /// What comes of it.
    pub(crate) fn outcome(&self) -> Wait<Result<(), ClaimError>> {
        Wait::new(&self.shared.clock, self.shared.outcome.listen())
    }

    pub(crate) fn stands(mut self) -> Self {
        self.on_drop = OnDrop::StandDownAndWait;
        self
    }

    /// The id in the record: the label, and a random number.
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Whether the record was ours when it was looked at last, and has been renewed within the TTL. It compares the clock,
    /// and needs no answer from the store; once it is false it never is true again. It does not say that no other instance
    /// acts: this is not a lock.
    pub fn is_current(&self) -> bool {
        self.check().is_ok()
    }

    /// The same, with the reason.
    ///
    /// # Errors
    /// Why it is not: stop this instance.
    pub fn check(&self) -> Result<(), Loss> {
        self.deadline().map(|_| ())
    }

    /// The reading of the local clock at which it is not current any more, unless the record is renewed before.
    ///
    /// # Errors
    /// Why it is not current: stop this instance.
    pub fn deadline(&self) -> Result<LocalTime, Loss> {
        self.shared.check()
    }

    /// What the last try to renew came to, if it failed. The claim stands meanwhile, until its [`deadline`](Self::deadline).
    pub fn trouble(&self) -> Option<String> {
        self.shared.trouble()
    }

    /// Why it is not renewed, as far as is known.
    #[cfg(feature = "cli")]
    pub(crate) fn obstacle(&self) -> String {
        self.shared.obstacle()
    }

    /// Comes when somebody overwrote the record, when it could not be renewed for a TTL, or when it was stood down. On
    /// time, also while the store hangs in a call.
    pub fn lost(&self) -> Wait<Loss> {
        Wait::new(&self.shared.clock, self.shared.lost.listen())
    }

    /// Stops the renewals, and removes the record if it is still ours. It begins with the call. It comes when that is done, or
    /// after a third of the TTL.
    ///
    /// The record is read, then deleted: if another instance writes its own between the two, which it does only if it finds
    /// ours run out, that one is deleted, and its next renewal writes it again.
    ///
    /// # Errors
    /// [`NotRemoved`]: it runs out.
    pub fn stand_down(mut self) -> Wait<Result<(), NotRemoved>> {
        self.on_drop = OnDrop::Nothing;
        self.shared.put(Input::StandDown);
        Wait::new(&self.shared.clock, self.shared.farewell.listen())
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claim({:?}, {:?})", self.id(), self.check())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.on_drop == OnDrop::Nothing {
            return;
        }
        self.shared.put(Input::StandDown);
        if self.on_drop == OnDrop::StandDownAndWait {
            let clock = &*self.shared.clock;
            let until = clock.local().plus(DROP_PATIENCE_MS);
            let _ = block_on(clock, pin!(self.shared.farewell.listen()), Some(until));
        }
    }
}
