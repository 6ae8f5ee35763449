//! An error with its causes, as text.

use std::{error::Error, fmt};

/// An error and its causes in one line: `what went wrong: why: why that`.
///
/// Wrappers say their part alone, and the cause is the [source](Error::source): whoever prints an error prints its chain. A
/// cause that says what stands there already is not repeated.
///
/// ```
/// use hanok_core::{Chain, Stored};
///
/// let error = Stored::encode(&"둘")?.decode::<u64>().unwrap_err().of_field("n");
/// assert_eq!(
///     Chain(&error).to_string(),
///     r#"field `n` cannot be read: the stored value "둘" is no `u64`: a text stands where something else should"#,
/// );
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl<'a> Chain<'a> {
    /// The error, its cause, the cause of that, and so on.
    ///
    /// ```
    /// use hanok_core::{Chain, Stored};
    ///
    /// let error = Stored::encode(&"둘")?.decode::<u64>().unwrap_err().of_field("n");
    /// assert_eq!(Chain(&error).causes().count(), 3);
    /// # Ok::<(), hanok_core::StoredError>(())
    /// ```
    pub fn causes(self) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
        let mut next = Some(self.0);
        std::iter::from_fn(move || {
            let error = next?;
            next = error.source();
            Some(error)
        })
    }
}

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = self.0.to_string();
        f.write_str(&before)?;
        for cause in self.causes().skip(1) {
            let text = cause.to_string();
            if !before.ends_with(&text) {
                write!(f, ": {text}")?;
                before = text;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}
