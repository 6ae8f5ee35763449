//! A schema that stands within another.

use serde_json::Value;

use crate::reference::{fragment, is_pointer};

/// Keywords whose values are data, and no schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose members have the names that the schema's writer chose.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// The dialects besides the newest that the whole can be written in.
const DIALECTS: [&str; 3] = [
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
];

/// `schema` as it stands at `place`, a JSON pointer: what it refers to in itself is there, but for its `$defs`, which stand at the root
/// of the whole. It is no document of its own: it has no `$id` and no `$schema`.
pub(super) fn placed(schema: &Value, place: &str) -> Value {
    let mut schema = schema.clone();
    let id = schema.as_object_mut().and_then(|members| {
        members.remove("$schema");
        members.remove("$id")
    });
    refer(&mut schema, place, id.as_ref().and_then(Value::as_str));
    schema
}

/// The `$schema` of the whole around `schema`: what the same words mean depends on it.
pub(super) fn dialect(schema: &Value) -> Option<&Value> {
    let dialect = schema.get("$schema")?;
    let name = dialect.as_str()?.trim_end_matches('#');
    DIALECTS.iter().any(|it| name.ends_with(*it)).then_some(dialect)
}

fn refer(schema: &mut Value, place: &str, id: Option<&str>) {
    match schema {
        Value::Object(members) => {
            let own = members.get("$id").and_then(Value::as_str);
            if own.is_some_and(|own| !own.starts_with('#')) {
                // It is a document of its own, and refers to itself.
                return;
            }
            let turns = members.get("$recursiveRef").is_some_and(|to| to == "#");
            if turns && !members.contains_key("$ref") {
                members.remove("$recursiveRef");
                members.insert("$ref".to_owned(), "#".into());
            }
            for (name, below) in members.iter_mut() {
                let name = name.as_str();
                match below {
                    Value::String(to) if matches!(name, "$ref" | "$dynamicRef") => {
                        if let Some(there) = moved(to, place, id) {
                            *to = there;
                        }
                    }
                    Value::Object(named) if NAMED.contains(&name) => {
                        named.values_mut().for_each(|schema| refer(schema, place, id));
                    }
                    below if !DATA.contains(&name) => refer(below, place, id),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|schema| refer(schema, place, id)),
        _ => {}
    }
}

/// Where `to` leads once the document with this `id` stands at `place`. What leads elsewhere stays as it is.
fn moved(to: &str, place: &str, id: Option<&str>) -> Option<String> {
    let pointer = fragment(to, id)?;
    let is_lifted = ["/$defs", "/%24defs"].iter().any(|defs| {
        let rest = pointer.strip_prefix(*defs);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match is_lifted || !is_pointer(pointer) {
        true => Some(format!("#{pointer}")),
        false => Some(format!("#{place}{pointer}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_refers_to_in_itself_is_where_it_stands() {
        for (to, want) in [
            ("#", "#/at"),
            ("#/definitions/a~1b", "#/at/definitions/a~1b"),
            ("#/properties/a", "#/at/properties/a"),
            ("#/$defs/a", "#/$defs/a"),
            ("#/%24defs/a", "#/%24defs/a"),
            ("#/$defsOfOthers", "#/at/$defsOfOthers"),
            ("#anchor", "#anchor"),
            ("https://a/b", "#/at"),
            ("https://a/b#/properties/a", "#/at/properties/a"),
            ("https://a/b#anchor", "#anchor"),
            ("https://a/bc", "https://a/bc"),
            ("other.json#/a", "other.json#/a"),
        ] {
            let schema = json!({"$id": "https://a/b", "items": [{"$ref": to}]});
            assert_eq!(placed(&schema, "/at"), json!({"items": [{"$ref": want}]}), "{to}");
        }
    }

    #[test]
    fn what_only_looks_like_a_reference_stays_as_it_is() {
        let schema = json!({
            "properties": {
                "$ref": {"type": "string"},
                "default": {"$ref": "#/properties/$ref"},
                "plain": {"const": {"$ref": "#"}, "examples": [{"$ref": "#"}]},
                "own": {"$id": "https://a/own", "items": {"$ref": "#"}},
                "turns": {"$recursiveRef": "#"},
            },
        });
        let want = json!({
            "properties": {
                "$ref": {"type": "string"},
                "default": {"$ref": "#/at/properties/$ref"},
                "plain": {"const": {"$ref": "#"}, "examples": [{"$ref": "#"}]},
                "own": {"$id": "https://a/own", "items": {"$ref": "#"}},
                "turns": {"$ref": "#/at"},
            },
        });
        assert_eq!(placed(&schema, "/at"), want);
        assert_eq!(placed(&json!(true), "/at"), json!(true));
    }

    #[test]
    fn the_whole_is_written_in_the_dialect_of_what_stands_in_it() {
        for (dialect_of, is_said) in [
            ("http://json-schema.org/draft-07/schema#", true),
            ("https://json-schema.org/draft/2019-09/schema", true),
            ("https://json-schema.org/draft/2020-12/schema", false),
            ("http://json-schema.org/draft-04/schema#", false),
            ("https://a/b", false),
        ] {
            let schema = json!({"$schema": dialect_of});
            assert_eq!(dialect(&schema).is_some(), is_said, "{dialect_of}");
            assert_eq!(placed(&schema, "/at"), json!({}));
        }
    }
}
