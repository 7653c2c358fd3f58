//! What must hold in every state, and what must be reachable for that to mean anything.
//!
//! Each property says which actions give it something to forbid. That each of those actions happens
//! is tested, and for each property there is a [`crate::config::Variant`] that breaks it.

use crate::Lease;
use crate::state::{Contender, Expiry, Fence, Holder, Phase, Reason, State, Who};
use crate::store::free;
use stateright::Property;

/// A fence names one tenure.
pub const ONE_TENURE_A_FENCE: &str = "no two tenures, and so no two holders, ever act with the same fence";
/// Fences rise.
pub const GRANTS_RISE: &str = "every grant is higher than all before";
/// Custody is exclusive.
pub const ONE_BELIEVES: &str = "no two holders believe at the same time";
/// Custody is backed by the row.
pub const BELIEF_IS_BACKED: &str = "a believing holder's row is takeable by nobody";
/// A release comes last.
pub const RELEASED_IS_STOPPED: &str = "released implies stopped";
/// A shutdown is heard.
pub const NONE_UNWANTED: &str = "whoever was asked to shut down begins no tenure";
/// A release is final.
pub const RELEASED_STAYS: &str = "a released lease stays released until the next grant";
/// A crash is survived.
pub const AFTER_A_CRASH: &str = "takeover after a crash";
/// A clean shutdown costs no waiting.
pub const AT_ONCE: &str = "immediate handover after a shutdown";
/// A holder that slept finds out.
pub const LEARNS: &str = "a stalled holder learns that it was superseded";

/// All of them.
pub fn all<const N: usize>() -> Vec<Property<Lease<N>>> {
    vec![
        Property::always(ONE_TENURE_A_FENCE, one_tenure_a_fence),
        Property::always(GRANTS_RISE, grants_rise),
        Property::always(ONE_BELIEVES, one_believes),
        Property::always(BELIEF_IS_BACKED, belief_is_backed),
        Property::always(RELEASED_IS_STOPPED, released_is_stopped),
        Property::always(NONE_UNWANTED, none_unwanted),
        Property::always(RELEASED_STAYS, released_stays),
        Property::sometimes(AFTER_A_CRASH, after_a_crash),
        Property::sometimes(AT_ONCE, at_once),
        Property::sometimes(LEARNS, learns),
    ]
}

/// A tenure is one unbroken belief: whoever begins to believe, also again, needs a fence that nobody
/// has believed in before. Needs `Deliver` of grants, and what may end a belief and tempt somebody to
/// go on with its fence: `NoticeDeadline`, late `Deliver`, `Fail`, `Crash`, `Restart`. SPEC.md R2, R5.
fn one_tenure_a_fence<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.begun_twice
}

/// Needs `Execute` and `ExecuteLate` of acquires, of the first one and of takeovers, also after a
/// `Release`. SPEC.md R2.
fn grants_rise<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    !state.ghost.not_rising
}

/// Needs `Tick`, or nobody's row ever expires, clocks that differ, and `Deliver` some ticks after the
/// request was sent. SPEC.md R1, R4.
fn one_believes<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    believers(state).count() < 2
}

/// The row names the holder and its fence, is not released, and no other contender's clock finds it
/// free. This is why [`one_believes`] holds, and it breaks one step earlier. Needs what that needs,
/// and `ExecuteLate`, which may change a holder's row behind its back. SPEC.md R1, R4, R7.
fn belief_is_backed<const N: usize>(lease: &Lease<N>, state: &State<N>) -> bool {
    let backed = |who: Who, fence: Fence| {
        state.row.is_some_and(|row| {
            let mut others = state.named().filter(|(other, _)| *other != who);
            let free_for = |other: &Contender| free(row.expiry, lease.config.ahead(other.clock));
            (row.holder, row.fence) == (Holder::Contender(who), fence)
                && row.expiry != Expiry::Released
                && !others.any(|(_, other)| free_for(other))
        })
    };
    believers(state).all(|(who, fence)| backed(who, fence))
}

/// A released row's fence is no running work's fence. Needs `Shutdown`, `StopWork`, and `Execute` or
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

/// Somebody believes after a believing holder has crashed.
fn after_a_crash<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    let crashed = state.contenders.iter().any(|one| one.phase == Phase::Crashed { held: true });
    crashed && believers(state).count() > 0
}

/// Somebody believes while the tenure before it, had it not been released, could go on.
fn at_once<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    let releasing = |one: &Contender| matches!(one.phase, Phase::Releasing { left: 1.., .. });
    state.contenders.iter().any(releasing) && believers(state).count() > 0
}

/// Somebody believes, and a former holder, which stalled past its deadline with a renewal under way, has been
/// told that it is refused.
fn learns<const N: usize>(_: &Lease<N>, state: &State<N>) -> bool {
    let superseded = |one: &Contender| matches!(one.phase, Phase::Lost { reason: Reason::Superseded, .. });
    state.contenders.iter().any(superseded) && believers(state).count() > 0
}

fn believers<const N: usize>(state: &State<N>) -> impl Iterator<Item = (Who, Fence)> {
    state.named().filter_map(|(who, one)| Some((who, one.believes()?)))
}
