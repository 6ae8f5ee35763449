//! The words of [`grammar`](super::grammar) as data, and back.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "serde")]
use crate::text::marks;
use crate::text::{
    grammar::{Elements, Headers, InputTags, Suffixed},
    table_data::{TagsData, Words, owned, word, words},
};

/// Whether `word` begins as a mark may.
#[cfg(feature = "serde")]
pub(crate) fn may_begin(word: &str) -> bool {
    word.bytes().next().is_some_and(marks::may_begin)
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct ElementsData {
    prefix: String,
    key: String,
    item: String,
    end: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct SuffixedData {
    separator: String,
    tags: TagsData,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct InputData {
    pub(crate) open: String,
    pub(crate) close: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct HeadersData {
    start: String,
    role: String,
    channel: String,
    to: String,
    message: String,
    reasoning: String,
    answer: String,
    closes: Words,
    until: Words,
    ends: Words,
    call_ends: Words,
    others: Words,
    between: Words,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    tags: Option<TagsData>,
}

impl ElementsData {
    pub(crate) fn of(elements: &Elements) -> Self {
        let Elements { prefix, key, item, end } = elements;
        let [prefix, key, item, end] = [prefix, key, item, end].map(|text| (*text).to_owned());
        Self { prefix, key, item, end }
    }

    pub(crate) fn elements(&self) -> &'static Elements {
        Box::leak(Box::new(Elements {
            prefix: word(&self.prefix),
            key: word(&self.key),
            item: word(&self.item),
            end: word(&self.end),
        }))
    }

    /// Whether none of what is looked for is empty.
    #[cfg(feature = "serde")]
    pub(crate) fn is_whole(&self) -> bool {
        ![&self.prefix, &self.key, &self.end].iter().any(|text| text.is_empty())
    }
}

impl SuffixedData {
    pub(crate) fn of(suffixed: &Suffixed) -> Self {
        Self { separator: suffixed.separator.to_owned(), tags: TagsData::of(suffixed.tags) }
    }

    pub(crate) fn suffixed(&self) -> &'static Suffixed {
        let (separator, tags) = (word(&self.separator), self.tags.tags());
        Box::leak(Box::new(Suffixed { separator, tags }))
    }

    /// Whether what stands behind a name begins with `<`, by which it is found.
    #[cfg(feature = "serde")]
    pub(crate) fn is_whole(&self) -> bool {
        self.separator.starts_with('<')
    }
}

impl InputData {
    pub(crate) fn of(tags: &InputTags) -> Self {
        Self { open: tags.open.to_owned(), close: tags.close.to_owned() }
    }

    pub(crate) fn tags(&self) -> &'static InputTags {
        Box::leak(Box::new(InputTags { open: word(&self.open), close: word(&self.close) }))
    }

    /// Whether none of what is looked for is empty.
    #[cfg(feature = "serde")]
    pub(crate) fn is_whole(&self) -> bool {
        !self.open.is_empty() && !self.close.is_empty()
    }
}

impl HeadersData {
    pub(crate) fn of(headers: &Headers) -> Self {
        Self {
            start: headers.start.to_owned(),
            role: headers.role.to_owned(),
            channel: headers.channel.to_owned(),
            to: headers.to.to_owned(),
            message: headers.message.to_owned(),
            reasoning: headers.reasoning.to_owned(),
            answer: headers.answer.to_owned(),
            closes: owned(headers.closes),
            until: owned(headers.until),
            ends: owned(headers.ends),
            call_ends: owned(headers.call_ends),
            others: owned(headers.others),
            between: owned(headers.between),
            tags: headers.tags.map(TagsData::of),
        }
    }

    pub(crate) fn headers(&self) -> &'static Headers {
        Box::leak(Box::new(Headers {
            start: word(&self.start),
            role: word(&self.role),
            channel: word(&self.channel),
            to: word(&self.to),
            message: word(&self.message),
            reasoning: word(&self.reasoning),
            answer: word(&self.answer),
            closes: words(&self.closes),
            until: words(&self.until),
            ends: words(&self.ends),
            call_ends: words(&self.call_ends),
            others: words(&self.others),
            between: words(&self.between),
            tags: self.tags.as_ref().map(TagsData::tags),
        }))
    }

    /// Whether none of what is looked for is empty, what stands in a header begins with `<`, by which it is found, and what ends
    /// a message as marks do.
    #[cfg(feature = "serde")]
    pub(crate) fn is_whole(&self) -> bool {
        let mut marks = [&self.start, &self.channel, &self.message].into_iter().chain(&self.others);
        let ends = [&self.closes, &self.until, &self.ends, &self.call_ends];
        let mut words = [&self.role, &self.to].into_iter().chain(&self.between);
        marks.all(|mark| mark.starts_with('<'))
            && ends.into_iter().flatten().all(|end| may_begin(end))
            && words.all(|word| !word.is_empty())
    }
}
