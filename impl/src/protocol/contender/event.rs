//! What a contender is told and tells.

use crate::protocol::{Fence, LocalTime, Reply, Request, RequestId, Row};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time passed.
    Wake,
    /// The store answered. A reply that nobody waits for any more is the same as `Wake`.
    Reply {
        /// The request's id.
        id: RequestId,
        /// The answer.
        reply: Reply,
    },
    /// A check found that the deadline had passed, and has said so. A renewal that came a moment later, or is under way,
    /// changes nothing (SPEC.md R5.4).
    Latched,
    /// Contend no more. A tenure goes on, and is renewed, until its work has stopped (SPEC.md R6).
    Shutdown,
    /// The tenure's work has stopped: it returned, its process group is empty (SPEC.md R6). Never say so of work that
    /// was dropped, that panicked or that did not stop in time: call [`step`](super::Contender::step) no more, and
    /// the lease runs out.
    WorkStopped,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// To be carried to the store.
    pub request: Option<Request>,
    /// What changed, in order.
    pub events: Vec<Event>,
    /// When to call again if nothing else happens; `None`: only when something does.
    pub next: Option<LocalTime>,
}

/// A change that somebody should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Somebody else holds the lease; told at every look.
    Held(Row),
    /// The row cannot be understood, and why. It counts as held, until somebody mends it (SPEC.md R12).
    Unreadable(String),
    /// The tenure begins.
    Granted(Tenure),
    /// The tenure is over: its work must stop at once. Told once per tenure.
    Lost(Loss),
    /// The lease was given back.
    Released,
    /// The lease could not be given back, and runs out by itself (if its row is readable); or it was not ours any
    /// more, and why.
    NotReleased(Option<Loss>),
    /// Nothing more will come.
    Ended(End),
}

/// A lease as its holder believes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenure {
    /// Its number.
    pub fence: Fence,
    /// From then on nothing may be done in its name (SPEC.md R5). A renewal moves it.
    pub deadline: LocalTime,
}

/// Why a tenure is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// No renewal was confirmed in time; somebody else may hold the lease.
    #[error("no renewal was confirmed before the deadline")]
    DeadlinePassed,
    /// Somebody else holds the lease.
    #[error("superseded by {holder} with fence {fence}")]
    Superseded {
        /// Who.
        holder: String,
        /// With which fence.
        fence: Fence,
    },
    /// The row expired on this machine's wall clock, which stepped or was set wrong.
    #[error("the row has expired on this machine's wall clock: was the clock set?")]
    Expired,
    /// Somebody released the lease by force.
    #[error("the lease was released by somebody else")]
    Released,
    /// It was given back by who held it, on another handle. No loss; a contender never says so itself.
    #[error("the lease was given back")]
    GivenBack,
    /// See [`End::StoreWentBack`].
    #[error("the store went back to an older state")]
    StoreWentBack,
    /// What drives the contender has died of a defect: nothing is renewed any more. A contender never says so itself.
    #[error("the keeper died: nothing is renewed any more")]
    KeeperDied,
}

/// Why a contender contends no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum End {
    /// It was asked to.
    #[error("shut down")]
    Shutdown,
    /// The store no longer knows what it knew: it was restored, replaced or emptied. Fences may repeat, so
    /// nothing may be done until somebody has made sure that no former holder acts (SPEC.md R11).
    #[error("the store went back: fence {floor} was seen before, and now it has {}", found.map_or("no row".to_owned(), |f| format!("fence {f}")))]
    StoreWentBack {
        /// The highest fence seen before.
        floor: Fence,
        /// What it has now.
        found: Option<Fence>,
    },
    /// The last fence was used (SPEC.md R2).
    #[error("the last possible fence was used: this lease name cannot be held again")]
    FencesExhausted,
}
