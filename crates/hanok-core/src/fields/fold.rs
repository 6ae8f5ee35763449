//! The fold of a log of changes.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use serde::Deserialize;
use thiserror::Error;

use super::change::{Change, Changes, MessageChange};
use crate::stored::{
    display::{comma, quoted},
    error::StoredError,
    msgpack::{Reader, Writer},
    value::Stored,
};

/// Room for the heads of a map of fields: enough for most.
const ROOM: usize = 64;

/// Why a change does not fit the state before it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FoldError {
    /// A message that is not there was removed.
    #[error("there is no message `{id}` to remove")]
    UnknownMessage {
        /// The id that was named.
        id: String,
    },
    /// A splice reaches past the end of its list.
    #[error("a splice of {remove} items at {at} does not fit a list of {len}")]
    Splice {
        /// The first index.
        at: u64,
        /// The number of items that were to go.
        remove: u64,
        /// The number of items that there are.
        len: usize,
    },
    /// The field holds a value of another kind.
    #[error("the field holds a value of another kind")]
    Kind(#[from] StoredError),
}

/// The fields of one state, folded from changes. It knows no types: every build folds every log.
///
/// A change of a field costs what the change holds, not what the field holds.
///
/// What reads a map of fields reads each as a [`Field::Value`], whatever it was folded from.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "BTreeMap<String, Stored>")]
pub struct Fields(BTreeMap<String, Field>);

/// One folded field.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// A value that was set whole.
    Value(Stored),
    /// A list that grew.
    List(Vec<Stored>),
    /// A map that grew: stored key to stored value.
    Map(BTreeMap<Stored, Stored>),
    /// A conversation.
    Messages(MessageFold),
    /// A nested state.
    Nested(Fields),
}

impl From<BTreeMap<String, Stored>> for Fields {
    fn from(fields: BTreeMap<String, Stored>) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name, Field::Value(value))).collect())
    }
}

impl Fields {
    /// Applies one change to one field.
    ///
    /// # Errors
    ///
    /// [`FoldError`] when the change does not fit; the field is then as it was, except for the changes of a batch of
    /// messages that precede the one that does not fit.
    pub fn apply(&mut self, field: &str, change: &Change) -> Result<(), FoldError> {
        match change {
            Change::Set(value) => {
                self.0.insert(field.to_owned(), Field::Value(value.clone()));
            }
            Change::Unset => {
                self.0.remove(field);
            }
            Change::Input(_) => {}
            Change::Append(items) => self.list(field)?.extend(items.iter().cloned()),
            Change::Splice { at, remove, insert } => {
                splice(self.list(field)?, *at, *remove, insert)?;
            }
            Change::Merge(entries) => self.map(field)?.extend(entries.iter().cloned()),
            Change::RemoveKeys(keys) => {
                let map = self.map(field)?;
                keys.iter().for_each(|key| {
                    map.remove(key);
                });
            }
            Change::Nested(changes) => self.nested(field)?.apply_all(changes)?,
            Change::Messages(changes) => self.messages(field)?.apply(changes)?,
        }
        Ok(())
    }

    /// Applies all `changes`, in order.
    ///
    /// # Errors
    ///
    /// [`FoldError`] of the first that does not fit.
    pub fn apply_all(&mut self, changes: &Changes) -> Result<(), FoldError> {
        changes.0.iter().try_for_each(|(field, change)| self.apply(field, change))
    }

    /// Takes a field out.
    pub fn take(&mut self, field: &str) -> Option<Field> {
        self.0.remove(field)
    }

    /// Puts a whole field in.
    pub fn insert(&mut self, field: impl Into<String>, value: Field) {
        self.0.insert(field.into(), value);
    }

    /// A field, if it has a value.
    pub fn get(&self, field: &str) -> Option<&Field> {
        self.0.get(field)
    }

    /// Adds the fields of `rest` that have no value here, within nested states too.
    pub fn fill(&mut self, rest: &Self) {
        for (name, field) in &rest.0 {
            match (self.0.contains_key(name), field) {
                (false, _) => self.insert(name, field.clone()),
                (true, Field::Nested(rest)) => {
                    if let Ok(nested) = self.nested(name) {
                        nested.fill(rest);
                    }
                }
                (true, _) => {}
            }
        }
    }

