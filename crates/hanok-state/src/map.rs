//! A map that shares its structure.

use std::{borrow::Borrow, fmt};

use hanok_core::{Change, FoldError, StoredError};
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use crate::{
    Grow, MapChange, MapLike,
    collection::{EQUAL_KEYS, is_same},
};

/// A map, sorted by its keys, whose clones share what they have in common: a clone costs a pointer, an insert the
/// logarithm of the length.
#[derive(Clone)]
pub struct Map<K: Ord, V>(RedBlackTreeMapSync<K, V>);

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.size()
    }

    /// Whether there are none.
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

    /// Keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// Sets `key`.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert_mut(key, value);
    }

    /// Removes `key`; says whether it was there.
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

impl<K, V> MapLike for Map<K, V>
where
    K: Ord + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    V: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
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
