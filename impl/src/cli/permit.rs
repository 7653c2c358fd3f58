//! What a job may run under: a lease that is held, or an instance's claim that stands.

use super::run::PATIENCE;
use crate::elector::{Held, Wait};
use crate::instance::{self, Claim};
use crate::keeper::NotReleased;
use crate::protocol::{LocalTime, Loss};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;

/// What the guard of a job asks of it.
pub(super) trait Permit {
    /// Why it is over.
    type Loss: Display;

    /// What the job finds in its environment.
    fn environment(&self) -> Vec<(&'static str, OsString)>;

    /// Until when it is good; or why it is not.
    fn deadline(&self) -> Result<LocalTime, Self::Loss>;

    fn lost(&self) -> Wait<Self::Loss>;

    /// Whether the store went back to an older state.
    fn went_back(&self) -> bool {
        false
    }

    /// Why it is not renewed, if that is not told elsewhere.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// The work has stopped; or why the next one has to wait, to be said of it.
    fn let_go(self) -> Result<(), String>;

    /// Work may be left: it runs out.
    fn abandon(self);
}

/// A lease in that file.
pub(super) struct Tenure<'a> {
    pub(super) held: Held,
    pub(super) db: &'a Path,
}

impl Permit for Tenure<'_> {
    type Loss = Loss;

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("TENURE_LEASE", self.held.lease().as_str().into()),
            ("TENURE_FENCE", self.held.fence().to_string().into()),
            ("TENURE_HOLDER", self.held.holder().as_str().into()),
            ("TENURE_DB", self.db.into()),
        ]
    }

    fn deadline(&self) -> Result<LocalTime, Loss> {
        self.held.deadline()
    }

    fn lost(&self) -> Wait<Loss> {
        self.held.lost()
    }

    fn went_back(&self) -> bool {
        self.held.check() == Err(Loss::StoreWentBack)
    }

    fn let_go(self) -> Result<(), String> {
        match self.held.release().wait_for(PATIENCE) {
            Some(Ok(())) => Ok(()),
            Some(Err(NotReleased::Lost(loss))) => Err(format!("was not ours to release: {loss}")),
            Some(Err(NotReleased::RunsOut | NotReleased::InTransaction)) | None => {
                Err("could not be released: it runs out by itself".into())
            }
        }
    }

    fn abandon(self) {
        self.held.0.abandon();
    }
}

/// A claim on that record.
pub(super) struct Announced<'a> {
    pub(super) claim: Claim,
    pub(super) record: &'a Path,
}

impl Permit for Announced<'_> {
    type Loss = instance::Loss;

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![("TENURE_INSTANCE", self.claim.id().into()), ("TENURE_RECORD", self.record.into())]
    }

    fn deadline(&self) -> Result<LocalTime, instance::Loss> {
        self.claim.deadline()
    }

    fn lost(&self) -> Wait<instance::Loss> {
        self.claim.lost()
    }

    fn trouble(&self) -> Option<String> {
        Some(self.claim.obstacle())
    }

    fn let_go(self) -> Result<(), String> {
        match self.claim.stand_down().wait_for(PATIENCE) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(format!("could not be released: {error}")),
            None => Err("could not be released: it runs out by itself".into()),
        }
    }

    /// It is renewed until this process ends, which is soon.
    fn abandon(self) {
        std::mem::forget(self.claim);
    }
}
