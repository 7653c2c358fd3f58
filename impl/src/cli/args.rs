//! What the command takes.

mod instance;

use super::Exit;
use crate::protocol::{ConfigError, Durations, Fence, Label, LeaseName, Timing};
use clap::{ArgGroup, Args, Parser, Subcommand};
pub(super) use instance::Instance;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Parser)]
#[command(
    name = "tenure",
    version,
    about = "Of many processes that share an SQLite file, lets one at a time run its job",
    after_help = "\
Examples:
  Run a job on one machine at a time:
    tenure run --db /srv/app.db --lease nightly -- ./nightly.sh

  See who holds what:
    tenure status --db /srv/app.db

  Free a lease whose holder is gone for good:
    tenure release --db /srv/app.db nightly --force

`tenure help run` explains loss, grace and exit codes."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Run(Run),
    Instance(Instance),
    Status(Status),
    Release(Release),
    Completions(Completions),
    Man(Man),
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

Loss: the lease is believed up to a deadline: ttl, less max-skew and a little for drift, after the last renewal that
succeeded was sent. When renewals fail, as while the database cannot be reached, the job gets SIGTERM at the deadline less
grace, and SIGKILL at the deadline less kill-lead: it is dead before anybody else can hold the lease. If somebody else holds
it already, or the database went back to an older state, it gets SIGKILL at once. Once told to stop on this account, it is
lost (exit code 76), whatever the job makes of it; with --restart it is contended for, and the job started, again. If tenure
itself is killed or stopped, its watchdog kills the job.

Grace: that sum must hold: renew-every + request timeout (ttl/6) + grace + kill-lead < ttl - max-skew. A job that takes
longer to stop than grace less kill-lead needs a longer ttl.

Signals: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to the job's process group, and nothing else is
done: the lease is renewed until the job has ended. While tenure waits for the lease, the first three end it.

Terminals: in the foreground of a shell, the job has the terminal, and Ctrl-C and Ctrl-Z are the job's. While it is stopped
its lease is renewed, until fg or bg has it go on. A job that was begun with & does not get the terminal, not even by fg.

Exit codes: the job's own (128+n if signal n ended it); 76 the lease was lost, so that the job was told to stop, or killed;
75 not acquired; 69 the database cannot be used; 126, 127 the job could not be started; 128+n ended by signal n while
waiting; 2 usage.";

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

    /// After a loss, contend again and start the job anew; not after the job's own end, nor after a signal that was to end it
    #[arg(long)]
    pub(super) restart: bool,

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

const STATUS_EXAMPLES: &str = "\
Examples:
  All leases of a file:
    tenure status --db leases.db

  Whether two of them are held, for a script:
    tenure status --db leases.db --json backup nightly | jq -r '.[] | \"\\(.lease) \\(.state)\"'

States, by this machine's clock: held; expired, its time has run out and it was not released; released; unreadable, what
stands there cannot be understood, and counts as held until a person corrects it; none, no such lease.

The JSON is an array of {lease, holder, fence, state, acquired_at_ms, expires_at_ms}, times in Unix milliseconds, null
where there is nothing or it cannot be read; expires_at_ms is 0 once released.

The file is not changed; SQLite's own -wal and -shm may appear beside it.

Exit codes: 0 it could be read; 69 it could not: there is no such file, it stays locked, or a crash has left a journal
that must be recovered first, which is to write; 2 usage.";

/// Show who holds which lease
///
/// Shows all leases of an SQLite file, or those that are named, sorted by name. Times are in UTC. Nothing is written.
#[derive(Args, Debug)]
#[command(after_help = STATUS_EXAMPLES)]
pub(super) struct Status {
    /// The SQLite file
    #[arg(long, value_name = "FILE")]
    pub(super) db: PathBuf,

    /// The leases to show [default: all]
    #[arg(value_name = "NAME", value_parser = LeaseName::new)]
    pub(super) names: Vec<LeaseName>,

    /// Print JSON, for programs
    #[arg(long)]
    pub(super) json: bool,
}

const RELEASE_EXAMPLES: &str = "\
Examples:
  The machine that held the lease is gone for good, and its time has not run out; status says that it has fence 7:
    tenure release --db leases.db --fence 7 backup

  Whoever holds it:
    tenure release --db leases.db --force backup

The lease is free at once, so be sure that its holder has stopped. One that is still alive goes on until its next renewal
is refused, beside the next holder. --fence takes care that it is the tenure you have seen that you end, and not a later
one.

The row stays, with its holder and its fence: the next holder has the next fence. A row that cannot be read is not
released, not even with --force: correct it by hand, keep the fence, and set expires_at to 0.

Exit codes: 0 released, now or before; 1 nothing was changed: another fence, no such lease, or a row that cannot be read;
69 the database cannot be used, or there is none; 2 usage.";

/// Release a lease that somebody else holds
///
/// For a holder that is dead or out of reach, so that others need not wait until its time has run out.
#[derive(Args, Debug)]
#[command(after_help = RELEASE_EXAMPLES, group(ArgGroup::new("which").required(true).args(["fence", "force"])))]
pub(super) struct Release {
    /// The SQLite file
    #[arg(long, value_name = "FILE")]
    pub(super) db: PathBuf,

    /// The lease's name
    #[arg(value_name = "NAME", value_parser = LeaseName::new)]
    pub(super) name: LeaseName,

    /// Only if the lease has this fence
    #[arg(long, value_name = "N", value_parser = fence, allow_hyphen_values = true)]
    pub(super) fence: Option<Fence>,

    /// Whichever fence it has
    #[arg(long)]
    force: bool,
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

fn fence(text: &str) -> Result<Fence, String> {
    let number = text.parse().ok().and_then(Fence::new);
    number.ok_or_else(|| "a fence is a whole number, 0 or more, as `tenure status` shows it".into())
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

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  tenure completions bash > ~/.local/share/bash-completion/completions/tenure"
)]
pub(super) struct Completions {
    /// Which shell
    pub(super) shell: clap_complete::Shell,
}

/// Write the manual pages into a directory
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  tenure man /usr/local/share/man/man1")]
pub(super) struct Man {
    /// The directory, which must be there
    pub(super) directory: PathBuf,
}
