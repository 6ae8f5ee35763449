//! The reasons why a value cannot be stored or read.

use std::fmt::{self, Write};

use rmp::Marker;
use rmp_serde::decode;
use thiserror::Error;

use crate::{boxed::BoxError, panicked::Panicked};

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
    #[error("the stored value {} is no `{}`", mismatch.actual, mismatch.expected)]
    Decode {
        /// The value and the type.
        mismatch: Box<Mismatch>,
        /// The reason why it does not fit.
        #[source]
        source: BoxError,
    },
    /// A field of a state, or a write to it, cannot be read.
    #[error("field `{field}` cannot be read")]
    Field {
        /// The field, with the fields around it: `child.plan`.
        field: Box<str>,
        /// The reason.
        #[source]
        source: Box<StoredError>,
    },
    /// The value is nested deeper than what is read again: make it flatter, or store it as a text.
    #[error("a value cannot be stored: it is nested deeper than {deepest}")]
    TooDeep {
        /// The deepest nesting that is stored.
        deepest: usize,
    },
    /// The `Serialize` or `Deserialize` of a type panicked.
    #[error("a `{kind}` could not be stored or read")]
    Panicked {
        /// The type, without the modules that it is in.
        kind: Box<str>,
        /// The message of the panic.
        #[source]
        source: Box<Panicked>,
    },
    /// The value cannot be stored: its `Serialize` failed or says what it does not keep.
    #[error("a value cannot be stored: {reason}")]
    Encode {
        /// The error, in the words of the value's `Serialize`.
        reason: String,
    },
}

/// A stored value, and the type that it does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The type that was asked for, without the modules that it is in.
    pub expected: String,
    /// The value as JSON, cut to what fits a line.
    pub actual: String,
}

impl StoredError {
    /// The error of a `T` that could not be read from `actual`.
    pub(crate) fn decode<T>(actual: &dyn fmt::Display, source: decode::Error) -> Self {
        let expected = short(std::any::type_name::<T>());
        let mismatch = Box::new(Mismatch { expected, actual: beginning(actual) });
        let source = match source {
            decode::Error::TypeMismatch(marker) => {
                format!("{} stands where something else should", kind(marker)).into()
            }
            other => other.into(),
        };
        Self::Decode { mismatch, source }
    }

    /// The error of a `T` whose code panicked.
    pub(crate) fn panicked<T: ?Sized>(panicked: Panicked) -> Self {
        Self::Panicked { kind: short(std::any::type_name::<T>()).into(), source: panicked.into() }
    }

    /// The error of `field`, or of the field within it that has it already.
    ///
    /// ```
    /// use hanok_core::{Stored, StoredError};
    ///
    /// let error = Stored::encode(&"셋")?.decode::<u64>().unwrap_err();
    /// assert_eq!(error.to_string(), r#"the stored value "셋" is no `u64`"#);
    /// let error = error.of_field("total").of_field("plan");
    /// assert_eq!(error.to_string(), "field `plan.total` cannot be read");
    /// # Ok::<(), StoredError>(())
    /// ```
    #[must_use]
    pub fn of_field(self, field: &str) -> Self {
        match self {
            Self::Field { field: inner, source } => {
                Self::Field { field: format!("{field}.{inner}").into(), source }
            }
            source => Self::Field { field: field.into(), source: Box::new(source) },
        }
    }
}

/// What kind of value begins with `marker`.
fn kind(marker: Marker) -> &'static str {
    match marker {
        Marker::Null => "nothing",
        Marker::True | Marker::False => "a bool",
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "a text",
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => "a list",
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "a map",
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "bytes",
        Marker::F32 | Marker::F64 => "a fraction",
        Marker::FixPos(_) | Marker::FixNeg(_) => "an integer",
        Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64 => "an integer",
        Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64 => "an integer",
        _ => "a value of another format",
    }
}

/// The characters of a value that an error shows.
const SHOWN: usize = 80;

/// The beginning of `value` as text.
fn beginning(value: &dyn fmt::Display) -> String {
    let mut shown = Beginning { text: String::new(), remaining: SHOWN };
    if write!(shown, "{value}").is_err() {
        shown.text.push('…');
    }
    shown.text
}

/// Takes so many characters, and fails at the next one.
struct Beginning {
    text: String,
    remaining: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.text.extend(more.chars().take(self.remaining));
        self.remaining = self.remaining.checked_sub(more.chars().count()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// The name of a type without the modules that it is in.
fn short(name: &str) -> String {
    let parts = name.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
    parts.map(|part| part.rsplit("::").next().unwrap_or(part)).collect()
}
