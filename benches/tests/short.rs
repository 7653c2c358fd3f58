//! The short form, as CI runs it: every contest asserts that each fence was granted once and none was left out.

use std::process::Command;

#[test]
fn every_kind_counts_right_in_every_setting() {
    let ran = Command::new(env!("CARGO_BIN_EXE_contention")).arg("--short").output().expect("it runs");
    let (table, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{errors}");
    assert_eq!(table.matches("\n### ").count(), 6, "the goals and five tables: {table}");
}
