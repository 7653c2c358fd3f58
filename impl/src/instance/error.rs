//! What can go wrong, and what to do then.

use super::record::TTL_MS;
use crate::elector::Remedy;
use crate::protocol::{ConfigError, WallTime};
use crate::random::NoRandomness;
use std::time::{Duration, UNIX_EPOCH};

/// There is no guard. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The TTL cannot be used.
    #[error("ttl {ttl:?} cannot be used: it may be {} to {}, in whole milliseconds", told(*TTL_MS.start()), told(*TTL_MS.end()))]
    Ttl {
        /// What was given.
        ttl: Duration,
    },
    /// The settle time cannot be used.
    #[error(
        "settle time {settle:?} cannot be used: with this ttl it may be 1ms to {max:?}, in whole milliseconds"
    )]
    Settle {
        /// What was given.
        settle: Duration,
        /// The longest: an eighth of the TTL.
        max: Duration,
    },
    /// The label cannot be used.
    #[error(transparent)]
    Label(#[from] ConfigError),
}

impl OptionsError {
    /// What to do.
    pub fn remedy(&self) -> Remedy {
        Remedy::Fix
    }
}

/// This instance is not to start. When that is told, the record that it may have written is removed; or that could not be
/// done within a third of the TTL, and it is live until the TTL has passed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Another instance's record is live.
    #[error(
        "another instance is alive: {id}, since {}; stop it before this one starts, as by a deployment without overlap; \
         if it is gone for good, {}",
        utc(*since), way_out(*since, *expires)
    )]
    AnotherInstance {
        /// Whose.
        id: String,
        /// Since when it is there, by its own wall clock.
        since: WallTime,
        /// When the record is not live any more, by this machine's wall clock, unless it is renewed.
        expires: WallTime,
    },
    /// What stands there cannot be understood, or cannot be read at all, and why. It counts as live: it is no evidence
    /// that nobody is there.
    #[error(
        "the record is unreadable and counts as another instance's: {0}; make sure that no other instance runs, \
         then remove the record, or correct what is wrong"
    )]
    Unreadable(String),
    /// This instance could not announce itself, and why: its record could not be written, or read back.
    #[error("this instance could not announce itself: {0}")]
    NotWritten(String),
    /// A call of the store takes longer than a third of the TTL, or calls of earlier claims of this guard hang still.
    #[error("the store of the record does not answer: whether another instance is alive is not known")]
    NoAnswer,
    /// The operating system gave no random numbers for an id.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The operating system starts no more threads, and why.
    #[error("no thread could be started: {0}")]
    NoThread(String),
    /// The guard's thread has died of a defect.
    #[error(
        "the guard died: claim again; a record that it may have left counts as another's until it runs out"
    )]
    GuardDied,
}

impl ClaimError {
    /// What to do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::AnotherInstance { .. } | Self::NoAnswer | Self::NoRandomness(_) => Remedy::Retry,
            Self::NoThread(_) | Self::GuardDied => Remedy::Retry,
            Self::Unreadable(_) | Self::NotWritten(_) => Remedy::Fix,
        }
    }
}

/// Why a claim is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// Another record stands where ours was.
    #[error("the record was overwritten by {by}")]
    Overwritten {
        /// Whose; of one that cannot be read, what is wrong with it.
        by: String,
    },
    /// The record was not renewed for a TTL: others count it as gone.
    #[error("the record could not be renewed for a whole ttl, so another instance may have started: {why}")]
    NotRenewed {
        /// What the last try came to.
        why: String,
    },
    /// It was stood down. No loss.
    #[error("the instance was stood down")]
    StoodDown,
    /// The guard's thread has died of a defect: nothing is renewed any more.
    #[error("the guard died: the record is not renewed any more")]
    GuardDied,
}

impl Loss {
    /// What to do: always, to stop acting.
    pub fn remedy(&self) -> Remedy {
        Remedy::StopActing
    }
}

/// Our record may still be there. If it is, it runs out by itself, within the TTL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record was not removed, and runs out within its ttl: {why}")]
pub struct NotRemoved {
    /// What the last try came to.
    pub why: String,
}

impl NotRemoved {
    /// What to do: the next instance waits for the record to run out, or somebody removes it.
    pub fn remedy(&self) -> Remedy {
        Remedy::Retry
    }
}

/// What to do about the record of an instance that is gone. Of one that began later than the record can be live, by this
/// machine's clock, it is counted anew by each process.
fn way_out(since: WallTime, expires: WallTime) -> String {
    let until = utc(expires);
    match since > expires {
        true => format!(
            "remove its record, whose times are ahead of this machine's, or ask again in this process from {until} on"
        ),
        false => format!(
            "wait until {until}, when its record is not live any more; if it is then, its times are ahead of this \
             machine's: remove it"
        ),
    }
}

fn told(ms: u64) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_millis(ms))
}

/// A time in UTC; its number, if no calendar has it: before 1970, or after the year 9999.
pub(crate) fn utc(time: WallTime) -> String {
    const CALENDAR: std::ops::Range<i64> = 0..253_402_300_800_000;
    let ms = time.as_unix_millis();
    match u64::try_from(ms) {
        Ok(since) if CALENDAR.contains(&ms) => {
            humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(since)).to_string()
        }
        Ok(_) | Err(_) => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_integer_is_a_time_that_can_be_told() {
        for (ms, told) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_225_620_007, "2026-01-01T00:00:20.007Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "253402300800000ms"),
            (i64::MAX, "9223372036854775807ms"),
            (-1, "-1ms"),
            (i64::MIN, "-9223372036854775808ms"),
        ] {
            assert_eq!(utc(WallTime::from_unix_millis(ms)), told);
        }
    }
}
