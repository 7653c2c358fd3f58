//! Whether model and code say the same.

use super::twin::{TICK_MS, Twin};
use model::guard::actions::Action;
use model::guard::config::Config;
use model::guard::state::{Claim, Errand, Life, Reply, Slot, Stage, Stand, State};
use model::state::Who;
use tenure::instance::machine::{Machine, Request};
use tenure::instance::{ClaimError, Loss, Record, Seen};

/// In words what is different after a step, if anything is.
pub(super) fn difference(
    config: &Config,
    before: &State,
    action: Action,
    after: &State,
    twin: &Twin,
) -> Option<String> {
    let differs = |who: Who| {
        let ends = || {
            let (claim, machine) = (before.claim(who)?, twin.last(who)?);
            of_refusal(config, claim, action, after.claim(who), machine)
                .or_else(|| of_end(action, after.claim(who), machine))
        };
        let what = of_one(config, after, twin, who).or_else(ends);
        what.map(|what| format!("{who}: {what}"))
    };
    [Who(0), Who(1)].into_iter().find_map(differs).or_else(|| of_store(config, after, twin))
}

fn of_one(config: &Config, state: &State, twin: &Twin, who: Who) -> Option<String> {
    let one = &twin.ones[who.index()];
    if state.late[who.index()].is_some() != twin.late(who).is_some() {
        return Some(format!("late: {:?}, {:?}", state.late[who.index()], twin.late(who)));
    }
    match (state.claim(who), &one.machine) {
        (None, None) => None,
        (Some(claim), Some(machine)) => of_claim(config, claim, machine, twin, who),
        (claim, machine) => Some(format!("{claim:?}, {machine:?}")),
    }
}

fn of_claim(config: &Config, claim: &Claim, machine: &Machine, twin: &Twin, who: Who) -> Option<String> {
    let asked = &twin.ones[who.index()].asked;
    let differs = |what: &str| Some(format!("{what}: {claim:?}, {machine:?}, {asked:?}"));
    let is_asked = matches!(claim.stage, Stage::Asked(_));
    if is_asked != asked.is_some() || asked.as_ref().is_some_and(|asked| !is_for(claim.errand, asked)) {
        return differs("asks");
    }
    if !stands_alike(claim, machine) {
        return differs("stands");
    }
    let until = (claim.stand == Stand::Runs).then(|| machine.clone().check(twin.local).ok()).flatten();
    let left = until.map(|until| until.as_millis() - twin.local.as_millis());
    if left != (claim.stand == Stand::Runs).then(|| u64::from(claim.until) * u64::from(TICK_MS)) {
        return differs("runs until");
    }
    let next = machine.next().map(|at| at.as_millis().saturating_sub(twin.local.as_millis()));
    (next != wakes_in(config, claim, twin.leaves_in(who)).map(|ticks| ticks * u64::from(TICK_MS)))
        .then(|| differs("wants to be called"))
        .flatten()
}

pub(super) fn is_for(errand: Errand, request: &Request) -> bool {
    match request {
        Request::Read => errand.reads(),
        Request::Write(_) => matches!(errand, Errand::Announce | Errand::Renew),
        Request::Delete => errand == Errand::Remove,
    }
}

fn stands_alike(claim: &Claim, machine: &Machine) -> bool {
    let stands = machine.outcome().map(Result::is_ok);
    match (claim.stand, stands, machine.loss()) {
        (Stand::Pending, None, None) | (Stand::Runs, Some(true), None) => true,
        (Stand::Lost, Some(true), Some(Loss::Overwritten { .. } | Loss::NotRenewed { .. })) => true,
        (Stand::Leaves, Some(stood), loss) => stood == loss.is_some(),
        _ => false,
    }
}

