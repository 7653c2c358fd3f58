//! Async work, and a runtime that is starved.

use super::stage::{Fault, Stage, TTL_MS, VALIDITY_MS, eventually, look};
use crate::elector::{AcquireError, Elector, Held};
use crate::protocol::Loss;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn on_one_thread<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// SPEC.md R5: for 3 TTLs nothing else runs on this runtime, and the lease is renewed all the same.
#[test]
fn a_healthy_lease_is_kept_while_the_executor_is_blocked_for_3_ttls() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let fence = on_one_thread(elector.run("worker", async |held: Held, _| {
        stage.clock.settle(2);
        stage.pass(3 * TTL_MS, 2);
        assert_eq!(held.check(), Ok(held.fence()));
        held.fence().get()
    }));
    assert_eq!(fence.unwrap(), 1);
    assert_eq!(elector.counters().grants, 1);
    assert!(elector.counters().renewals >= 8);
}

/// SPEC.md R5.3: and where the store is dead, who is blocked knows by the clock, on time.
#[test]
fn a_dead_stores_lease_is_lost_on_time_while_the_executor_is_blocked() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let lost_in_time = on_one_thread(async {
        let held = elector.acquire("worker").await.unwrap();
        let mut lost = held.lost();
        stage.clock.settle(2);
        stage.faults.all(Fault::Fails);
        stage.pass(VALIDITY_MS - 46, 2);
        assert!(held.is_held());
        stage.clock.advance(46);
        let at_once = !held.is_held();
        stage.pass(3 * TTL_MS, 2);
        assert_eq!(look(&mut lost), Some(Loss::DeadlinePassed));
        at_once
    });
    assert!(lost_in_time);
}

/// What a runtime runs first when it runs again is not work whose time is over.
#[test]
fn work_whose_lease_was_lost_while_the_executor_was_blocked_is_not_polled_again() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let polls_after_loss = AtomicUsize::new(0);
    let runs = AtomicUsize::new(0);
    on_one_thread(async {
        let run = elector.run("worker", async |held: Held, _| {
            if runs.fetch_add(1, SeqCst) > 0 {
                return;
            }
            stage.clock.settle(2);
            stage.faults.all(Fault::Fails);
            stage.pass(3 * TTL_MS, 2);
            stage.faults.lift();
            // Back to the executor, as any `.await` may.
            tokio::task::yield_now().await;
            polls_after_loss.fetch_add(usize::from(!held.is_held()), SeqCst);
        });
        let time = async {
            while runs.load(SeqCst) < 2 {
                tokio::task::yield_now().await;
                stage.clock.advance(50);
            }
        };
        let (done, ()) = tokio::join!(run, time);
        done.unwrap();
    });
    assert_eq!(polls_after_loss.load(SeqCst), 0);
    assert_eq!(runs.load(SeqCst), 2);
}

/// The token first, when the grace begins; the drop when it is over, before the deadline.
#[test]
fn async_work_is_told_to_stop_then_dropped_before_the_deadline() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let told = CancellationToken::new();
    let dropped = Arc::new(AtomicBool::new(false));
    let elector = one.elector().clone();
    let mut run = elector_run(elector, told.clone(), Arc::clone(&dropped));
    assert!(look(&mut run).is_none());
    one.settle();
    assert!(look(&mut run).is_none());
    stage.faults.all(Fault::Fails);
    let at = |one: &mut super::stage::Hand, run: &mut crate::elector::Wait<_>, ms| {
        one.pass(ms);
        assert!(look(run).is_none());
        (told.is_cancelled(), dropped.load(SeqCst))
    };
    assert_eq!(at(&mut one, &mut run, VALIDITY_MS - 3_751), (false, false));
    assert_eq!(at(&mut one, &mut run, 1), (true, false), "the grace, a quarter of the TTL, begins");
    assert_eq!(at(&mut one, &mut run, 2_999), (true, false));
    assert_eq!(at(&mut one, &mut run, 1), (true, true), "a twentieth of the TTL before the deadline");
    // Nothing is released, and it contends again once the tenure is over.
    stage.faults.lift();
    one.pass(700);
    assert!(!stage.is_released("worker"));
    assert_eq!(stage.row("worker").unwrap().fence.get(), 1);
    one.pass(10_000);
    assert!(look(&mut run).is_none());
    one.pass(2_000);
    assert_eq!(stage.row("worker").unwrap().fence.get(), 2);
}

