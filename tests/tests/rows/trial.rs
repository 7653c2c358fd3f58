//! A case on a real file: the row is put, the shipped store is asked, and what it answers and leaves is held against what
//! the model says.

use super::reach::Case;
use super::real::{Columns, Real};
use model::state::{Expiry, Reply, Row};
use model::store::{carry_out, takeable};
use std::collections::{BTreeMap, HashMap};
use tenure::protocol::{self, Action, End, Event, Request, Seen};
use tenure::store::Answer;
use tests::{SetClock, TempDb, lease, request};

/// The columns of a row as they are: the type of each, and the number, or the bytes in hexadecimal.
type Stored = [String; 4];

/// One row, and one request.
struct Trial {
    real: Real,
    put: Option<Columns>,
    request: Request,
}

/// Tries all cases in one file, and tells how many rows those were, and what came out otherwise than in the model.
pub(super) fn try_all(db: &TempDb, typed: bool, cases: &[Case]) -> (usize, Vec<String>) {
    // Each its own lease, so that what touches another's row shows there.
    let trials = (0..).zip(cases.iter().flat_map(|case| trials(*case, typed)));
    let trials: Vec<Trial> = trials.map(|(number, trial)| trial.named(number)).collect();
    put(db, &trials);
    let before = stored(db);
    let answers = answers(db, &trials);
    let after = stored(db);
    let wrong = answers.into_iter().filter_map(|(trial, answer)| {
        let name = trial.request.lease.as_str();
        trial.judge(before.get(name), after.get(name), &answer).err()
    });
    (trials.len(), wrong.collect())
}

/// Of the shipped store. Whoever goes by one wall clock asks at once: the store is made for batches.
fn answers<'a>(db: &TempDb, trials: &'a [Trial]) -> Vec<(&'a Trial, Answer)> {
    let clock = SetClock::new();
    let mut store = db.store(&clock);
    let mut by_wall = BTreeMap::<i64, Vec<&Trial>>::new();
    trials.iter().for_each(|trial| by_wall.entry(trial.real.wall()).or_default().push(trial));
    let answered = by_wall.into_iter().flat_map(|(wall, trials)| {
        clock.set_wall(wall);
        let requests: Vec<Request> = trials.iter().map(|trial| trial.request.clone()).collect();
        let mut answers = store.execute(&requests);
        if answers.iter().any(Result::is_err) {
            // One of them has failed, and so all: now each alone, to see which.
            answers = requests.chunks(1).flat_map(|one| store.execute(one)).collect();
        }
        trials.into_iter().zip(answers)
    });
    answered.collect()
}

/// Each row that the case's may be, and each request.
fn trials(case: Case, typed: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for real in Real::all(case) {
        let rows = case.asked.row.map(|row| real.rows(row, typed).into_iter().map(Some).collect());
        for put in rows.unwrap_or_else(|| vec![None]) {
            for action in real.actions() {
                let request = request(&lease("worker"), &real.me, action);
                trials.push(Trial { real: real.clone(), put: put.clone(), request });
            }
        }
    }
    trials
}

/// By a connection of the test's own.
fn put(db: &TempDb, trials: &[Trial]) {
    let rows = trials.iter().filter_map(|Trial { put, request, .. }| {
        Some(format!("('{}', {})", request.lease.as_str(), put.as_ref()?.join(", ")))
    });
    db.execute(&format!("INSERT INTO instance_leases VALUES {}", rows.collect::<Vec<_>>().join(",\n")));
}

fn stored(db: &TempDb) -> HashMap<String, Stored> {
    let columns = ["holder_id", "fence", "acquired_at", "expires_at"].map(|column| {
        format!("typeof({column}) || ' ' || iif(typeof({column}) = 'integer', {column}, hex({column}))")
    });
    let sql = format!("SELECT lease_name, {} FROM instance_leases", columns.join(", "));
    let connection = db.raw();
    let mut query = connection.prepare(&sql).unwrap();
    let rows =
        query.query_map([], |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])));
    rows.unwrap().map(Result::unwrap).collect()
}

fn text(text: &str) -> String {
    text.bytes().fold("text ".to_owned(), |hex, byte| format!("{hex}{byte:02X}"))
}

fn integer(column: &str) -> Option<i64> {
    column.strip_prefix("integer ")?.parse().ok()
}

impl Trial {
    fn named(mut self, number: usize) -> Trial {
        self.request.lease = lease(&format!("lease-{number}"));
        self
    }

    /// What differs, if anything does, in the model's words and in the real ones.
    fn judge(&self, before: Option<&Stored>, after: Option<&Stored>, answer: &Answer) -> Result<(), String> {
        let expected = self.expected();
        let found = match self.real.case.asked.request {
            None => self.read(before, after, answer).map(told_free),
            Some(_) => self.write(before, after, answer).map(|(row, reply)| told(row, reply)),
        };
        if found.as_ref() == Ok(&expected) {
            return Ok(());
        }
        let (found, wall) = (found.unwrap_or_else(|why| why), self.real.wall());
        let (asked, put, action) = (self.real.case.told(), &self.put, &self.request.action);
        Err(format!(
            "{asked}\n  the model: {expected}\n  SQLite: {found}\n  of {put:?}, at {wall}: {action:?}\n  \
             from {before:?}\n  to {after:?}, answered {answer:?}"
        ))
    }

