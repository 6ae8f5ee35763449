//! The errors of merges, and of messages in the JSON of others.

use std::sync::Arc;

use hanok_core::{BoxError, FoldError, StoredError};
use thiserror::Error;

/// A failed merge of the writes of one super-step to one field. The state is unchanged.
///
/// ```
/// use hanok_state::{DynamicRule, DynamicSchema, DynamicUpdate, Refused, State};
///
/// let mut state = DynamicSchema::new("count").field("hits", DynamicRule::Sum).state()?;
/// let error = state.reduce(vec![("a".into(), DynamicUpdate::new().set("hits", "둘"))]).unwrap_err();
/// assert_eq!((error.field.as_str(), error.nodes.as_slice()), ("hits", &["a".into()][..]));
/// assert!(matches!(error.reason, Refused::Misfit { .. }));
/// # Ok::<(), hanok_state::DynamicSchemaError>(())
/// ```
#[derive(Debug, Error)]
#[error("field `{field}`: {reason}")]
pub struct ReduceError {
    /// The field, with the fields around it: `child.plan`.
    pub field: String,
    /// The nodes that wrote it, in task order.
    pub nodes: Vec<Arc<str>>,
    /// The cause.
    #[source]
    pub reason: Refused,
}

impl ReduceError {
    /// Moves the error to the field within `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}

/// The cause of a failed merge of the writes to a field.
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
    #[error("{0}")]
    Fold(#[from] FoldError),
    /// The result of a reducer cannot be stored.
    #[error("{0}")]
    Stored(#[from] StoredError),
    /// A reducer of the user's refused the write.
    #[error("the reducer failed: {0}")]
    Reducer(#[source] BoxError),
    /// The state has no field of this name.
    #[error("`{node}` wrote it, and the state has no such field; there are {}", listed(.fields))]
    UnknownField {
        /// The node that wrote it.
        node: Arc<str>,
        /// The fields of the state.
        fields: Box<[String]>,
    },
    /// The write does not fit the rule of the field.
    #[error("`{node}` wrote what is not {expected}")]
    Misfit {
        /// The node that wrote it.
        node: Arc<str>,
        /// The value that the rule needs, with the name of the rule.
        expected: &'static str,
    },
    /// The write to a conversation is no message.
    #[error("`{node}` wrote what is no message: {reason}")]
    Message {
        /// The node that wrote it.
        node: Arc<str>,
        /// The fault of the message.
        reason: Box<MessageFormatError>,
    },
    /// The write is nested too deep to be stored.
    #[error("`{node}` wrote a value nested deeper than {deepest} levels")]
    TooDeep {
        /// The node that wrote it.
        node: Arc<str>,
        /// The number of levels to which a value may be nested.
        deepest: usize,
    },
    /// A field of a nested state.
    #[error("{0}")]
    Nested(#[source] Box<ReduceError>),
}

/// Lists names for a message.
pub(crate) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The fault of JSON that is no message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MessageFormatError {
    /// The format has no such role.
    #[error("`{role}` is no role of a message; there are {roles}")]
    UnknownRole {
        /// The name of the role.
        role: String,
        /// The roles of that format.
        roles: &'static str,
    },
    /// A part is missing or of another type.
    #[error("{what} is not {expected}")]
    Shape {
        /// The part of the message.
        what: &'static str,
        /// The type that the part should have.
        expected: &'static str,
    },
}
