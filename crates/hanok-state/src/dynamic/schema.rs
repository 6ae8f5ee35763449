//! The fields of a state, as a text or a program declares them.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};

use super::{
    declared::Declared, fault::DynamicSchemaError, field::DynamicField, state::DynamicState,
};

/// The fields of a state that is declared at run time. [`state`](DynamicSchema::state) checks them, and reports every fault at
/// once.
///
/// As JSON it is an object of field names, each with its rule under `reduce` and, where they differ from the defaults,
/// `default`, `private` and `ephemeral`. Anything else is refused. A schema that is read from JSON is checked.
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
/// assert_eq!(state.to_json()?, json!({"question": "휴가?", "notes": ["처음", "12조"]}));
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicSchema {
    name: String,
    fields: Vec<(String, DynamicField)>,
}

impl DynamicSchema {
    /// Makes a schema without fields. The name is for people.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), fields: Vec::new() }
    }

    /// Renames the schema. One that was read from JSON is named `state`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Adds a field: a [`DynamicRule`](crate::DynamicRule), or a [`DynamicField`] with more to say.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, field: impl Into<DynamicField>) -> Self {
        self.fields.push((name.into(), field.into()));
        self
    }

    /// The name of the schema.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields, in the order they are declared.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &DynamicField)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// Makes the state in which nothing is written yet.
    ///
    /// ```
    /// use hanok_state::{DynamicField, DynamicRule, DynamicSchema, SchemaFault};
    ///
    /// let schema = DynamicSchema::new("count")
    ///     .field("hits", DynamicField::new(DynamicRule::Sum).default("둘"))
    ///     .field("hits", DynamicRule::Last);
    /// let faults = schema.state().unwrap_err().faults;
    /// assert_eq!(faults[0], SchemaFault::Twice { name: "hits".to_owned() });
    /// assert_eq!(
    ///     faults[1].to_string(),
    ///     "field `hits`: its default is not a number, which `sum` needs"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// [`DynamicSchemaError`] with every fault.
    pub fn state(&self) -> Result<DynamicState, DynamicSchemaError> {
        Declared::new(&self.name, &self.fields).map(DynamicState::of)
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
        let name = "state".to_owned();
        Declared::new(&name, &fields).map_err(D::Error::custom)?;
        Ok(Self { name, fields })
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
