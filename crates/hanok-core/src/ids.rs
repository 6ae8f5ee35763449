//! Ids and randomness, as they come into hanok.

use std::fmt;

/// Makes ids that no other call of any process makes.
pub trait Ids: fmt::Debug + Send + Sync + 'static {
    /// A new id.
    fn id(&self) -> u128;
}

/// Rolls dice: for jitter and for boundaries that nobody can guess.
pub trait Rng: fmt::Debug + Send + Sync + 'static {
    /// The next 64 random bits.
    fn bits(&self) -> u64;
}
