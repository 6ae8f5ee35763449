//! Attributes, and values as they stand between tags.

use crate::{
    declared::ParamType,
    json::{
        json_text, literals,
        scan::{Ends, Read, Scan},
    },
};

/// The attribute `key` of a tag whose inside is `head`, wherever it stands in it. Quotes may be single, or not there, and blanks may
/// stand round the sign.
pub(crate) fn attribute(head: &str, key: &str) -> Option<String> {
    let mut rest = head;
    while let Some((name, value, tail)) = next(rest) {
        if name == key {
            return Some(unescaped(value));
        }
        rest = tail;
    }
    None
}

/// The first attribute in `text`, its value, and what stands behind it. Words that are none are left out.
fn next(mut text: &str) -> Option<(&str, &str, &str)> {
    loop {
        text = text.trim_start_matches(|letter: char| !is_part(letter));
        if text.is_empty() {
            return None;
        }
        let (name, tail) = word(text);
        if let Some(value) = tail.trim_start().strip_prefix('=') {
            let (value, tail) = quoted(value.trim_start());
            return Some((name, value, tail));
        }
        text = tail;
    }
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The word at the start of `text`, and what stands behind it.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !is_part(letter)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Whether `text` begins with an attribute, and not with words.
pub(crate) fn begins_with_attribute(text: &str) -> bool {
    let (name, tail) = word(text.trim_start());
    !name.is_empty() && tail.trim_start().starts_with('=')
}

/// Whether `text`, with which the whole ends, begins with an attribute, or breaks off in its name.
pub(crate) fn may_begin_with_attribute(text: &str) -> bool {
    begins_with_attribute(text) || word(text.trim_start()).1.is_empty()
}

/// The text in quotes at the start of `value`, or its first word, and what stands behind it.
fn quoted(value: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    let end = value.find(|letter: char| letter.is_whitespace() || letter == '>');
    value.split_at_checked(end.unwrap_or(value.len())).unwrap_or((value, ""))
}

/// Only these two are written in attributes.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// The value that `text` is, as JSON, for a parameter of type `kind`. What is no such value is a string.
pub(crate) fn value(text: &str, kind: ParamType) -> String {
    let word = text.trim();
    if kind == ParamType::String {
        return string(text);
    }
    if kind == ParamType::NullableString {
        let is_null = word.eq_ignore_ascii_case("null") || word == "None";
        return if is_null { "null".to_owned() } else { string(text) };
    }
    if word.starts_with(['{', '[']) {
        let spelled = || {
            let is_json = matches!(kind, ParamType::Array | ParamType::Object);
            // The whole value was escaped once more than it should have been.
            let inner = serde_json::from_str::<Box<str>>(&format!("\"{word}\""));
            inner.ok().filter(|_| is_json).and_then(|inner| nested(inner.trim()))
        };
        return nested(word).or_else(spelled).unwrap_or_else(|| string(text));
    }
    if word.starts_with('"') {
        if let Ok(inner) = serde_json::from_str::<Box<str>>(word) {
            return string(&inner);
        }
    }
    let lower = word.to_ascii_lowercase();
    match (kind, lower.as_str()) {
        (ParamType::Boolean, "true" | "false") => lower,
        (
            ParamType::Null | ParamType::Boolean | ParamType::Integer | ParamType::Number,
            "null" | "none",
        ) => "null".to_owned(),
        _ => literals::value(word).map_or_else(|| string(text), str::to_owned),
    }
}

fn nested(text: &str) -> Option<String> {
    let mut scan = Scan::new(0, Ends::default());
    let whole = scan.read(text, true) == Read::Done && scan.at == text.len();
    whole.then_some(scan.out)
}

fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    json_text::push(&mut out, text);
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{attribute, value};
    use crate::declared::ParamType;

    #[test]
    fn an_attribute_is_read_with_or_without_quotes() {
        for (head, want) in [
            ("<invoke name=\"a b\"", Some("a b")),
            ("<invoke name='a'", Some("a")),
            ("<invoke name = a other=\"x\"", Some("a")),
            ("<call tool_name=\"x\" name=\"y&quot;&amp;quot;\"", Some("y\"&quot;")),
            ("<invoke  id='1' name=\"a\"", Some("a")),
            ("<invoke id=\"name=b\" name = 'a'", Some("a")),
            ("<invoke id=\"name=b\"", None),
            ("<invoke \"name=\"a\"", Some("a")),
            ("<invoke name=\"a", Some("a")),
            ("<invoke", None),
        ] {
            assert_eq!(attribute(head, "name").as_deref(), want, "{head}");
        }
    }

    #[test]
    fn a_value_has_the_type_of_its_parameter() {
        for (text, kind, want) in [
            ("true", ParamType::String, "\"true\""),
            (" 1e5 ", ParamType::String, "\" 1e5 \""),
            (" 1e5 ", ParamType::Number, "1e5"),
            ("12345678901234567890123", ParamType::Integer, "12345678901234567890123"),
            ("True", ParamType::Boolean, "true"),
            ("none", ParamType::Integer, "null"),
            ("넷", ParamType::Integer, "\"넷\""),
            ("{'a': [1, None]}", ParamType::Object, "{\"a\":[1,null]}"),
            ("[1, 2", ParamType::Array, "\"[1, 2\""),
            (r#"[{\"a\": \"C:\\\\x\"}]"#, ParamType::Array, r#"[{"a":"C:\\x"}]"#),
            (r#"[{\"a\": 1}]"#, ParamType::String, r#""[{\\\"a\\\": 1}]""#),
            ("\"x\"", ParamType::Any, "\"x\""),
            ("x", ParamType::Any, "\"x\""),
            ("7", ParamType::Any, "7"),
        ] {
            assert_eq!(value(text, kind), want, "{text} {kind:?}");
        }
    }
}
