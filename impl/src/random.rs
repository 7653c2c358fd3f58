//! All random numbers, from the operating system.

/// The operating system gave no random numbers.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the operating system gave no random numbers: {0}")]
pub struct NoRandomness(getrandom::Error);

/// A number that no restart, copy or twin will draw again, for a holder id (SPEC.md R10).
///
/// # Errors
/// If the operating system has none to give. Nothing else will do: do not contend.
pub fn nonce() -> Result<u64, NoRandomness> {
    #[expect(clippy::disallowed_methods, reason = "this is the module for it")]
    getrandom::u64().map_err(NoRandomness)
}

/// A number that spreads polls and retries over time. Nothing rests on it, so it falls back to zero.
pub fn roll() -> u64 {
    nonce().unwrap_or(0)
}
