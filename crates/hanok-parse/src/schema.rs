//! Tools by JSON Schema.

use std::{cell::Cell, collections::BTreeSet, fmt};

use serde_json::Value;

use crate::declared::{Declared, Inner, Param, ParamType};

/// How deep references and unions are followed.
const DEEPEST: usize = 32;
/// How deep objects and lists in a parameter are read, and how many types in all: a schema may hold itself.
const NESTED: usize = 8;
const MOST: usize = 1_000;
/// How many types are looked at of a tool's parameters, and again of what stands in them: unions may hold the same ones again
/// and again.
const LOOKS: usize = 50_000;

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
    /// What stands in an object or an array has its types, too, eight levels deep and up to 1,000 in all. They say how text is read
    /// where a format writes values as text there (`minimax_m3`), and values are compared with them
    /// ([`Mistyped`](crate::Mistyped)), if no other type of a union could be meant.
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
        let reader = Reader { tool: &tool, root: schema, looks: Cell::new(LOOKS) };
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
        let members = || members.into_iter().flatten();
        let params = members().map(|(name, schema)| {
            let mut types = BTreeSet::new();
            reader.types(schema, &mut types, DEEPEST)?;
            let (kind, nullable) = collapsed(&types);
            let (name, required, inner) = (name.clone(), required(name), Inner::default());
            Ok(Param { name, kind, nullable, required, inner })
        });
        let mut params = params.collect::<Result<Vec<_>, SchemaError>>()?;
        reader.looks.set(LOOKS);
        let mut left = MOST;
        for (param, (_, schema)) in params.iter_mut().zip(members()) {
            param.inner = reader.inner(schema, NESTED, &mut left);
        }
        Ok(self.with_params(tool, params))
    }
}

/// The types that a value may have, by their names.
type Types<'a> = BTreeSet<&'a str>;

struct Reader<'a> {
    tool: &'a str,
    root: &'a Value,
    /// How many types may still be looked at.
    looks: Cell<usize>,
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
        let branches = |keys: &'static [&'static str]| {
            let lists = keys.iter().filter_map(|key| schema.get(key));
            let branches = lists.filter_map(Value::as_array).flatten();
            branches.filter_map(|branch| self.resolved(branch).ok())
        };
        let parts: Vec<&Value> = std::iter::once(schema).chain(branches(&["allOf"])).collect();
        let either: Vec<&Value> = branches(&["anyOf", "oneOf"]).collect();
        // Where several say it, none of them does. What one type of a union says is sure where none of the others is `kind`.
        let only = |key: &str, kind: &str| {
            let own = parts.iter().map(|part| (part, true));
            let all = own.chain(either.iter().map(|branch| (branch, false)));
            let mut some = all.filter_map(|(one, is_own)| Some((one.get(key)?, is_own)));
            let (value, is_own) = some.next().filter(|_| some.next().is_none())?;
            let is_sure = || either.iter().filter(|branch| self.may_be(branch, kind)).count() == 1;
            Some((value, is_own || is_sure()))
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
        let properties = only("properties", "object");
        let sure_members = properties.is_some_and(|(_, is_sure)| is_sure);
        let members = properties.and_then(|(value, _)| value.as_object()).into_iter().flatten();
        let members = members.map_while(|(name, schema)| param(name, schema)).collect();
        // Behind other items, each with a type of its own, they are those of the rest.
        let is_rest = parts.iter().chain(&either).any(|one| one.get("prefixItems").is_some());
        let items = only("items", "array").filter(|(items, _)| !is_rest && items.is_object());
        let sure_items = items.is_some_and(|(_, is_sure)| is_sure);
        let items = items.and_then(|(items, _)| param("", items)).map(Box::new);
        Inner { members, items, sure_members, sure_items }
    }

    /// Whether a value of type `kind` may be meant.
    fn may_be(&self, schema: &'a Value, kind: &str) -> bool {
        let mut types = BTreeSet::new();
        let is_known = self.types(schema, &mut types, DEEPEST).is_ok();
        !is_known || types.contains(kind) || types.contains("any")
    }

    fn types(
        &self,
        schema: &'a Value,
        types: &mut Types<'a>,
        depth: usize,
    ) -> Result<(), SchemaError> {
        let looks = self.looks.get().checked_sub(1);
        let (Some(depth), Some(looks)) = (depth.checked_sub(1), looks) else {
            return Err(SchemaError::TooDeep { tool: self.tool.to_owned() });
        };
        self.looks.set(looks);
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            types.insert("null");
        }
        let schema = self.resolved(schema)?;
        let mut own: Types<'a> = BTreeSet::new();
        match schema.get("type") {
            Some(Value::String(kind)) => {
                own.insert(kind.as_str());
            }
            Some(Value::Array(kinds)) => own.extend(kinds.iter().filter_map(Value::as_str)),
            _ => {}
        }
        let is_typed = !own.is_empty();
        for key in ["anyOf", "oneOf", "allOf"] {
            for inner in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.types(inner, &mut own, depth)?;
            }
        }
        // Of a part that says no type, the whole says it.
        if is_typed {
            own.remove("any");
        }
        if own.is_empty() {
            let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            for value in values.chain(schema.get("const")) {
                own.insert(type_name(value));
            }
        }
        if own.is_empty() {
            own.insert("any");
        }
        types.append(&mut own);
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
