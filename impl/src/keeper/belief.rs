//! A tenure as its holder believes in it, shared by who drives it and who holds it.

use super::latch::{Latch, Standing};
use super::notice::Notice;
use super::orders::{Hands, Id, Order, Orders};
use super::reach::Reach;
use crate::clock::Clock;
use crate::protocol::{Fence, HolderId, LeaseName, LocalTime, Loss, Tenure, Timing};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, Weak};

/// Why work is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The elector is shut down.
    Shutdown,
    /// Renewals fail, and only the grace is left; or the tenure is over.
    Loss,
}

/// Why a lease was not given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReleased {
    /// It was not ours any more.
    #[error("the lease was not held any more: {0}")]
    Lost(Loss),
    /// The store did not confirm it in time, or work was left that may still act. If it was not released all the same,
    /// it runs out by itself, within the TTL.
    #[error("the release was not confirmed: the lease runs out by itself")]
    RunsOut,
    /// This thread is inside a fenced transaction on the lease's file: a release would wait for that very lock. Nothing was
    /// done.
    #[error("a lease cannot be released inside a transaction on its file")]
    InTransaction,
}

#[derive(Debug)]
pub(crate) struct Belief {
    pub(crate) lease: LeaseName,
    pub(crate) holder: HolderId,
    pub(crate) fence: Fence,
    pub(crate) clock: Arc<dyn Clock>,
    /// Where its row is.
    pub(crate) file: Arc<Path>,
    timing: Timing,
    latch: Latch,
    /// Why it is over, if not because a check found the deadline passed. Written before the latch.
    reason: OnceLock<Loss>,
    /// Whether whoever waited for it has got it.
    taken: AtomicBool,
    /// Its work is to stop.
    pub(crate) stopping: Arc<Notice<Stop>>,
    /// Its work must have stopped by now: what has not is dropped.
    pub(crate) overdue: Arc<Notice<()>>,
    pub(crate) lost: Arc<Notice<Loss>>,
    pub(crate) released: Arc<Notice<Result<(), NotReleased>>>,
}

impl Belief {
    pub(super) fn new(lease: LeaseName, holder: HolderId, tenure: Tenure, reach: &Reach) -> Self {
        Self {
            lease,
            holder,
            fence: tenure.fence,
            clock: Arc::clone(&reach.clock),
            file: Arc::clone(&reach.file),
            timing: reach.timing,
            latch: Latch::new(tenure.deadline),
            reason: OnceLock::new(),
            taken: AtomicBool::new(false),
            stopping: Notice::new(),
            overdue: Notice::new(),
            lost: Notice::new(),
            released: Notice::new(),
        }
    }

    pub(crate) fn take(&self) {
        self.taken.store(true, SeqCst);
    }

    pub(super) fn is_taken(&self) -> bool {
        self.taken.load(SeqCst)
    }

    /// The deadline, or why there is none any more. Compares the clock (SPEC.md R5).
    pub(crate) fn check(&self, now: LocalTime) -> Result<LocalTime, Loss> {
        match self.latch.check(now) {
            Standing::Holds(deadline) => Ok(deadline),
            Standing::Passed => Err(Loss::DeadlinePassed),
            Standing::Told => Err(self.reason.get().cloned().unwrap_or(Loss::DeadlinePassed)),
        }
    }

    /// The same without the reason: no lock, no call but the clock's.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.latch.check(self.clock.local()), Standing::Holds(_))
    }

    /// A renewal was confirmed. False: a check has found the deadline passed before, and that stands.
    pub(crate) fn extend(&self, deadline: LocalTime) -> bool {
        self.latch.extend(deadline)
    }

    /// Ends it, for this reason if it has not ended for another. The reason that counts.
    pub(super) fn end(&self, reason: Loss) -> Loss {
        let _ = self.reason.set(reason);
        self.latch.tell();
        // The latch is over now, whatever the time.
        self.check(LocalTime::from_millis(0)).err().unwrap_or(Loss::DeadlinePassed)
    }

    /// The same, and whoever waits for its end is told.
    pub(super) fn lose(&self, reason: Loss) -> Loss {
        let reason = self.end(reason);
        self.stopping.tell(Stop::Loss);
        self.overdue.tell(());
        self.lost.tell(reason.clone());
        reason
    }

    /// Tells the work to stop when only the grace is left, and that it is overdue when only the time is left that
    /// killing takes. When to look again.
    pub(crate) fn mind_grace(&self, now: LocalTime) -> Option<LocalTime> {
        let deadline = self.check(now).ok()?;
        let stop_at = self.stop_at(deadline);
        let overdue_at = deadline.minus(self.timing.kill_lead_ms());
        if now >= stop_at {
            self.stopping.tell(Stop::Loss);
        }
        if now >= overdue_at {
            self.overdue.tell(());
        }
        [stop_at, overdue_at].into_iter().filter(|at| now < *at).min()
    }

    /// Whether the work may go on: not told to stop, and more than the grace is left.
    pub(crate) fn should_stop(&self) -> bool {
        let now = self.clock.local();
        let in_time = self.check(now).is_ok_and(|deadline| now < self.stop_at(deadline));
        if !in_time {
            self.stopping.tell(Stop::Loss);
        }
        self.stopping.told().is_some()
    }

    /// Whether its work may not run any more, also where nobody has come to tell.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_overdue(&self) -> bool {
        let now = self.clock.local();
        let in_time = |deadline: LocalTime| now < deadline.minus(self.timing.kill_lead_ms());
        !self.check(now).is_ok_and(in_time) || self.overdue.told().is_some()
    }

    fn stop_at(&self, deadline: LocalTime) -> LocalTime {
        deadline.minus(self.timing.grace_ms().max(self.timing.kill_lead_ms()))
    }
}

/// The right to a tenure, and the duty to let it go: the last of its holders to be dropped gives the lease back.
#[derive(Debug)]
pub(crate) struct Custody {
    pub(crate) belief: Arc<Belief>,
    id: Id,
    orders: Arc<Orders>,
    /// Keeps the keeper alive. None are left if nobody is there to receive this: then it is dropped at once.
    hands: Option<Arc<Hands>>,
}

impl Custody {
    pub(super) fn new(belief: Arc<Belief>, id: Id, orders: &Arc<Orders>, hands: &Weak<Hands>) -> Arc<Self> {
        Arc::new(Self { belief, id, orders: Arc::clone(orders), hands: hands.upgrade() })
    }

    /// Keeps the keeper alive for who waits for this tenure's end.
    pub(crate) fn hands(&self) -> Option<Arc<Hands>> {
        self.hands.clone()
    }

    /// The row says that it is over: from now on it is not held, and the keeper tells (SPEC.md R5.4).
    pub(crate) fn find_lost(&self, loss: Loss) {
        self.belief.end(loss);
        self.orders.send(Order::FoundLost(self.id));
    }

    /// Work may be left that nobody has seen stop: the lease is not given back, it runs out (SPEC.md R6).
    pub(crate) fn abandon(&self) {
        self.orders.send(Order::Abandon(self.id));
    }

    /// Gives the lease back though others still hold this: they hold nothing from then on.
    pub(crate) fn release(&self) {
        if !self.orders.send(Order::Release(self.id)) {
            self.belief.released.tell(Err(NotReleased::RunsOut));
        }
    }
}

impl Drop for Custody {
    fn drop(&mut self) {
        self.orders.send(Order::LetGo(self.id));
    }
}
