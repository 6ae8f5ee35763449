//! How the call that a mark opens goes on.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::text::grammar::InputTags;

/// How what a mark opens goes on. What may follow is tried in the order of the fields.
#[derive(Debug)]
pub(crate) struct Rule {
    /// These may stand first, and mean nothing.
    pub(crate) skips: &'static [&'static str],
    /// These marks begin the call, and the mark before was its wrapper.
    pub(crate) wraps: &'static [&'static str],
    /// `{` or `[` begins calls in JSON.
    pub(crate) json: Option<Shape>,
    /// The name is an attribute of the mark.
    pub(crate) attribute: Option<Attribute>,
    /// A name, and what may follow it. A token that stands for its own sake is not skipped.
    pub(crate) name: &'static [(&'static str, Then)],
    /// Calls as Python writes them. Where names are tried, too, only what cannot be one.
    pub(crate) python: bool,
    /// Only a declared name makes it a call.
    pub(crate) declared: bool,
    /// What addresses everybody, and calls nothing.
    pub(crate) everybody: Option<&'static str>,
    /// What may stand between a name and its JSON, and means nothing.
    pub(crate) between: &'static [&'static str],
    /// What closes the call.
    pub(crate) closes: &'static [&'static str],
    /// What begins another call before the close mark.
    pub(crate) another: Option<&'static str>,
    /// What is done with a mark that nothing of this follows.
    pub(crate) otherwise: Otherwise,
}

/// How JSON says what is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum Shape {
    /// By members for name and arguments.
    Members,
    /// The key is the name, its value the arguments.
    Key,
}

/// What the mark behind a name means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    /// The name was in a tag, and input in another one may follow.
    Input(&'static InputTags),
    /// JSON arguments follow.
    Json,
    /// An id follows, and JSON arguments.
    Id,
    /// JSON arguments begin with the token itself.
    FromToken,
    /// What stood before was an id. The name and JSON arguments follow.
    Named,
    /// The name was in a tag, and words in another one may follow.
    Words(&'static InputTags),
    /// JSON arguments follow; what stood before was a type unless they follow at once, and the name comes first.
    Typed,
    /// Parameters in tags follow, or JSON.
    Tags(&'static Tags),
    /// Parameters in tags begin with the token itself.
    TagsHere(&'static Tags),
    /// What stood before is a header. JSON calls follow.
    Calls,
    /// Arguments as Python writes them begin with the token itself.
    Python,
    /// Gemma's own notation follows, with this around strings.
    Quoted(&'static str),
}

/// A name that is an attribute: `name="find"`.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) key: &'static str,
    /// What ends the mark.
    pub(crate) end: &'static str,
    pub(crate) tags: &'static Tags,
}

/// What is done with a mark that nothing of its format follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum Otherwise {
    /// Prose mentions it.
    #[default]
    Prose,
    /// No prose has it: it is malformed.
    Malformed,
    /// It is left out.
    Drop,
}

/// Parameters in tags.
#[derive(Debug)]
pub(crate) struct Tags {
    /// Opens a parameter.
    pub(crate) open: &'static str,
    /// Ends what says its key.
    pub(crate) head: &'static str,
    /// The key is this attribute of the head; without one it is the head itself.
    pub(crate) key: Option<&'static str>,
    /// Opens a value that stands in a tag of its own.
    pub(crate) value: Option<&'static str>,
    /// A tag that may name the type before the value, its beginning and end.
    pub(crate) kind: Option<(&'static str, &'static str)>,
    /// These may stand round the parameters, and mean nothing.
    pub(crate) skips: &'static [&'static str],
    /// Closes a value.
    pub(crate) close: &'static str,
    /// Closes the call.
    pub(crate) end: &'static str,
    /// Closes the call as well.
    pub(crate) other_end: Option<&'static str>,
    /// What may follow the end of the call.
    pub(crate) behind: &'static [&'static str],
    /// Closes a value that is written as `<![CDATA[…]]>`.
    pub(crate) cdata: Option<&'static str>,
    /// One line break belongs to the tags, at both ends of a value.
    pub(crate) lines: bool,
}

impl Rule {
    pub(crate) const NEW: Self = Self {
        skips: &[],
        wraps: &[],
        json: None,
        attribute: None,
        name: &[],
        python: false,
        declared: false,
        everybody: None,
        between: &[],
        closes: &[],
        another: None,
        otherwise: Otherwise::Prose,
    };
}

impl Then {
    /// What opens and closes a value, where that is written as it is.
    pub(crate) fn value(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Input(tags) | Self::Words(tags) => Some((tags.open, tags.close)),
            Self::Tags(tags) | Self::TagsHere(tags) => Some(tags.value()),
            Self::Quoted(quote) => Some((quote, quote)),
            _ => None,
        }
    }
}

impl Tags {
    /// What opens and closes a value.
    pub(crate) fn value(&self) -> (&'static str, &'static str) {
        (self.value.unwrap_or(self.open), self.close)
    }

    /// `<open="key">value</close>`.
    pub(crate) const NEW: Self = Self {
        open: "",
        head: ">",
        key: None,
        value: None,
        kind: None,
        skips: &[],
        close: "",
        end: "",
        other_end: None,
        behind: &[],
        cdata: None,
        lines: false,
    };

    /// The end of the call, where JSON stands in place of parameters.
    pub(crate) fn ends(&'static self) -> &'static [&'static str] {
        std::slice::from_ref(&self.end)
    }
}
