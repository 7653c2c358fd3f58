//! What becomes of the protocol without each of its rules.

use crate::Lease;
use crate::check::SMALL;
use crate::config::{Config, Part, Policy, Variant};
use crate::properties::{
    BELIEF_IS_BACKED, GRANTS_RISE, HANDED_OVER, HARMS, NONE_STALE, NONE_UNWANTED, ONE_ACTS,
    ONE_TENURE_A_FENCE, OUTCOMES, SUPERSEDED_LEARN,
};
use crate::walk::shortest_breaks;

/// Properties that break, by runs of one length: none is shorter. No properties: nothing breaks, however long the run.
pub type Soonest = (usize, &'static [&'static str]);

/// What breaks without a rule.
#[derive(Clone, Copy, Debug)]
pub struct Broken {
    /// The rule that is taken away.
    pub variant: Variant,
    /// Its number in SPEC.md, or the section that asks for it.
    pub rule: &'static str,
    /// The first sign, of all [`crate::properties::OUTCOMES`].
    pub sign: Soonest,
    /// The first harm, of [`crate::properties::HARMS`].
    pub harm: Soonest,
}

impl Broken {
    /// Where SPEC.md asks for it.
    pub fn place(&self) -> String {
        if self.rule.starts_with('R') { self.rule.to_owned() } else { format!("§{}", self.rule) }
    }
}

const fn breaks(variant: Variant, rule: &'static str, sign: Soonest, harm: Soonest) -> Broken {
    Broken { variant, rule, sign, harm }
}

