//! The values that a JSON Schema lists.

use serde_json::Value;

/// A value that a JSON Schema lists: of an `enum`, or of a `oneOf` or `anyOf` of constants, as schemars writes an enum of unit
/// variants.
///
/// ```
/// use hanok_model::ListedValue;
/// use serde_json::json;
///
/// let schema = json!({"oneOf": [{"const": "rent", "description": "Paid each month."}, {"const": "sale"}]});
/// let listed = ListedValue::all(&schema, &schema);
/// assert_eq!(listed.len(), 2);
/// assert_eq!(listed[0].description.as_deref(), Some("Paid each month."));
/// assert_eq!(listed[1].words(), "sale");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListedValue {
    /// The value.
    pub value: Value,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
}

/// `schema`, or what it refers to in `root` by `$ref`. A reference that leads nowhere is `schema` itself.
///
/// ```
/// use hanok_model::resolve_schema;
/// use serde_json::json;
///
/// let root = json!({"$defs": {"Rent": {"type": "string"}}});
/// assert_eq!(resolve_schema(&json!({"$ref": "#/$defs/Rent"}), &root), &json!({"type": "string"}));
/// ```
#[must_use]
pub fn resolve_schema<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let to = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    to.and_then(|to| root.pointer(to)).unwrap_or(schema)
}

impl ListedValue {
    /// The values that `schema` lists, whose references are in `root`; none where it also allows others.
    #[must_use]
    pub fn all(schema: &Value, root: &Value) -> Vec<Self> {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let listed =
                |value: &Value| Self { value: value.clone(), title: None, description: None };
            return values.iter().map(listed).collect();
        }
        let listed = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        let options = listed.into_iter().flatten().map(|option| {
            let option = resolve_schema(option, root);
            let value = option.get("const").cloned().or_else(|| {
                let values = option.get("enum").and_then(Value::as_array);
                values.filter(|values| values.len() == 1).and_then(|values| values.first().cloned())
            })?;
            let words = |key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(Self { value, title: words("title"), description: words("description") })
        });
        options.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// The value in words: a text without its quotation marks.
    #[must_use]
    pub fn words(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_lists_is_read_and_what_it_leaves_open_is_not() {
        let root = json!({"$defs": {"Rent": {"const": "rent", "title": "월세", "description": "매달 냅니다"}}});
        let one = json!({"oneOf": [{"$ref": "#/$defs/Rent"}, {"enum": [7]}]});
        let listed = ListedValue::all(&one, &root);
        assert_eq!(listed[0].title.as_deref(), Some("월세"));
        assert_eq!(listed[0].description.as_deref(), Some("매달 냅니다"));
        assert_eq!((listed[0].words(), listed[1].words()), ("rent".into(), "7".into()));
        assert_eq!(ListedValue::all(&json!({"enum": ["a", null]}), &root).len(), 2);
        let open = json!({"anyOf": [{"const": 1}, {"type": "string"}]});
        assert_eq!(ListedValue::all(&open, &root), []);
    }
}
