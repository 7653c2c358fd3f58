//! What users name: leases and, by a label, their instances.

use super::ConfigError;
use std::fmt;
use std::sync::Arc;

/// The longest name or label, in bytes.
const BYTES_MAX: usize = 255;

/// The name of a lease: 1 to 255 bytes of UTF-8 without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseName(Arc<str>);

impl LeaseName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`ConfigError::Text`] names what is wrong with it.
    pub fn new(name: &str) -> Result<Self, ConfigError> {
        checked("lease name", name).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What people call an instance, the host name for example: it ends the holder id, for people to read.
///
/// 1 to 255 bytes of UTF-8 without control characters. Two instances may share a label: a nonce tells
/// them apart (SPEC.md R10).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Arc<str>);

impl Label {
    /// Checks a label.
    ///
    /// # Errors
    /// [`ConfigError::Text`] names what is wrong with it.
    pub fn new(label: &str) -> Result<Self, ConfigError> {
        checked("label", label).map(Self)
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text, if it is one that a name or a label may be.
pub(super) fn checked(what: &'static str, text: &str) -> Result<Arc<str>, ConfigError> {
    let wrong =
        |wrong: String| ConfigError::Text { what, value: text.escape_debug().take(80).collect(), wrong };
    if text.is_empty() {
        return Err(wrong("it is empty".into()));
    }
    if text.len() > BYTES_MAX {
        return Err(wrong(format!("it has {} bytes", text.len())));
    }
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        return Err(wrong(format!("it contains the control character {control:?}")));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_1_to_255_bytes_and_no_control_characters() {
        for good in ["a", "nightly backup", "ünïcode/✓", &"x".repeat(255)] {
            assert_eq!(LeaseName::new(good).unwrap().as_str(), good);
        }
        for (bad, says) in [
            ("", "it is empty"),
            (&"x".repeat(256), "it has 256 bytes"),
            (&"é".repeat(128), "it has 256 bytes"),
            ("a\nb", r"control character '\n'"),
            ("a\u{0}", r"control character '\0'"),
            ("\u{85}", r"control character '\u{85}'"),
        ] {
            let error = LeaseName::new(bad).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
