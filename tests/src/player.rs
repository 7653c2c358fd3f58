//! Requests, and a contender that is driven by hand.

use crate::SetClock;
use crate::wait::retry;
use std::sync::Arc;
use std::time::Duration;
use tenure::clock::Clock;
use tenure::protocol::{
    Action, Bound, Contender, Durations, Event, Fence, Free, HolderId, Input, Label, LeaseName, LocalTime,
    Reply, Request, RequestId, Timing,
};
use tenure::store::{SqliteStore, StoreError};

/// The durations that follow from a TTL.
pub fn timing(ttl_ms: u64) -> Timing {
    let durations = Durations { ttl: Duration::from_millis(ttl_ms), ..Durations::default() };
    durations.check().unwrap()
}

/// A lease's name.
pub fn lease(name: &str) -> LeaseName {
    LeaseName::new(name).unwrap()
}

/// A holder id; each `nonce` makes another one.
pub fn holder(nonce: u64, timing: &Timing) -> HolderId {
    HolderId::new(&Label::new("test").unwrap(), nonce, timing)
}

/// A request that nobody gives up on.
pub fn request(lease: &LeaseName, holder: &HolderId, action: Action) -> Request {
    Request {
        id: RequestId::new(1),
        lease: lease.clone(),
        holder: holder.clone(),
        give_up_at: LocalTime::from_millis(u64::MAX),
        action,
    }
}

/// Bound to that row.
pub fn bound(holder: &str, fence: i64, free: Free) -> Bound {
    Bound::Seen { holder: holder.into(), fence: Fence::new(fence).unwrap(), free }
}

/// A contender, its store and its clock.
#[derive(Debug)]
pub struct Player {
    /// The contender.
    pub contender: Contender,
    /// Its clock.
    pub clock: Arc<SetClock>,
    store: SqliteStore,
}

impl Player {
    /// A contender that has not looked yet.
    pub fn new(
        store: SqliteStore,
        clock: &Arc<SetClock>,
        lease: &LeaseName,
        me: &HolderId,
        timing: Timing,
    ) -> Self {
        Self { contender: Contender::new(lease.clone(), me.clone(), timing), store, clock: Arc::clone(clock) }
    }

    /// Contends anew on the same connection, as somebody else.
    pub fn contend_as(&mut self, lease: &LeaseName, me: &HolderId, timing: Timing) {
        self.contender = Contender::new(lease.clone(), me.clone(), timing);
    }

    /// Takes one step, and what it asks of the store, if anything.
    pub fn step(&mut self, input: Input) -> (Option<Request>, Vec<Event>) {
        let output = self.contender.step(self.clock.local(), 0, input);
        (output.request, output.events)
    }

    /// Carries a request out, again and again while the file is busy.
    pub fn carry_out(&mut self, request: &Request) -> Input {
        let answer = retry("the file is not busy", Duration::from_micros(20), || {
            match self.store.execute(std::slice::from_ref(request)).pop().unwrap() {
                Err(StoreError::Busy) => None,
                answer => Some(answer),
            }
        });
        Input::Reply { id: request.id, reply: answer.unwrap_or(Reply::Failed) }
    }

    /// Takes a step and carries out all that follows from it at this moment.
    pub fn play(&mut self, input: Input) -> Vec<Event> {
        let (mut request, mut events) = self.step(input);
        while let Some(asked) = request {
            let reply = self.carry_out(&asked);
            let (next, more) = self.step(reply);
            request = next;
            events.extend(more);
        }
        events
    }

    /// Time passes; then the contender looks at its clock.
    pub fn after(&mut self, ms: u32) -> Vec<Event> {
        self.clock.advance(ms);
        self.play(Input::Wake)
    }
}
