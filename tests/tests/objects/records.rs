//! What is asked of `Records`.

use super::Bed;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tenure::instance::{BYTES_MAX, Records};

pub(super) fn are_read_as_written_and_gone_when_deleted(bed: &impl Bed) {
    let [mut writer, mut reader] = [bed.client(), bed.client()];
    assert_eq!(reader.read().unwrap(), None);
    writer.delete().unwrap();
    for bytes in ["one", "two, which is longer", "3", "", "\u{0}\r\n ü"] {
        writer.write(bytes.as_bytes()).unwrap();
        assert_eq!(reader.read().unwrap(), Some(bytes.as_bytes().to_vec()));
    }
    for (written, read) in [(BYTES_MAX, BYTES_MAX), (1 << 20, BYTES_MAX + 1)] {
        writer.write(&vec![b'x'; written]).unwrap();
        assert_eq!(reader.read().unwrap(), Some(vec![b'x'; read]));
    }
    writer.delete().unwrap();
    assert_eq!(reader.read().unwrap(), None);
    writer.delete().unwrap();
    writer.write(b"again").unwrap();
    assert_eq!(reader.read().unwrap(), Some(b"again".to_vec()));
}

const READS: usize = 300;

pub(super) fn are_never_seen_by_halves<B: Bed>(bed: &B) {
    let letters = [vec![b'a'; B::LENGTHS[0]], vec![b'b'; B::LENGTHS[1]]];
    for read in read_while_they_change(bed, &letters) {
        assert!(letters.contains(&read), "{} bytes, the first is {:?}", read.len(), read.first());
    }
}

/// What is read while one client writes the one and the other, again and again; each is read at least once.
pub(super) fn read_while_they_change(bed: &impl Bed, records: &[Vec<u8>; 2]) -> Vec<Vec<u8>> {
    let [mut writer, mut reader] = [bed.client(), bed.client()];
    writer.write(&records[0]).unwrap();
    let over = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for record in records.iter().cycle().take_while(|_| !over.load(SeqCst)) {
                writer.write(record).unwrap();
            }
        });
        // No panic in here, where the writer is waited for. More rounds in the case that it has a late start.
        for _ in 0..100 {
            seen.extend((0..READS).map(|_| reader.read().map_err(|error| error.to_string())));
            if records.iter().all(|record| seen.contains(&Ok(Some(record.clone())))) {
                break;
            }
        }
        over.store(true, SeqCst);
    });
    let seen: Vec<_> = seen.into_iter().map(|read| read.unwrap().expect("one is always there")).collect();
    assert!(
        records.iter().all(|record| seen.contains(record)),
        "the same was always there: nothing was tested"
    );
    seen
}
