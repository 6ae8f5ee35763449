//! The faults of a schema.

use thiserror::Error;

/// The faults of fields that cannot be those of a state.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("schema `{schema}`: {}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct DynamicSchemaError {
    /// The name of the schema.
    pub schema: String,
    /// The faults, in the order of the fields.
    pub faults: Vec<SchemaFault>,
}

/// One fault of a schema.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFault {
    /// A name is empty or holds control characters.
    #[error("{name:?} is no name of a field: a name is not empty and holds no control characters")]
    Name {
        /// The name.
        name: String,
    },
    /// Two fields have one name.
    #[error("field `{name}` is declared twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The default does not fit the rule.
    #[error("field `{name}`: its default is not {expected}")]
    Default {
        /// The field.
        name: String,
        /// The value that the rule needs, with the name of the rule.
        expected: String,
    },
    /// The default is nested too deep.
    #[error("field `{name}`: its default is nested deeper than {deepest} levels")]
    TooDeep {
        /// The field.
        name: String,
        /// The number of levels to which a value may be nested.
        deepest: usize,
    },
}
