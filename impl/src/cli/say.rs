//! What people are told, by a thread of its own: a standard error that nobody reads, as of a stopped pager, must not
//! keep the guard of a job from its work.

use super::table::safe;
use super::terminal::Unstopped;
use crate::clock::{Bell, Clock, SystemClock};
use std::fmt::Display;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

/// How many messages may wait to be written; more are dropped.
const QUEUE: usize = 64;

/// How long the last messages are waited for, when the command ends.
const LAST_WORDS_MS: u64 = 500;

/// A message is cut to so many characters, before escaping: a holder id that somebody else wrote may be longer.
const LENGTH_MAX: usize = 600;

enum Said {
    Line(String),
    /// To be rung when all that came before this is written.
    Last(Arc<Bell>),
}

/// `None` if there can be no thread.
static VOICE: OnceLock<Option<SyncSender<Said>>> = OnceLock::new();

/// Tells people, at once or a little later. What could steer a terminal, and could come from a row or a record, is escaped.
pub(super) fn say(message: impl Display) {
    let message = printable(&message.to_string());
    match VOICE.get_or_init(start) {
        Some(voice) => drop(voice.try_send(Said::Line(message))),
        // There can be no thread, and so no job either that would have to wait.
        None => write_line(&message),
    }
}

/// A standard error that is closed is no reason to fail.
fn write_line(message: &str) {
    let _ = writeln!(std::io::stderr(), "tenure: {message}");
}

fn printable(message: &str) -> String {
    safe(&message.chars().take(LENGTH_MAX).collect::<String>())
}

/// Waits, but not for long, until all that was said is written.
pub(super) fn finish() {
    let written = Bell::new();
    if let Some(voice) = VOICE.get().and_then(Option::as_ref)
        && voice.try_send(Said::Last(Arc::clone(&written))).is_ok()
    {
        SystemClock.wait(&written, Some(SystemClock.local().plus(LAST_WORDS_MS)));
    }
}

fn start() -> Option<SyncSender<Said>> {
    let (voice, said) = sync_channel(QUEUE);
    #[expect(clippy::disallowed_methods, reason = "the thread that writes to standard error")]
    let thread = std::thread::Builder::new().name("tenure-say".into()).spawn(move || write(&said));
    thread.ok().map(|_| voice)
}

fn write(said: &Receiver<Said>) {
    // Nor is a terminal that is the job's, and told to stop others who write to it (`stty tostop`).
    let _unstopped = Unstopped::new();
    for said in said {
        match said {
            Said::Line(line) => write_line(&line),
            Said::Last(written) => written.ring(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_says_cannot_steer_a_terminal() {
        assert_eq!(printable("web\u{1b}[2J\nü\u{202e}"), "web\\u{1b}[2J\\nü\\u{202e}");
        assert_eq!(printable(&"\u{1b}".repeat(LENGTH_MAX + 1)), "\\u{1b}".repeat(LENGTH_MAX));
    }
}
