//! The store: one row, and three requests that each change it in one conditional write.

use crate::config::{Config, Part, Policy, Variant};
use crate::state::{Clock, Expiry, Fence, Holder, Reply, Request, Row, Seen, Ticks};

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sender {
    /// The id, and with it the policy.
    pub holder: Holder,
    /// The wall clock, read while the row is locked. SPEC.md R1.
    pub clock: Clock,
    /// How old the reading is. Nothing, but where R1 or R4 is taken away.
    pub age: Ticks,
}

impl Sender {
    /// What an even clock would show when this one shows now; `None`: absurdly much.
    fn now(self, config: &Config) -> Option<i8> {
        config.ahead(self.clock).map(|ahead| ahead as i8 - self.age as i8)
    }
}

type Written = (Option<Row>, Reply);

/// Carries out a request: the row after it, and the reply.
pub fn carry_out(config: &Config, row: Option<Row>, request: Request, by: Sender) -> Written {
    let written = match request {
        Request::Acquire(seen, floor) => acquire(config, row, seen, floor, by),
        Request::Renew(fence) => renew(config, row, fence, by),
        Request::Release(fence) => release(config, row, fence, by),
    };
    written.unwrap_or((row, Reply::Refused))
}

/// One write decides: it names what was read, and asks once more whether that is free. SPEC.md R1.
fn acquire(config: &Config, row: Option<Row>, seen: Seen, floor: Fence, by: Sender) -> Option<Written> {
    let untested = config.breaks(Variant::CheckThenWrite) || config.breaks(Variant::UntestedAcquire);
    let judged = row.map(|row| if config.breaks(Variant::UnboundAcquire) { as_seen(row, seen) } else { row });
    let free = untested || judged.is_none_or(|row| takeable(config, row, by, true));
    if !bound(config, seen, row) || !free {
        return None;
    }
    let fence = next_fence(config, row, floor, by.holder)?;
    let row = Row { holder: by.holder, fence, expiry: expiry(config, by) };
    Some((Some(row), Reply::Granted(fence)))
}

/// Whose row it is, and so when it is free, was decided from what was read.
fn as_seen(row: Row, seen: Seen) -> Row {
    match seen {
        Seen::Row(holder, _) => Row { holder, ..row },
        _ => row,
    }
}

/// Whether an acquire that goes by what was seen fits this row. SPEC.md R1.
pub fn bound(config: &Config, seen: Seen, row: Option<Row>) -> bool {
    let unbound = config.breaks(Variant::UnboundAcquire) || config.breaks(Variant::CheckThenWrite);
    unbound || seen == Seen::Unseen || seen == Seen::of(row)
}

/// Whether this row may be taken, by the policy that its holder has: it was released, it is free, or it is the
/// taker's own. His own needs no expiry: he asks only when he believes in no tenure. SPEC.md R1, R7, R10.
///
/// Whether a row was watched for long enough is decided before the request is sent; no write can test that. The
/// row that the write finds is then the very row that was watched, in all columns.
pub fn takeable(config: &Config, row: Row, by: Sender, watched: bool) -> bool {
    let taker = config.policy_of(by.holder);
    let policy = if config.breaks(Variant::TakersPolicy) { taker } else { config.policy_of(row.holder) };
    let past = past(config, row, by);
    match (row.expiry, policy) {
        (Expiry::Unreadable, _) => unreadable_is_free(config, row, by),
        (Expiry::Released, _) => true,
        _ if row.holder == by.holder => true,
        _ if config.breaks(Variant::EitherPolicy) => past || (watched && taker == Policy::Observed),
        (_, Policy::WallClock) => past,
        (_, Policy::Observed) => {
            if taker == Policy::SystemA {
                past
            } else {
                watched
            }
        }
        (_, Policy::SystemA) => past && (watched || taker != Policy::Observed),
    }
}

/// Never; a row that nobody understands is no evidence that nobody is there. SPEC.md R12.
fn unreadable_is_free(config: &Config, row: Row, by: Sender) -> bool {
    let own = row.holder == by.holder && config.breaks(Variant::UnreadableOwn);
    let careless = config.breaks(Variant::UnreadableFree) && config.policy_of(by.holder) != Policy::SystemA;
    own || careless
}

/// Whether the expiry has come on the asker's wall clock. Of a foreign row it must have come a skew ago, since
/// its holder keeps no margin; system A itself does not wait for that. SPEC.md R1, R3.
fn past(config: &Config, row: Row, by: Sender) -> bool {
    let hurries =
        config.policy_of(by.holder) == Policy::SystemA || config.breaks(Variant::ForeignWithoutMargin);
    let foreign = config.policy_of(row.holder) == Policy::SystemA;
    let early = if hurries && foreign { config.skew } else { 0 };
    if config.breaks(Variant::TextDates) && writes_short(row.holder) != writes_short(by.holder) {
        return writes_short(row.holder);
    }
    match (row.expiry, by.now(config)) {
        (Expiry::Released, _) | (Expiry::In(_), None) => true,
        (Expiry::In(left), Some(now)) => left as i8 <= now + early as i8,
        (Expiry::Far, now) => now.is_none(),
        (Expiry::Unreadable, _) => false,
    }
}

