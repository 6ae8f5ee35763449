//! The arguments of a call.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};

use crate::repeated_key::repeated_key;

/// The arguments of a call: the text of a JSON object, with its digits and the order of its keys untouched.
///
/// ```
/// use hanok_state::Arguments;
///
/// let arguments = Arguments::new(r#"{"b": 1.10, "a": 2}"#);
/// assert_eq!(arguments.as_str(), r#"{"b": 1.10, "a": 2}"#);
///
/// let decoded: std::collections::BTreeMap<String, f64> = arguments.decode()?;
/// assert_eq!(decoded["b"], 1.1);
/// assert_eq!(Arguments::from_value(&[1, 2])?.as_str(), "[1,2]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Arguments(Arc<str>);

impl Arguments {
    /// Takes `json` unchanged. [`decode`](Arguments::decode) checks it.
    pub fn new(json: impl Into<Arc<str>>) -> Self {
        Self(json.into())
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when its `Serialize` fails.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::new)
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the arguments as a `T`.
    ///
    /// ```
    /// use hanok_state::Arguments;
    ///
    /// let twice = Arguments::new(r#"{"pay": {"amount": 1, "amount": 1000000}}"#);
    /// let error = twice.decode::<serde_json::Value>().unwrap_err();
    /// assert_eq!(error.to_string(), "the key `amount` stands twice");
    /// ```
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when the text is no JSON or not of this shape, or when a key stands twice in one of its objects.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.repeated_key() {
            Some(key) => {
                Err(serde_json::Error::custom(format_args!("the key `{key}` stands twice")))
            }
            None => serde_json::from_str(&self.0),
        }
    }

    /// The first key that stands twice in its object, at any depth, as far as the text is JSON. Of two values, one reader would
    /// take the first and another the last, so a call with such arguments is not made.
    ///
    /// ```
    /// use hanok_state::Arguments;
    ///
    /// let twice = Arguments::new(r#"{"to": "kim", "items": [{"n": 1, "n": 2}]}"#);
    /// assert_eq!(twice.repeated_key().as_deref(), Some("n"));
    /// ```
    pub fn repeated_key(&self) -> Option<String> {
        repeated_key(&self.0)
    }
}

/// The value as JSON: `json!({"city": "Seoul"}).into()`.
impl From<serde_json::Value> for Arguments {
    fn from(value: serde_json::Value) -> Self {
        Self::new(value.to_string())
    }
}

/// JSON, unchanged.
impl From<&str> for Arguments {
    fn from(json: &str) -> Self {
        Self::new(json)
    }
}

/// JSON, unchanged.
impl From<String> for Arguments {
    fn from(json: String) -> Self {
        Self::new(json)
    }
}

/// No arguments: `{}`.
impl Default for Arguments {
    fn default() -> Self {
        Self::new("{}")
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
