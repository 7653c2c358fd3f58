//! The crate as its users have it.

use super::{Contender, TTL};
use std::path::Path;
use tenure::{AcquireError, Elector, Held};

pub(super) fn elector(file: &Path) -> Elector {
    Elector::builder(file).ttl(TTL).build().expect("an elector")
}

pub(super) struct ByElector {
    elector: Elector,
    lease: String,
    held: Option<Held>,
}

impl ByElector {
    pub(super) fn new(elector: Elector, lease: &str) -> Self {
        Self { elector, lease: lease.into(), held: None }
    }
}

impl Contender for ByElector {
    fn try_acquire(&mut self) -> Option<i64> {
        match self.elector.try_acquire(&self.lease).wait() {
            Ok(held) => Some(self.held.insert(held).fence().get()),
            Err(AcquireError::Held(_) | AcquireError::HeldHere | AcquireError::NoAnswer(_)) => None,
            Err(error) => panic!("{error}"),
        }
    }

    fn release(&mut self) {
        let held = self.held.take().expect("it holds");
        held.release().wait().expect("it is released");
    }
}
