//! The one way in which a value becomes bytes: msgpack with field names, in serde's data model as `rmp-serde` reads it,
//! and with the keys of maps sorted by their bytes.

use std::ops::Range;

use bytes::Bytes;
use rmp::encode;
use serde::ser::{self, Serialize};

use crate::{
    StoredError,
    msgpack::{Reader, length},
    shared,
    stored::DEEPEST_WRITTEN,
};

/// How msgpack writes nothing.
const NIL: u8 = 0xc0;

/// Writes one value to `out`.
pub(crate) struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    /// How many values it is part of.
    depth: usize,
    /// The bytes of a shared value, where that is all there is: nothing is written then.
    whole: Option<Bytes>,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self::part_of(out, 0)
    }

    /// Writes a part of a value that is part of `depth` others.
    pub(crate) fn part_of(out: &'a mut Vec<u8>, depth: usize) -> Self {
        Self { out, depth, whole: None }
    }

    /// What was written, if it is one shared value.
    pub(crate) fn into_whole(self) -> Option<Bytes> {
        self.whole
    }

    /// Writes a shared value: its bytes, where they are not too deep.
    fn shared<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        let bytes = if self.depth <= shared::DEPTH { shared::stored(value) } else { None };
        match bytes {
            None => value.serialize(self),
            Some(bytes) if self.depth == 0 && self.out.is_empty() => {
                self.whole = Some(bytes);
                Ok(())
            }
            Some(bytes) => {
                self.out.extend_from_slice(&bytes);
                Ok(())
            }
        }
    }

    /// How deep the parts of the value are; an error past what is read again. So no value is written that cannot be read, nor
    /// does one overflow the stack.
    fn deeper(&self) -> Result<usize, StoredError> {
        match self.depth < DEEPEST_WRITTEN {
            true => Ok(self.depth + 1),
            false => Err(StoredError::TooDeep { deepest: DEEPEST_WRITTEN }),
        }
    }
}

impl ser::Error for StoredError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Encode { reason: message.to_string() }
    }
}

/// Writing into a `Vec` cannot fail, yet its result is not thrown away.
fn wrote<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), StoredError> {
    result.map(drop).map_err(|error| StoredError::Encode { reason: error.to_string() })
}

macro_rules! numbers {
    ($($method:ident: $from:ty => $write:ident as $to:ty),* $(,)?) => {
        $(fn $method(self, value: $from) -> Result<(), StoredError> {
            wrote(encode::$write(self.out, <$to>::from(value)))
        })*
    };
}

impl<'a, 'b> ser::Serializer for &'b mut Encoder<'a> {
    type Ok = ();
    type Error = StoredError;
    type SerializeSeq = Seq<'b>;
    type SerializeTuple = Seq<'b>;
    type SerializeTupleStruct = Seq<'b>;
    type SerializeTupleVariant = Seq<'b>;
    type SerializeMap = Map<'b>;
    type SerializeStruct = Struct<'b>;
    type SerializeStructVariant = Struct<'b>;

    numbers! {
        serialize_u8: u8 => write_uint as u64,
        serialize_u16: u16 => write_uint as u64,
        serialize_u32: u32 => write_uint as u64,
        serialize_u64: u64 => write_uint as u64,
        serialize_i8: i8 => write_sint as i64,
        serialize_i16: i16 => write_sint as i64,
        serialize_i32: i32 => write_sint as i64,
        serialize_i64: i64 => write_sint as i64,
        serialize_f32: f32 => write_f32 as f32,
        serialize_f64: f64 => write_f64 as f64,
    }

    fn serialize_bool(self, value: bool) -> Result<(), StoredError> {
        wrote(encode::write_bool(self.out, value))
    }

    fn serialize_i128(self, value: i128) -> Result<(), StoredError> {
        wrote(encode::write_bin(self.out, &value.to_be_bytes()))
    }

    fn serialize_u128(self, value: u128) -> Result<(), StoredError> {
        wrote(encode::write_bin(self.out, &value.to_be_bytes()))
    }

