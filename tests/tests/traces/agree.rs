//! Where model and code must agree: the row, the requests, the replies, what is believed.

use super::ground::{TICK_MS, is_far};
use super::play::{Play, Wrong};
use super::stack::Stack;
use model::config::Policy;
use model::contender::Phase;
use model::state::{Expiry, Fence, Holder, Message, Reply as Replies, Request as Sent, Seen as Bound, Who};
use rusqlite::OptionalExtension;
use rusqlite::types::Value;
use tenure::protocol::{Action as Asks, Bound as BoundTo, Free, Reply, Request, Seen};
use tenure::store::Answer;

/// The row, as SQLite has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) holder: String,
    pub(super) fence: i64,
    pub(super) acquired_at: i64,
    pub(super) expires_at: Value,
}

impl Found {
    /// The row of a lease.
    pub(super) fn of(ground: &super::ground::Ground, lease: &str) -> Option<Found> {
        let sql =
            "SELECT holder_id, fence, acquired_at, expires_at FROM instance_leases WHERE lease_name = ?";
        let mut query = ground.outsider.prepare_cached(sql).unwrap();
        let row = query.query_row([lease], |row| {
            Ok(Found {
                holder: row.get(0)?,
                fence: row.get(1)?,
                acquired_at: row.get(2)?,
                expires_at: row.get(3)?,
            })
        });
        row.optional().unwrap()
    }

    pub(super) fn is_released(&self) -> bool {
        self.expires_at == Value::Integer(0)
    }
}

/// Pairs of a fence of the model, which is a rank, and one of the code: the same order, and nothing twice.
#[derive(Default)]
struct Fences(Vec<(Fence, i64)>);

impl Fences {
    fn pair(&mut self, rank: Fence, fence: i64) {
        self.0.push((rank, fence));
    }

    fn agree(mut self) -> Result<(), Wrong> {
        self.0.sort_unstable();
        self.0.dedup();
        let rises = |two: &[(Fence, i64)]| two[0].0 < two[1].0 && two[0].1 < two[1].1;
        if self.0.windows(2).all(rises) { Ok(()) } else { Err(format!("fences differ: {:?}", self.0)) }
    }
}

