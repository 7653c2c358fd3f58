//! What the model's ticks, ranks and contenders are in a real row.

use super::reach::{Case, Whose};
use model::config::Policy;
use model::state::{Clock, Expiry, Fence, Holder, Request, Row, Seen};
use std::time::Duration;
use tenure::protocol::{
    self, Action, Bound, Contender, Durations, HolderId, Input, Output, Timing, WallTime,
};
use tests::{SetClock, holder, lease};

/// What a tick is.
const TICK: i64 = 1_000;
/// What an even wall clock shows.
const NOW: i64 = SetClock::BEGIN;
const YEAR: i64 = 365 * 24 * 3_600_000;
/// When the tenures began that are there already.
const BEGAN: i64 = NOW - 77_777;

/// A row's columns, but for its name: each a literal of SQL.
pub(super) type Columns = [String; 4];

/// What stands in no row of ours: in which column, with `{}` for what should stand there, and whether the table of SPEC.md
/// keeps it as it is.
const BAD: &[(usize, &str, bool)] = &[
    (0, "''", true),
    (0, "CAST({} AS BLOB)", true),
    (0, "CAST(X'61FF62' AS TEXT)", true),
    (0, "7", false),
    (0, "NULL", false),
    (1, "1.5", true),
    (1, "'seven'", true),
    (1, "CAST({} AS BLOB)", true),
    (1, "-1", true),
    (1, "9.3e18", true),
    (1, "{}.0", false),
    (1, "'{}'", false),
    (1, "NULL", false),
    (2, "1.5", true),
    (2, "'2026-01-01T00:00:00Z'", true),
    (2, "X'00'", true),
    (2, "NULL", false),
    (3, "{} + 0.5", true),
    (3, "1e300", true),
    (3, "'2026-01-01T00:00:00Z'", true),
    (3, "X''", true),
    (3, "-1", true),
    (3, "{}.0", false),
    (3, "NULL", false),
];

/// One case, in a world where it is real.
#[derive(Clone)]
pub(super) struct Real {
    pub(super) case: Case,
    pub(super) me: HolderId,
    timing: Timing,
    /// The version word of Observed rows: this version recognises its own, and treats one of a newer version alike.
    version: &'static str,
}

impl Real {
    /// A world for this case; two if a row of a newer version is like one of it.
    pub(super) fn all(case: Case) -> Vec<Real> {
        let observed =
            case.asked.row.is_some_and(|row| case.config.policy_of(row.holder) == Policy::Observed);
        let versions = if observed { &["tenure1", "tenure2"][..] } else { &["tenure1"] };
        let timing = timing(&case);
        let real = |version| Real { case, me: holder(1, &timing), timing, version };
        versions.iter().map(|version| real(*version)).collect()
    }

    /// What the wall clock of whoever asks shows.
    pub(super) fn wall(&self) -> i64 {
        match self.case.asked.by.clock {
            Clock::Even => NOW,
            Clock::Ahead => NOW + self.skew(),
            Clock::Far => NOW + 20 * YEAR,
        }
    }

    /// How long after its time a foreign row is free.
    fn skew(&self) -> i64 {
        i64::from(self.case.config.skew) * TICK
    }

    /// The expiry of a lease that whoever asks is granted or renews now.
    pub(super) fn until(&self) -> i64 {
        self.wall() + i64::from(self.case.config.ttl) * TICK
    }

    /// The fence of the rank 0. The last one is the integer's end; and where that is far, a fence that began again at 1
    /// would be none of the ranks.
    fn lowest(&self) -> i64 {
        match (self.case.asked.row, self.case.last()) {
            (None, _) => 0,
            (Some(_), Some(last)) => i64::MAX - i64::from(last.0),
            (Some(_), None) => 10,
        }
    }

    fn fence(&self, rank: Fence) -> protocol::Fence {
        protocol::Fence::new(self.lowest() + i64::from(rank.0)).unwrap()
    }

    /// The rank of a fence, if it is one.
    pub(super) fn rank(&self, fence: i64) -> Option<Fence> {
        fence.checked_sub(self.lowest()).and_then(|rank| u8::try_from(rank).ok()).map(Fence)
    }

    pub(super) fn id(&self, holder: Holder) -> String {
        self.id_of(self.case.whose(holder))
    }

    fn id_of(&self, whose: Whose) -> String {
        let (nonce, policy) = match whose {
            Whose::Own => return self.me.as_str().to_owned(),
            Whose::Others(policy) => (2, policy),
            Whose::GoneOnes(policy) => (3, policy),
        };
        match policy {
            Policy::WallClock => holder(nonce, &self.timing).as_str().to_owned(),
            Policy::Observed => {
                format!("{}:observed:{}:{nonce:016x}:test", self.version, self.timing.ttl_ms())
            }
            Policy::SystemA => format!("appview-{nonce}"),
        }
    }

    /// What the model's row may be in a table that keeps SPEC.md's types, or in one that keeps any.
    pub(super) fn rows(&self, row: Row, typed: bool) -> Vec<Columns> {
        if row.expiry == Expiry::Unreadable {
            return self.garbled(row, typed);
        }
        self.expiries(row).into_iter().map(|at| self.columns(row, at)).collect()
    }

    fn columns(&self, row: Row, expires_at: i64) -> Columns {
        let holder = format!("'{}'", self.id(row.holder));
        [holder, self.fence(row.fence).get().to_string(), BEGAN.to_string(), expires_at.to_string()]
    }

