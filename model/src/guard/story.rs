//! A run of the guard, drawn as those of the lease are.

use super::Guard;
use super::actions::Action;
use super::config::{Config, Variant};
use super::state::{Claim, Errand, Id, Life, Record, Reply, Slot, Stage, Stand, State};
use super::{check, walk};
use crate::explain::{Bar, Idle, Lane, Moment, Story, Strand, Way, Wire, description};
use crate::state::Who;

const LEGEND: [&str; 4] = [
    "▐█▌ an instance runs, █ until it is told to stop; │ it was told to; ┊ it claims, or has not begun",
    "╌╌ a request sets out, ──▶ and is carried out, ◀── its answer arrives; ✗ lost; ══▶ late",
    "░ stalls: could go on and does not; ≈ its request is under way",
    "store: whose record, ticks until it has run out; t: ticks passed",
];

/// The shortest run in which two instances run: the second writes a settle time after it read that nobody is there.
pub fn race() -> Option<Story> {
    let guard = Guard { config: Config { delay: Some(Config::PLAIN.settle), ..Config::PLAIN } };
    let why = "B has looked before A wrote, stalls for the settle time, and writes after A has read back its own record. \
        Each finds its own, and both run. With the next check the one that wrote first is told to stop.";
    let paragraphs = vec![why.to_owned()];
    let story = of_run(&guard, &walk::race(&guard)?);
    Some(Story { title: "two instances run: the guard is no lock".to_owned(), paragraphs, ..story })
}

/// The shortest run that goes wrong without a rule.
pub fn without(variant: Variant) -> Option<Story> {
    let guard = Guard { config: check::setting(variant) };
    let (property, run) = walk::first_break(&guard)?;
    let rule = check::rule(variant);
    let paragraphs = vec![
        format!("Taken away, rule {rule}: {}.", description(variant)),
        format!("No longer true: “{property}”."),
    ];
    let story = of_run(&guard, &run);
    Some(Story { title: format!("{}: without rule {rule}", variant.name()), paragraphs, ..story })
}

/// The story of any run.
pub fn of_run(guard: &Guard, run: &[Action]) -> Story {
    let config = &guard.config;
    let (mut state, mut time, mut moments) = (State::EMPTY, 0, Vec::new());
    for action in run.iter().copied() {
        let Some(after) = state.after(config, action) else { break };
        time += u32::from(action == Action::Tick);
        moments.push(Step { config, before: &state, action, after: &after }.moment(time));
        state = after;
    }
    let concerned = |who| state.two_run() || run.last().is_some_and(|last| last.who() == Some(who));
    Story {
        title: "a run of the guard".to_owned(),
        times: times(config),
        paragraphs: Vec::new(),
        lanes: WHO.map(|who| lane(config, who)).into(),
        row: slot(config, State::<2>::EMPTY.slot),
        wrong: WHO.map(concerned).into(),
        store_wrong: false,
        moments,
        legend: LEGEND,
    }
}

const WHO: [Who; 2] = [Who(0), Who(1)];

fn times(config: &Config) -> String {
    let late = match config.delay {
        Some(0) => ", no write late".to_owned(),
        Some(ticks) => format!(", writes at most {ticks} late"),
        None => String::new(),
    };
    format!("TTL {} ticks, settle time {}{late}", config.ttl, config.settle)
}

fn lane(config: &Config, who: Who) -> Lane {
    let ahead = config.ahead_of(who, Who(1 - who.0));
    let about = if ahead > 0 { format!("clock ahead by {ahead}") } else { String::new() };
    Lane { name: who.to_string(), about }
}

fn slot(config: &Config, slot: Slot) -> String {
    match slot {
        Slot::Absent => "no record".to_owned(),
        Slot::Unreadable => "unreadable".to_owned(),
        Slot::Record(Record { by, age }) if age < config.ttl => {
            format!("{}: {} left", name(by), config.ttl - age)
        }
        Slot::Record(Record { by, .. }) => format!("{}: run out", name(by)),
    }
}

fn name(id: Id) -> String {
    match id.life {
        Life::Now => id.of.to_string(),
        Life::Ended | Life::Gone => "an earlier one".to_owned(),
    }
}

/// What happens, and how things are before and after.
struct Step<'a> {
    config: &'a Config,
    before: &'a State,
    action: Action,
    after: &'a State,
}

