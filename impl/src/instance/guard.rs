//! The guard.

use super::claim::Claim;
use super::error::{ClaimError, OptionsError};
use super::log::Log;
use super::machine::{Answer, Machine, Request, Timing};
use super::options::Options;
use super::record::Seen;
use super::records::Records;
use super::shared::{Memory, Shared, lock};
use crate::clock::Clock;
use crate::elector::Wait;
use crate::keeper::Witness;
use crate::protocol::Label;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// How many claims of a guard may be there at once, with those that hang in its store though nobody waits for them: one is
/// enough, and each of them keeps a thread.
pub(super) const CLAIMS_MAX: usize = 32;

/// Announces this instance in a record, and refuses where another's is live. See [the module](super) for what that is worth.
pub struct Guard {
    pub(super) records: Arc<Mutex<Box<dyn Records>>>,
    memory: Memory,
    timing: Timing,
    label: Label,
    clock: Arc<dyn Clock>,
}

impl Guard {
    /// A guard on that record. Nothing is read or written yet.
    ///
    /// # Errors
    /// An option cannot be used.
    pub fn new(records: impl Records + 'static, options: Options) -> Result<Self, OptionsError> {
        Ok(Self {
            records: Arc::new(Mutex::new(Box::new(records))),
            memory: Memory::default(),
            timing: options.timing()?,
            label: options.label()?,
            clock: options.clock,
        })
    }

    /// Announces this instance, if no other's record is live. It begins with the call, on threads of its own, and takes the
    /// settle time and the store's. Whoever drops the [`Wait`] has the record removed, on those threads; if the process ends
    /// before that is done, the record is live until its TTL has passed: who is about to end waits for the claim, and drops
    /// that.
    ///
    /// # Errors
    /// [`ClaimError`]; mostly that another instance is alive. Its text says what to do. To claim again with the same guard
    /// is better than with another: it remembers since when a record has not changed.
    pub fn claim(&self) -> Wait<Result<Claim, ClaimError>> {
        let begun = self.begin(None);
        Wait::new(&self.clock, async move {
            let claim = begun?;
            claim.outcome().await?;
            Ok(claim.stands())
        })
    }

    /// A claim of which nothing came yet. `witness` is told what stands in its way.
    pub(crate) fn begin(&self, witness: Option<Arc<dyn Witness>>) -> Result<Claim, ClaimError> {
        if Arc::strong_count(&self.records) > CLAIMS_MAX {
            return Err(ClaimError::NoAnswer);
        }
        let id = format!("{}-{:016x}", self.label.as_str(), crate::random::nonce()?);
        let no_thread = |error: std::io::Error| ClaimError::NoThread(error.to_string());
        let machine = Machine::new(id, self.timing, lock(&self.memory).clone());
        let (clock, memory) = (Arc::clone(&self.clock), Arc::clone(&self.memory));
        let log = Log::start().map_err(no_thread)?;
        let shared = Arc::new(Shared::new(machine, clock, memory, log, witness));
        let (timer, desk) = (Arc::clone(&shared), Arc::clone(&shared));
        let records = Arc::clone(&self.records);
        #[expect(clippy::disallowed_methods, reason = "the thread of the records, which may hang in a call")]
        std::thread::Builder::new()
            .name("tenure-records".into())
            .spawn(move || desk.serve(&records, |records, request| carry_out(&mut **records, request)))
            .map_err(no_thread)?;
        #[expect(clippy::disallowed_methods, reason = "the timer thread, which does no I/O")]
        let started = std::thread::Builder::new().name("tenure-instance".into()).spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| timer.drive()));
            timer.close();
        });
        started.map_err(|error| {
            shared.close();
            no_thread(error)
        })?;
        Ok(Claim::pending(shared))
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guard({:?}, {:?})", self.label.as_str(), self.timing)
    }
}

/// A store is somebody else's code: a call that panics is one that failed.
fn carry_out(records: &mut dyn Records, request: Request) -> Answer {
    match request {
        Request::Read => {
            let bytes = tried(|| records.read());
            Answer::Read(bytes.map(|bytes| Seen::of(bytes.as_deref())))
        }
        Request::Write(record) => Answer::Done(tried(|| records.write(record.to_json().as_bytes()))),
        Request::Delete => Answer::Done(tried(|| records.delete())),
    }
}

fn tried<T>(call: impl FnOnce() -> Result<T, super::RecordsError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the store's code panicked".into()),
    }
}
