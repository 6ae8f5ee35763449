//! A stored value, written again in any form of serde's: as JSON for clients.

use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap, SerializeSeq},
};

use super::{
    error::{DEEPEST, StoredError},
    msgpack::{Head, Reader},
    value::Stored,
};

/// The value as it was written. In a form for people, such as JSON, bytes are a text of hexadecimal digits, and a key that is no
/// text is a text that holds its JSON.
///
/// ```
/// use hanok_core::Stored;
///
/// let stored = Stored::encode(&(1, "가", [true]))?;
/// assert_eq!(serde_json::to_string(&stored)?, r#"[1,"가",[true]]"#);
/// assert_eq!(Stored::encode(&stored)?, stored);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part { bytes: self.as_bytes(), depth: 0 }.serialize(serializer)
    }
}

/// One value within a stored one, and how deep it stands there.
struct Part<'a> {
    bytes: &'a [u8],
    depth: usize,
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.depth > DEEPEST {
            return Err(S::Error::custom(StoredError::TooDeep { deepest: DEEPEST }));
        }
        let mut reader = Reader::new(self.bytes);
        match reader.head().map_err(S::Error::custom)? {
            Head::Nil => to.serialize_none(),
            Head::Bool(value) => to.serialize_bool(value),
            Head::Uint(value) => to.serialize_u64(value),
            Head::Int(value) => to.serialize_i64(value),
            Head::F32(value) => to.serialize_f32(value),
            Head::F64(value) => to.serialize_f64(value),
            Head::Str(len) => {
                let text = reader.take(len).map_err(S::Error::custom)?;
                to.serialize_str(&String::from_utf8_lossy(text))
            }
            Head::Bin(len) | Head::Ext(len) => {
                let bytes = reader.take(len).map_err(S::Error::custom)?;
                if to.is_human_readable() {
                    return to.collect_str(&Hexadecimal(bytes));
                }
                to.serialize_bytes(bytes)
            }
            Head::Array(len) => {
                let mut items = to.serialize_seq(Some(len))?;
                for _ in 0..len {
                    items.serialize_element(&self.next::<S>(&mut reader)?)?;
                }
                items.end()
            }
            Head::Map(len) => {
                let is_for_people = to.is_human_readable();
                let mut entries = to.serialize_map(Some(len))?;
                for _ in 0..len {
                    let (key, value) = (self.next::<S>(&mut reader)?, self.next::<S>(&mut reader)?);
                    match is_for_people {
                        true => entries.serialize_entry(&key.text(), &value)?,
                        false => entries.serialize_entry(&key, &value)?,
                    }
                }
                entries.end()
            }
        }
    }
}

impl<'a> Part<'a> {
    /// The next of the values that this one holds.
    fn next<S: Serializer>(&self, reader: &mut Reader<'a>) -> Result<Part<'a>, S::Error> {
        let bytes = reader.value().map_err(S::Error::custom)?;
        Ok(Part { bytes, depth: self.depth + 1 })
    }

    /// The value as the key of a map for people.
    fn text(&self) -> String {
        let stored = Stored::trusted(self.bytes.to_vec());
        stored.as_str().map(str::to_owned).unwrap_or_else(|_| stored.to_json())
    }
}

struct Hexadecimal<'a>(&'a [u8]);

impl std::fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_was_stored_is_written_as_it_was_and_keys_are_texts_for_people() {
        let map = BTreeMap::from([((1, true), "가"), ((2, false), "나")]);
        let stored = Stored::encode(&(map, Option::<u8>::None, 1.5, -3)).unwrap();
        let json = serde_json::to_string(&stored).unwrap();
        assert_eq!(json, r#"[{"[1,true]":"가","[2,false]":"나"},null,1.5,-3]"#);
        assert_eq!(Stored::encode(&stored).unwrap(), stored);
        let bytes = Stored::from_bytes(vec![0xc4, 2, 0x0f, 0xa0]).unwrap();
        assert_eq!(serde_json::to_string(&bytes).unwrap(), r#""0fa0""#);
    }

    #[test]
    fn what_is_too_deep_is_an_error() {
        let deep = Stored::trusted([vec![0x91; 100_000], vec![0xc0]].concat());
        let error = serde_json::to_string(&deep).unwrap_err();
        assert!(error.to_string().contains("nested deeper than 128"), "{error}");
    }
}
