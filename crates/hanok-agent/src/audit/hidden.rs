//! What a form marks as secret.

use serde_json::Value;

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// How deep a value is looked into; what lies below is hidden whole.
const DEEPEST: usize = 64;

/// `value` without what `schema` marks as secret, by `"writeOnly": true` or `"format": "password"` (JSON Schema), or by
/// `"secret": true`. A branch of `oneOf`, `anyOf` or `allOf` that marks a member hides it, whichever branch the value is of.
pub(super) fn without_secrets(value: &Value, schema: &Value) -> Value {
    hide(value, &[schema], schema, DEEPEST)
}

fn hide(value: &Value, schemas: &[&Value], root: &Value, depth: usize) -> Value {
    let schemas = all(schemas, root);
    if depth == 0 || schemas.iter().any(|schema| is_secret(schema)) {
        return HIDDEN.into();
    }
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let below: Vec<_> =
                    schemas.iter().filter_map(|schema| member_of(schema, name)).collect();
                (name.clone(), hide(value, &below, root, depth - 1))
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => {
            let below: Vec<_> = schemas.iter().filter_map(|schema| schema.get("items")).collect();
            items.iter().map(|item| hide(item, &below, root, depth - 1)).collect()
        }
        value => value.clone(),
    }
}

/// The schema of the member `name`.
fn member_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| schema.get("additionalProperties"))
}

/// The schemas, those that they refer to, and their branches.
fn all<'a>(schemas: &[&'a Value], root: &'a Value) -> Vec<&'a Value> {
    let mut all: Vec<&Value> = Vec::new();
    let mut due: Vec<&Value> = schemas.to_vec();
    while let Some(schema) = due.pop() {
        if all.iter().any(|before| std::ptr::eq(*before, schema)) {
            continue;
        }
        all.push(schema);
        let named = schema.get("$ref").and_then(Value::as_str);
        due.extend(named.and_then(|at| root.pointer(at.strip_prefix('#')?)));
        let branches = ["oneOf", "anyOf", "allOf"].iter().filter_map(|name| schema.get(name));
        due.extend(branches.filter_map(Value::as_array).flatten());
    }
    all
}

/// True for a schema that marks something as secret, at whatever place.
pub(crate) fn marks_secrets(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => is_secret(schema) || members.values().any(marks_secrets),
        Value::Array(items) => items.iter().any(marks_secrets),
        _ => false,
    }
}

fn is_secret(schema: &Value) -> bool {
    let is = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    is("writeOnly") || is("secret") || schema.get("format").is_some_and(|it| it == "password")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_form_marks_is_hidden_wherever_it_stands() {
        let schema = json!({
            "$defs": {"key": {"type": "string", "writeOnly": true}},
            "oneOf": [
                {"properties": {"decision": {"const": "edit"}, "arguments": {
                    "properties": {
                        "password": {"type": "string", "format": "password"},
                        "to": {"type": "string"},
                        "keys": {"type": "array", "items": {"$ref": "#/$defs/key"}},
                    },
                    "additionalProperties": {"secret": true},
                }}},
                {"properties": {"decision": {"const": "approve"}}},
            ],
        });
        let value = json!({"decision": "edit", "arguments": {
            "password": "hunter2", "to": "ann", "keys": ["a", "b"], "more": {"x": 1},
        }});
        let want = json!({"decision": "edit", "arguments": {
            "password": "[secret]", "to": "ann", "keys": ["[secret]", "[secret]"], "more": "[secret]",
        }});
        assert_eq!(without_secrets(&value, &schema), want);
        let turns = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
        assert_eq!(without_secrets(&value, &turns), value);
        assert_eq!(without_secrets(&value, &json!(true)), value);
        let deep = (0..200).fold(json!("x"), |inner, _| json!({"a": inner}));
        assert!(without_secrets(&deep, &json!({})).to_string().contains("[secret]"));
    }
}
