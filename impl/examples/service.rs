//! A service of which several instances run on one SQLite file. It has five workers, and each of them runs on exactly
//! one instance.
//!
//! Run it in two terminals, then press Ctrl-C in one of them: the other goes on with its workers at once.
//!
//! ```sh
//! cargo run --example service --features tokio -- /tmp/service.db a
//! cargo run --example service --features tokio -- /tmp/service.db b
//! ```
//!
//! `service_blocking.rs` is the same without a runtime. What the workers do is in `workers/mod.rs`.

mod workers;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use tenure::{AcquireError, Elector, Held};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;
use workers::{Outcome, Worker};

/// For how long the workers of an instance that dies, without giving anything back, run nowhere. Short, to be watched.
const TTL: Duration = Duration::from_secs(3);
/// How long the workers may take to stop at the end.
const GRACE: Duration = Duration::from_secs(2);
const BETWEEN_ACTS: Duration = Duration::from_millis(300);
const BETWEEN_HEALTH_LINES: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, label] = arguments.as_slice() else {
        eprintln!("usage: service FILE LABEL");
        return Ok(ExitCode::from(2));
    };
    // Before the elector is built: it tells of each change of custody, and why a lease was lost.
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).with_target(false).init();
    let told_to_end = told_to_end()?;
    let elector = block_in_place(|| Elector::builder(file).ttl(TTL).label(label).build())?;
    let workers = block_in_place(|| workers::open(file, label))?;

    let mut tasks = JoinSet::new();
    for worker in workers {
        tasks.spawn(contend(elector.clone(), worker));
    }
    let served = tokio::select! {
        () = told_to_end => Ok(()),
        ended = ended_by_itself(&mut tasks) => ended,
        () = tell_health(&elector, label) => Ok(()),
    };

    // The workers are told to stop, and as each of them does, its lease is given back.
    let shut_down = elector.shutdown(GRACE).await;
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    workers::summarize(&elector, label);
    served?;
    shut_down?;
    Ok(ExitCode::SUCCESS)
}

/// Comes with Ctrl-C or SIGTERM, which are caught from this call on.
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Comes when a worker has ended, which none does by itself unless something is wrong.
async fn ended_by_itself(tasks: &mut JoinSet<Result<(), AcquireError>>) -> Result<(), Box<dyn Error>> {
    match tasks.join_next().await {
        Some(ended) => Ok(ended??),
        None => Ok(()),
    }
}

/// Runs a worker whenever its lease is ours, until the elector is shut down.
async fn contend(elector: Elector, worker: Worker) -> Result<(), AcquireError> {
    loop {
        match elector.run(worker.name, async |held, token| work(&worker, held, token).await).await {
            // It was refused, or the elector is shut down: then the next call says so.
            Ok(()) => {}
            Err(AcquireError::ShutDown) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// A worker's work while its lease is held. If it outlasts its grace, it is dropped where it awaits.
async fn work(worker: &Worker, held: Held, token: CancellationToken) {
    let _shift = worker.begins(&held);
    while !token.is_cancelled() && held.is_held() {
        // SQLite blocks, so the runtime is told. (With `spawn_blocking` an act could go on after the work was dropped.)
        match block_in_place(|| worker.act(&held)) {
            Ok(Outcome::Done) => {}
            Ok(outcome @ (Outcome::NotHeld | Outcome::Refused)) => {
                eprintln!("{}: {} must not act any more: {outcome:?}", worker.instance, worker.name);
                break;
            }
            // Nothing was done, and the lease is another matter: next time the file may be less busy.
            Err(error) => eprintln!("{}: {} could not act: {error}", worker.instance, worker.name),
        }
        // A pause, cut short when it is time to stop.
        let _ = timeout(BETWEEN_ACTS, token.cancelled()).await;
    }
}

async fn tell_health(elector: &Elector, label: &str) {
    let mut times = interval(BETWEEN_HEALTH_LINES);
    loop {
        times.tick().await;
        let health = elector.health();
        println!("{label}: {} ({health:?})", if health.is_well() { "well" } else { "unwell" });
    }
}
