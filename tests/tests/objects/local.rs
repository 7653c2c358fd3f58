//! In a directory.

use super::{Bed, keeps_the_promises, records};
use object_store::local::LocalFileSystem;
use tempfile::{TempDir, tempdir};
use tenure::instance::ObjectRecords;

struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }
}

impl Bed for Directory {
    fn client(&self) -> ObjectRecords {
        records(LocalFileSystem::new_with_prefix(self.0.path()).unwrap())
    }
}

keeps_the_promises!(Directory::new());
