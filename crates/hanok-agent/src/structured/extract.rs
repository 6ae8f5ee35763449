//! JSON objects in what a model writes around them.

use std::collections::BTreeMap;

use hanok_parse::{Declared, Format, Parser, PartKind};
use hanok_state::Arguments;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Value};

use crate::arguments::repeats_a_key;

/// An object of which only the end is of interest.
type Object = BTreeMap<String, IgnoredAny>;

/// The beginning of a call, as which an object with faults is read.
const BEFORE: &str = "Action: answer\nAction Input: ";

/// The most places where an object is looked for. A model's text has bounds.
const PLACES: usize = 32;

/// The first object in `text` that `fits`; else what is wrong with the first that there is, `None` without any.
///
/// The text itself comes first, then what begins at a brace outside reasoning, in its order, and last the same with its
/// faults mended. An object in which a key stands `twice` does not fit: of two values, who is to say which was meant?
pub(super) fn objects<T>(
    text: &str,
    fits: impl Fn(Value) -> Result<T, Vec<String>>,
    twice: impl Fn(&str) -> String,
) -> Result<T, Option<Vec<String>>> {
    let mut wrong = None;
    let written = outside_reasoning(text);
    let mut repeats = false;
    for object in plain(&written) {
        let repeated = object.repeated_key();
        repeats |= repeated.is_some();
        let fitting = match repeated {
            Some(key) => Err(vec![twice(&key)]),
            None => match object.decode() {
                Ok(object) => fits(object),
                Err(_) => continue,
            },
        };
        match fitting {
            Ok(value) => return Ok(value),
            Err(mistakes) => {
                wrong.get_or_insert(mistakes);
            }
        }
    }
    // Mended, it would have the last value alone.
    let mended = (!repeats).then(|| mended(&written)).flatten();
    match mended.map(|object| fits(Value::Object(object))) {
        Some(Ok(value)) => Ok(value),
        Some(Err(mistakes)) => Err(wrong.or(Some(mistakes))),
        None => Err(wrong),
    }
}

/// The objects that are good JSON, each from a brace that is in none before it.
fn plain(text: &str) -> impl Iterator<Item = Arguments> {
    let (mut from, mut places) = (0, 0);
    std::iter::from_fn(move || {
        while places < PLACES {
            let rest = text.get(from..)?;
            let at = rest.find('{')?;
            let rest = rest.get(at..)?;
            places += 1;
            let mut values = Deserializer::from_str(rest).into_iter::<Object>();
            match values.next() {
                Some(Ok(_)) => {
                    let end = values.byte_offset().max(1);
                    from += at + end;
                    return Some(Arguments::new(rest.get(..end).unwrap_or_default()));
                }
                _ => from += at + 1,
            }
        }
        None
    })
}

/// The object from the first brace on, with small faults of JSON mended.
fn mended(text: &str) -> Option<Map<String, Value>> {
    let object = text.get(text.find('{')?..)?;
    let parser = Parser::new(Declared::new().tool("answer")).format(Format::React);
    let reply = parser.parse(&format!("{BEFORE}{object}"));
    let [call] = reply.calls.as_slice() else { return None };
    if repeats_a_key(&parser, BEFORE, object) {
        return None;
    }
    serde_json::from_str(call.arguments.as_str()).ok()
}

/// `text` without what a model thinks between its marks.
fn outside_reasoning(text: &str) -> String {
    let parser = Parser::new(Declared::new());
    let reply = parser.parse(text);
    let thoughts = reply.parts.iter().filter(|part| part.kind == PartKind::Reasoning);
    let (mut said, mut from) = (String::new(), 0);
    for thought in thoughts {
        said.push_str(text.get(from..thought.span.start).unwrap_or_default());
        from = thought.span.end;
    }
    said.push_str(text.get(from..).unwrap_or_default());
    said
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::objects;

    /// An object that has an `a`.
    fn first(text: &str) -> Result<String, Option<Vec<String>>> {
        objects(
            text,
            |value| match value.get("a") {
                Some(_) => Ok(value.to_string()),
                None => Err(vec![format!("no a in {}", Value::to_string(&value))]),
            },
            |key| format!("{key} twice"),
        )
    }

    #[test]
    fn an_object_is_found_whatever_stands_around_it() {
        for (text, want) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("```json\n{\"a\":{\"b\":\"}\"}}\n```", r#"{"a":{"b":"}"}}"#),
            ("Here {it} is: {\"a\": 1} and {\"a\": 2}", r#"{"a":1}"#),
            ("{\"b\":1}\n{\"a\":2}", r#"{"a":2}"#),
            ("<think>maybe {\"a\":0}</think>{\"a\":1}", r#"{"a":1}"#),
            ("{'a': True, b: None,}", r#"{"a":true,"b":null}"#),
        ] {
            assert_eq!(first(text).as_deref(), Ok(want), "{text:?}");
        }
        assert_eq!(first("nothing here"), Err(None));
        assert_eq!(first("{\"b\":1}"), Err(Some(vec!["no a in {\"b\":1}".into()])));
    }

    #[test]
    fn a_key_that_stands_twice_is_a_mistake_and_never_the_last_value() {
        for text in [
            r#"{"a":1,"a":2}"#,
            "```json\n{\"a\":{\"a\":[{\"c\":1},{\"a\":1,\"a\":2}]}}\n```",
            r#"{"a":1,"a":2,}"#,
        ] {
            let twice = first(text);
            assert!(
                matches!(&twice, Err(None)) || twice == Err(Some(vec!["a twice".into()])),
                "{twice:?}"
            );
        }
        assert_eq!(first("{'a':1,'a':2}"), Err(None));
        // Another object of the reply may fit.
        assert_eq!(first(r#"{"a":1,"a":2} no: {"a":3}"#).as_deref(), Ok(r#"{"a":3}"#));
    }

    /// P23: what takes longer than in proportion runs into the limit of every test.
    #[test]
    fn many_braces_take_no_long_time() {
        for text in ["{".repeat(200_000), "{\"a\"".repeat(50_000), "{} ".repeat(100_000)] {
            let _ = first(&text);
        }
    }
}
