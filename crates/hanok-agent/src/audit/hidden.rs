//! What a form marks as secret.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::reference::{fragment, is_pointer};

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// How deep a value is looked into; what lies below is hidden whole.
const DEEPEST: usize = 64;

/// `value` without what `schema` marks as secret, by `"writeOnly": true` or `"format": "password"` (JSON Schema), or by
/// `"secret": true`: `"[secret]"` stands in its place. For lists and logs of what fits a form.
///
/// Rather too much is hidden than too little: a branch (`oneOf`, `anyOf`, `allOf`, `if`, `then`, `else`, `dependentSchemas`) that marks a
/// member hides it, whichever branch the value is of; one of `patternProperties` that is marked hides every member, whatever the
/// pattern is. Where a form that marks secrets refers to something that does not stand in it, what stands there is hidden.
///
/// ```
/// use hanok_agent::without_secrets;
/// use serde_json::json;
///
/// let schema = json!({"properties": {"to": {"type": "string"}, "pin": {"type": "string", "writeOnly": true}}});
/// let shown = without_secrets(&json!({"to": "ann", "pin": "4711"}), &schema);
/// assert_eq!(shown, json!({"to": "ann", "pin": "[secret]"}));
/// ```
pub fn without_secrets(value: &Value, schema: &Value) -> Value {
    hide(value, &[schema], schema, DEEPEST)
}

fn hide(value: &Value, schemas: &[&Value], root: &Value, depth: usize) -> Value {
    let schemas = all(schemas, root);
    if depth == 0 || schemas.iter().any(|schema| is_secret(schema) || is_lost(schema, root)) {
        return HIDDEN.into();
    }
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let below: Vec<_> =
                    schemas.iter().flat_map(|schema| of_member(schema, name)).collect();
                (name.clone(), hide(value, &below, root, depth - 1))
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => {
            let item = |(nth, item): (usize, &Value)| {
                let below: Vec<_> =
                    schemas.iter().flat_map(|schema| of_item(schema, nth)).collect();
                hide(item, &below, root, depth - 1)
            };
            items.iter().enumerate().map(item).collect()
        }
        value => value.clone(),
    }
}

/// The schemas of the member `name`.
fn of_member<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let others = ["additionalProperties", "unevaluatedProperties"];
    let others = others.iter().filter(|_| named.is_none()).filter_map(|other| schema.get(other));
    let patterns = patterns.into_iter().flat_map(|patterns| patterns.values());
    named.into_iter().chain(others).chain(patterns).collect()
}

/// The schemas of the item at `nth`.
fn of_item(schema: &Value, nth: usize) -> Vec<&Value> {
    let lists = ["prefixItems", "items"].iter().filter_map(|name| schema.get(name)?.as_array());
    let placed = lists.filter_map(|list| list.get(nth)).next();
    let others = ["items", "additionalItems", "unevaluatedItems"];
    let others = others.iter().filter(|_| placed.is_none()).filter_map(|other| schema.get(other));
    placed.into_iter().chain(others).chain(schema.get("contains")).collect()
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
        due.extend(references(schema).filter_map(|to| referred(to, root)));
        let branches = ["oneOf", "anyOf", "allOf"].iter().filter_map(|name| schema.get(name));
        due.extend(branches.filter_map(Value::as_array).flatten());
        due.extend(["if", "then", "else"].iter().filter_map(|name| schema.get(name)));
        let depending =
            ["dependentSchemas", "dependencies"].iter().filter_map(|name| schema.get(name));
        due.extend(depending.filter_map(Value::as_object).flat_map(|named| named.values()));
    }
    all
}

/// What `schema` refers to.
fn references(schema: &Value) -> impl Iterator<Item = &str> {
    let names = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter();
    names.filter_map(move |name| schema.get(name)?.as_str())
}

