//! What goes wrong without each rule, in plain words: each was written after looking at that variant's shortest run.

use crate::config::Variant;

/// What goes wrong in the shortest run without this rule; or, where nothing breaks, why. It is long, but only a table.
#[rustfmt::skip]
pub const fn words(variant: Variant) -> &'static str {
    match variant {
        Variant::CheckThenWrite =>
            "Both read that there is no row. A is granted fence 1 and acts; B acts on what it read before \
             that, and its write, which asks for nothing, overwrites A's row: B acts beside A.",
        Variant::UnboundAcquire =>
            "A's acquire was meant for a lease without a row, and finds B's, granted by a late acquire. It \
             only asks whether what it finds is free; on A's clock, which is ahead, it is. Then B's acquire, \
             meant for B's own row, finds A's and takes it for B's own, which needs no expiry: B acts beside \
             A.",
        Variant::UntestedAcquire =>
            "System A's acquire is bound to nothing it read. As the write does not test whether the row is \
             free either, it takes the row that B was granted a moment before: both act.",
        Variant::ClockBeforeLock =>
            "Nothing breaks: a reading that is too old makes the row expire early and a free row look held, \
             and neither is unsafe, so long as the local clock was read before it.",
        Variant::NoIncrement =>
            "B's deadline has passed and B has not noticed: its work still runs, with fence 1. A, whose clock \
             is ahead, takes the expired row over and is granted fence 1 as well: what B's work still sends \
             looks like A's.",
        Variant::NoIncrementAgain =>
            "A's tenure ends without a release. A acquires its own row again and is granted fence 1 again: \
             two tenures, and nobody can tell what one still has under way from what the other sends.",
        Variant::FenceCleared =>
            "A's release sets the fence back to 0. B's acquire counts on from there and is granted fence 1, \
             which was A's.",
        Variant::ReleaseDeletes =>
            "A's release deletes the row, and the count with it. B finds no row, begins at 1, and has the \
             fence that A had.",
        Variant::FenceSaturates =>
            "A is granted the last fence there is (the model's integer ends at 3), its work stops, and A \
             acquires its own row again. The fence cannot rise any more and is granted once more: two tenures \
             have it.",
        Variant::RenewalByName =>
            "B's clock is far ahead, so B takes A's row while A's renewal is under way. The renewal matches \
             the lease's name alone and is granted, though the row is B's: A will not learn that it was \
             superseded.",
        Variant::RenewalWithoutFence =>
            "Nothing breaks: a contender waits for renewals of one tenure only, and one of an earlier tenure that \
             is carried out late makes nobody believe.",
        Variant::WithoutHolder =>
            "The store is emptied while A's renewal of fence 1 is under way, and B is granted fence 1 anew. \
             A's renewal matches the fence alone: it renews B's row, and A will take that for its own.",
        Variant::ReleaseWithoutFence =>
            "A gives up the release of its first tenure and acquires its own row again, with fence 2. Now the \
             old release is carried out: it matches the holder alone and frees the row under A's new tenure. \
             B acquires at once, and both act.",
        Variant::RenewsTheReleased =>
            "A's work stops while a renewal is under way, and A releases. Then the late renewal is carried \
             out and arms the released row again: nobody has the lease, and everybody waits until it expires.",
        Variant::RenewsTheExpired =>
            "Nothing breaks: the holder's deadline has passed long before the row expires, so nobody believes \
             because of such a renewal. Only the wait for a dead holder's row gets longer.",
        Variant::RenewalUnchanged =>
            "A's clock is far ahead, so A's row expires in the far future, and its renewals write what is \
             there already. B, which waits until it has seen the row unchanged for 4 ticks, sees none of them \
             and takes the row: A has renewed in time all along, and both act.",
        Variant::ReleaseWritesNow =>
            "A's clock is ahead. Its release writes the time by that clock, which for B is still to come: the \
             lease has been given back, and B must wait for it all the same.",
        Variant::DeadlineFromReply =>
            "B's acquire is carried out at once, but B gets the reply two ticks later and counts its deadline \
             from then. By that time A, whose clock is ahead, has found the row expired and has taken it \
             over: both act.",
        Variant::BlindToSuspend =>
            "B's host is suspended for a tick, and B's local clock does not count it: B believes for a tick \
             longer than it may. A, whose clock is ahead, finds the row expired and takes it over: both act.",
        Variant::WallClockFirst =>
            "For its renewal B reads the wall clock, stalls for a tick, and reads the local clock: the new \
             expiry counts from before the stall, the new deadline from after it. A, whose clock is ahead, \
             finds the row expired while B still acts.",
        Variant::NoMargin =>
            "B counts on the whole TTL of 3 ticks. A's clock is one tick ahead, so A finds the row expired \
             after 2 and takes it over; B has one tick left by its own count, and both act.",
        Variant::NoDriftMargin =>
            "A counts on the whole TTL of 4 ticks by its local clock, which misses one. B takes the row over \
             when it has expired; A has one tick left by its own count, and both act.",
        Variant::OneWithoutMargin =>
            "A counts on the whole TTL of 3 ticks. B's clock is one tick ahead, so B, which keeps a margin \
             itself, finds the row expired after 2 and takes it over; A has one tick left, and both act.",
        Variant::BlackoutIgnored =>
            "B's deadline passes while its renewal is under way, and B acts on, as if the renewal had been \
             granted. A, whose clock is ahead, finds the row expired and takes it over: both act.",
        Variant::LateReplyRevives =>
            "A's deadline passes while its renewal is under way: its tenure is over. The reply comes after \
             that and brings it back with the same fence: fence 1 now names two tenures.",
        Variant::TimerTrusted =>
            "B gets its grant when the deadline has passed already, and believes it, as no timer has told it \
             so yet. Meanwhile A, whose clock is ahead, has found the row expired and has taken it over: both \
             act.",
        Variant::Unlatched =>
            "A notices that its deadline has passed: lost. The renewal that is under way is carried out after \
             that, and its reply revives the tenure: A's user was told that it was over, and fence 1 now \
             names two tenures.",
        Variant::ReleaseFirst =>
            "A is asked to shut down and releases while its work still runs. A released row is free at once: \
             B acquires, and both act.",
        Variant::DroppedReleased =>
            "A's work is dropped, and nobody knows whether it has stopped; A releases all the same. A \
             released row is free at once: B acquires, and what A's work left behind may act beside B.",
        Variant::FailureBelieved =>
            "A and B each send an acquire for B's row with fence 1. Both requests fail, and both take that \
             for a grant of fence 2: two act, with one fence, and the store has granted it to neither.",
        Variant::FailureExtends =>
            "A's deadline passes while its renewal is under way: its tenure is over. The renewal fails, A \
             takes that for a grant, and acts again with fence 1; the row was never renewed.",
        Variant::OwnRowBelieved =>
            "A's tenure is over, and its row is left to expire. A reads its own id in it and goes on with the \
             fence it finds there: fence 1 now names two tenures, the second of which nobody granted.",
        Variant::HoldsUnwanted =>
            "A is asked to shut down while its acquire is under way. The grant comes, and A begins a tenure \
             that nobody wants any more, instead of releasing it.",
        Variant::NotDurable =>
            "A is granted fence 1 and acts, but the grant is not on the disk. After the loss of power the \
             store has no row; A, started anew, is granted fence 1 again, as its earlier self was.",
        Variant::LazyRenewals =>
            "B's renewal is not on the disk when power fails, and the store comes up with the earlier expiry. \
             B, which has not lost power, acts on until the deadline the renewal gave it; A, whose clock is \
             ahead, finds the row expired and takes it over.",
        Variant::ActUnchecked =>
            "An act of A's first tenure is still to land when A has been granted the next one, fence 2. It \
             lands in a transaction that does not look at the row, behind the back of the second tenure.",
        Variant::ActWithoutFence =>
            "A begins an act in its tenure with fence 1, then acquires again: the row is A's with fence 2 when the \
             act lands. The transaction asks whose the row is, and lets an act of a tenure that is over through.",
        Variant::ActWithoutHolder =>
            "The store is emptied after A has begun an act with fence 1, and B is granted fence 1 as well. The \
             transaction compares fences only, and lets A's act through in B's tenure.",
        Variant::GateAdmitsLower =>
            "An act of A's first tenure is still under way when A's next one, fence 2, has passed the gate \
             and has read what is behind it. The gate admits the lower fence: what the second tenure has read \
             is no longer true.",
        Variant::GateAdmitsEqual =>
            "The store is emptied while A holds fence 1, so B is granted fence 1 too, and passes the gate. \
             A's act comes with the same fence; the gate does not ask whose it is and admits it.",
        Variant::ReadsFirst =>
            "A's next tenure, fence 2, reads what the gate guards without having passed the gate, so the gate \
             has not heard of fence 2. It admits a late act of the first tenure: what the second has read is \
             no longer true.",
        Variant::SharedId =>
            "A and B have one id. B finds it in the row, takes the row for its own, and acquires it without \
             waiting for the expiry: both act.",
        Variant::RestartAdopts =>
            "A and B have one id. B finds it in the row, takes the row for its own, and goes on with the \
             fence it finds there: both act, with fence 1.",
        Variant::TakersPolicy =>
            "B's row says that it is taken only by whoever has seen it unchanged for long enough. A would \
             take it by A's own policy as soon as it has expired on A's clock, and clocks may be far ahead \
             here. Nobody has taken it in this run: that anybody could is the sign.",
        Variant::FloorForgotten =>
            "The store is emptied after A's tenure with fence 1. A does not remember that it has seen fence \
             1, takes the store for a new one, and is granted fence 1 again.",
        Variant::MovedUnnoticed =>
            "The file is replaced by a copy while A's acquire is under way. It is carried out in the old file, and A \
             acts with fence 2. Whoever opens the new file, as A itself after a crash, finds the row as it was, \
             and is granted fence 2 as well: neither file knows of the other.",
        Variant::FloorCheckedAfter =>
            "The store is emptied, and A, which has seen fence 1, finds no row. The write does not ask for \
             the floor, so the store grants fence 1 a second time; that A will see this from the reply comes \
             too late to undo it.",
        Variant::FloorNotRaised =>
            "The store is put back to a backup with fence 1, after A had fence 2. A is started again with a floor \
             of 2, but its acquire counts on from the stored fence, and is granted 2 again.",
        Variant::UnreadableFree =>
            "Somebody makes A's row unreadable while A acts. B takes that for free, and as there is no fence \
             to count on from, it is granted fence 1, which A has: both act, with one fence.",
        Variant::UnreadableOwn =>
            "A's row becomes unreadable while A's acquire of it is under way. It counts as free to the holder \
             that wrote it, and as there is no fence to count on from, A's second tenure is granted fence 1, \
             like its first.",
        Variant::TextDates =>
            "A writes its dates with a space, B with a T, and as text the space comes first. So to B, A's row \
             has expired on the day it is written: B takes it over at once, and both act.",
        Variant::ForeignWithoutMargin =>
            "System A keeps no margin and works up to the expiry on its own clock. B's clock is one tick \
             ahead, and B takes the row as soon as it has expired on that: system A has one tick left, and \
             both act.",
        Variant::ObservedFromSend =>
            "A sends a read and stalls for 4 ticks. Only then is B granted the row, and the read shows it; A \
             counts from the sending, takes the new row for one that has not changed for 4 ticks, and takes \
             it over: both act.",
        Variant::ObservedUnbound =>
            "Nothing breaks: whoever was seen unchanged for that long is past its deadline for good, and a \
             renewal of it that is carried out late revives nothing.",
        Variant::EitherPolicy =>
            "A's row is to be taken only by whoever has seen it unchanged for long enough. B's clock is far \
             ahead, so to B it has expired; as either policy will do, B takes it over at once, and both act.",
    }
}
