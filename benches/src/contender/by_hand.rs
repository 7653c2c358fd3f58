//! What one would write without the crate. For one contender nothing is faster and as durable: each act is one statement,
//! prepared once, in a transaction of its own. For several it is the naive loop.

use super::{Contender, TTL};
use rusqlite::{Connection, ErrorCode, OptionalExtension, named_params};
use std::path::Path;
use std::time::Duration;
use tenure::clock::{Clock, SystemClock};

const ACQUIRE: &str = "INSERT INTO instance_leases VALUES (:lease, :me, 1, :now, :now + :ttl)
    ON CONFLICT (lease_name) DO UPDATE SET holder_id = excluded.holder_id, fence = fence + 1,
    acquired_at = excluded.acquired_at, expires_at = excluded.expires_at WHERE expires_at <= :now RETURNING fence";
const RELEASE: &str = "UPDATE instance_leases SET expires_at = 0
    WHERE lease_name = :lease AND holder_id = :me AND fence = :fence";

/// What rusqlite sets by itself.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// One connection.
#[derive(Debug)]
pub struct ByHand {
    /// As durable as the crate's own.
    pub connection: Connection,
    lease: String,
    me: String,
    fence: i64,
}

impl ByHand {
    /// On a file that has the table, in WAL.
    pub fn new(file: &Path, lease: &str) -> Self {
        let connection = Connection::open(file).expect("a connection");
        connection.busy_timeout(BUSY_TIMEOUT).expect("a setting");
        connection.pragma_update(None, "synchronous", "EXTRA").expect("a setting");
        let me = format!("by hand {:016x}", tenure::random::nonce().expect("a random number"));
        Self { connection, lease: lease.into(), me, fence: 0 }
    }

    /// Who it is in the row.
    pub fn me(&self) -> &str {
        &self.me
    }

    /// Stepped to its end, since the commit comes with that.
    fn acquire(&self) -> rusqlite::Result<Option<i64>> {
        let now = SystemClock.wall().as_unix_millis();
        let ttl = TTL.as_millis() as i64;
        self.connection
            .prepare_cached(ACQUIRE)?
            .query_one(
                named_params! {":lease": self.lease, ":me": self.me, ":now": now, ":ttl": ttl},
                |row| row.get(0),
            )
            .optional()
    }

    fn give_back(&self) -> rusqlite::Result<usize> {
        self.connection
            .prepare_cached(RELEASE)?
            .execute(named_params! {":lease": self.lease, ":me": self.me, ":fence": self.fence})
    }
}

/// `None` if the busy handler gave up.
fn unless_busy<T>(result: rusqlite::Result<T>) -> Option<T> {
    match result {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => None,
        result => Some(result.expect("it works")),
    }
}

impl Contender for ByHand {
    fn try_acquire(&mut self) -> Option<i64> {
        self.fence = unless_busy(self.acquire())??;
        Some(self.fence)
    }

    fn release(&mut self) {
        let changed = std::iter::repeat_with(|| unless_busy(self.give_back())).find_map(|changed| changed);
        assert_eq!(changed, Some(1));
    }
}
