//! A server in a process of its own.

use rustix::process::{Pid, Signal, kill_process};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering::SeqCst};
use tests::eventually;

/// A server on this machine, until it is dropped.
pub(super) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts what listens on the port that it is given, and returns when it does.
    pub(super) fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let port = free_port();
        let mut command = command(port);
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let process = started.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut server = Self { process, port };
        eventually("the server answers", || {
            let ended = server.process.try_wait().unwrap();
            assert_eq!(ended, None, "{command:?} has ended");
            TcpStream::connect(server.address()).ok()
        });
        server
    }

    /// Its host and port.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// At once, and it is gone on return.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Nobody gets it by chance: below those that connections get, and another one for each server of this process.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = std::process::id() as u16;
    loop {
        let port = 20_000 + first.wrapping_add(NEXT.fetch_add(1, SeqCst)) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
