//! What must hold in every state, and what must be reachable for that to mean anything.
//!
//! Each property says which actions give it something to forbid. That each of those actions happens
//! is tested, and for each property there is a [`crate::config::Variant`] that breaks it.

use crate::Lease;
use crate::config::{Config, Part, Policy};
use crate::state::{
    Clock, Contender, Expiry, Fence, Flight, Holder, Message, Phase, Reason, Reply, Request, State, Who,
};
use crate::store::{Sender, is_last, takeable};
use stateright::Property;

/// A fence names one tenure.
pub const ONE_TENURE_A_FENCE: &str = "no two tenures, and so no two holders, ever act with the same fence";
/// Fences rise.
pub const GRANTS_RISE: &str = "every grant is higher than all before";
/// Custody is exclusive.
pub const ONE_ACTS: &str = "no two holders act at the same time";
/// Custody is backed by the row.
pub const BELIEF_IS_BACKED: &str = "an acting holder's row is takeable by nobody";
/// Acts are in order.
pub const NONE_STALE: &str = "no act lands after another tenure has come";
/// A release comes last.
pub const RELEASED_IS_STOPPED: &str = "released implies stopped";
/// A shutdown is heard.
pub const NONE_UNWANTED: &str = "whoever was asked to shut down begins no tenure";
/// A release is final.
pub const RELEASED_STAYS: &str = "a released lease stays released until the next grant";
/// A crash is survived.
pub const AFTER_A_CRASH: &str = "takeover after a crash";
/// A release is for everybody.
pub const HANDED_OVER: &str = "a lease that was given back is free for everybody at once";
/// Custody is known.
pub const SUPERSEDED_LEARN: &str = "no renewal is granted to a tenure that is not the row's";
/// A release costs no waiting.
pub const AT_ONCE: &str = "immediate handover after a release";
/// A holder that slept finds out.
pub const LEARNS: &str = "a stalled holder learns from the store that its tenure is over";
/// Where clocks are wrong, exclusion is gone.
pub const TWO_ACT: &str = "two holders act at the same time, as wall clocks are wrong";
/// Where nothing checks, a stale act lands.
pub const ONE_STALE: &str = "an act lands after another tenure has come, where nothing checks";

/// What users rely on: the properties that are about outcomes. The others are about rules.
pub const OUTCOMES: [&str; 8] = [
    ONE_TENURE_A_FENCE,
    GRANTS_RISE,
    ONE_ACTS,
    BELIEF_IS_BACKED,
    NONE_STALE,
    SUPERSEDED_LEARN,
    HANDED_OVER,
    NONE_UNWANTED,
];

/// The outcomes that hurt. The others are signs that come some steps earlier: a row that could be taken, a fence that
/// could be used twice.
pub const HARMS: [&str; 6] =
    [ONE_TENURE_A_FENCE, ONE_ACTS, NONE_STALE, SUPERSEDED_LEARN, HANDED_OVER, NONE_UNWANTED];

/// All that are promised, or expected, in this configuration.
pub fn all<const N: usize>(config: &Config) -> Vec<Property<Lease<N>>> {
    let mut all = vec![
        Property::always(SUPERSEDED_LEARN, superseded_learn),
        Property::always(HANDED_OVER, handed_over),
        Property::always(RELEASED_STAYS, released_stays),
        Property::sometimes(AT_ONCE, at_once),
    ];
    if !config.has(Part::LostFloors) {
        all.push(Property::always(ONE_TENURE_A_FENCE, one_tenure_a_fence));
        all.push(Property::always(GRANTS_RISE, grants_rise));
        all.push(Property::always(RELEASED_IS_STOPPED, released_is_stopped));
    }
    let promised = (0..N as u8).map(|who| config.promises_exclusion(Who(who), N));
    let (everybody, somebody) = promised.fold((true, false), |(all, any), one| (all && one, any || one));
    if everybody {
        all.push(Property::always(ONE_ACTS, one_acts));
    } else {
        all.push(Property::sometimes(TWO_ACT, two_act));
    }
    if somebody {
        all.push(Property::always(BELIEF_IS_BACKED, belief_is_backed));
    }
    if config.has(Part::GatedActs) || config.has(Part::FencedActs) {
        all.push(Property::always(NONE_STALE, none_stale));
    }
    if config.has(Part::UnfencedActs) {
        all.push(Property::sometimes(ONE_STALE, one_stale));
    }
    if config.has(Part::Shutdowns) {
        all.push(Property::always(NONE_UNWANTED, none_unwanted));
    }
    if config.has(Part::Crashes) {
        all.push(Property::sometimes(AFTER_A_CRASH, after_a_crash));
    }
    if config.has(Part::Failures) {
        all.push(Property::sometimes(LEARNS, learns));
    }
    all
}

/// A tenure is one unbroken belief: whoever begins to believe, also again, needs a fence that nobody
/// has believed in before. Needs `Deliver` of grants, and what may end a belief and tempt somebody to
/// go on with its fence: `NoticeDeadline`, late `Deliver`, `Fail`, `Crash`, `Restart`. SPEC.md R2, R5.
fn one_tenure_a_fence<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.begun_twice
}

/// Of the grants that somebody waits for. Needs `Execute` of acquires, of the first one and of takeovers, also
/// after a `Release`. SPEC.md R2.
fn grants_rise<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.not_rising
}

/// Needs `Tick`, or nobody's row ever expires, clocks that differ, and `Deliver` some ticks after the
/// request was sent. SPEC.md R1, R4, R6.
fn one_acts<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    state.actors(&lease.config).count() < 2
}

