//! Signals, caught from the beginning to the end.

use super::Exit;
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

/// Told to whoever runs the job, or waits to.
const TOLD: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGQUIT, SIGUSR1, SIGUSR2];

/// Told as well at a terminal: a shell stops us, and has us go on.
const TOLD_AT_A_TERMINAL: [i32; 2] = [SIGTSTP, SIGCONT];

/// Caught, and nothing more: each of them would stop or end us, and leave the job running with nobody to renew its
/// lease or to kill it. (Of SIGCHLD only the default may stand: if it is ignored, no child can be waited for.)
const SWALLOWED: [i32; 9] = [SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGCHLD];

/// Whether this signal ends a contender that still waits for its lease.
pub(super) fn ends_waiting(signal: i32) -> bool {
    [SIGINT, SIGTERM, SIGHUP, SIGALRM].contains(&signal)
}

/// Whether this signal ends programs that do not handle it otherwise, and is sent to have them end.
pub(super) fn ends(signal: i32) -> bool {
    signal == SIGQUIT || ends_waiting(signal)
}

/// From now on `tell` is called with each signal, on a thread of its own. Signals that were ignored when we were
/// started, as `nohup` has it, stay so, for us and for the job.
pub(super) fn watch(at_terminal: bool, mut tell: impl FnMut(i32) + Send + 'static) -> Result<(), Exit> {
    let broken = |error| Exit::new(Exit::STORE, format!("signals cannot be handled: {error}"));
    let ignored = ignored();
    let kept = |signal: &i32| *signal == SIGCHLD || ignored & (1 << (signal - 1)) == 0;
    let mut told = TOLD.to_vec();
    told.extend(TOLD_AT_A_TERMINAL.into_iter().filter(|_| at_terminal));
    let mut signals = Signals::new(told.clone().into_iter().chain(SWALLOWED).filter(kept)).map_err(broken)?;
    #[expect(clippy::disallowed_methods, reason = "the thread that waits for signals")]
    std::thread::Builder::new()
        .name("tenure-signals".into())
        .spawn(move || signals.forever().filter(|signal| told.contains(signal)).for_each(&mut tell))
        .map_err(broken)?;
    Ok(())
}

/// The signals that are ignored, as a set of bits. Where the system does not tell, none.
#[expect(clippy::disallowed_methods, reason = "the system tells it in a file")]
fn ignored() -> u64 {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}
