//! Fields and changes for clients, in any form of serde's: as JSON for browsers.

use serde::{Serialize, Serializer};

use super::{
    change::{Change, Changes, MessageChange},
    fold::{Field, Fields},
};
use crate::stored::value::Stored;

/// A map of field to value.
impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The field's value.
impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(map) => entries(map.iter(), serializer),
            Self::Messages(messages) => serializer.collect_seq(messages.iter()),
            Self::Nested(fields) => fields.serialize(serializer),
        }
    }
}

/// A map of field to [`Change`].
///
/// ```
/// use hanok_core::{Change, Changes, Stored};
///
/// let mut changes = Changes::default();
/// changes.push("city", Change::Set(Stored::encode("부산")?));
/// changes.push("plan", Change::Append(vec![Stored::encode("a train")?]));
/// changes.push("note", Change::Unset);
/// let json = r#"{"city":{"set":"부산"},"plan":{"append":["a train"]},"note":"unset"}"#;
/// assert_eq!(serde_json::to_string(&changes)?, json);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(field, change)| (field, change)))
    }
}

/// A map of what happened to the values that it happened with: `{"set": 1}`, `{"append": [1]}`,
/// `{"splice": {"at": 0, "remove": 1, "insert": []}}`, `{"merge": {"a": 1}}`, `{"remove_keys": ["a"]}`, `{"nested": {…}}`,
/// `{"messages": [{"put": {…}}, {"remove": "id"}, "clear"]}`, `{"input": 1}`; the text `unset`.
impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => one("set", value, serializer),
            Self::Unset => serializer.serialize_str("unset"),
            Self::Append(items) => one("append", items, serializer),
            Self::Splice { at, remove, insert } => {
                let splice = Splice { at: *at, remove: *remove, insert };
                one("splice", &splice, serializer)
            }
            Self::Merge(merged) => one("merge", &Merged(merged), serializer),
            Self::RemoveKeys(keys) => one("remove_keys", keys, serializer),
            Self::Nested(changes) => one("nested", changes, serializer),
            Self::Messages(changes) => one("messages", changes, serializer),
            Self::Input(value) => one("input", value, serializer),
        }
    }
}

impl Serialize for MessageChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Put(message) => one("put", message, serializer),
            Self::Remove { id } => one("remove", id, serializer),
            Self::Clear => serializer.serialize_str("clear"),
        }
    }
}

#[derive(Serialize)]
struct Splice<'a> {
    at: u64,
    remove: u64,
    insert: &'a [Stored],
}

struct Merged<'a>(&'a [(Stored, Stored)]);

impl Serialize for Merged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        entries(self.0.iter().map(|(key, value)| (key, value)), serializer)
    }
}

fn one<S: Serializer>(
    what: &str,
    value: &(impl Serialize + ?Sized),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(what, value)])
}

/// A map; for people, a key that is no text is a text that holds its JSON.
fn entries<'a, S: Serializer>(
    entries: impl Iterator<Item = (&'a Stored, &'a Stored)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if !serializer.is_human_readable() {
        return serializer.collect_map(entries);
    }
    let text = |key: &Stored| key.as_str().map(str::to_owned).unwrap_or_else(|_| key.to_json());
    serializer.collect_map(entries.map(|(key, value)| (text(key), value)))
}
