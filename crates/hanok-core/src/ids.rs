//! Ids and randomness, as they come into hanok.

use std::fmt;

/// Makes ids that no other call of any process makes.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use hanok_core::Ids;
///
/// /// Ids for tests, which are the same in every run.
/// #[derive(Debug, Default)]
/// struct Counted(AtomicU64);
///
/// impl Ids for Counted {
///     fn id(&self) -> u128 {
///         self.0.fetch_add(1, Ordering::SeqCst).into()
///     }
/// }
///
/// let ids = Counted::default();
/// assert_ne!(ids.id(), ids.id());
/// ```
pub trait Ids: fmt::Debug + Send + Sync + 'static {
    /// A new id.
    fn id(&self) -> u128;
}

/// Rolls dice: for jitter and for boundaries that nobody can guess.
pub trait Rng: fmt::Debug + Send + Sync + 'static {
    /// The next 64 random bits.
    fn bits(&self) -> u64;
}
