//! What drives the contenders of an elector.
//!
//! The timer thread calls [`Keeper::step`], then waits on the clock until the moment that it gave, or until there is an
//! order or an answer. It does no I/O; what may block is left to the store thread, and to a third that passes what
//! changed to `tracing`. The crate's first page has the picture.
//!
//! Programs use the [elector](crate::Elector), which starts these threads. Only a test calls the keeper itself.

mod belief;
mod contention;
mod crew;
mod desk;
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
pub(crate) use notice::Notice;
pub(crate) use orders::{Hands, Id, Order, Orders, Ticket, Witness};
pub(crate) use patience::Pauses;
pub(crate) use record::Record;
pub(crate) use watch::Sightings;

use crate::clock::Clock;
use crate::elector::AcquireError;
use crate::protocol::{End, HolderId, Label, LeaseName, LocalTime, Reply, RequestId, Timing};
use crate::random::{Dice, NoRandomness};
use crate::store::{Answer, Store};
use contention::Contention;
use crew::{Crew, Hire};
use log::Log;
use orders::earlier;
use reach::Reach;
use record::Kind;
use seats::{Seats, Turn};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use watch::Watch;

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
    settling: Vec<Arc<Notice<()>>>,
}

#[derive(Debug)]
struct Shutdown {
    overdue_at: LocalTime,
    done: Vec<Arc<Notice<Vec<LeaseName>>>>,
    /// What is left to run out.
    left: Vec<LeaseName>,
}

