//! What a call gives its tool, before the tool is known.

use crate::{
    declared::Declared,
    json::{json_text, object, scan::Scan},
    reply::arguments::Arguments,
};

/// What stands where a call's arguments should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A JSON object.
    Object(String),
    /// Words where words may stand.
    Text(String),
    /// Words where the format announced JSON.
    NotJson(String),
    Empty,
}

impl Input {
    /// Plain text, perhaps JSON or quoted, perhaps a word for nothing.
    pub(crate) fn from_text(text: &str) -> Self {
        let text = text.trim();
        // A text that broke off inside a fence's mark has no words either.
        let text =
            if text.trim_matches('`').is_empty() { String::new() } else { without_quotes(text) };
        if let Some(object) = whole_object(text.trim()) {
            return Self::Object(object.out);
        }
        let nothing =
            ["", "none", "null", "없음"].iter().any(|word| text.eq_ignore_ascii_case(word));
        if nothing { Self::Empty } else { Self::Text(text) }
    }

    /// A JSON value. Arguments are often given as a string that holds the object.
    pub(crate) fn from_json(json: &str) -> Self {
        if json.starts_with('{') {
            return Self::Object(json.to_owned());
        }
        if !json.starts_with('"') {
            return Self::from_text(json);
        }
        let text = json_text::unquoted(json);
        match whole_object(text.trim()) {
            Some(object) => Self::Object(object.out),
            None if text.trim().is_empty() => Self::Empty,
            None => Self::Text(text),
        }
    }

    /// The same where the format announced JSON: words are no arguments then.
    pub(crate) fn announced(self) -> Self {
        match self {
            Self::Text(text) => Self::NotJson(text),
            other => other,
        }
    }

    /// The arguments for `tool`; the input itself when it has no place there.
    pub(crate) fn for_tool(self, declared: &Declared, tool: &str) -> Result<Arguments, Self> {
        match self {
            Self::Object(json) => Ok(Arguments::from_json(json)),
            Self::Empty if declared.takes_nothing(tool) => Ok(Arguments::default()),
            Self::Text(text) => match declared.text_param(tool) {
                Some(param) => Ok(Arguments::from_member(param, &text)),
                None => Err(Self::Text(text)),
            },
            other => Err(other),
        }
    }

    /// The words of a task or an answer. An object stays JSON.
    pub(crate) fn into_words(self) -> String {
        match self {
            Self::Object(words) | Self::Text(words) | Self::NotJson(words) => words,
            Self::Empty => String::new(),
        }
    }

    pub(crate) fn into_arguments(self) -> Arguments {
        match self {
            Self::Object(json) => Arguments::from_json(json),
            Self::Text(text) | Self::NotJson(text) => Arguments::from_text(&text),
            Self::Empty => Arguments::default(),
        }
    }
}

/// The object that `text` is, if it is nothing else.
fn whole_object(text: &str) -> Option<Scan> {
    let object = object::object(text, 0)?;
    let mut rest = text.get(object.at..)?.chars();
    rest.all(|letter| letter.is_whitespace() || matches!(letter, '}' | ']')).then_some(object)
}

/// `text` without the quotes around all of it.
fn without_quotes(text: &str) -> String {
    if text.starts_with('"') {
        if let Ok(inner) = serde_json::from_str(text) {
            return inner;
        }
    }
    for (open, close) in [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('`', '`')] {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}
