//! The backends that no server stands in for here: they compile, and a guard can be built on each. Nothing is asked of them.

use super::{records, silence};
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use tenure::instance::{Guard, ObjectRecords, Options};

fn guard_on(records: ObjectRecords) -> String {
    let told = records.to_string();
    Guard::new(records, Options::default()).unwrap();
    told
}

#[test]
fn a_guard_can_be_built_on_s3() {
    let store = AmazonS3Builder::new()
        .with_client_options(silence::options())
        .with_bucket_name("bucket")
        .with_region("nowhere-1");
    let store = store.with_access_key_id("id").with_secret_access_key("secret").build().unwrap();
    assert_eq!(guard_on(records(store)), "service/instance.json in AmazonS3(bucket)");
}

#[test]
fn a_guard_can_be_built_on_googles_cloud_storage() {
    let key =
        r#"{"private_key": "private", "private_key_id": "id", "client_email": "", "disable_oauth": true}"#;
    let store = GoogleCloudStorageBuilder::new()
        .with_client_options(silence::options())
        .with_bucket_name("bucket")
        .with_service_account_key(key);
    assert_eq!(
        guard_on(records(store.build().unwrap())),
        "service/instance.json in GoogleCloudStorage(bucket)"
    );
}
