//! Tools by JSON Schema.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use crate::declared::{Declared, Inner, Param, ParamType};

/// How deep references and unions are followed.
const DEEPEST: usize = 32;
/// How deep objects and lists in a parameter are read, and how many types in all: a schema may hold itself.
const NESTED: usize = 8;
const MOST: usize = 1_000;

/// What is wrong with a tool's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The parameters are no object.
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// A `$ref` leads nowhere: only those within the schema (`#/…`) are followed.
    UnknownReference {
        /// The tool.
        tool: String,
        /// The reference.
        reference: String,
    },
    /// References lead in a circle, or too deep.
    TooDeep {
        /// The tool.
        tool: String,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject { tool } => {
                write!(f, "the schema of `{tool}` is no object with `properties`")
            }
            Self::UnknownReference { tool, reference } => {
                write!(f, "the schema of `{tool}` refers to `{reference}`, which is not in it")
            }
            Self::TooDeep { tool } => {
                write!(f, "the schema of `{tool}` refers to itself, or is nested too deep")
            }
        }
    }
}

impl std::error::Error for SchemaError {}

impl Declared {
    /// A tool by the JSON Schema of its parameters: `$ref` within the schema, `nullable` and unions are understood.
    ///
    /// The types of what stands in an object or an array say how text is read where a format writes values as text there
    /// (`minimax_m3`). Only parameters themselves are compared with their types ([`Mistyped`](crate::Mistyped)).
    ///
    /// # Errors
    ///
    /// [`SchemaError`], when the schema is no object's, or a reference leads nowhere.
    ///
    /// ```
    /// use hanok_parse::{Declared, Parser};
    ///
    /// let schema = serde_json::json!({
    ///     "type": "object",
    ///     "properties": {"q": {"type": ["string", "null"]}, "n": {"$ref": "#/$defs/count"}},
    ///     "$defs": {"count": {"type": "integer"}},
    /// });
    /// let parser = Parser::new(Declared::new().tool_schema("find", &schema)?);
    /// let text = "<function=find><parameter=q>007</parameter><parameter=n>7</parameter></function>";
    /// assert_eq!(parser.parse(text).calls[0].arguments.as_str(), r#"{"q":"007","n":7}"#);
    /// # Ok::<(), hanok_parse::SchemaError>(())
    /// ```
    pub fn tool_schema(self, name: impl Into<String>, schema: &Value) -> Result<Self, SchemaError> {
        let tool = name.into();
        let reader = Reader { tool: &tool, root: schema };
        let object = reader.resolved(schema)?;
        let is_object = object.get("type").is_none_or(|kind| kind == "object");
        if !object.is_object() || !is_object {
            return Err(SchemaError::NotAnObject { tool });
        }
        let required = |name: &str| {
            let names = object.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|one| one == name))
        };
        let members = object.get("properties").and_then(Value::as_object);
        let mut left = MOST;
        let params = members.into_iter().flatten().map(|(name, schema)| {
            let mut types = BTreeSet::new();
            reader.types(schema, &mut types, DEEPEST)?;
            let (kind, nullable) = collapsed(&types);
            let inner = reader.inner(schema, NESTED, &mut left);
            Ok(Param { name: name.clone(), kind, nullable, required: required(name), inner })
        });
        let params = params.collect::<Result<Vec<_>, SchemaError>>()?;
        Ok(self.with_params(tool, params))
    }
}

/// The types that a value may have, by their names.
type Types<'a> = BTreeSet<&'a str>;

struct Reader<'a> {
    tool: &'a str,
    root: &'a Value,
}

impl<'a> Reader<'a> {
    /// The schema that `schema` refers to, or itself.
    fn resolved(&self, schema: &'a Value) -> Result<&'a Value, SchemaError> {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
                return Ok(schema);
            };
            let pointer = reference.strip_prefix('#');
            let target = pointer.and_then(|pointer| self.root.pointer(pointer));
            schema = target.ok_or_else(|| SchemaError::UnknownReference {
                tool: self.tool.to_owned(),
                reference: reference.to_owned(),
            })?;
        }
        Err(SchemaError::TooDeep { tool: self.tool.to_owned() })
    }

    /// The types of what stands in a value. What cannot be read is not known.
    fn inner(&self, schema: &'a Value, depth: usize, left: &mut usize) -> Inner {
        let Some(depth) = depth.checked_sub(1) else { return Inner::default() };
        let Ok(schema) = self.resolved(schema) else { return Inner::default() };
        let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key));
        let branches = branches.filter_map(Value::as_array).flatten();
        let branches = branches.filter_map(|branch| self.resolved(branch).ok());
        let all: Vec<&Value> = std::iter::once(schema).chain(branches).collect();
        // Where several say it, none of them does.
        let only = |key: &str| {
            let mut some = all.iter().filter_map(|schema| schema.get(key));
            some.next().filter(|_| some.next().is_none())
        };
        let mut param = |name: &str, schema: &'a Value| {
            *left = left.checked_sub(1)?;
            let mut types = BTreeSet::new();
            let is_known = self.types(schema, &mut types, DEEPEST).is_ok();
            let (kind, nullable) =
                if is_known { collapsed(&types) } else { (ParamType::Any, true) };
            let inner = self.inner(schema, depth, left);
            Some(Param { name: name.to_owned(), kind, nullable, required: false, inner })
        };
        let members = only("properties").and_then(Value::as_object).into_iter().flatten();
        let members = members.map_while(|(name, schema)| param(name, schema)).collect();
        let items = only("items").filter(|items| items.is_object());
        let items = items.and_then(|items| param("", items)).map(Box::new);
        Inner { members, items }
    }

    fn types(
        &self,
        schema: &'a Value,
        types: &mut Types<'a>,
        depth: usize,
    ) -> Result<(), SchemaError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(SchemaError::TooDeep { tool: self.tool.to_owned() });
        };
        let schema = self.resolved(schema)?;
        let before = types.len();
        match schema.get("type") {
            Some(Value::String(kind)) => {
                types.insert(kind);
            }
            Some(Value::Array(kinds)) => types.extend(kinds.iter().filter_map(Value::as_str)),
            _ => {}
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for inner in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.types(inner, types, depth)?;
            }
        }
        if types.len() == before {
            let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            for value in values.chain(schema.get("const")) {
                types.insert(type_name(value));
            }
        }
        if types.len() == before {
            types.insert("any");
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            types.insert("null");
        }
        Ok(())
    }
}

/// The name of a value's type.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// One type for a set of them, and whether `null` is one.
fn collapsed(types: &Types<'_>) -> (ParamType, bool) {
    let nullable = types.contains("null");
    let others: Vec<&str> = types.iter().copied().filter(|kind| *kind != "null").collect();
    let kind = match others.as_slice() {
        [] => ParamType::Null,
        ["string"] if nullable => ParamType::NullableString,
        ["string"] => ParamType::String,
        ["integer"] => ParamType::Integer,
        ["number"] | ["integer", "number"] => ParamType::Number,
        ["boolean"] => ParamType::Boolean,
        ["object"] => ParamType::Object,
        ["array"] => ParamType::Array,
        _ => ParamType::Any,
    };
    (kind, nullable)
}
