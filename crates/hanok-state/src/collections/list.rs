//! A list that shares its structure.

use std::fmt;

use hanok_core::{Change, FoldError, Stored, StoredError};
use rpds::VectorSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::grow::Grow;

/// A list whose clones share their common part. A clone costs a pointer, a push the logarithm of the length.
///
/// ```
/// use hanok_state::List;
///
/// let short: List<u32> = [1, 2].into_iter().collect();
/// let mut long = short.clone();
/// long.push(3);
/// assert_eq!((short.len(), long.len()), (2, 3));
/// assert_eq!((long.get(0), long.last()), (Some(&1), Some(&3)));
/// assert_eq!(long.iter().rev().copied().collect::<Vec<_>>(), [3, 2, 1]);
/// ```
#[derive(Clone)]
pub struct List<T>(VectorSync<T>);

impl<T: Clone> List<T> {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells that there are no items.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item at `index`.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.0.get(index)
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.0.last()
    }

    /// The items, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.0.iter()
    }

    /// Puts an item at the end.
    pub fn push(&mut self, item: T) {
        self.0.push_back_mut(item);
    }

    fn splice(&mut self, at: usize, remove: usize, insert: Vec<T>) -> Result<(), FoldError> {
        let len = self.len();
        let end = at.checked_add(remove).filter(|end| *end <= len).ok_or(FoldError::Splice {
            at: at as u64,
            remove: remove as u64,
            len,
        })?;
        let before = self.0.iter().take(at).cloned();
        let after = self.0.iter().skip(end).cloned();
        self.0 = before.chain(insert).chain(after).collect();
        Ok(())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(VectorSync::new_sync())
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

impl<T: Clone> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T: Clone> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|items| items.into_iter().collect())
    }
}

/// A list that `#[reduce(append)]` can grow.
#[diagnostic::on_unimplemented(
    message = "`#[reduce(append)]` needs a list: `List<T>` or `Vec<T>`, and `{Self}` is neither"
)]
pub trait ListLike {
    /// The item of the list.
    type Item: Clone + Send + Sync + 'static;

    /// Puts `items` at the end.
    fn extend_items(&mut self, items: Vec<Self::Item>);
}

impl<T: Clone + Send + Sync + 'static> ListLike for Vec<T> {
    type Item = T;

    fn extend_items(&mut self, items: Vec<T>) {
        self.extend(items);
    }
}

impl<T: Clone + Send + Sync + 'static> ListLike for List<T> {
    type Item = T;

    fn extend_items(&mut self, items: Vec<T>) {
        self.0.extend(items);
    }
}

/// An operation on a list.
///
/// ```
/// use hanok_state::{Grow, List, ListChange};
///
/// let mut list: List<u32> = [1, 2, 3].into_iter().collect();
/// list.grow(ListChange::Splice { at: 0, remove: 2, insert: vec![9] })?;
/// list.grow(ListChange::Append(vec![4]))?;
/// assert_eq!(list, [9, 3, 4].into_iter().collect());
/// assert!(list.grow(ListChange::Splice { at: 2, remove: 5, insert: vec![] }).is_err());
/// # Ok::<(), hanok_core::FoldError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ListChange<T> {
    /// Puts items at the end.
    Append(Vec<T>),
    /// Replaces `remove` items from index `at` on by `insert`.
    Splice {
        /// The first index.
        at: usize,
        /// The number of items that are removed.
        remove: usize,
        /// The items that are inserted.
        insert: Vec<T>,
    },
    /// Several operations, in order.
    Several(Vec<Self>),
}

/// The default changes nothing, for a reducer that leaves the list unchanged.
impl<I> Default for ListChange<I> {
    fn default() -> Self {
        Self::Append(Vec::new())
    }
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

impl<T: Clone + Serialize> Grow for List<T> {
    type Change = ListChange<T>;

    fn grow(&mut self, change: ListChange<T>) -> Result<(), FoldError> {
        match change {
            ListChange::Append(items) => {
                self.0.extend(items);
                Ok(())
            }
            ListChange::Splice { at, remove, insert } => self.splice(at, remove, insert),
            ListChange::Several(several) => {
                several.into_iter().try_for_each(|change| self.grow(change))
            }
        }
    }

    fn store(change: &ListChange<T>) -> Result<Vec<Change>, StoredError> {
        change.store()
    }
}
