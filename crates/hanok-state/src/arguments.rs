//! The arguments of a call.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

/// The arguments of a call: the text of a JSON object, with its digits and the order of its keys untouched.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Arguments(Arc<str>);

impl Arguments {
    /// Takes `json` as it is. It is checked where it is decoded.
    pub fn new(json: impl Into<Arc<str>>) -> Self {
        Self(json.into())
    }

    /// The arguments that `value` is as JSON.
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

    /// The arguments as a `T`.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when the text is no JSON or not of this shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
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
