//! What drives the contenders of an elector.
//!
//! The timer thread calls [`Keeper::step`], then waits on the clock until the moment that it gave, or until there is an
//! order or an answer. It does no I/O; what may block is left to the store thread, and to a third that passes what
//! changed to `tracing`. The crate's first page has the picture.
//!
//! Programs use the [elector](crate::Elector), which starts these threads. Only a test calls the keeper itself.

mod belief;
mod closing;
mod contention;
mod crew;
mod desk;
mod drive;
mod latch;
mod log;
mod notice;
mod orders;
mod patience;
mod reach;
mod record;
mod seats;
mod watch;

pub use belief::NotReleased;
pub use record::{Counters, Health};
pub use watch::Sighting;

pub(crate) use belief::{Belief, Custody, Stop};
#[cfg(any(feature = "cli", feature = "instance"))]
pub(crate) use notice::Notice;
pub(crate) use notice::Pledge;
pub(crate) use orders::{Hands, Id, Order, Orders, Ticket, Witness};
pub(crate) use patience::Pauses;
pub(crate) use record::Record;
pub(crate) use watch::{Sightings, Watch};

use crate::clock::Clock;
use crate::elector::AcquireError;
use crate::protocol::{End, Fence, HolderId, Label, LocalTime, Reply, Request, RequestId, Timing};
use crate::random::{Dice, NoRandomness};
use crate::store::{Answer, Store};
use closing::Shutdown;
use contention::Contention;
use crew::{Crew, Hire};
use log::Log;
use orders::earlier;
use reach::Reach;
use record::Kind;
use seats::{Seats, Turn};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// All contenders of an elector, and its store thread's desk.
#[derive(Debug)]
pub struct Keeper {
    reach: Reach,
    crew: Crew,
    seats: Seats,
    contentions: HashMap<Id, Contention>,
    watches: HashMap<Id, Watch>,
    /// When each of them wants to be called.
    due: BTreeSet<(LocalTime, Id)>,
    /// In whose name observers read; it stands in no row.
    reader: HolderId,
    shutdown: Option<Shutdown>,
    /// Whoever waits until nothing is being given back.
    settling: Vec<Pledge<()>>,
}

/// What a keeper is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Box<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timing: Timing,
    pub(crate) label: Label,
    pub(crate) file: Arc<Path>,
    pub(crate) dice: Dice,
    /// Whether a store thread and one for the log are started.
    pub(crate) threads: bool,
}

/// Why there is no keeper.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKeeper {
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    #[error("no thread could be started: {0}")]
    NoThread(#[from] std::io::Error),
}

impl Keeper {
    /// A keeper, and the hands through which handles reach it.
    pub(crate) fn new(parts: Parts) -> Result<(Self, Arc<Hands>), NoKeeper> {
        let Parts { store, clock, timing, label, file, dice, threads } = parts;
        let orders = Orders::new();
        let patience_ms = timing.request_timeout_ms();
        let hands = Arc::new(Hands { orders: Arc::clone(&orders), clock: Arc::clone(&clock), patience_ms });
        let record = Arc::new(Record::new(&timing));
        let (hire, log) = if threads {
            (Hire::Threads, Log::by_thread(Arc::clone(&orders.over))?)
        } else {
            (Hire::ByHand(Vec::new()), Log::AtOnce)
        };
        let (bell, timeout) = (Arc::clone(&orders.bell), timing.request_timeout_ms());
        let crew = Crew::new(store, hire, Arc::clone(&clock), bell, Arc::clone(&record), timeout)?;
        let hands_there = Arc::downgrade(&hands);
        let requests = Vec::new();
        let mut reach =
            Reach { clock, timing, label, file, dice, orders, hands: hands_there, requests, record, log };
        let reader = reach.new_holder()?;
        let keeper = Self {
            reach,
            crew,
            seats: Seats::default(),
            contentions: HashMap::new(),
            watches: HashMap::new(),
            due: BTreeSet::new(),
            reader,
            shutdown: None,
            settling: Vec::new(),
        };
        Ok((keeper, hands))
    }

    pub(crate) fn record(&self) -> Arc<Record> {
        Arc::clone(&self.reach.record)
    }

    /// Does all that is to be done at `now`, the reading of the local clock just before the call. When to call again, if
    /// nothing comes before; `None`: only when something does. A call that was not needed changes nothing.
    pub fn step(&mut self, now: LocalTime) -> Option<LocalTime> {
        self.reach.orders.take().into_iter().for_each(|order| self.carry_out(now, order));
        for ((whose, id, kind), answer) in self.crew.answers(now) {
            let answer = self.note(now, kind, answer);
            self.on_answer(now, whose, id, answer);
        }
        self.call_who_is_due(now);
        self.mind_shutdown(now);
        self.mind_settling();
        for (whose, request) in self.reach.requests.drain(..) {
            self.crew.ask(whose, request);
        }
        let hand_over = self.crew.hand_over(now);
        // What this step itself has caused, as when a grant is dropped that nobody received.
        let at_once = (!self.reach.orders.is_empty()).then_some(now);
        let first = self.due.first().map(|(at, _)| *at);
        let next = [hand_over, at_once, first, self.overdue_at(now)].into_iter().fold(None, earlier);
        self.reach.record.sleeps(next);
        next
    }

    /// Carries out what lies on the store thread's desk, where whoever drives the keeper is the store thread. Whether
    /// something did; the next step takes in the answers.
    pub fn serve(&mut self) -> bool {
        self.crew.serve()
    }

