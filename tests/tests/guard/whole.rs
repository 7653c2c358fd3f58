//! The guard whole, with its threads and a real file, through runs of the model.
//!
//! A trace is a list of the model's actions; what has no cause at its moment is left out. What a trace cannot do: a guard
//! that is not called in time (its thread is, at once), and a crash (`tests/tests/command` has real ones).

use super::agree::{is_for, stands_there};
use super::gate::Gate;
use super::has::Has;
use super::twin::TICK_MS;
use crate::traces::words;
use model::guard::Guard as Rules;
use model::guard::actions::Action;
use model::guard::config::Config;
use model::guard::state::{Claim as Known, Reply, Stage, Stand, State};
use model::guard::story;
use model::state::Who;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tenure::clock::{Clock, SetClock, SystemClock};
use tenure::instance::machine::Request;
use tenure::instance::{FileRecords, Guard, Options, Record, Records, Seen};

/// In ticks as the guard takes them: the settle time is the longest for this TTL, and so ends with the tick.
pub(super) const CONFIG: Config = Config { failures: true, late: true, garbled: true, ..Config::PLAIN };

struct Seat {
    clock: Arc<SetClock>,
    gate: Gate,
    has: Has,
    /// The id of its claim, once it has written.
    id: Option<String>,
    late: Option<Request>,
    /// In how many ticks it stops waiting for its record to be removed.
    leaves_in: Option<u8>,
}

/// What is played.
pub(super) struct Play {
    rules: Rules,
    pub(super) state: State,
    pub(super) did: Vec<Action>,
    /// Two have run at once.
    pub(super) raced: bool,
    seats: [Seat; 2],
    file: PathBuf,
    _directory: tempfile::TempDir,
}

