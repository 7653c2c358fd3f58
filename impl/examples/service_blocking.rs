//! A service of which several instances run on one SQLite file. It has five workers, and each of them runs on exactly
//! one instance. Without any runtime: each worker has a thread.
//!
//! Run it in two terminals, then press Ctrl-C in one of them: the other goes on with its workers at once.
//!
//! ```sh
//! cargo run --example service_blocking -- /tmp/service.db a
//! cargo run --example service_blocking -- /tmp/service.db b
//! ```
//!
//! `service.rs` is the same on tokio; the two may share a file. What the workers do is in `workers/mod.rs`.
#![expect(clippy::disallowed_methods, reason = "a service has threads, and waits")]

mod workers;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use tenure::{AcquireError, Elector, Held};
use workers::{Outcome, Worker};

/// For how long the workers of an instance that dies, without giving anything back, run nowhere. Short, to be watched.
const TTL: Duration = Duration::from_secs(3);
/// How long the workers may take to stop at the end.
const GRACE: Duration = Duration::from_secs(2);
const BETWEEN_ACTS: Duration = Duration::from_millis(300);
const BETWEEN_HEALTH_LINES: Duration = Duration::from_secs(2);

/// Why the service is to end: a signal, or a worker that ended by itself, which none does unless something is wrong.
type End = Result<(), AcquireError>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, label] = arguments.as_slice() else {
        eprintln!("usage: service_blocking FILE LABEL");
        return Ok(ExitCode::from(2));
    };
    let (ends, end) = channel();
    catch_signals(ends.clone())?;
    let elector = Elector::builder(file).ttl(TTL).label(label).build()?;
    let workers = workers::open(file, label)?;

    let (served, shut_down) = thread::scope(|threads| {
        for worker in &workers {
            let (ends, elector) = (ends.clone(), &elector);
            threads.spawn(move || ends.send(contend(elector, worker)));
        }
        let served = serve(&elector, label, &end);
        // The workers are told to stop, and as each of them does, its lease is given back.
        (served, elector.shutdown(GRACE).wait())
    });
    workers::summarize(&elector, label);
    served?;
    shut_down?;
    Ok(ExitCode::SUCCESS)
}

/// From now on Ctrl-C and SIGTERM end the service.
fn catch_signals(ends: Sender<End>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || signals.forever().try_for_each(|_| ends.send(Ok(()))));
    Ok(())
}

/// Tells how the elector is, now and then, until the service is to end.
fn serve(elector: &Elector, label: &str, end: &Receiver<End>) -> End {
    loop {
        let health = elector.health();
        println!("{label}: {} ({health:?})", if health.is_well() { "well" } else { "unwell" });
        if let Ok(end) = end.recv_timeout(BETWEEN_HEALTH_LINES) {
            return end;
        }
    }
}

/// Runs a worker whenever its lease is ours, until the elector is shut down.
fn contend(elector: &Elector, worker: &Worker) -> End {
    loop {
        match elector.run_blocking(worker.name, |held| work(worker, held)) {
            // It was refused, or the elector is shut down: then the next call says so.
            Ok(()) => {}
            Err(AcquireError::ShutDown) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// A worker's work while its lease is held. Nobody stops a thread from outside: it looks itself.
fn work(worker: &Worker, held: &Held) {
    let _shift = worker.begins(held);
    while !held.should_stop() {
        match worker.act(held) {
            Ok(Outcome::Done) => {}
            Ok(outcome @ (Outcome::NotHeld | Outcome::Refused)) => {
                eprintln!("{}: {} must not act any more: {outcome:?}", worker.instance, worker.name);
                break;
            }
            // Nothing was done, and the lease is another matter: next time the file may be less busy.
            Err(error) => eprintln!("{}: {} could not act: {error}", worker.instance, worker.name),
        }
        // A pause, cut short when it is time to stop.
        held.stopping().wait_for(BETWEEN_ACTS);
    }
}