/// For each variant what it breaks, and how soon. What breaks nothing is no matter of safety: SPEC.md says so.
#[rustfmt::skip] // a table
pub const BROKEN: [Broken; 55] = [
    breaks(Variant::CheckThenWrite, "R1.1", (7, &[BELIEF_IS_BACKED]), (8, &[ONE_ACTS])),
    breaks(Variant::UnboundAcquire, "R1.2", (8, &[BELIEF_IS_BACKED]), (14, &[ONE_ACTS])),
    breaks(Variant::UntestedAcquire, "R1.3", (6, &[BELIEF_IS_BACKED]), (7, &[ONE_ACTS])),
    breaks(Variant::ClockBeforeLock, "R1.4", (0, &[]), (0, &[])),
    breaks(Variant::NoIncrement, "R2.1", (8, &[GRANTS_RISE]), (10, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::NoIncrementAgain, "R2.1", (7, &[GRANTS_RISE]), (10, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::FenceCleared, "R2.2", (10, &[GRANTS_RISE]), (11, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::ReleaseDeletes, "R2.3", (10, &[GRANTS_RISE]), (11, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::FenceSaturates, "R2.4", (20, &[GRANTS_RISE]), (21, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::RenewalByName, "R3.1", (11, &[SUPERSEDED_LEARN]), (11, &[SUPERSEDED_LEARN])),
    breaks(Variant::RenewalWithoutFence, "R3.1", (0, &[]), (0, &[])),
    breaks(Variant::WithoutHolder, "R3.1", (11, &[SUPERSEDED_LEARN]), (11, &[SUPERSEDED_LEARN])),
    breaks(Variant::ReleaseWithoutFence, "R3.1", (12, &[BELIEF_IS_BACKED]), (16, &[ONE_ACTS])),
    breaks(Variant::RenewsTheReleased, "R3.2", (10, &[HANDED_OVER]), (10, &[HANDED_OVER])),
    breaks(Variant::RenewsTheExpired, "R3.3", (0, &[]), (0, &[])),
    breaks(Variant::RenewalUnchanged, "R3.4", (19, &[BELIEF_IS_BACKED]), (23, &[ONE_ACTS])),
    breaks(Variant::ReleaseWritesNow, "R3.5", (7, &[HANDED_OVER]), (7, &[HANDED_OVER])),
    breaks(Variant::DeadlineFromReply, "R4.1", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::BlindToSuspend, "R4.2", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::WallClockFirst, "R4.3", (10, &[BELIEF_IS_BACKED]), (14, &[ONE_ACTS])),
    breaks(Variant::NoMargin, "R4.4", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::NoDriftMargin, "R4.4", (8, &[BELIEF_IS_BACKED]), (12, &[ONE_ACTS])),
    breaks(Variant::OneWithoutMargin, "R4.5", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::BlackoutIgnored, "R5.1", (7, &[BELIEF_IS_BACKED]), (11, &[ONE_ACTS])),
    breaks(Variant::LateReplyRevives, "R5.2", (9, &[ONE_TENURE_A_FENCE]), (9, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::TimerTrusted, "R5.3", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::Unlatched, "R5.4", (10, &[ONE_TENURE_A_FENCE]), (10, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::ReleaseFirst, "R6.1", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::DroppedReleased, "R6.3", (6, &[BELIEF_IS_BACKED]), (10, &[ONE_ACTS])),
    breaks(Variant::FailureBelieved, "R7.1", (7, &[BELIEF_IS_BACKED]), (12, &[ONE_TENURE_A_FENCE, ONE_ACTS])),
    breaks(Variant::FailureExtends, "R7.2", (8, &[ONE_TENURE_A_FENCE, BELIEF_IS_BACKED]), (8, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::OwnRowBelieved, "R7.3", (7, &[ONE_TENURE_A_FENCE, BELIEF_IS_BACKED]), (7, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::HoldsUnwanted, "R7.5", (5, &[NONE_UNWANTED]), (5, &[NONE_UNWANTED])),
    breaks(Variant::NotDurable, "R8.1", (8, &[GRANTS_RISE]), (10, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::LazyRenewals, "R8.4", (10, &[BELIEF_IS_BACKED]), (14, &[ONE_ACTS])),
    breaks(Variant::ActUnchecked, "R9.1", (11, &[NONE_STALE]), (11, &[NONE_STALE])),
    breaks(Variant::ActWithoutFence, "R9.1", (11, &[NONE_STALE]), (11, &[NONE_STALE])),
    breaks(Variant::ActWithoutHolder, "R9.1", (10, &[NONE_STALE]), (10, &[NONE_STALE])),
    breaks(Variant::GateAdmitsLower, "R9.4", (14, &[NONE_STALE]), (14, &[NONE_STALE])),
    breaks(Variant::GateAdmitsEqual, "R9.4", (13, &[NONE_STALE]), (13, &[NONE_STALE])),
    breaks(Variant::ReadsFirst, "R9.5", (14, &[NONE_STALE]), (14, &[NONE_STALE])),
    breaks(Variant::SharedId, "R10.1", (4, &[BELIEF_IS_BACKED]), (8, &[ONE_ACTS])),
    breaks(Variant::RestartAdopts, "R10.1", (4, &[BELIEF_IS_BACKED]), (5, &[ONE_TENURE_A_FENCE, ONE_ACTS])),
    breaks(Variant::TakersPolicy, "R10.2", (4, &[BELIEF_IS_BACKED]), (0, &[])),
    breaks(Variant::FloorForgotten, "R11.1", (11, &[GRANTS_RISE]), (12, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::MovedUnnoticed, "R11.3", (9, &[BELIEF_IS_BACKED]), (16, &[ONE_TENURE_A_FENCE, ONE_ACTS])),
    breaks(Variant::FloorCheckedAfter, "R11.4", (11, &[GRANTS_RISE]), (0, &[])),
    breaks(Variant::FloorNotRaised, "R11.5", (20, &[GRANTS_RISE]), (21, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::UnreadableFree, "R12.1", (5, &[BELIEF_IS_BACKED]), (9, &[ONE_TENURE_A_FENCE, ONE_ACTS])),
    breaks(Variant::UnreadableOwn, "R12.2", (10, &[GRANTS_RISE]), (11, &[ONE_TENURE_A_FENCE])),
    breaks(Variant::TextDates, "3", (4, &[BELIEF_IS_BACKED]), (8, &[ONE_ACTS])),
    breaks(Variant::ForeignWithoutMargin, "6", (5, &[BELIEF_IS_BACKED]), (9, &[ONE_ACTS])),
    breaks(Variant::ObservedFromSend, "6", (10, &[BELIEF_IS_BACKED]), (13, &[ONE_ACTS])),
    breaks(Variant::ObservedUnbound, "6", (0, &[]), (0, &[])),
    breaks(Variant::EitherPolicy, "6", (4, &[BELIEF_IS_BACKED]), (9, &[ONE_ACTS])),
];

/// The configuration in which a variant is tried: the smallest that has what the rule is there for.
pub const fn setting(variant: Variant) -> Config {
    let config = match variant {
        Variant::FenceSaturates => Config::PLAIN.with(&[Part::LastFence]),
        Variant::NoDriftMargin => Config { skew: 0, ..Config::PLAIN.with(&[Part::Drift]) },
        Variant::DroppedReleased => Config::PLAIN.with(&[Part::DroppedWork]),
        Variant::NotDurable | Variant::LazyRenewals => Config::PLAIN.with(&[Part::PowerLoss]),
        Variant::ActWithoutHolder => SMALL.with(&[Part::FencedActs, Part::LostFloors]),
        Variant::ActUnchecked | Variant::ActWithoutFence => Config::PLAIN.with(&[Part::FencedActs]),
        Variant::GateAdmitsLower | Variant::ReadsFirst => Config::PLAIN.with(&[Part::GatedActs]),
        Variant::GateAdmitsEqual => Config::PLAIN.with(&[Part::GatedActs, Part::LostFloors, Part::Crashes]),
        Variant::TakersPolicy => Config::PLAIN.with(&[Part::Observed, Part::WrongClocks]),
        Variant::FloorForgotten | Variant::FloorCheckedAfter | Variant::FloorNotRaised => {
            SMALL.with(&[Part::Restore])
        }
        Variant::WithoutHolder => Config::PLAIN.with(&[Part::LostFloors, Part::Crashes]),
        Variant::RenewalByName => Config::PLAIN.with(&[Part::WrongClocks]),
        Variant::MovedUnnoticed => Config::PLAIN.with(&[Part::Replacement, Part::Crashes]),
        Variant::UnreadableFree | Variant::UnreadableOwn => Config::PLAIN.with(&[Part::UnreadableRow]),
        Variant::UntestedAcquire | Variant::ForeignWithoutMargin => Config::PLAIN.with(&[Part::SystemA]),
        Variant::ObservedFromSend | Variant::ObservedUnbound => {
            Config::PLAIN.with(&[Part::Observed]).all_observe()
        }
        Variant::RenewalUnchanged | Variant::EitherPolicy => {
            Config::PLAIN.with(&[Part::Observed, Part::ClockSteps, Part::WrongClocks]).all_observe()
        }
        _ => Config::PLAIN.with(crate::check::CLASSIC),
    };
    Config { variant: Some(variant), ..config }
}

impl Config {
    /// This, with the policy `Observed` for all.
    pub const fn all_observe(mut self) -> Config {
        self.policies = [Policy::Observed; 5];
        self
    }
}

/// The model without this rule.
pub fn without(variant: Variant) -> Lease<2> {
    Lease::new(setting(variant))
}

/// What a variant breaks soonest of all outcomes, and of all harms, as it is found. Every harm is an outcome.
pub fn find(variant: Variant) -> [(usize, Vec<&'static str>); 2] {
    let sign = soonest(variant, &OUTCOMES);
    let harm = if sign.1.is_empty() { sign.clone() } else { soonest(variant, &HARMS) };
    [sign, harm]
}

/// What a variant breaks soonest among these.
pub fn soonest(variant: Variant, among: &[&str]) -> (usize, Vec<&'static str>) {
    shortest_breaks(&without(variant), among).map_or((0, Vec::new()), |found| {
        (found.length, found.runs.into_iter().map(|(property, _)| property).collect())
    })
}
