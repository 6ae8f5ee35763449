//! Items of the store across threads, and what is done with them.

use std::{fmt, time::Duration};

use hanok_core::{ItemKey, Stored, Timestamp};
use serde::{Deserialize, Serialize};

use super::{error::StoreError, filter::FieldPath, terms::index_terms, vector::Vector};
use crate::Safety;

/// Names one write of an item. Later writes of an item have higher versions, and no version comes twice in a store, not even after
/// the item was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The version that has to be there for a write to be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is or is not there.
    #[default]
    Any,
    /// The item is not there, or has expired.
    Absent,
    /// The item is as this write left it.
    Version(Version),
}

impl Expect {
    /// Refuses a write of `key` that may not be made where `actual` is. Every store asks this within the batch's transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] when it may not.
    pub fn admit(self, key: &ItemKey, actual: Option<Version>) -> Result<(), StoreError> {
        let fits = match self {
            Self::Any => true,
            Self::Absent => actual.is_none(),
            Self::Version(version) => actual == Some(version),
        };
        match fits {
            true => Ok(()),
            false => Err(StoreError::Conflict { key: key.clone(), expected: self, actual }),
        }
    }
}

/// The time that an item lives after it was written, or read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ttl {
    /// As long as [`SharedStore::default_ttl`](crate::SharedStore::default_ttl) says; for ever where nothing is said.
    #[default]
    Default,
    /// For ever.
    Never,
    /// So long, in whole milliseconds. It begins again with each write, and with each read that refreshes.
    After(Duration),
}

impl Ttl {
    /// The time, where there is one, in whole milliseconds and no longer than can be stored anywhere.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Default | Self::Never => None,
            Self::After(time) => {
                let longest = i64::MAX.unsigned_abs();
                let millis = u64::try_from(time.as_millis()).unwrap_or(longest);
                Some(Duration::from_millis(millis.min(longest)))
            }
        }
    }
}

/// The texts of a value that a search by text finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Index {
    /// Every text in it.
    #[default]
    All,
    /// The texts at these places and below.
    Fields(Vec<FieldPath>),
    /// Nothing: it is listed, and found by filters alone.
    Off,
}

/// A value to put.
#[derive(Debug, Clone, PartialEq)]
pub struct Put {
    /// The value.
    pub value: Stored,
    /// The version that has to be there. Default: any.
    pub expect: Expect,
    /// The time that it lives. Default: the store's own.
    pub ttl: Ttl,
    /// The texts that a search finds. Default: every text in it.
    pub index: Index,
    /// Vectors of its meaning, for a search by meaning: one or several, such as one for each field. Default: none, and no
    /// search by meaning finds it.
    pub vectors: Vec<Vector>,
}

impl Put {
    /// Puts `value`, whatever is there.
    pub fn new(value: Stored) -> Self {
        let (expect, ttl, index, vectors) = Default::default();
        Self { value, expect, ttl, index, vectors }
    }

    /// The version that has to be there. Default: any.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// let first = Put::new(Stored::encode("Seoul")?).only_if(Expect::Absent);
    /// store.put(&key, first.clone(), now).await?;
    /// assert!(matches!(store.put(&key, first, now).await, Err(StoreError::Conflict { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn only_if(self, expect: Expect) -> Self {
        Self { expect, ..self }
    }

    /// Sets the time that it lives. Default: [`Ttl::Default`].
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// # use std::time::Duration;
    /// let put = Put::new(Stored::encode("Seoul")?).ttl(Ttl::After(Duration::from_secs(60)));
    /// store.put(&key, put, now).await?;
    /// assert!(store.get(&key, Timestamp(61_000)).await?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn ttl(self, ttl: Ttl) -> Self {
        Self { ttl, ..self }
    }

    /// Sets the texts that a search finds. Default: [`Index::All`].
    #[must_use]
    pub fn index(self, index: Index) -> Self {
        Self { index, ..self }
    }

    /// Adds a vector of what it means. Default: none.
    #[must_use]
    pub fn vector(mut self, vector: Vector) -> Self {
        self.vectors.push(vector);
        self
    }

    /// The texts that are indexed, in the order of the fields.
    pub fn texts(&self) -> Vec<String> {
        match &self.index {
            Index::All => FieldPath::default().texts(&self.value),
            Index::Fields(paths) => paths.iter().flat_map(|path| path.texts(&self.value)).collect(),
            Index::Off => Vec::new(),
        }
    }

    /// The terms by which a store's text index finds it, as often as they occur.
    pub fn terms(&self) -> Vec<String> {
        self.texts().iter().flat_map(|text| index_terms(text)).collect()
    }
}

