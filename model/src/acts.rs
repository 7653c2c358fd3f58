//! Acting in two steps: a check, and the effect at some later time.
//!
//! A holder looks at its clock, begins an act, and may then be stopped for any time before the act lands, or the
//! act is a message that is long under way. Where it lands is one of three:
//!
//! - something that checks nothing: a stale act lands there whatever the lease does, and the model shows how;
//! - a gate, which keeps the highest fence, and whose it is;
//! - the store itself: the effect commits together with a look at the row, under the write lock.
//!
//! What must not happen, there or behind the gate, is that tenures interleave: that a tenure's act lands after
//! another tenure has come.

use crate::config::{Config, Part, Variant};
use crate::state::{Act, Expiry, Fence, Gate, Holder, Stand, State, Who};

impl<const N: usize> State<N> {
    /// A new tenure passes the gate, and reads what it guards. From then on no other tenure's act may land
    /// behind it, or the new one works on what is no longer true. SPEC.md R9.
    pub fn enter(&mut self, config: &Config, who: Who) -> Option<()> {
        let contender = self.contenders[who.index()];
        let fence = contender.works()?;
        let comes = config.has(Part::GatedActs) && contender.stands == Stand::Outside;
        let reads_first = config.breaks(Variant::ReadsFirst);
        if !comes || !(reads_first || self.admit(config, fence, config.id(who))) {
            return None;
        }
        self.come();
        self.contenders[who.index()].stands = Stand::Inside;
        Some(())
    }

    /// A gate refuses a fence that is lower than the highest it has seen, and an equal one of another holder.
    /// SPEC.md R9.
    fn admit(&mut self, config: &Config, fence: Fence, by: Holder) -> bool {
        let lower = fence < self.gate.fence && !config.breaks(Variant::GateAdmitsLower);
        let others =
            fence == self.gate.fence && by != self.gate.by && !config.breaks(Variant::GateAdmitsEqual);
        if lower || others {
            return false;
        }
        if fence >= self.gate.fence {
            self.gate = Gate { fence, by };
        }
        true
    }

    /// Another tenure has come: whoever had come before is past.
    pub fn come(&mut self) {
        let past = |stands: &mut Stand| {
            if *stands == Stand::Inside {
                *stands = Stand::Past;
            }
        };
        for contender in &mut self.contenders {
            past(&mut contender.stands);
            contender.act.iter_mut().for_each(|act| past(&mut act.stands));
        }
    }

    /// An act lands, or is refused where it would.
    pub fn land(&mut self, config: &Config, who: Who) -> Option<()> {
        let act = self.contenders[who.index()].act.take()?;
        let lands = if config.has(Part::GatedActs) {
            self.admit(config, act.fence, act.by)
        } else {
            config.has(Part::UnfencedActs) || self.is_current(config, act)
        };
        self.ghost.stale_landed |= lands && act.stands == Stand::Past;
        Some(())
    }

    /// The row names this holder and fence and is not released. SPEC.md R9.
    fn is_current(&self, config: &Config, act: Act) -> bool {
        let current = self.row.is_some_and(|row| {
            let live = !matches!(row.expiry, Expiry::Released | Expiry::Unreadable);
            let holder = row.holder == act.by || config.breaks(Variant::ActWithoutHolder);
            let fence = row.fence == act.fence || config.breaks(Variant::ActWithoutFence);
            holder && fence && live
        });
        current || config.breaks(Variant::ActUnchecked)
    }
}
