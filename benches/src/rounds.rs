//! Rounds: in each, every kind contends once in every setting, each time another kind first.

use crate::contender::Kind;
use crate::contest::{Leases, Setting, Who, contest};
use crate::figures::{Figures, median};
use std::collections::BTreeMap;
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How often all of it.
    pub rounds: usize,
    /// How long each contest is.
    pub time: Duration,
    /// How many contend.
    pub sizes: &'static [usize],
}

impl Plan {
    /// What CI runs, for right counting and not for speed.
    pub const SHORT: Self = Self { rounds: 1, time: Duration::from_millis(50), sizes: &[1, 2, 4] };

    /// All who contend for anything. One contender for one lease does so for a lease of its own.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for who in [Who::Threads, Who::Processes] {
            for leases in [Leases::One, Leases::Each] {
                let sizes = self.sizes.iter().filter(|size| leases == Leases::One || **size > 1);
                settings.extend(sizes.map(|&contenders| Setting { who, leases, contenders }));
            }
        }
        settings
    }

    /// The largest crowd.
    pub fn crowd(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(1)
    }
}

/// What is measured in a setting.
pub fn kinds(setting: Setting) -> Vec<Kind> {
    let mut kinds = vec![Kind::Tenure, Kind::Store, Kind::ByHand, Kind::Flock];
    if setting.who == Who::Threads && setting.contenders > 1 {
        kinds.insert(1, Kind::OneElector);
    }
    kinds
}

/// The figures of every round.
#[derive(Debug, Default)]
pub struct Results(BTreeMap<(Setting, Kind), Vec<Figures>>);

impl Results {
    /// Measures all of it; `say` is told of each round.
    pub fn measure(plan: &Plan, say: impl Fn(usize)) -> Self {
        let mut results = Self::default();
        for round in 0..plan.rounds {
            say(round);
            plan.settings().into_iter().for_each(|setting| results.measure_one(plan, round, setting));
        }
        results
    }

    fn measure_one(&mut self, plan: &Plan, round: usize, setting: Setting) {
        let mut kinds = kinds(setting);
        let first = round % kinds.len();
        kinds.rotate_left(first);
        for kind in kinds {
            let figures = Figures::new(&contest(kind, setting, plan.time));
            self.0.entry((setting, kind)).or_default().push(figures);
        }
    }

    /// Over all rounds.
    pub fn over_rounds(&self, setting: Setting, kind: Kind) -> Figures {
        Figures::over(&self.0[&(setting, kind)])
    }

    /// Its tenures a second by those of another kind in the same round: the least, the median, the most.
    pub fn beside(&self, setting: Setting, kind: Kind, other: Kind) -> [f64; 3] {
        let rounds = self.0[&(setting, kind)].iter().zip(&self.0[&(setting, other)]);
        let ratios = || rounds.clone().map(|(one, other)| one.rate / other.rate);
        [ratios().fold(f64::MAX, f64::min), median(ratios()), ratios().fold(0.0, f64::max)]
    }
}
