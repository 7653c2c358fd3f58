//! What one contender did in one contest.

use crate::contender::{Contender, PAUSE, pause};
use crate::watch::Watch;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Every tenure of one contender, and how long it went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Each tenure's fence, and what passed from the first try to the grant.
    pub tenures: Vec<(i64, Duration)>,
    /// From the start to the end of the last tenure.
    pub took: Duration,
}

/// One tenure after the other, each given back at once, while `goes_on`. Whoever waits when it is over waits until he is
/// granted the lease: so nobody is left without a tenure, and the longest wait is in the log.
pub fn contend(contender: &mut dyn Contender, mut goes_on: impl FnMut() -> bool) -> Log {
    let (begin, mut tenures) = (Watch::start(), Vec::new());
    loop {
        let first_try = Watch::start();
        let fence = acquire(contender);
        tenures.push((fence, first_try.elapsed()));
        contender.release();
        if !goes_on() {
            return Log { tenures, took: begin.elapsed() };
        }
    }
}

fn acquire(contender: &mut dyn Contender) -> i64 {
    loop {
        match contender.try_acquire() {
            Some(fence) => return fence,
            None => pause(PAUSE),
        }
    }
}

/// A line for each tenure; before them, one for the whole. So a process tells another.
impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.took.as_nanos())?;
        self.tenures.iter().try_for_each(|(fence, wait)| writeln!(f, "{fence} {}", wait.as_nanos()))
    }
}

impl FromStr for Log {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let nanos = |text: &str| text.parse().map(Duration::from_nanos);
        let (took, tenures) = text.split_once('\n').unwrap_or((text, ""));
        let tenure = |line: &str| {
            let (fence, wait) = line.split_once(' ').unwrap_or((line, ""));
            Ok((fence.parse()?, nanos(wait)?))
        };
        Ok(Self { took: nanos(took)?, tenures: tenures.lines().map(tenure).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let tenures = vec![(1, Duration::from_nanos(20)), (3, Duration::from_secs(4))];
        let log = Log { tenures, took: Duration::from_millis(5) };
        assert_eq!(log.to_string().parse(), Ok(log));
    }
}
