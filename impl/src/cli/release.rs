//! `tenure release`: a person ends a tenure that is somebody else's.

use super::args::Release as Args;
use super::ask::{patiently, unusable};
use super::table::{cut, safe};
use super::{Exit, say};
use crate::clock::{Clock, SystemClock};
use crate::instance::utc;
use crate::protocol::{Form, Row};
use crate::store::{ByHandError, Release, StoreError, release as release_row};
use std::process::ExitCode;

/// Releases the lease, and says what it did.
pub(super) fn release(args: &Args) -> Result<ExitCode, Exit> {
    let lease = args.name.as_str();
    let outcome =
        patiently(|| release_row(&args.db, &args.name, args.fence)).map_err(|error| match error {
            ByHandError::Store(StoreError::Sqlite(_) | StoreError::Moved { .. }) => unusable(format!(
                "{error}; whether lease {lease:?} was released is not known: see `tenure status`"
            )),
            error => unusable(error),
        })?;
    match outcome {
        Release::Done(row) => {
            say(format!("released lease {lease:?}: {}", told(&row)));
            say(warning(&row));
        }
        Release::WasReleased(row) => say(format!("lease {lease:?} is already released: {}", told(&row))),
        Release::OtherFence(row) => {
            return Err(refused(format!(
                "lease {lease:?} is another tenure's, nothing is changed: {}",
                told(&row)
            )));
        }
        Release::Unreadable(why) => {
            return Err(refused(format!(
                "lease {lease:?} is unreadable, nothing is changed: {}; when nobody acts under it, correct the row by \
                 hand, keep the fence, and set expires_at to 0",
                cut(&why)
            )));
        }
        Release::Absent => {
            return Err(refused(format!("there is no lease {lease:?} in {}", args.db.display())));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn refused(why: String) -> Exit {
    Exit::new(Exit::REFUSED, why)
}

fn told(row: &Row) -> String {
    format!("fence {}, holder {}", row.fence, cut(&safe(&row.holder)))
}

/// Until when the holder may go on, if it is still alive (SPEC.md R3, R5).
fn warning(row: &Row) -> String {
    let until = utc(row.expires_at);
    let may_go_on = if row.expires_at <= SystemClock.wall() {
        format!("it had expired at {until}")
    } else {
        format!(
            "a holder that is still alive may go on until its next renewal is refused, at most until {until}"
        )
    };
    let by_itself = match Form::of(&row.holder) {
        Form::Tenure(_) => "a holder of Tenure stops by itself before that",
        Form::Foreign => "its holder is another system's, and is to stop by then",
        Form::Unknown => "its holder is of a form that this version does not know",
    };
    format!("{may_go_on}; {by_itself}")
}
