//! JSON Schemas of the collections, as their JSON is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{List, Map, Messages};

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        <Vec<T> as JsonSchema>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<T> as JsonSchema>::json_schema(generator)
    }
}

impl<K: Ord + JsonSchema, V: JsonSchema> JsonSchema for Map<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Map_of_{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<V>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}

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
        fn shape<T: JsonSchema>() -> serde_json::Value {
            schemars::schema_for!(T).to_value()
        }
        assert_eq!(shape::<List<u32>>()["items"]["type"], "integer");
        assert_eq!(shape::<Map<String, bool>>()["additionalProperties"]["type"], "boolean");
        let messages = Messages::from_iter([crate::Message::user("hello")]);
        let json = serde_json::to_value(&messages).unwrap_or_default();
        let items = &shape::<Messages>()["items"];
        assert!(json[0].is_object() && items["type"] == "object");
        for name in items["required"].as_array().into_iter().flatten() {
            assert!(json[0].get(name.as_str().unwrap_or_default()).is_some(), "{json}");
        }
    }
}
