//! What can happen to the store as a whole. These steps touch the row and every contender at once.

use crate::config::{Config, Part, Policy, Variant};
use crate::state::{
    Contender, Expiry, Fence, Flight, Holder, Late, LateKind, Message, Phase, Reply, Row, Stand, State, Who,
};
use crate::store::carry_out;

/// What can happen to the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A write is written and reported as failed; nobody sees it, until recovery does.
    FailButWrite(Who),
    /// The store recovers, and brings up a write that had failed.
    Recover,
    /// Power fails: what was not durable is gone.
    LosePower,
    /// Somebody takes a backup.
    BackUp,
    /// The store is put back to the backup.
    Restore,
    /// The store is emptied.
    Empty,
    /// The file is replaced by a copy of itself.
    Replace,
    /// Somebody writes nonsense into the row.
    Garble,
    /// An operator makes the row readable again, keeps the fence, and releases it.
    Mend,
}

impl Fault {
    /// All that can happen with `n` contenders.
    pub fn all(n: usize) -> impl Iterator<Item = Fault> {
        let others = [
            Fault::Recover,
            Fault::LosePower,
            Fault::BackUp,
            Fault::Restore,
            Fault::Empty,
            Fault::Replace,
            Fault::Garble,
            Fault::Mend,
        ];
        (0..n as u8).map(|i| Fault::FailButWrite(Who(i))).chain(others)
    }

    /// What has to be switched on for it.
    pub fn part(self) -> &'static [Part] {
        match self {
            Fault::FailButWrite(_) | Fault::Recover => &[Part::Recovery],
            Fault::LosePower => &[Part::PowerLoss],
            Fault::BackUp | Fault::Restore => &[Part::Restore],
            Fault::Empty => &[Part::Restore, Part::LostFloors],
            Fault::Replace => &[Part::Replacement],
            Fault::Garble | Fault::Mend => &[Part::UnreadableRow],
        }
    }
}

impl<const N: usize> State<N> {
    /// This happens to the store.
    pub fn suffer(&mut self, config: &Config, fault: Fault) -> Option<()> {
        if !fault.part().iter().any(|part| config.has(*part)) {
            return None;
        }
        match fault {
            Fault::FailButWrite(who) => self.fail_but_write(config, who),
            Fault::Recover => self.recover(config),
            Fault::LosePower => self.lose_power(config),
            Fault::BackUp => self.back_up(),
            Fault::Restore => self.go_back(config, Some(self.backup?)),
            Fault::Empty => self.empty(config),
            Fault::Replace => self.replace(config),
            Fault::Garble => self.garble(config),
            Fault::Mend => self.mend(config),
        }
    }

    /// SQLite: the frames are in the log, and an I/O error came before readers were told. Its sender learns of a
    /// failure; the next commit writes over them; without one, a recovery finds them. SPEC.md R7.
    fn fail_but_write(&mut self, config: &Config, who: Who) -> Option<()> {
        let contender = self.contenders[who.index()];
        let request = contender.sent().filter(|_| !contender.moved)?;
        let (row, _) = carry_out(config, self.row, request, self.sender(config, who));
        if row == self.row {
            return None;
        }
        self.failed = row;
        let failures = config.with(&[Part::Failures]);
        let scene = self.scene(&failures, who);
        self.contenders[who.index()] = contender.fail(scene)?;
        Some(())
    }

    fn recover(&mut self, config: &Config) -> Option<()> {
        let row = self.failed.take()?;
        let granted = self.row.is_none_or(|before| before.fence != row.fence);
        self.commit(config, Some(row), true, true);
        if granted {
            self.note_grant(config, row.fence);
        }
        self.ghost.given_back = row.expiry == Expiry::Released;
        Some(())
    }

    /// One host: whoever could act under what is gone is gone too. What has left the host is still under way.
    /// SPEC.md R8.
    fn lose_power(&mut self, config: &Config) -> Option<()> {
        let survives = config.breaks(Variant::LazyRenewals);
        let row = self.durable;
        self.ghost.given_back &= row.is_some_and(|row| row.expiry == Expiry::Released);
        self.commit(config, row, true, true);
        if survives {
            return Some(());
        }
        for who in (0..N as u8).map(Who) {
            let scene = self.scene(config, who);
            let contender = self.contenders[who.index()];
            if !contender.phase.is_over() {
                self.contenders[who.index()] = contender.dead(scene)?;
                self.retire(config, who);
            }
        }
        self.late = [Late::default(); N];
        self.orphaned = [Late::default(); 3];
        Some(())
    }

