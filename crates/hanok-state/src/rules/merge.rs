//! The rule of `#[reduce(merge)]`.

use std::collections::BTreeMap;

use hanok_core::{Change, Field, Stored, StoredError};

use super::macros::{other_shape, stored_whole};
use crate::{
    code::Code, collections::map::MapLike, error::Refused, reduce::Reduce, storable::Storable,
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

    stored_whole!(T);
}