/// A runtime polls what was woken, and nothing else.
#[test]
fn a_runtime_is_woken_to_drop_work_that_is_overdue() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let (told, dropped) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let run = runtime.spawn(elector_run(elector.clone(), told.clone(), Arc::clone(&dropped)));
    eventually(|| (elector.counters().grants == 1).then_some(()));
    stage.clock.settle(2);
    stage.faults.all(Fault::Fails);
    stage.pass(VALIDITY_MS - 3_746, 2);
    eventually(|| told.is_cancelled().then_some(()));
    assert!(!dropped.load(SeqCst));
    stage.pass(3_000, 2);
    eventually(|| dropped.load(SeqCst).then_some(()));
    run.abort();
}

/// The keeper is late itself: the clock alone says that the work's time is over.
#[test]
fn work_is_not_polled_when_its_time_is_over_though_the_keeper_has_not_said_so() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let (elector, polls) = (one.elector().clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&polls);
    let clock: Arc<dyn crate::clock::Clock> = crate::clock::SetClock::new();
    let mut run = crate::elector::Wait::new(&clock, async move {
        let work = |_, _| {
            let counted = Arc::clone(&counted);
            std::future::poll_fn(move |_| {
                counted.fetch_add(1, SeqCst);
                std::task::Poll::<()>::Pending
            })
        };
        elector.run("worker", work).await
    });
    assert!(look(&mut run).is_none());
    one.settle();
    assert!(look(&mut run).is_none());
    stage.clock.advance(u32::try_from(VALIDITY_MS - 751).unwrap());
    assert!(look(&mut run).is_none());
    assert_eq!(polls.load(SeqCst), 2);
    stage.clock.advance(1);
    assert!(look(&mut run).is_none());
    assert_eq!(polls.load(SeqCst), 2);
}

/// The task was held up between the grant and the work.
#[test]
fn work_is_not_begun_when_it_would_be_told_to_stop_at_once() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let begun = Arc::new(AtomicUsize::new(0));
    let (elector, counted) = (one.elector().clone(), Arc::clone(&begun));
    let clock: Arc<dyn crate::clock::Clock> = crate::clock::SetClock::new();
    let mut run = crate::elector::Wait::new(&clock, async move {
        let work = |held: Held, _| {
            counted.fetch_add(1, SeqCst);
            async move { held.fence().get() }
        };
        elector.run("worker", work).await
    });
    assert!(look(&mut run).is_none());
    one.settle();
    stage.clock.advance(u32::try_from(VALIDITY_MS - 3_750).unwrap());
    assert!(look(&mut run).is_none());
    assert_eq!(begun.load(SeqCst), 0);
    one.pass(2_000);
    assert!(look(&mut run).is_none(), "its work is done, and the lease is being given back");
    one.settle();
    assert_eq!(look(&mut run).unwrap().unwrap(), 2);
    assert_eq!(begun.load(SeqCst), 1);
}

