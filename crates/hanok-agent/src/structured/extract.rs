//! JSON objects in what a model writes around them.

use hanok_parse::{Declared, Format, Parser, PartKind};
use serde_json::{Deserializer, Map, Value};

/// The most places where an object is looked for. A model's text has bounds.
const PLACES: usize = 32;

/// The first object in `text` that `fits`; else what is wrong with the first that there is, `None` without any.
///
/// The text itself comes first, then what begins at a brace outside reasoning, in its order, and last the same with its
/// faults mended.
pub(super) fn objects<T>(
    text: &str,
    fits: impl Fn(Value) -> Result<T, Vec<String>>,
) -> Result<T, Option<Vec<String>>> {
    let mut wrong = None;
    let written = outside_reasoning(text);
    for object in plain(&written).chain(mended(&written)) {
        match fits(Value::Object(object)) {
            Ok(value) => return Ok(value),
            Err(mistakes) => {
                wrong.get_or_insert(mistakes);
            }
        }
    }
    Err(wrong)
}

/// The objects that are good JSON, each from a brace that is in none before it.
fn plain(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    let (mut from, mut places) = (0, 0);
    std::iter::from_fn(move || {
        while places < PLACES {
            let rest = text.get(from..)?;
            let at = rest.find('{')?;
            let rest = rest.get(at..)?;
            places += 1;
            let mut values = Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
            match values.next() {
                Some(Ok(object)) => {
                    from += at + values.byte_offset().max(1);
                    return Some(object);
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
    let reply = parser.parse(&format!("Action: answer\nAction Input: {object}"));
    let [call] = reply.calls.as_slice() else { return None };
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
        objects(text, |value| match value.get("a") {
            Some(_) => Ok(value.to_string()),
            None => Err(vec![format!("no a in {}", Value::to_string(&value))]),
        })
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

    /// P23: what takes longer than in proportion runs into the limit of every test.
    #[test]
    fn many_braces_take_no_long_time() {
        for text in ["{".repeat(200_000), "{\"a\"".repeat(50_000), "{} ".repeat(100_000)] {
            let _ = first(&text);
        }
    }
}
