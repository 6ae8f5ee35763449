//! JSON that is written as it is in every format.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::{Json, Sorted};

/// Writes a member of type [`Json`] as it is in every format: `#[serde(with = "hanok_state::PlainJson")]`.
///
/// A log has a [`Json`] as text. An enum that serde reads from a buffer (one that is tagged within, adjacently or not at all, or anything
/// flattened) does not know of which format that was, and would have the text for the value.
///
/// ```
/// use hanok_state::{Json, PlainJson};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(tag = "event")]
/// enum Event {
///     Found {
///         #[serde(with = "PlainJson")]
///         value: Json,
///     },
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PlainJson;

impl PlainJson {
    /// Writes `json` as its format writes maps, lists and numbers, with the keys of objects sorted.
    ///
    /// # Errors
    ///
    /// The serializer's, and one for a number that is larger than any of 64 bits.
    pub fn serialize<S: Serializer>(json: &Json, serializer: S) -> Result<S::Ok, S::Error> {
        Sorted(&json.0).serialize(serializer)
    }

    /// Reads what [`serialize`](Self::serialize) writes.
    ///
    /// # Errors
    ///
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Value::deserialize(deserializer).map(Json)
    }
}