/// What a keeper is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Box<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timing: Timing,
    pub(crate) label: Label,
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
        let Parts { store, clock, timing, label, dice, threads } = parts;
        let orders = Orders::new();
        let hands = Arc::new(Hands(Arc::clone(&orders)));
        let record = Arc::new(Record::default());
        let (hire, log) = if threads {
            (Hire::Threads, Log::by_thread()?)
        } else {
            (Hire::ByHand(Vec::new()), Log::at_once())
        };
        let (bell, timeout) = (Arc::clone(&orders.bell), timing.request_timeout_ms());
        let crew = Crew::new(store, hire, Arc::clone(&clock), bell, Arc::clone(&record), timeout)?;
        let hands_there = Arc::downgrade(&hands);
        let requests = Vec::new();
        let mut reach =
            Reach { clock, timing, label, dice, orders, hands: hands_there, requests, record, log };
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
        for ((whose, id, kind), answer) in self.crew.answers() {
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
        let overdue = self.shutdown.as_ref().filter(|s| s.overdue_at > now).map(|s| s.overdue_at);
        let next = [hand_over, at_once, first, overdue].into_iter().fold(None, earlier);
        self.reach.record.sleeps(next);
        next
    }

    /// Carries out what lies on the store thread's desk, where whoever drives the keeper is the store thread. Whether
    /// something did; the next step takes in the answers.
    pub fn serve(&mut self) -> bool {
        self.crew.serve()
    }

    /// Whether no handle is left, and nothing is to be done for those that were.
    fn is_over(&self) -> bool {
        self.reach.orders.is_orphaned()
            && self.reach.orders.is_empty()
            && !self.contentions.values().any(Contention::is_unsettled)
    }

    fn carry_out(&mut self, now: LocalTime, order: Order) {
        match order {
            Order::Contend(ticket) => self.contend(now, VecDeque::from([ticket])),
            Order::Cancel(id) => {
                self.seats.cancel(id);
                self.with(id, now, |contention, reach| contention.cancel(now, reach));
            }
            Order::LetGo(id) => self.with(id, now, |contention, reach| contention.let_go(now, reach)),
            Order::Abandon(id) => self.with(id, now, |contention, reach| contention.abandon(now, reach)),
            Order::Observe(id, lease, sightings) => {
                self.due.insert((now, id));
                self.watches.insert(id, Watch::new(lease, sightings, now));
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
    fn contend(&mut self, now: LocalTime, tickets: VecDeque<Ticket>) {
        for ticket in tickets {
            if self.shutdown.is_some() {
                ticket.outcome.tell(Err(AcquireError::ShutDown));
                continue;
            }
            match self.seats.come(ticket) {
                Turn::Now(ticket, floor) => match self.reach.new_holder() {
                    Ok(holder) => {
                        let id = ticket.id;
                        let contention = Contention::new(ticket, holder, floor, now, &self.reach);
                        self.due.extend(contention.due.map(|at| (at, id)));
                        self.contentions.insert(id, contention);
                    }
                    Err(error) => {
                        self.seats.leave(&ticket.lease, floor, End::Shutdown);
                        ticket.outcome.tell(Err(AcquireError::NoRandomness(error)));
                    }
                },
                Turn::Later => {}
                Turn::Taken(ticket) => ticket.outcome.tell(Err(AcquireError::HeldHere)),
                Turn::Closed(ticket, end) => ticket.outcome.tell(Err(end.into())),
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

    /// Nobody contends any more; who holds is told to stop (SPEC.md R6).
    fn begin_shutdown(&mut self, now: LocalTime, grace_ms: u64, done: Arc<Notice<Vec<LeaseName>>>) {
        let overdue_at = now.plus(grace_ms);
        let begun = Shutdown { overdue_at, done: Vec::new(), left: Vec::new() };
        let shutdown = self.shutdown.get_or_insert(begun);
        shutdown.overdue_at = overdue_at;
        shutdown.done.push(done);
        for ticket in self.seats.drain() {
            ticket.outcome.tell(Err(AcquireError::ShutDown));
        }
        for id in self.ids() {
            self.with(id, now, |contention, reach| contention.shut_down(now, reach));
        }
    }

    /// Work that has not stopped within its grace is let run out (SPEC.md R6.3).
    fn mind_shutdown(&mut self, now: LocalTime) {
        let Some(shutdown) = &mut self.shutdown else { return };
        if now >= shutdown.overdue_at {
            let at_work = self.contentions.values().filter(|contention| contention.is_at_work());
            shutdown.left.extend(at_work.map(|contention| contention.lease().clone()));
            for id in self.ids() {
                self.with(id, now, |contention, reach| contention.overdue(now, reach));
            }
        }
        if !self.contentions.values().any(Contention::is_unsettled)
            && let Some(shutdown) = &mut self.shutdown
        {
            shutdown.left.sort();
            shutdown.done.drain(..).for_each(|done| done.tell(shutdown.left.clone()));
        }
    }

    fn mind_settling(&mut self) {
        if !self.settling.is_empty() && !self.contentions.values().any(Contention::is_leaving) {
            self.settling.drain(..).for_each(|done| done.tell(()));
        }
    }

    fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.contentions.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Drives itself on a thread of its own until no handle is left.
    pub(crate) fn start(self) -> std::io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "the timer thread")]
        std::thread::Builder::new().name("tenure-timer".into()).spawn(move || self.drive())?;
        Ok(())
    }

    /// A defect that kills the keeper is a loss of every tenure, and everybody is told.
    fn drive(mut self) {
        let run = catch_unwind(AssertUnwindSafe(|| {
            let (clock, bell) = (Arc::clone(&self.reach.clock), Arc::clone(&self.reach.orders.bell));
            while !self.is_over() {
                let next = self.step(clock.local());
                if !self.is_over() {
                    clock.wait(&bell, next);
                }
            }
        }));
        // In order: nothing is accepted any more, then all that was is ended.
        self.reach.orders.close();
        if run.is_err() {
            self.reach.record.died();
            self.seats.drain().iter().for_each(|t| t.outcome.tell(Err(AcquireError::KeeperDied)));
            self.contentions.values_mut().for_each(|contention| contention.die(&self.reach));
            self.watches.values().for_each(Watch::die);
        }
    }
}
