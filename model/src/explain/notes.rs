//! The words beside the lanes: what somebody does, or what happens to him, in very few words.

use super::fences::{self, Numbers};
use crate::actions::Action;
use crate::clocks::Local;
use crate::config::{Config, Part, Policy, Variant};
use crate::contender::Move;
use crate::faults::Fault;
use crate::state::{
    Clock, Contender, Expiry, Fence, Holder, Message, Phase, Reason, Reply, Request, Row, Seen, Stand, State,
    Who,
};

/// A step of a run: what there was, what happened, and what there is; and the numbers of the fences in both.
#[derive(Clone, Copy)]
pub(super) struct Step<'a, const N: usize> {
    pub(super) config: &'a Config,
    pub(super) before: &'a State<N>,
    pub(super) action: Action,
    pub(super) after: &'a State<N>,
    pub(super) were: &'a Numbers,
    pub(super) are: &'a Numbers,
}

impl<const N: usize> Step<'_, N> {
    fn now(&self, who: Who) -> &Contender {
        &self.after.contenders[who.index()]
    }

    fn then(&self, who: Who) -> &Contender {
        &self.before.contenders[who.index()]
    }

    fn name(&self, fence: Fence) -> String {
        self.are.name(self.config, fence)
    }
}

/// The row: whose, which fence, and for how long.
pub(super) fn row(config: &Config, row: Option<Row>, numbers: &Numbers) -> String {
    let Some(row) = row else { return "no row".to_owned() };
    let holder = match row.holder {
        Holder::Contender(_) if config.ids_shared() => "A=B".to_owned(),
        Holder::Contender(who) => who.to_string(),
        Holder::Gone(_) => "gone".to_owned(),
    };
    format!("{holder}, fence {}: {}", numbers.name(config, row.fence), lasts(config, row))
}

/// The time that is stored in system A's row comes a skew before it is free.
fn lasts(config: &Config, row: Row) -> String {
    let foreign = config.policy_of(row.holder) == Policy::SystemA;
    match row.expiry {
        Expiry::In(left) if foreign && left > config.skew => format!("{} left", left - config.skew),
        Expiry::In(_) if foreign => "expired".to_owned(),
        Expiry::Released => "released".to_owned(),
        Expiry::In(0) => "expired".to_owned(),
        Expiry::In(left) => format!("{left} left"),
        Expiry::Far => "far off".to_owned(),
        Expiry::Unreadable => "unreadable".to_owned(),
    }
}

/// What is to be said of the store after this step.
pub(super) fn store<const N: usize>(step: &Step<'_, N>) -> Option<String> {
    let (before, after) = (step.before.row, step.after.row);
    // Ranks may be alike where fences are not.
    let (was, is) = (row(step.config, before, step.were), row(step.config, after, step.are));
    match (step.action, fences::reply(step.config, step.before, step.action)) {
        (_, Some(Reply::Refused)) => Some("refused".to_owned()),
        (Action::Execute(who), _) => Some(carried_out(step, who, is)),
        (Action::ExecuteLate(..) | Action::ExecuteOrphaned(..), _) => Some(is),
        (Action::Tick(_), _) => after.filter(|_| was != is).map(|row| lasts(step.config, row)),
        (Action::Suffer(Fault::FailButWrite(_)), _) => {
            Some(format!("in the log: {}", row(step.config, step.after.failed, step.are)))
        }
        // Also one who ends or crashes: from then on he is somebody who is gone.
        _ => (was != is).then_some(is),
    }
}

fn carried_out<const N: usize>(step: &Step<'_, N>, who: Who, is: String) -> String {
    if step.then(who).moved {
        return format!("old file: {}", row(step.config, step.after.old_file, step.are));
    }
    let lost = step.config.has(Part::PowerLoss) && step.after.durable != step.after.row;
    if lost { is + ", not on disk" } else { is }
}

/// What concerns everybody.
pub(super) fn across<const N: usize>(step: &Step<'_, N>) -> Option<String> {
    match step.action {
        Action::Suffer(Fault::FailButWrite(_)) => None,
        Action::Suffer(Fault::BackUp) => {
            Some(format!("a backup is taken: {}", row(step.config, step.after.backup, step.are)))
        }
        Action::Suffer(_) | Action::ExecuteOrphaned(..) => Some(step.action.to_string()),
        _ => None,
    }
}

