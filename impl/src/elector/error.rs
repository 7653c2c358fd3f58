//! What can go wrong, and what to do then.

use crate::protocol::{ConfigError, End, Loss, Row};
use crate::random::NoRandomness;
use crate::store::OpenError;
use std::io;

/// What to do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing is wrong with the program: try again, after a while.
    Retry,
    /// Do nothing more in the lease's name; contend again for another tenure.
    StopActing,
    /// It will not get better by itself: somebody must correct what the error names.
    Fix,
}

/// There is no elector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A duration, a name or a label cannot be used. Nothing was written.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The operating system gave no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The operating system starts no more threads.
    #[error("no thread could be started: {0}")]
    NoThread(#[from] io::Error),
}

impl BuildError {
    /// What to do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Open(OpenError::Busy { .. }) | Self::NoRandomness(_) | Self::NoThread(_) => Remedy::Retry,
            Self::Config(_) | Self::Open(_) => Remedy::Fix,
        }
    }
}

/// A lease was not acquired. Nothing is held.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// The lease's name cannot be used. Nothing was written.
    #[error(transparent)]
    Name(#[from] ConfigError),
    /// Somebody else holds it. Only who does not wait is told.
    #[error("held by {} with fence {}", .0.holder, .0.fence)]
    Held(Row),
    /// This elector contends for it already, holds it, or has lost it and somebody still has the lost one. Only who does not
    /// wait is told.
    #[error("this process contends for the lease already, or has not let go of it")]
    HeldHere,
    /// Its row cannot be understood, and why: it counts as held until somebody mends it (SPEC.md R12). Only who does not
    /// wait is told.
    #[error("its row is unreadable and counts as held: {0}")]
    Unreadable(String),
    /// The store did not answer within the request timeout, and why. Only who does not wait is told.
    #[error("the store did not answer: {0}")]
    NoAnswer(String),
    /// This thread is inside a fenced transaction on the same file: an acquire would wait for that very lock.
    #[error("a lease cannot be acquired inside a transaction on its file")]
    InTransaction,
    /// The elector was shut down.
    #[error("the elector was shut down")]
    ShutDown,
    /// Nobody in this process may contend for it any more, whatever is in the store by now: the store went back (SPEC.md
    /// R11), so fences may repeat, and somebody must make sure that no former holder acts, then start the process again, or
    /// build another elector; or the last fence was used (SPEC.md R2), so that another name is needed.
    #[error(transparent)]
    Ended(End),
    /// The operating system gave no random numbers for a holder id (SPEC.md R10).
    #[error(transparent)]
    NoRandomness(NoRandomness),
    /// The keeper has died of a defect, or this process is a fork of the one that built the elector: build another.
    #[error("the keeper died: build another elector")]
    KeeperDied,
}

impl AcquireError {
    /// What to do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Held(_) | Self::HeldHere | Self::NoAnswer(_) | Self::NoRandomness(_) => Remedy::Retry,
            Self::ShutDown => Remedy::StopActing,
            Self::Name(_) | Self::InTransaction | Self::Unreadable(_) | Self::Ended(_) | Self::KeeperDied => {
                Remedy::Fix
            }
        }
    }
}

impl From<End> for AcquireError {
    fn from(end: End) -> Self {
        match end {
            End::Shutdown => Self::ShutDown,
            End::StoreWentBack { .. } | End::FencesExhausted => Self::Ended(end),
        }
    }
}

impl Loss {
    /// What to do: always, to stop acting. Whether contending again can help is told by the next acquire.
    pub fn remedy(&self) -> Remedy {
        Remedy::StopActing
    }
}
