//! What is read, and what is not.

use crate::instance::{BYTES_MAX, Record, Seen};
use crate::protocol::WallTime;

pub(super) fn record(id: &str, renewed: i64, ttl_ms: u64) -> Record {
    let at = WallTime::from_unix_millis;
    Record { id: id.into(), since: at(renewed), renewed: at(renewed), ttl_ms }
}

/// Whatever is no record, with a word of the reason.
pub(super) fn unreadable() -> Vec<(Vec<u8>, &'static str)> {
    let good = record("web-1", 1_767_225_600_000, 120_000).to_json();
    let with = |old: &str, new: &str| {
        assert!(good.contains(old), "{good}");
        good.replace(old, new).into_bytes()
    };
    vec![
        (b"".to_vec(), "not JSON"),
        (good.as_bytes()[..good.len() / 2].to_vec(), "not JSON"),
        (b"nobody".to_vec(), "not JSON"),
        (format!("{good}{good}").into_bytes(), "not JSON"),
        (b"[1]".to_vec(), "object"),
        (b"{}".to_vec(), "tenure_instance"),
        (with(r#""tenure_instance":1"#, r#""tenure_instance":2"#), "version: 2"),
        (with(r#""tenure_instance":1"#, r#""tenure_instance":"1""#), "version"),
        (with(r#""id":"web-1""#, r#""id":7"#), "id"),
        (with(r#""id":"web-1""#, r#""id":"""#), "id"),
        (with(r#""id":"web-1""#, r#""id":"web\u001b""#), "id"),
        (with(r#""id":"web-1","#, ""), "\"id\" is missing"),
        (with(r#""since_ms":1767225600000"#, r#""since_ms":null"#), "since_ms"),
        (with(r#""renewed_ms":1767225600000"#, r#""renewed_ms":1767225600000.5"#), "renewed_ms"),
        (with(r#""renewed_ms":1767225600000"#, r#""renewed_ms":99999999999999999999"#), "renewed_ms"),
        (with(r#""ttl_ms":120000"#, r#""ttl_ms":999"#), "ttl_ms"),
        (with(r#""ttl_ms":120000"#, r#""ttl_ms":86400001"#), "ttl_ms"),
        (with(r#""ttl_ms":120000"#, r#""ttl_ms":-1"#), "ttl_ms"),
        (with("}", r#","more":1}"#), "more"),
        (with("{", r#"{"id":"web-2","#), "the field \"id\" twice"),
        (with("}", r#","ttl_ms":120000}"#), "the field \"ttl_ms\" twice"),
        (with("}", r#","tenure_instance":1}"#), "the field \"tenure_instance\" twice"),
        (with("web-1", "\u{0}"), "not JSON"),
        ([good.as_bytes(), b"\xff"].concat(), "UTF-8"),
        ([good.as_bytes(), &[b' '; BYTES_MAX][..]].concat(), "longer"),
        ("[".repeat(4_000).into_bytes(), "object"),
        (with("\"web-1\"", &"[".repeat(2_000)), "not JSON"),
    ]
}

#[test]
fn a_record_is_read_as_it_was_written() {
    for id in ["a", "web \"1\"\\ ü-00", &"x".repeat(272)] {
        let record = record(id, 1_767_225_600_000, 86_400_000);
        let json = record.to_json();
        assert!(json.len() < BYTES_MAX / 4 && json.ends_with("}\n"), "{json}");
        assert_eq!(Seen::of(Some(json.as_bytes())), Seen::Record(record));
    }
    assert_eq!(Seen::of(None), Seen::Absent);
}

#[test]
fn a_record_is_the_json_that_the_docs_show() {
    let mut record = record("web-1-00c0ffee00c0ffee", 1_767_225_640_000, 120_000);
    record.since = WallTime::from_unix_millis(1_767_225_600_000);
    assert!(include_str!("../mod.rs").contains(record.to_json().trim_end()), "{}", record.to_json());
}

#[test]
fn what_is_no_record_is_unreadable_and_the_reason_told() {
    for (bytes, says) in unreadable() {
        let text = String::from_utf8_lossy(&bytes);
        match Seen::of(Some(&bytes)) {
            Seen::Unreadable(why) => assert!(why.contains(says), "{text}: {why}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}
