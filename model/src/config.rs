//! How large the model is, and which rule, if any, is taken away from it.

use crate::state::{Clock, Ticks};
use clap::ValueEnum;

/// A configuration of the model.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long an acquire or a renewal makes the row last.
    pub ttl: Ticks,
    /// How far two wall clocks may be apart.
    pub skew: Ticks,
    /// Whether contenders whose clocks agree are interchangeable: fewer states, but who is A in one
    /// state may be B in the next, so this is not for reading (see [`crate::fold`]).
    pub fold: bool,
    /// The rule that is taken away.
    pub variant: Option<Variant>,
}

impl Config {
    /// How long a holder may believe, counted from the moment its request was *sent*: the TTL less
    /// a margin of the skew. SPEC.md R4.
    ///
    /// R4's further millisecond pays for times cut to whole milliseconds, and its share of the TTL for
    /// drift. Ticks are whole and do not drift here.
    pub fn belief(&self) -> Ticks {
        let margin = if self.breaks(Variant::NoMargin) { 0 } else { self.skew };
        self.ttl - margin
    }

    /// How far a wall clock is ahead.
    pub fn ahead(&self, clock: Clock) -> Ticks {
        match clock {
            Clock::Even => 0,
            Clock::Ahead => self.skew,
        }
    }

    /// Whether this rule is taken away.
    pub fn breaks(&self, variant: Variant) -> bool {
        self.variant == Some(variant)
    }
}

/// The ways to break the protocol: each takes one rule away, in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Variant {
    /// A takeover keeps the fence of the tenure before it (R2).
    NoIncrement,
    /// A release deletes the row, so fences start again at 1 (R2, R3).
    ReleaseDeletes,
    /// The deadline counts from the reply, not from the send (R4).
    DeadlineFromReply,
    /// A holder believes for the whole TTL (R4).
    NoMargin,
    /// A shutdown releases at once, while the work still runs (R6).
    ReleaseFirst,
    /// A renewal goes through although the row is expired or released (R3).
    RenewsTheFree,
    /// The row is looked at, then written without a condition (R1).
    CheckThenWrite,
    /// The write asks whether the row is free, but not whether it is the row that was read (R1).
    UnboundAcquire,
    /// A renewal's reply that arrives past the deadline brings the tenure back (R5).
    LateReplyRevives,
    /// A contender that finds its own id in the row goes on with the fence it finds there (R7).
    OwnRowBelieved,
    /// A grant is believed although its contender was asked to shut down meanwhile (R7).
    HoldsUnwanted,
    /// Ids are not unique: a new contender takes an earlier self's row for its own (R10).
    SharedId,
}

impl Variant {
    /// Its name on the command line and in SPEC.md.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
