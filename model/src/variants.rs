//! The ways to break the protocol.

use clap::ValueEnum;

/// The ways to break the protocol: each takes one rule, or a part of one, away in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Variant {
    /// The row is looked at, then written without a condition (R1.1).
    CheckThenWrite,
    /// The write asks whether the row is free, but not whether it is the row that was read (R1.2).
    UnboundAcquire,
    /// The write asks whether it is the row that was read, but not whether that is still free (R1.3).
    UntestedAcquire,
    /// The write uses a wall clock that was read when it was sent, not under the lock (R1.4).
    ClockBeforeLock,
    /// A takeover keeps the fence of the tenure before it (R2.1).
    NoIncrement,
    /// Somebody who acquires his own row again keeps the fence (R2.1).
    NoIncrementAgain,
    /// A release sets the fence back to 0 (R2.2).
    FenceCleared,
    /// A release deletes the row (R2.3).
    ReleaseDeletes,
    /// At the integer's end the fence stays where it is, and is granted (R2.4).
    FenceSaturates,
    /// A renewal matches the lease's name alone (R3.1).
    RenewalByName,
    /// A renewal matches the holder, not the fence (R3.1).
    RenewalWithoutFence,
    /// A renewal and a release match the fence, not the holder (R3.1).
    WithoutHolder,
    /// A release matches the holder, not the fence (R3.1).
    ReleaseWithoutFence,
    /// A renewal goes through although the row was released (R3.2).
    RenewsTheReleased,
    /// A renewal goes through although the row has expired (R3.3).
    RenewsTheExpired,
    /// A renewal writes what is there if the wall clock has gone back (R3.4).
    RenewalUnchanged,
    /// A release writes the time, not 0 (R3.5).
    ReleaseWritesNow,
    /// The deadline counts from the reply, not from the send (R4.1).
    DeadlineFromReply,
    /// The local clock stops while the host is suspended (R4.2).
    BlindToSuspend,
    /// A renewal reads the wall clock first, then the local one (R4.3).
    WallClockFirst,
    /// A holder believes as if clocks agreed (R4.4).
    NoMargin,
    /// A holder believes as if its local clock were exact (R4.4).
    NoDriftMargin,
    /// One contender believes as if clocks agreed; the others know better (R4.5).
    OneWithoutMargin,
    /// While a renewal is under way its holder believes (R5.1).
    BlackoutIgnored,
    /// A renewal's reply that arrives past the deadline brings the tenure back (R5.2).
    LateReplyRevives,
    /// A holder believes until a timer has told it that its deadline has passed (R5.3).
    TimerTrusted,
    /// A check that found the deadline passed does not keep a reply from reviving the tenure (R5.4).
    Unlatched,
    /// A shutdown releases at once, while the work still runs (R6.1).
    ReleaseFirst,
    /// Work that was dropped counts as stopped, and the lease is released (R6.3).
    DroppedReleased,
    /// An acquire that failed counts as granted (R7.1).
    FailureBelieved,
    /// A renewal that failed counts as granted (R7.2).
    FailureExtends,
    /// A contender that finds its own id in the row goes on with the fence it finds there (R7.3).
    OwnRowBelieved,
    /// A grant is believed although its contender was asked to shut down meanwhile (R7.5).
    HoldsUnwanted,
    /// A grant is answered before it is durable (R8.1).
    NotDurable,
    /// Renewals are not durable, and contenders survive the store's loss of power (R8.4).
    LazyRenewals,
    /// An act in a transaction does not look at the row (R9.1).
    ActUnchecked,
    /// An act in a transaction looks whose the row is, not of which tenure (R9.1).
    ActWithoutFence,
    /// An act in a transaction looks at the row's fence, not at whose it is (R9.1).
    ActWithoutHolder,
    /// A gate admits a fence that is lower than the highest (R9.4).
    GateAdmitsLower,
    /// A gate admits another holder's fence that equals the highest (R9.4).
    GateAdmitsEqual,
    /// A new tenure reads what the gate guards before it has passed it (R9.5).
    ReadsFirst,
    /// Ids are not unique: whoever has the same takes the row for his own (R10.1).
    SharedId,
    /// Ids are not unique, and a new contender goes on with the fence of its own id's row (R10.1).
    RestartAdopts,
    /// A row is taken over by the taker's policy, not by its own (R10.2).
    TakersPolicy,
    /// Nobody remembers the highest fence that he saw (R11.1).
    FloorForgotten,
    /// Nobody notices that the file at the path is another one (R11.3).
    MovedUnnoticed,
    /// The floor is compared with what was granted, not with what was read (R11.4).
    FloorCheckedAfter,
    /// A floor that a user gives is accepted, but the next fence is one above the stored one (R11.5).
    FloorNotRaised,
    /// A row that cannot be read counts as free (R12.1).
    UnreadableFree,
    /// A row that cannot be read counts as free to the holder that wrote it (R12.2).
    UnreadableOwn,
    /// Dates are text, and two writers write them differently (section 3).
    TextDates,
    /// A foreign row is taken as soon as its expiry comes (section 6).
    ForeignWithoutMargin,
    /// The observation counts from the moment the read was sent, not from its reply (section 6).
    ObservedFromSend,
    /// An observed row is bound to its holder and fence, not to all its columns (section 6).
    ObservedUnbound,
    /// A row is free by either policy (section 6).
    EitherPolicy,
}

impl Variant {
    /// Its name on the command line and in SPEC.md.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
