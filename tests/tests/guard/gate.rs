//! Records in a real file, each call of which waits until the test lets it be carried out, and again until its answer is let
//! through.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tenure::instance::machine::Request;
use tenure::instance::{FileRecords, Records, RecordsError, Seen};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    Asked(Request),
    CarryOut,
    Fail,
    Answered,
    /// The answer, or an error in its place.
    Pass(bool),
    /// Calls do not wait any more.
    Open,
}

/// The test's side.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<Stage>, Condvar)>);

impl Gate {
    pub(super) fn records(&self, path: &Path) -> impl Records + use<> {
        Gated { gate: self.clone(), file: FileRecords::new(path) }
    }

    /// What is asked, and not carried out yet: waits for it if it is to come.
    pub(super) fn asked(&self, is_to_come: bool) -> Option<Request> {
        let mut stage = self.0.0.lock().unwrap();
        if is_to_come {
            let waits = |stage: &mut Stage| !matches!(stage, Stage::Asked(_));
            stage = self.0.1.wait_timeout_while(stage, Duration::from_secs(30), waits).unwrap().0;
        }
        match &*stage {
            Stage::Asked(asked) => Some(asked.clone()),
            _ => None,
        }
    }

    pub(super) fn carry_out(&self) {
        self.turn(Stage::CarryOut, &Stage::Answered);
    }

    pub(super) fn fail(&self) {
        self.turn(Stage::Fail, &Stage::Answered);
    }

    /// Lets the answer through, or an error in its place. It comes back when the call has.
    pub(super) fn pass(&self, is_lost: bool) {
        self.turn(Stage::Pass(!is_lost), &Stage::Idle);
    }

    /// What was called, and what will be, goes through.
    pub(super) fn open(&self) {
        self.set(Stage::Open);
    }

    /// Nobody waits for the call, if there is one: it fails.
    pub(super) fn forsake(&self) {
        if matches!(*self.0.0.lock().unwrap(), Stage::Asked(_)) {
            self.fail();
        }
        if *self.0.0.lock().unwrap() == Stage::Answered {
            self.pass(true);
        }
    }

    fn turn(&self, to: Stage, then: &Stage) {
        let mut stage = self.0.0.lock().unwrap();
        *stage = to.clone();
        self.0.1.notify_all();
        // The next call may have come already.
        let waits =
            |stage: &mut Stage| stage != then && !(matches!(stage, Stage::Asked(_)) && *then == Stage::Idle);
        let (_stage, waited) = self.0.1.wait_timeout_while(stage, Duration::from_secs(30), waits).unwrap();
        assert!(!waited.timed_out(), "the call does not go on: {to:?}");
    }

    fn wait_for(&self, is_it: impl Fn(&Stage) -> bool) -> Stage {
        let stage = self.0.0.lock().unwrap();
        self.0.1.wait_while(stage, |stage| !is_it(stage)).unwrap().clone()
    }

    fn set(&self, stage: Stage) {
        let mut now = self.0.0.lock().unwrap();
        if *now != Stage::Open {
            *now = stage;
            self.0.1.notify_all();
        }
    }

    fn call<T>(
        &self,
        asked: Request,
        carry_out: impl FnOnce() -> Result<T, RecordsError>,
    ) -> Result<T, RecordsError> {
        self.set(Stage::Asked(asked));
        let turned = self.wait_for(|stage| matches!(stage, Stage::CarryOut | Stage::Fail | Stage::Open));
        let failed = || Err("the share is gone".into());
        let done = if turned == Stage::Fail { failed() } else { carry_out() };
        self.set(Stage::Answered);
        let passed = self.wait_for(|stage| matches!(stage, Stage::Pass(_) | Stage::Open));
        self.set(Stage::Idle);
        if passed == Stage::Pass(false) { failed() } else { done }
    }
}

struct Gated {
    gate: Gate,
    file: FileRecords,
}

impl Records for Gated {
    fn read(&mut self) -> Result<Option<Vec<u8>>, RecordsError> {
        self.gate.call(Request::Read, || self.file.read())
    }

    fn write(&mut self, record: &[u8]) -> Result<(), RecordsError> {
        let Seen::Record(asked) = Seen::of(Some(record)) else { panic!("a guard writes records") };
        self.gate.call(Request::Write(asked), || self.file.write(record))
    }

    fn delete(&mut self) -> Result<(), RecordsError> {
        self.gate.call(Request::Delete, || self.file.delete())
    }
}
