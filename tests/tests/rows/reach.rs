//! What the model's two contenders come to ask, of which rows.

use model::check::ALL;
use model::config::{Config, Part, Policy};
use model::pairs::setting;
use model::state::{Expiry, Fence, Holder, Request, Row, Seen};
use model::store::{bound, is_last};
use model::survey::{Asked, asked};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Something that is asked, and the configuration in which it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) config: Config,
    pub(super) asked: Asked,
}

/// Whose id it is, as whoever asks sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    Own,
    Others(Policy),
    GoneOnes(Policy),
}

impl Case {
    pub(super) fn whose(&self, holder: Holder) -> Whose {
        match holder {
            _ if holder == self.asked.by.holder => Whose::Own,
            Holder::Contender(who) => Whose::Others(self.config.policy(who)),
            Holder::Gone(policy) => Whose::GoneOnes(policy),
        }
    }

    /// The last fence there is, where fences are numbers.
    pub(super) fn last(&self) -> Option<Fence> {
        self.config.counts_fences().then(|| (0..).map(Fence).find(|fence| is_last(&self.config, *fence)))?
    }

    /// What a store can tell of it: cases that are alike in this are one. Who is A and who is B makes no difference; nor
    /// do the fences, but in how they compare and how far the last one is.
    fn key(&self) -> String {
        let (Config { ttl, skew, .. }, Asked { row, request, by }) = (self.config, self.asked);
        let row = row.map(|row| (self.whose(row.holder), self.rank(row.fence), row.expiry));
        let request = match request {
            None => "read".to_owned(),
            Some(Request::Acquire(seen, floor)) => {
                format!("acquire {} {}", self.seen(seen), floor > Fence::NONE)
            }
            Some(Request::Renew(fence)) => format!("renew {}", self.rank(fence)),
            Some(Request::Release(fence)) => format!("release {}", self.rank(fence)),
        };
        let policy = self.config.policy_of(by.holder);
        format!("{row:?} {request} {policy:?} {:?} {ttl} {skew}", by.clock)
    }

    /// In words.
    pub(super) fn told(&self) -> String {
        let (Config { ttl, skew, .. }, Asked { row, request, by }) = (self.config, self.asked);
        let row = row.map_or("no row".to_owned(), |row| row.to_string());
        let request = request.map_or("read".to_owned(), |request| request.to_string());
        format!("{row}; {} asks: {request} (its clock: {:?}; TTL {ttl}, skew {skew})", by.holder, by.clock)
    }

    fn seen(&self, seen: Seen) -> String {
        match seen {
            Seen::Row(holder, fence) => format!("{:?} {}", self.whose(holder), self.rank(fence)),
            Seen::Absent | Seen::Outdated | Seen::Unseen => format!("{seen:?}"),
        }
    }

    /// A fence, counted from the last one; or where there is none, from the row's.
    fn rank(&self, fence: Fence) -> i16 {
        let from = self.asked.row.map_or(fence, |row| self.last().unwrap_or(row.fence));
        i16::from(fence.0) - i16::from(from.0)
    }

