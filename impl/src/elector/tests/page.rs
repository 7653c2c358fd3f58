//! A subscriber of `tracing` that keeps what it is told.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use tracing::{Dispatch, Level};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that are kept, once it may be written.
#[derive(Clone, Default)]
pub(crate) struct Page(Arc<(Mutex<(bool, String)>, Condvar)>);

impl Page {
    /// One that cannot be written yet: who tries blocks.
    pub(crate) fn blocked() -> Self {
        let page = Self::default();
        page.0.0.lock().unwrap().0 = true;
        page
    }

    pub(crate) fn unblock(&self) {
        self.0.0.lock().unwrap().0 = false;
        self.0.1.notify_all();
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.0.lock().unwrap().1.lines().map(Into::into).collect()
    }

    pub(crate) fn subscriber(&self, level: Level) -> Dispatch {
        let format = tracing_subscriber::fmt().without_time().with_target(false).with_ansi(false);
        Dispatch::new(format.with_max_level(level).with_writer(self.clone()).finish())
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut page = self.0.1.wait_while(self.0.0.lock().unwrap(), |(blocked, _)| *blocked).unwrap();
        page.1.push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Page {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
