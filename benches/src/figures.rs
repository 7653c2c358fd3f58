//! Figures of a contest, and of the same contest over all rounds.

use crate::log::Log;
use std::time::Duration;

/// What a contest comes to.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Tenures a second: each contender's own, added up. So what the last one waited when the others had ended does not
    /// count against them.
    pub rate: f64,
    /// What half of all tenures were waited for at most.
    pub median: Duration,
    /// The same of 99 in 100.
    pub p99: Duration,
    /// What the one that took longest was waited for.
    pub longest: Duration,
    /// Jain's index of the contenders' numbers of tenures: 1 if all had as many, 1/n if one of n had all.
    pub jain: f64,
}

impl Figures {
    /// Of one contest.
    pub fn new(logs: &[Log]) -> Self {
        let mut waits: Vec<_> =
            logs.iter().flat_map(|log| log.tenures.iter().map(|(_, wait)| *wait)).collect();
        waits.sort_unstable();
        let share = |of_hundred: usize| waits[(waits.len() * of_hundred).div_ceil(100) - 1];
        let rate = |log: &Log| log.tenures.len() as f64 / log.took.as_secs_f64();
        Self {
            rate: logs.iter().map(rate).sum(),
            median: share(50),
            p99: share(99),
            longest: share(100),
            jain: jain(logs.iter().map(|log| log.tenures.len() as f64)),
        }
    }

    /// Of all rounds: the medians, and the longest wait of all.
    pub fn over(rounds: &[Self]) -> Self {
        let waits = |wait: fn(&Self) -> Duration| median(rounds.iter().map(wait));
        Self {
            rate: median(rounds.iter().map(|round| round.rate)),
            median: waits(|round| round.median),
            p99: waits(|round| round.p99),
            longest: rounds.iter().map(|round| round.longest).max().unwrap_or_default(),
            jain: median(rounds.iter().map(|round| round.jain)),
        }
    }
}

/// The median; of an even number the lower of the two.
///
/// # Panics
/// If there are none.
pub fn median<T: PartialOrd>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<_> = values.collect();
    values.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    values.swap_remove((values.len() - 1) / 2)
}

fn jain(counts: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let (n, sum) = (counts.len() as f64, counts.clone().sum::<f64>());
    sum * sum / (n * counts.map(|count| count * count).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_if_all_had_as_many_and_a_share_if_one_had_all() {
        assert_eq!(jain([7.0; 4].into_iter()), 1.0);
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0].into_iter()), 0.25);
    }

    #[test]
    fn waits_are_those_of_all_contenders_together() {
        let millis = |range: std::ops::RangeInclusive<u64>| range.map(|ms| (0, Duration::from_millis(ms)));
        let log = |range| Log { tenures: millis(range).collect(), took: Duration::from_secs(2) };
        let Figures { rate, median, p99, longest, jain } = Figures::new(&[log(1..=120), log(121..=200)]);
        assert_eq!([median, p99, longest].map(|wait| wait.as_millis()), [100, 198, 200]);
        assert_eq!((rate, (jain * 1000.0).round()), (100.0, 962.0));
    }
}
