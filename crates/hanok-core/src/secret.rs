//! Values that are never shown.

use std::fmt;

/// A value that no `Debug`, `Display`, log or record shows, such as an API key.
///
/// It implements neither `Display` nor `Serialize`, so that it cannot be printed or stored by accident.
///
/// ```
/// use hanok_core::Secret;
///
/// let key = Secret::new("sk-123".to_owned());
/// assert_eq!(format!("{key:?}"), "Secret(…)");
/// assert_eq!(key.expose(), "sk-123");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Hides `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The hidden value, for the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
