//! Servers that do not answer.

use super::Bed;
use super::guards::{claim, lost, record, until_renewed};
use super::server::Server;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use rustix::process::Signal;
use std::time::Duration;
use tenure::instance::{ClaimError, Loss};
use tests::eventually;

/// A call hangs for longer than a claim stands.
pub(super) fn options() -> ClientOptions {
    // Never used, since the servers have no TLS; but no client is made without.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(20))
}

/// A call that fails does so within the third of the TTL that somebody waits for it.
pub(super) fn retries() -> RetryConfig {
    let pause = Duration::from_millis(20);
    let backoff = BackoffConfig { init_backoff: pause, max_backoff: pause, ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: 5, retry_timeout: Duration::from_millis(200) }
}

/// By a bed with a server, and how to get at it.
macro_rules! is_told {
    ($bed:expr, $server:expr) => {
        #[test]
        fn an_instance_whose_server_hangs_is_told_so_and_another_may_start_when_it_goes_on() {
            crate::objects::silence::of_a_server_that_hangs(&mut $bed, $server);
        }

        #[test]
        fn an_instance_whose_server_died_is_told_so_and_another_is_refused() {
            crate::objects::silence::of_a_server_that_died(&mut $bed, $server);
        }
    };
}
pub(super) use is_told;

pub(super) fn of_a_server_that_hangs<B: Bed>(bed: &mut B, server: impl Fn(&mut B) -> &mut Server) {
    let first = claim(bed).unwrap();
    until_renewed(bed);
    server(bed).signal(Signal::STOP);
    let why = "the store does not answer".to_owned();
    assert_eq!(lost(&first), Loss::NotRenewed { why });
    assert!(matches!(claim(bed).unwrap_err(), ClaimError::NoAnswer));
    server(bed).signal(Signal::CONT);
    let second = eventually("the record has run out", || match claim(bed) {
        Ok(second) => Some(second),
        Err(ClaimError::AnotherInstance { id, .. }) if id == first.id() => None,
        Err(other) => panic!("{other}"),
    });
    // It does not remove what is not its own any more.
    drop(first);
    assert_eq!(record(&mut bed.client()).id, second.id());
}

pub(super) fn of_a_server_that_died<B: Bed>(bed: &mut B, server: impl Fn(&mut B) -> &mut Server) {
    let first = claim(bed).unwrap();
    server(bed).kill();
    match claim(bed).unwrap_err() {
        ClaimError::Unreadable(why) => told(&why),
        other => panic!("{other}"),
    }
    match lost(&first) {
        Loss::NotRenewed { why } => told(&why),
        other => panic!("{other}"),
    }
    assert!(first.stand_down().wait().is_err());
}

/// Which object it is, and the innermost cause.
fn told(why: &str) {
    assert!(why.starts_with("service/instance.json in ") && why.contains("onnection refused"), "{why}");
}
