//! The guard's record in object stores: the same promises on each backend, real servers among them.

#[cfg(feature = "servers")]
mod azurite;
mod guards;
mod local;
mod memory;
#[cfg(feature = "servers")]
mod others;
mod records;
#[cfg(feature = "servers")]
mod server;
#[cfg(feature = "servers")]
mod silence;
#[cfg(feature = "servers")]
mod webdav;

use object_store::ObjectStore;
use object_store::path::Path;
use std::sync::Arc;
use tenure::instance::ObjectRecords;

/// A place for one record, with nothing in it.
trait Bed {
    /// How long two records are, in bytes, of which no reader sees a half while one is put in the other's place.
    const LENGTHS: [usize; 2] = [100, 3_000];

    /// A client of it, which shares nothing with the others that can be its own.
    fn client(&self) -> ObjectRecords;
}

fn records(store: impl ObjectStore) -> ObjectRecords {
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    ObjectRecords::new(store, Path::from("service/instance.json")).unwrap()
}

/// A test for each promise, on the bed that this makes.
macro_rules! keeps_the_promises {
    ($bed:expr) => {
        #[test]
        fn what_is_written_is_read_and_what_is_deleted_is_not_there() {
            crate::objects::records::are_read_as_written_and_gone_when_deleted(&$bed);
        }

        #[test]
        fn no_reader_sees_half_a_record_or_none() {
            crate::objects::records::are_never_seen_by_halves(&$bed);
        }

        #[test]
        fn a_second_instance_is_refused_until_the_first_has_stood_down() {
            crate::objects::guards::refuse_a_second_instance_until_the_first_has_stood_down(&$bed);
        }

        #[test]
        fn an_instance_whose_record_is_overwritten_is_told_by_whom() {
            crate::objects::guards::tell_by_whom_a_record_was_overwritten(&$bed);
        }
    };
}
use keeps_the_promises;
