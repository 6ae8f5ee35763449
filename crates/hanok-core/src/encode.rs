//! The one way in which a value becomes bytes: msgpack with field names, in serde's data model as `rmp-serde` reads it,
//! and with the keys of maps sorted by their bytes.

use rmp::encode;
use serde::ser::{self, Serialize};

use crate::{
    StoredError,
    msgpack::{Writer, length},
    stored::DEEPEST_WRITTEN,
};

/// How msgpack writes nothing.
const NIL: u8 = 0xc0;

/// Writes one value to `out`.
pub(crate) struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    /// How many values it is part of.
    depth: usize,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: 0 }
    }

    /// Writes a part of a value that is part of `depth` others.
    fn part_of(out: &'a mut Vec<u8>, depth: usize) -> Self {
        Self { out, depth }
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
        _name: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
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
        Ok(Seq::new(self.out, len, depth))
    }

    fn serialize_tuple(self, len: usize) -> Result<Seq<'b>, StoredError> {
        let depth = self.deeper()?;
        Ok(Seq::new(self.out, Some(len), depth))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Seq<'b>, StoredError> {
        let depth = self.deeper()?;
        Ok(Seq::new(self.out, Some(len), depth))
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
        Ok(Seq::new(self.out, Some(len), depth))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Map<'b>, StoredError> {
        let depth = self.deeper()?;
        Ok(Map { out: self.out, content: Vec::new(), entries: Vec::new(), key: None, depth })
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Struct<'b>, StoredError> {
        let depth = self.deeper()?;
        wrote(encode::write_map_len(self.out, length(len)))?;
        Ok(Struct { out: self.out, depth })
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
    fn new(out: &'b mut Vec<u8>, said: Option<usize>, depth: usize) -> Self {
        if let Some(len) = said {
            let mut head = Writer::new();
            head.array(len);
            out.extend(head.into_bytes());
        }
        let start = out.len();
        Self { out, said, start, len: 0, depth }
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

/// A map. Its entries are written when all are known, sorted by the bytes of their keys.
pub(crate) struct Map<'b> {
    out: &'b mut Vec<u8>,
    content: Vec<u8>,
    /// Key start, key end, entry end, within `content`.
    entries: Vec<(usize, usize, usize)>,
    key: Option<(usize, usize)>,
    depth: usize,
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), StoredError> {
        let start = self.content.len();
        key.serialize(&mut Encoder::part_of(&mut self.content, self.depth))?;
        self.key = Some((start, self.content.len()));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        let Some((start, end)) = self.key.take() else {
            return Err(StoredError::Encode { reason: "a map value without a key".to_owned() });
        };
        value.serialize(&mut Encoder::part_of(&mut self.content, self.depth))?;
        self.entries.push((start, end, self.content.len()));
        Ok(())
    }

    fn end(mut self) -> Result<(), StoredError> {
        wrote(encode::write_map_len(self.out, length(self.entries.len())))?;
        let content = &self.content;
        let part = |start: usize, end: usize| content.get(start..end).unwrap_or_default();
        self.entries.sort_by(|a, b| part(a.0, a.1).cmp(part(b.0, b.1)));
        for (start, _, end) in &self.entries {
            self.out.extend_from_slice(part(*start, *end));
        }
        Ok(())
    }
}

/// A struct: a map of its fields in the order they are declared.
pub(crate) struct Struct<'b> {
    out: &'b mut Vec<u8>,
    depth: usize,
}

impl Struct<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), StoredError> {
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
