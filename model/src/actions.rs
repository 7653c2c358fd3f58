//! What can happen, one thing at a time: time passes, a clock steps, a contender moves, an act lands, or the store
//! carries out a request, or suffers a fault.

use crate::clocks::Local;
use crate::config::{Config, Part, Policy, Variant};
use crate::contender::{Move, Scene};
use crate::faults::Fault;
use crate::state::{
    Clock, Expiry, Fence, Flight, LateKind, Message, Reply, Request, Row, Seen, State, Ticks, Who,
};
use crate::store::{self, Sender};

/// A step of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Time passes.
    Tick(Local),
    /// A contender's wall clock is set.
    Step(Who, Clock),
    /// A contender moves.
    Move(Who, Move),
    /// The store carries out the request that a contender waits for.
    Execute(Who),
    /// The store carries out a request that a contender no longer waits for.
    ExecuteLate(Who, LateKind),
    /// The store carries out a request of somebody who is gone, by whatever clock its host has now.
    ExecuteOrphaned(Policy, Clock, LateKind),
    /// A new tenure passes the gate, and reads what is behind it.
    Enter(Who),
    /// An act lands, or is refused.
    Land(Who),
    /// The store suffers a fault.
    Suffer(Fault),
}

impl Action {
    /// Every action there is among `n` contenders, in a fixed order.
    pub fn all(n: usize) -> impl Iterator<Item = Action> {
        let contenders = || (0..n as u8).map(Who);
        let erring = contenders().flat_map(|who| [Local::Slow(who), Local::Fast(who), Local::Asleep(who)]);
        let ticks = std::iter::once(Local::Steady).chain(erring).map(Action::Tick);
        ticks
            .chain(contenders().flat_map(Action::of))
            .chain(
                [Policy::WallClock, Policy::Observed, Policy::SystemA].into_iter().flat_map(Action::orphaned),
            )
            .chain(Fault::all(n).map(Action::Suffer))
    }

    fn of(who: Who) -> impl Iterator<Item = Action> {
        let moves = Move::ALL.map(|mv| Action::Move(who, mv));
        let steps = CLOCKS.map(|clock| Action::Step(who, clock));
        let late = LateKind::ALL.map(|kind| Action::ExecuteLate(who, kind));
        let acts = [Action::Execute(who), Action::Enter(who), Action::Land(who)];
        moves.into_iter().chain(steps).chain(acts).chain(late)
    }

    fn orphaned(policy: Policy) -> impl Iterator<Item = Action> {
        let with = move |clock| LateKind::ALL.map(|kind| Action::ExecuteOrphaned(policy, clock, kind));
        CLOCKS.into_iter().flat_map(with)
    }

    /// Whether it could happen in this configuration, in some state.
    pub fn is_of(self, config: &Config, contenders: usize) -> bool {
        match self {
            Action::Tick(Local::Steady) => true,
            Action::Tick(Local::Asleep(_)) => config.breaks(Variant::BlindToSuspend),
            Action::Tick(_) => config.has(Part::Drift),
            Action::Step(_, Clock::Far) => config.has(Part::WrongClocks),
            Action::Step(..) => config.clocks_step(),
            Action::ExecuteLate(who, kind) => late(config, config.policy(who), kind),
            Action::ExecuteOrphaned(policy, clock, kind) => {
                // A release asks no clock.
                let clocks = if kind == LateKind::Release { &CLOCKS[..1] } else { config.clocks() };
                late(config, policy, kind) && config.anybody(contenders, policy) && clocks.contains(&clock)
            }
            Action::Enter(_) => config.has(Part::GatedActs),
            Action::Suffer(fault) => fault.part().iter().any(|part| config.has(*part)),
            Action::Move(_, Move::Look) => {
                config.breaks(Variant::ObservedFromSend) || config.breaks(Variant::WallClockFirst)
            }
            Action::Move(_, Move::Fail) => config.has(Part::Failures) || config.has(Part::Replacement),
            Action::Move(_, Move::Shutdown) => config.has(Part::Shutdowns),
            Action::Move(_, Move::DropWork) => config.has(Part::DroppedWork),
            Action::Move(_, Move::Crash) => config.has(Part::Crashes),
            Action::Move(_, Move::Restart) => {
                let ends = [Part::Crashes, Part::Shutdowns, Part::PowerLoss, Part::Restore, Part::LostFloors];
                ends.iter().any(|part| config.has(*part))
            }
            Action::Move(_, Move::Begin) | Action::Land(_) => {
                config.has(Part::UnfencedActs) || config.has(Part::GatedActs) || config.has(Part::FencedActs)
            }
            Action::Move(..) | Action::Execute(_) => true,
        }
    }
}

