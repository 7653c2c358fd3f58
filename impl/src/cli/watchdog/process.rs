//! The watchdog's own process: it knows a group and a moment, and has little that can go wrong.

use crate::clock::{Clock, SystemClock};
use crate::protocol::LocalTime;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, RawPid, Signal, kill_process_group};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The first word of our own program that makes it this one.
pub(in crate::cli) const WORD: &str = "--watch-job";

/// How long it sleeps at most: timers stand still while the machine is suspended, the clock does not.
const SLICE: Duration = Duration::from_millis(250);

/// What it is told, a line each: whom to kill, when, and to leave it.
pub(super) fn group(group: Pid) -> String {
    format!("group {}\n", group.as_raw_nonzero())
}

pub(super) fn kill_at(moment: LocalTime) -> String {
    format!("at {}\n", moment.as_millis())
}

pub(super) const OFF: &str = "off\n";

#[derive(Debug, Default, PartialEq, Eq)]
struct Orders {
    group: Option<Pid>,
    kill_at: Option<LocalTime>,
    off: bool,
    /// The beginning of a line whose end has not come.
    rest: String,
}

impl Orders {
    fn take_in(&mut self, text: &str) {
        self.rest.push_str(text);
        while let Some((line, rest)) = self.rest.split_once('\n') {
            match line.split_once(' ') {
                Some(("group", number)) => {
                    self.group = number.parse::<RawPid>().ok().and_then(Pid::from_raw);
                }
                Some(("at", ms)) => self.kill_at = ms.parse().ok().map(LocalTime::from_millis),
                Some(_) => {}
                None => self.off |= format!("{line}\n") == OFF,
            }
            self.rest = rest.to_owned();
        }
    }
}

/// The exit code of one that has killed.
pub(super) const HAS_KILLED: u8 = 1;

/// Kills the group when the pipe is closed, as by the death of who holds its other end, or when its moment has come.
pub(in crate::cli) fn main() -> ExitCode {
    swallow_signals();
    let mut orders = Orders::default();
    loop {
        let left = orders.kill_at.map_or(SLICE, |at| SystemClock.local().until(at).min(SLICE));
        let mut heard = hear(&mut orders, left);
        // All that has come is heard before the clock is looked at: it may call off what has come due since.
        while heard == Heard::Orders {
            heard = hear(&mut orders, Duration::ZERO);
        }
        if orders.off {
            return ExitCode::SUCCESS;
        }
        if heard == Heard::End || orders.kill_at.is_some_and(|at| SystemClock.local() >= at) {
            let killed = orders.group.map(|group| kill_process_group(group, Signal::KILL));
            return killed.map_or(ExitCode::SUCCESS, |_| ExitCode::from(HAS_KILLED));
        }
    }
}

/// Whoever signals a watchdog by mistake would leave a job unwatched for a moment.
fn swallow_signals() {
    let signals = [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2];
    for signal in signals {
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Nothing,
    Orders,
    /// No orders will come any more.
    End,
}

/// Waits for orders, at most for that time.
fn hear(orders: &mut Orders, time: Duration) -> Heard {
    let stdin = std::io::stdin();
    let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
        Ok(0) | Err(Errno::INTR) => return Heard::Nothing,
        Ok(_) => {}
        Err(_) => return Heard::End,
    }
    let mut bytes = [0; 512];
    match rustix::io::read(stdin.as_fd(), &mut bytes) {
        Ok(0) => Heard::End,
        Ok(length) => {
            orders.take_in(&String::from_utf8_lossy(&bytes[..length]));
            Heard::Orders
        }
        Err(Errno::INTR | Errno::AGAIN) => Heard::Nothing,
        Err(_) => Heard::End,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written_however_they_are_cut() {
        let pid = Pid::from_raw(4_711).unwrap();
        let text = format!(
            "{}{}{}",
            group(pid),
            kill_at(LocalTime::from_millis(99)),
            kill_at(LocalTime::from_millis(100))
        );
        for cut in 0..=text.len() {
            let mut orders = Orders::default();
            orders.take_in(&text[..cut]);
            orders.take_in(&text[cut..]);
            let expected = Orders {
                group: Some(pid),
                kill_at: Some(LocalTime::from_millis(100)),
                off: false,
                rest: String::new(),
            };
            assert_eq!(orders, expected, "{cut}");
            orders.take_in(OFF);
            assert!(orders.off);
        }
    }
}
