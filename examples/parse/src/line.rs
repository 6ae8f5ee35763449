//! The lines of `--jsonl`: a case, and what came of it.

use std::collections::BTreeMap;

use hanok_parse::{Declared, ErrorKind, ParamType, Rejected, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// What may be passed for a tool's parameters.
type Schemas = BTreeMap<String, Schema>;

/// The JSON Schema of the parameters, or the type of each by its name.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
enum Schema {
    Types(BTreeMap<String, Types>),
    Json(Value),
}

impl From<Value> for Schema {
    /// What says that it is an object, or which properties it has, is a JSON Schema.
    fn from(value: Value) -> Self {
        let is_object = value.get("type").is_some_and(|kind| kind == "object");
        if is_object || value.get("properties").is_some_and(Value::is_object) {
            return Self::Json(value);
        }
        match BTreeMap::deserialize(&value) {
            Ok(types) => Self::Types(types),
            Err(_) => Self::Json(value),
        }
    }
}

/// A text, and what may be called in it.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// Handed on to the result as it is.
    pub id: Box<RawValue>,
    /// What the model wrote.
    pub text: String,
    /// The tools and agents; `None` when every name counts.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    #[serde(default)]
    schemas: Option<Schemas>,
    /// The format, when it is known. All are looked for where no format has this name.
    #[serde(default)]
    pub format: Option<String>,
}

/// A type as JSON Schema writes it: one name, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Types {
    One(String),
    Several(Vec<String>),
}

impl Types {
    fn kind(&self) -> Option<ParamType> {
        match self {
            Self::One(name) => param_type(name),
            Self::Several(names) => match names.as_slice() {
                [name] => param_type(name),
                names => {
                    names.iter().all(|name| param_type(name).is_some()).then_some(ParamType::Any)
                }
            },
        }
    }
}

fn param_type(name: &str) -> Option<ParamType> {
    Some(match name {
        "string" => ParamType::String,
        "integer" => ParamType::Integer,
        "number" => ParamType::Number,
        "boolean" => ParamType::Boolean,
        "object" => ParamType::Object,
        "array" => ParamType::Array,
        "null" => ParamType::Null,
        "any" => ParamType::Any,
        _ => return None,
    })
}

impl Case {
    /// What may be called. A name stands for a tool and for an agent; no parameter is known to be required.
    ///
    /// # Errors
    ///
    /// A sentence about a type that JSON Schema does not have, or a schema that cannot be read.
    pub fn declared(&self) -> Result<Declared, String> {
        let known = match &self.tools {
            None => Declared::any(),
            Some(names) => {
                names.iter().fold(Declared::new(), |known, name| known.tool(name).agent(name))
            }
        };
        let declared = |name: &str| {
            self.tools.as_ref().is_none_or(|names| names.iter().any(|one| one == name))
        };
        let schemas = self.schemas.iter().flatten().filter(|(tool, _)| declared(tool));
        schemas.into_iter().try_fold(known, |known, (tool, params)| {
            let params = match params {
                Schema::Types(params) => params,
                Schema::Json(schema) => {
                    return known.tool_schema(tool, schema).map_err(|error| error.to_string());
                }
            };
            let params: Result<Vec<_>, String> = params
                .iter()
                .map(|(name, types)| {
                    let kind = types.kind();
                    let kind = kind.ok_or_else(|| {
                        format!("`{name}` of `{tool}` has a type that there is not")
                    })?;
                    Ok((name.clone(), kind, false))
                })
                .collect();
            Ok(known.tool_with(tool, params?))
        })
    }
}

/// What a text says.
#[derive(Debug, Serialize)]
pub struct Outcome {
    id: Box<RawValue>,
    calls: Vec<Asked>,
    #[serde(rename = "final")]
    answer: Option<String>,
    /// The kind of the first by position.
    error: Option<&'static str>,
    rejected: Vec<Refused>,
    /// What was not as the case says.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    rest: Option<Rest>,
}

#[derive(Debug, Serialize)]
struct Asked {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<hanok_parse::Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<hanok_parse::Mark>,
    args: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct Refused {
    name: String,
    args: Box<RawValue>,
    error: &'static str,
}

/// What stands beside the calls.
#[derive(Debug, Serialize)]
struct Rest {
    content: String,
    reasoning: Option<String>,
}

impl Outcome {
    /// The result for the case of this id; `whole` with what stands beside the calls.
    ///
    /// # Errors
    ///
    /// Arguments that are no JSON, which the parser never gives.
    pub fn new(id: Box<RawValue>, reply: Reply, whole: bool) -> Result<Self, serde_json::Error> {
        let asked = |call: hanok_parse::Call| {
            Ok(Asked {
                name: call.name,
                format: call.format.filter(|_| whole),
                mark: whole.then_some(call.mark),
                args: RawValue::from_string(call.arguments.into_string())?,
            })
        };
        Ok(Self {
            id,
            calls: reply.calls.into_iter().map(asked).collect::<Result<_, serde_json::Error>>()?,
            answer: reply.answer,
            error: reply.error.map(|error| error.kind).map(ErrorKind::code),
            rejected: reply.rejected.into_iter().map(Refused::new).collect::<Result<_, _>>()?,
            note: None,
            rest: whole.then_some(Rest { content: reply.content, reasoning: reply.reasoning }),
        })
    }

    /// The same with this note.
    #[must_use]
    pub(crate) fn noted(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }
}

impl Refused {
    fn new(rejected: Rejected) -> Result<Self, serde_json::Error> {
        Ok(Self {
            name: rejected.name,
            args: RawValue::from_string(rejected.arguments.into_string())?,
            error: rejected.error.kind.code(),
        })
    }
}
