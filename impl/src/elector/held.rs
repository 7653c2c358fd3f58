//! A lease that is held.

use super::wait::Wait;
use crate::fenced::inside::is_inside;
use crate::keeper::{Belief, Custody, NotReleased};
use crate::protocol::{Fence, HolderId, LeaseName, LocalTime, Loss};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A lease that is held, as far as this process can tell by its clock. It is renewed for as long as this, or a clone of
/// it, is there.
///
/// Hand [`fence`](Self::fence) to whatever you write to. Ask [`is_held`](Self::is_held) before each act: it compares the
/// clock, and needs no answer from the store and no other thread (SPEC.md R5). Between the answer and the act the
/// process may stall; then only whoever receives the act, and compares fences, can refuse it.
///
/// Dropping the last clone gives the lease back, in the background; so drop it only when the work has stopped
/// (SPEC.md R6), and not at once, as `let _ = …` does. Only where it is the last handle of its elector, which was dropped
/// before, the drop waits for the store, at most the request timeout. Dropped by a panic, it gives nothing back: work may
/// be left, so the lease runs out, within its TTL. The same is so if the process ends before, by `exit`, a signal, or a
/// crash.
#[derive(Clone)]
#[must_use = "a lease that is dropped is given back"]
pub struct Held(pub(crate) Arc<Custody>);

impl Held {
    pub(super) fn taken(custody: Arc<Custody>) -> Self {
        custody.belief.take();
        Self(custody)
    }

    fn belief(&self) -> &Belief {
        &self.0.belief
    }

    pub(crate) fn file(&self) -> &Path {
        &self.belief().file
    }

    /// The lease's name.
    pub fn lease(&self) -> &LeaseName {
        &self.belief().lease
    }

    /// The tenure's number: higher than that of every tenure before it (SPEC.md R2).
    ///
    /// Whatever you write to keeps the highest that it has seen, and refuses a lower one. In a database, in the
    /// transaction of the write itself, which goes on only if this changes one row:
    ///
    /// ```sql
    /// UPDATE gates SET fence = :fence WHERE name = :name AND fence <= :fence
    /// ```
    ///
    /// Where a store may go back to an older state, and so give out a fence twice, it also keeps the holder, and refuses an
    /// equal fence of another one (SPEC.md R9.4). The examples of the repository have the whole of it.
    pub fn fence(&self) -> Fence {
        self.belief().fence
    }

    /// Who we are in the row.
    pub fn holder(&self) -> &HolderId {
        &self.belief().holder
    }

    /// Whether it is held: a clock comparison, no lock, no call of the store. Once it is not, it never is again
    /// (SPEC.md R5).
    pub fn is_held(&self) -> bool {
        self.belief().is_held()
    }

    /// The fence, if it is held.
    ///
    /// # Errors
    /// Why it is not: stop acting.
    pub fn check(&self) -> Result<Fence, Loss> {
        self.deadline().map(|_| self.fence())
    }

    /// How long it is held yet, unless a renewal is confirmed before.
    ///
    /// # Errors
    /// Why it is not held: stop acting.
    pub fn remaining(&self) -> Result<Duration, Loss> {
        let now = self.belief().clock.local();
        self.belief().check(now).map(|deadline| now.until(deadline))
    }

    /// The reading of the elector's local clock at which it is not held any more, unless a renewal is confirmed before.
    ///
    /// # Errors
    /// Why it is not held: stop acting.
    pub fn deadline(&self) -> Result<LocalTime, Loss> {
        let belief = self.belief();
        belief.check(belief.clock.local())
    }

    /// Comes when it is not held any more, once, with the reason.
    ///
    /// It is told by the keeper, on time even while the store hangs. On a runtime that is starved it may come late:
    /// [`is_held`](Self::is_held) is right in any case.
    pub fn lost(&self) -> Wait<Loss> {
        let (lost, hands) = (self.belief().lost.listen(), self.0.hands());
        Wait::new(&self.belief().clock, async move {
            let loss = lost.await;
            drop(hands);
            loss
        })
    }

    /// Whether the work should stop: the elector is shut down, renewals fail and only the grace is left, or it is not
    /// held any more. Once it should, it always should. Long work on a thread asks this now and then.
    pub fn should_stop(&self) -> bool {
        self.belief().should_stop()
    }

    /// Comes when the work should stop.
    pub fn stopping(&self) -> Wait<()> {
        let (stopping, hands) = (self.belief().stopping.listen(), self.0.hands());
        Wait::new(&self.belief().clock, async move {
            stopping.await;
            drop(hands);
        })
    }

    /// Gives the lease back now, whoever else has a clone of this: for them it is lost. The work must have stopped
    /// (SPEC.md R6). Comes when the store has confirmed it; that is waited for at most the request timeout.
    ///
    /// # Errors
    /// [`NotReleased`]: it was lost before, or the store did not confirm it.
    pub fn release(self) -> Wait<Result<(), NotReleased>> {
        let (released, clock) = (self.belief().released.listen(), Arc::clone(&self.belief().clock));
        if is_inside(self.file()) {
            return Wait::new(&clock, async { Err(NotReleased::InTransaction) });
        }
        self.0.release();
        Wait::new(&clock, async move {
            let outcome = released.await;
            drop(self);
            outcome
        })
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Belief { lease, fence, holder, .. } = self.belief();
        write!(f, "Held({:?}, fence {fence}, {holder}, {:?})", lease.as_str(), self.remaining())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}
