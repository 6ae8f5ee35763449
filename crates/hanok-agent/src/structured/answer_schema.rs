//! The schema of an answer, in the forms for a server and for a prompt.

use jsonschema::Validator;
use serde_json::Value;

use super::strict;
use crate::schema;

/// The schema of an answer.
pub(super) struct AnswerSchema {
    /// As it is checked, and shown in a prompt.
    pub(super) own: Value,
    /// As a server is given it, where that differs.
    pub(super) sent: Option<Value>,
    /// True for an answer in an object that was made for it.
    pub(super) wrapped: bool,
    pub(super) validator: Result<Validator, String>,
}

impl AnswerSchema {
    pub(super) fn new(schema: Value) -> Self {
        let wrapped = !strict::is_object(&schema);
        let own = if wrapped { strict::wrap(schema) } else { schema };
        let sent = strict::strict(own.clone());
        let validator = schema::compile(&own).map_err(|error| error.to_string());
        Self { own, sent, wrapped, validator }
    }
}
