//! A named lease with a fencing token, on SQLite: of many processes, exactly one holds it and may act.
//!
//! The lease is a row of a table in an SQLite file that the contenders share. Each tenure, one unbroken custody of
//! a lease, has a number of its own, its [fence](protocol::Fence), higher than all before it: hand it to whatever
//! you write to, and a holder that stalled and came back is refused. SPEC.md, in the repository, states the
//! protocol as rules R1 to R12; its model is checked in full, and rules are cited here by their numbers.
//!
//! This first form has the parts that the command `tenure` is made of. A driver that runs them for you, with handles
//! for async and blocking callers, comes next.
//!
//! - [`protocol`]: a contender as a pure state machine.
//! - [`store`]: the table, and the thread that talks to it.
//! - [`clock`], [`random`]: the only places that read clocks, wait, and draw random numbers.
//!
//! # Example
//!
//! Acquire a lease, act, and give it back:
//!
//! ```
//! use std::sync::{Arc, mpsc::channel};
//! use tenure::clock::{Clock, SystemClock};
//! use tenure::protocol::{Contender, Durations, Event, HolderId, Input, Label, LeaseName, Reply};
//! use tenure::store::{SqliteStore, StoreThread};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("app.db");
//! let timing = Durations::default().check()?; // TTL 15 s
//! let me = HolderId::new(&Label::new("web-1")?, tenure::random::nonce()?, &timing);
//! let mut contender = Contender::new(LeaseName::new("cleanup")?, me, timing);
//!
//! let clock = SystemClock;
//! let (replies, inbox) = channel();
//! let store = SqliteStore::open(file, Arc::new(clock))?;
//! let store = StoreThread::start(store, Arc::new(clock), move |id, answer| {
//!     let reply = answer.unwrap_or(Reply::Failed);
//!     replies.send(Input::Reply { id, reply }).ok();
//! })?;
//!
//! let mut input = Input::Wake;
//! 'run: loop {
//!     let output = contender.step(clock.local(), tenure::random::roll(), input);
//!     output.request.into_iter().for_each(|request| store.send(request));
//!     input = Input::Wake;
//!     for event in output.events {
//!         match event {
//!             Event::Granted(tenure) => {
//!                 println!("acting with fence {}", tenure.fence); // short work; long work runs elsewhere
//!                 contender.step(clock.local(), 0, Input::Shutdown);
//!                 input = Input::WorkStopped;
//!             }
//!             Event::Ended(_) => break 'run,
//!             _ => {}
//!         }
//!     }
//!     if input == Input::Wake {
//!         input = clock.receive(&inbox, output.next).unwrap_or(Input::Wake);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What to know of SQLite
//!
//! - The file must be on a local disk, in a directory that all contenders share; `:memory:` is nobody else's.
//! - A new file gets WAL; an existing one keeps its journal mode. Our connection is its own, with
//!   `synchronous=EXTRA`; every other connection to the file must use at least NORMAL (R8).
//! - One program must not contain two copies of SQLite that open one file: closing a file drops the other copy's
//!   locks. Cargo sees to it as far as it can: only one crate may link `sqlite3`. If your program links SQLite by
//!   other means, turn the feature `bundled` off.
//! - Linux and macOS.
pub mod clock;
pub mod protocol;
pub mod random;
pub mod store;

#[cfg(all(unix, feature = "cli"))]
#[doc(hidden)]
pub mod cli;
