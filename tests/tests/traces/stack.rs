//! What a trace drives: one contender of the shipped code, and what can be seen of it.

use super::blackout::Blackout;
use tenure::protocol::{Fence, LocalTime, Loss, Request};
use tenure::store::Answer;

/// What a contender's user is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It holds the lease from now on.
    Granted(Fence),
    /// It does not any more.
    Lost(Loss),
    /// The lease was given back.
    Released,
}

/// One contender after the other, in one place, of the shipped code; driven by hand.
pub(super) trait Stack {
    /// Whether a contender ends with its tenure, as one of an elector's does: whoever contends again is another.
    const ENDS_WITH_ITS_TENURE: bool;

    /// A new contender begins.
    fn begin(&mut self);

    /// Does what is due by now, with the answers that have come; what its user is told, and when it wants to be called again.
    fn step(&mut self) -> (Vec<Told>, Option<LocalTime>);

    /// What it has asked for, and the store has not carried out: the first is next.
    fn asked(&self) -> Vec<Request>;

    /// The store carries out what is next.
    fn serve(&mut self, befalls: Option<Blackout>) -> Vec<(Request, Answer)>;

    /// The store carries out a request that was given up on, as a thread would that hung in that call until now.
    fn carry_out_late(&mut self, request: &Request) -> Answer;

    /// Its work has stopped.
    fn stop_work(&mut self);

    /// Its work is dropped: nobody knows whether it has stopped.
    fn drop_work(&mut self);

    /// It is to shut down.
    fn shut_down(&mut self);

    /// Its process is gone.
    fn crash(&mut self);

    /// What it believes in now, until when.
    fn belief(&self) -> Option<(Fence, LocalTime)>;

    /// Whether its work was told to stop, if somebody has it.
    fn should_stop(&self) -> Option<bool>;

    /// Does something in a transaction that its fence guards. Whether it landed.
    fn act(&mut self) -> bool;

    /// How many losses it has counted, in all its lives, where it counts them.
    fn losses_counted(&self) -> Option<u64>;
}