    /// Why it is nothing that the first form asks, if it is not.
    fn excluded(&self) -> Option<&'static str> {
        match (self.config.policy_of(self.asked.by.holder), self.asked.request) {
            (Policy::Observed, _) => Some("asked by an Observed contender: not built"),
            (Policy::SystemA, _) => Some("asked by system A"),
            (_, Some(Request::Acquire(_, floor))) if floor > Fence::NONE => {
                Some("an acquire above a floor that a user gave (R11.5): not built")
            }
            (_, Some(Request::Acquire(seen, _))) if self.was_watched(seen) => {
                Some("an acquire of an Observed row that was watched: not built")
            }
            _ => None,
        }
    }

    /// Of this row, by the same sender: bound to what is no more, and of a tenure that is not the row's, or is and has
    /// ended.
    fn forgotten(&self) -> impl Iterator<Item = Case> {
        let row = self.asked.row;
        let fence = row.map_or(Fence(1), |row| row.fence);
        let higher = Fence(fence.0 + 1);
        let fences = [Fence(fence.0 - 1), fence, higher].into_iter();
        let fences = fences.filter(|fence| self.last().is_none_or(|last| *fence <= last));
        let tenures = fences.flat_map(|fence| [Request::Renew(fence), Request::Release(fence)]);
        let requests = tenures.chain([Request::Acquire(Seen::Outdated, Fence::NONE)]);
        let asked = requests.map(|request| Asked { request: Some(request), ..self.asked });
        asked.map(|asked| Case { asked, ..*self })
    }

    /// Whether it is bound to an Observed row that is neither released nor unreadable.
    fn was_watched(&self, seen: Seen) -> bool {
        let held = |row: &Row| !matches!(row.expiry, Expiry::Released | Expiry::Unreadable);
        let observed = |row: &Row| self.config.policy_of(row.holder) == Policy::Observed;
        self.asked.row.is_some_and(|row| held(&row) && observed(&row))
            && bound(&self.config, seen, self.asked.row)
    }
}

/// What was reached.
pub(super) struct Reached {
    /// What the first form asks.
    pub(super) asked: Vec<Case>,
    /// What it may have asked long ago, and the model has forgotten because the store refuses it for ever, or changes
    /// nothing. That the shipped store does so is what the model rests on.
    pub(super) forgotten: Vec<Case>,
    /// How much else there is, by the reason for which it is left out.
    pub(super) excluded: BTreeMap<&'static str, usize>,
}

/// Explores all configurations, two at a time. Of cases that are alike the one of the first configuration stands for all.
pub(super) fn reach() -> Reached {
    let configurations = configurations();
    let (ahead, found) = (Mutex::new(configurations.iter().enumerate()), Mutex::new(BTreeMap::new()));
    let next = || ahead.lock().unwrap().next();
    let work = || {
        while let Some((at, config)) = next() {
            let asked = asked(*config);
            found.lock().unwrap().insert(at, asked);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut cases = BTreeMap::new();
    for (at, asked) in found.into_inner().unwrap() {
        let of_this = asked.into_iter().map(|asked| Case { config: configurations[at], asked });
        of_this.for_each(|case| _ = cases.entry(case.key()).or_insert(case));
    }
    sort_out(&cases)
}

fn sort_out(found: &BTreeMap<String, Case>) -> Reached {
    let mut reached = Reached { asked: Vec::new(), forgotten: Vec::new(), excluded: BTreeMap::new() };
    let mut forgotten = BTreeMap::new();
    for case in found.values() {
        match case.excluded() {
            Some(why) => *reached.excluded.entry(why).or_default() += 1,
            None => {
                forgotten.extend(case.forgotten().map(|case| (case.key(), case)));
                reached.asked.push(*case);
            }
        }
    }
    forgotten.retain(|key, _| !found.contains_key(key));
    reached.forgotten = forgotten.into_values().collect();
    reached
}

/// What makes rows, or requests, that would not be there otherwise.
const TOUCHING_ROWS: [Part; 7] = [
    Part::LateRequests,
    Part::Crashes,
    Part::ClockSteps,
    Part::WrongClocks,
    Part::UnreadableRow,
    Part::LastFence,
    Part::Restore,
];

/// Those that the model is checked in, the largest first; and those in which somebody who goes by wall clocks is beside
/// one who observes, or beside system A, and something goes wrong.
fn configurations() -> Vec<Config> {
    let mut known = ALL;
    known.sort_by_key(|known| std::cmp::Reverse(known.generated));
    let beside = [Part::Observed, Part::SystemA].into_iter();
    let beside = beside.flat_map(|other| TOUCHING_ROWS.map(|part| setting([other, part])));
    known.map(|known| known.config).into_iter().chain(beside).collect()
}