/// The row names the holder and its fence, is not released, and nobody else may take it, whatever wall clock he has.
/// This is why [`one_acts`] holds, and it breaks some steps earlier. Needs what that needs,
/// and `ExecuteLate`, which may change a holder's row behind its back. SPEC.md R1, R4, R7.
fn belief_is_backed<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let mut promised =
        state.actors(&lease.config).filter(|(who, _)| lease.config.promises_exclusion(*who, N));
    promised.all(|(who, fence)| is_backed(&lease.config, state, who, fence))
}

fn is_backed<const N: usize>(config: &Config, state: &State<N>, who: Who, fence: Fence) -> bool {
    let clock = config.clocks().iter().max().copied().unwrap_or(Clock::Even);
    let takes = |other: Who, one: &Contender, row| {
        let by = Sender { holder: config.id(other), clock, age: 0 };
        let watched = one.watched.is_some_and(|ticks| ticks >= config.patience());
        takeable(config, row, by, watched)
    };
    state.row.is_some_and(|row| {
        let mut others = state.named().filter(|(other, _)| *other != who);
        (row.holder, row.fence) == (config.id(who), fence)
            && row.expiry != Expiry::Released
            && !others.any(|(other, one)| takes(other, one, row))
    })
}

/// Whatever the clocks do, and although the store forgets: two who act at once end with the next renewal. Needs
/// `Execute` of renewals after somebody else's grant. SPEC.md R3.
fn superseded_learn<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.renewed_others
}

/// Also for somebody who has watched nothing and whose clock is behind all others. Needs `StopWork`, and `Execute` of
/// releases. SPEC.md R3.
fn handed_over<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let newcomer = Sender { holder: Holder::Gone(Policy::Observed), clock: Clock::Even, age: 0 };
    let free = |row| takeable(&lease.config, row, newcomer, false);
    !state.ghost.given_back || state.row.is_none_or(free)
}

/// Behind a gate, or in a transaction, whatever the clocks do. Needs `Begin`, `Enter` and `Land`. SPEC.md R9.
fn none_stale<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.stale_landed
}

/// A released row's fence is no running work's fence. Needs `StopWork`, and `Execute` or
/// `ExecuteLate` of releases. SPEC.md R6.
fn released_is_stopped<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    let released = state.row.filter(|row| row.expiry == Expiry::Released);
    released.is_none_or(|row| state.contenders.iter().all(|one| one.works() != Some(row.fence)))
}

/// Needs `Shutdown` while an acquire is in flight, and `Deliver` of its grant. SPEC.md R7.
fn none_unwanted<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.begun_unwanted
}

/// Nothing arms a released lease again but an acquire. Needs `ExecuteLate` of a renewal after
/// `Execute` of the release. SPEC.md R3.
fn released_stays<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.unreleased
}

/// Somebody acts after a believing holder has crashed.
fn after_a_crash<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let crashed = state.contenders.iter().any(|one| one.phase == Phase::Crashed { held: true });
    crashed && state.actors(&lease.config).count() > 0
}

/// Somebody acts while the tenure before it, had it not been released, could go on.
fn at_once<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let released = |flight: Flight| flight.message == Message::Answered(Reply::Released);
    let releasing = |one: &Contender| matches!(one.phase, Phase::Releasing { left: 1.., .. });
    state.contenders.iter().any(|one| releasing(one) && one.flight.is_some_and(released))
        && state.actors(&lease.config).count() > 0
}

/// Somebody acts, and a former holder, which stalled past its deadline with a renewal under way, has been
/// told that it is refused: its row is another's, or has expired.
fn learns<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let superseded = |one: &Contender| matches!(one.phase, Phase::Lost { reason: Reason::Superseded, .. });
    state.contenders.iter().any(superseded) && state.actors(&lease.config).count() > 0
}

/// What a skew beyond the bound costs. SPEC.md section 8.
fn two_act<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    state.actors(&lease.config).count() > 1
}

/// What the lease alone does not give. SPEC.md section 8.
fn one_stale<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    state.ghost.stale_landed
}

/// Whether the lease waits for an operator by design: a row that cannot be read, the integer's end, or an expiry
/// absurdly far ahead that nobody here may take by observation.
/// SPEC.md R2, R12.
pub fn waits_for_an_operator<const N: usize>(config: &Config, state: &State<N>) -> bool {
    let observers = config.watches(N);
    let far = |expiry, policy| expiry == Expiry::Far && (policy != Policy::Observed || !observers);
    state.row.is_some_and(|row| {
        row.expiry == Expiry::Unreadable
            || far(row.expiry, config.policy_of(row.holder))
            || is_last(config, row.fence)
    })
}

/// Whether this contender waits for its user: it has found, or will find, that the store went back, and was given no
/// floor; or the acquire that it has under way takes the last fence, perhaps too late to be believed. SPEC.md R2, R11.
pub fn waits_for_its_user<const N: usize>(config: &Config, state: &State<N>, who: Who) -> bool {
    let one = &state.contenders[who.index()];
    let will_be_given =
        config.has(Part::Restore) && one.phase.is_over() && config.policy(who) != Policy::SystemA;
    let acquires = matches!(one.sent(), Some(Request::Acquire(..)));
    let takes_last = state.row.is_some_and(|row| is_last(config, Fence(row.fence.0 + 1))) && acquires;
    one.phase == Phase::WentBack || takes_last || (state.is_behind() && !one.floor_given && !will_be_given)
}
