//! What a contender asks of the store, and what comes back.

use super::{Fence, HolderId, LeaseName, LocalTime, Seen, WallTime};

/// Which request of a contender a reply belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(super) u64);

impl RequestId {
    /// An id for a request that no contender makes: of a tool, or a test.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}

/// A request to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To be handed back with the reply.
    pub id: RequestId,
    /// Which lease.
    pub lease: LeaseName,
    /// Who asks.
    pub holder: HolderId,
    /// When the contender stops waiting for the reply. A request that has not begun by then should not.
    pub give_up_at: LocalTime,
    /// What is asked.
    pub action: Action,
}

/// What is asked of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look at the row.
    Read,
    /// Begin a tenure, if the row is as it was seen and is free in that same write (SPEC.md R1, R2).
    Acquire(Bound),
    /// Prolong the tenure with this fence (SPEC.md R3).
    Renew(Fence),
    /// End the tenure with this fence, at once and for everybody (SPEC.md R3).
    Release(Fence),
}

/// What an acquire is bound to: the row that its contender read (SPEC.md R1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// There was no row.
    Absent,
    /// There was this one.
    Seen {
        /// Its holder.
        holder: String,
        /// Its fence.
        fence: Fence,
        /// What the write must find besides.
        free: Free,
    },
}

/// When a row may be taken; checked in the write itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// At any time: it is the contender's own, which believes in no tenure (SPEC.md R7).
    Now,
    /// Once it is released, or this many milliseconds after its expiry.
    AfterExpiry {
        /// Zero, or the skew that a foreign row did not allow for.
        slack_ms: u64,
    },
    /// Once it is released.
    OnceReleased,
}

impl Free {
    /// The latest expiry that is free at `wall`; a released row's, zero, always is.
    pub fn latest_free_expiry(self, wall: WallTime) -> WallTime {
        match self {
            Self::Now => WallTime::from_unix_millis(i64::MAX),
            Self::AfterExpiry { slack_ms } => {
                let free = wall.as_unix_millis().saturating_sub_unsigned(slack_ms);
                WallTime::from_unix_millis(free.max(0))
            }
            Self::OnceReleased => WallTime::RELEASED,
        }
    }
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a read: what there is, and the wall clock after it was read.
    Seen {
        /// What there is.
        seen: Seen,
        /// The wall clock.
        wall: WallTime,
    },
    /// To an acquire: it is committed, with this fence.
    Granted(Fence),
    /// To a renewal: it is committed.
    Renewed,
    /// To a release: it is committed.
    Released,
    /// The write matched nothing; this stands there instead. Nothing was written.
    Refused(Seen),
    /// No answer that could be trusted: it may have been applied, or may be later (SPEC.md R7).
    Failed,
}
