//! What the operating system has for it.

use super::Contender;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::path::Path;

pub(super) struct ByFlock(File);

impl ByFlock {
    /// A file for each lease, beside the database.
    pub(super) fn new(file: &Path, lease: &str) -> Self {
        let lock = File::create(file.with_extension(format!("{lease}.lock")));
        Self(lock.expect("a lock file"))
    }
}

impl Contender for ByFlock {
    fn try_acquire(&mut self) -> Option<i64> {
        match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => None,
            locked => locked.map(|()| Some(0)).expect("a lock"),
        }
    }

    fn release(&mut self) {
        flock(&self.0, FlockOperation::Unlock).expect("it is unlocked");
    }
}