    fn serialize_char(self, value: char) -> Result<(), StoredError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), StoredError> {
        wrote(encode::write_str(self.out, value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), StoredError> {
        wrote(encode::write_bin(self.out, value))
    }

    fn serialize_none(self) -> Result<(), StoredError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), StoredError> {
        let (depth, before) = (self.deeper()?, self.out.len());
        value.serialize(&mut Encoder::part_of(self.out, depth))?;
        match self.out.get(before..) {
            Some([NIL]) => Err(StoredError::Encode {
                reason: "a `Some` that holds nothing would be read as `None`: leave it out, or give it a name"
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn serialize_unit(self) -> Result<(), StoredError> {
        self.out.push(NIL);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), StoredError> {
        wrote(encode::write_array_len(self.out, 0))
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), StoredError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
        if name == shared::NAME {
            return self.shared(value);
        }
        let depth = self.deeper()?;
        value.serialize(&mut Encoder::part_of(self.out, depth))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
        let depth = self.deeper()?;
        tag(self.out, variant)?;
        value.serialize(&mut Encoder::part_of(self.out, depth))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Seq<'b>, StoredError> {
        let depth = self.deeper()?;
        Seq::new(self.out, len, depth)
    }

    fn serialize_tuple(self, len: usize) -> Result<Seq<'b>, StoredError> {
        let depth = self.deeper()?;
        Seq::new(self.out, Some(len), depth)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Seq<'b>, StoredError> {
        let depth = self.deeper()?;
        Seq::new(self.out, Some(len), depth)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Seq<'b>, StoredError> {
        // The tag is a map around the list.
        let depth = self.deeper()? + 1;
        tag(self.out, variant)?;
        Seq::new(self.out, Some(len), depth)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Map<'b>, StoredError> {
        let depth = self.deeper()?;
        Map::new(self.out, len, depth)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Struct<'b>, StoredError> {
        let depth = self.deeper()?;
        let is_number = name == NUMBER;
        if !is_number {
            wrote(encode::write_map_len(self.out, length(len)))?;
        }
        Ok(Struct { out: self.out, is_number, depth })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Struct<'b>, StoredError> {
        self.depth = self.deeper()?;
        tag(self.out, variant)?;
        self.serialize_struct(name, len)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// An enum's variant with content is a map of one key.
fn tag(out: &mut Vec<u8>, variant: &str) -> Result<(), StoredError> {
    wrote(encode::write_map_len(out, 1))?;
    wrote(encode::write_str(out, variant))
}

/// A list. The length is written last when it was not known.
pub(crate) struct Seq<'b> {
    out: &'b mut Vec<u8>,
    said: Option<usize>,
    start: usize,
    len: usize,
    depth: usize,
}

impl<'b> Seq<'b> {
    fn new(out: &'b mut Vec<u8>, said: Option<usize>, depth: usize) -> Result<Self, StoredError> {
        if let Some(len) = said {
            wrote(encode::write_array_len(out, length(len)))?;
        }
        let start = out.len();
        Ok(Self { out, said, start, len: 0, depth })
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        self.len += 1;
        value.serialize(&mut Encoder::part_of(self.out, self.depth))
    }

    fn finish(self) -> Result<(), StoredError> {
        match self.said {
            Some(said) if said == self.len => Ok(()),
            Some(said) => Err(StoredError::Encode {
                reason: format!("a sequence said {said} items and had {}", self.len),
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
    /// How many entries it is to have, as its head says already.
    said: usize,
    /// Where its head stands, and its first entry.
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
    fn new(out: &'b mut Vec<u8>, said: Option<usize>, depth: usize) -> Result<Self, StoredError> {
        let (said, start) = (said.unwrap_or_default(), out.len());
        wrote(encode::write_map_len(out, length(said)))?;
        let first = out.len();
        let (key, is_open, is_sorted) = (first..first, false, true);
        Ok(Self { out, said, start, first, len: 0, key, is_open, is_sorted, depth })
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
        if self.said != self.len {
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
const NUMBER: &str = "$serde_json::private::Number";

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
    out: &'b mut Vec<u8>,
    /// It is a [number](NUMBER).
    is_number: bool,
    depth: usize,
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