    /// One bad column; whatever the others say: released, expired, or live.
    fn garbled(&self, row: Row, typed: bool) -> Vec<Columns> {
        let bad = BAD.iter().filter(|(_, _, kept)| *kept || !typed);
        let garbled = bad.flat_map(|(column, bad, _)| {
            [0, 1, NOW + 2 * TICK].map(|at| {
                let mut columns = self.columns(row, at);
                columns[*column] = bad.replace("{}", &columns[*column]);
                columns
            })
        });
        garbled.collect()
    }

    /// Clocks show whole ticks, so that whatever comes within one is found past by the same clocks as its end.
    fn expiries(&self, row: Row) -> Vec<i64> {
        let foreign = self.case.config.policy_of(row.holder) == Policy::SystemA;
        let free = |left: u8| NOW + i64::from(left) * TICK - if foreign { self.skew() } else { 0 };
        match row.expiry {
            Expiry::Released => vec![0],
            Expiry::In(0) => vec![free(0), free(0) - 1, 1],
            Expiry::In(left) => vec![free(left), free(left) - 1, free(left - 1) + 1],
            Expiry::Far => vec![NOW + 10 * YEAR],
            Expiry::Unreadable => Vec::new(),
        }
    }

    /// The expiry in the model of what this request has written, if a request may write that; `before`: what was there.
    pub(super) fn expiry(&self, written: i64, before: Option<i64>) -> Option<Expiry> {
        let row = self.case.asked.row;
        let ahead = self.case.config.ahead(self.case.asked.by.clock);
        match written {
            0 => Some(Expiry::Released),
            _ if written == self.until() => {
                Some(ahead.map_or(Expiry::Far, |ahead| Expiry::In(ahead + self.case.config.ttl)))
            }
            // SPEC.md R3.4: a millisecond is a change, though no tick.
            _ if before.is_some_and(|before| written == before + 1) => row.map(|row| row.expiry),
            _ => None,
        }
    }

    /// What the model's request may be.
    pub(super) fn actions(&self) -> Vec<Action> {
        match self.case.asked.request {
            None => vec![Action::Read],
            Some(Request::Renew(fence)) => vec![Action::Renew(self.fence(fence))],
            Some(Request::Release(fence)) => vec![Action::Release(self.fence(fence))],
            Some(Request::Acquire(seen, _)) => self.bounds(seen).into_iter().map(Action::Acquire).collect(),
        }
    }

    fn bounds(&self, seen: Seen) -> Vec<Bound> {
        match seen {
            Seen::Absent => vec![Bound::Absent],
            Seen::Row(holder, fence) => vec![self.bound(self.id(holder), self.fence(fence))],
            Seen::Outdated => self.outdated(),
            Seen::Unseen => unreachable!("only system A does not look"),
        }
    }

    /// What is no more: no row, or one with another fence, or of another holder.
    fn outdated(&self) -> Vec<Bound> {
        let stranger = Whose::Others(Policy::WallClock);
        let bound = |(whose, fence)| self.bound(self.id_of(whose), fence);
        let Some(row) = self.case.asked.row else {
            return [(Whose::Own, protocol::Fence::FIRST), (stranger, protocol::Fence::FIRST)]
                .map(bound)
                .into();
        };
        let (whose, fence) = (self.case.whose(row.holder), self.fence(row.fence));
        let other = if whose == Whose::Own { stranger } else { Whose::Own };
        let next_to = [fence.get().checked_sub(1), fence.get().checked_add(1)].into_iter().flatten();
        let next_to = next_to.filter_map(protocol::Fence::new).map(|fence| (whose, fence));
        let seen = next_to.chain([(other, fence)]).map(bound);
        std::iter::once(Bound::Absent).chain(seen).collect()
    }

    /// The acquire that the shipped contender sends when it has read that row, and found it free. (It sends none for the
    /// last fence; so it is shown another.)
    fn bound(&self, holder: String, fence: protocol::Fence) -> Bound {
        let (first, released) = (protocol::Fence::FIRST, WallTime::RELEASED);
        let row = protocol::Row { holder, fence: first, acquired_at: released, expires_at: released };
        match self.after_reading(protocol::Seen::Row(row)).request.map(|request| request.action) {
            Some(Action::Acquire(Bound::Seen { holder, free, .. })) => Bound::Seen { holder, fence, free },
            other => panic!("a released row is acquired, and not {other:?}"),
        }
    }

    /// What the shipped contender does when it has read this.
    pub(super) fn after_reading(&self, seen: protocol::Seen) -> Output {
        let mut contender = Contender::new(lease("worker"), self.me.clone(), self.timing);
        let now = protocol::LocalTime::from_millis(1);
        let read = contender.step(now, 0, Input::Wake).request.expect("it reads first");
        let reply = protocol::Reply::Seen { seen, wall: WallTime::from_unix_millis(self.wall()) };
        contender.step(now, 0, Input::Reply { id: read.id, reply })
    }
}

/// Only the TTL and the skew matter to a store.
fn timing(case: &Case) -> Timing {
    let ticks = |ticks: u8| Duration::from_secs(u64::from(ticks));
    let short = Some(Duration::from_millis(1));
    let durations = Durations {
        ttl: ticks(case.config.ttl),
        max_skew: Some(ticks(case.config.skew)),
        renew_every: short,
        request_timeout: short,
        grace: short,
        kill_lead: short,
    };
    durations.check().unwrap()
}