    /// True when no field has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields that have a value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.0.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// The bytes that the fields take as stored, but for a few for each list and map.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(name, field)| name.len() + field.size()).sum()
    }

    /// The fields as one stored map.
    pub fn to_stored(&self) -> Stored {
        let mut writer = Writer::after(Vec::with_capacity(self.size() + ROOM));
        self.write(&mut writer);
        Stored::trusted(writer.into_bytes())
    }

    /// Writes the fields as one map.
    pub fn write(&self, to: &mut Writer) {
        to.map(self.0.len());
        for (name, field) in &self.0 {
            field.write(to.str(name));
        }
    }

    /// Reads the fields of a stored map.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the value is no map of texts.
    pub fn from_stored(stored: &Stored) -> Result<Self, StoredError> {
        stored
            .to_entries()?
            .into_iter()
            .map(|(name, value)| Ok((name.as_str()?.to_owned(), Field::Value(value))))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn list(&mut self, field: &str) -> Result<&mut Vec<Stored>, FoldError> {
        let entry = self.entry(field, || Field::List(Vec::new()));
        if let Field::Value(value) = entry {
            *entry = Field::List(value.to_items()?);
        }
        match entry {
            Field::List(items) => Ok(items),
            _ => Err(kind("a list")),
        }
    }

    fn map(&mut self, field: &str) -> Result<&mut BTreeMap<Stored, Stored>, FoldError> {
        let entry = self.entry(field, || Field::Map(BTreeMap::new()));
        if let Field::Value(value) = entry {
            *entry = Field::Map(value.to_entries()?.into_iter().collect());
        }
        match entry {
            Field::Map(map) => Ok(map),
            _ => Err(kind("a map")),
        }
    }

    fn nested(&mut self, field: &str) -> Result<&mut Self, FoldError> {
        let entry = self.entry(field, || Field::Nested(Self::default()));
        if let Field::Value(value) = entry {
            *entry = Field::Nested(Self::from_stored(value)?);
        }
        match entry {
            Field::Nested(fields) => Ok(fields),
            _ => Err(kind("a nested state")),
        }
    }

    fn messages(&mut self, field: &str) -> Result<&mut MessageFold, FoldError> {
        let entry = self.entry(field, || Field::Messages(MessageFold::default()));
        if let Field::Value(value) = entry {
            *entry = Field::Messages(MessageFold::from_items(value.to_items()?)?);
        }
        match entry {
            Field::Messages(messages) => Ok(messages),
            _ => Err(kind("messages")),
        }
    }

    fn entry(&mut self, field: &str, empty: impl FnOnce() -> Field) -> &mut Field {
        self.0.entry(field.to_owned()).or_insert_with(empty)
    }
}

impl Field {
    fn size(&self) -> usize {
        let bytes = |stored: &Stored| stored.as_bytes().len();
        match self {
            Self::Value(value) => bytes(value),
            Self::List(items) => items.iter().map(bytes).sum(),
            Self::Map(map) => map.iter().map(|(key, value)| bytes(key) + bytes(value)).sum(),
            Self::Messages(messages) => messages.iter().map(bytes).sum(),
            Self::Nested(fields) => fields.size(),
        }
    }

    /// The field's value as one stored value.
    pub fn to_stored(&self) -> Stored {
        if let Self::Value(value) = self {
            return value.clone();
        }
        let mut writer = Writer::after(Vec::with_capacity(self.size() + ROOM));
        self.write(&mut writer);
        Stored::trusted(writer.into_bytes())
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Value(value) => {
                to.raw(value.as_bytes());
            }
            Self::List(items) => {
                to.array(items.len());
                items.iter().for_each(|item| {
                    to.raw(item.as_bytes());
                });
            }
            Self::Map(map) => {
                to.map(map.len());
                for (key, value) in map {
                    to.raw(key.as_bytes()).raw(value.as_bytes());
                }
            }
            Self::Messages(messages) => {
                to.array(messages.iter().count());
                messages.iter().for_each(|message| {
                    to.raw(message.as_bytes());
                });
            }
            Self::Nested(fields) => fields.write(to),
        }
    }
}

