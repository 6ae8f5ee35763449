//! The arguments of a call, as JSON text.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The arguments of a call: one valid JSON value, as text.
///
/// Text, not a tree: integers keep all their digits and keys their order. No object in it has a key twice, white space
/// between tokens is gone, and the contents of strings are the model's. It nests at most 127 deep, so that `serde_json`
/// reads it with its default limit.
///
/// ```
/// use hanok_parse::{Declared, Format, Parser};
///
/// let parser = Parser::new(Declared::any()).asked([Format::React]);
/// let reply = parser.parse("Action: pay\nAction Input: {'won': 12345678901234567890,}");
/// let arguments = &reply.calls[0].arguments;
/// assert_eq!(arguments.as_str(), r#"{"won":12345678901234567890}"#);
///
/// #[derive(serde::Deserialize)]
/// struct Pay {
///     won: u64,
/// }
/// assert_eq!(arguments.decode::<Pay>()?.won, 12_345_678_901_234_567_890);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arguments(Box<str>);

impl Arguments {
    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The arguments as a `T`. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the arguments are not a `T`.
    #[cfg(feature = "serde")]
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The JSON text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0.into()
    }

    /// Takes text that is already known to be valid JSON.
    pub(crate) fn from_json(json: impl Into<Box<str>>) -> Self {
        Self(json.into())
    }

    /// An object with one member, a string.
    pub(crate) fn from_member(key: &str, text: &str) -> Self {
        Self::from_json(format!("{{{}:{}}}", quoted(key), quoted(text)))
    }

    /// A bare JSON string.
    pub(crate) fn from_text(text: &str) -> Self {
        Self::from_json(quoted(text))
    }
}

/// As servers hand arguments on: a string that holds the JSON text, digits and the order of keys untouched.
#[cfg(feature = "serde")]
impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<str>::deserialize(deserializer)?;
        let valid = serde_json::from_str::<serde::de::IgnoredAny>(&json);
        valid.map_err(|error| D::Error::custom(format!("the arguments are no JSON: {error}")))?;
        Ok(Self(json))
    }
}

/// No arguments: `{}`.
impl Default for Arguments {
    fn default() -> Self {
        Self::from_json("{}")
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