    /// What the model says of it. In the first form nobody has watched a row.
    fn expected(&self) -> String {
        let Case { config, asked } = &self.real.case;
        let takeable = |row| takeable(config, row, asked.by, false);
        match asked.request {
            None => told_free(asked.row.is_none_or(takeable)),
            Some(request) => {
                let (row, reply) = carry_out(config, asked.row, request, asked.by);
                told(row, reply)
            }
        }
    }

    /// Whether the shipped contender would take what it has read: it asks for it, or knows that no fence is left.
    fn read(&self, before: Option<&Stored>, after: Option<&Stored>, answer: &Answer) -> Result<bool, String> {
        let Ok(protocol::Reply::Seen { seen, wall }) = answer else { return Err("no answer".into()) };
        if before != after || !self.shows(seen, before) || wall.as_unix_millis() != self.real.wall() {
            return Err("another row, or another time".into());
        }
        let then = self.real.after_reading(seen.clone());
        let asks = then.request.is_some_and(|request| matches!(request.action, Action::Acquire(_)));
        Ok(asks || then.events.contains(&Event::Ended(End::FencesExhausted)))
    }

    /// What is there now, and the reply, in the model's terms.
    fn write(
        &self,
        before: Option<&Stored>,
        after: Option<&Stored>,
        answer: &Answer,
    ) -> Result<(Option<Row>, Reply), String> {
        let reply = self.reply(answer, after).ok_or("no such answer")?;
        self.kept(before, after, reply)?;
        let row = match after {
            _ if before == after => self.real.case.asked.row,
            None => None,
            Some(after) => Some(self.row(before, after, reply).ok_or("no such row")?),
        };
        Ok((row, reply))
    }

    /// A refusal shows what is there; in the model it is only that.
    fn reply(&self, answer: &Answer, after: Option<&Stored>) -> Option<Reply> {
        match answer {
            Ok(protocol::Reply::Granted(fence)) => Some(Reply::Granted(self.real.rank(fence.get())?)),
            Ok(protocol::Reply::Renewed) => Some(Reply::Renewed),
            Ok(protocol::Reply::Released) => Some(Reply::Released),
            Ok(protocol::Reply::Refused(seen)) => self.shows(seen, after).then_some(Reply::Refused),
            Ok(protocol::Reply::Seen { .. } | protocol::Reply::Failed) | Err(_) => None,
        }
    }

    /// Whether this is what is there.
    fn shows(&self, seen: &Seen, there: Option<&Stored>) -> bool {
        let unreadable = self.real.case.asked.row.is_some_and(|row| row.expiry == Expiry::Unreadable);
        match (seen, there) {
            (Seen::Absent, None) => true,
            (Seen::Unreadable(_), Some(_)) => unreadable,
            (Seen::Row(row), Some(there)) => {
                let numbers =
                    [row.fence.get(), row.acquired_at.as_unix_millis(), row.expires_at.as_unix_millis()];
                let [fence, acquired_at, expires_at] = numbers.map(|number| format!("integer {number}"));
                !unreadable && *there == [text(&row.holder), fence, acquired_at, expires_at]
            }
            _ => false,
        }
    }

    /// Nothing but what the reply says has changed; and a renewal has changed something.
    fn kept(&self, before: Option<&Stored>, after: Option<&Stored>, reply: Reply) -> Result<(), String> {
        let same = |columns: &[usize]| {
            columns.iter().all(|i| before.map(|row| &row[*i]) == after.map(|row| &row[*i]))
        };
        let at = |row: Option<&Stored>, column: usize| row.and_then(|row| integer(&row[column]));
        let kept = match reply {
            Reply::Refused => before == after,
            Reply::Released => same(&[0, 1, 2]),
            Reply::Renewed => same(&[0, 1, 2]) && at(before, 3) < at(after, 3),
            Reply::Granted(_) => at(after, 2) == Some(self.real.wall()),
        };
        if kept { Ok(()) } else { Err(format!("{reply}, and a column is not as it should be")) }
    }

    fn row(&self, before: Option<&Stored>, after: &Stored, reply: Reply) -> Option<Row> {
        let [holder, fence, _, expires_at] = after;
        let asked = self.real.case.asked;
        let known = std::iter::once(asked.by.holder).chain(asked.row.map(|row| row.holder));
        let renewed = before.filter(|_| reply == Reply::Renewed).and_then(|row| integer(&row[3]));
        Some(Row {
            holder: { known }.find(|known| text(&self.real.id(*known)) == *holder)?,
            fence: self.real.rank(integer(fence)?)?,
            expiry: self.real.expiry(integer(expires_at)?, renewed)?,
        })
    }
}

fn told(row: Option<Row>, reply: Reply) -> String {
    format!("{reply}; then {}", row.map_or("no row".to_owned(), |row| row.to_string()))
}

fn told_free(free: bool) -> String {
    (if free { "free" } else { "held" }).to_owned()
}
