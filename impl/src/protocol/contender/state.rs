//! Where a contender stands: SPEC.md's states.

use crate::protocol::{End, Fence, LocalTime, RequestId};

/// A request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) id: RequestId,
    /// The local clock before it was sent: what belief counts from (SPEC.md R4).
    pub(super) sent: LocalTime,
    pub(super) give_up_at: LocalTime,
}

/// A request that is to be sent again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// To be sent then.
    Due(LocalTime),
    UnderWay(Flight),
}

impl Errand {
    pub(super) fn next(self) -> LocalTime {
        match self {
            Self::Due(at) => at,
            Self::UnderWay(flight) => flight.give_up_at,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Believes in nothing, asks for nothing until then.
    Waiting {
        poll_at: LocalTime,
    },
    /// Looks at the row.
    Reading(Flight),
    /// Has asked for the row that it read.
    Acquiring(Flight),
    /// Believes until the deadline; its work runs.
    Holding {
        fence: Fence,
        deadline: LocalTime,
        renewal: Errand,
    },
    /// Its tenure is over and its work may still run. `end`: it may not contend again.
    Lost {
        end: Option<End>,
    },
    /// Its work has stopped; it gives the lease back.
    Releasing {
        fence: Fence,
        give_up_at: LocalTime,
        release: Errand,
    },
    Ended,
}

impl State {
    /// The request whose reply is awaited.
    pub(super) fn flight(&self) -> Option<Flight> {
        match self {
            Self::Reading(flight) | Self::Acquiring(flight) => Some(*flight),
            Self::Holding { renewal: errand, .. } | Self::Releasing { release: errand, .. } => match errand {
                Errand::UnderWay(flight) => Some(*flight),
                Errand::Due(_) => None,
            },
            Self::Waiting { .. } | Self::Lost { .. } | Self::Ended => None,
        }
    }

    /// When it next wants to be called, if nothing else happens.
    pub(super) fn next(&self) -> Option<LocalTime> {
        match self {
            Self::Waiting { poll_at } => Some(*poll_at),
            Self::Reading(flight) | Self::Acquiring(flight) => Some(flight.give_up_at),
            Self::Holding { deadline, renewal, .. } => Some(renewal.next().min(*deadline)),
            Self::Releasing { release, .. } => Some(release.next()),
            Self::Lost { .. } | Self::Ended => None,
        }
    }
}
