//! The whole guard, by the real clock.

use super::Bed;
use std::time::Duration;
use tenure::clock::{Clock, SystemClock};
use tenure::instance::{Claim, ClaimError, Guard, Loss, ObjectRecords, Options, Record, Records, Seen};
use tests::eventually;

/// Not the shortest: a call may take a third of it, and the machine may be busy with other tests.
const TTL: Duration = Duration::from_secs(6);

pub(super) fn guard(records: ObjectRecords) -> Guard {
    Guard::new(records, Options { ttl: TTL, ..Options::default() }).unwrap()
}

pub(super) fn claim(bed: &impl Bed) -> Result<Claim, ClaimError> {
    guard(bed.client()).claim().wait()
}

pub(super) fn record(client: &mut ObjectRecords) -> Record {
    match Seen::of(client.read().unwrap().as_deref()) {
        Seen::Record(record) => record,
        seen => panic!("{seen:?}"),
    }
}

/// Returns at the moment when the record was renewed: it is left alone then, for a third of the TTL.
pub(super) fn until_renewed(bed: &impl Bed) -> Record {
    let mut client = bed.client();
    let first = record(&mut client);
    eventually("the record is renewed", || {
        Some(record(&mut client)).filter(|now| now.renewed != first.renewed)
    })
}

fn refused(bed: &impl Bed) -> String {
    match claim(bed).unwrap_err() {
        ClaimError::AnotherInstance { id, .. } => id,
        other => panic!("{other}"),
    }
}

/// Why: it fails if that is never told.
pub(super) fn lost(claim: &Claim) -> Loss {
    eventually("the claim is lost", || claim.check().err());
    claim.lost().wait()
}

pub(super) fn refuse_a_second_instance_until_the_first_has_stood_down(bed: &impl Bed) {
    let mut client = bed.client();
    let first = claim(bed).unwrap();
    assert_eq!(refused(bed), first.id());
    eventually("it is renewed for longer than the ttl", || {
        let Record { since, renewed, ttl_ms, .. } = record(&mut client);
        (renewed > since.plus(ttl_ms)).then_some(())
    });
    assert_eq!(refused(bed), first.id());
    first.check().unwrap();
    first.stand_down().wait().unwrap();
    assert_eq!(client.read().unwrap(), None);
    let second = claim(bed).unwrap();
    assert_eq!(refused(bed), second.id());
    drop(second);
    assert_eq!(client.read().unwrap(), None);
}

pub(super) fn tell_by_whom_a_record_was_overwritten(bed: &impl Bed) {
    let mut client = bed.client();
    let claim = claim(bed).unwrap();
    until_renewed(bed);
    let now = SystemClock.wall();
    let other = Record { id: "other".into(), since: now, renewed: now, ttl_ms: 60_000 };
    client.write(other.to_json().as_bytes()).unwrap();
    assert_eq!(lost(&claim), Loss::Overwritten { by: "other".into() });
    drop(claim);
    assert_eq!(record(&mut client), other);
}
