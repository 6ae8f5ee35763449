//! Schemas in the form that servers hold a model to: OpenAI's strict mode
//! (<https://platform.openai.com/docs/guides/structured-outputs>), which others follow.

use serde_json::{Map, Value, json};

/// The key of an answer that is wrapped in an object.
pub(super) const WRAP: &str = "answer";

/// The most levels of a schema that are read.
const DEEPEST: usize = 64;

/// The most places of an answer and its schema where nulls are looked for.
const MOST: usize = 2_000;

/// True for a schema of an object that names its type at the root.
pub(super) fn is_object(schema: &Value) -> bool {
    let is_choice = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| schema.get(key).is_some());
    schema.get("type").is_some_and(|kind| kind == "object") && !is_choice
}

/// The schema of an object that holds what `schema` describes.
pub(super) fn wrap(mut schema: Value) -> Value {
    let defs = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
    let mut wrapped = json!({
        "type": "object",
        "properties": { WRAP: schema },
        "required": [WRAP],
        "additionalProperties": false,
    });
    if let (Some(defs), Some(wrapped)) = (defs, wrapped.as_object_mut()) {
        wrapped.insert("$defs".to_owned(), defs);
    }
    wrapped
}

/// `schema` with all objects closed and all their properties required, those that were optional nullable. `None` when
/// something in it has no such form, such as a map with any keys.
pub(super) fn strict(schema: Value) -> Option<Value> {
    closed(schema, 0)
}

fn closed(schema: Value, depth: usize) -> Option<Value> {
    let Value::Object(mut schema) = schema else { return None };
    if depth >= DEEPEST {
        return None;
    }
    if let Some(reference) = schema.get_mut("$ref").map(Value::take) {
        // Nothing may stand beside a reference, but what it refers to at the root.
        let mut only = Map::from_iter([("$ref".to_owned(), reference)]);
        if let Some(defs) = schema.get_mut("$defs").map(Value::take) {
            only.insert("$defs".to_owned(), each(defs, depth)?);
        }
        return Some(only.into());
    }
    let is_object = has_type(&schema, "object");
    let is_open = schema.get("additionalProperties").is_some_and(|more| *more != false)
        || !schema.contains_key("properties");
    if is_object && is_open {
        return None;
    }
    let required = schema.get_mut("required").map(Value::take);
    let mut strict = Map::new();
    for (key, value) in schema {
        let value = match key.as_str() {
            // Keywords that only a validator knows; the answer is validated here.
            "default" | "$schema" | "title" | "examples" | "unevaluatedProperties" => continue,
            "not" | "if" | "then" | "else" | "allOf" | "patternProperties" => return None,
            "properties" => properties(value, required.as_ref(), depth)?,
            "required" | "additionalProperties" => continue,
            "$defs" => each(value, depth)?,
            "items" => closed(value, depth + 1)?,
            "anyOf" | "oneOf" => {
                let Value::Array(branches) = value else { return None };
                let branches = branches.into_iter().map(|branch| closed(branch, depth + 1));
                branches.collect::<Option<Vec<_>>>()?.into()
            }
            _ => value,
        };
        strict.insert(if key == "oneOf" { "anyOf".to_owned() } else { key }, value);
    }
    if is_object {
        let names: Vec<_> = strict.get("properties")?.as_object()?.keys().cloned().collect();
        strict.insert("required".to_owned(), names.into());
        strict.insert("additionalProperties".to_owned(), false.into());
    }
    Some(strict.into())
}

fn each(schemas: Value, depth: usize) -> Option<Value> {
    let Value::Object(schemas) = schemas else { return None };
    let closed = schemas.into_iter().map(|(name, schema)| Some((name, closed(schema, depth + 1)?)));
    closed.collect::<Option<Map<_, _>>>().map(Value::from)
}

fn properties(properties: Value, required: Option<&Value>, depth: usize) -> Option<Value> {
    let Value::Object(properties) = properties else { return None };
    let closed = properties.into_iter().map(|(name, property)| {
        let optional = !is_required(required, &name) && !takes_null(&property);
        let closed = closed(property, depth + 1)?;
        Some((name, if optional { nullable(closed) } else { closed }))
    });
    closed.collect::<Option<Map<_, _>>>().map(Value::from)
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn is_required(required: Option<&Value>, name: &str) -> bool {
    let required = required.and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|property| property == name))
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => false,
    }
}

fn takes_null(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return true };
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    let values = schema.get("enum").and_then(Value::as_array);
    has_type(schema, "null")
        || values.is_some_and(|values| values.iter().any(Value::is_null))
        || branches.flatten().any(takes_null)
}

