//! In memory: its clients are of one process, and share the store.

use super::{Bed, keeps_the_promises, records};
use object_store::memory::InMemory;
use std::sync::Arc;
use tenure::instance::ObjectRecords;

#[derive(Default)]
struct Memory(Arc<InMemory>);

impl Bed for Memory {
    fn client(&self) -> ObjectRecords {
        records(Arc::clone(&self.0))
    }
}

keeps_the_promises!(Memory::default());
