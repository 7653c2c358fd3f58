//! How states and actions read, in the Explorer and in printed runs.

use crate::actions::Action;
use crate::clocks::Local;
use crate::config::Policy;
use crate::contender::Move;
use crate::faults::Fault;
use crate::state::{
    Clock, Contender, Expiry, Fence, Flight, Ghost, Holder, Late, LateKind, Message, Phase, Reason, Reply,
    Request, Row, Seen, Stand, State, Who,
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
            Holder::Gone(policy) => write!(f, "somebody gone{}", kind(*policy)),
        }
    }
}

fn kind(policy: Policy) -> &'static str {
    match policy {
        Policy::WallClock => "",
        Policy::Observed => " (observed)",
        Policy::SystemA => " (system A)",
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Action::Tick(local) => write!(f, "a tick passes{}", erring(*local)),
            Action::Step(who, clock) => write!(f, "{who}'s wall clock is set{}", to(*clock)),
            Action::Move(who, mv) => write!(f, "{who} {}", predicate(*mv)),
            Action::Execute(who) => write!(f, "the store carries out {who}'s request"),
            Action::ExecuteLate(who, kind) => {
                write!(f, "the store carries out a late {kind} of {who}")
            }
            Action::ExecuteOrphaned(policy, clock, late) => {
                let (gone, ahead) = (kind(*policy), ahead(*clock));
                write!(f, "the store carries out a late {late} of somebody gone{gone}{ahead}")
            }
            Action::Enter(who) => write!(f, "{who} passes the gate and reads what it guards"),
            Action::Land(who) => write!(f, "{who}'s act lands, or is refused"),
            Action::Suffer(fault) => write!(f, "{fault}"),
        }
    }
}

fn erring(local: Local) -> String {
    match local {
        Local::Steady => String::new(),
        Local::Slow(who) => format!(", and {who}'s local clock misses it"),
        Local::Fast(who) => format!(", and {who}'s local clock counts two"),
        Local::Asleep(who) => format!(" while {who}'s host is suspended, and its local clock with it"),
    }
}

fn predicate(mv: Move) -> &'static str {
    match mv {
        Move::Look => "looks at its clock, and stalls",
        Move::Read => "reads the row",
        Move::Acquire => "sends an acquire",
        Move::Renew => "sends a renewal",
        Move::Release => "sends the release",
        Move::Deliver => "receives the reply",
        Move::Fail => "learns that its request failed, nothing else",
        Move::NoticeDeadline => "notices that its deadline has passed",
        Move::Shutdown => "is asked to shut down",
        Move::StopWork => "sees that its work has stopped",
        Move::DropWork => "has its work dropped",
        Move::Leave => "ends, and releases nothing",
        Move::Crash => "crashes",
        Move::Restart => "starts again, as a new contender",
        Move::Begin => "looks at its deadline and begins an act",
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Fault::FailButWrite(who) => {
                write!(f, "{who}'s request fails, and is in the store's log all the same")
            }
            Fault::Recover => write!(f, "the store recovers, and finds a request that had failed"),
            Fault::LosePower => write!(f, "power fails"),
            Fault::BackUp => write!(f, "somebody takes a backup"),
            Fault::Restore => write!(f, "the store is put back to the backup"),
            Fault::Empty => write!(f, "the store is emptied"),
            Fault::Replace => write!(f, "the file is replaced by a copy"),
            Fault::Garble => write!(f, "somebody makes the row unreadable"),
            Fault::Mend => write!(f, "an operator mends the row"),
        }
    }
}

impl Display for LateKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            LateKind::Acquire => "acquire",
            LateKind::AcquireAbove => "acquire with a given floor",
            LateKind::Renew => "renewal",
            LateKind::Release => "release",
        })
    }
}

fn ahead(clock: Clock) -> &'static str {
    match clock {
        Clock::Even => "",
        Clock::Ahead => " (clock ahead)",
        Clock::Far => " (clock far ahead)",
    }
}

fn to(clock: Clock) -> &'static str {
    match clock {
        Clock::Even => " back",
        Clock::Ahead => " ahead, within the bound",
        Clock::Far => " far ahead",
    }
}

