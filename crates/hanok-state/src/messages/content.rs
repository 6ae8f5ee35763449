//! The content of a message.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor, value::SeqAccessDeserializer},
};

use crate::arguments::Arguments;

/// The content of a message.
///
/// ```
/// use hanok_state::{Content, Message, Part};
///
/// let parts = vec![
///     Part::Text { text: "이 사진은 ".to_owned() },
///     Part::Image { url: "data:image/png;base64,…".to_owned() },
///     Part::Text { text: "어디야?".to_owned() },
/// ];
/// assert_eq!(Message::user(Content::Parts(parts)).text(), "이 사진은 어디야?");
/// assert_eq!(Message::user("안녕").content(), &Content::from("안녕"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Text.
    Text(Arc<str>),
    /// Several parts, in order.
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Text("".into())
    }
}

impl<T: Into<Arc<str>>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// Written by hand, for every message that is read: a derived one copies a text before it finds that it is one.
impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;

        impl<'de> Visitor<'de> for TextOrParts {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
            }
        }

        deserializer.deserialize_any(TextOrParts)
    }
}

/// One part of the content of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// The URL of the picture, or its bytes as a `data:` URL.
        url: String,
    },
    /// Anything else, as its JSON.
    Other {
        /// The part, as JSON text.
        json: Arguments,
    },
}
