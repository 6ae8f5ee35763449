//! An update apart from the type of its state.

use std::{fmt, sync::Arc};

use hanok_core::{Changes, Fields, Reader, StoredError, StoredSchema, StoredState, Writer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::state::{State, StateUpdate};

/// An update of some state, apart from its type: what a tool writes into the state of whatever agent calls it. It holds the
/// schema that it was written in, so another build can read it.
///
/// ```
/// use hanok_state::{State, StateWrite};
///
/// #[derive(State, Clone, Default, Debug)]
/// struct Desk {
///     #[reduce(append)]
///     orders: Vec<String>,
///     urgent: bool,
/// }
///
/// let write = StateWrite::of(&Desk::update().push_orders("17"))?;
/// assert_eq!(write.fields().collect::<Vec<_>>(), ["orders"]);
///
/// let mut desk = Desk::default();
/// desk.reduce(vec![("tools".into(), write.read(&desk, &[], &"tools".into())?)])?;
/// assert_eq!(desk.orders, ["17"]);
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct StateWrite {
    schema: StoredSchema,
    changes: Changes,
}

/// A write that a state cannot take.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UnfitWrite {
    /// The state has no such field.
    #[error("the state has no field `{field}`")]
    NoField {
        /// The field.
        field: String,
    },
    /// The write was made in another schema, and this build cannot translate it: the state that it was made on is not stored
    /// any more, or the translation is not certain.
    #[error(
        "the write was made in another schema of the state, from which this build cannot translate it; make it again"
    )]
    OtherSchema,
    /// A value has another shape than its field.
    #[error("the write does not fit the state")]
    Stored(#[from] StoredError),
    /// A value does not fit the rule of its field.
    #[error("the write does not fit the state")]
    Refused(#[from] crate::error::ReduceError),
}

impl StateWrite {
    /// The write that `update` is.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    pub fn of<U: StateUpdate>(update: &U) -> Result<Self, StoredError> {
        let schema = <U::State as State>::SCHEMA.to_stored();
        Ok(Self { schema, changes: update.to_changes()? })
    }

    /// The names of the fields that are written.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.changes.0.iter().map(|(name, _)| name.as_ref())
    }

    /// True when nothing is written.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The write as an update of `state`, made by `node`.
    ///
    /// A write of an earlier build is translated as [`Schema::translate`](crate::Schema::translate) does. This needs the state that
    /// the write was made on: `earlier` are the state's earlier stored forms, oldest first. A node has them from
    /// `Context::earlier_states`.
    ///
    /// # Errors
    ///
    /// [`UnfitWrite`] when the state does not have these fields, or this build cannot read them.
    pub fn read<S: State>(
        &self,
        state: &S,
        earlier: &[StoredState],
        node: &Arc<str>,
    ) -> Result<S::Update, UnfitWrite> {
        let schema = state.schema();
        let differences = schema.compare(&self.schema, &Fields::default());
        let changes = match differences {
            Ok(differences) if !differences.rewritten => self.changes.clone(),
            _ => {
                let mut earlier = earlier.iter().rev();
                let made_on = earlier.find(|state| state.schema.covers(&self.schema));
                let translated = made_on.and_then(|state| {
                    schema.translate(&state.schema, &state.fields, &self.changes)
                });
                translated.ok_or(UnfitWrite::OtherSchema)?
            }
        };
        if let Some((field, _)) = schema.unknown_changes(&changes).0.into_iter().next() {
            return Err(UnfitWrite::NoField { field: field.into_owned() });
        }
        let mut update = S::Update::from_changes(&changes)?;
        state.bind(node, &mut update)?;
        Ok(update)
    }
}

impl fmt::Debug for StateWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StateWrite").field(&self.changes).finish()
    }
}

impl Serialize for StateWrite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut writer = Writer::new();
        self.schema.write(writer.array(2));
        self.changes.write(&mut writer);
        serializer.serialize_bytes(&writer.into_bytes())
    }
}

impl<'de> Deserialize<'de> for StateWrite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        let mut reader = Reader::new(&bytes);
        let mut read = || {
            let at = reader.at();
            if reader.array()? != 2 {
                return Err(StoredError::Malformed { at, expected: "the two parts of a write" });
            }
            let schema = StoredSchema::read(&mut reader)?;
            Ok(Self { schema, changes: Changes::read(&mut reader)? })
        };
        read().map_err(de::Error::custom)
    }
}

/// Reads bytes, which JSON has as a list of numbers.
struct Bytes;

impl<'de> de::Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a write")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
