//! Where the rows are. SQLite is the store.

mod sqlite;

pub use sqlite::{Answer, OpenError, SqliteStore, StoreError};
#[cfg(feature = "cli")]
pub(crate) use sqlite::{ByHandError, Entry, Release, list, release};
pub(crate) use sqlite::{FileId, identity, is_open_on, read_row};

use crate::protocol::Request;
use std::fmt::Debug;

/// Where the rows are, as a store thread sees it.
pub(crate) trait Store: Debug + Send {
    /// Carries out requests, all that write in one transaction; answers in order.
    fn execute(&mut self, batch: &[Request]) -> Vec<Answer>;

    /// Another one for the same rows, for a thread of its own. It opens nothing before it is asked for something.
    fn another(&self) -> Box<dyn Store>;
}

impl Store for SqliteStore {
    fn execute(&mut self, batch: &[Request]) -> Vec<Answer> {
        Self::execute(self, batch)
    }

    fn another(&self) -> Box<dyn Store> {
        Box::new(self.unopened())
    }
}
