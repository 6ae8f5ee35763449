//! Fields and changes for clients, in any form of serde's: as JSON for browsers.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

use super::{
    change::{Change, Changes},
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

/// A map of field to [`Change`], and back.
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
/// assert_eq!(serde_json::from_str::<Changes>(json)?, changes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(field, change)| (field, change)))
    }
}

impl<'de> Deserialize<'de> for Changes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        pairs::<String, Change, D>(deserializer).map(|changes| {
            Self(changes.into_iter().map(|(field, change)| (field.into(), change)).collect())
        })
    }
}

/// The entries of [`Change::Merge`](super::change::Change::Merge): a map.
pub(super) fn merged<S: Serializer>(
    merged: &[(Stored, Stored)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    entries(merged.iter().map(|(key, value)| (key, value)), serializer)
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

/// The entries of a map, in their order.
pub(super) fn pairs<'de, K: Deserialize<'de>, V: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(K, V)>, D::Error> {
    struct Pairs<K, V>(PhantomData<(K, V)>);

    impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Pairs<K, V> {
        type Value = Vec<(K, V)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }

    deserializer.deserialize_map(Pairs(PhantomData))
}
