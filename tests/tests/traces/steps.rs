//! One call of the code, told as steps of the model.

use super::blackout::Blackout;
use super::ground::{TICK_MS, timing};
use super::play::{Play, Wrong};
use super::stack::Stack;
use model::actions::Action;
use model::contender::{Move, Phase};
use model::state::Who;
use tenure::protocol::{Action as Asks, Reply, Request, Seen};
use tenure::store::Answer;

/// After so many reads in a row that found its own row, a contender treats it as anybody's (SPEC.md R7.6).
const IN_VAIN: u8 = 3;

impl<S: Stack, const N: usize> Play<'_, S, N> {
    /// The code does what is due. First it hears what has come, or that nothing will; then it finds what its clock says;
    /// then it asks for what follows.
    pub(super) fn settle(&mut self, who: usize) -> Result<(), Wrong> {
        let (me, now) = (self.seats[who].me.clone(), self.ground.time.now());
        let (told, next) = self.seats[who].stack.step();
        self.seats[who].next = next;
        let fresh = self.fresh(who);
        self.hear(who)?;
        self.look_at_the_clock(who)?;
        self.give_up_release(who)?;
        for request in fresh {
            self.send(who, request)?;
        }
        self.end(who)?;
        for told in told {
            self.history.told(who, me.clone(), now, told);
        }
        Ok(())
    }

    fn named(&self, who: usize) -> Who {
        Who(who as u8)
    }

    fn phase(&self, who: usize) -> Phase {
        self.state.contenders[who].phase
    }

    /// What it asks for since the last look. What lies nowhere any more was given up on, and may be carried out yet.
    fn fresh(&mut self, who: usize) -> Vec<Request> {
        let seat = &mut self.seats[who];
        let asked = seat.stack.asked();
        let open = std::mem::replace(&mut seat.open, asked.clone());
        seat.hangs &= open.first() == asked.first();
        for gone in open.iter().filter(|request| !asked.contains(request) && request.action != Asks::Read) {
            if seat.me.as_deref() == Some(gone.holder.as_str()) {
                seat.late.push(gone.clone());
            } else {
                self.orphans.push((who, gone.clone()));
            }
        }
        asked.into_iter().filter(|request| !open.contains(request)).collect()
    }

    /// What it waited for has come, or its time is up.
    fn hear(&mut self, who: usize) -> Result<(), Wrong> {
        let (now, seat) = (self.ground.time.now(), &mut self.seats[who]);
        let Some(flight) = seat.flight.clone() else { return Ok(()) };
        let Some(answer) = seat.answer.take().map(Some).or((now >= flight.give_up_at).then_some(None)) else {
            return Ok(());
        };
        (seat.flight, seat.idle_since) = (None, now);
        self.history.heard(&flight, &answer, now);
        match flight.action {
            Asks::Read => self.hear_read(who, &answer),
            _ => self.hear_written(who, &flight, &answer)?,
        }
        Ok(())
    }

    fn hear_read(&mut self, who: usize, answer: &Option<Answer>) {
        let seat = &mut self.seats[who];
        match answer {
            Some(Ok(Reply::Seen { seen, .. })) => {
                seat.is_unsure = false;
                if let (Seen::Row(row), Some(me)) = (seen, &seat.me)
                    && row.holder == *me
                    && !row.is_released()
                {
                    seat.in_vain += 1;
                }
            }
            _ => seat.is_unsure &= !self.state.contenders[who].stopping,
        }
    }

    /// A renewal that is refused since nobody can read the row tells nothing: the old deadline stands (SPEC.md R12).
    fn hear_written(&mut self, who: usize, flight: &Request, answer: &Option<Answer>) -> Result<(), Wrong> {
        let renews = matches!(flight.action, Asks::Renew(_));
        let confirms = matches!(answer, Some(Ok(Reply::Granted(_) | Reply::Renewed)));
        self.seats[who].confirmed = confirms.then(|| self.history.sent_at(flight));
        let is_answer = match answer {
            Some(Ok(Reply::Refused(Seen::Unreadable(_)))) => !renews,
            Some(Ok(_)) => true,
            Some(Err(_)) | None => false,
        };
        let mv = if is_answer { Move::Deliver } else { Move::Fail };
        self.must(Action::Move(self.named(who), mv))?;
        let (acquires, phase) = (matches!(flight.action, Asks::Acquire(_)), self.phase(who));
        let seat = &mut self.seats[who];
        let granted = matches!(answer, Some(Ok(Reply::Granted(_))));
        seat.is_unsure = acquires && phase == Phase::Waiting && (granted || !is_answer);
        if matches!(phase, Phase::Holding { .. }) {
            seat.in_vain = 0;
        }
        Ok(())
    }

    /// Whatever it is called for, it finds that a deadline has passed (SPEC.md R5).
    fn look_at_the_clock(&mut self, who: usize) -> Result<(), Wrong> {
        match self.phase(who) {
            Phase::Holding { left: 0, .. } => {
                self.seats[who].give_up(self.ground.time.now());
                self.must(Action::Move(self.named(who), Move::NoticeDeadline))
            }
            Phase::Dropped { left: 0, .. } => self.let_go(who),
            _ => Ok(()),
        }
    }

    /// A release is tried again and again, but no longer than a request may take.
    fn give_up_release(&mut self, who: usize) -> Result<(), Wrong> {
        let (now, seat) = (self.ground.time.now(), &self.seats[who]);
        let timeout = timing().request_timeout_ms();
        let is_over = seat.releases_since.is_some_and(|since| now >= since.plus(timeout));
        if is_over && seat.flight.is_none() && matches!(self.phase(who), Phase::Releasing { .. }) {
            self.seats[who].idle_since = now;
            self.must(Action::Move(self.named(who), Move::Leave))?;
        }
        Ok(())
    }

    fn send(&mut self, who: usize, request: Request) -> Result<(), Wrong> {
        if self.state.contenders[who].phase.is_over() {
            return Err(format!("it has ended, and asks for more: {:?}", request.action));
        }
        let seat = &mut self.seats[who];
        seat.me.get_or_insert_with(|| request.holder.as_str().to_owned());
        seat.flight = Some(request.clone());
        let now = self.ground.time.now();
        match request.action {
            Asks::Release(_) => _ = seat.releases_since.get_or_insert(now),
            _ => seat.releases_since = None,
        }
        self.history.sent(&request, now);
        let mv = match request.action {
            Asks::Read => return Ok(()),
            Asks::Acquire(_) => Move::Acquire,
            Asks::Renew(_) => Move::Renew,
            Asks::Release(_) => Move::Release,
        };
        self.must(Action::Move(self.named(who), mv))
    }

    /// Who is to stop, has nothing and asks for nothing, has ended; and not before its last read (SPEC.md R7.5).
    fn end(&mut self, who: usize) -> Result<(), Wrong> {
        let (contender, seat) = (self.state.contenders[who], &self.seats[who]);
        if contender.phase == Phase::Waiting && contender.stopping && seat.flight.is_none() {
            if seat.is_unsure {
                return Err("it ended without its last read".into());
            }
            return self.must(Action::Move(self.named(who), Move::Leave));
        }
        if matches!(contender.phase, Phase::Reading(_)) && seat.flight.is_none() {
            return Err("it read that the lease is free, and does not acquire it".into());
        }
        if seat.flight.is_none() && self.is_due(who) {
            return Err(format!("it asks for nothing, though it is due: {:?}", contender.phase));
        }
        Ok(())
    }

    /// Whether it should have asked for something by now: polls, and tries after a failure, are less than a tick apart; a
    /// renewal follows two ticks after the sending of what was confirmed.
    fn is_due(&self, who: usize) -> bool {
        let (now, seat) = (self.ground.time.now(), &self.seats[who]);
        let again = now >= seat.idle_since.plus(TICK_MS);
        match self.phase(who) {
            Phase::Waiting | Phase::Releasing { .. } => again,
            Phase::Holding { .. } => match seat.confirmed {
                Some(sent) => now >= sent.plus(timing().renew_every_ms()),
                None => again,
            },
            _ => false,
        }
    }

    /// The store carries out what is next on a contender's desk, or a blackout befalls it.
    pub(super) fn serve(&mut self, who: usize, befalls: Option<Blackout>) -> Result<(), Wrong> {
        let Some(next) = self.seats[who].stack.asked().into_iter().next() else { return Ok(()) };
        if self.seats[who].hangs || self.is_on_edge(who, &next) {
            return Ok(());
        }
        if self.ground.time.now() >= next.give_up_at {
            // It is not begun any more.
            let done = self.seats[who].stack.serve(None);
            self.seats[who].open = self.seats[who].stack.asked();
            return if done.is_empty() {
                Ok(())
            } else {
                Err(format!("begun when its time was up: {done:?}"))
            };
        }
        self.tally.met(befalls, &next.action);
        if befalls == Some(Blackout::Hangs) {
            self.seats[who].hangs = true;
            return Ok(());
        }
        let late: Vec<_> =
            self.seats[who].open.iter().map(|request| (request.clone(), self.late(who, request))).collect();
        let done = self.seats[who].stack.serve(befalls);
        for _ in 0..self.ground.time.slept() {
            self.may(Action::Tick(model::clocks::Local::Steady))?;
        }
        self.seats[who].open = self.seats[who].stack.asked();
        for (request, answer) in done {
            let late = late.iter().find(|(open, _)| *open == request).and_then(|(_, late)| *late);
            self.carried_out(who, &request, answer, befalls, late)?;
        }
        Ok(())
    }

    fn carried_out(
        &mut self,
        who: usize,
        request: &Request,
        answer: Answer,
        befalls: Option<Blackout>,
        late: Option<Action>,
    ) -> Result<(), Wrong> {
        let is_awaited = self.seats[who].flight.as_ref() == Some(request);
        let is_applied = answer.is_ok() || befalls == Some(Blackout::ReplyLost);
        if !befalls.map_or(answer.is_ok(), |blackout| blackout.allows(&request.action, &answer)) {
            return Err(format!("{:?} was answered {answer:?}, while {befalls:?}", request.action));
        }
        self.history.carried_out(self.ground, &self.lease, request, &answer);
        if is_awaited {
            self.seats[who].answer = Some(answer.clone());
        }
        match (&request.action, is_awaited) {
            _ if !is_applied => Ok(()),
            (Asks::Read, true) => self.reads(who, &answer),
            (Asks::Read, false) => Ok(()),
            (_, true) => {
                self.must(Action::Execute(self.named(who)))?;
                self.replies_agree(who, &answer)
            }
            (_, false) => late.map_or(Ok(false), |late| self.may(late)).map(drop),
        }
    }

    /// What it decides is decided by what it reads now. Where it stands back (SPEC.md R7.6) it does not take what the model
    /// would let it take.
    fn reads(&mut self, who: usize, answer: &Answer) -> Result<(), Wrong> {
        let Ok(Reply::Seen { seen, .. }) = answer else { return Ok(()) };
        self.row_is(seen)?;
        let seat = &self.seats[who];
        let is_own =
            matches!(seen, Seen::Row(row) if Some(&row.holder) == seat.me.as_ref() && !row.is_released());
        let stands_back = is_own && seat.in_vain + 1 >= IN_VAIN && !self.has_expired(who);
        let stops = self.state.contenders[who].stopping;
        if self.phase(who) == Phase::Waiting && (stops || !stands_back) {
            self.may(Action::Move(self.named(who), Move::Read))?;
        }
        Ok(())
    }
}