/// A few lines, one for the row and one for each contender, rather than a tree of structs.
impl<const N: usize> Debug for State<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "(fence 1 is the lowest that anybody remembers: fences are ranks)")?;
        match self.row {
            Some(row) => writeln!(f, "row: {row}")?,
            None => writeln!(f, "row: none")?,
        }
        let others = [
            ("in the log, though failed", self.failed),
            ("on the disk", self.durable),
            ("backup", self.backup),
            ("in the file that moved", self.old_file),
        ];
        for (what, row) in others {
            row.map_or(Ok(()), |row| writeln!(f, "{what}: {row}"))?;
        }
        if self.gate.fence > Fence::NONE {
            writeln!(f, "gate: {} of {}", self.gate.fence, self.gate.by)?;
        }
        for ((who, contender), late) in self.named().zip(&self.late) {
            writeln!(f, "{who}{}: {contender}{late}", ahead(contender.clock))?;
        }
        for (policy, late) in
            [Policy::WallClock, Policy::Observed, Policy::SystemA].iter().zip(&self.orphaned)
        {
            if *late != Late::default() {
                writeln!(f, "somebody gone{} has left{late}", kind(*policy))?;
            }
        }
        write!(f, "{}", self.ghost)
    }
}

/// What cannot be seen from how things stand.
impl Display for Ghost {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let happened = [
            (self.given_back, "the lease was given back, and nobody was granted it since"),
            (self.not_rising, "a fence was granted that was not above all before"),
            (self.begun_twice, "two tenures began with one fence"),
            (self.begun_unwanted, "a tenure began after a shutdown"),
            (self.unreleased, "a released row was renewed"),
            (self.renewed_others, "a renewal was granted to a tenure that is not the row's"),
            (self.stale_landed, "an act landed after another tenure had come"),
        ];
        happened
            .iter()
            .filter(|(happened, _)| *happened)
            .try_for_each(|(_, what)| writeln!(f, "so far: {what}"))
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}, {}, ", self.holder, self.fence)?;
        match self.expiry {
            Expiry::Released => write!(f, "released"),
            Expiry::In(left) => write!(f, "expires in {left}"),
            Expiry::Far => write!(f, "expires in the far future"),
            Expiry::Unreadable => write!(f, "unreadable"),
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
            Phase::Dropped { fence, left } => {
                write!(f, "work of {fence} was dropped, and may act for {left} more")?
            }
            Phase::Lost { fence, reason } => write!(f, "lost {fence}, {}, work may still run", why(reason))?,
            Phase::Releasing { fence, .. } => write!(f, "work stopped, releasing {fence}")?,
            Phase::WentBack => write!(f, "found that the store went back, waits for its user")?,
            Phase::Ended => write!(f, "ended")?,
            Phase::Crashed { .. } => write!(f, "crashed")?,
        }
        if let Some(flight) = self.flight {
            write!(f, "; {flight}")?;
        }
        if let Some(ticks) = self.watched {
            write!(f, "; has seen the row unchanged for {ticks}")?;
        }
        if let Some(ticks) = self.noted {
            write!(f, "; looked at a clock {ticks} ago")?;
        }
        match self.stands {
            Stand::Outside => {}
            Stand::Inside => write!(f, "; has passed the gate")?,
            Stand::Past => write!(f, "; another has passed the gate since")?,
        }
        if self.floor > Fence::NONE {
            write!(f, "; floor {}{}", self.floor.0, if self.floor_given { ", given" } else { "" })?;
        }
        if let Some(act) = self.act {
            write!(f, "; an act with {} is under way", act.fence)?;
        }
        f.write_str(if self.moved { "; its file has moved" } else { "" })?;
        f.write_str(if self.stopping { "; is to stop" } else { "" })
    }
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Deadline => "as its deadline passed",
        Reason::Superseded => "as it was refused",
    }
}

impl Display for Flight {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.message {
            Message::Sent(request) => write!(f, "sent: {request}")?,
            Message::Answered(reply) => write!(f, "answered: {reply}")?,
        }
        match self.message {
            Message::Sent(Request::Release(_)) | Message::Answered(Reply::Released | Reply::Refused) => {
                Ok(())
            }
            _ => write!(f, " (good for {})", self.left),
        }
    }
}

impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Request::Acquire(seen, Fence::NONE) => write!(f, "acquire {seen}"),
            Request::Acquire(seen, floor) => write!(f, "acquire {seen}, above {floor}"),
            Request::Renew(fence) => write!(f, "renew {fence}"),
            Request::Release(fence) => write!(f, "release {fence}"),
        }
    }
}

impl Display for Reply {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Reply::Granted(fence) => return write!(f, "granted {fence}"),
            Reply::Renewed => "renewed",
            Reply::Released => "released",
            Reply::Refused => "refused",
        })
    }
}

impl Display for Seen {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Seen::Absent => write!(f, "no row"),
            Seen::Row(holder, fence) => write!(f, "{holder}'s row with {fence}"),
            Seen::Outdated => write!(f, "what is no more"),
            Seen::Unseen => write!(f, "whatever is there"),
        }
    }
}

impl Display for Late {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        LateKind::ALL.iter().filter(|kind| self.has(**kind)).try_for_each(|kind| write!(f, "; late {kind}"))
    }
}
