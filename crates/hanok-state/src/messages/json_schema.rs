//! The JSON Schema of a conversation, as its JSON is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::conversation::Messages;

/// The parts that every message has. Its content is a text or a list of parts.
impl JsonSchema for Messages {
    fn schema_name() -> Cow<'static, str> {
        "Messages".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": { "role": { "type": "string" } },
                "required": ["role"]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_serialised_fits_its_schema_in_its_shape() {
        let messages = Messages::from_iter([crate::Message::user("hello")]);
        let json = serde_json::to_value(&messages).unwrap_or_default();
        let schema = schemars::schema_for!(Messages).to_value();
        let items = &schema["items"];
        assert!(json[0].is_object() && items["type"] == "object");
        for name in items["required"].as_array().into_iter().flatten() {
            assert!(json[0].get(name.as_str().unwrap_or_default()).is_some(), "{json}");
        }
    }
}
