//! `tenure status`: who holds which lease.

use super::args::Status as Args;
use super::ask::{patiently, unusable};
use super::table::{cut, lines, safe, safe_json};
use super::{Exit, say};
use crate::clock::{Clock, SystemClock};
use crate::instance::utc;
use crate::protocol::{Fence, Form, Policy, Seen, WallTime};
use crate::store::{Entry, list};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Shows the leases. Messages come after them.
pub(super) fn status(args: &Args) -> Result<ExitCode, Exit> {
    let names = args.names.iter().cloned().collect();
    let entries = patiently(|| list(&args.db, &names)).map_err(unusable)?;
    let now = SystemClock.wall();
    print(&if args.json { json(&entries, now) } else { table(&entries, now) })?;
    if entries.is_empty() {
        say(format!("there are no leases in {}", args.db.display()));
    }
    entries.iter().filter_map(|entry| remark(entry, now)).for_each(say);
    Ok(ExitCode::SUCCESS)
}

fn state(entry: &Entry, now: WallTime) -> &'static str {
    match &entry.seen {
        Seen::Absent => "none",
        Seen::Unreadable(_) => "unreadable",
        Seen::Row(row) if row.is_released() => "released",
        Seen::Row(row) if row.expires_at > now => "held",
        Seen::Row(_) => "expired",
    }
}

/// What the table does not tell.
fn remark(entry: &Entry, now: WallTime) -> Option<String> {
    let lease = cut(&safe(&entry.lease));
    match &entry.seen {
        Seen::Unreadable(why) => Some(format!(
            "lease \"{lease}\" is unreadable and counts as held: {}; when nobody acts under it, correct the row by hand, \
             keep the fence, and set expires_at to 0",
            cut(why)
        )),
        Seen::Row(row) if state(entry, now) == "expired" => match Form::of(&row.holder) {
            Form::Tenure(Policy::Observed) | Form::Unknown => Some(format!(
                "lease \"{lease}\" has expired, but by its holder's form only a release makes it free: `tenure release`"
            )),
            Form::Tenure(Policy::WallClock) | Form::Foreign => None,
        },
        Seen::Row(_) | Seen::Absent => None,
    }
}

const COLUMNS: [&str; 6] = ["LEASE", "HOLDER", "FENCE", "STATE", "ACQUIRED", "EXPIRES"];

fn table(entries: &[Entry], now: WallTime) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(entries.iter().map(|entry| {
        let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
        let expires_at = entry.expires_at.filter(|at| *at != WallTime::RELEASED);
        [
            entry.lease.clone(),
            or_dash(entry.holder.clone()),
            or_dash(entry.fence.map(|fence| fence.to_string())),
            state(entry, now).into(),
            or_dash(entry.acquired_at.map(utc)),
            or_dash(expires_at.map(utc)),
        ]
    }));
    lines(&rows)
}

/// One lease a line; serde_json itself would sort the keys.
fn json(entries: &[Entry], now: WallTime) -> String {
    if entries.is_empty() {
        return "[]\n".into();
    }
    let objects = entries.iter().map(|entry| {
        let pairs = [
            ("lease", json!(entry.lease)),
            ("holder", json!(entry.holder)),
            ("fence", json!(entry.fence.map(Fence::get))),
            ("state", json!(state(entry, now))),
            ("acquired_at_ms", json!(entry.acquired_at.map(WallTime::as_unix_millis))),
            ("expires_at_ms", json!(entry.expires_at.map(WallTime::as_unix_millis))),
        ];
        format!("  {{{}}}", pairs.map(|(key, value)| format!("{key:?}: {value}")).join(", "))
    });
    safe_json(&format!("[\n{}\n]\n", objects.collect::<Vec<_>>().join(",\n")))
}

/// A reader that has seen enough, as `head` has, is no failure.
pub(super) fn print(text: &str) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Exit::new(Exit::REFUSED, format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}
