//! Where the rows are. SQLite is the store.

mod sqlite;
mod thread;

pub use sqlite::{Answer, OpenError, SqliteStore, StoreError};
pub use thread::StoreThread;
