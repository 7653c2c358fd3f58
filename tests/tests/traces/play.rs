//! A trace, played on the model and on the shipped code at once.
//!
//! Each action is tried on both. What has no cause at the moment is left out, in both; what the code does at one call,
//! and the model in several steps, is told by what can be seen of the code, and each of these steps must be one that the
//! model allows. After each action both must agree.

use super::blackout::Blackout;
use super::ground::Ground;
use super::history::History;
use super::seat::Seat;
use super::stack::Stack;
use super::tally::Tally;
use super::trace::{Try, World};
use model::Lease;
use model::actions::Action;
use model::config::{Config, Policy};
use model::contender::{Move, Phase};
use model::faults::Fault;
use model::state::{Expiry, LateKind, State, Who};
use model::walk::Run;
use stateright::{Expectation, Model};
use tenure::protocol::{Action as Asks, Request};

/// What went wrong.
pub(super) type Wrong = String;

/// A trace that is being played by contenders of one kind.
pub(super) struct Play<'a, S, const N: usize> {
    pub(super) ground: &'a Ground,
    pub(super) lease: String,
    pub(super) world: &'a World,
    pub(super) model: Lease<N>,
    pub(super) state: State<N>,
    begin: State<N>,
    actions: Vec<Action>,
    pub(super) seats: Vec<Seat<S>>,
    /// Requests of those who are gone, and where they were.
    pub(super) orphans: Vec<(usize, Request)>,
    pub(super) history: History,
    pub(super) tally: &'a mut Tally,
}

impl<'a, S: Stack, const N: usize> Play<'a, S, N> {
    /// Nothing has happened yet.
    pub(super) fn new(
        ground: &'a Ground,
        world: &'a World,
        lease: String,
        stacks: Vec<S>,
        tally: &'a mut Tally,
    ) -> Self {
        let state = State::new([model::state::Clock::Even; N]);
        ground.clocks.iter().for_each(|clock| clock.set(model::state::Clock::Even));
        let seats = stacks.into_iter().map(Seat::new).collect();
        let (model, history) = (Lease::new(world.config()), History::new(world));
        let (actions, orphans) = (Vec::new(), Vec::new());
        Self { ground, lease, world, model, state, begin: state, actions, seats, orphans, history, tally }
    }

    pub(super) fn config(&self) -> &Config {
        &self.model.config
    }

    /// What was played, as the model knows it.
    pub(super) fn run(&self) -> Run<N> {
        Run { begin: self.begin, actions: self.actions.clone() }
    }

    /// Plays all of it, and looks whether the lease is then held again.
    pub(super) fn play(&mut self, trace: &[Try]) -> Result<(), Wrong> {
        for who in 0..N {
            self.seats[who].stack.begin();
            self.settle(who)?;
        }
        for attempt in trace {
            self.attempt(*attempt)?;
            self.compare()?;
        }
        self.recover()?;
        let counted = self.seats.iter().map(|seat| seat.stack.losses_counted()).sum();
        self.history.check(counted)
    }

    /// The model does this, as the code did.
    pub(super) fn must(&mut self, action: Action) -> Result<(), Wrong> {
        if self.may(action)? {
            Ok(())
        } else {
            Err(format!("the code did what the model does not: {action}"))
        }
    }

    /// The model does this, if it changes anything there.
    pub(super) fn may(&mut self, action: Action) -> Result<bool, Wrong> {
        let Some(after) = self.state.after(self.config(), action) else { return Ok(false) };
        self.state = after;
        self.actions.push(action);
        self.tally.did(action);
        for who in 0..N {
            if self.state.contenders[who].phase.is_over() {
                self.retire(who);
            }
        }
        let broken = self.model.properties().into_iter().find(|property| {
            property.expectation == Expectation::Always && !(property.condition)(&self.model, &self.state)
        });
        match broken {
            Some(property) => Err(format!("the model itself breaks “{}”", property.name)),
            None => Ok(true),
        }
    }

