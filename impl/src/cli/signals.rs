//! Signals that are the job's.

use super::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// While there is no job, these three change nothing; the others end us, as they end any program.
pub(super) fn ignore() -> Result<(), Exit> {
    for signal in [SIGQUIT, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(broken)?;
    }
    Ok(())
}

/// From now on these signals go where `send` takes them, and change nothing else. Ctrl-Z is caught and does
/// nothing: it would stop us, and leave the job running with nobody to renew its lease or to kill it.
pub(super) fn forward(send: impl Fn(i32) + Send + 'static) -> Result<(), Exit> {
    let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP];
    let mut signals = Signals::new(caught).map_err(broken)?;
    #[expect(clippy::disallowed_methods, reason = "the thread that waits for signals")]
    std::thread::Builder::new()
        .name("tenure-signals".into())
        .spawn(move || signals.forever().filter(|signal| *signal != SIGTSTP).for_each(send))
        .map_err(broken)?;
    Ok(())
}

fn broken(error: std::io::Error) -> Exit {
    Exit::new(Exit::STORE, format!("signals cannot be handled: {error}"))
}
