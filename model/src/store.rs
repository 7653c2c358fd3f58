//! The store: one row, and three requests that each change it in one conditional write.

use crate::config::{Config, Variant};
use crate::state::{Expiry, Fence, Holder, Reply, Request, Row, Seen, Ticks};

/// Carries out a request of `by`, whose wall clock, read while the row is locked, is `ahead`:
/// the row after it, and the reply. The change is durable before there is a reply. SPEC.md R8.
pub fn carry_out(
    config: &Config,
    row: Option<Row>,
    request: Request,
    by: Holder,
    ahead: Ticks,
) -> (Option<Row>, Reply) {
    let written = match request {
        Request::Acquire(seen) => acquire(config, row, seen, by, ahead),
        Request::Renew(fence) => renew(config, row, fence, by, ahead),
        Request::Release(fence) => release(config, row, fence, by),
    };
    written.unwrap_or((row, Reply::Refused))
}

type Written = (Option<Row>, Reply);

/// One write decides: it names what was read, and asks once more whether that is free. SPEC.md R1.
fn acquire(config: &Config, row: Option<Row>, seen: Seen, by: Holder, ahead: Ticks) -> Option<Written> {
    let free = row.is_none_or(|row| takeable(row, by, ahead));
    if !bound(config, seen, row) || !(free || config.breaks(Variant::CheckThenWrite)) {
        return None;
    }
    let fence = next_fence(config, row);
    let row = Row { holder: by, fence, expiry: expiry(config, ahead) };
    Some((Some(row), Reply::Granted(fence)))
}

/// Whether an acquire that goes by what was seen fits this row. SPEC.md R1.
pub fn bound(config: &Config, seen: Seen, row: Option<Row>) -> bool {
    let unbound = config.breaks(Variant::UnboundAcquire) || config.breaks(Variant::CheckThenWrite);
    unbound || seen == Seen::of(row)
}

/// Whether `by` may take this row: it is free, or it is its own. Its own needs no expiry: `by` asks
/// only when it believes in no tenure. SPEC.md R7.
pub fn takeable(row: Row, by: Holder, ahead: Ticks) -> bool {
    row.holder == by || free(row.expiry, ahead)
}

/// Whether a row with this expiry is free for everybody whose wall clock is `ahead`, by the takeover
/// policy `WallClock`: it was released, or its expiry has come. SPEC.md R1, R3.
pub fn free(expiry: Expiry, ahead: Ticks) -> bool {
    match expiry {
        Expiry::Released => true,
        Expiry::In(left) => left <= ahead,
    }
}

/// Each tenure has a fence of its own, one above the stored one; nothing but an acquire changes it.
/// SPEC.md R2.
fn next_fence(config: &Config, row: Option<Row>) -> Fence {
    match row {
        Some(row) if config.breaks(Variant::NoIncrement) => row.fence,
        Some(row) => Fence(row.fence.0 + 1),
        None => Fence(1),
    }
}

/// A TTL from now, by a wall clock that is `ahead`.
fn expiry(config: &Config, ahead: Ticks) -> Expiry {
    Expiry::In(ahead + config.ttl)
}

/// A renewal needs the row to be its own, unreleased and unexpired. SPEC.md R3.
///
/// R3 writes at least the old expiry + 1, so that an observer sees each renewal. Nobody observes
/// here, and a millisecond is no tick: a TTL from now is never less than what this contender's own
/// clock wrote before.
fn renew(config: &Config, row: Option<Row>, fence: Fence, by: Holder, ahead: Ticks) -> Option<Written> {
    let row = matching(row, fence, by)?;
    let renewed = Row { expiry: expiry(config, ahead), ..row };
    renewable(config, row.expiry, ahead).then_some((Some(renewed), Reply::Renewed))
}

/// What is free is never revived, and a release is final. SPEC.md R3.
pub fn renewable(config: &Config, expiry: Expiry, ahead: Ticks) -> bool {
    config.breaks(Variant::RenewsTheFree) || !free(expiry, ahead)
}

/// A release marks the row and keeps it, and its fence with it; an expired row as well. SPEC.md R3.
fn release(config: &Config, row: Option<Row>, fence: Fence, by: Holder) -> Option<Written> {
    let row = matching(row, fence, by)?;
    let released = Row { expiry: Expiry::Released, ..row };
    let kept = !config.breaks(Variant::ReleaseDeletes);
    Some((kept.then_some(released), Reply::Released))
}

/// The row, if it is this tenure's: holder and fence match.
fn matching(row: Option<Row>, fence: Fence, by: Holder) -> Option<Row> {
    row.filter(|row| row.holder == by && row.fence == fence)
}
