//! What happened, checked by itself: nothing in here knows the model.

use super::agree::Found;
use super::ground::{Ground, timing};
use super::play::Wrong;
use super::stack::Told;
use super::trace::World;
use std::collections::{BTreeSet, HashMap};
use tenure::protocol::{Action, LocalTime, Loss, Reply, Request, RequestId, Seen};
use tenure::store::Answer;

/// A tenure: whose, and its fence.
type Named = (String, i64);

/// How a tenure went.
#[derive(Debug, Default)]
struct Course {
    /// Its work stopped, or its process was gone, while it was held.
    ended: bool,
    /// Its work was dropped: its loss is told when its deadline has passed, which may be later than the trace is long.
    dropped: bool,
    losses: Vec<Loss>,
}

/// What happened.
pub(super) struct History {
    /// Whether wall clocks keep within the bound.
    is_bounded: bool,
    sent: HashMap<(String, RequestId), LocalTime>,
    /// Until when a tenure may be believed in, by what was confirmed to it.
    valid: HashMap<Named, LocalTime>,
    rows: Vec<Option<Found>>,
    /// What refused renewals have shown.
    shown: HashMap<String, Seen>,
    /// Who acts at the moment.
    acting: BTreeSet<Named>,
    /// In each place the latest tenure.
    latest: HashMap<usize, Named>,
    courses: HashMap<Named, Course>,
    wrong: Option<Wrong>,
}

impl History {
    pub(super) fn new(world: &World) -> Self {
        Self {
            is_bounded: world.is_bounded(),
            sent: HashMap::new(),
            valid: HashMap::new(),
            rows: vec![None],
            shown: HashMap::new(),
            acting: BTreeSet::new(),
            latest: HashMap::new(),
            courses: HashMap::new(),
            wrong: None,
        }
    }

    pub(super) fn sent(&mut self, request: &Request, at: LocalTime) {
        self.sent.insert((request.holder.to_string(), request.id), at);
    }

    pub(super) fn sent_at(&self, request: &Request) -> LocalTime {
        self.sent[&(request.holder.to_string(), request.id)]
    }

    /// What the store did; each row in between counts.
    pub(super) fn carried_out(&mut self, ground: &Ground, lease: &str, request: &Request, answer: &Answer) {
        let me = request.holder.to_string();
        if let (Action::Renew(_), Ok(Reply::Refused(seen))) = (&request.action, answer) {
            self.shown.insert(me, seen.clone());
        }
        self.row(Found::of(ground, lease));
    }

    /// Only what its holder has heard in time prolongs a tenure, and from when it was sent (SPEC.md R4, R5).
    pub(super) fn heard(&mut self, request: &Request, answer: &Option<Answer>, at: LocalTime) {
        let me = request.holder.to_string();
        let fence = match (&request.action, answer) {
            (_, Some(Ok(Reply::Granted(fence)))) => fence.get(),
            (Action::Renew(fence), Some(Ok(Reply::Renewed))) => fence.get(),
            _ => return,
        };
        let until = self.sent_at(request).plus(timing().validity_ms());
        let valid = self.valid.entry((me, fence)).or_insert(until);
        if at < *valid {
            *valid = until.max(*valid);
        }
    }

    /// Somebody made the row unreadable, or mended it.
    pub(super) fn is_tampered(&mut self, ground: &Ground, lease: &str) {
        self.row(Found::of(ground, lease));
    }

    /// The row as it is now: fences rise by one, with each tenure; only then does the holder change, and when it was
    /// acquired.
    pub(super) fn row(&mut self, row: Option<Found>) {
        let before = self.rows.last().cloned().flatten();
        if row == before {
            return;
        }
        let is_right = match (&before, &row) {
            (None, Some(row)) => row.fence == 1,
            (Some(before), Some(row)) if row.fence == before.fence => {
                (&row.holder, row.acquired_at) == (&before.holder, before.acquired_at)
            }
            (Some(before), Some(row)) => row.fence == before.fence + 1,
            (_, None) => false,
        };
        if !is_right {
            self.is_wrong(format!("after {before:?} came {row:?}"));
        }
        self.rows.push(row);
    }

