//! Stored values in lines for people: a conversation is one, a message a line.

use serde_json::Value;

/// The lines of a field: a conversation message by message, and everything else as JSON.
pub(crate) fn field(name: &str, value: &Value) -> Vec<String> {
    match messages(value) {
        Some(all) => std::iter::once(format!("{name}: {} messages", all.len()))
            .chain(all.into_iter().map(|message| format!("  {message}")))
            .collect(),
        None => vec![format!("{name}: {value}")],
    }
}

/// The lines of a change. Of two lists, what differs between their common beginning and their common end: an appended
/// message is one line.
pub(crate) fn change(name: &str, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    if let (Some(Value::Array(before)), Some(Value::Array(after))) = (before, after) {
        return list_change(name, before, after);
    }
    let lines = |sign: char, value: Option<&Value>| {
        let lines = value.map(|value| field(name, value)).unwrap_or_default();
        lines.into_iter().map(move |line| format!("{sign} {line}"))
    };
    lines('-', before).chain(lines('+', after)).collect()
}

fn list_change(name: &str, before: &[Value], after: &[Value]) -> Vec<String> {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (gone, new) =
        (before.get(same..).unwrap_or_default(), after.get(same..).unwrap_or_default());
    let end = gone.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let lines = |sign: char, items: &[Value]| {
        let count = items.len().saturating_sub(end);
        let items = items.iter().take(count).zip(same..);
        let lines = items.map(|(item, at)| {
            let text = message(item).unwrap_or_else(|| item.to_string());
            format!("{sign} {name}[{at}]: {text}")
        });
        lines.collect::<Vec<_>>()
    };
    [lines('-', gone), lines('+', new)].concat()
}

/// The lines of a conversation that is not empty.
fn messages(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(message).collect()
}

/// A message as `role: text`, with its calls and what it answers.
fn message(value: &Value) -> Option<String> {
    let message = value.as_object()?;
    let role = message.get("role")?.as_str()?;
    let text = text(message.get("content")?);
    let named = message.get("name").and_then(Value::as_str);
    let answers = message.get("tool_call_id").and_then(Value::as_str);
    let who =
        named.into_iter().chain(answers).fold(role.to_owned(), |who, it| format!("{who} ({it})"));
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice);
    let calls = calls.unwrap_or_default().iter().map(|call| {
        let of = |key: &str| call.get(key).map(text_of).unwrap_or_default();
        format!("{}({}) [{}]", of("name"), of("arguments"), of("id"))
    });
    let said = Some(text).filter(|text| !text.is_empty()).into_iter().chain(calls);
    Some(format!("{who}: {}", said.collect::<Vec<_>>().join(" ")))
}

/// A text as it is, and anything else as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The text of a content: a text, or parts with texts among them.
fn text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::Array(parts) => {
            let part = |part: &Value| match part.get("text") {
                Some(text) => text_of(text),
                None => part.to_string(),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(" ")
        }
        other => text_of(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{change, field};

    #[test]
    fn a_conversation_is_a_line_a_message_and_a_change_what_differs() {
        let user = json!({"role": "user", "content": "hi"});
        let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f", "arguments": "{\"a\":1}"}]});
        let tool = json!({"role": "tool", "content": [{"text": "2"}], "tool_call_id": "1"});
        let talk = json!([user, call, tool]);
        let want =
            ["m: 3 messages", "  user: hi", "  assistant: f({\"a\":1}) [1]", "  tool (1): 2"];
        assert_eq!(field("m", &talk), want);
        assert_eq!(field("m", &json!([])), ["m: []"]);
        assert_eq!(field("m", &json!([1, {"role": "x"}])), [r#"m: [1,{"role":"x"}]"#]);
        for (before, after, want) in [
            (json!([user]), json!([user, call]), vec!["+ m[1]: assistant: f({\"a\":1}) [1]"]),
            (json!([user, tool]), json!([tool]), vec!["- m[0]: user: hi"]),
            (json!([1, 2, 3]), json!([1, 4, 3]), vec!["- m[1]: 2", "+ m[1]: 4"]),
            (json!([1, 1]), json!([1]), vec!["- m[1]: 1"]),
            (json!([]), json!([1]), vec!["+ m[0]: 1"]),
            (json!(1), json!("x"), vec!["- m: 1", "+ m: \"x\""]),
        ] {
            assert_eq!(change("m", Some(&before), Some(&after)), want);
        }
        assert_eq!(change("m", None, Some(&json!(1))), ["+ m: 1"]);
    }
}
