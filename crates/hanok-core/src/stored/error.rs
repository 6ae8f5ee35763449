//! The reasons why a value cannot be stored or read.

use thiserror::Error;

use crate::boxed::BoxError;

/// The deepest nesting of a value. Deeper ones are refused when they are read, so that no stack overflows.
pub(crate) const DEEPEST: usize = 128;

/// The deepest nesting of a value that is written: states and their collections wrap it further, and all of that is read
/// again.
pub(crate) const DEEPEST_WRITTEN: usize = 112;

/// Why a value could not be stored or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The bytes are no stored value.
    #[error("not a stored value: expected {expected} at byte {at}")]
    Malformed {
        /// The offset in bytes.
        at: usize,
        /// The kind of value that should have stood there.
        expected: &'static str,
    },
    /// The value has another shape than the type that was asked for.
    #[error("a stored value does not have the expected shape")]
    Decode(#[source] BoxError),
    /// The value is nested deeper than what is read again: make it flatter, or store it as a text.
    #[error("a value cannot be stored: it is nested deeper than {deepest}")]
    TooDeep {
        /// The deepest nesting that is stored.
        deepest: usize,
    },
    /// The value cannot be stored: its `Serialize` failed or says what it does not keep.
    #[error("a value cannot be stored: {reason}")]
    Encode {
        /// The error, in the words of the value's `Serialize`.
        reason: String,
    },
}

impl StoredError {
    pub(crate) fn decode(source: impl Into<BoxError>) -> Self {
        Self::Decode(source.into())
    }
}
