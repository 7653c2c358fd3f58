//! A record in an object store.

use super::record::BYTES_MAX;
use super::records::{Records, RecordsError};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use std::fmt;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};

/// A record in an object, in any backend of the crate [`object_store`]. Your own Cargo.toml switches on the backend that you
/// use, and the same version of that crate as here: 0.14.
///
/// ```
/// use object_store::{ObjectStore, memory::InMemory, path::Path};
/// use std::sync::Arc;
/// use tenure::instance::{Guard, ObjectRecords, Options};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let options = Options { settle: Some(std::time::Duration::from_millis(1)), ..Options::default() };
/// # /*
/// let options = Options::default();
/// # */
/// let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new()); // or what HttpBuilder, AmazonS3Builder … built
/// let records = ObjectRecords::new(store, Path::from("service/instance.json"))?;
/// let claim = Guard::new(records, options)?.claim().wait()?;
/// println!("{} is the one instance", claim.id());
/// claim.stand_down().wait()?;
/// # Ok(())
/// # }
/// ```
///
/// # Which backends
///
/// | backend | tested | has compare-and-set |
/// |---|---|---|
/// | `InMemory` | whenever the tests run | yes |
/// | `LocalFileSystem` | whenever the tests run | to create an object, not to replace one |
/// | `HttpStore` (WebDAV) | in CI, against Apache's `mod_dav` | no |
/// | `MicrosoftAzure` | in CI, against Azurite, the emulator | yes |
/// | `AmazonS3` | no: a guard on it is built, and nothing asked | yes, unless switched off; not in all services like S3 |
/// | `GoogleCloudStorage` | no: a guard on it is built, and nothing asked | yes |
///
/// **A guard is the wrong tool where there is compare-and-set**: conditional writes are what a lease is made of, and this asks
/// for none. Tenure has no lease on object stores. Its lease is [`Elector`](crate::Elector), on SQLite.
///
/// For a plain file [`FileRecords`](super::FileRecords) is better. `LocalFileSystem` writes beside the file and renames, too;
/// but it syncs only if told so, `with_fsync(true)`, and a file that is empty after a loss of power counts as live until
/// somebody removes it. A crash between the two leaves a file of the same name with `#` and a number at its end.
///
/// # What to set in the store
///
/// - **Timeouts well below a third of the TTL.** Unless set, a request may take 30 s, and is sent again for up to three minutes,
///   which is longer than the default TTL. It takes `RetryConfig::retry_timeout`, one pause of `max_backoff` and one
///   `ClientOptions::with_timeout` at most; a call is one request, and a few more when WebDAV makes directories. With a TTL of
///   two minutes, 10 s, 2 s and 5 s do. Otherwise a claim fails late; and a write that is sent again, or hangs on its way, may
///   be carried out late, over another's record, or after ours was removed.
/// - **A store of the guard's own**, built for it. One that is shared keeps connections that belong to whichever runtime
///   opened them: while yours is busy, our calls on its connections wait; and when it ends, one may fail that is under way.
/// - **Nothing between that caches**: no caching proxy, no CDN, and no object that Google's store serves to the public.
///
/// # What else to know
///
/// - It has a tokio runtime of its own, of one thread, from its making until it is dropped, which waits for nothing and may
///   be done in async code. Its calls block, and panic in async code: the guard calls them on a thread of its own.
/// - Nothing is there if the backend says that it found nothing. Some say so too where the whole bucket is missing, or a
///   directory stands there; then the write fails, and so does the claim.
/// - What an error says is on one line, without user, password and query of URLs. What else a server says is told as it is.
/// - `HttpStore` sends no user and password that stand in its URL: they go into a header, with
///   `ClientOptions::with_default_headers`.
/// - Apache asks for the length of a file before it opens it. Who reads while a record of another length is put in its place
///   can, rarely, get the beginning of the new one only, or the new one and zeros: what is unreadable counts as live. A
///   renewal does not change the length.
pub struct ObjectRecords {
    store: Arc<dyn ObjectStore>,
    path: Path,
    handle: Handle,
    /// `None` once this is dropped.
    runtime: Option<Runtime>,
}

impl ObjectRecords {
    /// A record in that object, which need not be there. Nothing is read or written yet; a runtime is started, with one
    /// thread.
    ///
    /// # Errors
    /// The operating system starts no more threads, or has no more file descriptors.
    pub fn new(store: Arc<dyn ObjectStore>, path: Path) -> std::io::Result<Self> {
        // Not `current_thread`, which does nothing between two calls: it would not notice that a pooled connection has
        // been closed, and whoever shares the store would wait for such a connection of ours.
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("tenure-objects").enable_all().build()?;
        Ok(Self { store, path, handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    fn call<T>(&self, call: impl Future<Output = object_store::Result<T>>) -> Result<T, RecordsError> {
        self.handle.block_on(call).map_err(|error| plain(&format!("{self}: {}", whole(&error))).into())
    }
}

impl Records for ObjectRecords {
    fn read(&mut self) -> Result<Option<Vec<u8>>, RecordsError> {
        self.call(async { or_nothing(head_of(&*self.store, &self.path).await) })
    }

    fn write(&mut self, record: &[u8]) -> Result<(), RecordsError> {
        let record = record.to_vec().into();
        self.call(async { self.store.put(&self.path, record).await.map(drop) })
    }

    fn delete(&mut self) -> Result<(), RecordsError> {
        self.call(async { or_nothing(self.store.delete(&self.path).await).map(drop) })
    }
}

/// Where it is.
impl fmt::Display for ObjectRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.path, self.store)
    }
}

/// Not the store's own, which may tell the password in a URL.
impl fmt::Debug for ObjectRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectRecords({})", plain(&self.to_string()))
    }
}

impl Drop for ObjectRecords {
    /// Waits for nothing: a guard may be dropped in async code, where a runtime that waits for its threads panics.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Not as a range: not every server has them, and an empty object has none.
async fn head_of(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Vec<u8>> {
    let mut chunks = store.get(path).await?.into_stream();
    let mut bytes = Vec::new();
    while bytes.len() <= BYTES_MAX
        && let Some(chunk) = chunks.next().await
    {
        bytes.extend(chunk?.into_iter().take(BYTES_MAX + 1 - bytes.len()));
    }
    Ok(bytes)
}

fn or_nothing<T>(outcome: object_store::Result<T>) -> object_store::Result<Option<T>> {
    match outcome {
        Err(Error::NotFound { .. }) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// With its causes. Some of these errors tell their cause themselves, and some do not.
pub(super) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// On one line, since it may be a page that a server sent; and without what may be a secret in a URL.
pub(super) fn plain(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.split_inclusive(ENDS_A_URL).map(without_secrets).collect()
}

/// No URL has these.
const ENDS_A_URL: [char; 4] = [' ', '"', '<', '>'];

/// Leaves out a user, a password and a query.
fn without_secrets(piece: &str) -> String {
    let (word, end) = piece.split_at(piece.find(ENDS_A_URL).unwrap_or(piece.len()));
    let word = match word.split_once('?') {
        Some((path, _query)) if path.contains('/') => path,
        Some(_) | None => word,
    };
    let mut parts = word.split("://");
    let scheme = parts.next().unwrap_or_default().to_owned();
    let url = parts.fold(scheme, |url, part| {
        let (authority, path) = part.split_at(part.find('/').unwrap_or(part.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{url}://{host}{path}")
    });
    url + end
}
