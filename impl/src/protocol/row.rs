//! The row as somebody found it, and whether it may be taken.

use super::{Fence, Form, Free, HolderId, Loss, Policy, WallTime};

/// A readable row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who holds it, or held it last.
    pub holder: String,
    /// The tenure's number.
    pub fence: Fence,
    /// When the tenure began, on its holder's wall clock. For people; nothing rests on it.
    pub acquired_at: WallTime,
    /// When the tenure ends unless it is renewed, on its holder's wall clock; zero once released.
    pub expires_at: WallTime,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No row.
    Absent,
    /// A row.
    Row(Row),
    /// A row that cannot be understood, and why: held (SPEC.md R12).
    Unreadable(String),
}

impl Row {
    /// Whether the holder gave it back (SPEC.md R3).
    pub fn is_released(&self) -> bool {
        self.expires_at == WallTime::RELEASED
    }

    /// When somebody else than its holder may take this row (SPEC.md R1, "WallClock"). A foreign row keeps no
    /// margin of its own, so the taker adds one.
    pub(super) fn free_to_others(&self, max_skew_ms: u64) -> Free {
        match Form::of(&self.holder) {
            Form::Tenure(Policy::WallClock) => Free::AfterExpiry { slack_ms: 0 },
            Form::Foreign => Free::AfterExpiry { slack_ms: max_skew_ms },
            Form::Tenure(Policy::Observed) | Form::Unknown => Free::OnceReleased,
        }
    }

    /// Why the tenure of `me` with that fence is over, as this row tells. `Expired`, if its row it is still: then nobody has
    /// succeeded it.
    pub(crate) fn end_of(&self, me: &HolderId, fence: Fence) -> Loss {
        if self.fence > fence {
            Loss::Superseded { holder: self.holder.clone(), fence: self.fence }
        } else if self.fence < fence || !self.names(me) {
            // A lower fence; or our own in other hands, where it was granted twice.
            Loss::StoreWentBack
        } else if self.is_released() {
            Loss::Released
        } else {
            Loss::Expired
        }
    }

    /// Whether this is `me`'s own row.
    pub(super) fn names(&self, me: &HolderId) -> bool {
        self.holder == me.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_row_is_free_only_max_skew_after_its_expiry() {
        let row = |holder: &str| Row {
            holder: holder.into(),
            fence: Fence::FIRST,
            acquired_at: WallTime::from_unix_millis(1),
            expires_at: WallTime::from_unix_millis(2),
        };
        assert_eq!(
            row("tenure1:wallclock:100:0123456789abcdef:x").free_to_others(7),
            Free::AfterExpiry { slack_ms: 0 }
        );
        assert_eq!(row("appview-1").free_to_others(7), Free::AfterExpiry { slack_ms: 7 });
        assert_eq!(row("tenure1:observed:100:0123456789abcdef:x").free_to_others(7), Free::OnceReleased);
        assert_eq!(row("tenure2:anything").free_to_others(7), Free::OnceReleased);
    }
}