    /// The same, carried out by `carry_out`, which gives an answer for each request in order: a
    /// [`SqliteStore`](crate::store::SqliteStore) of a simulation's own, or one that is made to fail. What it finds busy is
    /// asked again, with pauses by the clock, until its time is up; what is out of time already is not asked.
    pub fn serve_by(&mut self, carry_out: impl FnMut(&[Request]) -> Vec<Answer>) -> bool {
        self.crew.serve_by(carry_out)
    }

    /// What waits to be carried out: first what lies on the store thread's desk, then what follows. A call that hangs is
    /// one that is not served; when its time is up, the next [`step`](Self::step) gives up on it.
    pub fn asked(&self) -> Vec<Request> {
        self.crew.asked()
    }

    fn carry_out(&mut self, now: LocalTime, order: Order) {
        match order {
            Order::Contend(mut ticket) => {
                let give_up_at = now.plus(self.reach.timing.request_timeout_ms());
                ticket.give_up_at = (!ticket.waits).then_some(give_up_at);
                self.contend(now, vec![ticket]);
            }
            Order::Cancel(id, lease) => {
                self.seats.cancel(&lease, id);
                self.with(id, now, |contention, reach| contention.cancel(now, reach));
            }
            Order::Release(id) => self.with(id, now, |contention, reach| contention.give_back(now, reach)),
            Order::LetGo(id) => self.with(id, now, |contention, reach| contention.let_go(now, reach)),
            Order::Abandon(id) => self.with(id, now, |contention, reach| contention.abandon(now, reach)),
            Order::FoundLost(id) => self.with(id, now, |contention, reach| contention.wake(now, reach)),
            Order::Observe(id, watch) => {
                self.due.insert((watch.due, id));
                self.watches.insert(id, watch);
            }
            Order::Unobserve(id) => {
                if let Some(watch) = self.watches.remove(&id) {
                    self.due.remove(&(watch.due, id));
                }
            }
            Order::Shutdown { grace_ms, done } => self.begin_shutdown(now, grace_ms, done),
            Order::Settle(done) => self.settling.push(done),
        }
    }

    /// Each whose turn it is begins to contend; the others wait, or are told.
    fn contend(&mut self, now: LocalTime, tickets: Vec<Ticket>) {
        for ticket in tickets {
            if self.shutdown.is_some() {
                ticket.outcome.keep(Err(AcquireError::ShutDown));
                continue;
            }
            let is_leaving = |id| self.contentions.get(&id).is_some_and(Contention::is_leaving);
            match self.seats.come(ticket, is_leaving) {
                Turn::Now(ticket, floor) => self.begin(now, ticket, floor),
                Turn::Later => {}
                Turn::Taken(ticket) => ticket.outcome.keep(Err(AcquireError::HeldHere)),
                Turn::Closed(ticket, end) => ticket.outcome.keep(Err(end.into())),
            }
        }
    }

    fn begin(&mut self, now: LocalTime, ticket: Ticket, floor: Option<Fence>) {
        match self.reach.new_holder() {
            Ok(holder) => {
                let id = ticket.id;
                let contention = Contention::new(ticket, holder, floor, now, &self.reach);
                self.due.extend(contention.due.map(|at| (at, id)));
                self.contentions.insert(id, contention);
            }
            Err(error) => {
                let next = self.seats.leave(&ticket.lease, floor, End::Shutdown);
                ticket.outcome.keep(Err(AcquireError::NoRandomness(error)));
                self.contend(now, next);
            }
        }
    }

    fn note(&self, now: LocalTime, kind: Kind, answer: Answer) -> Result<Reply, String> {
        let answer = answer.map_err(|error| error.to_string());
        match &answer {
            Ok(_) => self.reach.record.store_answered(kind),
            Err(why) => self.reach.record.store_failed(kind, now, why),
        }
        answer
    }

    fn on_answer(&mut self, now: LocalTime, whose: Id, id: RequestId, answer: Result<Reply, String>) {
        if let Some(watch) = self.watches.get_mut(&whose) {
            self.due.remove(&(watch.due, whose));
            watch.on_answer(now, id, answer, self.reach.timing.poll_ms());
            self.due.insert((watch.due, whose));
        } else {
            self.with(whose, now, |contention, reach| contention.reply(now, id, answer, reach));
        }
    }

    fn call_who_is_due(&mut self, now: LocalTime) {
        while let Some((at, id)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, id));
            if let Some(watch) = self.watches.get_mut(&id) {
                let request = watch.step(now, &self.reader, &self.reach.timing);
                self.reach.requests.extend(request.map(|request| (id, request)));
                self.due.insert((watch.due, id));
            } else {
                self.with(id, now, |contention, reach| contention.wake(now, reach));
            }
        }
    }

    /// Does something with a contention; when it has ended, it is another's turn.
    fn with(
        &mut self,
        id: Id,
        now: LocalTime,
        does: impl FnOnce(&mut Contention, &mut Reach) -> Option<End>,
    ) {
        let Some(contention) = self.contentions.get_mut(&id) else { return };
        if let Some(at) = contention.due {
            self.due.remove(&(at, id));
        }
        match does(contention, &mut self.reach) {
            None => self.due.extend(contention.due.map(|at| (at, id))),
            Some(end) => self.end(now, id, end),
        }
    }

    fn end(&mut self, now: LocalTime, id: Id, end: End) {
        let Some(contention) = self.contentions.remove(&id) else { return };
        let (lease, floor) = (contention.lease().clone(), contention.floor());
        contention.ended(&end);
        let next = self.seats.leave(&lease, floor, end);
        self.contend(now, next);
    }
}
