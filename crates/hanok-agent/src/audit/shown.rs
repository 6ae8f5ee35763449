//! What a question shows, without its secrets.

use hanok_core::Stored;
use hanok_graph::Pending;
use serde_json::{Value, json};

use super::hidden::without_secrets;
use crate::digest::digest;

/// The definition, among those of the answers to a question, that describes what it shows: where it marks a secret, and no answer is an
/// edit, which would say so.
pub(crate) const SHOWN: &str = "hanok.shown";

/// What an open question shows, as JSON, to whoever decides it: of a call in doubt, its tool and its arguments. That may hold
/// [secrets](shown_without_secrets).
pub fn shown_whole(question: &Pending) -> Value {
    match &question.doubt {
        Some(doubt) => json!({ "in_doubt": doubt.tool, "arguments": doubt.arguments }),
        None => shown(&question.payload),
    }
}

/// What an open question shows, as JSON, without what its form marks as secret (`"writeOnly": true`, `"format": "password"`): for lists
/// and logs. Who decides may see it [whole](shown_whole). A call in doubt has no form that says what is secret: of its arguments there
/// are the bytes and the digest, as in [the audit](crate::AuditEvent::Settled).
pub fn shown_without_secrets(question: &Pending) -> Value {
    if let Some(doubt) = &question.doubt {
        let (bytes, digest) = (doubt.arguments.len(), digest(&doubt.arguments));
        return json!({ "in_doubt": doubt.tool, "bytes": bytes, "digest": digest });
    }
    let form = schema(question.schema.as_deref());
    without_secrets(&shown(&question.payload), &schema_of_shown(&form))
}

pub(super) fn json(stored: &Stored) -> Value {
    serde_json::from_str(&stored.to_json()).unwrap_or_default()
}

/// What the question with this payload shows. What an approval or a gate is about stands in it as JSON text.
pub(super) fn shown(payload: &Stored) -> Value {
    let mut shown = json(payload);
    for name in ["arguments", "shown"] {
        let text = shown.get(name).and_then(Value::as_str);
        let about = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let (Some(about), Some(place)) = (about, shown.get_mut(name)) {
            *place = about;
        }
    }
    shown
}

/// The schema of a question's answers.
pub(super) fn schema(schema: Option<&str>) -> Value {
    schema.map(serde_json::from_str).and_then(Result::ok).unwrap_or_default()
}

/// The schema of what an approval or a gate shows, by the one of its answers: that is what an edit has to fit, or [would have](SHOWN).
/// It is the one of its answers besides, where what it refers to stands.
pub(super) fn schema_of_shown(answers: &Value) -> Value {
    let edit = answers.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let arguments = edit.filter_map(|form| form.pointer("/properties/arguments")).next();
    let arguments = arguments.or_else(|| answers.get("$defs")?.get(SHOWN));
    let mut schema = answers.clone();
    if let (Some(arguments), Some(members)) = (arguments, schema.as_object_mut()) {
        let shown = json!({ "arguments": arguments, "shown": arguments });
        members.insert("properties".to_owned(), shown);
    }
    schema
}
