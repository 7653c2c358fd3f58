//! A record in an object store: its runtime, and what its errors say. `tests/` has the backends.

use crate::clock::SetClock;
use crate::instance::objects::{plain, whole};
use crate::instance::{Guard, ObjectRecords, Options, Records};
use object_store::memory::InMemory;
use object_store::path::Path;
use std::sync::Arc;

fn records() -> ObjectRecords {
    ObjectRecords::new(Arc::new(InMemory::new()), Path::from("a/record")).unwrap()
}

#[tokio::test]
async fn a_guard_may_be_dropped_in_async_code() {
    let options = Options { clock: SetClock::new(), ..Options::default() };
    drop(Guard::new(records(), options).unwrap());
}

#[test]
fn of_a_huge_object_no_more_is_kept_than_shows_that_it_is_none() {
    let mut records = records();
    for (written, read) in [(4_096, 4_096), (4_097, 4_097), (1 << 20, 4_097)] {
        records.write(&vec![b'x'; written]).unwrap();
        assert_eq!(records.read().unwrap(), Some(vec![b'x'; read]));
    }
}

#[test]
fn it_says_which_object_it_is() {
    assert_eq!(records().to_string(), "a/record in InMemory");
    assert_eq!(format!("{:?}", records()), "ObjectRecords(a/record in InMemory)");
}

#[derive(Debug, thiserror::Error)]
#[error("{says}")]
struct Layer {
    says: &'static str,
    source: Option<Box<Layer>>,
}

#[test]
fn each_cause_is_told_once() {
    let layers = |says: &[&'static str]| {
        let source = says.iter().rev().fold(None, |source, says| Some(Box::new(Layer { says, source })));
        whole(&source.unwrap())
    };
    assert_eq!(
        layers(&["S3 failed: sending failed", "sending failed", "refused"]),
        "S3 failed: sending failed: refused"
    );
    assert_eq!(layers(&["failed"]), "failed");
}

#[test]
fn no_user_password_or_query_of_a_url_is_told_and_nothing_else_is_left_out() {
    let kept = [
        "GET http://host:80/a/b in 3ms - refused",
        "(https://[::1]/a): who? me@host, 3:4",
        r#"<?xml version="1.0"?><Error xmlns="http://host/doc"><Code>No</Code></Error>"#,
        "what about a?b=c",
    ];
    for text in kept {
        assert_eq!(plain(text), text);
    }
    let cut = [
        ("GET http://user:secret@host:80/a in 3ms", "GET http://host:80/a in 3ms"),
        ("(https://user@host)", "(https://host)"),
        ("https://h/a?sig=secret: https://h/b", "https://h/a https://h/b"),
        ("\"/a/b?sig=secret\"<https://h?secret>", "\"/a/b\"<https://h>"),
        ("https://h/?to=https://user:secret@h&sig=secret", "https://h/"),
        ("see:http://a,http://u:secret@b/c", "see:http://a,http://b/c"),
        ("http://host/a@b", "http://host/a@b"),
    ];
    for (text, told) in cut {
        assert_eq!(plain(text), told);
    }
}

#[test]
fn a_page_is_told_on_one_line_without_control_characters() {
    assert_eq!(plain("a\r\n  page\twith\u{1b}[31m colours\n"), "a page with [31m colours");
}
