//! The schema of an answer, in the forms for a server and for a prompt.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::strict;
use crate::schema;

/// The schema of an answer.
#[derive(Clone)]
pub(super) struct AnswerSchema {
    /// As it is checked, and shown in a prompt.
    pub(super) own: Value,
    /// As a server is given it, where that differs.
    pub(super) sent: Option<Value>,
    /// True for an answer in an object that was made for it.
    pub(super) wrapped: bool,
    pub(super) validator: Result<Arc<Validator>, String>,
}

impl AnswerSchema {
    pub(super) fn new(schema: Value) -> Self {
        let wrapped = !strict::is_object(&schema);
        let own = if wrapped { strict::wrap(schema) } else { schema };
        let sent = strict::strict(own.clone());
        let validator = schema::compile(&own).map(Arc::new).map_err(|error| error.to_string());
        Self { own, sent, wrapped, validator }
    }

    /// The same, in which the texts of the fields named `field` are shown as one of `values`. They are not checked against them.
    pub(super) fn offering(&self, field: &str, values: &[String]) -> Self {
        let mut offering = self.clone();
        offer(&mut offering.own, field, values);
        if let Some(sent) = &mut offering.sent {
            offer(sent, field, values);
        }
        offering
    }
}

/// Writes `values` into the schemas of texts, and of lists of texts, that stand under `field`.
fn offer(schema: &mut Value, field: &str, values: &[String]) {
    match schema {
        Value::Object(object) => {
            if let Some(named) = object.get_mut("properties").and_then(|it| it.get_mut(field)) {
                let text = match named.get("items") {
                    Some(_) => named.get_mut("items"),
                    None => Some(named),
                };
                let text = text.filter(|text| text.get("type") == Some(&json!("string")));
                if let Some(text) = text.and_then(Value::as_object_mut) {
                    text.insert("enum".to_owned(), json!(values));
                }
            }
            object.values_mut().for_each(|value| offer(value, field, values));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| offer(item, field, values)),
        _ => {}
    }
}
