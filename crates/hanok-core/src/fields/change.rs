//! The closed vocabulary of what may happen to a field of a state.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    fold::{Field, Fields},
    serialize::{merged, pairs},
};
use crate::stored::{
    error::StoredError,
    msgpack::{Reader, Writer},
    value::Stored,
};

/// A change of one field. This vocabulary is closed: a log reads the same in every build.
///
/// A reducer of a user's is never run to read a log: what it made of a write is stored as one of these.
///
/// For clients it is a map of what happened to the values that it happened with: `{"set": 1}`, `{"append": [1]}`,
/// `{"splice": {"at": 0, "remove": 1, "insert": []}}`, `{"merge": {"a": 1}}`, `{"remove_keys": ["a"]}`, `{"nested": {…}}`,
/// `{"messages": [{"put": {…}}, {"remove": "id"}, "clear"]}`, `{"input": 1}`; the text `unset`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The field has this value now.
    Set(Stored),
    /// The field has no value now.
    Unset,
    /// These items were put at the end of a list.
    Append(Vec<Stored>),
    /// `remove` items of a list from index `at` on gave way to these.
    Splice {
        /// The index of the first item concerned.
        at: u64,
        /// The number of items that went.
        remove: u64,
        /// The items that came.
        insert: Vec<Stored>,
    },
    /// These keys of a map have these values now.
    Merge(#[serde(serialize_with = "merged", deserialize_with = "pairs")] Vec<(Stored, Stored)>),
    /// These keys of a map are gone.
    RemoveKeys(Vec<Stored>),
    /// These fields of a nested state changed.
    Nested(Changes),
    /// These messages of a conversation changed, as one batch.
    Messages(Vec<MessageChange>),
    /// The input of a reducer of the user's. It changes nothing: the commit says what the reducer made of it.
    Input(Stored),
}

impl Change {
    /// True when it holds input for a reducer, within a nested state too: only a build that knows the reducer can say what
    /// comes of it.
    pub fn has_input(&self) -> bool {
        match self {
            Self::Input(_) => true,
            Self::Nested(changes) => changes.has_input(),
            _ => false,
        }
    }
}

/// A change of one message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageChange {
    /// A whole message, a map with its id under `id`: in the place of the one with that id, else at the end.
    Put(Stored),
    /// The message with this id is gone.
    #[serde(serialize_with = "String::serialize", deserialize_with = "String::deserialize")]
    Remove {
        /// The message's id.
        id: String,
    },
    /// All messages before this change are gone.
    Clear,
}

/// The changes of the fields of one state, by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes(pub Vec<(Cow<'static, str>, Change)>);

impl Changes {
    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when any of them holds input for a reducer: see [`Change::has_input`].
    pub fn has_input(&self) -> bool {
        self.0.iter().any(|(_, change)| change.has_input())
    }

    /// Adds what happened to `field`.
    pub fn push(&mut self, field: impl Into<Cow<'static, str>>, change: Change) {
        self.0.push((field.into(), change));
    }

    /// The change of `field`, if there is one.
    pub fn get(&self, field: &str) -> Option<&Change> {
        self.0.iter().find(|(name, _)| name == field).map(|(_, change)| change)
    }

