//! What can be set, and what cannot.

use super::stage::Cell;
use crate::Remedy;
use crate::instance::machine::Timing;
use crate::instance::{Guard, Options};
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn the_defaults_are_usable_and_are_as_documented() {
    let options = Options::default();
    assert_eq!(options.timing(), Ok(Timing { ttl_ms: 120_000, settle_ms: 1_000 }));
    Guard::new(Cell::default(), options).unwrap();
    let short = Options { ttl: ms(1_000), ..Options::default() };
    assert_eq!(short.timing(), Ok(Timing { ttl_ms: 1_000, settle_ms: 125 }));
    let set = Options { ttl: ms(86_400_000), settle: Some(ms(10_800_000)), ..Options::default() };
    assert_eq!(set.timing(), Ok(Timing { ttl_ms: 86_400_000, settle_ms: 10_800_000 }));
}

#[test]
fn what_cannot_work_is_refused_the_value_and_the_range_named_and_nothing_is_read_or_written() {
    let base = Options::default;
    for (options, says) in [
        (Options { ttl: ms(999), ..base() }, ["ttl 999ms", "1s to 1day"]),
        (Options { ttl: ms(86_400_001), ..base() }, ["ttl 86400.001s", "1s to 1day"]),
        (Options { ttl: Duration::from_micros(1_500_500), ..base() }, ["ttl 1.5005s", "whole milliseconds"]),
        (Options { ttl: Duration::MAX, ..base() }, ["ttl", "1s to 1day"]),
        (Options { settle: Some(ms(0)), ..base() }, ["settle time 0ns", "1ms to 15s"]),
        (Options { settle: Some(ms(15_001)), ..base() }, ["settle time 15.001s", "1ms to 15s"]),
        (Options { settle: Some(Duration::from_nanos(1)), ..base() }, ["settle time 1ns", "1ms"]),
        (Options { label: Some(String::new()), ..base() }, ["label", "empty"]),
        (Options { label: Some("a\n".into()), ..base() }, ["label", "control character"]),
    ] {
        let cell = Cell::default();
        let error = Guard::new(cell.clone(), options).unwrap_err();
        assert_eq!(error.remedy(), Remedy::Fix);
        let text = error.to_string();
        assert!(says.iter().all(|says| text.contains(says)), "{says:?}: {text}");
        assert_eq!(cell.calls(), 0);
    }
}
