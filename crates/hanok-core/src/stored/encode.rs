//! The one way in which a value becomes bytes: msgpack with field names, in serde's data model as `rmp-serde` reads it,
//! and with the keys of maps sorted by their bytes.

use bytes::Bytes;
use rmp::encode;
use serde::ser::{self, Serialize};

use super::{
    compound::{Map, NUMBER, Seq, Struct},
    error::{DEEPEST_WRITTEN, StoredError},
    msgpack::length,
    shared,
};

/// The byte that msgpack writes for nothing.
const NIL: u8 = 0xc0;

/// Writes one value to `out`.
pub(crate) struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    /// The number of values that it is part of.
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

    /// The bytes of the value, if it is one shared value.
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

    /// The depth of the value's parts; an error past what is read again. So no value is written that cannot be read, nor
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
pub(super) fn wrote<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), StoredError> {
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