/// Of two programs one writes `2026-01-01 09:00:00`, the other `2026-01-01T09:00:00Z`: a space sorts before a T,
/// so on one day all of the one's times are past to the other. SPEC.md section 3.
fn writes_short(holder: Holder) -> bool {
    matches!(holder, Holder::Contender(who) if who.0 == 0)
}

/// Each tenure has a fence of its own, one above the stored one; nothing but an acquire changes it. At the
/// integer's end there is none. SPEC.md R2.
fn next_fence(config: &Config, row: Option<Row>, floor: Fence, by: Holder) -> Option<Fence> {
    if row.is_some_and(|row| row.expiry == Expiry::Unreadable) {
        return Some(Fence(1)); // 'seven' + 1
    }
    let raised = if config.breaks(Variant::FloorNotRaised) && row.is_some() { Fence::NONE } else { floor };
    let highest = row.map_or(Fence::NONE, |row| row.fence).max(raised);
    if is_last(config, highest) {
        return config.breaks(Variant::FenceSaturates).then_some(highest);
    }
    let own = row.is_some_and(|row| row.holder == by);
    let kept = config.breaks(if own { Variant::NoIncrementAgain } else { Variant::NoIncrement });
    Some(if kept && row.is_some() { highest } else { Fence(highest.0 + 1) })
}

/// Whether this is the integer's end, which is near here. SPEC.md R2.
pub fn is_last(config: &Config, fence: Fence) -> bool {
    let forgets = config.has(Part::LostFloors) || config.has(Part::Restore);
    let last = if forgets { 2 } else { 3 };
    config.counts_fences() && fence.0 >= last
}

/// A TTL from now, by the asker's wall clock.
fn expiry(config: &Config, by: Sender) -> Expiry {
    let grace = if config.policy_of(by.holder) == Policy::SystemA { config.skew } else { 0 };
    match by.now(config) {
        Some(now) => Expiry::In((now + (config.ttl + grace) as i8).max(0) as Ticks),
        None => Expiry::Far,
    }
}

/// A renewal needs the row to be its own, unreleased, and, under `WallClock`, unexpired. It moves the expiry
/// ahead, never back; that it changes at least a millisecond is no tick, but whoever watches the row sees it (see
/// [`State::replace_row`](crate::state::State::replace_row)). System A's asks for nothing but its row. SPEC.md R3.
fn renew(config: &Config, row: Option<Row>, fence: Fence, by: Sender) -> Option<Written> {
    let by_name = config.breaks(Variant::RenewalByName);
    let found = row.filter(|row| by_name || names(config, *row, fence, by, Variant::RenewalWithoutFence))?;
    let ahead = if config.policy_of(by.holder) == Policy::SystemA { Expiry::Released } else { found.expiry };
    let renewed = Row { expiry: ahead.max(expiry(config, by)), ..found };
    renewable(config, found, by).then_some((Some(renewed), Reply::Renewed))
}

/// What is free is never revived, and a release is final. SPEC.md R3.
pub fn renewable(config: &Config, row: Row, by: Sender) -> bool {
    match (row.expiry, config.policy_of(by.holder)) {
        (Expiry::Unreadable, _) => false,
        (_, Policy::SystemA) => true,
        (Expiry::Released, _) => config.breaks(Variant::RenewsTheReleased),
        (_, Policy::Observed) => true,
        _ => !past(config, row, by) || config.breaks(Variant::RenewsTheExpired),
    }
}

/// A release marks the row and keeps it, and its fence with it; an expired row as well. System A writes a time
/// that is just past. SPEC.md R3.
fn release(config: &Config, row: Option<Row>, fence: Fence, by: Sender) -> Option<Written> {
    let found = row.filter(|row| names(config, *row, fence, by, Variant::ReleaseWithoutFence))?;
    let readable = found.expiry != Expiry::Unreadable;
    let foreign = config.policy_of(by.holder) == Policy::SystemA;
    let expiry = match by.now(config) {
        now if foreign || config.breaks(Variant::ReleaseWritesNow) => just_past(config, now, foreign),
        _ => Expiry::Released,
    };
    let fence = if config.breaks(Variant::FenceCleared) { Fence::NONE } else { found.fence };
    let kept = !config.breaks(Variant::ReleaseDeletes);
    readable.then_some((kept.then_some(Row { expiry, fence, ..found }), Reply::Released))
}

fn just_past(config: &Config, now: Option<i8>, foreign: bool) -> Expiry {
    let grace = if foreign { config.skew } else { 0 };
    now.map_or(Expiry::Far, |now| Expiry::In((now + grace as i8).max(0) as Ticks))
}

/// Whether the row is this tenure's: holder and fence match. SPEC.md R3.
fn names(config: &Config, row: Row, fence: Fence, by: Sender, without_fence: Variant) -> bool {
    let holder = row.holder == by.holder || config.breaks(Variant::WithoutHolder);
    holder && (row.fence == fence || config.breaks(without_fence))
}