/// Whether there can be such late requests.
fn late(config: &Config, policy: Policy, kind: LateKind) -> bool {
    let given = kind != LateKind::AcquireAbove || config.has(Part::Restore);
    let bound = policy != Policy::SystemA || matches!(kind, LateKind::Renew | LateKind::Release);
    config.has(Part::LateRequests) && given && bound
}

const CLOCKS: [Clock; 3] = [Clock::Even, Clock::Ahead, Clock::Far];

impl<const N: usize> State<N> {
    /// The state after this action, if it can happen and changes anything.
    pub fn after(&self, config: &Config, action: Action) -> Option<State<N>> {
        let mut state = *self;
        state.take(config, action)?;
        state.normalise(config);
        (state != *self).then_some(state)
    }

    /// Whether this action has a cause here. It may still turn out to change nothing.
    pub fn offers(&self, action: Action) -> bool {
        match action {
            Action::Tick(_) => true,
            Action::Step(who, clock) => self.contenders[who.index()].clock != clock,
            Action::Move(who, mv) => self.contenders[who.index()].offers(mv),
            Action::Execute(who) => self.contenders[who.index()].sent().is_some(),
            Action::ExecuteLate(who, kind) => self.late[who.index()].has(kind),
            Action::ExecuteOrphaned(policy, _, kind) => self.orphaned[policy as usize].has(kind),
            Action::Enter(who) => self.contenders[who.index()].works().is_some(),
            Action::Land(who) => self.contenders[who.index()].act.is_some(),
            Action::Suffer(fault) => {
                self.row.is_some()
                    || matches!(fault, Fault::Restore | Fault::FailButWrite(_) | Fault::Recover)
            }
        }
    }

    fn take(&mut self, config: &Config, action: Action) -> Option<()> {
        match action {
            Action::Tick(local) => self.tick(config, local),
            Action::Step(who, clock) => self.step(config, who, clock),
            Action::Move(who, mv) => self.make(config, who, mv),
            Action::Execute(who) => self.execute(config, who),
            Action::ExecuteLate(..) | Action::ExecuteOrphaned(..) => {
                let (request, sender) = self.asked(config, action)?;
                self.write(config, request, sender, false);
                Some(())
            }
            Action::Enter(who) => self.enter(config, who),
            Action::Land(who) => self.land(config, who),
            Action::Suffer(fault) => self.suffer(config, fault),
        }
    }

