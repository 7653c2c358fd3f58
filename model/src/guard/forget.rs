//! What makes no difference any more is forgotten: states that go on alike are one.

use super::config::Config;
use super::state::{Claim, Errand, Found, Life, Record, Slot, Stage, Stand, State};
use crate::state::Who;

impl<const N: usize> State<N> {
    pub(super) fn forget(&mut self, config: &Config) {
        if let Slot::Record(record) = &mut self.slot {
            name(config, record);
        }
        let late = self.late.iter_mut().flatten().flat_map(|late| &mut late.record);
        late.for_each(|record| name(config, record));
        self.instances.iter_mut().flat_map(|one| &mut one.claim).for_each(trim);
    }
}

/// Nobody goes by an old id: whose it was makes no difference where clocks agree; and if anything can come true later,
/// nobody is told that nothing is left.
fn name(config: &Config, record: &mut Record) {
    if record.by.life == Life::Gone && config.late {
        record.by.life = Life::Ended;
    }
    if record.by.life != Life::Now && config.ahead == 0 {
        record.by.of = Who(0);
    }
}

fn trim(claim: &mut Claim) {
    let is_over = matches!(claim.stand, Stand::Lost | Stand::Leaves);
    if is_over {
        *claim = Claim { until: 0, is_patient: false, found: Found::Nothing, ..*claim };
    }
    if !claim.rests_on_a_read() {
        claim.lag = 0;
    }
    // The age of a write stands in the record; that of a read is how long a claim has waited.
    let dated = claim.stand == Stand::Pending || matches!(claim.errand, Errand::Announce | Errand::Renew);
    if let Stage::Asked(age) | Stage::Answered(age, _) = &mut claim.stage
        && !dated
    {
        *age = 0;
    }
}
