//! What the command takes.

use super::Exit;
use crate::protocol::{ConfigError, Durations, Label, LeaseName, Timing};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Parser)]
#[command(
    name = "tenure",
    version,
    about = "Of many processes that share an SQLite file, lets one at a time run its job"
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Run(Run),
}

const EXAMPLES: &str = "\
Examples:
  Wait for the lease, run the job, give the lease back:
    tenure run --db leases.db --lease backup -- ./backup.sh /srv

  From cron in several containers: the first runs it, and who comes while it runs leaves at once (exit code 75):
    tenure run --db /srv/app.db --lease nightly --no-wait -- ./nightly.sh

  A worker that takes over within 5 seconds of the other's death, and hands its fence to what it writes to:
    tenure run --db leases.db --lease worker --ttl 5s -- sh -c './worker --fence \"$TENURE_FENCE\"'

All who contend for a lease must give the same --ttl and --max-skew, and the same file: give an absolute path where
the working directory may differ.

The lease is believed up to a deadline: ttl, less max-skew and a little for drift, after the last renewal that
succeeded was sent. renew-every + request timeout (ttl/6) + grace + kill-lead must be less than ttl - max-skew.

Exit codes: the job's own (128+n if signal n ended it); 76 the job was told to stop, or killed, because the lease was
lost or nearly so; 75 not acquired; 69 the database cannot be used; 126, 127 the job could not be started; 2 usage.";

/// Run a job while holding a lease
///
/// The job runs only while the lease is held, in a process group of its own, with TENURE_LEASE, TENURE_FENCE,
/// TENURE_HOLDER and TENURE_DB in its environment. If the lease cannot be renewed the job gets SIGTERM, then
/// SIGKILL before anybody else can hold the lease. When the job has ended, what it left in its process group is
/// killed, and the lease is given back.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Run {
    /// The SQLite file; it is created if it is not there
    #[arg(long, value_name = "FILE")]
    pub(super) db: PathBuf,

    /// The lease's name
    #[arg(long, value_name = "NAME", value_parser = LeaseName::new)]
    pub(super) lease: LeaseName,

    /// How long the lease lasts without a renewal, 100ms to 30d
    #[arg(long, value_name = "D", default_value = "15s", value_parser = duration, allow_hyphen_values = true)]
    ttl: Duration,

    /// How often it is renewed [default: ttl/3]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    renew_every: Option<Duration>,

    /// By how much the wall clocks of those who contend may differ, or one may step [default: ttl/10, at most 1s]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    max_skew: Option<Duration>,

    /// How long before the deadline the job gets SIGTERM when renewals fail; none if kill-lead is as long
    /// [default: ttl/4]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    grace: Option<Duration>,

    /// How long before the deadline the job gets SIGKILL [default: ttl/20]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    kill_lead: Option<Duration>,

    /// What others see as the holder [default: the host name]
    #[arg(long, value_parser = Label::new)]
    label: Option<Label>,

    /// Leave at once if the lease is held
    #[arg(long, conflicts_with = "wait")]
    pub(super) no_wait: bool,

    /// Leave if the lease was not acquired within this time [default: wait for ever]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    pub(super) wait: Option<Duration>,

    /// The job and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(super) job: Vec<OsString>,
}

impl Run {
    /// Whether to wait at all.
    pub(super) fn waits(&self) -> bool {
        !self.no_wait && self.wait != Some(Duration::ZERO)
    }

    pub(super) fn durations(&self) -> Durations {
        Durations {
            ttl: self.ttl,
            renew_every: self.renew_every,
            request_timeout: None,
            grace: self.grace,
            kill_lead: self.kill_lead,
            max_skew: self.max_skew,
        }
    }

    pub(super) fn timing(&self) -> Result<Timing, Exit> {
        self.durations().check().map_err(usage)
    }

    pub(super) fn label(&self) -> Result<Label, Exit> {
        match &self.label {
            Some(label) => Ok(label.clone()),
            None => Label::new(&rustix::system::uname().nodename().to_string_lossy()).map_err(usage),
        }
    }
}

fn usage(error: ConfigError) -> Exit {
    Exit::new(Exit::USAGE, error)
}

/// A duration with a unit: a bare number would be guessed at.
fn duration(text: &str) -> Result<Duration, String> {
    if text.bytes().all(|c| c.is_ascii_digit()) {
        return Err("a unit is missing, as in 500ms, 15s, 2m".into());
    }
    humantime::parse_duration(text).map_err(|_| "this is no duration; right are 500ms, 15s, 2m".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_duration_needs_a_unit() {
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["15", "0", "", "s", "1.5", "-1s", "15 parsecs"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