    /// A round of looks at who acts begins.
    pub(super) fn nobody_acts(&mut self) {
        self.acting.clear();
    }

    pub(super) fn acts(&mut self, me: Option<String>, fence: i64, at: LocalTime) {
        let named = (me.unwrap_or_default(), fence);
        if self.valid.get(&named).is_none_or(|until| at >= *until) {
            self.is_wrong(format!(
                "{named:?} acts at {at:?}, and was valid until {:?}",
                self.valid.get(&named)
            ));
        }
        self.acting.insert(named);
        if self.is_bounded && self.acting.len() > 1 {
            self.is_wrong(format!("two act at once: {:?}", self.acting));
        }
    }

    /// What a user is told.
    pub(super) fn told(&mut self, who: usize, me: Option<String>, at: LocalTime, told: Told) {
        match told {
            Told::Granted(fence) => {
                let named = (me.unwrap_or_default(), fence.get());
                if self.courses.insert(named.clone(), Course::default()).is_some() {
                    self.is_wrong(format!("{named:?} begins twice"));
                }
                self.latest.insert(who, named);
            }
            Told::Lost(loss) => self.lost(who, at, loss),
            Told::Released => self.released(me),
        }
    }

    /// Of a grant that nobody wanted any more, only the contender is told.
    fn released(&mut self, me: Option<String>) {
        let stood = |row: &Found| row.is_released() && Some(&row.holder) == me.as_ref();
        if !self.rows.iter().flatten().any(stood) {
            self.is_wrong(format!("{me:?} was told that a tenure of his is released, and none ever was"));
        }
    }

    fn lost(&mut self, who: usize, at: LocalTime, loss: Loss) {
        let Some(named) = self.latest.get(&who).cloned() else {
            return self.is_wrong(format!("{loss:?} told of no tenure"));
        };
        if !self.is_true(&named, at, &loss) {
            self.is_wrong(format!("{named:?} was told {loss:?}, which is not true"));
        }
        self.courses.get_mut(&named).expect("it began").losses.push(loss);
    }

    fn is_true(&self, named: &Named, at: LocalTime, loss: &Loss) -> bool {
        let own = match self.shown.get(&named.0) {
            Some(Seen::Row(row)) if row.holder == named.0 && row.fence.get() == named.1 => Some(row),
            _ => None,
        };
        match loss {
            Loss::DeadlinePassed => self.valid.get(named).is_some_and(|until| at >= *until),
            Loss::Superseded { holder, fence } => {
                let stood = |row: &Found| row.holder == *holder && row.fence == fence.get();
                fence.get() > named.1 && self.rows.iter().flatten().any(stood)
            }
            Loss::Expired => own.is_some_and(|row| !row.is_released()),
            Loss::Released => own.is_some_and(|row| row.is_released()),
            _ => false,
        }
    }

    /// Its work has stopped, or its process is gone.
    pub(super) fn ends(&mut self, who: usize) {
        if let Some(course) = self.latest.get(&who).and_then(|named| self.courses.get_mut(named)) {
            course.ended |= course.losses.is_empty();
        }
    }

    /// Its work is dropped.
    pub(super) fn drops(&mut self, who: usize) {
        if let Some(course) = self.latest.get(&who).and_then(|named| self.courses.get_mut(named)) {
            course.dropped = true;
        }
    }

    fn is_wrong(&mut self, wrong: Wrong) {
        self.wrong.get_or_insert(wrong);
    }

    /// Whether all of it is as it should be. `counted`: how many losses the code has counted itself.
    pub(super) fn check(&self, counted: Option<u64>) -> Result<(), Wrong> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        for (named, course) in &self.courses {
            let is_lost = !course.ended && !self.acting.contains(named);
            let (told, right) = (course.losses.len(), usize::from(is_lost));
            if told != right && !(course.dropped && told == 0) {
                return Err(format!("{named:?} should be told of {right} losses: {course:?}"));
            }
        }
        let told: usize = self.courses.values().map(|course| course.losses.len()).sum();
        match counted {
            Some(counted) if counted != told as u64 => {
                Err(format!("{told} losses were told, and {counted} counted"))
            }
            _ => Ok(()),
        }
    }
}
