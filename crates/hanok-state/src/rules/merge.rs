//! The rule of `#[reduce(merge)]`.

use std::collections::BTreeMap;

use hanok_core::{Change, Field, Stored, StoredError};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::macros::{other_shape, stored_whole};
use crate::{
    code::Code,
    collections::map::MapLike,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    read_json::{each, json_of, value},
    reduce::Reduce,
    storable::Storable,
    writes::NodeWrites,
};

/// A map in which later keys win: of two writers of one key, the later task.
///
/// ```
/// # use hanok_state::{Map, State};
/// #[derive(State, Clone, Default)]
/// struct Answers {
///     #[reduce(merge)]
///     by_agent: Map<String, String>,
/// }
///
/// let mut answers = Answers::default();
/// let a = Answers::update().insert_by_agent("law", "12조").insert_by_agent("tax", "3조");
/// let b = Answers::update().insert_by_agent("law", "15조").remove_by_agent("tax");
/// answers.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(answers.by_agent.get("law").map(String::as_str), Some("15조"));
/// assert_eq!(answers.by_agent.get("tax"), None);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct Merge;

impl<T> Reduce<T> for Merge
where
    T: MapLike + Clone + Send + Sync + 'static,
{
    /// `None` removes a key.
    type Write = BTreeMap<T::Key, Option<T::Value>>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused> {
        for (key, entry) in writes.into_iter().flat_map(|(_, entries)| entries) {
            match entry {
                Some(entry) => value.insert_entry(key, entry),
                None => value.remove_entry(&key),
            }
        }
        Ok(Vec::new())
    }
}

impl<T> Code<T> for Merge
where
    T: MapLike + Storable,
    T::Key: Storable,
    T::Value: Storable,
{
    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        let (mut merged, mut removed) = (Vec::new(), Vec::new());
        for (key, value) in write {
            let key = Stored::encode(key)?;
            match value {
                Some(value) => merged.push((key, Stored::encode(value)?)),
                None => removed.push(key),
            }
        }
        let mut changes = Vec::new();
        if !merged.is_empty() || removed.is_empty() {
            changes.push(Change::Merge(merged));
        }
        if !removed.is_empty() {
            changes.push(Change::RemoveKeys(removed));
        }
        Ok(changes)
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        let mut write = BTreeMap::new();
        for change in changes {
            match change {
                Change::Merge(entries) => {
                    for (key, value) in entries {
                        write.insert(key.decode()?, Some(value.decode()?));
                    }
                }
                Change::RemoveKeys(keys) => {
                    for key in keys {
                        write.insert(key.decode()?, None);
                    }
                }
                _ => return other_shape("keys to merge"),
            }
        }
        Ok(write)
    }

    /// `null` removes a key, whatever the type of the values.
    fn from_json(json: Value) -> Result<Self::Write, InvalidJson> {
        let Value::Object(entries) = json else {
            return Err(InvalidJson::of("not an object, which `merge` needs"));
        };
        let entries = each(entries, |name, entry| {
            let entry = if entry.is_null() { Ok(None) } else { value(entry).map(Some) };
            match (key(name), entry) {
                (Ok(key), Ok(entry)) => Ok((key, entry)),
                (Err(key), Err(entry)) => Err(key.and(entry)),
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
            }
        });
        Ok(entries?.into_iter().collect())
    }

    fn to_json(write: &Self::Write) -> Result<Vec<(&'static str, Value)>, NoJson> {
        let merged: BTreeMap<_, _> =
            write.iter().filter_map(|(key, entry)| Some((key, entry.as_ref()?))).collect();
        let removed: Vec<_> =
            write.iter().filter(|(_, entry)| entry.is_none()).map(|(key, _)| key).collect();
        let mut changes = Vec::new();
        if !merged.is_empty() || removed.is_empty() {
            changes.push(("merge", json_of(&merged)?));
        }
        if !removed.is_empty() {
            changes.push(("remove_keys", json_of(&removed)?));
        }
        Ok(changes)
    }

    stored_whole!(T);
}

/// Reads the name of a member as serde_json reads the keys of maps.
fn key<K: DeserializeOwned + Ord>(name: &str) -> Result<K, InvalidJson> {
    let member: Value = [(name, Value::Null)].into_iter().collect();
    let entry: BTreeMap<K, IgnoredAny> = serde_json::from_value(member).map_err(InvalidJson::of)?;
    entry.into_keys().next().ok_or_else(|| InvalidJson::of("no key"))
}
