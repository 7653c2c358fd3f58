//! Holder ids: whose row it is, and how it may be taken over.

use super::name::{Label, checked};
use super::timing::{TTL_MS, Timing};
use std::fmt;
use std::sync::Arc;

/// When a lease that was not released may be taken over by somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// When its expiry has come on the taker's wall clock.
    WallClock,
    /// When the taker has seen it unchanged for long enough on its own clock. This version leaves such a row
    /// alone until it is released.
    Observed,
}

impl Policy {
    const fn word(self) -> &'static str {
        match self {
            Self::WallClock => "wallclock",
            Self::Observed => "observed",
        }
    }
}

/// A contender's id, as it stands in the row (SPEC.md R10):
/// `tenure1:wallclock:15000:9f86d081884c7d65:web-1` is the version of this form, the takeover policy, the
/// TTL in milliseconds, a random nonce, and the user's label.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HolderId {
    text: Arc<str>,
    ttl_ms: u64,
}

impl HolderId {
    /// The id of a new contender. `nonce` must be random, so that no restart, copy or twin shares it.
    pub fn new(label: &Label, nonce: u64, timing: &Timing) -> Self {
        let ttl_ms = timing.ttl_ms();
        let policy = Policy::WallClock.word();
        let text = format!("tenure1:{policy}:{ttl_ms}:{nonce:016x}:{}", label.as_str());
        Self { text: text.into(), ttl_ms }
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The TTL that the id names, in milliseconds.
    pub const fn ttl_ms(&self) -> u64 {
        self.ttl_ms
    }
}

impl fmt::Display for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Debug for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// What a `holder_id` found in a row says about its holder (SPEC.md R10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A contender of Tenure.
    Tenure(Policy),
    /// Another system's holder.
    Foreign,
    /// Tenure's, but of a form that this version does not know: no expiry frees it, only a release (SPEC.md R12).
    Unknown,
}

impl Form {
    /// Reads a holder id.
    pub fn of(holder: &str) -> Self {
        match parse(holder) {
            Some(policy) => Self::Tenure(policy),
            None if claims_to_be_tenure(holder) => Self::Unknown,
            None => Self::Foreign,
        }
    }
}

/// `tenure`, one or more digits, a colon.
fn claims_to_be_tenure(holder: &str) -> bool {
    holder.strip_prefix("tenure").is_some_and(|rest| {
        let word = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        word.len() < rest.len() && word.starts_with(':')
    })
}

fn parse(holder: &str) -> Option<Policy> {
    let rest = holder.strip_prefix("tenure1:")?;
    let mut parts = rest.splitn(4, ':');
    let policy = parts.next()?;
    let policy = [Policy::WallClock, Policy::Observed].into_iter().find(|p| p.word() == policy)?;
    let ttl = parts.next()?;
    let canonical = ttl.parse().is_ok_and(|ms: u64| TTL_MS.contains(&ms) && ms.to_string() == ttl);
    let nonce = parts.next()?;
    let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let label = parts.next()?;
    let strict = canonical && nonce.len() == 16 && nonce.bytes().all(hex) && checked("label", label).is_ok();
    strict.then_some(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Durations;

    #[test]
    fn an_id_is_read_as_it_was_written() {
        let timing = Durations::default().check().unwrap();
        for label in ["web-1", "a:b:c", "☃", " "] {
            let id = HolderId::new(&Label::new(label).unwrap(), 0x2a, &timing);
            assert_eq!(id.as_str(), format!("tenure1:wallclock:15000:000000000000002a:{label}"));
            assert_eq!(Form::of(id.as_str()), Form::Tenure(Policy::WallClock));
        }
        let observed = "tenure1:observed:100:0123456789abcdef:x";
        assert_eq!(Form::of(observed), Form::Tenure(Policy::Observed));
    }

    #[test]
    fn a_form_of_another_version_is_never_foreign() {
        for unknown in [
            "tenure2:wallclock:15000:9f86d081884c7d65:web",
            "tenure1:",
            "tenure1:wallclock:15000:9f86d081884c7d65",
            "tenure1:wallclock:15000:9f86d081884c7d65:",
            "tenure1:wallclock:015000:9f86d081884c7d65:web",
            "tenure1:wallclock:+15000:9f86d081884c7d65:web",
            "tenure1:wallclock:99:9f86d081884c7d65:web",
            "tenure1:wallclock:2592000001:9f86d081884c7d65:web",
            "tenure1:wallclock:15000:9F86D081884C7D65:web",
            "tenure1:wallclock:15000:9f86d081884c7d6:web",
            "tenure1:wallclock:15000:9f86d081884c7d65:a\nb",
            "tenure1:sometimes:15000:9f86d081884c7d65:web",
            "tenure99999999999999999999:x",
        ] {
            assert_eq!(Form::of(unknown), Form::Unknown, "{unknown}");
        }
        for foreign in
            ["", "appview-1", "tenure", "tenure:x", "tenure1", "tenure1 :", "Tenure1:x", "xtenure1:"]
        {
            assert_eq!(Form::of(foreign), Form::Foreign, "{foreign}");
        }
    }
}
