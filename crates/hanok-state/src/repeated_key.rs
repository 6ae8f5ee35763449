//! Keys that stand twice in an object of a JSON text.

use std::{collections::HashSet, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

/// The first key of `text` that stands twice in its object, at any depth, as far as the text is JSON.
///
/// Of two values, one reader would take the first and another the last.
pub(crate) fn repeated_key(text: &str) -> Option<String> {
    let mut repeated = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    // An error is either that key, or of a text that is no JSON.
    match (KeyCheck { repeated: &mut repeated }).deserialize(&mut reader) {
        Ok(()) | Err(_) => repeated,
    }
}

/// Reads a value, and records the key that stands twice.
struct KeyCheck<'a> {
    repeated: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for KeyCheck<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyCheck<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(KeyCheck { repeated: &mut *self.repeated })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                *self.repeated = Some(key);
                return Err(A::Error::custom("a key stands twice"));
            }
            keys.insert(key);
            entries.next_value_seed(KeyCheck { repeated: &mut *self.repeated })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P42
    #[test]
    fn a_key_that_stands_twice_is_found_at_every_depth() {
        for text in [
            r#"{"amount":1000000,"amount":1}"#,
            r#"{"a":[{"amount":1,"b":2,"amount":1}]}"#,
            "{\"amount\":1,\"\\u0061mount\":2}",
        ] {
            assert_eq!(repeated_key(text).as_deref(), Some("amount"), "{text}");
        }
    }

    #[test]
    fn a_key_in_two_objects_is_no_such_key() {
        for text in
            ["null", "-3", "18446744073709551616", r#"[{"a":{"a":"a"}},{"a":1.5}]"#, "{", ""]
        {
            assert_eq!(repeated_key(text), None, "{text}");
        }
    }
}
