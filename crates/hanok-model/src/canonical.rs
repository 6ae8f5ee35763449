//! A request as a text that is the same for the same request.

use std::collections::BTreeMap;

use hanok_state::Json;
use serde_json::{Value, json};

use crate::ChatRequest;

impl ChatRequest {
    /// The request as a server sees it, as a text: requests that differ in the ids of messages and calls, in metadata or in
    /// the order of keys have the same. For caches; it is as long as the request.
    pub fn canonical(&self) -> String {
        let mut request = canonical(self);
        let messages = request.get_mut("messages").and_then(Value::as_array_mut);
        let mut numbers = BTreeMap::new();
        for message in messages.into_iter().flatten() {
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            calls.into_iter().flatten().for_each(|call| number(call, "id", &mut numbers));
            number(message, "tool_call_id", &mut numbers);
        }
        text(&request)
    }
}

/// Puts the number of an id in its place.
fn number(of: &mut Value, key: &str, numbers: &mut BTreeMap<String, usize>) {
    let Some(id) = of.get_mut(key) else { return };
    if let Some(text) = id.as_str() {
        let next = numbers.len();
        *id = (*numbers.entry(text.to_owned()).or_insert(next)).into();
    }
}

/// The request as a server sees it.
pub(crate) fn canonical(request: &ChatRequest) -> Value {
    json!({
        "messages": request.messages.iter().map(|message| message.to_openai()).collect::<Value>(),
        "tools": request.tools,
        "tool_choice": request.tool_choice,
        "response_format": request.response_format,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stop": request.stop,
    })
}

/// The text of `value` with sorted keys, whatever features serde_json was built with.
pub(crate) fn text(value: &Value) -> String {
    // A number that is larger than any can only be told by its digits.
    Json::text_of(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use hanok_state::{Arguments, Message, ToolCall};

    use crate::ChatRequest;

    fn request(ids: [&str; 2], arguments: &str) -> ChatRequest {
        let calls = ids.map(|id| ToolCall {
            id: id.to_owned(),
            name: "find".to_owned(),
            arguments: Arguments::new(arguments),
        });
        let [first, second] = ids;
        ChatRequest::new([
            Message::user("?").with_id(first).with_metadata("at", second),
            Message::assistant("").with_tool_calls(calls),
            Message::tool(first, "one"),
            Message::tool(second, "two"),
        ])
    }

    #[test]
    fn requests_are_the_same_whatever_their_ids_are_but_not_whatever_they_name() {
        let one = request(["a", "b"], "{}").canonical();
        assert_eq!(one, request(["x", "y"], "{}").canonical());
        let crossed = ChatRequest::new([
            Message::tool("b", "one"),
            Message::tool("b", "two"),
            Message::tool("a", "three"),
        ]);
        let straight = ChatRequest::new([
            Message::tool("b", "one"),
            Message::tool("a", "two"),
            Message::tool("a", "three"),
        ]);
        assert_ne!(crossed.canonical(), straight.canonical());
        for other in [
            request(["a", "b"], r#"{"q":1}"#),
            request(["a", "b"], "{}").temperature(0.0),
            request(["a", "b"], "{}").max_tokens(1),
            request(["a", "b"], "{}").stop(["x"]),
            request(["a", "b"], "{}").message("more"),
        ] {
            assert_ne!(one, other.canonical());
        }
    }
}
