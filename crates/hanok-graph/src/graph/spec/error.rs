//! The faults of a spec.

use std::fmt;

use hanok_core::BoxError;
use hanok_state::DynamicSchemaError;
use thiserror::Error;

use crate::{error::Fault, names::instead};

/// The faults of a spec, all at once.
#[derive(Debug, Error)]
pub struct SpecError {
    /// The graph's name.
    pub graph: String,
    /// The faults.
    pub faults: Vec<SpecFault>,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built", self.graph)?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a spec.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpecFault {
    /// The fields cannot be those of a state.
    #[error("{0}")]
    State(#[source] DynamicSchemaError),
    /// A node is of a kind that is not registered.
    #[error("node `{node}`: no kind `{kind}`; there are {}", instead(kind, kinds))]
    UnknownKind {
        /// The node.
        node: String,
        /// The kind.
        kind: String,
        /// The kinds that are registered.
        kinds: Vec<String>,
    },
    /// A kind cannot make a node of the settings under `with`.
    #[error("node `{node}`: `{kind}` cannot be made with what `with` says: {reason}")]
    With {
        /// The node.
        node: String,
        /// The kind.
        kind: String,
        /// The cause.
        reason: BoxError,
    },
    /// A branch reads an unknown field of the state.
    #[error("branch of `{from}`: no field `{field}`; there are {}", instead(field, fields))]
    UnknownField {
        /// The source of the branch.
        from: String,
        /// The field.
        field: String,
        /// The fields of the state.
        fields: Vec<String>,
    },
    /// The graph that the spec describes has a fault.
    #[error("{0}")]
    Graph(#[source] Fault),
}