    /// What a contender can know when it moves.
    pub fn scene<'a>(&self, config: &'a Config, who: Who) -> Scene<'a> {
        let forgotten = config.breaks(Variant::FloorForgotten);
        let given = config.has(Part::Restore) && self.is_behind() && !forgotten;
        let old = self.contenders[who.index()].moved && config.breaks(Variant::MovedUnnoticed);
        Scene {
            config,
            who,
            row: if old { self.old_file } else { self.row },
            floor: if given { self.ghost.top } else { Fence::NONE },
        }
    }

    /// Who asks, and by which clock.
    pub fn sender(&self, config: &Config, who: Who) -> Sender {
        let contender = self.contenders[who.index()];
        let early = config.breaks(Variant::WallClockFirst) || config.breaks(Variant::ClockBeforeLock);
        let age = contender.noted.filter(|_| early).unwrap_or(0);
        Sender { holder: config.id(who), clock: contender.clock, age }
    }

    /// A contender moves. A request that it no longer waits for after that becomes late, and one that
    /// has ended or crashed has no name any more.
    fn make(&mut self, config: &Config, who: Who, mv: Move) -> Option<()> {
        if mv == Move::Restart {
            self.retire(config, who); // who has ended or crashed is retired already; who waits for his user is not
        }
        let before = self.contenders[who.index()];
        let after = before.make(self.scene(config, who), mv)?;
        self.contenders[who.index()] = after;
        if let Some(request) = before.sent()
            && after.sent() != before.sent()
            && !before.moved
        {
            self.give_up(config, who, request);
        }
        if let Some(fence) = after.believes(config, who)
            && before.believes(config, who).is_none()
        {
            let goes_on = before.works() == Some(fence) && config.policy(who) == Policy::SystemA;
            self.ghost.begun_twice |= self.ghost.begun & fence.bit() != 0 && !goes_on;
            self.ghost.begun_unwanted |= before.stopping && before.works().is_none();
            self.ghost.begun |= fence.bit();
        }
        if after.phase.is_over() {
            self.retire(config, who);
        }
        Some(())
    }

    /// The store carries out what a contender waits for. How long a grant is good for was settled
    /// when the request was sent, and the reply carries it back. System A's is good up to the expiry. A file
    /// that has moved carries out nothing. SPEC.md R4, R11.
    fn execute(&mut self, config: &Config, who: Who) -> Option<()> {
        let contender = self.contenders[who.index()];
        let request = contender.sent()?;
        let sender = self.sender(config, who);
        let reply = match contender.moved {
            false => self.write(config, request, sender, true),
            true if config.breaks(Variant::MovedUnnoticed) => self.write_old_file(config, request, sender),
            true => return None,
        };
        let left = match reply {
            Reply::Granted(_) | Reply::Renewed if config.policy(who) == Policy::SystemA => self.lasts(config),
            Reply::Granted(_) | Reply::Renewed => contender.flight?.left,
            Reply::Released | Reply::Refused => 0,
        };
        let message = Message::Answered(reply);
        self.contenders[who.index()].flight = Some(Flight { message, left });
        Some(())
    }

    /// How long system A's own row lasts.
    fn lasts(&self, config: &Config) -> Ticks {
        match self.row.map(|row| row.expiry) {
            Some(Expiry::In(left)) => left.saturating_sub(config.skew),
            Some(Expiry::Far) => config.ttl,
            Some(Expiry::Released | Expiry::Unreadable) | None => 0,
        }
    }

    fn write_old_file(&mut self, config: &Config, request: Request, sender: Sender) -> Reply {
        let (row, reply) = store::carry_out(config, self.old_file, request, sender);
        self.old_file = row;
        reply
    }

    /// A request meets the row; what the properties need to know of it is put down.
    fn write(&mut self, config: &Config, request: Request, by: Sender, awaited: bool) -> Reply {
        let (row, reply) = store::carry_out(config, self.row, request, by);
        let released = |row: Option<Row>| row.is_some_and(|row| row.expiry == Expiry::Released);
        self.ghost.unreleased |= reply == Reply::Renewed && released(self.row) && !released(row);
        let own = Seen::of(self.row);
        self.ghost.renewed_others |= awaited
            && reply == Reply::Renewed
            && matches!(request, Request::Renew(fence) if own != Seen::Row(by.holder, fence));
        let acquired = matches!(reply, Reply::Granted(_));
        match reply {
            Reply::Refused => {}
            // A renewal of a millisecond is a change, though no tick.
            _ => {
                self.commit(config, row, touched(config, self.row, row, reply), is_durable(config, acquired))
            }
        }
        match reply {
            Reply::Granted(fence) => {
                self.ghost.not_rising |= awaited && fence <= self.ghost.top;
                self.note_grant(config, fence);
            }
            Reply::Released => self.ghost.given_back = config.policy_of(by.holder) != Policy::SystemA,
            Reply::Renewed | Reply::Refused => {}
        }
        reply
    }

    /// A lease was granted.
    pub fn note_grant(&mut self, config: &Config, fence: Fence) {
        self.ghost.top = self.ghost.top.max(fence);
        self.ghost.given_back = false;
        if !config.has(Part::GatedActs) {
            self.come();
        }
    }

    /// The store's row is this from now on. A later commit writes over one that failed. SPEC.md R8.
    pub fn commit(&mut self, config: &Config, row: Option<Row>, touched: bool, durable: bool) {
        self.replace_row(config, row, touched);
        self.failed = None;
        if config.has(Part::PowerLoss) && durable {
            self.durable = row;
        }
    }
}

/// Whether anything of the row changed, be it a millisecond. SPEC.md R3.
fn touched(config: &Config, before: Option<Row>, after: Option<Row>, reply: Reply) -> bool {
    let unchanged = config.breaks(Variant::RenewalUnchanged) && reply == Reply::Renewed && before == after;
    !unchanged
}

/// Grants are durable before they are answered. On one host renewals and releases need not be: whoever relied on them loses power as well.
/// SPEC.md R8.
fn is_durable(config: &Config, acquired: bool) -> bool {
    acquired && !config.breaks(Variant::NotDurable)
}