/// A request or a reply.
pub(super) fn message(config: &Config, message: Message, numbers: &Numbers) -> String {
    let name = |fence| numbers.name(config, fence);
    match message {
        Message::Sent(Request::Acquire(_, Fence::NONE)) => "acquire".to_owned(),
        Message::Sent(Request::Acquire(_, floor)) => format!("acquire > {}", name(floor)),
        Message::Sent(Request::Renew(fence)) => format!("renew {}", name(fence)),
        Message::Sent(Request::Release(fence)) => format!("release {}", name(fence)),
        Message::Answered(Reply::Granted(fence)) => format!("granted {}", name(fence)),
        Message::Answered(Reply::Renewed) => "renewed".to_owned(),
        Message::Answered(Reply::Released) => "released".to_owned(),
        Message::Answered(Reply::Refused) => "refused".to_owned(),
    }
}

/// A request that nobody waits for.
pub(super) fn late(action: Action) -> String {
    let Action::ExecuteLate(_, kind) = action else { return String::new() };
    match kind {
        crate::state::LateKind::AcquireAbove => "late acquire".to_owned(),
        kind => format!("late {kind}"),
    }
}

/// What this contender does, or what happens to it.
pub(super) fn note<const N: usize>(step: &Step<'_, N>, who: Who) -> String {
    match step.action {
        Action::Tick(local) => tick(step, who, local),
        Action::Suffer(Fault::FailButWrite(one)) if one == who => "told: failed".to_owned(),
        Action::Suffer(_) if step.now(who).phase.is_over() && !step.then(who).phase.is_over() => {
            "gone with it".to_owned()
        }
        action if super::timeline::subject(action) != Some(who) => String::new(),
        Action::Step(_, clock) => clock_set(clock).to_owned(),
        Action::Move(_, mv) => moves(step, who, mv),
        Action::Enter(_) => enters(step),
        Action::Land(_) => lands(step, who),
        _ => String::new(),
    }
}

fn clock_set(clock: Clock) -> &'static str {
    match clock {
        Clock::Even => "wall clock set back",
        Clock::Ahead => "wall clock set ahead",
        Clock::Far => "wall clock set far ahead",
    }
}

fn tick<const N: usize>(step: &Step<'_, N>, who: Who, local: Local) -> String {
    let erring = match local {
        Local::Slow(one) if one == who => "local clock misses it",
        Local::Fast(one) if one == who => "local clock counts two",
        Local::Asleep(one) if one == who => "suspended, local clock stands",
        _ => "",
    };
    let notes: Vec<_> = [erring, deadline(step, who)].into_iter().filter(|note| !note.is_empty()).collect();
    notes.join("; ")
}

