//! How long another's record is live.

use super::{Now, Record};
use crate::protocol::{LocalTime, WallTime};

/// Another's record, and since when this process has seen it unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    record: Record,
    first: LocalTime,
}

impl Sighting {
    /// Another's record was read just now. What was known of it counts if it is unchanged.
    pub(super) fn of(record: Record, before: Option<Self>, now: LocalTime) -> Self {
        match before {
            Some(before) if before.record == record => before,
            Some(_) | None => Self { record, first: now },
        }
    }

    /// When the record is not live any more, by the wall clock; `None`: it is not. `asked` is before it was read. SPEC.md G6.
    ///
    /// It is live until its TTL has passed since it was renewed, by the wall clock, or since it was first seen unchanged,
    /// by the local clock, whichever is first. The second is for a record from the future, as of a clock that was
    /// corrected since: whoever is alive would have renewed it.
    pub(super) fn live_until(&self, asked: Now) -> Option<WallTime> {
        let by_wall = self.record.expires().as_unix_millis().saturating_sub(asked.wall.as_unix_millis());
        let by_local = asked.local.until(self.first.plus(self.record.ttl_ms)).as_millis();
        let left = u64::try_from(by_wall).unwrap_or(0).min(u64::try_from(by_local).unwrap_or(u64::MAX));
        (left > 0).then(|| asked.wall.plus(left))
    }
}