    fn back_up(&mut self) -> Option<()> {
        self.backup = self.row;
        Some(())
    }

    fn empty(&mut self, config: &Config) -> Option<()> {
        self.row?;
        self.go_back(config, None)
    }

    /// Nobody knows which requests of long ago fit the row that came back; so all do that could.
    fn recall_late(&mut self, config: &Config) {
        if !config.has(Part::LateRequests) {
            return;
        }
        let holder = self.row.map(|row| row.holder);
        for who in (0..N as u8).map(Who) {
            let policy = config.policy(who);
            self.late[who.index()] = fitting(policy, holder == Some(config.id(who)));
            self.orphaned[policy as usize] = fitting(policy, holder == Some(Holder::Gone(policy)));
        }
    }

    /// While nobody acts and everybody who may contend has the highest fence for a floor; else SPEC.md promises no exclusion, only what
    /// a gate does. The data that acts in the store had written went back with it. SPEC.md R11.
    fn go_back(&mut self, config: &Config, row: Option<Row>) -> Option<()> {
        let forgotten = config.has(Part::LostFloors);
        (forgotten || (self.nobody_acts(config) && self.floors_survive(config))).then_some(())?;
        self.commit(config, row, true, true);
        self.recall_late(config);
        self.ghost.given_back = false;
        if config.has(Part::FencedActs) {
            let acts = self.contenders.iter_mut().filter_map(|one| one.act.as_mut());
            acts.for_each(|act| act.stands = Stand::Inside);
        }
        Some(())
    }

    /// Whether nobody has work, or a row to release.
    fn nobody_acts(&self, config: &Config) -> bool {
        let idle = |phase| !matches!(phase, Phase::Releasing { .. });
        let acts = self.actors(config).count() > 0;
        !acts && self.contenders.iter().all(|one| one.works().is_none() && idle(one.phase))
    }

    /// System A has no floor: it must have ended.
    fn floors_survive(&self, config: &Config) -> bool {
        let knows = |who, floor| floor == self.ghost.top && config.policy(who) != Policy::SystemA;
        self.named().all(|(who, one)| one.phase.is_over() || knows(who, one.floor))
    }

    /// While nobody acts. Who has the old file open will find that it moved. SPEC.md R11.
    fn replace(&mut self, config: &Config) -> Option<()> {
        self.nobody_acts(config).then_some(())?;
        // The broken variant knows one old file.
        let moved = config.breaks(Variant::MovedUnnoticed) && self.contenders.iter().any(|one| one.moved);
        // SPEC.md, section 7, assumes that no system A runs: it would not notice.
        let blind =
            |(who, one): (Who, &Contender)| config.policy(who) == Policy::SystemA && !one.phase.is_over();
        (!moved && !self.named().any(blind)).then_some(())?;
        for contender in &mut self.contenders {
            contender.moved = !contender.phase.is_over();
        }
        if config.breaks(Variant::MovedUnnoticed) {
            self.old_file = self.row;
        }
        self.late = [Late::default(); N];
        self.orphaned = [Late::default(); 3];
        self.failed = None;
        Some(())
    }

    fn garble(&mut self, config: &Config) -> Option<()> {
        let row = Row { expiry: Expiry::Unreadable, ..self.row? };
        self.commit(config, Some(row), true, true);
        self.ghost.given_back = false;
        Some(())
    }

    /// Once nobody acts under it, nor is about to. SPEC.md R12.
    fn mend(&mut self, config: &Config) -> Option<()> {
        let row = self.row.filter(|row| row.expiry == Expiry::Unreadable && self.nobody_acts(config))?;
        let grant = Message::Answered(Reply::Granted(row.fence));
        let granted = |flight: Flight| flight.message == grant && flight.left > 0;
        let awaited = self.contenders.iter().any(|one| one.flight.is_some_and(granted));
        (!awaited).then_some(())?;
        self.commit(config, Some(Row { expiry: Expiry::Released, ..row }), true, true);
        Some(())
    }

    /// Whether the store has gone back: its row is lower than what was granted. SPEC.md R11.
    pub fn is_behind(&self) -> bool {
        self.row.map_or(Fence::NONE, |row| row.fence) < self.ghost.top
    }
}

/// An acquire may be anybody's of Tenure's, a renewal and a release only the holder's.
fn fitting(policy: Policy, own: bool) -> Late {
    let acquires = if policy == Policy::SystemA { 2 } else { 0 };
    let others = if own { 4 } else { 2 };
    LateKind::ALL[acquires..others].iter().fold(Late::default(), |all, kind| all.and(Late::only(*kind)))
}
