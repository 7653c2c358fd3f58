//! Writes to the application's own tables that land only while the lease is held: SPEC.md R9.

mod commits;
mod error;
pub(crate) mod inside;

pub use error::TransactionError;

use crate::elector::Held;
use crate::protocol::{Loss, Seen};
use crate::store::{is_open_on, read_row};
use commits::Commits;
use inside::Inside;
use rusqlite::{Connection, Transaction, TransactionBehavior};

impl Held {
    /// Does `work` in a transaction of your own connection, which commits only while no successor has been granted the
    /// lease, whatever the clocks did (SPEC.md R9). The connection must be to the elector's file.
    ///
    /// It takes the write lock first (`BEGIN IMMEDIATE`; the connection's busy timeout is yours to set), then looks
    /// whether the lease is held, by the clock and in the row. While the work runs nobody can take the lease, and nobody
    /// can renew one: be quick. If the deadline passes meanwhile the commit stands, and the lease is lost afterwards. If
    /// the process dies meanwhile, or the work panics, nothing is written.
    ///
    /// No commit but this one is possible meanwhile, not even after a statement that rolled the whole transaction back.
    /// The connection's commit and rollback hooks are used for that, and are empty afterwards. Within, no lease of this
    /// file can be acquired or released: that would wait for this very lock.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("app.db");
    /// let elector = tenure::Elector::builder(&file).build()?;
    /// let mut connection = rusqlite::Connection::open(&file)?;
    /// connection.execute_batch("CREATE TABLE IF NOT EXISTS cursor (position INTEGER)")?;
    ///
    /// let held = elector.acquire("consumer").wait()?;
    /// held.transaction(&mut connection, |transaction| {
    ///     transaction.execute("INSERT INTO cursor VALUES (?1)", [7])
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TransactionError`]. But for [`TransactionError::Unknown`], nothing was written.
    pub fn transaction<T, E>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, TransactionError<E>> {
        self.check().map_err(TransactionError::Lost)?;
        if !connection.is_autocommit() || inside::is_inside(self.file()) {
            return Err(TransactionError::InTransaction);
        }
        if !is_open_on(connection, self.file()) {
            return Err(TransactionError::OtherFile { file: self.file().to_owned() });
        }
        let inside = Inside::enter(self.file());
        let mut commits = Commits::forbid(connection).map_err(TransactionError::before)?;
        let permit = commits.permit();
        let transaction = commits
            .connection()
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(TransactionError::before)?;
        // The wait for the lock may have outlasted the lease.
        self.check().map_err(TransactionError::Lost)?;
        self.check_row(&transaction)?;
        let value = work(&transaction).map_err(TransactionError::Work)?;
        if permit.was_rolled_back() {
            return Err(TransactionError::RolledBack);
        }
        permit.allow();
        transaction.commit().map_err(TransactionError::at_commit)?;
        drop((commits, inside));
        // SPEC.md R11.3: what was committed to a file that is not the file any more may be lost with it.
        if is_open_on(connection, self.file()) { Ok(value) } else { Err(TransactionError::Unknown(None)) }
    }

    /// Whether the row names this tenure, and is not released: under the write lock, so that it stays so (SPEC.md R9.1).
    /// Whether it has expired does not matter: nobody has succeeded it.
    fn check_row<E>(&self, transaction: &Transaction<'_>) -> Result<(), TransactionError<E>> {
        let loss = match read_row(transaction, self.lease()).map_err(TransactionError::before)? {
            Seen::Unreadable(why) => return Err(TransactionError::Unreadable(why)),
            Seen::Absent => Loss::StoreWentBack,
            Seen::Row(row) => match row.end_of(self.holder(), self.fence()) {
                Loss::Expired => return Ok(()),
                loss => loss,
            },
        };
        self.0.find_lost(loss.clone());
        Err(TransactionError::Lost(loss))
    }
}