/// Takes the nulls out of `value` that stand for what is not there, and that `schema` does not take.
pub(super) fn drop_nulls(value: &mut Value, schema: &Value) {
    Nulls { root: schema, remaining: MOST }.drop(value, schema, DEEPEST);
}

/// Looks for nulls, within bounds: a schema may refer to itself in many ways.
struct Nulls<'a> {
    root: &'a Value,
    remaining: usize,
}

impl Nulls<'_> {
    fn drop(&mut self, value: &mut Value, schema: &Value, depth: usize) {
        let root = self.root;
        let Some(own) = resolved(schema, root).and_then(Value::as_object) else { return };
        let (Some(remaining), Some(depth)) = (self.remaining.checked_sub(1), depth.checked_sub(1))
        else {
            return;
        };
        self.remaining = remaining;
        let branches =
            ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| own.get(*key)?.as_array());
        branches.flatten().for_each(|branch| self.drop(value, branch, depth));
        match value {
            Value::Object(fields) => self.drop_of(fields, own, depth),
            Value::Array(items) => {
                let Some(schema) = own.get("items") else { return };
                items.iter_mut().for_each(|item| self.drop(item, schema, depth));
            }
            _ => {}
        }
    }

    fn drop_of(&mut self, fields: &mut Map<String, Value>, own: &Map<String, Value>, depth: usize) {
        let properties = own.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let takes = resolved(property, self.root).is_none_or(takes_null);
            let stands_for_nothing = fields.get(name).is_some_and(Value::is_null) && !takes;
            if stands_for_nothing && !is_required(own.get("required"), name) {
                fields.remove(name);
            } else if let Some(field) = fields.get_mut(name) {
                self.drop(field, property, depth);
            }
        }
    }
}

/// The schema that a reference within `root` refers to.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root.pointer(reference.strip_prefix('#')?),
        None => Some(schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{drop_nulls, is_object, strict, wrap};

    fn object(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn a_strict_schema_is_closed_and_all_of_it_is_required() {
        let inner = object(json!({"x": {"type": "integer", "default": 1}}), json!([]));
        let schema = object(
            json!({
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"oneOf": [{"const": "x"}, inner]},
                "d": {"type": "array", "items": {"$ref": "#/$defs/D", "description": "d"}},
            }),
            json!(["a", "d"]),
        );
        let nullable = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
        let closed = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let inner = closed(json!({"x": nullable(json!({"type": "integer"}))}), json!(["x"]));
        assert_eq!(
            strict(schema).unwrap(),
            closed(
                json!({
                    "a": {"type": "string"},
                    "b": {"type": ["string", "null"]},
                    "c": nullable(json!({"anyOf": [{"const": "x"}, inner]})),
                    "d": {"type": "array", "items": {"$ref": "#/$defs/D"}},
                }),
                json!(["a", "b", "c", "d"]),
            )
        );
    }

    #[test]
    fn a_schema_without_a_strict_form_is_sent_as_it_is() {
        for property in [
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
            json!(true),
            json!({"allOf": [{"type": "string"}]}),
        ] {
            let schema = object(json!({ "a": property }), json!(["a"]));
            assert_eq!(strict(schema.clone()), None, "{schema}");
        }
        let endless = (0..200)
            .fold(json!({"type": "string"}), |inner, _| object(json!({"a": inner}), json!([])));
        assert_eq!(strict(endless), None);
    }

    #[test]
    fn a_schema_that_is_no_object_is_wrapped_in_one() {
        let schema = json!({"oneOf": [{"const": "a"}], "$defs": {"D": {"type": "string"}}});
        assert!(!is_object(&schema));
        let wrapped = wrap(schema);
        assert!(is_object(&wrapped), "{wrapped}");
        assert_eq!(wrapped["properties"]["answer"], json!({"oneOf": [{"const": "a"}]}));
        assert_eq!(wrapped["$defs"]["D"], json!({"type": "string"}));
    }

    #[test]
    fn a_null_for_nothing_is_taken_out_where_the_schema_does_not_take_it() {
        let inner = object(json!({"n": {"type": "integer"}}), json!([]));
        let schema = object(
            json!({
                "must": {"type": "string"},
                "may": {"type": "string"},
                "null": {"type": ["string", "null"]},
                "items": {"type": "array", "items": {"anyOf": [{"type": "string"}, inner]}},
            }),
            json!(["must"]),
        );
        let mut value =
            json!({"must": null, "may": null, "null": null, "items": [{"n": null}, "x"]});
        drop_nulls(&mut value, &schema);
        assert_eq!(value, json!({"must": null, "null": null, "items": [{}, "x"]}));
        // A schema that refers to itself and says nothing.
        let endless = json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}});
        drop_nulls(&mut value, &endless);
    }
}
