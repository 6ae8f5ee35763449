//! The rules of fields that are declared at run time.

use serde::{Deserialize, Serialize};

use crate::rule::Rule;

/// The rule by which the writes of one super-step are merged into a field that is declared at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DynamicRule {
    /// The last value. Two writers in one super-step are an error. At first `null`.
    Last,
    /// A list: an array extends it, anything else is one item more. At first empty.
    Append,
    /// An object. Later keys win, and `null` removes a key. At first empty.
    Merge,
    /// A conversation. A message with a known id replaces the one before, any other is appended. At first empty.
    Messages,
    /// A number to which numbers are added. At first 0.
    Sum,
}

impl DynamicRule {
    /// The rule in a schema.
    pub(crate) fn in_schema(self) -> Rule {
        match self {
            Self::Last => Rule::LastValue,
            Self::Append => Rule::Append,
            Self::Merge => Rule::Merge,
            Self::Messages => Rule::Messages,
            Self::Sum => Rule::Sum,
        }
    }

    /// The type of a field under this rule, as a schema writes it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Last => "Json",
            Self::Append => "List<Json>",
            Self::Merge => "Map<String,Json>",
            Self::Messages => "Messages",
            Self::Sum => "Number",
        }
    }
}
