//! Building an elector.

use super::{BuildError, Elector, Inner};
use crate::clock::{Clock, SystemClock};
use crate::keeper::{Keeper, NoKeeper, Parts, Pauses};
use crate::protocol::{Durations, Label};
use crate::random::Dice;
use crate::store::{OpenError, SqliteStore, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What an elector is built from. Everything is checked before anything is written.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    file: PathBuf,
    durations: Durations,
    label: Option<String>,
    clock: Arc<dyn Clock>,
}

impl Builder {
    pub(super) fn new(file: &Path) -> Self {
        Self { file: file.into(), durations: Durations::default(), label: None, clock: Arc::new(SystemClock) }
    }

    /// How long a lease lasts without a renewal; the other durations follow from it. From 100 ms to 30 days; 15 s unless
    /// set. All who contend for a lease must give the same.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.durations.ttl = ttl;
        self
    }

    /// All durations.
    pub fn durations(mut self, durations: Durations) -> Self {
        self.durations = durations;
        self
    }

    /// What others see as the holder, 1 to 255 bytes without control characters: the host name unless set. Instances may
    /// share it.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Another clock than the machine's: for tests, [`SetClock`](crate::clock::SetClock).
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the file, or creates it, and its table, and starts the threads. Blocks, mostly for a millisecond, for a busy
    /// file at most the request timeout: an async program that minds does it before its runtime starts, or in
    /// `spawn_blocking`.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<Elector, BuildError> {
        let (elector, keeper) = self.assemble(Dice::system(), true)?;
        keeper.start()?;
        Ok(elector)
    }

    /// The same without threads, for tests and simulations: whoever calls this drives the keeper, and the elector draws its
    /// random numbers from `seed`. Two electors on one file need two seeds: holder ids come from them.
    ///
    /// All that is to happen at one moment has happened when nothing is left to serve:
    ///
    /// ```
    /// # use tenure::{Elector, clock::{Clock, SetClock}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// let clock = SetClock::new();
    /// let (elector, mut keeper) =
    ///     Elector::builder(directory.path().join("app.db")).clock(clock.clone()).build_by_hand(1)?;
    /// let acquire = elector.acquire("cleanup");
    /// # let mut acquire = Box::pin(acquire);
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(acquire.as_mut().poll(&mut context).is_pending());
    /// // … which is polled by hand, too: nobody is there to end a `wait`.
    /// let next = loop {
    ///     let next = keeper.step(clock.local());
    ///     if !keeper.serve() {
    ///         break next;
    ///     }
    /// };
    /// # assert!(acquire.as_mut().poll(&mut context).is_ready());
    /// // Then the clock may go on to `next`.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build_by_hand(self, seed: u64) -> Result<(Elector, Keeper), BuildError> {
        self.assemble(Dice::seeded(seed), false)
    }

    fn assemble(self, dice: Dice, threads: bool) -> Result<(Elector, Keeper), BuildError> {
        // What can be refused is refused before the file is touched.
        self.durations.check()?;
        self.holder_label()?;
        let store = self.open()?;
        self.on(Box::new(store), dice, threads)
    }

    /// An elector on any store.
    pub(crate) fn on(
        self,
        store: Box<dyn Store>,
        dice: Dice,
        threads: bool,
    ) -> Result<(Elector, Keeper), BuildError> {
        let (timing, label) = (self.durations.check()?, self.holder_label()?);
        let (clock, file) = (Arc::clone(&self.clock), Arc::<Path>::from(absolute(&self.file)));
        let parts = Parts { store, clock: self.clock, timing, label, file: Arc::clone(&file), dice, threads };
        let (keeper, hands) = Keeper::new(parts).map_err(|error| match error {
            NoKeeper::NoRandomness(error) => BuildError::NoRandomness(error),
            NoKeeper::NoThread(error) => BuildError::NoThread(error),
        })?;
        let record = keeper.record();
        Ok((Elector(Arc::new(Inner { clock, timing, file, record, hands })), keeper))
    }

    fn holder_label(&self) -> Result<Label, BuildError> {
        Ok(match &self.label {
            Some(label) => Label::new(label)?,
            None => Label::new(&rustix::system::uname().nodename().to_string_lossy())?,
        })
    }

    fn open(&self) -> Result<SqliteStore, BuildError> {
        let give_up_at = self.clock.local().plus(self.durations.check()?.request_timeout_ms());
        let mut pauses = Pauses::default();
        loop {
            pauses.take(&*self.clock);
            match SqliteStore::open(&self.file, Arc::clone(&self.clock)) {
                Err(OpenError::Busy { .. }) if self.clock.local() < give_up_at => {}
                opened => return Ok(opened?),
            }
        }
    }
}

/// The path, also when the working directory has changed.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.into())
}
