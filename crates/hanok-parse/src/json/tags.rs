//! Attributes, and values as they stand between tags.

use crate::{
    declared::ParamType,
    json::{
        json_text, literals,
        scan::{Ends, Read, Scan},
    },
};

/// The attribute `key` of a tag whose inside is `head`. Quotes may be single, or not there.
pub(crate) fn attribute(head: &str, key: &str) -> Option<String> {
    let mut rest = head;
    loop {
        let at = rest.find(key)?;
        let (before, tail) = rest.split_at_checked(at)?;
        let value = tail.strip_prefix(key)?.trim_start();
        let whole = before.is_empty()
            || before.ends_with(|last: char| !last.is_alphanumeric() && last != '_');
        if let Some(value) = value.strip_prefix('=').filter(|_| whole) {
            return Some(unescaped(quoted(value.trim_start())));
        }
        rest = tail.strip_prefix(key)?;
    }
}

/// The text in quotes at the start of `value`, or its first word.
fn quoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or(inner);
        }
    }
    value.split(|letter: char| letter.is_whitespace() || letter == '>').next().unwrap_or(value)
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