/// The fields as JSON, for people.
impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (name, field)) in self.0.iter().enumerate() {
            comma(i, f)?;
            quoted(name, f)?;
            write!(f, ":{}", field.to_stored())?;
        }
        f.write_str("}")
    }
}

/// A conversation, folded: its messages in order, by their ids.
///
/// Within one batch a removed message keeps its place for a later one with its id; after the batch it has none.
#[derive(Debug, Clone, Default)]
pub struct MessageFold {
    /// `None` where a message was removed.
    slots: Vec<Option<Stored>>,
    places: HashMap<String, usize>,
}

impl MessageFold {
    fn from_items(items: Vec<Stored>) -> Result<Self, StoredError> {
        let mut fold = Self::default();
        for message in items {
            fold.places.insert(id_of(&message)?, fold.slots.len());
            fold.slots.push(Some(message));
        }
        Ok(fold)
    }

    fn apply(&mut self, batch: &[MessageChange]) -> Result<(), FoldError> {
        let mut removed = Vec::new();
        let result = batch.iter().try_for_each(|change| self.apply_one(change, &mut removed));
        for id in removed {
            if self.places.get(&id).is_some_and(|at| matches!(self.slots.get(*at), Some(None))) {
                self.places.remove(&id);
            }
        }
        self.compact();
        result
    }

    fn apply_one(
        &mut self,
        change: &MessageChange,
        removed: &mut Vec<String>,
    ) -> Result<(), FoldError> {
        match change {
            MessageChange::Put(message) => {
                let at = *self.places.entry(id_of(message)?).or_insert(self.slots.len());
                match self.slots.get_mut(at) {
                    Some(slot) => *slot = Some(message.clone()),
                    None => self.slots.push(Some(message.clone())),
                }
            }
            MessageChange::Remove { id } => {
                let slot = self.places.get(id).and_then(|at| self.slots.get_mut(*at));
                let gone = slot.and_then(Option::take);
                gone.ok_or_else(|| FoldError::UnknownMessage { id: id.clone() })?;
                removed.push(id.clone());
            }
            MessageChange::Clear => {
                *self = Self::default();
                removed.clear();
            }
        }
        Ok(())
    }

    /// Closes the gaps once they are more than the messages.
    fn compact(&mut self) {
        if self.slots.len() <= 2 * self.places.len() + 32 {
            return;
        }
        let mut retained = vec![0; self.slots.len()];
        let mut at = 0;
        for (slot, to) in self.slots.iter().zip(&mut retained) {
            *to = at;
            at += usize::from(slot.is_some());
        }
        self.slots.retain(Option::is_some);
        for place in self.places.values_mut() {
            *place = retained.get(*place).copied().unwrap_or_default();
        }
    }

    /// The messages, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Stored> {
        self.slots.iter().flatten()
    }
}

impl PartialEq for MessageFold {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The id of a stored message. It is written first, so this reads a few bytes.
fn id_of(message: &Stored) -> Result<String, StoredError> {
    let mut reader = Reader::new(message.as_bytes());
    for _ in 0..reader.map()? {
        if reader.str()? == "id" {
            return reader.str().map(str::to_owned);
        }
        reader.value()?;
    }
    Err(StoredError::Malformed { at: 0, expected: "a message with an id" })
}

fn splice(
    list: &mut Vec<Stored>,
    at: u64,
    remove: u64,
    insert: &[Stored],
) -> Result<(), FoldError> {
    let len = list.len();
    let wrong = || FoldError::Splice { at, remove, len };
    let start = usize::try_from(at).ok().filter(|start| *start <= len).ok_or_else(wrong)?;
    let end = usize::try_from(at.saturating_add(remove)).ok().filter(|end| *end <= len);
    list.splice(start..end.ok_or_else(wrong)?, insert.iter().cloned());
    Ok(())
}

fn kind(expected: &'static str) -> FoldError {
    FoldError::Kind(StoredError::Malformed { at: 0, expected })
}
