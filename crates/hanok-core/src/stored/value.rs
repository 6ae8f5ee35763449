//! One stored value.

use std::{cell::Cell, fmt};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    encode::Encoder,
    error::{DEEPEST, StoredError},
    msgpack::{Reader, Writer},
    shared,
};
use crate::panicked::Panicked;

/// One value as it is stored: msgpack with field names and sorted map keys, so that equal values are equal bytes.
///
/// Clones share their bytes. `Display` shows the value as JSON, for people.
///
/// ```
/// use std::collections::HashMap;
/// use hanok_core::Stored;
///
/// let ages = HashMap::from([("철수", 31), ("영희", 29)]);
/// let stored = Stored::encode(&ages)?;
/// assert_eq!(stored.to_string(), r#"{"영희":29,"철수":31}"#);
/// assert_eq!(stored.decode::<HashMap<String, u32>>()?["철수"], 31);
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stored(Bytes);

/// The bytes that a thread keeps for the next value.
const MOST_ROOM: usize = 1024 * 1024;

thread_local! {
    /// Room for a value before it is known how large it is. A value whose parts are stored while it is finds none.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Stored {
    /// Stores `value`.
    ///
    /// # Errors
    ///
    /// [`StoredError::Encode`] when the value's `Serialize` fails, [`StoredError::Panicked`] when it panics.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, StoredError> {
        let _held = shared::Hold::new();
        let mut out = ROOM.take();
        out.clear();
        let mut encoder = Encoder::new(&mut out);
        Panicked::catch(|| value.serialize(&mut encoder)).map_err(StoredError::panicked::<T>)??;
        if let Some(shared) = encoder.into_whole() {
            ROOM.set(out);
            return Ok(Self(shared));
        }
        if out.capacity() > MOST_ROOM {
            out.shrink_to_fit();
            return Ok(Self(out.into()));
        }
        // It is copied to where it takes no more room than it needs.
        let stored = Self(Bytes::copy_from_slice(&out));
        ROOM.set(out);
        Ok(stored)
    }

    /// Takes `bytes` as a value that is msgpack already.
    ///
    /// # Errors
    ///
    /// [`StoredError::Malformed`] when `bytes` are not exactly one value.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self, StoredError> {
        let bytes = bytes.into();
        let mut reader = Reader::new(&bytes);
        reader.value()?;
        if !reader.is_at_end() {
            return Err(StoredError::Malformed { at: reader.at(), expected: "the end" });
        }
        Ok(Self(bytes))
    }

    /// For writers of this crate, whose output is one value by construction.
    pub(crate) fn trusted(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    /// Nothing, as a value.
    pub fn nil() -> Self {
        Self(Bytes::from_static(&[0xc0]))
    }

    /// The value as a `T`.
    ///
    /// # Errors
    ///
    /// [`StoredError::Decode`] when it has another shape, or is nested deeper than 128.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, StoredError> {
        let mut deserializer = rmp_serde::Deserializer::from_read_ref(&self.0[..]);
        deserializer.set_max_depth(DEEPEST);
        let read = Panicked::catch(|| T::deserialize(&mut deserializer));
        let read = read.map_err(StoredError::panicked::<T>)?;
        read.map_err(|error| StoredError::decode::<T>(self, error))
    }

    /// The number of bytes of the value.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// The value's msgpack.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The parts of a list.
    ///
    /// # Errors
    ///
    /// [`StoredError::Malformed`] when the value is no list.
    pub fn to_items(&self) -> Result<Vec<Self>, StoredError> {
        let mut reader = Reader::new(&self.0);
        (0..reader.array()?).map(|_| self.part(&mut reader)).collect()
    }

    /// The parts of a map, as stored.
    ///
    /// # Errors
    ///
    /// [`StoredError::Malformed`] when the value is no map.
    pub fn to_entries(&self) -> Result<Vec<(Self, Self)>, StoredError> {
        let mut reader = Reader::new(&self.0);
        (0..reader.map()?).map(|_| Ok((self.part(&mut reader)?, self.part(&mut reader)?))).collect()
    }

    /// The text of a stored text.
    ///
    /// # Errors
    ///
    /// [`StoredError::Malformed`] when the value is no text.
    pub fn as_str(&self) -> Result<&str, StoredError> {
        Reader::new(&self.0).str()
    }

    /// A list of `items`.
    pub fn list<'a>(items: impl ExactSizeIterator<Item = &'a Self>) -> Self {
        let mut writer = Writer::new();
        writer.array(items.len());
        items.for_each(|item| {
            writer.raw(&item.0);
        });
        Self::trusted(writer.into_bytes())
    }

    /// A map of `entries`, in the order given.
    pub fn map<'a>(entries: impl ExactSizeIterator<Item = (&'a Self, &'a Self)>) -> Self {
        let mut writer = Writer::new();
        writer.map(entries.len());
        entries.for_each(|(key, value)| {
            writer.raw(&key.0).raw(&value.0);
        });
        Self::trusted(writer.into_bytes())
    }

    /// The next value of `reader`, which reads this value; shares its bytes.
    fn part(&self, reader: &mut Reader<'_>) -> Result<Self, StoredError> {
        let start = reader.at();
        reader.value()?;
        Ok(Self(self.0.slice(start..reader.at())))
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({self})")
    }
}