    /// Puts the fields of `rest` that are not there into nested states that are set whole. Returns the names of the fields
    /// in which that changed something.
    pub fn fill(&mut self, rest: &Fields) -> Vec<Cow<'static, str>> {
        let mut filled = Vec::new();
        for (name, change) in &mut self.0 {
            let Some(Field::Nested(rest)) = rest.get(name) else { continue };
            let is_filled = match change {
                Change::Nested(changes) => !changes.fill(rest).is_empty(),
                Change::Set(whole) => match Fields::from_stored(whole) {
                    Ok(mut fields) => {
                        fields.fill(rest);
                        *whole = fields.to_stored();
                        true
                    }
                    Err(_) => false,
                },
                _ => false,
            };
            if is_filled {
                filled.push(name.clone());
            }
        }
        filled
    }

    /// About how many bytes [`Changes::write`] writes, so that room can be made for them at once.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(field, change)| HEAD + field.len() + change.size()).sum()
    }

    /// Writes the changes: a map of field to change.
    pub fn write(&self, to: &mut Writer) {
        to.map(self.0.len());
        for (field, change) in &self.0 {
            to.str(field);
            change.write(to);
        }
    }

    /// Reads what [`Changes::write`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else, a change of a newer build included.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::read_nested(from, 0)
    }

    fn read_nested(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        if depth > 64 {
            return Err(StoredError::Malformed { at: from.at(), expected: "less nesting" });
        }
        (0..from.map()?)
            .map(|_| {
                let field = from.str()?.to_owned();
                Ok((Cow::Owned(field), Change::read(from, depth)?))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// The numbers by which changes are stored. Numbers are added, never reused.
mod code {
    pub(super) const SET: u64 = 0;
    pub(super) const UNSET: u64 = 1;
    pub(super) const APPEND: u64 = 2;
    pub(super) const SPLICE: u64 = 3;
    pub(super) const MERGE: u64 = 4;
    pub(super) const REMOVE_KEYS: u64 = 5;
    pub(super) const NESTED: u64 = 6;
    pub(super) const MESSAGES: u64 = 7;
    pub(super) const INPUT: u64 = 8;

    pub(super) const PUT: u64 = 0;
    pub(super) const REMOVE: u64 = 1;
    pub(super) const CLEAR: u64 = 2;
}

/// The most that a length takes.
const HEAD: usize = 5;

impl Change {
    fn size(&self) -> usize {
        let all = |values: &[Stored]| values.iter().map(Stored::size).sum();
        2 * HEAD
            + match self {
                Self::Set(value) | Self::Input(value) => value.size(),
                Self::Append(items) | Self::Splice { insert: items, .. } => all(items),
                Self::Merge(entries) => {
                    entries.iter().map(|(key, value)| key.size() + value.size()).sum()
                }
                Self::RemoveKeys(keys) => all(keys),
                Self::Nested(changes) => changes.size(),
                Self::Messages(changes) => changes.iter().map(MessageChange::size).sum(),
                Self::Unset => 0,
            }
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Set(value) => to.array(2).uint(code::SET).raw(value.as_bytes()),
            Self::Unset => to.array(1).uint(code::UNSET),
            Self::Append(items) => values(to.array(2).uint(code::APPEND), items),
            Self::Splice { at, remove, insert } => {
                values(to.array(4).uint(code::SPLICE).uint(*at).uint(*remove), insert)
            }
            Self::Merge(entries) => {
                to.array(2).uint(code::MERGE).map(entries.len());
                for (key, value) in entries {
                    to.raw(key.as_bytes()).raw(value.as_bytes());
                }
                to
            }
            Self::RemoveKeys(keys) => values(to.array(2).uint(code::REMOVE_KEYS), keys),
            Self::Nested(changes) => {
                changes.write(to.array(2).uint(code::NESTED));
                to
            }
            Self::Messages(changes) => {
                to.array(2).uint(code::MESSAGES).array(changes.len());
                changes.iter().for_each(|change| change.write(to));
                to
            }
            Self::Input(value) => to.array(2).uint(code::INPUT).raw(value.as_bytes()),
        };
    }

    fn read(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        let parts = from.array()?;
        let at = from.at();
        let change = match (from.uint()?, parts) {
            (code::SET, 2) => Self::Set(value(from)?),
            (code::UNSET, 1) => Self::Unset,
            (code::APPEND, 2) => Self::Append(list(from)?),
            (code::SPLICE, 4) => {
                Self::Splice { at: from.uint()?, remove: from.uint()?, insert: list(from)? }
            }
            (code::MERGE, 2) => Self::Merge(
                (0..from.map()?)
                    .map(|_| Ok((value(from)?, value(from)?)))
                    .collect::<Result<_, StoredError>>()?,
            ),
            (code::REMOVE_KEYS, 2) => Self::RemoveKeys(list(from)?),
            (code::NESTED, 2) => Self::Nested(Changes::read_nested(from, depth + 1)?),
            (code::MESSAGES, 2) => Self::Messages(
                (0..from.array()?).map(|_| MessageChange::read(from)).collect::<Result<_, _>>()?,
            ),
            (code::INPUT, 2) => Self::Input(value(from)?),
            _ => return Err(StoredError::Malformed { at, expected: "a change of this build" }),
        };
        Ok(change)
    }
}

impl MessageChange {
    fn size(&self) -> usize {
        2 * HEAD
            + match self {
                Self::Put(message) => message.size(),
                Self::Remove { id } => id.len(),
                Self::Clear => 0,
            }
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Put(message) => to.array(2).uint(code::PUT).raw(message.as_bytes()),
            Self::Remove { id } => to.array(2).uint(code::REMOVE).str(id),
            Self::Clear => to.array(1).uint(code::CLEAR),
        };
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        let parts = from.array()?;
        let at = from.at();
        match (from.uint()?, parts) {
            (code::PUT, 2) => Ok(Self::Put(value(from)?)),
            (code::REMOVE, 2) => Ok(Self::Remove { id: from.str()?.to_owned() }),
            (code::CLEAR, 1) => Ok(Self::Clear),
            _ => Err(StoredError::Malformed { at, expected: "a message change of this build" }),
        }
    }
}

fn values<'w>(to: &'w mut Writer, items: &[Stored]) -> &'w mut Writer {
    to.array(items.len());
    items.iter().for_each(|item| {
        to.raw(item.as_bytes());
    });
    to
}

fn value(from: &mut Reader<'_>) -> Result<Stored, StoredError> {
    Ok(Stored::trusted(from.value()?.to_vec()))
}

fn list(from: &mut Reader<'_>) -> Result<Vec<Stored>, StoredError> {
    (0..from.array()?).map(|_| value(from)).collect()
}