/// Deadlines that pass with this tick.
fn deadline<const N: usize>(step: &Step<'_, N>, who: Who) -> &'static str {
    let (then, now) = (step.then(who), step.now(who));
    let acts = |one: &Contender| one.acts(step.config, who).is_some();
    let passed =
        matches!((then.phase, now.phase), (Phase::Holding { left: 1.., .. }, Phase::Holding { left: 0, .. }));
    let granted = matches!((then.flight, now.flight),
        (Some(old), Some(new)) if old.left > 0 && new.left == 0 && now.phase == Phase::Acquiring);
    match (acts(then), acts(now)) {
        (true, false) => "deadline",
        (true, true) if passed => "deadline, yet it goes on",
        _ if granted => "a grant would be late",
        _ => "",
    }
}

fn moves<const N: usize>(step: &Step<'_, N>, who: Who, mv: Move) -> String {
    match mv {
        Move::Look if step.config.breaks(Variant::ObservedFromSend) => "sends a read".to_owned(),
        Move::Look => "looks at its wall clock".to_owned(),
        Move::Read => reads(step, who),
        Move::Acquire | Move::Renew | Move::Release => String::new(),
        Move::Deliver => receives(step, who),
        Move::Fail => fails(step, who),
        Move::NoticeDeadline => "notices: lost".to_owned(),
        Move::Shutdown if step.now(who).phase.is_over() => "shut down".to_owned(),
        Move::Shutdown => "asked to stop".to_owned(),
        Move::StopWork => "work has stopped".to_owned(),
        Move::DropWork => "work is dropped".to_owned(),
        Move::Leave => "does not release".to_owned(),
        Move::Crash => "crashes".to_owned(),
        Move::Restart if step.now(who).floor_given => {
            format!("starts again, floor {}", step.name(step.now(who).floor))
        }
        Move::Restart => "starts again".to_owned(),
        Move::Begin => {
            let fence = step.now(who).act.map_or(Fence::NONE, |act| act.fence);
            format!("begins an act ({})", step.name(fence))
        }
    }
}

/// What it reads, and what it makes of that.
fn reads<const N: usize>(step: &Step<'_, N>, who: Who) -> String {
    let found = if step.then(who).moved { step.before.old_file.or(step.before.row) } else { step.before.row };
    match step.now(who).phase {
        Phase::Reading(Seen::Row(holder, _)) => {
            let own = holder == step.config.id(who);
            format!("reads: {}", found.map_or("no row", |row| why_free(step.then(who), row, own)))
        }
        Phase::Reading(_) => "reads: no row".to_owned(),
        Phase::WentBack => "reads: the store went back".to_owned(),
        Phase::Holding { fence, .. } => format!("reads its own id, goes on with {}", step.name(fence)),
        Phase::Releasing { .. } => "reads: own row".to_owned(),
        Phase::Ended => "reads, ends".to_owned(),
        _ => "reads: held".to_owned(),
    }
}

fn why_free(one: &Contender, row: Row, own: bool) -> &'static str {
    match row.expiry {
        Expiry::Released => "released",
        Expiry::Unreadable => "unreadable",
        _ if own => "own row",
        Expiry::In(0) => "expired",
        _ if one.watched.is_some() => "long unchanged",
        _ if one.clock != Clock::Even => "expired on its clock",
        _ => "“free”",
    }
}

fn receives<const N: usize>(step: &Step<'_, N>, who: Who) -> String {
    match step.now(who).phase {
        Phase::Holding { left: 0, .. } => "acts, out of time".to_owned(),
        Phase::Holding { left, .. } => format!("acts for {left}"),
        Phase::Lost { reason: Reason::Deadline, .. } => "too late: lost".to_owned(),
        Phase::Lost { reason: Reason::Superseded, .. } => "superseded: lost".to_owned(),
        Phase::Waiting if step.then(who).phase == Phase::Acquiring => "too late".to_owned(),
        Phase::Releasing { .. } => "not wanted now".to_owned(),
        Phase::WentBack => "finds: the store went back".to_owned(),
        Phase::Ended => "ends".to_owned(),
        _ => String::new(),
    }
}

fn fails<const N: usize>(step: &Step<'_, N>, who: Who) -> String {
    match (step.then(who).acts(step.config, who), step.now(who).acts(step.config, who)) {
        (None, Some(_)) => "failed, counts as granted".to_owned(),
        _ => "failed: unknown".to_owned(),
    }
}

fn enters<const N: usize>(step: &Step<'_, N>) -> String {
    let gate = step.after.gate;
    if gate == step.before.gate && step.config.breaks(Variant::ReadsFirst) {
        return "reads, gate not passed".to_owned();
    }
    format!("passes gate: {}", step.name(gate.fence))
}

/// Whether it lands shows only in what would be wrong if it were stale.
fn lands<const N: usize>(step: &Step<'_, N>, who: Who) -> String {
    let mut tried = *step.before;
    tried.ghost.stale_landed = false;
    let act = &mut tried.contenders[who.index()].act;
    let fence = act.map_or(Fence::NONE, |act| act.fence);
    act.iter_mut().for_each(|act| act.stands = Stand::Past);
    let _ = tried.land(step.config, who);
    let fate = if tried.ghost.stale_landed { "lands" } else { "is refused" };
    format!("act ({}) {fate}", step.were.name(step.config, fence))
}
