//! Not a lock: a guard that refuses to start an instance while another one is seen to run, on a store that has no
//! compare-and-set.
//!
//! A service that may run once only, and whose one store is a file share, a bucket or the like, announces itself there in a
//! small record that it renews, and does not start while another's record is live. So the common mistake, a second instance
//! that is started while the first one runs, as a rolling update does, is refused.
//!
//! ```
//! use tenure::instance::{FileRecords, Guard, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("instance.json");
//! # let options = Options { settle: Some(std::time::Duration::from_millis(1)), ..Options::default() };
//! # /*
//! let guard = Guard::new(FileRecords::new("/srv/share/instance.json"), Options::default())?;
//! # */
//! # let guard = Guard::new(FileRecords::new(file), options)?;
//! let claim = guard.claim().wait()?; // or `.await`; an error says what to do
//! for _ in 0..3 {
//!     if !claim.is_current() {
//!         break; // overwritten, or not renewed: stop the service
//!     }
//!     println!("one batch");
//! }
//! claim.stand_down().wait()?; // the next one may start at once
//! # Ok(())
//! # }
//! ```
//!
//! # What it catches, and what it does not
//!
//! - It catches an instance that is started while another's record is live: [`ClaimError::AnotherInstance`].
//! - Two that start at the same moment can both read "nobody there" and both write. After writing, a claim waits the
//!   settle time, reads back, and yields if another's record stands there. That narrows the race, and does not close it:
//!   one whose write is carried out later than the settle time after its read starts beside the other, as below. If no write
//!   is so late, clocks agree, and nobody else removes or changes records, no two run, whatever else goes wrong. That is
//!   model-checked for two instances (SPEC.md, section 10).
//! - Before each renewal the record is read, and an instance that finds another's is told that its claim is lost: so within a
//!   third of the TTL (of the longest, if they differ) all but one are, as long as the store and the processes go on and no
//!   late write or delete is still to come; after one it can take another third.
//! - A renewal reads, then writes: in the moment between the two it can write over another's record, which then is the one
//!   that is lost. So can a write that hung in the store, and is carried out late; and a late delete can remove another's
//!   record, which writes it again with its next renewal.
//! - An instance whose renewals fail for a whole TTL is told that its claim is lost, on time, by the clock. Nobody stops it.
//!   It may go on acting while the next one starts.
//! - Nothing that it writes elsewhere is fenced: there is no number that a late write could be refused by.
//!
//! The shortest run in which two run, as the model finds it. Time runs downward, in ticks; the record is in the middle:
//!
//! ```text
//! two instances run: the guard is no lock
//! TTL 6 ticks, settle time 1, writes at most 1 late
//!
//! t                      A                  store                                 B
//! 0                      ┊                │ no record            │                ┊
//!                 looks  ┊  ╌╌╌ look ╌╌╌╌╌│                      │                ┊
//!                        ┊                │                      │╌╌╌╌╌ look ╌╌╌  ┊  looks
//!                        ┊ ──── look ────▶│                      │                ┊
//!                        ┊                │                      │◀──── look ──── ┊
//!                writes  ┊ ◀── nothing ───│                      │                ┊
//!                        ┊ ──── write ───▶│ A: 6 left            │                ┊
//!         waits to read  ┊ ◀─── done ─────│                      │                ┊
//!                  back  ┊                │                      │                ┊
//! 1                      ┊ ┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│ A: 5 left            │┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈░┊░
//!                        ┊                │                      │─── nothing ──▶ ┊  writes
//!            reads back  ┊  ╌ read back ╌╌│                      │                ┊
//!                        ┊ ── read back ─▶│                      │                ┊
//!                        ┊                │ B: 6 left            │◀─── write ──── ┊
//!                  runs ▐█▌◀── its own ───│                      │                ┊
//!                        █                │                      │───── done ───▶ ┊  waits to read
//!                        █                │                      │                ┊  back
//! 2                      █ ┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│ B: 5 left            │┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈ ┊
//!                        █                │                      │╌╌ read back ╌  ┊  reads back
//!                        █                │                      │◀─ read back ── ┊
//!                        █                │                      │─── its own ──▶▐█▌ runs
//!                        ✗                │                      │                ✗
//!
//! B has looked before A wrote, stalls for the settle time, and writes after A has read back its own
//! record. Each finds its own, and both run. With the next check the one that wrote first is told to
//! stop.
//!
//! ▐█▌ an instance runs, █ until it is told to stop; │ it was told to; ┊ it claims, or has not begun
//! ╌╌ a request sets out, ──▶ and is carried out, ◀── its answer arrives; ✗ lost; ══▶ late
//! ░ stalls: could go on and does not; ≈ its request is under way
//! store: whose record, ticks until it has run out; t: ticks passed
//! ```
//!
//! **Use a lease instead wherever you can**: [`Elector`](crate::Elector), on SQLite, where one conditional write decides, each
//! tenure has its fence, and a write of your own commits only while nobody else holds it.
//!
//! # Where a record is kept
//!
//! In a file: [`FileRecords`]. In an object of any backend of the crate `object_store`: `ObjectRecords`, with the feature
//! `object_store`; its docs say which backends are tested, and how, and which have compare-and-set. Anywhere else: your own
//! [`Records`].
//!
//! # When a record is live
//!
//! - It is live until its TTL, which stands in it, has passed since its writer renewed it, *by the reader's wall clock*. A
//!   reader whose clock is behind the writer's waits longer, which is safe. One whose clock is ahead, by two thirds of the
//!   TTL, counts a record as gone that is being renewed, and starts beside a live instance; by less, one whose renewals
//!   fail, before its writer stops. So the TTL stays well above any plausible skew.
//! - One from the future, as of a clock that was corrected since, is live no longer than until its TTL has passed since this
//!   process first saw it unchanged, by its own clock: claim again with the same [`Guard`], after a while. A process that
//!   ends, and is started again, counts anew: for it a person removes the record.
//! - One that is unreadable is live: cut off, empty, not JSON, not UTF-8, of another version, of wrong types or ranges, with
//!   a field twice, longer than [4096 bytes](BYTES_MAX), or not to be read for lack of permission. It is no evidence that
//!   nobody is there, and not to start can be put right. It does not run out: a person makes sure that nobody runs, and
//!   removes it.
//! - One that is not there is not. An instance that finds its own removed by a person writes it again.
//!
//! A crash leaves the record, live until its TTL has passed: so long a new start is refused. A
//! [stand-down](Claim::stand_down) removes it, if it is still ours.
//!
//! # The record
//!
//! ```json
//! {"tenure_instance":1,"id":"web-1-00c0ffee00c0ffee","since_ms":1767225600000,"renewed_ms":1767225640000,"ttl_ms":120000}
//! ```
//!
//! `id` is the label and a random number, another one for each claim. Times are Unix milliseconds. The TTL is from 1 s to
//! a day, 2 minutes unless set; instances may have different ones. It is renewed each third of it; a renewal that failed is
//! tried again after a thirtieth, or the settle time if that is longer; a removal after a second at the latest.
//!
//! # Tests of what is built on this
//!
//! With a [`SetClock`](crate::clock::SetClock) nothing waits in earnest. Two threads of a claim wait by it.
//!
//! ```
//! use tenure::clock::SetClock;
//! use tenure::instance::{FileRecords, Guard, Loss, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("instance.json");
//! let clock = SetClock::new();
//! let options = Options { clock: clock.clone(), ..Options::default() };
//! let guard = Guard::new(FileRecords::new(&file), options)?;
//! let claiming = guard.claim();
//! clock.settle(2); // it has written
//! clock.advance(1_000); // the settle time
//! let claim = claiming.wait()?;
//!
//! std::fs::write(&file, "somebody else")?;
//! clock.settle(2);
//! clock.advance(40_000); // a third of the TTL
//! assert!(matches!(claim.lost().wait(), Loss::Overwritten { .. }));
//! # Ok(())
//! # }
//! ```
//!
//! # Which thread does what
//!
//! One calls the store, and may hang there. Another does no I/O: it knows when to renew, and tells of a loss on time
//! whatever the first one does. Neither needs an async runtime. [`Claim::is_current`] compares the clock and
//! needs neither. A third passes what changes to `tracing`, with the target `tenure`: at info, the claim stands, or was
//! stood down; at warn, the record was not renewed, not removed, or the claim is lost. `fork` copies none of them: claim in
//! the process that runs.

mod claim;
mod error;
mod guard;
mod log;
pub mod machine;
#[cfg(feature = "object_store")]
mod objects;
mod options;
mod record;
mod records;
mod shared;
#[cfg(test)]
mod tests;

pub use claim::Claim;
#[cfg(feature = "cli")]
pub(crate) use error::utc;
pub use error::{ClaimError, Loss, NotRemoved, OptionsError};
pub use guard::Guard;
#[cfg(feature = "object_store")]
pub use objects::ObjectRecords;
pub use options::Options;
pub use record::{BYTES_MAX, Record, Seen};
pub use records::{FileRecords, Records, RecordsError};
