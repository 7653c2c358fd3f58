//! A named lease with a fencing token, on SQLite: of many processes, exactly one holds it and may act.
//!
//! The lease is a row of a table in an SQLite file that the contenders share. Each tenure, one unbroken custody of
//! a lease, has a number of its own, its [fence](Held::fence), higher than all before it: hand it to whatever you write
//! to, and a holder that stalled and came back is refused. SPEC.md, in the repository, states the protocol as rules R1
//! to R12; its model is checked in full, and rules are cited here by their numbers.
//!
//! # Async
//!
//! With the feature `tokio`, for its `CancellationToken`; any runtime will do.
//!
#![cfg_attr(feature = "tokio", doc = "```")]
#![cfg_attr(not(feature = "tokio"), doc = "```ignore")]
//! # use std::time::Duration;
//! use tenure::{CancellationToken, Elector, Held};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("app.db");
//! // Once, at the start: it opens the file, and blocks for it.
//! let elector = Elector::builder(&file).ttl(Duration::from_secs(15)).label("web-1").build()?;
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//!
//! let done = elector
//!     .run("cleanup", async |held: Held, stop: CancellationToken| {
//!         for batch in 1..=3 {
//!             if stop.is_cancelled() || !held.is_held() {
//!                 break;
//!             }
//!             println!("batch {batch}, with fence {}", held.fence());
//!             tokio::time::sleep(Duration::from_millis(1)).await;
//!         }
//!     })
//!     .await;
//! # done?;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Blocking
//!
//! ```
//! # use std::time::Duration;
//! use tenure::Elector;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("app.db");
//! let elector = Elector::builder(&file).build()?;
//!
//! elector.run_blocking("cleanup", |held| {
//!     for batch in 1..=3 {
//!         if held.should_stop() {
//!             break;
//!         }
//!         println!("batch {batch}, with fence {}", held.fence());
//!     }
//! })?;
//!
//! // Or hold it yourself: every wait is a future, and has a `wait` for threads.
//! let held = elector.acquire("backup").wait()?;
//! assert!(held.is_held());
//! drop(held); // gives it back
//! # Ok(())
//! # }
//! ```
//!
//! # What `run` does
//!
//! 1. It waits its turn, if this process contends for that name already.
//! 2. It looks at the row each poll interval, and acquires it once it is free: one conditional write, with a new fence
//!    (R1, R2).
//! 3. It calls the work. Meanwhile the lease is renewed each third of the TTL, on a thread of its own. Each renewal is
//!    believed from the moment it was *sent* (R4).
//! 4. Before each act the work asks [`Held::is_held`]: a comparison of the clock with the deadline, which needs no answer
//!    and no other thread (R5). It hands the fence to whatever it writes to; what it writes to the same file goes through
//!    [`Held::transaction`], which commits only while nobody else has been granted the lease (R9).
//! 5. When renewals fail and only the grace is left, or at a [`shutdown`](Elector::shutdown), the work is told to stop.
//!    Async work that has not returned when its grace is over is dropped, before anybody else can hold the lease; work on
//!    a thread cannot be stopped from outside: it looks at [`Held::should_stop`].
//! 6. When the work has returned, the lease is given back, and is free for everybody at once (R6). If it was lost, it goes
//!    on with 1, but not before the work has stopped. Work that panicked or was dropped gives nothing back: the lease
//!    runs out.
//!
//! [`acquire`](Elector::acquire) is 1 and 2 alone: the last clone of [`Held`] that is dropped gives the lease back.
//!
//! # When something goes wrong
//!
//! Errors are typed, and say what to do: [`Remedy`]. A lease that is lost is told once, with the reason,
//! by [`Held::lost`]; each change of custody is an event of `tracing`, with lease, fence and holder. A store that fails is
//! asked again and again, and ends nothing by itself. [`Elector::health`] and [`Elector::counters`] are for your own
//! health check and metrics; [`Elector::observe`] sees who holds a lease without contending for it.
//!
//! If the process dies in the middle, also by a signal that nobody handles, whatever it did is either committed or not, and
//! its lease runs out: others have it after the TTL, and a poll interval (a fifteenth of the TTL, at most a second), at the
//! latest `max_skew` later. The next holder has the next fence.
//!
//! Events have the target `tenure`: at info, a lease was acquired, or released; at warn, it was lost, or not released; at
//! debug, the store did not answer.
//!
//! # Which thread does what
//!
//! ```text
//!   your threads and tasks          timer thread                    store thread
//!
//!   Elector, Held, Observer         step(now)                         SqliteStore
//!        |                          |                                 |
//!        |------- orders ---------->| contenders, one a lease name    |
//!        |                          |-------- a batch of requests --->| one transaction
//!        |<------ grants, losses ---|<------- its answers ------------| (may block, or hang)
//!        |                          |
//!   is_held(): compares the clock   | no I/O, and no call that blocks
//! ```
//!
//! All leases of an elector share its threads. Neither a starved async runtime nor a call of the store that hangs delays a
//! renewal that could be made, or a loss. A call that hangs for longer than the request timeout is given up on, and
//! another store thread opens the file anew; while one hangs, no third is started. One more thread passes events to
//! `tracing`, so that a subscriber that blocks delays nothing. If the timer thread itself dies of a defect, every tenure
//! is lost, and everybody is told ([`Loss::KeeperDied`]).
//!
//! # What it is not
//!
//! - Not a queue: whoever is first gets the lease. Not a schedule: the next holder works as well.
//! - Not for machines that share no file: the store is one SQLite file on one host. (Containers on it count.)
//! - Not enough by itself for acts outside the store. ([`Held::transaction`] is for acts within.) A process can be paused between its check and its act: only
//!   whoever receives the act, and compares fences, can refuse it.
//! - Not a supervisor: tasks and threads that your work starts are yours to stop before it returns. Give each a clone of
//!   [`Held`]: it tells them when it is lost, and after a loss this process does not contend again before the last is
//!   dropped.
//!
//! # What to know of SQLite
//!
//! - The file must be on a local disk, in a directory that all contenders share; `:memory:` is nobody else's. Network file
//!   systems and hard links are refused, as far as they can be told.
//! - A new file gets WAL; an existing one keeps its journal mode. Our connection is its own, with
//!   `synchronous=EXTRA`; every other connection to the file must use at least NORMAL (R8).
//! - A writer that keeps the file locked for longer than TTL less the renewal interval costs a holder its lease.
//! - A running elector never makes a database anew that has vanished, and one that went back to an older state ends all
//!   contending for the lease (R11).
//! - One program must not contain two copies of SQLite that open one file: closing a file drops the other copy's
//!   locks. Cargo sees to it as far as it can: only one crate may link `sqlite3`. If your program links SQLite by
//!   other means, turn the feature `bundled` off.
//! - An elector remembers the highest fence of each name that it has ever contended for (R11), in some 300 bytes: have few
//!   names, not one a job.
//! - Do not `fork` a process that has an elector: the child has its memory, and not its threads.
//! - Linux and macOS.
//!
//! # Features
//!
//! - `bundled`, on by default: SQLite is compiled in; without it the system's is linked.
//! - `tokio`: [`Elector::run`](Elector) for async work, with tokio-util's `CancellationToken`. Brings no runtime.
//! - `instance`: [the guard of one instance](instance), where the store has no compare-and-set. Brings serde_json and
//!   humantime.
//! - `object_store`: its record in any backend of that crate, `instance::ObjectRecords`. Brings that, and a tokio runtime.
//! - `cli`: what the command `tenure` needs.
pub mod clock;
pub mod elector;
pub mod fenced;
#[cfg(feature = "instance")]
pub mod instance;
pub mod keeper;
pub mod protocol;
pub mod random;
pub mod store;

pub use elector::{AcquireError, BuildError, Builder, Elector, Held, Observer, Remedy, ShutdownError, Wait};
pub use fenced::TransactionError;
pub use keeper::{Counters, Health, NotReleased, Sighting};
pub use protocol::{ConfigError, Durations, End, Fence, LeaseName, Loss, Row};
pub use store::OpenError;
#[cfg(feature = "tokio")]
pub use tokio_util::sync::CancellationToken;

#[cfg(all(unix, feature = "cli"))]
#[doc(hidden)]
pub mod cli;

/// The README's program.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