impl Step<'_> {
    fn moment(&self, time: u32) -> Moment {
        let (before, now) = (slot(self.config, self.before.slot), slot(self.config, self.after.slot));
        Moment {
            time,
            tick: self.action == Action::Tick,
            across: (self.action == Action::Garble).then(|| "the record is made unreadable".to_owned()),
            strands: WHO.map(|who| self.strand(who)).into(),
            wires: WHO.iter().filter_map(|who| self.wire(*who)).collect(),
            store: (before != now).then_some(now),
        }
    }

    fn strand(&self, who: Who) -> Strand {
        let bar = match self.after.claim(who) {
            Some(Claim { stand: Stand::Runs, .. }) => Bar::Acts("█".to_owned()),
            Some(Claim { stand: Stand::Lost, .. }) => Bar::Remains("█".to_owned()),
            _ => Bar::Nothing,
        };
        Strand { bar, idle: self.idle(who), note: self.note(who) }
    }

    fn idle(&self, who: Who) -> Idle {
        match self.before.claim(who).map(|claim| claim.stage) {
            Some(Stage::Asked(_)) if self.action == Action::Tick => Idle::Waits,
            Some(Stage::Answered(..) | Stage::Due(0)) if self.action == Action::Tick => Idle::Stalls,
            _ => Idle::No,
        }
    }

    fn note(&self, who: Who) -> String {
        let (before, after) = (self.before.claim(who), self.after.claim(who));
        let stands = (before.map(|claim| claim.stand), after.map(|claim| claim.stand));
        let text = match (self.action, stands) {
            (Action::Tick, (Some(Stand::Runs), Some(Stand::Lost))) => "is told to stop",
            (action, _) if action.who() != Some(who) => "",
            (_, (was, now @ Some(Stand::Runs))) if was != now => "runs",
            (_, (was, now @ Some(Stand::Lost))) if was != now => "is told to stop",
            (_, (was, now @ Some(Stand::Leaves))) if was != now => "stands down",
            (Action::Hear(_), (Some(Stand::Pending), None)) => "is refused",
            (Action::Crash(_), _) => "crashes",
            (_, (Some(_), None)) => "is gone",
            _ => after.map_or("", goes_on),
        };
        text.to_owned()
    }

    fn wire(&self, who: Who) -> Option<Wire> {
        (self.action.who() == Some(who)).then_some(())?;
        let (before, after) = (self.before.claim(who), self.after.claim(who));
        let errand = before.or(after).map(|claim| errand(claim.errand));
        let (way, label) = match self.action {
            Action::Start(_) | Action::Wake(_) => (Way::Sent, after.map(|claim| self::errand(claim.errand))?),
            Action::Execute(_) => (Way::CarriedOut, errand?),
            Action::Fail(_) | Action::FailLate(_) => (Way::RequestLost, errand?),
            Action::ExecuteLate(_) => (Way::Late, "late write"),
            Action::Hear(_) => match before?.stage {
                Stage::Answered(_, reply) => (Way::Delivered, said(reply)),
                _ => return None,
            },
            _ => return None,
        };
        Some(Wire { who: who.index(), way, label: label.to_owned() })
    }
}

/// What a claim has just begun.
fn goes_on(claim: &Claim) -> &'static str {
    match (claim.stage, claim.errand) {
        (Stage::Due(_), Errand::Confirm) => "waits to read back",
        (Stage::Asked(0), Errand::Look | Errand::LastLook) => "looks",
        (Stage::Asked(0), Errand::Announce) => "writes",
        (Stage::Asked(0), Errand::Confirm) => "reads back",
        (Stage::Asked(0), Errand::Check) => "checks",
        (Stage::Asked(0), Errand::Renew) => "renews",
        (Stage::Asked(0), Errand::Remove) => "deletes",
        _ => "",
    }
}

fn errand(errand: Errand) -> &'static str {
    match errand {
        Errand::Look => "look",
        Errand::Announce => "write",
        Errand::Confirm => "read back",
        Errand::Check => "check",
        Errand::Renew => "renew",
        Errand::LastLook => "last look",
        Errand::Remove => "delete",
    }
}

fn said(reply: Reply) -> &'static str {
    match reply {
        Reply::Absent => "nothing",
        Reply::Own => "its own",
        Reply::Other { left: 0, .. } => "run out",
        Reply::Other { .. } => "another’s",
        Reply::Unreadable => "unreadable",
        Reply::Done => "done",
        Reply::Failed => "failed",
    }
}