    /// Whoever has ended has no name any more, and waits for nothing.
    fn retire(&mut self, who: usize) {
        let seat = &mut self.seats[who];
        if seat.me.take().is_some() {
            (seat.flight, seat.answer) = (None, None);
            let late = std::mem::take(&mut seat.late);
            self.orphans.extend(late.into_iter().map(|request| (who, request)));
        }
    }

    fn attempt(&mut self, Try { action, befalls }: Try) -> Result<(), Wrong> {
        match action {
            Action::Tick(_) => self.tick(),
            Action::Step(who, clock) => {
                if self.may(action)? {
                    self.ground.clocks[who.index()].set(clock);
                }
                Ok(())
            }
            Action::Move(who, mv) => self.make(who.index(), mv, befalls),
            Action::Execute(who) => self.execute(who.index(), befalls),
            Action::ExecuteLate(who, kind) => self.execute_late(who.index(), kind),
            Action::ExecuteOrphaned(_, clock, kind) => self.execute_orphaned(clock, kind),
            Action::Suffer(fault) => self.suffer(fault),
            Action::Enter(_) | Action::Land(_) => Ok(()),
        }
    }

    pub(super) fn tick(&mut self) -> Result<(), Wrong> {
        self.ground.time.tick();
        self.may(Action::Tick(model::clocks::Local::Steady)).map(drop)
    }

    /// A contender moves, where it has a cause to. What it then does besides is told by what it asks for.
    pub(super) fn make(&mut self, who: usize, mv: Move, befalls: Option<Blackout>) -> Result<(), Wrong> {
        let phase = self.state.contenders[who].phase;
        let has_cause = match mv {
            Move::Read => return if phase == Phase::Waiting { self.read(who, befalls) } else { Ok(()) },
            Move::Shutdown => return self.shut_down(who),
            Move::StopWork => return self.stop_work(who),
            Move::DropWork => return self.drop_work(who),
            Move::Crash => return self.crash(who),
            Move::Restart => return self.restart(who),
            Move::Begin => return self.act(who),
            Move::Deliver => self.seats[who].answer.as_ref().is_some_and(Result::is_ok),
            Move::Fail => self.seats[who].has_failed(self.ground.time.now()),
            Move::Acquire => matches!(phase, Phase::Reading(_)),
            Move::Renew | Move::NoticeDeadline => matches!(phase, Phase::Holding { .. }),
            Move::Release => matches!(phase, Phase::Releasing { .. }),
            Move::Leave => !phase.is_over() && self.state.contenders[who].offers(mv),
            Move::Look => false,
        };
        if has_cause { self.settle(who) } else { Ok(()) }
    }

    /// The read is one step of the model, the moment when the store is looked at.
    fn read(&mut self, who: usize, befalls: Option<Blackout>) -> Result<(), Wrong> {
        if self.seats[who].answer.is_some() || self.seats[who].flight.is_none() {
            self.settle(who)?;
        }
        if self.stale(who).is_some_and(|stale| stale.action == Asks::Read) {
            self.serve(who, None)?;
            self.settle(who)?;
        }
        if self.seats[who].is_reading() { self.execute(who, befalls) } else { Ok(()) }
    }

    fn execute(&mut self, who: usize, befalls: Option<Blackout>) -> Result<(), Wrong> {
        let next = self.seats[who].stack.asked().into_iter().next();
        if next.is_some() && next == self.seats[who].flight {
            self.serve(who, befalls)?;
        }
        Ok(())
    }