/// What stands in `root` where `to` leads.
fn referred<'a>(to: &str, root: &'a Value) -> Option<&'a Value> {
    let fragment = fragment(to, root.get("$id").and_then(Value::as_str))?;
    match is_pointer(fragment) {
        true => root.pointer(&percent_decode_str(fragment).decode_utf8_lossy()),
        false => anchored(root, fragment),
    }
}

/// The schema that calls itself `name`, at whatever place.
fn anchored<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(members) => {
            let text = |key: &str| members.get(key).and_then(Value::as_str);
            let by_id = text("$id").and_then(|id| id.strip_prefix('#'));
            match [text("$anchor"), text("$dynamicAnchor"), by_id].contains(&Some(name)) {
                true => Some(schema),
                false => members.values().find_map(|below| anchored(below, name)),
            }
        }
        Value::Array(items) => items.iter().find_map(|below| anchored(below, name)),
        _ => None,
    }
}

/// True for a schema that refers to what cannot be looked at, among such as mark secrets.
fn is_lost(schema: &Value, root: &Value) -> bool {
    references(schema).any(|to| referred(to, root).is_none()) && marks_secrets(root)
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

    #[test]
    fn whatever_part_of_a_form_marks_it_a_secret_is_hidden() {
        let secret = || json!({"writeOnly": true});
        let below = |schema: Value| json!({"properties": {"a": schema}});
        for schema in [
            json!({"patternProperties": {"^a$": secret()}}),
            json!({"properties": {"b": {}}, "additionalProperties": secret()}),
            json!({"unevaluatedProperties": secret()}),
            json!({"if": {"required": ["b"]}, "then": below(secret())}),
            json!({"if": {"required": ["b"]}, "else": below(secret())}),
            json!({"if": below(secret())}),
            json!({"dependentSchemas": {"b": below(secret())}}),
            json!({"dependencies": {"b": below(secret()), "c": ["b"]}}),
            json!({"allOf": [{"anyOf": [below(secret())]}]}),
            json!({"$defs": {"x y": secret()}, "properties": {"a": {"$ref": "#/$defs/x%20y"}}}),
            json!({"$defs": {"x/y": secret()}, "properties": {"a": {"$ref": "#/$defs/x~1y"}}}),
            json!({
                "$defs": {"x": {"$anchor": "hidden", "writeOnly": true}},
                "properties": {"a": {"$ref": "#hidden"}},
            }),
            json!({
                "$defs": {"x": {"$dynamicAnchor": "hidden", "writeOnly": true}},
                "properties": {"a": {"$dynamicRef": "#hidden"}},
            }),
            json!({
                "$id": "https://example.com/a",
                "definitions": {"x": secret()},
                "properties": {"a": {"$ref": "https://example.com/a#/definitions/x"}},
            }),
            // It may be the one that is marked.
            json!({
                "$defs": {"x": {"$id": "https://example.com/x", "writeOnly": true}},
                "properties": {"a": {"$ref": "https://example.com/x"}},
            }),
        ] {
            let shown = without_secrets(&json!({"a": "4711"}), &schema);
            assert_eq!(shown, json!({"a": "[secret]"}), "{schema}");
        }
        let value = json!(["a", "b"]);
        for (schema, want) in [
            (json!({"prefixItems": [secret()]}), json!(["[secret]", "b"])),
            (json!({"prefixItems": [{}], "items": secret()}), json!(["a", "[secret]"])),
            (json!({"items": [{}, secret()]}), json!(["a", "[secret]"])),
            (json!({"items": [{}], "additionalItems": secret()}), json!(["a", "[secret]"])),
            (json!({"prefixItems": [{}], "unevaluatedItems": secret()}), json!(["a", "[secret]"])),
            (json!({"contains": secret()}), json!(["[secret]", "[secret]"])),
            (json!({"items": {"$ref": "https://example.com/x"}}), value.clone()),
        ] {
            assert_eq!(without_secrets(&value, &schema), want, "{schema}");
        }
    }
}
