//! A passage as the stores that last keep it.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{document::Passage, error::BoxError};

/// All of a passage but its vector.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    id: Cow<'a, str>,
    document: Cow<'a, str>,
    source: Cow<'a, str>,
    heading: Cow<'a, str>,
    text: Cow<'a, str>,
    bytes: Range<usize>,
    chars: Range<usize>,
    ordinal: usize,
    page: Option<usize>,
    metadata: Cow<'a, BTreeMap<String, String>>,
}

/// `passage` as JSON.
///
/// # Errors
///
/// None that a passage of strings and numbers could cause.
pub fn encode(passage: &Passage) -> Result<Vec<u8>, BoxError> {
    Ok(serde_json::to_vec(&Kept::of(passage))?)
}

/// The passage that [`encode`] made `kept` of, without a vector.
///
/// # Errors
///
/// `kept` is none.
pub fn decode(kept: &[u8]) -> Result<Passage, BoxError> {
    Ok(serde_json::from_slice::<Kept<'_>>(kept)?.into())
}

impl<'a> Kept<'a> {
    fn of(passage: &'a Passage) -> Self {
        Self {
            id: Cow::Borrowed(&passage.id),
            document: Cow::Borrowed(&passage.document),
            source: Cow::Borrowed(&passage.source),
            heading: Cow::Borrowed(&passage.heading),
            text: Cow::Borrowed(&passage.text),
            bytes: passage.bytes.clone(),
            chars: passage.chars.clone(),
            ordinal: passage.ordinal,
            page: passage.page,
            metadata: Cow::Borrowed(&passage.metadata),
        }
    }
}

impl From<Kept<'_>> for Passage {
    fn from(kept: Kept<'_>) -> Self {
        Self {
            id: kept.id.into_owned(),
            document: kept.document.into_owned(),
            source: kept.source.into_owned(),
            heading: kept.heading.into_owned(),
            text: kept.text.into_owned(),
            bytes: kept.bytes,
            chars: kept.chars,
            ordinal: kept.ordinal,
            page: kept.page,
            metadata: kept.metadata.into_owned(),
            vector: None,
        }
    }
}