impl Play {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let seat = || Seat {
            clock: SetClock::new(),
            gate: Gate::default(),
            has: Has::Nothing,
            id: None,
            late: None,
            leaves_in: None,
        };
        Self {
            rules: Rules { config: CONFIG },
            state: State::EMPTY,
            did: Vec::new(),
            raced: false,
            seats: [seat(), seat()],
            file: directory.path().join("instance.json"),
            _directory: directory,
        }
    }

    /// Plays what there is cause for.
    pub(super) fn play(&mut self, trace: &[Action]) -> Result<(), String> {
        let all = AssertUnwindSafe(|| trace.iter().try_for_each(|action| self.attempt(*action)));
        let played = catch_unwind(all).unwrap_or_else(|panic| Err(format!("a panic: {}", words(&*panic))));
        played.map_err(|wrong| {
            let told = story::of_run(&self.rules, &self.did);
            format!("{wrong}\n\n{told}\n{:?}", self.did)
        })
    }

    fn attempt(&mut self, action: Action) -> Result<(), String> {
        let is_its_own = matches!(action, Action::Wake(_) | Action::Leave(_));
        if is_its_own || action == Action::Tick && self.has_no_room() || !self.follow(action)? {
            return Ok(());
        }
        if action == Action::Tick {
            // Who is to be called is called, at once.
            for who in [Who(0), Who(1)] {
                if self.seats[who.index()].leaves_in == Some(0) {
                    self.follow(Action::Leave(who))?;
                } else {
                    self.follow(Action::Wake(who))?;
                }
            }
        }
        self.compare()
    }

    /// Somebody would leave a second write behind, and the model has room for one.
    fn has_no_room(&self) -> bool {
        [Who(0), Who(1)].into_iter().any(|who| {
            let seat = &self.seats[who.index()];
            let writes = |claim: &Known| matches!(claim.stage, Stage::Asked(_)) && !claim.errand.reads();
            seat.leaves_in == Some(1) && seat.late.is_some() && self.state.claim(who).is_some_and(writes)
        })
    }

    /// The model does it, if it can; then so does the code.
    fn follow(&mut self, action: Action) -> Result<bool, String> {
        let Some(after) = self.state.after(&CONFIG, action) else { return Ok(false) };
        let before = std::mem::replace(&mut self.state, after);
        self.did.push(action);
        self.raced |= self.state.two_run();
        match action {
            Action::Tick => {
                for seat in &mut self.seats {
                    seat.leaves_in = seat.leaves_in.map(|ticks| ticks.saturating_sub(1));
                    seat.clock.advance(TICK_MS);
                }
            }
            Action::Garble => std::fs::write(&self.file, b"{").unwrap(),
            Action::Start(who) => self.start(who),
            Action::Execute(who) => self.seats[who.index()].gate.carry_out(),
            Action::Fail(who) => {
                if let Some(Known { stage: Stage::Asked(_), .. }) = before.claim(who) {
                    self.seats[who.index()].gate.fail();
                }
            }
            Action::FailLate(who) => self.set_aside(who),
            Action::ExecuteLate(who) => self.carry_out_late(who),
            Action::Hear(who) => {
                let Some(claim) = before.claim(who) else { return Err("nobody hears".to_owned()) };
                let is_lost = matches!(claim.stage, Stage::Answered(_, Reply::Failed));
                self.seats[who.index()].gate.pass(is_lost);
            }
            Action::StandDown(who) => self.stand_down(who),
            Action::Leave(who) => {
                if matches!(before.claim(who), Some(Known { stage: Stage::Asked(_), .. })) {
                    self.set_aside(who);
                }
            }
            Action::Wake(_) => {}
            Action::Crash(_) => return Err("no trace crashes".to_owned()),
        }
        [Who(0), Who(1)].into_iter().for_each(|who| self.mind(who, &before));
        Ok(true)
    }

    fn start(&mut self, who: Who) {
        let seat = &mut self.seats[who.index()];
        let ttl = Duration::from_millis(u64::from(TICK_MS) * u64::from(CONFIG.ttl));
        let options =
            Options { ttl, settle: Some(ttl / 8), label: Some(who.to_string()), clock: seat.clock.clone() };
        // One for each claim, as of another process: a call of the last one may hang.
        seat.gate = Gate::default();
        let guard = Guard::new(seat.gate.records(&self.file), options).unwrap();
        seat.has = Has::Claiming(guard.claim());
        seat.id = None;
    }

    fn stand_down(&mut self, who: Who) {
        let has = &mut self.seats[who.index()].has;
        *has = match std::mem::replace(has, Has::Nothing) {
            Has::Claim(claim) => Has::Leaving(claim.stand_down()),
            // Nobody waits for it any more.
            Has::Claiming(_) | Has::Refused | Has::Nothing => Has::Nothing,
            leaving @ Has::Leaving(_) => leaving,
        };
    }

    fn set_aside(&mut self, who: Who) {
        let seat = &mut self.seats[who.index()];
        let asked = seat.gate.asked(true).expect("it has asked");
        seat.gate.fail();
        if asked != Request::Read {
            seat.late = Some(asked);
        }
    }

    fn carry_out_late(&mut self, who: Who) {
        let mut file = FileRecords::new(&self.file);
        match self.seats[who.index()].late.take().expect("something is late") {
            Request::Write(record) => file.write(record.to_json().as_bytes()).unwrap(),
            Request::Delete => file.delete().unwrap(),
            Request::Read => panic!("reads are not late"),
        }
    }

    /// Since when it leaves. A call that nobody waits for any more fails.
    fn mind(&mut self, who: Who, before: &State) {
        let leaves = |state: &State| state.claim(who).is_some_and(|claim| claim.stand == Stand::Leaves);
        let (left, leaves) = (leaves(before), leaves(&self.state));
        let has_ended = self.state.claim(who).is_none() && before.claim(who).is_some();
        let seat = &mut self.seats[who.index()];
        seat.leaves_in = if leaves { seat.leaves_in.filter(|_| left).or(Some(CONFIG.third())) } else { None };
        if has_ended {
            seat.gate.forsake();
        }
    }

    fn compare(&mut self) -> Result<(), String> {
        for who in [Who(0), Who(1)] {
            self.compare_one(who).map_err(|wrong| format!("{who}: {wrong}"))?;
        }
        self.compare_file()
    }

    fn compare_one(&mut self, who: Who) -> Result<(), String> {
        let claim = self.state.claim(who).copied();
        let seat = &mut self.seats[who.index()];
        let is_asked = matches!(claim, Some(Known { stage: Stage::Asked(_), .. }));
        let asked = seat.gate.asked(is_asked);
        let is_right = match (&asked, claim) {
            (Some(asked), Some(claim)) => is_asked && is_for(claim.errand, asked),
            (asked, _) => asked.is_none() && !is_asked,
        };
        if !is_right {
            return Err(format!("asks {asked:?}, should {claim:?}"));
        }
        if let Some(Request::Write(record)) = asked {
            seat.id = Some(record.id);
        }
        let is_called =
            claim.is_some_and(|claim| matches!(claim.stage, Stage::Asked(_) | Stage::Answered(..)));
        seat.clock.settle(claim.map_or(0, |_| 2 - usize::from(is_called)));
        let stand = claim.map(|claim| claim.stand);
        // A claim that has ended has no thread that could be waited for.
        let give_up_at = SystemClock.local().plus(30_000);
        loop {
            seat.has = std::mem::replace(&mut seat.has, Has::Nothing).hear();
            match seat.has.is_so(stand) {
                true => return Ok(()),
                false if SystemClock.local() < give_up_at => SystemClock.sleep(Duration::from_millis(1)),
                false => return Err(format!("{:?} is not {stand:?}", seat.has)),
            }
        }
    }

    fn compare_file(&mut self) -> Result<(), String> {
        let now = self.seats[0].clock.wall().as_unix_millis();
        let seen = Seen::of(FileRecords::new(&self.file).read().unwrap().as_deref());
        let whose = |id: &str| {
            let is_of = |who: &Who| {
                self.state.claim(*who).is_some() && self.seats[who.index()].id.as_deref() == Some(id)
            };
            [Who(0), Who(1)].into_iter().find(is_of)
        };
        let age_ms = |record: &Record| now - record.renewed.as_unix_millis();
        let is_same = stands_there(&CONFIG, self.state.slot, &seen, age_ms, whose);
        if is_same { Ok(()) } else { Err(format!("{seen:?} is not {:?}", self.state.slot)) }
    }
}

/// No thread is left behind.
impl Drop for Play {
    fn drop(&mut self) {
        for seat in &mut self.seats {
            seat.has = match std::mem::replace(&mut seat.has, Has::Nothing) {
                Has::Claim(claim) => Has::Leaving(claim.stand_down()),
                _ => Has::Nothing,
            };
            seat.gate.open();
            seat.has = Has::Nothing;
            tests::eventually("its threads end", || {
                seat.clock.advance(TICK_MS);
                (Arc::strong_count(&seat.clock) == 1).then_some(())
            });
        }
    }
}
