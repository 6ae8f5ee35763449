//! The rules of fields, by name.

use std::fmt;

/// The rule by which writes are merged into a field, as a schema names it.
///
/// ```
/// use hanok_state::{Rule, State};
///
/// #[derive(State, Clone, Default)]
/// struct Notes {
///     #[reduce(append)]
///     lines: Vec<String>,
///     #[state(transient)]
///     draft: String,
/// }
///
/// let notes = Notes::default();
/// let lines = notes.schema().field("lines").map(|field| field.rule);
/// assert_eq!(lines, Some(Rule::Append));
/// assert!(!Rule::Transient.is_stored());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The last write counts, and only one node may write in a super-step.
    LastValue,
    /// Writes extend a list.
    Append,
    /// Writes are merged into a map by key.
    Merge,
    /// Writes are updates of a nested state.
    Nested,
    /// Writes are messages, by id.
    Messages,
    /// A function merges the writes.
    With,
    /// Writes are operations, which a function applies.
    Operations,
    /// As [`LastValue`](Rule::LastValue), and never stored.
    Transient,
    /// Writes are numbers, which are added.
    Sum,
}

impl Rule {
    /// The name of the rule. Fingerprints of schemas are made of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LastValue => "last value",
            Self::Append => "append",
            Self::Merge => "merge",
            Self::Nested => "nested",
            Self::Messages => "messages",
            Self::With => "with",
            Self::Operations => "operations",
            Self::Transient => "transient",
            Self::Sum => "sum",
        }
    }

    /// Tells that a log holds the field.
    pub const fn is_stored(self) -> bool {
        !matches!(self, Self::Transient)
    }

    /// Tells that a write adds to the value, and does not take its place.
    pub const fn grows(self) -> bool {
        !matches!(self, Self::LastValue | Self::Transient)
    }

    /// Tells that the merged value does not follow from the writes alone, so that it is stored besides them.
    pub const fn resolves(self) -> bool {
        matches!(self, Self::With | Self::Operations | Self::Nested)
    }
}

/// Writes the [name](Rule::name).
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
