//! How states and actions read, in the Explorer and in printed runs.

use crate::actions::{Action, LateKind};
use crate::contender::Move;
use crate::state::{
    Clock, Contender, Expiry, Fence, Flight, Holder, Late, Message, Phase, Reply, Request, Row, Seen, State,
    Who,
};
use std::fmt::{Debug, Display, Formatter, Result};

impl Display for Who {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", char::from(b'A' + self.0))
    }
}

impl Display for Fence {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "fence {}", self.0)
    }
}

impl Display for Holder {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Holder::Contender(who) => write!(f, "{who}"),
            Holder::Gone => write!(f, "somebody gone"),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Action::Tick => write!(f, "a tick passes"),
            Action::Move(who, mv) => write!(f, "{who} {}", predicate(*mv)),
            Action::Execute(who) => write!(f, "the store carries out {who}'s request"),
            Action::ExecuteLate(who, kind) => {
                write!(f, "the store carries out a late {kind} of {who}")
            }
            Action::ExecuteOrphaned(clock, kind) => {
                write!(f, "the store carries out a late {kind} of somebody gone{}", ahead(*clock))
            }
        }
    }
}

fn predicate(mv: Move) -> &'static str {
    match mv {
        Move::Read => "reads the row",
        Move::Acquire => "sends an acquire",
        Move::Renew => "sends a renewal",
        Move::Release => "sends the release",
        Move::Deliver => "receives the reply",
        Move::Fail => "learns that its request failed, nothing else",
        Move::NoticeDeadline => "notices that its deadline has passed",
        Move::Shutdown => "is asked to shut down",
        Move::StopWork => "sees that its work has stopped",
        Move::Leave => "leaves, and the lease runs out",
        Move::Crash => "crashes",
        Move::Restart => "starts again, as a new contender",
    }
}

impl Display for LateKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            LateKind::Acquire => "acquire",
            LateKind::Renew => "renewal",
            LateKind::Release => "release",
        })
    }
}

fn ahead(clock: Clock) -> &'static str {
    match clock {
        Clock::Even => "",
        Clock::Ahead => " (clock ahead)",
    }
}

/// A few lines, one for the row and one for each contender, rather than a tree of structs.
impl<const N: usize> Debug for State<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.row {
            Some(row) => writeln!(f, "row: {row}")?,
            None => writeln!(f, "row: none")?,
        }
        for ((who, contender), late) in self.named().zip(&self.late) {
            writeln!(f, "{who}{}: {contender}{late}", ahead(contender.clock))?;
        }
        for (clock, late) in [Clock::Even, Clock::Ahead].iter().zip(&self.orphaned) {
            if *late != Late::default() {
                writeln!(f, "somebody gone{}{late}", ahead(*clock))?;
            }
        }
        Ok(())
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}, {}, ", self.holder, self.fence)?;
        match self.expiry {
            Expiry::Released => write!(f, "released"),
            Expiry::In(left) => write!(f, "expires in {left}"),
        }
    }
}

impl Display for Contender {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.phase {
            Phase::Waiting => write!(f, "waiting")?,
            Phase::Reading(seen) => write!(f, "has read {seen}")?,
            Phase::Acquiring => write!(f, "acquiring")?,
            Phase::Holding { fence, left: 0 } => {
                write!(f, "stalled past the deadline of {fence}, work runs")?
            }
            Phase::Holding { fence, left } => write!(f, "holding {fence} for {left} more")?,
            Phase::Lost { fence, reason } => write!(f, "lost {fence} ({reason:?}), work runs")?,
            Phase::Releasing { fence, .. } => write!(f, "work stopped, releasing {fence}")?,
            Phase::Ended => write!(f, "ended")?,
            Phase::Crashed { .. } => write!(f, "crashed")?,
        }
        if let Some(flight) = self.flight {
            write!(f, "; {flight}")?;
        }
        f.write_str(if self.stopping { "; is to stop" } else { "" })
    }
}

impl Display for Flight {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.message {
            Message::Sent(Request::Acquire(seen)) => write!(f, "sent: acquire {seen}")?,
            Message::Sent(Request::Renew(fence)) => write!(f, "sent: renew {fence}")?,
            Message::Sent(Request::Release(fence)) => write!(f, "sent: release {fence}")?,
            Message::Answered(Reply::Granted(fence)) => write!(f, "answered: granted {fence}")?,
            Message::Answered(reply) => write!(f, "answered: {reply:?}")?,
        }
        write!(f, " (good for {})", self.left)
    }
}

impl Display for Seen {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Seen::Absent => write!(f, "no row"),
            Seen::Row(holder, fence) => write!(f, "{holder}'s row with {fence}"),
            Seen::Outdated => write!(f, "what is no more"),
        }
    }
}

impl Display for Late {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        LateKind::ALL.iter().filter(|kind| self.has(**kind)).try_for_each(|kind| write!(f, "; late {kind}"))
    }
}
