//! Where a record is kept.

use super::record::BYTES_MAX;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a call failed; any error will do. Its text is told to people, so it says what it is about.
pub type RecordsError = Box<dyn Error + Send + Sync>;

/// One record in a store without conditions: what is asked of it is that no reader sees half of a write, and that whoever
/// reads after a write has returned sees that write, or a later one.
///
/// It is called on a thread of the guard's own, and may block. A call that hangs hangs the renewals, and nothing else.
pub trait Records: Send {
    /// What stands there; `None` if it is certain that nothing does. Of more than [`BYTES_MAX`] bytes the first
    /// `BYTES_MAX + 1` are enough.
    ///
    /// # Errors
    /// It cannot be read. That counts as another's live record.
    fn read(&mut self) -> Result<Option<Vec<u8>>, RecordsError>;

    /// Puts this in the place of whatever stands there.
    ///
    /// # Errors
    /// It may have been written, or not.
    fn write(&mut self, record: &[u8]) -> Result<(), RecordsError>;

    /// Removes what stands there. Nothing to remove is no error.
    ///
    /// # Errors
    /// It may have been removed, or not.
    fn delete(&mut self) -> Result<(), RecordsError>;
}

/// A record in a file: written beside it, and renamed to it. A crash between the two leaves a file with the record's name,
/// a random number and `.new`, which nobody reads, or removes.
///
/// On a share, all instances must see one directory: a write of one host must be seen by the next read of another, so mount
/// it without caching of attributes and names, or with a TTL far above what is cached. It is synced between look and rename:
/// what that takes counts against the [settle time](super::Options::settle).
///
/// - What is no regular file is refused as unreadable. So is a symbolic link: renaming replaces the link, not what it leads
///   to. Directories above may be links.
/// - If another directory stands at the path than when the record was read last, as after a share was unmounted or a directory
///   replaced, and the record is not in it, each call fails: a record beside the others would say nothing. (Unless the new
///   one has the number of one that was removed, as some file systems give it.)
#[derive(Debug)]
pub struct FileRecords {
    path: PathBuf,
    /// Which directory it is in: device and number.
    directory: Option<(u64, u64)>,
}

impl FileRecords {
    /// A record in that file, which need not be there, in a directory that is. Nothing is touched yet. A relative path
    /// means the same file also when the working directory has changed.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        Self { path, directory: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name beside the file that no other process uses: containers may share process ids.
    fn beside(&self) -> Result<PathBuf, RecordsError> {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{:016x}.new", crate::random::nonce()?));
        Ok(name.into())
    }

    /// `None`: there is none.
    fn directory_now(&self) -> io::Result<Option<(u64, u64)>> {
        #[expect(clippy::disallowed_methods, reason = "records are kept in files here")]
        match self.path.parent().unwrap_or(Path::new("/")).metadata() {
            Ok(directory) => Ok(Some((directory.dev(), directory.ino()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One that is not there yet is not known. No error is `NotFound`, which says that there is no record.
    fn stays_in(&mut self, directory: io::Result<Option<(u64, u64)>>) -> io::Result<()> {
        let found = directory.map_err(|error| io::Error::other(format!("its directory: {error}")))?;
        self.directory = self.directory.or(found);
        match (self.directory == found, found) {
            (true, _) => Ok(()),
            (false, None) => Err(io::Error::other("its directory is gone")),
            (false, Some(_)) => {
                Err(io::Error::other("its directory is another one than before: was a share unmounted?"))
            }
        }
    }

    fn stays_in_its_directory(&mut self) -> io::Result<()> {
        let directory = self.directory_now();
        self.stays_in(directory)
    }

    fn told(&self, error: io::Error) -> RecordsError {
        format!("{}: {error}", self.path.display()).into()
    }
}

impl Records for FileRecords {
    fn read(&mut self) -> Result<Option<Vec<u8>>, RecordsError> {
        let directory = self.directory_now();
        match head_of(&self.path) {
            // The right one, if this is ours: some file systems number their directories anew.
            Ok(bytes) => {
                self.directory = directory.ok().flatten().or(self.directory);
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.stays_in(directory).map(|()| None).map_err(|error| self.told(error))
            }
            Err(error) => Err(self.told(error)),
        }
    }

    fn write(&mut self, record: &[u8]) -> Result<(), RecordsError> {
        let beside = self.beside()?;
        let written = self.stays_in_its_directory().and_then(|()| write_new(&beside, record));
        let done = written.and_then(|()| fs::rename(&beside, &self.path));
        done.map_err(|error| {
            let _ = fs::remove_file(&beside);
            self.told(error)
        })
    }

    fn delete(&mut self) -> Result<(), RecordsError> {
        match self.stays_in_its_directory().and_then(|()| fs::remove_file(&self.path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.told(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let what = path.symlink_metadata()?.file_type();
    if what.is_symlink() {
        return Err(io::Error::other("it is a symbolic link: name the file that it leads to"));
    }
    // To open a pipe may take for ever.
    if !what.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    #[expect(clippy::disallowed_methods, reason = "records are kept in files here")]
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// On the disk before it is renamed: a file that is empty after a loss of power would count as live for ever.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
