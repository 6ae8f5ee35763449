//! Why writes could not be merged.

use std::sync::Arc;

use hanok_core::{BoxError, FoldError, StoredError};
use thiserror::Error;

/// The writes of one super-step to one field that could not be merged. The state is as it was.
#[derive(Debug, Error)]
#[error("field `{field}`: {reason}")]
pub struct ReduceError {
    /// The field, with the fields around it: `child.plan`.
    pub field: String,
    /// The nodes that wrote it, in task order.
    pub nodes: Vec<Arc<str>>,
    /// What was wrong.
    pub reason: Refused,
}

impl ReduceError {
    /// The same error of a field within `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}

/// What was wrong with the writes to a field.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refused {
    /// Two nodes wrote a last value.
    #[error(
        "written by `{first}` and `{second}` in one super-step; give the field a reducer, or let one node write it"
    )]
    TwoWriters {
        /// The first of them, in task order.
        first: Arc<str>,
        /// The second.
        second: Arc<str>,
    },
    /// Two nodes overwrote a field that has a reducer.
    #[error("overwritten by `{first}` and `{second}` in one super-step; only one may")]
    TwoOverwrites {
        /// The first of them, in task order.
        first: Arc<str>,
        /// The second.
        second: Arc<str>,
    },
    /// The write does not fit the value.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// What a reducer made of the writes cannot be stored.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// A reducer of the user's refused the write.
    #[error("the reducer failed: {0}")]
    Reducer(BoxError),
    /// The state has no field of this name.
    #[error("`{node}` wrote it, and the state has no such field; there are {}", listed(.fields))]
    UnknownField {
        /// The node that wrote it.
        node: Arc<str>,
        /// The fields that there are.
        fields: Box<[String]>,
    },
    /// What is written does not fit the rule of the field.
    #[error("`{node}` wrote what is not {expected}")]
    Misfit {
        /// The node that wrote it.
        node: Arc<str>,
        /// What the rule needs, and which rule it is.
        expected: &'static str,
    },
    /// What is written to a conversation is no message.
    #[error("`{node}` wrote what is no message: {reason}")]
    Message {
        /// The node that wrote it.
        node: Arc<str>,
        /// Why it is none.
        reason: Box<MessageFormatError>,
    },
    /// What is written is nested too deep to be kept.
    #[error("`{node}` wrote a value nested deeper than {deepest} levels")]
    TooDeep {
        /// The node that wrote it.
        node: Arc<str>,
        /// How deep a value may be nested.
        deepest: usize,
    },
    /// A field of a nested state.
    #[error(transparent)]
    Nested(Box<ReduceError>),
}

/// Names, as a message lists them.
pub(crate) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Why JSON is no message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MessageFormatError {
    /// The role is none that there is.
    #[error("`{role}` is no role of a message; there are {roles}")]
    UnknownRole {
        /// What was named.
        role: String,
        /// The roles of that format.
        roles: &'static str,
    },
    /// Something is missing or of another type.
    #[error("{what} is not {expected}")]
    Shape {
        /// Which part of the message.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}
