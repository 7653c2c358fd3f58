//! What a test has to say although it passes.

use std::fmt::Display;
use std::io::Write;

/// Prints it past the test's captured output.
pub fn say(what: impl Display) {
    writeln!(std::io::stdout(), "{what}").ok();
}
