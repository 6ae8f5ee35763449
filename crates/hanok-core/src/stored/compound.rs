//! Lists, maps and structs while they are encoded.

use std::ops::Range;

use rmp::encode;
use serde::ser::{self, Serialize};

use super::{
    encode::{Encoder, wrote},
    error::StoredError,
    msgpack::{Reader, length},
};

/// A list. The length is written last when it was not known.
pub(crate) struct Seq<'b> {
    out: &'b mut Vec<u8>,
    announced: Option<usize>,
    start: usize,
    len: usize,
    depth: usize,
}

impl<'b> Seq<'b> {
    pub(super) fn new(
        out: &'b mut Vec<u8>,
        announced: Option<usize>,
        depth: usize,
    ) -> Result<Self, StoredError> {
        if let Some(len) = announced {
            wrote(encode::write_array_len(out, length(len)))?;
        }
        let start = out.len();
        Ok(Self { out, announced, start, len: 0, depth })
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.len += 1;
        value.serialize(&mut Encoder::part_of(self.out, self.depth))
    }

    fn finish(self) -> Result<(), StoredError> {
        match self.announced {
            Some(len) if len == self.len => Ok(()),
            Some(len) => Err(StoredError::Encode {
                reason: format!("a sequence said {len} items and had {}", self.len),
            }),
            None => {
                let items = self.out.split_off(self.start);
                wrote(encode::write_array_len(self.out, length(self.len)))?;
                self.out.extend(items);
                Ok(())
            }
        }
    }
}

impl ser::SerializeSeq for Seq<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.push(value)
    }

    fn end(self) -> Result<(), StoredError> {
        self.finish()
    }
}

impl ser::SerializeTuple for Seq<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.push(value)
    }

    fn end(self) -> Result<(), StoredError> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Seq<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.push(value)
    }

    fn end(self) -> Result<(), StoredError> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Seq<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.push(value)
    }

    fn end(self) -> Result<(), StoredError> {
        self.finish()
    }
}

/// A map. Its entries are written as they come, and sorted by the bytes of their keys at the end, if they are not.
pub(crate) struct Map<'b> {
    out: &'b mut Vec<u8>,
    /// The number of entries that its head announces.
    announced: usize,
    /// The offsets of its head and of its first entry.
    start: usize,
    first: usize,
    len: usize,
    /// The newest key.
    key: Range<usize>,
    /// Its value is not there yet.
    is_open: bool,
    is_sorted: bool,
    depth: usize,
}

impl<'b> Map<'b> {
    pub(super) fn new(
        out: &'b mut Vec<u8>,
        announced: Option<usize>,
        depth: usize,
    ) -> Result<Self, StoredError> {
        let (announced, start) = (announced.unwrap_or_default(), out.len());
        wrote(encode::write_map_len(out, length(announced)))?;
        let first = out.len();
        let (key, is_open, is_sorted) = (first..first, false, true);
        Ok(Self { out, announced, start, first, len: 0, key, is_open, is_sorted, depth })
    }

    /// Puts the entries in the order of their keys.
    fn sort(&mut self) -> Result<(), StoredError> {
        let content = self.out.split_off(self.first);
        let mut reader = Reader::new(&content);
        let mut entry = || {
            let start = reader.at();
            reader.value()?;
            let value = reader.at();
            reader.value()?;
            Ok((content.get(start..value), content.get(value..reader.at())))
        };
        let entries: Result<Vec<_>, StoredError> = (0..self.len).map(|_| entry()).collect();
        let mut entries = entries?;
        entries.sort_by_key(|(key, _)| *key);
        for part in entries.into_iter().flat_map(|(key, value)| [key, value]) {
            self.out.extend_from_slice(part.unwrap_or_default());
        }
        Ok(())
    }
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), StoredError> {
        let start = self.out.len();
        key.serialize(&mut Encoder::part_of(self.out, self.depth))?;
        let key = start..self.out.len();
        let sorted = self.out.get(self.key.clone()) <= self.out.get(key.clone());
        self.is_sorted &= sorted || self.len == 0;
        (self.key, self.is_open) = (key, true);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        if !std::mem::take(&mut self.is_open) {
            return Err(StoredError::Encode { reason: "a map value without a key".to_owned() });
        }
        self.len += 1;
        value.serialize(&mut Encoder::part_of(self.out, self.depth))
    }

    fn end(mut self) -> Result<(), StoredError> {
        if self.is_open {
            return Err(StoredError::Encode { reason: "a map key without a value".to_owned() });
        }
        if self.announced != self.len {
            let content = self.out.split_off(self.first);
            self.out.truncate(self.start);
            wrote(encode::write_map_len(self.out, length(self.len)))?;
            self.first = self.out.len();
            self.out.extend(content);
        }
        if self.is_sorted { Ok(()) } else { self.sort() }
    }
}

/// As what serde_json hands on a number when somebody built it with `arbitrary_precision`: its digits, as a text.
pub(super) const NUMBER: &str = "$serde_json::private::Number";

/// Writes the number of these `digits` as without that feature.
fn write_number(out: &mut Vec<u8>, digits: &str) -> Result<(), StoredError> {
    let float = digits.parse().ok().filter(|float: &f64| float.is_finite());
    match (digits.parse(), digits.parse(), float) {
        (Ok(number), ..) => wrote(encode::write_uint(out, number)),
        // `-0` is a fraction: no whole number has that sign.
        (_, Ok(number @ ..0), _) => wrote(encode::write_sint(out, number)),
        (.., Some(number)) => wrote(encode::write_f64(out, number)),
        _ => Err(StoredError::Encode { reason: format!("{digits} is larger than any number") }),
    }
}

/// A struct: a map of its fields in the order they are declared.
pub(crate) struct Struct<'b> {
    pub(super) out: &'b mut Vec<u8>,
    /// It is a [number](NUMBER).
    pub(super) is_number: bool,
    pub(super) depth: usize,
}

impl Struct<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), StoredError> {
        if self.is_number {
            let mut digits = Vec::new();
            value.serialize(&mut Encoder::new(&mut digits))?;
            return write_number(self.out, Reader::new(&digits).str()?);
        }
        wrote(encode::write_str(self.out, key))?;
        value.serialize(&mut Encoder::part_of(self.out, self.depth))
    }
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
        self.push(key, value)
    }

    fn end(self) -> Result<(), StoredError> {
        Ok(())
    }
}

impl ser::SerializeStructVariant for Struct<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
        self.push(key, value)
    }

    fn end(self) -> Result<(), StoredError> {
        Ok(())
    }
}
