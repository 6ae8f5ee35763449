//! The values that a JSON Schema lists.

use serde_json::Value;

/// A value that a schema lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The value.
    pub value: Value,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
}

/// `schema`, or what it refers to in `root`.
pub fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let to = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    to.and_then(|to| root.pointer(to)).unwrap_or(schema)
}

/// The values that `schema` lists, none where it also allows others.
pub fn options(schema: &Value, root: &Value) -> Vec<Listed> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let listed =
            |value: &Value| Listed { value: value.clone(), title: None, description: None };
        return values.iter().map(listed).collect();
    }
    let listed = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let options = listed.into_iter().flatten().map(|option| {
        let option = resolved(option, root);
        let value = option.get("const").cloned().or_else(|| {
            let values = option.get("enum").and_then(Value::as_array);
            values.filter(|values| values.len() == 1).and_then(|values| values.first().cloned())
        })?;
        let words = |key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Listed { value, title: words("title"), description: words("description") })
    });
    options.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// A value in words: a text without its quotation marks.
pub fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_lists_is_read_and_what_it_leaves_open_is_not() {
        let root = json!({"$defs": {"Rent": {"const": "rent", "title": "월세", "description": "매달 냅니다"}}});
        let one = json!({"oneOf": [{"$ref": "#/$defs/Rent"}, {"enum": [7]}]});
        let listed = options(&one, &root);
        assert_eq!(listed[0].title.as_deref(), Some("월세"));
        assert_eq!(listed[0].description.as_deref(), Some("매달 냅니다"));
        assert_eq!((words(&listed[0].value), words(&listed[1].value)), ("rent".into(), "7".into()));
        assert_eq!(options(&json!({"enum": ["a", null]}), &root).len(), 2);
        let open = json!({"anyOf": [{"const": 1}, {"type": "string"}]});
        assert_eq!(options(&open, &root), []);
    }
}