/// An item, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its name.
    pub key: ItemKey,
    /// Its value.
    pub value: Stored,
    /// The write that left it so.
    pub version: Version,
    /// When it was first put.
    pub created: Timestamp,
    /// When it was last put.
    pub updated: Timestamp,
    /// The time that it lives after it was written or read; `None` for ever.
    pub ttl: Option<Duration>,
    /// From when on it is not there any more.
    pub expires: Option<Timestamp>,
}

impl Item {
    /// Checks whether it is there at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }
}

/// When an item of `ttl` expires that is written or refreshed at `now`.
pub(crate) fn expiry(ttl: Option<Duration>, now: Timestamp) -> Option<Timestamp> {
    ttl.map(|ttl| now.plus(ttl))
}

/// The effect of a read on the time to live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refresh {
    /// The time to live of what is read begins again.
    #[default]
    Yes,
    /// An item expires as if nobody had read it.
    No,
}

/// A read of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Which item.
    pub key: ItemKey,
    /// True if its time to live begins again.
    pub refresh: Refresh,
}

impl Read {
    /// A read of `key` that refreshes it.
    pub fn new(key: ItemKey) -> Self {
        Self { key, refresh: Refresh::Yes }
    }
}

/// A write of one item.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Puts it.
    Put(ItemKey, Put),
    /// Removes it, if what is expected is there.
    Remove(ItemKey, Expect),
}

impl Write {
    /// Which item.
    pub fn key(&self) -> &ItemKey {
        match self {
            Self::Put(key, _) | Self::Remove(key, _) => key,
        }
    }

    /// The version that has to be there.
    pub fn expect(&self) -> Expect {
        match self {
            Self::Put(_, put) => put.expect,
            Self::Remove(_, expect) => *expect,
        }
    }
}

/// Reads and writes that are made together: all of them, or none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// They see what was there before the batch.
    pub reads: Vec<Read>,
    /// Each is held to what was there before the batch. Of several of one item the last one counts.
    pub writes: Vec<Write>,
    /// The failure that the writes must survive. Default: the death of this process. A batch that removes an item survives
    /// the death of the machine in any case.
    pub safety: Safety,
}

impl Batch {
    /// Checks whether a write removes an item.
    pub fn removes(&self) -> bool {
        self.writes.iter().any(|write| matches!(write, Write::Remove(..)))
    }

    /// The failure that a store must make the writes survive before it answers: what [`safety`](Self::safety) says, or the
    /// death of the machine where a write removes an item.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant};
    /// let key = ItemKey::new(Tenant::default(), Labels::new(["runs"])?, "7")?;
    /// let put = Write::Put(key.clone(), Put::new(Stored::encode("queued")?));
    /// let mut batch = Batch { writes: vec![put], ..Batch::default() };
    /// assert_eq!(batch.required_safety(), Safety::Process);
    ///
    /// batch.writes.push(Write::Remove(key, Expect::Any));
    /// assert_eq!(batch.required_safety(), Safety::Machine);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn required_safety(&self) -> Safety {
        if self.removes() { Safety::Machine } else { self.safety }
    }
}

/// The change of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The version before the batch.
    pub before: Option<Version>,
    /// The version after the batch.
    pub after: Option<Version>,
}

/// The result of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batched {
    /// The item of each read.
    pub items: Vec<Option<Item>>,
    /// The change of each write.
    pub written: Vec<Written>,
}
