//! The values, keys and searches of the claims.

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Batch, Batched, Expect, Hit, Put, Search, SharedStore, Store, StoreError, Vector, Version,
    Write,
};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use serde::Serialize;

use crate::block_on;

pub(crate) const NOW: Timestamp = Timestamp(1_000_000);
pub(crate) const ALL: usize = usize::MAX;

/// A value as JSON has them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Json {
    Nil(()),
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

pub(crate) fn map<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(crate) fn stored(value: impl Into<Json>) -> Stored {
    Stored::encode(&value.into()).unwrap()
}

pub(crate) fn put(value: impl Into<Json>) -> Put {
    Put::new(stored(value))
}

pub(crate) fn tenant(name: &str) -> Tenant {
    Tenant::new(name).unwrap()
}

pub(crate) fn labels(labels: &[&str]) -> Labels {
    Labels::new(labels).unwrap()
}

/// The item `name` of tenant `t` in the namespace `path`, whose labels are parted by slashes.
pub(crate) fn key(path: &str, name: &str) -> ItemKey {
    let path: Vec<_> = path.split('/').collect();
    ItemKey::new(tenant("t"), labels(&path), name).unwrap()
}

/// A search in the namespace `path` of tenant `t`, for all there is.
pub(crate) fn within(path: &str) -> Search {
    let path: Vec<_> = path.split('/').collect();
    Search::within(tenant("t"), labels(&path)).limit(ALL)
}

/// A search for everything of tenant `t`.
pub(crate) fn everywhere() -> Search {
    Search::all(tenant("t")).limit(ALL)
}

pub(crate) fn vector(numbers: &[f32]) -> Vector {
    Vector::new(numbers).unwrap()
}

/// An error in few words, to compare with.
pub(crate) fn in_words(error: StoreError) -> String {
    match error {
        StoreError::Conflict { key, actual, .. } => {
            format!("conflict {} {:?}", key.key(), actual.is_some())
        }
        StoreError::Dimensions { expected, actual } => format!("dimensions {expected} {actual}"),
        StoreError::Model { expected, actual } => format!("model {expected} {actual}"),
        error => error.to_string(),
    }
}

/// A write of `put` to `key`.
pub(crate) fn write(key: &ItemKey, put: Put) -> Write {
    Write::Put(key.clone(), put)
}

/// A write that removes the item of `key`.
pub(crate) fn removal(key: &ItemKey, expect: Expect) -> Write {
    Write::Remove(key.clone(), expect)
}

/// A store, and what is done with it at [`NOW`].
pub(crate) struct At<'a>(pub(crate) &'a SharedStore, pub(crate) Timestamp);

impl At<'_> {
    pub(crate) fn batch(&self, batch: Batch) -> Result<Batched, String> {
        block_on(self.0.batch(batch, self.1)).map_err(in_words)
    }

    pub(crate) fn write(&self, writes: Vec<Write>) -> Result<Batched, String> {
        self.batch(Batch { writes, ..Batch::default() })
    }

    pub(crate) fn put(&self, key: &ItemKey, put: Put) -> Result<Version, String> {
        block_on(self.0.put(key, put, self.1)).map_err(in_words)
    }

    /// The value of `key`, as it is shown.
    pub(crate) fn shown(&self, key: &ItemKey) -> Option<String> {
        let item = block_on(self.0.get(key, self.1)).unwrap();
        item.map(|item| item.value.to_string())
    }

    pub(crate) fn hits(&self, search: &Search) -> Vec<Hit> {
        block_on(self.0.search(search, self.1)).unwrap().hits
    }

    /// The keys of what is found.
    pub(crate) fn keys(&self, search: &Search) -> Vec<String> {
        self.hits(search).iter().map(|hit| hit.item.key.key().to_owned()).collect()
    }
}
