//! Tools as a model sees them.

use hanok_state::Json;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

/// The longest name of a tool that model servers take.
const LONGEST_NAME: usize = 64;

/// The reason for which something is no tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidSpec {
    /// The name is empty or too long, or has a character that model servers refuse.
    #[error("`{}` is no name of a tool: it takes 1 to 64 ASCII letters, digits, `_`, `-` and `.`", name.escape_debug())]
    Name {
        /// The name.
        name: String,
    },
    /// The arguments are no object.
    #[error("the arguments of tool `{tool}` are no object with named fields; take a struct")]
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// The tool takes no such argument.
    #[error("tool `{tool}` has no argument `{}`", argument.escape_debug())]
    NoSuchArgument {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
}

/// A tool as a model sees it.
///
/// Its serialised form is a map with `name`, `description` and `schema`. The aliases are none of it: they are for whoever looks for
/// a tool without a model, and stand in no prompt and no hash of a definition.
///
/// ```
/// use hanok_model::ToolSpec;
/// use schemars::JsonSchema;
/// use serde_json::json;
///
/// #[derive(JsonSchema)]
/// struct Search {
///     /// What to look for.
///     query: String,
/// }
///
/// let spec = ToolSpec::of::<Search>("search", "Searches the rules")?;
/// assert_eq!(
///     spec.schema(),
///     &json!({
///         "type": "object",
///         "properties": {"query": {"type": "string", "description": "What to look for."}},
///         "required": ["query"],
///     })
/// );
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Json,
    #[serde(skip)]
    aliases: Vec<String>,
}

#[derive(Deserialize)]
struct Unchecked {
    name: String,
    #[serde(default)]
    description: String,
    schema: Json,
}

impl TryFrom<Unchecked> for ToolSpec {
    type Error = InvalidSpec;

    fn try_from(spec: Unchecked) -> Result<Self, InvalidSpec> {
        Self::new(spec.name, spec.description, spec.schema.0)
    }
}

impl ToolSpec {
    /// A tool whose arguments are of `schema`, a JSON schema of an object.
    ///
    /// A schema that does not name its type is taken as one of an object; so is one without `properties`.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when `name` is no name of a tool, or `schema` none of an object.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
    ) -> Result<Self, InvalidSpec> {
        let name = name.into();
        if !is_name(&name) {
            return Err(InvalidSpec::Name { name });
        }
        let Some(schema) = object(schema) else {
            return Err(InvalidSpec::NotAnObject { tool: name });
        };
        Ok(Self {
            name,
            description: description.into(),
            schema: Json(schema),
            aliases: Vec::new(),
        })
    }

    /// A tool whose arguments are an `A`.
    ///
    /// The doc comments of its fields describe the parameters. What it is made of stands inline in the schema; only a
    /// type that holds itself is a reference.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when `name` is no name of a tool, or an `A` is no object.
    pub fn of<A: JsonSchema>(
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Result<Self, InvalidSpec> {
        Self::new(name, description, schema_of::<A>())
    }

    /// A tool whose name is known to be one, and whose arguments are a struct.
    pub(crate) fn of_struct<A: JsonSchema>(name: &str, description: String) -> Self {
        let schema = object(schema_of::<A>()).unwrap_or_else(|| Map::new().into());
        Self { name: name.to_owned(), description, schema: Json(schema), aliases: Vec::new() }
    }

    /// Adds words by which people ask for the tool, beside its name: an index of tools finds it by them.
    ///
    /// ```
    /// # use {hanok_model::ToolSpec, serde_json::json};
    /// let tool = ToolSpec::new("create_event", "Creates an event", json!({}))?;
    /// let tool = tool.with_aliases(["book a meeting", "회의 예약"]);
    /// assert_eq!(tool.aliases().len(), 2);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    #[must_use]
    pub fn with_aliases<A: Into<String>>(mut self, aliases: impl IntoIterator<Item = A>) -> Self {
        self.aliases.extend(aliases.into_iter().map(Into::into));
        self
    }

    /// The tool without its argument `name`.
    pub(crate) fn without(&self, name: &str) -> Result<Self, InvalidSpec> {
        let mut spec = self.clone();
        let Json(schema) = &mut spec.schema;
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        if properties.and_then(|properties| properties.remove(name)).is_none() {
            let (tool, argument) = (spec.name, name.to_owned());
            return Err(InvalidSpec::NoSuchArgument { tool, argument });
        }
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|required| required != name);
        }
        Ok(spec)
    }

    /// The tool's name: 1 to 64 ASCII letters, digits, `_`, `-` and `.`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool's description, in words for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The words by which people ask for it, beside its name. Default: none.
    pub fn aliases(&self) -> &[String] {
        &self.aliases
    }

    /// The JSON schema of its arguments, an object.
    pub fn schema(&self) -> &Value {
        &self.schema.0
    }

    /// The parameters, those that are required first and each of the two by name.
    pub fn parameters(&self) -> Vec<Parameter> {
        let required: Vec<_> = list(self.schema(), "required").filter_map(Value::as_str).collect();
        let properties = self.schema().get("properties").and_then(Value::as_object);
        let mut parameters: Vec<_> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Parameter {
                name: name.clone(),
                kind: kind(schema),
                required: required.contains(&name.as_str()),
                description: text(schema, "description").map(str::to_owned),
            })
            .collect();
        parameters.sort_by(|a, b| (!a.required, &a.name).cmp(&(!b.required, &b.name)));
        parameters
    }

    /// The one parameter, if there is exactly one and it is a text: a model may then write the text alone.
    pub fn only_text_parameter(&self) -> Option<&str> {
        let properties = self.schema().get("properties")?.as_object()?;
        let mut properties = properties.iter();
        let (Some((name, schema)), None) = (properties.next(), properties.next()) else {
            return None;
        };
        (kind(schema) == "string").then_some(name)
    }
}

/// One parameter of a tool, for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in words: `string`, `array of integer`, `"asc" or "desc"`.
    pub kind: String,
    /// True for a parameter that every call needs.
    pub required: bool,
    /// The parameter's description.
    pub description: Option<String>,
}

/// The schema of a `T`, without what only a validator reads.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        // The Rust name and the docs of the struct: the tool has its own.
        schema.remove("title");
        schema.remove("description");
    }
    schema
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// `schema` as one of an object: servers refuse a schema without `type` and `properties`.
fn object(schema: Value) -> Option<Value> {
    let Value::Object(mut schema) = schema else { return None };
    match schema.get("type") {
        None => {
            schema.insert("type".to_owned(), "object".into());
        }
        Some(kind) if kind == "object" => {}
        Some(_) => return None,
    }
    schema.entry("properties").or_insert_with(|| Map::new().into());
    Some(Value::Object(schema))
}

/// The type that `schema` names, in words. An optional one is named as what it is when it is there.
fn kind(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let values: Vec<_> =
        list(schema, "enum").filter(|v| !v.is_null()).map(Value::to_string).collect();
    if !values.is_empty() {
        return values.join(" or ");
    }
    let types: Vec<_> = match schema.get("type") {
        Some(Value::String(name)) => vec![named(name, schema)],
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .map(|name| named(name, schema))
            .collect(),
        _ => ["anyOf", "oneOf"]
            .iter()
            .flat_map(|key| list(schema, key))
            .map(kind)
            .filter(|name| name != "null")
            .collect(),
    };
    if types.is_empty() { "any".to_owned() } else { types.join(" or ") }
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema.get("items")) {
        ("array", Some(items)) => format!("array of {}", kind(items)),
        _ => name.to_owned(),
    }
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key).and_then(Value::as_str)
}