    fn shut_down(&mut self, who: usize) -> Result<(), Wrong> {
        let (contender, seat) = (self.state.contenders[who], &mut self.seats[who]);
        // A last read that was answered before, and not heard yet, is one step of the model already.
        let has_read = seat.is_unsure && seat.answer.is_some();
        if contender.stopping || contender.phase.is_over() || (has_read && seat.is_reading()) {
            return Ok(());
        }
        if !seat.is_unsure && seat.is_reading() {
            (seat.flight, seat.answer) = (None, None);
        }
        // Told at a moment when its request is out of time, it does not wait for an answer that may be there already.
        let now = self.ground.time.now();
        seat.answer.take_if(|_| seat.flight.as_ref().is_some_and(|flight| now >= flight.give_up_at));
        seat.stack.shut_down();
        self.must(Action::Move(Who(who as u8), Move::Shutdown))?;
        self.settle(who)
    }

    fn stop_work(&mut self, who: usize) -> Result<(), Wrong> {
        let is_over = match self.state.contenders[who].phase {
            Phase::Holding { left, .. } => left == 0,
            Phase::Lost { .. } => false,
            _ => return Ok(()),
        };
        let me = Who(who as u8);
        if is_over {
            self.must(Action::Move(me, Move::NoticeDeadline))?;
        } else {
            self.history.ends(who);
        }
        self.seats[who].stack.stop_work();
        self.let_go(who)?;
        self.settle(who)
    }

    /// The work of a tenure has stopped; who ends with his tenure has been asked to.
    pub(super) fn let_go(&mut self, who: usize) -> Result<(), Wrong> {
        let me = Who(who as u8);
        self.must(Action::Move(me, Move::StopWork))?;
        if S::ENDS_WITH_ITS_TENURE {
            self.may(Action::Move(me, Move::Shutdown))?;
        }
        self.seats[who].give_up();
        Ok(())
    }

    fn drop_work(&mut self, who: usize) -> Result<(), Wrong> {
        if !matches!(self.state.contenders[who].phase, Phase::Holding { left: 1.., .. }) {
            return Ok(());
        }
        self.history.drops(who);
        self.seats[who].stack.drop_work();
        self.must(Action::Move(Who(who as u8), Move::DropWork))?;
        self.seats[who].give_up();
        self.settle(who)
    }

    fn crash(&mut self, who: usize) -> Result<(), Wrong> {
        if self.state.contenders[who].phase.is_over() {
            return Ok(());
        }
        self.history.ends(who);
        let seat = &mut self.seats[who];
        seat.stack.crash();
        let open = std::mem::take(&mut seat.open);
        seat.late.extend(open.into_iter().filter(|request| request.action != Asks::Read));
        self.must(Action::Move(Who(who as u8), Move::Crash))
    }

    pub(super) fn restart(&mut self, who: usize) -> Result<(), Wrong> {
        if !self.state.contenders[who].phase.is_over() {
            return Ok(());
        }
        self.must(Action::Move(Who(who as u8), Move::Restart))?;
        let seat = &mut self.seats[who];
        seat.forget();
        seat.stack.begin();
        self.settle(who)?;
        let asks = self.seats[who].flight.as_ref().map(|flight| &flight.action);
        if asks == Some(&Asks::Read) {
            Ok(())
        } else {
            Err(format!("who begins reads first, and not {asks:?}"))
        }
    }

    fn act(&mut self, who: usize) -> Result<(), Wrong> {
        let me = Who(who as u8);
        // Where clocks are wrong it may be superseded, and learn it here and not, as in the model, by its next renewal.
        if self.world.is_bounded()
            && self.state.contenders[who].believes(self.config(), me).is_some()
            && self.may(Action::Move(me, Move::Begin))?
        {
            let is_live = self.state.row.is_some_and(|row| row.expiry != Expiry::Unreadable);
            let has_landed = self.seats[who].stack.act();
            self.must(Action::Land(me))?;
            if has_landed != is_live {
                return Err(format!("its act landed: {has_landed}, on {:?}", self.state.row));
            }
        }
        Ok(())
    }

