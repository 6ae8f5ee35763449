//! JSON Schemas of the collections, as their JSON is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{list::List, map::Map};

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
    }
}
