//! See `benches/`.
