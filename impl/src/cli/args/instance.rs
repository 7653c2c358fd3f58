//! What `tenure instance` takes.

use super::duration;
use crate::protocol::{ConfigError, Durations, Timing};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  A service that may run once only, and keeps its data on a share; a second one is refused (exit code 75):
    tenure instance --record /srv/share/instance.json -- ./service

  The next one may start 10 seconds after a crash:
    tenure instance --record instance.json --ttl 10s -- ./service

Not a lock: two that start at the same moment may both run, until the next renewal tells one of them. On one machine, or
where an SQLite file can be shared, use `tenure run`, which lets exactly one run.

The record is a small file of JSON, in a directory that all instances share and may write to. It is renewed each third of
the ttl, and removed when the job has ended. After a crash it is live until its ttl has passed; by the wall clocks, so these
must agree far better than the ttl. A record that cannot be read counts as live, and one from the future, as of a clock that
was wrong, is live until that time: make sure that no instance runs, and remove it. Remove no record of an instance that runs.
FILE may be no symbolic link.

Loss: if another instance overwrote the record, the job gets SIGKILL at once. If it cannot be renewed, the job gets SIGTERM
a quarter of the ttl before its end, and SIGKILL a twentieth before. If tenure itself is killed or stopped, its watchdog
kills the job.

Signals and terminals: as `tenure run` has them.

Exit codes: the job's own (128+n if signal n ended it); 76 the claim was lost, so that the job was told to stop, or killed;
75 another instance is alive, or the record is unreadable; 69 the record cannot be written and read back, or the store
does not answer; 126, 127 the job could not be started; 128+n ended by signal n before it began; 2 usage.";

/// Run a job unless another instance is seen to run; not a lock
///
/// The job runs, in a process group of its own, while a record announces it, with TENURE_INSTANCE and TENURE_RECORD in its
/// environment. While another instance's record is live, it is refused.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Instance {
    /// The file of the record; it is created if it is not there
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) record: PathBuf,

    /// How long the record is live without a renewal, 1s to 1d
    #[arg(long, value_name = "D", default_value = "2m", value_parser = duration, allow_hyphen_values = true)]
    pub(in crate::cli) ttl: Duration,

    /// The job and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(in crate::cli) job: Vec<OsString>,
}

impl Instance {
    /// When the job is stopped if renewals fail: as that of a lease is.
    pub(in crate::cli) fn timing(&self) -> Result<Timing, ConfigError> {
        Durations { ttl: self.ttl, ..Durations::default() }.check()
    }
}
