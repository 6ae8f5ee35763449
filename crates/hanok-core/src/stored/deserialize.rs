//! A stored value, read from any form of serde's: from the JSON of a client.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use super::{msgpack::Writer, value::Stored};

/// Any value, as [`Stored::encode`] would store it.
///
/// ```
/// use hanok_core::Stored;
///
/// let stored: Stored = serde_json::from_str(r#"{"b":[1,"가"],"a":null}"#)?;
/// assert_eq!(stored.to_string(), r#"{"a":null,"b":[1,"가"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

macro_rules! visits {
    ($($method:ident: $from:ty),+ $(,)?) => {
        $(fn $method<E: Error>(self, value: $from) -> Result<Stored, E> {
            Stored::encode(&value).map_err(E::custom)
        })+
    };
}

impl<'de> Visitor<'de> for Any {
    type Value = Stored;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    visits! {
        visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128, visit_f32: f32, visit_f64: f64,
        visit_str: &str,
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Stored, E> {
        let mut writer = Writer::new();
        writer.bin(bytes);
        Ok(Stored::trusted(writer.into_bytes()))
    }

    fn visit_unit<E>(self) -> Result<Stored, E> {
        Ok(Stored::nil())
    }

    fn visit_none<E>(self) -> Result<Stored, E> {
        Ok(Stored::nil())
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Stored, D::Error> {
        Stored::deserialize(value)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Stored, D::Error> {
        Stored::deserialize(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Stored, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = parts.next_element()? {
            items.push(item);
        }
        Ok(Stored::list(items.iter()))
    }

    /// The newest of equal keys counts, as in any reader of JSON.
    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Stored, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((key, value)) = parts.next_entry::<Stored, Stored>()? {
            entries.insert(key, value);
        }
        Ok(Stored::map(entries.iter()))
    }
}
