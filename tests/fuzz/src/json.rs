//! Whether arguments are what they are said to be.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::de::Deserializer;

/// Checks that `json` is one valid value without white space between its tokens, without a key twice in an object, and
/// no deeper than `serde_json` reads.
pub(crate) fn check(json: &str, text: &str) {
    let mut reader = Deserializer::from_str(json);
    let read = serde::de::Deserialize::deserialize(&mut reader);
    let Distinct = read.unwrap_or_else(|error| panic!("{json:?} of {text:?}: {error}"));
    if let Err(error) = reader.end() {
        panic!("{json:?} of {text:?}: {error}");
    }
    let mut is_in_string = false;
    let mut is_escaped = false;
    for c in json.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            _ => assert!(is_in_string || !c.is_whitespace(), "white space in {json:?}"),
        }
    }
}

/// A value whose objects have no key twice.
struct Distinct;

impl<'de> serde::Deserialize<'de> for Distinct {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Visitor)
    }
}

struct Visitor;

impl<'de> serde::de::Visitor<'de> for Visitor {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Distinct, A::Error> {
        while seq.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some((key, Distinct)) = map.next_entry::<String, Distinct>()? {
            if keys.contains(&key) {
                return Err(serde::de::Error::custom(format!("the key {key:?} stands twice")));
            }
            keys.insert(key);
        }
        Ok(Distinct)
    }
}