impl<S: Stack, const N: usize> Play<'_, S, N> {
    /// After each action: row, requests under way and beliefs are the model's.
    pub(super) fn compare(&mut self) -> Result<(), Wrong> {
        let mut fences = Fences::default();
        let row = Found::of(self.ground, &self.lease);
        self.rows_agree(row.as_ref(), &mut fences)?;
        self.history.nobody_acts();
        for who in 0..N {
            self.flights_agree(who, &mut fences)?;
            self.beliefs_agree(who, &mut fences)?;
            self.work_is_told(who)?;
        }
        self.history.row(row);
        fences.agree()
    }

    fn rows_agree(&self, found: Option<&Found>, fences: &mut Fences) -> Result<(), Wrong> {
        // Each renewal moves the expiry by a millisecond, at most.
        let beside = self.left_ms().map_or(0, |left| left.rem_euclid(TICK_MS as i64));
        if beside > 100 {
            return Err(format!("the row expires {beside} ms beside a tick: {found:?}"));
        }
        let differ = || format!("the row is {found:?}, and the model has {:?}", self.state.row);
        match (found, self.state.row) {
            (None, None) => Ok(()),
            (Some(found), Some(row)) => {
                fences.pair(row.fence, found.fence);
                let alike = self.expiry(found) == row.expiry && self.holder(&found.holder) == row.holder;
                if alike { Ok(()) } else { Err(differ()) }
            }
            _ => Err(differ()),
        }
    }

    fn holder(&self, holder: &str) -> Holder {
        let who = self.seats.iter().position(|seat| seat.me.as_deref() == Some(holder));
        who.map_or(Holder::Gone(Policy::WallClock), |who| Holder::Contender(Who(who as u8)))
    }

    /// In whole ticks; that a renewal moved it by a further millisecond is no tick.
    fn expiry(&self, found: &Found) -> Expiry {
        match found.expires_at {
            Value::Integer(0) => Expiry::Released,
            Value::Integer(at) if is_far(at) => Expiry::Far,
            Value::Integer(at) => {
                let left = (at - self.ground.time.even_ms()).div_euclid(TICK_MS as i64);
                Expiry::In(left.max(0) as u8)
            }
            _ => Expiry::Unreadable,
        }
    }

    /// How long until the row expires, if it does, by a clock that is not ahead.
    fn left_ms(&self) -> Option<i64> {
        match Found::of(self.ground, &self.lease)?.expires_at {
            Value::Integer(at) if at != 0 && !is_far(at) => Some(at - self.ground.time.even_ms()),
            _ => None,
        }
    }

    /// Whether a renewal moved the expiry by a millisecond, which is no tick (SPEC.md R3.4).
    pub(super) fn expires_between_ticks(&self) -> bool {
        self.left_ms().is_some_and(|left| left > 0 && left.rem_euclid(TICK_MS as i64) != 0)
    }

    /// Whether the row has expired on this contender's clock in the model, and not quite in truth. What depends on that is
    /// not tried at that very moment.
    pub(super) fn is_on_edge(&self, who: usize, request: &Request) -> bool {
        let ahead = self.config().ahead(self.state.contenders[who].clock).map(i64::from);
        let ticks = self.left_ms().map(|left| left.div_euclid(TICK_MS as i64));
        let asks_a_clock = !matches!(request.action, Asks::Release(_));
        asks_a_clock && self.expires_between_ticks() && ahead.is_some() && ahead == ticks
    }

    /// Whether the row has expired on this contender's clock.
    pub(super) fn has_expired(&self, who: usize) -> bool {
        let ahead = self.config().ahead(self.state.contenders[who].clock);
        match self.state.row.map(|row| row.expiry) {
            Some(Expiry::In(left)) => ahead.is_none_or(|ahead| left <= ahead),
            Some(Expiry::Far) => ahead.is_none(),
            Some(Expiry::Released) => true,
            Some(Expiry::Unreadable) | None => false,
        }
    }

    /// What the store says is there is there.
    pub(super) fn row_is(&self, seen: &Seen) -> Result<(), Wrong> {
        let found = Found::of(self.ground, &self.lease);
        let alike = match (seen, &found) {
            (Seen::Absent, None) => true,
            (Seen::Unreadable(_), Some(found)) => !matches!(found.expires_at, Value::Integer(_)),
            (Seen::Row(row), Some(found)) => {
                let expires_at = Value::Integer(row.expires_at.as_unix_millis());
                row.holder == found.holder && row.fence.get() == found.fence && expires_at == found.expires_at
            }
            _ => false,
        };
        if alike { Ok(()) } else { Err(format!("the store says {seen:?}, and there is {found:?}")) }
    }

    /// The reply that the model has on its way.
    pub(super) fn replies_agree(&self, who: usize, answer: &Answer) -> Result<(), Wrong> {
        let message = self.state.contenders[who].flight.map(|flight| flight.message);
        let Some(Message::Answered(reply)) = message else {
            return Err(format!("the code was answered {answer:?}, and the model {message:?}"));
        };
        match (answer, reply) {
            (Err(_), _) => Ok(()), // the reply is lost
            (Ok(Reply::Granted(fence)), Replies::Granted(rank)) => {
                let row = self.state.row.map(|row| row.fence);
                let found = Found::of(self.ground, &self.lease).map(|found| found.fence);
                let alike = row == Some(rank) && found == Some(fence.get());
                if alike { Ok(()) } else { Err(format!("granted {fence}, and in the row is {found:?}")) }
            }
            (Ok(Reply::Renewed), Replies::Renewed) | (Ok(Reply::Released), Replies::Released) => Ok(()),
            (Ok(Reply::Refused(seen)), Replies::Refused) => self.row_is(seen),
            _ => Err(format!("the code was answered {answer:?}, and the model {reply:?}")),
        }
    }

    /// What the code waits for, the model does, where it is on its way to the store.
    fn flights_agree(&self, who: usize, fences: &mut Fences) -> Result<(), Wrong> {
        let seat = &self.seats[who];
        let flight = seat.flight.as_ref().filter(|flight| flight.action != Asks::Read);
        let message = self.state.contenders[who].flight.map(|flight| flight.message);
        let differ = || Err(format!("{who} waits for {:?}, and in the model for {message:?}", seat.flight));
        match (flight, message) {
            (None, None) | (Some(_), Some(Message::Answered(_))) => Ok(()),
            (Some(flight), Some(Message::Sent(sent))) => match (&flight.action, sent) {
                (Asks::Acquire(to), Sent::Acquire(seen, Fence::NONE)) => {
                    self.bounds_agree(who, to, seen, fences)
                }
                (Asks::Renew(fence), Sent::Renew(rank)) | (Asks::Release(fence), Sent::Release(rank)) => {
                    fences.pair(rank, fence.get());
                    Ok(())
                }
                _ => differ(),
            },
            _ => differ(),
        }
    }

    fn bounds_agree(&self, who: usize, to: &BoundTo, seen: Bound, fences: &mut Fences) -> Result<(), Wrong> {
        let differ = || Err(format!("an acquire is bound to {to:?}, and in the model to {seen:?}"));
        match (to, seen) {
            (BoundTo::Absent, Bound::Absent) => Ok(()),
            (_, Bound::Outdated) if !self.is_bound_to(to) => Ok(()),
            (BoundTo::Seen { holder, fence, free }, Bound::Row(named, rank)) => {
                fences.pair(rank, fence.get());
                let is_own = self.seats[who].me.as_ref() == Some(holder);
                let of_anybody = Free::AfterExpiry { slack_ms: 0 };
                let is_free = *free == of_anybody || (is_own && *free == Free::Now);
                if self.holder(holder) == named && is_free { Ok(()) } else { differ() }
            }
            _ => differ(),
        }
    }

    /// Whether a request that nobody waits for is bound to the row as it is. To the model all who are gone are one, so there
    /// their rows are each other's own, and need no expiry; to the code each is another.
    pub(super) fn is_bound(&self, who: usize, request: &Request) -> bool {
        let found = Found::of(self.ground, &self.lease);
        let names = |fence: i64| {
            found.as_ref().is_some_and(|f| f.fence == fence && f.holder == request.holder.as_str())
        };
        match &request.action {
            Asks::Read => false,
            Asks::Renew(fence) | Asks::Release(fence) => names(fence.get()),
            Asks::Acquire(to @ BoundTo::Seen { free: Free::AfterExpiry { .. }, .. }) => {
                self.is_bound_to(to) && self.has_expired(who)
            }
            Asks::Acquire(to) => self.is_bound_to(to),
        }
    }

    fn is_bound_to(&self, to: &BoundTo) -> bool {
        match (to, Found::of(self.ground, &self.lease)) {
            (BoundTo::Absent, None) => true,
            (BoundTo::Seen { holder, fence, .. }, Some(found)) => {
                *holder == found.holder && fence.get() == found.fence
            }
            _ => false,
        }
    }

    /// Work is told to stop when its elector is shut down, and when its tenure is over (SPEC.md R6.1).
    fn work_is_told(&self, who: usize) -> Result<(), Wrong> {
        let contender = self.state.contenders[who];
        let must_stop = contender.stopping || matches!(contender.phase, Phase::Lost { .. });
        match self.seats[who].stack.should_stop() {
            Some(false) if must_stop => Err(format!("its work was not told to stop: {contender}")),
            _ => Ok(()),
        }
    }

    /// Whoever believes in the model does, until the same deadline; nobody else does. In a world where holders do not look,
    /// nobody asks them who would not get a yes.
    fn beliefs_agree(&mut self, who: usize, fences: &mut Fences) -> Result<(), Wrong> {
        let contender = self.state.contenders[who];
        let believes = contender.believes(self.config(), Who(who as u8));
        if believes.is_none() && !self.world.looks {
            return Ok(());
        }
        let (now, belief) = (self.ground.time.now(), self.seats[who].stack.belief());
        if let Some((fence, _)) = belief {
            self.history.acts(self.seats[who].me.clone(), fence.get(), now);
        }
        let left = match contender.phase {
            Phase::Holding { left, .. } => u64::from(left),
            _ => 0,
        };
        match (believes, belief) {
            (None, None) => Ok(()),
            (Some(rank), Some((fence, deadline))) if deadline == now.plus(left * TICK_MS) => {
                fences.pair(rank, fence.get());
                Ok(())
            }
            _ => Err(format!(
                "{who} believes in {belief:?} at {now:?}, and in the model in {believes:?} for {left}"
            )),
        }
    }
}
