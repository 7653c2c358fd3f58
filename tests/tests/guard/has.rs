//! What the user of a guard has of it.

use model::guard::state::Stand;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tenure::Wait;
use tenure::instance::{Claim, ClaimError, Loss, NotRemoved};

/// How far the claim of an instance is, for its user.
#[derive(Debug)]
pub(super) enum Has {
    Nothing,
    Refused,
    Claiming(Wait<Result<Claim, ClaimError>>),
    Claim(Claim),
    Leaving(Wait<Result<(), NotRemoved>>),
}

impl Has {
    /// What has come, if something has.
    pub(super) fn hear(mut self) -> Self {
        match &mut self {
            Has::Claiming(wait) => match look(wait) {
                Some(Ok(claim)) => Has::Claim(claim),
                Some(Err(_)) => Has::Refused,
                None => self,
            },
            Has::Leaving(wait) => match look(wait) {
                Some(_) => Has::Nothing,
                None => self,
            },
            _ => self,
        }
    }

    /// That a claim comes to nothing is told when nothing of it is left (SPEC.md G7.4).
    pub(super) fn is_so(&self, stand: Option<Stand>) -> bool {
        match (self, stand) {
            (Has::Nothing, None | Some(Stand::Leaves)) | (Has::Refused, None) => true,
            (Has::Claiming(_), Some(Stand::Pending | Stand::Leaves)) => true,
            (Has::Leaving(_), Some(Stand::Leaves)) => true,
            (Has::Claim(claim), Some(Stand::Runs)) => claim.is_current(),
            (Has::Claim(claim), Some(Stand::Lost)) => {
                matches!(claim.check(), Err(Loss::Overwritten { .. } | Loss::NotRenewed { .. }))
                    && look(&mut claim.lost()) == claim.check().err()
            }
            _ => false,
        }
    }
}

fn look<T>(wait: &mut Wait<T>) -> Option<T> {
    match Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
