//! A terminal, and who types there.

use super::watchdog::children;
use super::{Bench, fresh, with_prelude};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetpgrp;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Child;
use tests::eventually;

/// A program at a terminal of its own, most often a shell, and the person who types there.
pub(super) struct Typist<'a> {
    bench: &'a Bench,
    pub(super) child: Child,
    pub(super) terminal: File,
    /// What has appeared and was not looked at yet.
    shown: String,
}

pub(super) const CTRL_C: &str = "\x03";
pub(super) const CTRL_Z: &str = "\x1a";

impl<'a> Typist<'a> {
    pub(super) fn at_a_shell(bench: &'a Bench) -> Self {
        let mut typist = Self::at(bench, "bash --norc --noprofile --noediting -i");
        typist.types("stty -g > before; echo rea''dy\n");
        typist.sees("ready");
        typist
    }

    /// The program begins a session of its own, and the terminal is the session's.
    pub(super) fn at(bench: &'a Bench, program: &str) -> Self {
        let program_under_test = env!("CARGO_BIN_EXE_tenure-under-test");
        std::os::unix::fs::symlink(program_under_test, bench.db.beside("tenure")).unwrap();
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = rustix::fs::open(ptsname(&terminal, []).unwrap(), flags, Mode::empty()).unwrap();
        rustix::fs::fcntl_setfl(&terminal, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
        let mut command = fresh();
        command.args(["setsid", "--ctty"]).args(program.split_whitespace()).current_dir(bench.directory());
        command.env("ALIVE", bench.alive.path()).env("PS1", "$ ").env("TERM", "dumb").env("LC_ALL", "C");
        let [stdin, stdout] = [(), ()].map(|()| end.try_clone().unwrap());
        let child = command.stdin(stdin).stdout(stdout).stderr(end).spawn().unwrap();
        Self { bench, child, terminal: terminal.into(), shown: String::new() }
    }

    pub(super) fn types(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// Types the command, with a job of `bash`.
    pub(super) fn runs(&mut self, options: &str, script: &str) {
        let command = self.bench.command_line(options, script);
        self.types(&format!("{command}\n"));
    }

    /// The same, of `tenure instance`.
    pub(super) fn runs_an_instance(&mut self, script: &str) {
        let command = self.bench.command_line_of("instance --record record", script);
        self.types(&format!("{command}\n"));
    }

    /// Waits until that appears; what came up to it is not looked at again.
    pub(super) fn sees(&mut self, what: &str) {
        eventually(&format!("{what:?} at the terminal"), || {
            self.reads();
            let end = self.shown.find(what)? + what.len();
            self.shown.drain(..end);
            Some(())
        });
    }

    fn reads(&mut self) {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = self.terminal.read(&mut bytes) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }

    pub(super) fn stops(&mut self) {
        self.types(CTRL_Z);
        self.sees("Stopped");
        self.sees("$ ");
    }

    pub(super) fn bg(&mut self) {
        self.types("bg\n");
        self.finds_jobs("Running");
    }

    /// Until the shell has given the terminal away.
    pub(super) fn fg(&mut self) {
        self.types("fg\n");
        eventually("in the foreground", || (tcgetpgrp(&self.terminal) != Ok(self.shell())).then_some(()));
    }

    /// What is typed before might be the job's, which may be dying.
    fn has_the_shell(&self) {
        eventually("the shell", || (tcgetpgrp(&self.terminal) == Ok(self.shell())).then_some(()));
    }

    /// The shell answers, and tells the exit code of what it ran last.
    pub(super) fn is_told(&mut self, code: i32) {
        self.has_the_shell();
        self.types("echo co''de=$?.\n");
        self.sees(&format!("code={code}."));
    }

    /// The shell answers.
    pub(super) fn is_answered(&mut self) {
        self.has_the_shell();
        self.types("echo ali''ve\n");
        self.sees("alive");
    }

    /// Asks for the shell's jobs until they are as that says.
    pub(super) fn finds_jobs(&mut self, what: &str) {
        self.reads();
        self.shown.clear();
        eventually(&format!("a job that is {what:?}"), || {
            self.types("jobs; echo li''sted\n");
            self.sees_listed(what).then_some(())
        });
    }

    fn sees_listed(&mut self, what: &str) -> bool {
        let listed = eventually("the list of jobs", || {
            self.reads();
            self.shown.contains("listed").then(|| std::mem::take(&mut self.shown))
        });
        listed.contains(what)
    }

    pub(super) fn shell(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The process that the shell waits for.
    pub(super) fn front(&self) -> Pid {
        let found = children(self.shell(), "./tenure");
        assert_eq!(found.len(), 1);
        found[0]
    }

    /// What it says about its modes, in such a file.
    pub(super) fn modes(&self, file: &str) -> String {
        fs::read_to_string(self.bench.db.beside(file)).unwrap()
    }

    pub(super) fn modes_are_as_before(&mut self) {
        self.has_the_shell();
        self.types("stty -g > after; echo as''ked\n");
        self.sees("asked");
        assert_eq!(self.modes("after"), self.modes("before"));
    }
}

impl Bench {
    /// For a shell; the job's script is in a file. It is one for `bash`: `dash` stops for good if Ctrl-Z comes while it
    /// starts a program, with tenure or without.
    pub(super) fn command_line(&self, options: &str, script: &str) -> String {
        self.command_line_of(&format!("run --db leases.db --lease job {options}"), script)
    }

    fn command_line_of(&self, subcommand: &str, script: &str) -> String {
        fs::write(self.db.beside("job.sh"), with_prelude(script)).unwrap();
        format!("./tenure {subcommand} -- bash job.sh")
    }
}

impl Drop for Typist<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.reads();
            eprintln!("at the terminal: {:?}", self.shown);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
