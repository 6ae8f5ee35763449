//! Errors of the store across threads.

use std::fmt;

use hanok_core::{BoxError, ItemKey};
use thiserror::Error;

use super::item::{Expect, Version};
use crate::CheckpointError;

/// An error of the store across threads: chosen by what the caller does next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Someone else wrote the item first. Read it again; nothing of the batch was stored.
    #[error("item `{key}` {}, not {}", Shown(*actual), Expected(*expected))]
    Conflict {
        /// The item.
        key: ItemKey,
        /// The expectation of the write.
        expected: Expect,
        /// The version of the item: none when it is not there.
        actual: Option<Version>,
    },
    /// The vector has another length than the tenant's others: another model made it. Nothing of the batch was stored.
    #[error("the vectors stored have {expected} numbers, and this one {actual}")]
    Dimensions {
        /// The length of those that are stored.
        expected: usize,
        /// The length of the one that was given.
        actual: usize,
    },
    /// The vector is of another model than the tenant's others: the two say nothing about each other. Nothing of the batch
    /// was stored.
    #[error("the vectors stored are of the model `{expected}`, and this one is of `{actual}`")]
    Model {
        /// The model of those that are stored.
        expected: String,
        /// The model of the one that was given.
        actual: String,
    },
    /// The texts could not be made into vectors. Nothing of the batch was stored.
    #[error("the texts could not be made into vectors")]
    Embedding(#[source] BoxError),
    /// The text of a search is longer than any store searches for. Nothing was searched.
    #[error("a search has a text of at most {most} bytes, and this one of {bytes}")]
    LongText {
        /// The length of the text.
        bytes: usize,
        /// The longest one.
        most: usize,
    },
    /// The place where it is stored did not do it, for the reason it says.
    #[error("{0}")]
    Storage(#[from] CheckpointError),
}

hanok_core::error_codes! {
    StoreError {
        "HNK-121" 409: Self::Conflict { .. },
        "HNK-122" 500: Self::Dimensions { .. },
        "HNK-123" 500: Self::Model { .. },
        "HNK-124" 503: Self::Embedding(_),
        "HNK-125" 422: Self::LongText { .. },
    }
    of { Self::Storage(error) => error }
}

struct Shown(Option<Version>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "has version {version}"),
            None => f.write_str("is not there"),
        }
    }
}

struct Expected(Expect);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expect::Any => f.write_str("anything"),
            Expect::Absent => f.write_str("absent"),
            Expect::Version(version) => write!(f, "version {version}"),
        }
    }
}