    /// A request that a contender gave up on, or a stale one that lies before the one it waits for.
    fn execute_late(&mut self, who: usize, kind: LateKind) -> Result<(), Wrong> {
        if let Some(stale) = self.stale(who)
            && self.is_own(who, &stale)
            && is_of(kind, &stale)
        {
            return self.serve(who, None);
        }
        let found = self.seats[who].late.iter().position(|request| is_of(kind, request));
        match found.filter(|at| !self.is_on_edge(who, &self.seats[who].late[*at])) {
            Some(at) => {
                let request = self.seats[who].late[at].clone();
                self.carry_out_late(who, &request)
            }
            None => Ok(()),
        }
    }

    fn execute_orphaned(&mut self, clock: model::state::Clock, kind: LateKind) -> Result<(), Wrong> {
        let by = |who: usize| kind == LateKind::Release || self.state.contenders[who].clock == clock;
        for who in (0..N).filter(|who| by(*who)) {
            if let Some(stale) = self.stale(who)
                && !self.is_own(who, &stale)
                && is_of(kind, &stale)
            {
                return self.serve(who, None);
            }
        }
        let fits = |(who, request): &&(usize, Request)| {
            is_of(kind, request) && by(*who) && !self.is_on_edge(*who, request)
        };
        match self.orphans.iter().find(fits).cloned() {
            Some((who, request)) => self.carry_out_late(who, &request),
            None => Ok(()),
        }
    }

    /// The first request on the desk, if it is not the one that is waited for.
    pub(super) fn stale(&self, who: usize) -> Option<Request> {
        let next = self.seats[who].stack.asked().into_iter().next()?;
        (Some(&next) != self.seats[who].flight.as_ref()).then_some(next)
    }

    pub(super) fn is_own(&self, who: usize, request: &Request) -> bool {
        self.seats[who].me.as_deref() == Some(request.holder.as_str())
    }

    /// As a thread would that hung in this call until now.
    fn carry_out_late(&mut self, who: usize, request: &Request) -> Result<(), Wrong> {
        let late = self.late(who, request);
        let answer = self.seats[who].stack.carry_out_late(request);
        self.history.carried_out(self.ground, &self.lease, request, &answer);
        late.map_or(Ok(false), |late| self.may(late)).map(drop)
    }

    /// What it is to the model that a request is carried out that nobody waits for. `None`: nothing, it has forgotten it, for
    /// it is powerless.
    pub(super) fn late(&self, who: usize, request: &Request) -> Option<Action> {
        let kind = kind_of(request).filter(|_| self.is_bound(who, request))?;
        let clock = match kind {
            LateKind::Release => model::state::Clock::Even,
            _ => self.state.contenders[who].clock,
        };
        Some(match self.is_own(who, request) {
            true => Action::ExecuteLate(Who(who as u8), kind),
            false => Action::ExecuteOrphaned(Policy::WallClock, clock, kind),
        })
    }

    pub(super) fn suffer(&mut self, fault: Fault) -> Result<(), Wrong> {
        if self.may(Action::Suffer(fault))? {
            let sql = match fault {
                Fault::Garble => "UPDATE instance_leases SET expires_at = 'soon' WHERE lease_name = ?",
                Fault::Mend => "UPDATE instance_leases SET expires_at = 0 WHERE lease_name = ?",
                _ => return Err(format!("a trace cannot do this: {fault}")),
            };
            self.ground.outsider.execute(sql, [&self.lease]).map_err(|error| error.to_string())?;
            self.history.is_tampered(self.ground, &self.lease);
        }
        Ok(())
    }
}

fn is_of(kind: LateKind, request: &Request) -> bool {
    kind_of(request) == Some(kind)
}

fn kind_of(request: &Request) -> Option<LateKind> {
    match request.action {
        Asks::Read => None,
        Asks::Acquire(_) => Some(LateKind::Acquire),
        Asks::Renew(_) => Some(LateKind::Renew),
        Asks::Release(_) => Some(LateKind::Release),
    }
}
