//! `tenure instance`: runs a job unless another instance is seen to run.

use super::args::Instance as Args;
use super::inbox::{Happening, Inbox};
use super::permit::Announced;
use super::run::ended_by;
use super::terminal::Terminal;
use super::work::{Outcome, Work};
use super::{Exit, signals};
use crate::instance::{Claim, ClaimError, FileRecords, Guard, Options};
use crate::keeper::Witness;
use signal_hook::consts::SIGTSTP;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Claims, and runs the job. The exit code, or why it came to nothing.
pub(super) fn run(args: &Args, terminal: Option<Terminal>) -> Result<ExitCode, Exit> {
    let records = FileRecords::new(&args.record);
    let record = records.path().to_owned();
    let usage = |error: &dyn std::fmt::Display| Exit::new(Exit::USAGE, error);
    let options = Options { ttl: args.ttl, ..Options::default() };
    let guard = Guard::new(records, options).map_err(|error| usage(&error))?;
    let timing = args.timing().map_err(|error| usage(&error))?;
    let inbox = Inbox::new();
    let happenings = Arc::clone(&inbox);
    signals::watch(terminal.is_some(), move |signal| happenings.push(Happening::Signal(signal)))?;
    let what = format!("the claim on {:?}", record.display().to_string());
    let mut work = Work::new(&args.job, what, timing, terminal, &inbox);
    let claim = claim(&guard, &record, &inbox, &mut work)?;
    match work.run(Announced { claim, record: &record })? {
        Outcome::Ended(code) => Ok(code),
        Outcome::Lost { .. } => Ok(ExitCode::from(Exit::LOST)),
    }
}

/// Waits for the claim; a signal that ends programs ends that.
fn claim(guard: &Guard, record: &Path, inbox: &Arc<Inbox>, work: &mut Work<'_>) -> Result<Claim, Exit> {
    let witness: Arc<dyn Witness> = Arc::<Inbox>::clone(inbox);
    let claim = guard.begin(Some(witness)).map_err(|error| refused(record, &error))?;
    let mut outcome = claim.outcome();
    let exit = loop {
        if inbox.is_empty()
            && let Some(outcome) = inbox.look(&mut outcome)
        {
            match outcome {
                Ok(()) => return Ok(claim.stands()),
                Err(error) => break refused(record, &error),
            }
        }
        match inbox.wait(None) {
            Some(Happening::Signal(signal)) if signals::ends_waiting(signal) => break ended_by(signal),
            Some(Happening::Met(obstacle)) => work.meet(obstacle),
            Some(Happening::Signal(SIGTSTP)) => {
                let _ = work.terminal.as_ref().map(Terminal::stop);
            }
            Some(_) | None => {}
        }
    };
    // What was written is removed; or it is said that it is left.
    work.let_go(Announced { claim, record });
    Err(exit)
}

fn refused(record: &Path, error: &ClaimError) -> Exit {
    let code = match error {
        ClaimError::AnotherInstance { .. } | ClaimError::Unreadable(_) => Exit::HELD,
        ClaimError::NotWritten(_)
        | ClaimError::NoAnswer
        | ClaimError::NoRandomness(_)
        | ClaimError::NoThread(_)
        | ClaimError::GuardDied => Exit::STORE,
    };
    Exit::new(code, format!("record {:?}: {error}", record.display().to_string()))
}
