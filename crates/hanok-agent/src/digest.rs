//! Digests of texts and of JSON values.

use hanok_state::Json;
use serde_json::Value;

/// The BLAKE3 hash of `text`, as hex.
pub(crate) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The digest of a JSON value, whatever the order of its keys.
pub(crate) fn json_digest(value: &Value) -> String {
    digest(&json_text(value))
}

/// A JSON value as text, whatever the order of its keys. One whose numbers cannot be written as JSON has a text of its own all the
/// same.
pub(crate) fn json_text(value: &Value) -> String {
    Json::text_of(value).unwrap_or_else(|_| value.to_string())
}
