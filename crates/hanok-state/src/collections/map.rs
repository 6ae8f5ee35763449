//! A map that shares its structure.

use std::{borrow::Borrow, collections::BTreeMap, fmt};

use hanok_core::{Change, FoldError, Stored, StoredError};
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::storable::Storable;

use super::grow::Grow;

/// A map, sorted by its keys, whose clones share their common part. A clone costs a pointer, an insert the logarithm of the
/// length.
///
/// ```
/// use hanok_state::Map;
///
/// let mut articles: Map<String, u32> = [("휴가".to_owned(), 12)].into_iter().collect();
/// let before = articles.clone();
/// articles.insert("급여".to_owned(), 7);
/// assert!(articles.remove("휴가"));
/// assert_eq!((before.get("휴가"), articles.get("휴가")), (Some(&12), None));
/// assert_eq!(articles.iter().count(), 1);
/// ```
#[derive(Clone)]
pub struct Map<K: Ord, V>(RedBlackTreeMapSync<K, V>);

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.size()
    }

    /// Tells that there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// The keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// Sets `key`.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert_mut(key, value);
    }

    /// Removes `key`. Returns true if it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove_mut(key)
    }
}

impl<K: Ord, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(RedBlackTreeMapSync::new_sync())
    }
}

impl<K: Ord, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter()).finish()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<K: Ord + Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter())
    }
}

impl<'de, K, V> Deserialize<'de> for Map<K, V>
where
    K: Ord + Clone + Deserialize<'de>,
    V: Clone + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = std::collections::BTreeMap::deserialize(deserializer)?;
        Ok(map.into_iter().collect())
    }
}

/// A map that `#[reduce(merge)]` can merge into.
#[diagnostic::on_unimplemented(
    message = "`#[reduce(merge)]` needs a map: `Map<K, V>` or `BTreeMap<K, V>`, and `{Self}` is neither"
)]
pub trait MapLike {
    /// The keys. Keys that compare equal have to be stored as equal bytes, because a log tells them apart by those. Of keys
    /// that are not (a text that is compared without its case) one would be there twice when the log is read. Debug builds
    /// stop at one.
    type Key: Ord + Storable;
    /// The values.
    type Value: Clone + Send + Sync + 'static;

    /// Sets `key`.
    fn insert_entry(&mut self, key: Self::Key, value: Self::Value);

    /// Removes `key`, if it is there.
    fn remove_entry(&mut self, key: &Self::Key);
}

impl<K, V> MapLike for BTreeMap<K, V>
where
    K: Ord + Storable,
    V: Clone + Send + Sync + 'static,
{
    type Key = K;
    type Value = V;

    fn insert_entry(&mut self, key: K, value: V) {
        if let Some((before, _)) = self.get_key_value(&key) {
            debug_assert!(is_same(before, &key), "{EQUAL_KEYS}");
        }
        self.insert(key, value);
    }

    fn remove_entry(&mut self, key: &K) {
        self.remove(key);
    }
}

impl<K, V> MapLike for Map<K, V>
where
    K: Ord + Storable,
    V: Clone + Send + Sync + 'static,
{
    type Key = K;
    type Value = V;

    fn insert_entry(&mut self, key: K, value: V) {
        if let Some((before, _)) = self.0.get_key_value(&key) {
            debug_assert!(is_same(before, &key), "{EQUAL_KEYS}");
        }
        self.insert(key, value);
    }

    fn remove_entry(&mut self, key: &K) {
        self.remove(key);
    }
}

/// The fault of keys that compare equal and are stored as different bytes.
pub(crate) const EQUAL_KEYS: &str =
    "keys of a map that compare equal are not stored as equal bytes";

/// Tells that two keys are stored as equal bytes.
pub(crate) fn is_same<K: Serialize>(one: &K, other: &K) -> bool {
    let [one, other] = [one, other].map(|key| Stored::encode(key).ok());
    one == other
}

/// An operation on a map.
///
/// ```
/// use hanok_state::{Grow, Map, MapChange};
///
/// let mut map: Map<u8, u8> = [(1, 1), (2, 2)].into_iter().collect();
/// map.grow(MapChange::Several(vec![MapChange::Merge(vec![(3, 3)]), MapChange::Remove(vec![1])]))?;
/// assert_eq!(map, [(2, 2), (3, 3)].into_iter().collect());
/// # Ok::<(), hanok_core::FoldError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum MapChange<K, V> {
    /// Sets keys.
    Merge(Vec<(K, V)>),
    /// Removes keys.
    Remove(Vec<K>),
    /// Several operations, in order.
    Several(Vec<Self>),
}

impl<K: Serialize, V: Serialize> MapChange<K, V> {
    pub(crate) fn store(&self) -> Result<Vec<Change>, StoredError> {
        Ok(match self {
            Self::Merge(entries) => vec![Change::Merge(
                entries
                    .iter()
                    .map(|(key, value)| Ok((Stored::encode(key)?, Stored::encode(value)?)))
                    .collect::<Result<_, StoredError>>()?,
            )],
            Self::Remove(keys) => {
                vec![Change::RemoveKeys(keys.iter().map(Stored::encode).collect::<Result<_, _>>()?)]
            }
            Self::Several(several) => {
                let parts: Result<Vec<_>, _> = several.iter().map(Self::store).collect();
                parts?.concat()
            }
        })
    }
}

impl<K: Ord + Clone + Serialize, V: Clone + Serialize> Grow for Map<K, V> {
    type Change = MapChange<K, V>;

    fn grow(&mut self, change: MapChange<K, V>) -> Result<(), FoldError> {
        match change {
            MapChange::Merge(entries) => {
                entries.into_iter().for_each(|(key, value)| self.insert(key, value));
            }
            MapChange::Remove(keys) => keys.iter().for_each(|key| {
                self.remove(key);
            }),
            MapChange::Several(several) => {
                several.into_iter().try_for_each(|change| self.grow(change))?;
            }
        }
        Ok(())
    }

    fn store(change: &MapChange<K, V>) -> Result<Vec<Change>, StoredError> {
        change.store()
    }
}
