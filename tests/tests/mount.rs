//! Mounts, for which root is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mount that ends when it is dropped.
pub(crate) struct Mount {
    at: PathBuf,
}

impl Mount {
    /// A file system of its own, in memory, of so many KiB.
    pub(crate) fn tiny(at: &Path, kib: usize) -> Self {
        Self::new(at, &["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"])
    }

    /// A directory over itself, read-only.
    pub(crate) fn read_only(at: &Path) -> Self {
        let over = at.to_str().unwrap();
        let mount = Self::new(at, &["--bind", over]);
        run(Command::new("mount").args(["-o", "remount,bind,ro", over]));
        mount
    }

    fn new(at: &Path, arguments: &[&str]) -> Self {
        run(Command::new("mount").args(arguments).arg(at));
        Self { at: at.to_owned() }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run(Command::new("umount").arg("--lazy").arg(&self.at));
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}; the feature `system` needs root");
}