/// In how many ticks at the latest it wants to be called.
fn wakes_in(config: &Config, claim: &Claim, leaves_in: Option<u64>) -> Option<u64> {
    let ticks = |ticks: u8| Some(u64::from(ticks));
    let acts = match claim.stage {
        Stage::Due(left) => ticks(left),
        Stage::Asked(age) | Stage::Answered(age, _) if claim.stand == Stand::Pending => {
            ticks(config.third().saturating_sub(age))
        }
        Stage::Asked(_) | Stage::Answered(..) | Stage::Idle => None,
    };
    let until = ticks(claim.until).filter(|_| claim.stand == Stand::Runs);
    [acts, until, leaves_in].into_iter().flatten().min()
}

/// Of a claim to which nothing has come of before: the reason that is told.
fn of_refusal(
    config: &Config,
    before: &Claim,
    action: Action,
    after: Option<&Claim>,
    machine: &Machine,
) -> Option<String> {
    let is_refused =
        after.is_none_or(|claim| claim.stand == Stand::Leaves) && !matches!(action, Action::Crash(_));
    if before.stand != Stand::Pending || !is_refused {
        return None;
    }
    let reply = match before.stage {
        Stage::Answered(age, reply) if age < config.third() && matches!(action, Action::Hear(_)) => {
            Some(reply)
        }
        _ => None,
    };
    let told = machine.outcome().and_then(|outcome| outcome.as_ref().err());
    let is_so = match (reply, told) {
        // By itself, or as it was told to stand down.
        (None, Some(ClaimError::NoAnswer)) => true,
        // It has read its own record back after a TTL.
        (Some(Reply::Own), Some(ClaimError::NotWritten(_))) => true,
        (Some(Reply::Other { .. }), Some(ClaimError::AnotherInstance { .. })) => true,
        (Some(Reply::Unreadable), Some(ClaimError::Unreadable(_))) => true,
        (Some(Reply::Failed), Some(ClaimError::Unreadable(_))) => before.errand == Errand::Look,
        (Some(Reply::Failed), Some(ClaimError::NotWritten(_))) => before.errand != Errand::Look,
        (Some(Reply::Absent), Some(ClaimError::NotWritten(_))) => before.errand == Errand::Confirm,
        _ => false,
    };
    (!is_so).then(|| format!("refuses: {before:?}, {told:?}"))
}

/// Of a claim that has ended: whether it says that something may be left.
fn of_end(action: Action, after: Option<&Claim>, machine: &Machine) -> Option<String> {
    let is_left = matches!(action, Action::Leave(_));
    let farewell = machine.farewell();
    let is_so = after.is_some() || farewell.is_some_and(|gone| gone.is_err() == is_left);
    (!is_so).then(|| format!("ends with {farewell:?}"))
}

fn of_store(config: &Config, state: &State, twin: &Twin) -> Option<String> {
    let seen = Seen::of(twin.bytes.as_deref());
    let whose = |id: &str| [Who(0), Who(1)].into_iter().find(|who| twin.is_current(*who, id));
    let age_ms = |record: &Record| {
        twin.now(config, writer(&record.id)).wall.as_unix_millis() - record.renewed.as_unix_millis()
    };
    let is_same = stands_there(config, state.slot, &seen, age_ms, whose);
    (!is_same).then(|| format!("store: {:?}, {seen:?}", state.slot))
}

/// Whether what was seen is what the model has there: how old a record is, and whose claim goes by its id, if one does.
pub(super) fn stands_there(
    config: &Config,
    slot: Slot,
    seen: &Seen,
    age_ms: impl Fn(&Record) -> i64,
    whose: impl Fn(&str) -> Option<Who>,
) -> bool {
    match (slot, seen) {
        (Slot::Absent, Seen::Absent) | (Slot::Unreadable, Seen::Unreadable(_)) => true,
        (Slot::Record(known), Seen::Record(record)) => {
            let age = age_ms(record) / i64::from(TICK_MS);
            age.min(config.oldest().into()) == i64::from(known.age)
                && whose(&record.id) == (known.by.life == Life::Now).then_some(known.by.of)
        }
        _ => false,
    }
}

fn writer(id: &str) -> Who {
    Who(u8::from(id.starts_with('B')))
}
