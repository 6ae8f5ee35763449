//! A panic of a user's code, as an error.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use thiserror::Error;

/// The message of a panic that was caught.
///
/// ```
/// use hanok_core::Panicked;
///
/// let panicked = Panicked::catch(|| -> u32 { panic!("no such sum") });
/// assert_eq!(panicked, Err(Panicked("no such sum".to_owned())));
/// assert_eq!(Panicked::catch(|| 1), Ok(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

impl Panicked {
    /// The message of the panic, or `without a message` for a panic with a value that is not a text.
    pub fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }

    /// Runs `work`, whose panic is an error. A value that `work` changes may be half changed after a panic: drop it.
    ///
    /// # Errors
    ///
    /// The message, if `work` panics. A program that aborts on panics ends instead.
    pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Self::of(&*panic))
    }
}
