//! How large the model is, what can happen in it, and which rule, if any, is taken away.

use crate::state::{Clock, Holder, Ticks, Who};
pub use crate::variants::Variant;
use clap::ValueEnum;

/// When somebody else may take a row over. The policy of a row is its holder's, whoever takes it. SPEC.md R10
/// and section 6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Policy {
    /// When its expiry has come on the taker's wall clock.
    WallClock,
    /// When the taker has seen it unchanged for long enough by its local clock.
    Observed,
    /// System A's: a row that is not Tenure's. It works up to the expiry on its own wall clock.
    SystemA,
}

/// A part of the world that can be switched on: something that can go wrong, or that is done with a lease.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Part {
    /// A request, or its reply, is lost; its sender gives up on it: an unknown outcome.
    Failures,
    /// What was given up on is carried out at any later time, also after its sender has died.
    LateRequests,
    /// A contender crashes, and starts again as somebody else.
    Crashes,
    /// A contender is asked to shut down.
    Shutdowns,
    /// Work is dropped, so that nobody knows whether it has stopped.
    DroppedWork,
    /// Wall clocks step, both ways, within the bound.
    ClockSteps,
    /// Wall clocks step beyond every bound, and back.
    WrongClocks,
    /// Local clocks drift.
    Drift,
    /// A write that failed comes true when the store recovers.
    Recovery,
    /// The host loses power: all that was not durable is gone, and so is everybody.
    PowerLoss,
    /// The store is put back to an older state, or emptied, while nobody acts; floors survive.
    Restore,
    /// The store is emptied at any moment, and floors do not survive their contender.
    LostFloors,
    /// The file is replaced by a copy, while nobody acts.
    Replacement,
    /// Somebody makes the row unreadable; an operator mends it.
    UnreadableRow,
    /// Fences come to the integer's end.
    LastFence,
    /// One contender's policy is `Observed`.
    Observed,
    /// One contender is system A's.
    SystemA,
    /// Holders act on something that checks nothing.
    UnfencedActs,
    /// Holders act on something behind a gate.
    GatedActs,
    /// Holders act in the store's transactions.
    FencedActs,
}

impl Part {
    /// Its name on the command line and in tables.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A set of parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts(u32);

impl Parts {
    /// These.
    pub const fn of(parts: &[Part]) -> Parts {
        let (mut bits, mut i) = (0, 0);
        while i < parts.len() {
            bits |= 1 << parts[i] as u32;
            i += 1;
        }
        Parts(bits)
    }

    /// Whether it is among them.
    pub const fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// These and those.
    pub const fn and(self, others: Parts) -> Parts {
        Parts(self.0 | others.0)
    }
}

/// A configuration of the model.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long an acquire or a renewal makes the row last.
    pub ttl: Ticks,
    /// How far two wall clocks may be apart, steps included.
    pub skew: Ticks,
    /// What can happen.
    pub parts: Parts,
    /// Each contender's policy, by its place.
    pub policies: [Policy; 5],
    /// Whether contenders whose clocks agree are interchangeable: fewer states, but who is A in one
    /// state may be B in the next, so this is not for reading (see [`crate::fold`]).
    pub fold: bool,
    /// The rule that is taken away.
    pub variant: Option<Variant>,
}

impl Config {
    /// Everybody goes by `WallClock`, and nothing goes wrong but that contenders stall and clocks differ.
    pub const PLAIN: Config = Config {
        ttl: 3,
        skew: 1,
        parts: Parts::of(&[]),
        policies: [Policy::WallClock; 5],
        fold: false,
        variant: None,
    };

    /// This, with these parts switched on, whose contenders are the second for `Observed` and the first for
    /// `SystemA`. Where clocks drift, a TTL of 3 leaves no room for a renewal.
    pub const fn with(mut self, parts: &[Part]) -> Config {
        self.parts = self.parts.and(Parts::of(parts));
        if self.parts.has(Part::Observed) {
            self.policies[1] = Policy::Observed;
        }
        if self.parts.has(Part::SystemA) {
            self.policies[0] = Policy::SystemA;
        }
        if self.parts.has(Part::Drift) && self.skew > 0 {
            self.ttl = 4;
        }
        self
    }

    /// Whether this can happen.
    pub const fn has(&self, part: Part) -> bool {
        self.parts.has(part)
    }

    /// Whether this rule is taken away.
    pub fn breaks(&self, variant: Variant) -> bool {
        self.variant == Some(variant)
    }

