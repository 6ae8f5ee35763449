//! A state whose fields are declared at run time.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_core::{Changes, Fields, StoredError};
use serde_json::Value;

use super::{
    any_slot::AnySlot,
    any_value::AnyValue,
    bound::Bound,
    declared::{Declared, NO_FIELDS},
    json::{self, Misfit},
    update::DynamicUpdate,
};
use crate::{
    error::ReduceError,
    json_error::{InvalidJson, NoJson},
    messages::conversation::Messages,
    read_json::JsonFields,
    schema::Schema,
    slot::Resolved,
    state::State,
};

/// A state whose fields are declared at run time by a [`DynamicSchema`](crate::DynamicSchema). A clone costs two
/// pointers, and shares its values until they are written.
///
/// The fields belong to the value and not to the type: `DynamicState::default()` has none, and [`State::load`] of a
/// state that has them reads stored ones. It is the whole state of a graph, and no field within another.
///
/// ```
/// use hanok_state::{DynamicRule, DynamicSchema, DynamicUpdate, State};
///
/// let schema = DynamicSchema::new("chat")
///     .field("messages", DynamicRule::Messages)
///     .field("topics", DynamicRule::Append);
/// let mut state = schema.state()?;
/// let (a, b) = (DynamicUpdate::new().set("topics", "휴가"), DynamicUpdate::new().set("messages", "안녕"));
/// state.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(state.get("topics"), Some(vec!["휴가"].into()));
/// assert_eq!(state.messages("messages").map(|messages| messages.len()), Some(1));
///
/// let mut fields = state.to_fields()?;
/// assert_eq!(schema.state()?.load(&mut fields)?, state);
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Clone)]
pub struct DynamicState {
    declared: Arc<Declared>,
    /// A value for each declared field, in the same order.
    values: Arc<Vec<AnyValue>>,
}

impl DynamicState {
    /// Makes the state in which nothing is written yet.
    pub(crate) fn of(declared: Arc<Declared>) -> Self {
        let values = declared.fields.iter().map(|field| field.initial.clone()).collect();
        Self { declared, values: Arc::new(values) }
    }

    /// Copies the value of `field`, as it is in [`to_json`](State::to_json). `None` if there is no such field.
    pub fn get(&self, field: &str) -> Option<Value> {
        self.value(field).map(AnyValue::to_json)
    }

    /// The conversation of a field with the rule `messages`. It is borrowed, and not copied as by [`get`](DynamicState::get).
    pub fn messages(&self, field: &str) -> Option<&Messages> {
        match self.value(field) {
            Some(AnyValue::Messages(messages)) => Some(messages),
            _ => None,
        }
    }

    fn by_name(&self) -> BTreeMap<&str, &AnyValue> {
        let fields = self.declared.fields.iter().zip(self.values.iter());
        fields.map(|(field, value)| (&*field.name, value)).collect()
    }

    fn value(&self, name: &str) -> Option<&AnyValue> {
        let (at, _) = self.declared.field(name)?;
        self.values.get(at)
    }
}

/// A state without fields.
impl Default for DynamicState {
    fn default() -> Self {
        Self::of(Arc::new(Declared::empty()))
    }
}

/// Equal states have equal fields under equal rules.
impl PartialEq for DynamicState {
    fn eq(&self, other: &Self) -> bool {
        self.by_name() == other.by_name()
    }
}

impl fmt::Debug for DynamicState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.declared.fields.iter().zip(self.values.iter());
        f.debug_map().entries(fields.map(|(field, value)| (&field.name, value))).finish()
    }
}

#[diagnostic::do_not_recommend]
impl State for DynamicState {
    type Update = DynamicUpdate;

    const SCHEMA: &'static Schema = &NO_FIELDS;

    fn schema(&self) -> &Schema {
        &self.declared.schema
    }

    fn bind(&self, node: &Arc<str>, update: &mut DynamicUpdate) -> Result<(), ReduceError> {
        *update = DynamicUpdate::of(update.take_bound(&self.declared, node)?);
        Ok(())
    }

    fn merge_writes(
        &mut self,
        writes: &mut [(&Arc<str>, &mut DynamicUpdate)],
        recorded: bool,
    ) -> Result<Changes, ReduceError> {
        let mut by_field: BTreeMap<usize, Vec<(&Arc<str>, AnySlot)>> = BTreeMap::new();
        for (node, update) in writes {
            let bound = update.take_bound(&self.declared, node)?;
            for (at, slot) in bound.slots {
                by_field.entry(at).or_default().push((*node, slot));
            }
        }
        for (at, slots) in &by_field {
            if let (Some(field), Some(value)) =
                (self.declared.fields.get(*at), self.values.get(*at))
            {
                value.check(&field.name, slots)?;
            }
        }
        let mut resolved = Resolved::new(recorded);
        let values = Arc::make_mut(&mut self.values);
        for (at, mut slots) in by_field {
            if let (Some(field), Some(value)) = (self.declared.fields.get(at), values.get_mut(at)) {
                value.merge(&field.name, &mut slots, &mut resolved)?;
            }
        }
        Ok(resolved.into_changes())
    }

    fn to_fields(&self) -> Result<Fields, StoredError> {
        let mut fields = Fields::default();
        for (field, value) in self.declared.fields.iter().zip(self.values.iter()) {
            value.store(&field.name, &mut fields)?;
        }
        Ok(fields)
    }

    fn load(&self, fields: &mut Fields) -> Result<Self, StoredError> {
        let all = self.declared.fields.iter().zip(self.values.iter());
        let values = all.map(|(field, value)| {
            let stored = AnyValue::load(field.rule, &field.name, fields)?;
            Ok(stored.unwrap_or_else(|| value.clone()))
        });
        let values = values.collect::<Result<_, StoredError>>()?;
        Ok(Self { declared: Arc::clone(&self.declared), values: Arc::new(values) })
    }

    fn read_update(&self, json: Value) -> Result<DynamicUpdate, InvalidJson> {
        let mut json = JsonFields::new(json)?;
        let mut slots = BTreeMap::new();
        for (at, field) in self.declared.fields.iter().enumerate() {
            let write = |value| json::write(field.rule, value).map_err(Misfit::into_invalid);
            slots.extend(json.read(&field.name, write).map(|slot| (at, slot)));
        }
        let known: Vec<_> = self.declared.fields.iter().map(|field| &*field.name).collect();
        json.finish(&known)?;
        Ok(DynamicUpdate::of(Bound { declared: Arc::clone(&self.declared), slots }))
    }

    /// It always has JSON.
    fn to_json(&self) -> Result<Value, NoJson> {
        let fields = self.declared.fields.iter().zip(self.values.iter());
        Ok(fields.map(|(field, value)| (field.name.to_string(), value.to_json())).collect())
    }

    /// A field that `initial` does not have under the same rule gets the default of its schema.
    fn retain(&mut self, keep: &dyn Fn(&str) -> bool, initial: &Self) {
        let values = Arc::make_mut(&mut self.values);
        for (field, value) in self.declared.fields.iter().zip(values) {
            if keep(&field.name) {
                continue;
            }
            let other = initial.declared.field(&field.name);
            let other = other.filter(|(_, other)| other.rule == field.rule);
            let value_there = other.and_then(|(at, _)| initial.values.get(at));
            *value = value_there.unwrap_or(&field.initial).clone();
        }
    }
}
