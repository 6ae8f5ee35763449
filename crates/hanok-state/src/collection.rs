//! What the rules ask of collections, and the operations that change what grows.

use std::collections::BTreeMap;

use hanok_core::{Change, FoldError, Stored, StoredError};
use serde::{Serialize, de::DeserializeOwned};

/// A list that `#[reduce(append)]` can grow.
#[diagnostic::on_unimplemented(
    message = "`#[reduce(append)]` needs a list: `List<T>` or `Vec<T>`, and `{Self}` is neither"
)]
pub trait ListLike {
    /// What the list holds.
    type Item: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Puts `items` at the end.
    fn extend_items(&mut self, items: Vec<Self::Item>);
}

/// A map that `#[reduce(merge)]` can merge into.
#[diagnostic::on_unimplemented(
    message = "`#[reduce(merge)]` needs a map: `Map<K, V>` or `BTreeMap<K, V>`, and `{Self}` is neither"
)]
pub trait MapLike {
    /// The keys. Keys that compare equal have to be stored as equal bytes: a log tells them apart by those, so of two that do
    /// not (a text that is compared without its case) one would be there twice when it is read. Debug builds stop at one.
    type Key: Ord + Clone + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The values.
    type Value: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Sets `key`.
    fn insert_entry(&mut self, key: Self::Key, value: Self::Value);

    /// Removes `key`, if it is there.
    fn remove_entry(&mut self, key: &Self::Key);
}

impl<T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> ListLike for Vec<T> {
    type Item = T;

    fn extend_items(&mut self, items: Vec<T>) {
        self.extend(items);
    }
}

impl<K, V> MapLike for BTreeMap<K, V>
where
    K: Ord + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    V: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
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

/// What is wrong with keys that compare equal and are stored as other bytes.
pub(crate) const EQUAL_KEYS: &str =
    "keys of a map that compare equal are not stored as equal bytes";

/// Whether two keys are stored as equal bytes.
pub(crate) fn is_same<K: Serialize>(one: &K, other: &K) -> bool {
    let [one, other] = [one, other].map(|key| Stored::encode(key).ok());
    one == other
}

/// A value that grows and is changed by operations, for `#[reduce(operations = …)]`.
///
/// ```
/// use hanok_state::{List, ListChange, State};
///
/// /// Keeps the newest three.
/// fn newest(list: &List<u32>, item: u32) -> ListChange<u32> {
///     let remove = usize::from(list.len() >= 3);
///     ListChange::Several(vec![
///         ListChange::Splice { at: 0, remove, insert: vec![] },
///         ListChange::Append(vec![item]),
///     ])
/// }
///
/// #[derive(State, Clone, Default)]
/// struct Recent {
///     #[reduce(operations = newest, update = u32)]
///     items: List<u32>,
/// }
///
/// let mut state = Recent::default();
/// let writes = (1..=5).map(|n| ("node".into(), Recent::update().items(n))).collect();
/// state.reduce(writes)?;
/// assert_eq!(state.items.iter().copied().collect::<Vec<_>>(), [3, 4, 5]);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`#[reduce(operations = …)]` needs what grows: `List`, `Map` or `Messages`, and `{Self}` is none of them"
)]
pub trait Grow {
    /// An operation on it.
    type Change;

    /// Does `change`.
    ///
    /// # Errors
    ///
    /// [`FoldError`] when it does not fit the value.
    fn grow(&mut self, change: Self::Change) -> Result<(), FoldError>;

    /// The operation as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when an item's `Serialize` fails.
    fn store(change: &Self::Change) -> Result<Vec<Change>, StoredError>;
}

/// An operation on a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListChange<T> {
    /// Puts items at the end.
    Append(Vec<T>),
    /// `remove` items from index `at` on give way to `insert`.
    Splice {
        /// The first index.
        at: usize,
        /// How many items go.
        remove: usize,
        /// The items that come.
        insert: Vec<T>,
    },
    /// Several operations, in order.
    Several(Vec<Self>),
}

/// An operation on a map.
#[derive(Debug, Clone, PartialEq)]
pub enum MapChange<K, V> {
    /// Sets keys.
    Merge(Vec<(K, V)>),
    /// Removes keys.
    Remove(Vec<K>),
    /// Several operations, in order.
    Several(Vec<Self>),
}

impl<T: Serialize> ListChange<T> {
    pub(crate) fn store(&self) -> Result<Vec<Change>, StoredError> {
        let all = |items: &[T]| items.iter().map(Stored::encode).collect::<Result<_, _>>();
        Ok(match self {
            Self::Append(items) => vec![Change::Append(all(items)?)],
            Self::Splice { at, remove, insert } => vec![Change::Splice {
                at: *at as u64,
                remove: *remove as u64,
                insert: all(insert)?,
            }],
            Self::Several(several) => {
                let parts: Result<Vec<_>, _> = several.iter().map(Self::store).collect();
                parts?.concat()
            }
        })
    }
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
