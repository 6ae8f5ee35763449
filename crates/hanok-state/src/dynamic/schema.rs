//! The fields of a state, as a text or a program declares them.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::Value;
use thiserror::Error;

use super::{DEEPEST, DynamicState, declared::Declared};
use crate::rule::Rule;

/// How the writes of one super-step are merged into a field that is declared at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DynamicRule {
    /// The last value; two writers in one super-step are an error. At first `null`.
    Last,
    /// A list: an array extends it, anything else is one item more. At first empty.
    Append,
    /// An object: later keys win, and `null` removes a key. At first empty.
    Merge,
    /// A conversation: a message with a known id replaces it, any other is appended. At first empty.
    Messages,
    /// A number to which numbers are added. At first 0.
    Sum,
}

impl DynamicRule {
    /// The rule in a schema.
    pub(crate) fn in_schema(self) -> Rule {
        match self {
            Self::Last => Rule::LastValue,
            Self::Append => Rule::Append,
            Self::Merge => Rule::Merge,
            Self::Messages => Rule::Messages,
            Self::Sum => Rule::Sum,
        }
    }

    /// The type of a field under this rule, as its schema says it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Last => "Json",
            Self::Append => "List<Json>",
            Self::Merge => "Map<String,Json>",
            Self::Messages => "Messages",
            Self::Sum => "Number",
        }
    }
}

/// One field that is declared at run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamicField {
    /// How what is written to it is merged.
    #[serde(rename = "reduce")]
    pub rule: DynamicRule,
    /// Its value before the first write; `None` for what the rule begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether it is left out of what a run returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Whether it is there only in the super-step after that which wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

impl DynamicField {
    /// A field with this rule.
    #[must_use]
    pub fn new(rule: DynamicRule) -> Self {
        Self { rule, default: None, private: false, ephemeral: false }
    }

    /// The value before the first write: an array under `append` and `messages`, an object under `merge`, a number
    /// under `sum`. Default: what the rule begins with.
    #[must_use]
    pub fn default(self, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    /// Leaves the field out of what a run returns. Default: it is returned.
    #[must_use]
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Keeps what is written for the next super-step alone. Default: until it is overwritten.
    #[must_use]
    pub fn ephemeral(self) -> Self {
        Self { ephemeral: true, ..self }
    }
}

impl From<DynamicRule> for DynamicField {
    fn from(rule: DynamicRule) -> Self {
        Self::new(rule)
    }
}

/// The fields of a state that is declared at run time. Nothing is checked before [`state`](DynamicSchema::state),
/// which reports every fault at once.
///
/// As JSON it is an object of field names, each with its rule under `reduce` and, where they are not as usual,
/// `default`, `private` and `ephemeral`; anything else is refused. A schema that is read from JSON has been checked.
///
/// ```
/// use hanok_state::{DynamicSchema, DynamicUpdate, State};
/// use serde_json::json;
///
/// let schema: DynamicSchema = serde_json::from_str(
///     r#"{"question": {"reduce": "last"}, "notes": {"reduce": "append", "default": ["처음"]}}"#,
/// )?;
/// let mut state = schema.named("research").state()?;
/// let update = DynamicUpdate::new().set("question", "휴가?").set("notes", "12조");
/// state.reduce(vec![("plan".into(), update)])?;
/// assert_eq!(state.to_json(), json!({"question": "휴가?", "notes": ["처음", "12조"]}));
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicSchema {
    name: String,
    fields: Vec<(String, DynamicField)>,
}

impl DynamicSchema {
    /// A schema without fields. The name is for people.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), fields: Vec::new() }
    }

    /// The same schema under another name. One that was read from JSON is named `state`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Adds a field: a [`DynamicRule`], or a [`DynamicField`] with more to say.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, field: impl Into<DynamicField>) -> Self {
        self.fields.push((name.into(), field.into()));
        self
    }

    /// The schema's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields, in the order they are declared.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &DynamicField)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// The state in which nothing is written yet.
    ///
    /// # Errors
    ///
    /// [`DynamicSchemaError`] with every fault there is.
    pub fn state(&self) -> Result<DynamicState, DynamicSchemaError> {
        Declared::new(self).map(DynamicState::of)
    }
}

/// Why fields cannot be the fields of a state.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("schema `{schema}`: {}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct DynamicSchemaError {
    /// The schema.
    pub schema: String,
    /// All that is wrong, in the order of the fields.
    pub faults: Vec<SchemaFault>,
}

/// One thing that is wrong with a schema.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFault {
    /// A name is empty or holds control characters.
    #[error("{name:?} is no name of a field: a name is not empty and holds no control characters")]
    Name {
        /// The name.
        name: String,
    },
    /// Two fields have one name.
    #[error("field `{name}` is declared twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The default does not fit the rule.
    #[error("field `{name}`: its default is not {expected}")]
    Default {
        /// The field.
        name: String,
        /// What its rule needs, and which rule it is.
        expected: String,
    },
    /// The default is nested too deep.
    #[error("field `{name}`: its default is nested deeper than {deepest} levels")]
    TooDeep {
        /// The field.
        name: String,
        /// How deep a value may be nested.
        deepest: usize,
    },
}

impl DynamicSchema {
    /// What is wrong with the names.
    pub(crate) fn faulty_names(&self) -> Vec<SchemaFault> {
        let mut seen = BTreeSet::new();
        let mut faults = Vec::new();
        for (name, _) in &self.fields {
            if name.is_empty() || name.chars().any(char::is_control) {
                faults.push(SchemaFault::Name { name: name.clone() });
            }
            if !seen.insert(name) {
                faults.push(SchemaFault::Twice { name: name.clone() });
            }
        }
        faults
    }

    pub(crate) fn too_deep(name: &str) -> SchemaFault {
        SchemaFault::TooDeep { name: name.to_owned(), deepest: DEEPEST }
    }
}

impl Serialize for DynamicSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields.iter().map(|(name, field)| (name, field)))
    }
}

impl<'de> Deserialize<'de> for DynamicSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_map(InOrder)?;
        let schema = Self { name: "state".to_owned(), fields };
        Declared::new(&schema).map_err(D::Error::custom)?;
        Ok(schema)
    }
}

/// Reads an object in the order of its text, a key that stands there twice included.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Vec<(String, DynamicField)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = map.next_entry()? {
            fields.push(entry);
        }
        Ok(fields)
    }
}