    /// Whether fences are numbers up to a last one, and not ranks. Where the store forgets and nobody remembers, old
    /// fences and new ones come in any order, of which there are too many.
    pub fn counts_fences(&self) -> bool {
        self.has(Part::LastFence) || self.has(Part::LostFloors)
    }

    /// How much a local clock may lose or gain in the longest time that is measured by it.
    pub fn drift(&self) -> Ticks {
        Ticks::from(self.has(Part::Drift))
    }

    /// How much earlier than the TTL a holder stops to believe. R4's further millisecond pays for times cut to
    /// whole milliseconds; ticks are whole. SPEC.md R4.
    pub fn margin(&self) -> Ticks {
        let drift = if self.breaks(Variant::NoDriftMargin) { 0 } else { self.drift() };
        let skew = if self.breaks(Variant::NoMargin) { 0 } else { self.skew };
        skew + drift
    }

    /// How long a holder may believe, counted from the moment its request was *sent*. System A knows no
    /// margin. SPEC.md R4.
    pub fn belief(&self, who: Who) -> Ticks {
        let careless = self.breaks(Variant::OneWithoutMargin) && who == Who(0);
        let careless = careless || self.policy(who) == Policy::SystemA;
        self.ttl - if careless { 0 } else { self.margin() }
    }

    /// For how long an `Observed` row must have been seen unchanged.
    pub fn patience(&self) -> Ticks {
        self.ttl + self.skew + self.drift()
    }

    /// How far a wall clock is ahead, unless it is far beyond.
    pub fn ahead(&self, clock: Clock) -> Option<Ticks> {
        match clock {
            Clock::Even => Some(0),
            Clock::Ahead => Some(self.skew),
            Clock::Far => None,
        }
    }

    /// The wall clocks that there can be.
    pub fn clocks(&self) -> &'static [Clock] {
        match (self.skew, self.has(Part::WrongClocks)) {
            (0, false) => &[Clock::Even],
            (0, true) => &[Clock::Even, Clock::Far],
            (_, false) => &[Clock::Even, Clock::Ahead],
            (_, true) => &[Clock::Even, Clock::Ahead, Clock::Far],
        }
    }

    /// Whether wall clocks may be set.
    pub fn clocks_step(&self) -> bool {
        self.has(Part::ClockSteps) || self.has(Part::WrongClocks)
    }

    /// A contender's policy.
    pub fn policy(&self, who: Who) -> Policy {
        self.policies[who.index()]
    }

    /// The policy of whoever has this id.
    pub fn policy_of(&self, holder: Holder) -> Policy {
        match holder {
            Holder::Contender(who) => self.policy(who),
            Holder::Gone(policy) => policy,
        }
    }

    /// Whether somebody's policy is this.
    pub fn anybody(&self, contenders: usize, policy: Policy) -> bool {
        self.policies[..contenders].contains(&policy)
    }

    /// Whether rows have to be watched by anybody.
    pub fn watches(&self, contenders: usize) -> bool {
        self.anybody(contenders, Policy::Observed)
    }

    /// The id of a contender. SPEC.md R10.
    pub fn id(&self, who: Who) -> Holder {
        Holder::Contender(if self.ids_shared() { Who(0) } else { who })
    }

    /// Whether a new contender has its earlier self's id, and a twin's.
    pub fn ids_shared(&self) -> bool {
        self.breaks(Variant::SharedId) || self.breaks(Variant::RestartAdopts)
    }

    /// Whether this contender is promised that it acts alone: wall clocks keep their bound, or nobody goes by them
    /// where its row is concerned; and nothing is forgotten under which somebody may still act. SPEC.md section 7.
    pub fn promises_exclusion(&self, who: Who, contenders: usize) -> bool {
        let observed = self.policy(who) == Policy::Observed && !self.anybody(contenders, Policy::SystemA);
        (observed || !self.has(Part::WrongClocks)) && !self.has(Part::LostFloors)
    }

    /// Whether floors are remembered; where the store cannot go back, nobody needs one.
    pub fn keeps_floors(&self) -> bool {
        self.has(Part::Restore) || self.has(Part::LostFloors)
    }

    /// Whether a renewal of one tenure may match a later one.
    pub fn renews_any_fence(&self) -> bool {
        self.breaks(Variant::RenewalByName) || self.breaks(Variant::RenewalWithoutFence)
    }

    /// Whether a release of one tenure may match a later one.
    pub fn releases_any_fence(&self) -> bool {
        self.breaks(Variant::ReleaseWithoutFence)
    }
}
