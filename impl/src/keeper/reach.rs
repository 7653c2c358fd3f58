//! What a contention reaches besides itself.

use super::log::Log;
use super::orders::{Hands, Id, Orders};
use super::record::Record;
use crate::clock::Clock;
use crate::protocol::{HolderId, Label, Request, Timing};
use crate::random::{Dice, NoRandomness};
use std::path::Path;
use std::sync::{Arc, Weak};

#[derive(Debug)]
pub(super) struct Reach {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) timing: Timing,
    pub(super) label: Label,
    /// Where the rows are.
    pub(super) file: Arc<Path>,
    pub(super) dice: Dice,
    pub(super) orders: Arc<Orders>,
    pub(super) hands: Weak<Hands>,
    /// On their way to the store.
    pub(super) requests: Vec<(Id, Request)>,
    pub(super) record: Arc<Record>,
    pub(super) log: Log,
}

impl Reach {
    /// The id of a new contender (SPEC.md R10).
    pub(super) fn new_holder(&mut self) -> Result<HolderId, NoRandomness> {
        Ok(HolderId::new(&self.label, self.dice.nonce()?, &self.timing))
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.dice.roll()
    }
}
