//! JSON within a state.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::Value;

/// A JSON value within a state. A log stores [its text](Json::text_of), so that it is the same bytes, and reads the same,
/// whatever features serde_json was built with. Within an enum that serde reads from a buffer use [`PlainJson`](crate::PlainJson).
#[derive(Clone, PartialEq, Default)]
pub struct Json(pub Value);

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Json {
    /// Writes `value` with the keys of objects sorted and numbers as 64 bits hold them. The text is the same whatever features
    /// serde_json was built with.
    ///
    /// ```
    /// use hanok_state::Json;
    /// use serde_json::json;
    ///
    /// assert_eq!(Json::text_of(&json!({"b": [1, 2.5], "a": null}))?, r#"{"a":null,"b":[1,2.5]}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] for a number that is larger than any of 64 bits. Only `arbitrary_precision` has such numbers.
    pub fn text_of(value: &Value) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Sorted(value))
    }
}

/// A value that is written the same with all features.
pub(crate) struct Sorted<'a>(pub(crate) &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                serializer.collect_map(entries.into_iter().map(|(key, value)| (key, Sorted(value))))
            }
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => serializer.serialize_u64(number),
                // `-0` is a fraction: no whole number has that sign.
                (_, Some(number @ ..0), _) => serializer.serialize_i64(number),
                (.., Some(number)) if number.is_finite() => serializer.serialize_f64(number),
                _ => Err(S::Error::custom(format_args!("{number} is larger than any number"))),
            },
            value => value.serialize(serializer),
        }
    }
}

impl<T: Into<Value>> From<T> for Json {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        serializer.serialize_str(&Self::text_of(&self.0).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Value::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(D::Error::custom)
    }
}
