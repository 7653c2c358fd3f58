//! Which files this thread has a fenced transaction on.

use crate::store::{FileId, identity};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::path::Path;

thread_local! {
    /// By their identities: a path may be spelled in several ways.
    static FILES: RefCell<Vec<Option<FileId>>> = const { RefCell::new(Vec::new()) };
}

/// For as long as it lives, its thread is inside a transaction on the file.
pub(super) struct Inside(PhantomData<*const ()>);

impl Inside {
    pub(super) fn enter(file: &Path) -> Self {
        FILES.with_borrow_mut(|files| files.push(identity(file)));
        Self(PhantomData)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // They nest, so it is the last.
        FILES.with_borrow_mut(|files| files.truncate(files.len().saturating_sub(1)));
    }
}

/// Whether this thread holds the file's write lock: whoever waits for the store would wait for himself.
pub(crate) fn is_inside(file: &Path) -> bool {
    FILES.with_borrow(|files| !files.is_empty() && files.contains(&identity(file)))
}