/// What the work has given its token to is told, however the work ends.
#[test]
fn the_token_is_cancelled_when_the_run_is_dropped() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let (elector, given) = (one.elector().clone(), Arc::new(std::sync::Mutex::new(None)));
    let (clock, keeps): (Arc<dyn crate::clock::Clock>, _) =
        (crate::clock::SetClock::new(), Arc::clone(&given));
    let mut run = crate::elector::Wait::new(&clock, async move {
        let work = |_, token: CancellationToken| {
            *keeps.lock().unwrap() = Some(token);
            pending::<()>()
        };
        elector.run("worker", work).await
    });
    assert!(look(&mut run).is_none());
    one.settle();
    assert!(look(&mut run).is_none());
    let token = given.lock().unwrap().take().unwrap();
    assert!(!token.is_cancelled());
    drop(run);
    assert!(token.is_cancelled());
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Work that never ends; it passes its first token's cancellation on, and says when it is dropped.
fn elector_run(
    elector: Elector,
    told: CancellationToken,
    dropped: Arc<AtomicBool>,
) -> crate::elector::Wait<Result<(), AcquireError>> {
    let clock: Arc<dyn crate::clock::Clock> = crate::clock::SetClock::new();
    crate::elector::Wait::new(&clock, async move {
        elector
            .run("worker", move |_, token: CancellationToken| {
                let (told, dropped) = (told.clone(), OnDrop(Arc::clone(&dropped)));
                async move {
                    let _dropped = dropped;
                    token.cancelled().await;
                    told.cancel();
                    pending().await
                }
            })
            .await
    })
}

/// SPEC.md R6.3.
#[test]
fn a_run_that_is_dropped_while_its_work_runs_gives_nothing_back() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let dropped = Arc::new(AtomicBool::new(false));
    let mut run = elector_run(one.elector().clone(), CancellationToken::new(), Arc::clone(&dropped));
    assert!(look(&mut run).is_none());
    one.settle();
    assert!(look(&mut run).is_none());
    let row = stage.row("worker").unwrap();
    drop(run);
    assert!(dropped.load(SeqCst));
    one.pass(60_000);
    assert_eq!(stage.row("worker"), Some(row), "neither renewed nor released");
}

#[test]
fn async_work_that_panics_gives_nothing_back() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let task = runtime.spawn({
        let elector = elector.clone();
        async move { elector.run("worker", async |_, _| panic!("the work panics, as the test wants")).await }
    });
    let panicked: Result<Result<(), _>, _> = runtime.block_on(task);
    assert!(panicked.unwrap_err().is_panic());
    stage.clock.settle(2);
    stage.pass(30_000, 2);
    assert!(stage.row("worker").is_some() && !stage.is_released("worker"));
}

#[test]
fn a_shutdown_cancels_the_token_and_drops_work_that_does_not_stop() {
    let stage = Stage::new();
    let mut one = stage.by_hand(1);
    let (told, dropped) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    let mut run = elector_run(one.elector().clone(), told.clone(), Arc::clone(&dropped));
    assert!(look(&mut run).is_none());
    one.settle();
    assert!(look(&mut run).is_none());
    let mut shutdown = one.elector().shutdown(Duration::from_secs(20));
    one.pass(19_999);
    assert!(look(&mut run).is_none());
    assert!(told.is_cancelled() && !dropped.load(SeqCst));
    one.pass(1);
    assert!(look(&mut run).is_none(), "the work is dropped, and it contends again");
    one.settle();
    assert!(matches!(look(&mut run), Some(Err(AcquireError::ShutDown))));
    assert!(dropped.load(SeqCst));
    assert!(look(&mut shutdown).unwrap().is_err());
    one.pass(60_000);
    assert!(!stage.is_released("worker"));
}

/// A program without tokio's runtime, too, awaits a lease; and `run`'s future may go to another thread.
#[test]
fn a_run_can_be_spawned() {
    let stage = Stage::new();
    let elector = stage.with_threads();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..5)
        .map(|number| {
            let elector = elector.clone();
            runtime.spawn(async move {
                elector.run(&format!("lease-{number}"), async |held: Held, _token| held.fence().get()).await
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(runtime.block_on(task).unwrap().unwrap(), 1);
    }
    eventually(|| (elector.counters().releases == 5).then_some(()));
}
