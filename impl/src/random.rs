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

/// Where an elector's random numbers come from: tests give their own.
pub(crate) struct Dice(Box<dyn FnMut() -> Result<u64, NoRandomness> + Send>);

impl Dice {
    /// The operating system's.
    pub(crate) fn system() -> Self {
        Self(Box::new(nonce))
    }

    /// The same numbers each time.
    pub(crate) fn seeded(seed: u64) -> Self {
        let mut state = seed;
        // SplitMix64: every seed gives a sequence without repetitions.
        Self(Box::new(move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Ok(z ^ (z >> 31))
        }))
    }

    pub(crate) fn nonce(&mut self) -> Result<u64, NoRandomness> {
        (self.0)()
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.nonce().unwrap_or(0)
    }
}

impl std::fmt::Debug for Dice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dice")
    }
}
