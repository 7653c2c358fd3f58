//! A trace, played on the model and on the shipped code at once.
//!
//! Each action is tried on both. What has no cause at the moment is left out, in both; what the code does at one call,
//! and the model in several steps, is told by what can be seen of the code, and each of these steps must be one that the
//! model allows. After each action both must agree.

use super::ground::Ground;
use super::history::History;
use super::seat::Seat;
use super::stack::Stack;
use super::tally::Tally;
use super::trace::{Try, World};
use model::Lease;
use model::actions::Action;
use model::config::Config;
use model::faults::Fault;
use model::state::{Clock, State};
use model::walk::Run;
use stateright::{Expectation, Model};
use tenure::protocol::Request;

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
        let state = State::new([Clock::Even; N]);
        ground.time.forget();
        ground.clocks.iter().for_each(|clock| clock.set(Clock::Even));
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
