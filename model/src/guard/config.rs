//! How large the model is, what can go wrong, and the rule that is taken away.

use crate::state::{Ticks, Who};
use clap::ValueEnum;

/// A configuration of the guard's model.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long a record is live after it was written. It is renewed each third of this.
    pub ttl: Ticks,
    /// How long after the first write it is read back; 0: it is not.
    pub settle: Ticks,
    /// How many ticks may pass at most between the moment when the store carries out a read and the moment when it carries
    /// out the write that rests on it; `None`: any number.
    pub delay: Option<Ticks>,
    /// By how many ticks the second instance's wall clock is ahead of the first's.
    pub ahead: i8,
    /// Requests fail, and may have been carried out.
    pub failures: bool,
    /// Requests that failed are carried out later.
    pub late: bool,
    /// Instances crash, and start again.
    pub crashes: bool,
    /// Somebody makes the record unreadable.
    pub garbled: bool,
    /// Once both run, nothing fails or waits any more.
    pub goes_on: bool,
    /// The rule that is taken away.
    pub variant: Option<Variant>,
}

impl Config {
    /// Nothing goes wrong, but that anything can take any time.
    pub const PLAIN: Config = Config {
        ttl: 6,
        settle: 1,
        delay: None,
        ahead: 0,
        failures: false,
        late: false,
        crashes: false,
        garbled: false,
        goes_on: false,
        variant: None,
    };

    /// Whatever can go wrong between a process and a store.
    pub const FAULTY: Config = Config { failures: true, late: true, crashes: true, ..Config::PLAIN };

    /// How often the record is renewed.
    pub fn third(&self) -> Ticks {
        self.ttl / 3
    }

    /// By how many ticks the reader's wall clock is ahead of the writer's.
    pub fn ahead_of(&self, reader: Who, writer: Who) -> i8 {
        self.ahead * (reader.0 as i8 - writer.0 as i8)
    }

    /// Beyond this the age of a record makes no difference.
    pub fn oldest(&self) -> Ticks {
        self.ttl + self.third() + self.ahead.unsigned_abs()
    }

    /// Whether this rule is taken away.
    pub fn breaks(&self, variant: Variant) -> bool {
        self.variant == Some(variant)
    }
}

/// The ways to break the guard: each takes one rule, or a part of one, away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Variant {
    /// An instance does not look before it writes (G1.1).
    NoLook,
    /// A record is judged by the wall clock when the answer arrives, not when it was asked for (G1.2).
    JudgedLate,
    /// A record that cannot be read counts as nobody's (G2.1).
    UnreadableFree,
    /// A read that fails counts as nobody's record (G2.2).
    FailureFree,
    /// A claim stands as soon as its record is written (G3.1).
    NoReadBack,
    /// The settle time counts from before the write is sent, not from its answer (G3.2).
    SettleFromSend,
    /// An instance that reads back that nothing is there goes on (G3.3).
    AbsentStands,
    /// A claim stands although its record has run out meanwhile (G3.4).
    ExpiredStands,
    /// A renewal does not look what stands there (G4.1).
    RenewsUnchecked,
    /// An instance runs until its last renewal has been answered for a TTL (G5.1).
    UntilFromReply,
    /// A renewal that failed counts as one that was carried out (G5.2).
    FailureExtends,
    /// A renewal that is answered too late brings the claim back (G5.3).
    LateReplyRevives,
    /// What failed is asked again before it has settled (G5.4).
    RetriesAtOnce,
    /// A record from the future is live until a TTL after it was first seen, changed or not (G6.2).
    SightingKept,
    /// A record is removed unseen (G7.1).
    RemovesUnseen,
    /// The record is removed while a write is still under way (G7.2).
    RemovesAtOnce,
    /// A first write that failed counts as one that was not carried out (G7.3).
    FailureForgotten,
}

impl Variant {
    /// Its name on the command line and in SPEC.md.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
