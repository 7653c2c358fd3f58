//! The thread that carries requests to the store.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use tenure::clock::Clock;
use tenure::protocol::{Action, Bound, LocalTime, Reply, Request, RequestId};
use tenure::store::{Answer, StoreError, StoreThread};
use tests::{SetClock, TABLE, TempDb, eventually, holder, lease, request, timing};

fn start(db: &TempDb, clock: &Arc<SetClock>) -> (StoreThread, Receiver<(RequestId, Answer)>) {
    let (say, answers) = channel();
    let thread = StoreThread::start(db.store(clock), Arc::clone(clock) as Arc<_>, move |id, answer| {
        say.send((id, answer)).unwrap();
    });
    (thread.unwrap(), answers)
}

fn next(answers: &Receiver<(RequestId, Answer)>) -> (RequestId, Answer) {
    eventually("an answer", || answers.try_recv().ok())
}

fn acquire(id: u64, lease_name: &str, give_up_at: LocalTime) -> Request {
    let holder = holder(1, &timing(10_000));
    let acquire = request(&lease(lease_name), &holder, Action::Acquire(Bound::Absent));
    Request { id: RequestId::new(id), give_up_at, ..acquire }
}

#[test]
fn a_busy_file_is_tried_again_until_it_is_free() {
    let db = TempDb::with(TABLE);
    let other = db.raw();
    let clock = SetClock::new();
    let (thread, answers) = start(&db, &clock);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread.send(acquire(7, "worker", LocalTime::from_millis(u64::MAX)));
    // Between two tries it sleeps, which moves this clock.
    let begin = clock.local();
    eventually("it tries again", || (clock.local() > begin.plus(10)).then_some(()));
    assert!(answers.try_recv().is_err());
    other.execute_batch("COMMIT").unwrap();
    let (id, answer) = next(&answers);
    assert_eq!(id, RequestId::new(7));
    assert!(matches!(answer, Ok(Reply::Granted(_))), "{answer:?}");
}

#[test]
fn a_busy_file_is_not_tried_for_longer_than_the_request_lasts() {
    let db = TempDb::with(TABLE);
    let other = db.raw();
    let clock = SetClock::new();
    let (thread, answers) = start(&db, &clock);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let give_up_at = clock.local().plus(500);
    thread.send(acquire(1, "worker", give_up_at));
    let (_, answer) = next(&answers);
    assert!(matches!(answer, Err(StoreError::Busy)), "{answer:?}");
    assert!(clock.local() >= give_up_at);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(db.row("worker"), None);
}

#[test]
fn a_request_that_nobody_waits_for_any_more_is_not_begun() {
    let db = TempDb::with(TABLE);
    let clock = SetClock::new();
    let (thread, answers) = start(&db, &clock);
    thread.send(acquire(1, "late", clock.local()));
    thread.send(acquire(2, "worker", clock.local().plus(1_000)));
    let (id, answer) = next(&answers);
    assert_eq!(id, RequestId::new(2));
    assert!(matches!(answer, Ok(Reply::Granted(_))), "{answer:?}");
    assert_eq!(db.row("late"), None);
}

#[test]
fn what_was_sent_before_the_thread_is_let_go_is_still_answered() {
    let db = TempDb::with(TABLE);
    let clock = SetClock::new();
    let (thread, answers) = start(&db, &clock);
    for id in 0..100 {
        thread.send(acquire(id, &format!("lease-{id}"), LocalTime::from_millis(u64::MAX)));
    }
    drop(thread);
    let answers: Vec<_> = answers.into_iter().collect();
    assert_eq!(answers.len(), 100);
    for (number, (id, answer)) in (0..).zip(answers) {
        assert_eq!(id, RequestId::new(number));
        assert!(matches!(answer, Ok(Reply::Granted(_))), "{answer:?}");
    }
}
