//! The JSON of chat completions (<https://platform.openai.com/docs/api-reference/chat>).

mod assembly;

use std::sync::atomic::{AtomicBool, Ordering};

use hanok_model::{ChatRequest, ResponseFormat, ToolChoice, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) use self::assembly::Assembly;

/// What a server turned out not to take.
#[derive(Debug, Default)]
pub(crate) struct Quirks {
    /// It refuses `stream_options`.
    no_stream_options: AtomicBool,
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    max_completion_tokens: AtomicBool,
    /// It refuses `strict` beside a schema.
    no_strict: AtomicBool,
    /// It refuses `tool_choice`: who asks has to check it anyway.
    no_tool_choice: AtomicBool,
}

impl Quirks {
    /// Learns from a refusal that mentions what `mentions` says; whether there is something new to try.
    pub(crate) fn learn(&self, body: &Value, mentions: impl Fn(&str) -> bool) -> bool {
        let learn = |sent: &str, named: &str, quirk: &AtomicBool| {
            says(body, sent) && mentions(named) && !quirk.swap(true, Ordering::Relaxed)
        };
        learn("stream_options", "stream_options", &self.no_stream_options)
            || learn("max_tokens", "max_completion_tokens", &self.max_completion_tokens)
            || learn("strict", "strict", &self.no_strict)
            || learn("tool_choice", "tool_choice", &self.no_tool_choice)
    }
}

/// The body that asks `model` for `request`.
pub(crate) fn body(request: &ChatRequest, model: &str, streamed: bool, quirks: &Quirks) -> Value {
    let takes_strict = !quirks.no_strict.load(Ordering::Relaxed);
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", model.into());
    set("messages", request.messages.iter().map(|message| message.to_openai()).collect());
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(|spec| tool(spec, takes_strict)).collect());
        let choice = choice(&request.tool_choice);
        if let Some(choice) = choice.filter(|_| !quirks.no_tool_choice.load(Ordering::Relaxed)) {
            set("tool_choice", choice);
        }
    }
    if let ResponseFormat::JsonSchema { name, schema } = &request.response_format {
        let strict = takes_strict && is_strict(&schema.0);
        let mut schema = json!({"name": name, "schema": schema});
        if let Some(schema) = schema.as_object_mut().filter(|_| strict) {
            schema.insert("strict".to_owned(), true.into());
        }
        set("response_format", json!({"type": "json_schema", "json_schema": schema}));
    }
    if let Some(temperature) = request.temperature {
        set("temperature", temperature.into());
    }
    if let Some(max) = request.max_tokens {
        let renamed = quirks.max_completion_tokens.load(Ordering::Relaxed);
        set(if renamed { "max_completion_tokens" } else { "max_tokens" }, max.into());
    }
    if !request.stop.is_empty() {
        set("stop", request.stop.as_slice().into());
    }
    if streamed {
        set("stream", true.into());
        if !quirks.no_stream_options.load(Ordering::Relaxed) {
            set("stream_options", json!({"include_usage": true}));
        }
    }
    Value::Object(body)
}

fn tool(tool: &ToolSpec, takes_strict: bool) -> Value {
    let mut function = json!({
        "name": tool.name(),
        "description": tool.description(),
        "parameters": tool.schema(),
    });
    let strict = takes_strict && is_strict(tool.schema());
    if let Some(function) = function.as_object_mut().filter(|_| strict) {
        function.insert("strict".to_owned(), true.into());
    }
    json!({"type": "function", "function": function})
}

/// Whether `body` has the key `sent`: on its own, or beside a schema of the answer or a tool.
fn says(body: &Value, sent: &str) -> bool {
    let beside = |place: &str| body.pointer(place).is_some_and(|of| of.get(sent).is_some());
    let tools = body.get("tools").and_then(Value::as_array);
    body.get(sent).is_some()
        || beside("/response_format/json_schema")
        || tools.is_some_and(|tools| {
            tools.iter().any(|tool| tool.pointer(&format!("/function/{sent}")).is_some())
        })
}

/// `None` for what servers do by themselves.
fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "function": {"name": name}})),
        _ => None,
    }
}

/// Whether OpenAI's strict mode takes `schema`: every object in it is closed and all its properties are required.
fn is_strict(schema: &Value) -> bool {
    let own = match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let required = schema.get("required").and_then(Value::as_array);
            let required =
                |name: &String| required.is_some_and(|all| all.iter().any(|n| n == name));
            schema.get("additionalProperties") == Some(&false.into())
                && properties.keys().all(required)
        }
        None => schema.get("type").is_none_or(|kind| kind != "object"),
    };
    own && match schema {
        Value::Object(object) => object.values().all(is_strict),
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// A whole answer, or a piece of one. Everything may be missing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<UsageSaid>,
    model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    index: Option<u64>,
    /// Of a piece.
    delta: Option<Delta>,
    /// Of a whole answer.
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    content: Option<Value>,
    refusal: Option<String>,
    /// DeepSeek, llama.cpp, older vLLM.
    reasoning_content: Option<String>,
    /// OpenRouter, newer vLLM.
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
    /// Before there were several.
    function_call: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct UsageSaid {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokens>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct PromptTokens {
    cached_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use hanok_state::Message;

    use super::*;

    fn asked(request: &ChatRequest, streamed: bool, quirks: &Quirks) -> Value {
        body(request, "m", streamed, quirks)
    }

    #[test]
    fn only_what_was_set_is_sent() {
        let bare = ChatRequest::new([Message::user("안녕")]);
        let messages = json!([{"role": "user", "content": "안녕"}]);
        assert_eq!(
            asked(&bare, false, &Quirks::default()),
            json!({"model": "m", "messages": messages})
        );

        let spec = ToolSpec::new("now", "The time", json!({})).unwrap();
        let parameters = json!({"type": "object", "properties": {}});
        let closed = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": false});
        let find = ToolSpec::new("find", "Finds", closed.clone()).unwrap();
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let full = bare
            .tools([spec, find])
            .tool_choice(ToolChoice::Tool("now".into()))
            .response_format(ResponseFormat::JsonSchema {
                name: "a".into(),
                schema: schema.clone().into(),
            })
            .temperature(0.2)
            .max_tokens(9)
            .stop(["x"]);
        assert_eq!(
            asked(&full, true, &Quirks::default()),
            json!({
                "model": "m",
                "messages": messages,
                "tools": [
                    {"type": "function", "function": {"name": "now", "description": "The time", "parameters": parameters}},
                    {"type": "function", "function": {"name": "find", "description": "Finds", "parameters": closed, "strict": true}},
                ],
                "tool_choice": {"type": "function", "function": {"name": "now"}},
                "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": true}},
                "temperature": 0.2,
                "max_tokens": 9,
                "stop": ["x"],
                "stream": true,
                "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn what_a_server_refused_by_name_is_not_sent_again() {
        let quirks = Quirks::default();
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let request = ChatRequest::new([Message::user("안녕")])
            .max_tokens(9)
            .tools([ToolSpec::new("find", "Finds", schema.clone()).unwrap()])
            .tool_choice(ToolChoice::Required)
            .response_format(ResponseFormat::JsonSchema {
                name: "a".into(),
                schema: schema.into(),
            });
        for named in ["stream_options", "max_completion_tokens", "strict", "tool_choice"] {
            let body = asked(&request, true, &quirks);
            assert!(!quirks.learn(&body, |_| false));
            assert!(quirks.learn(&body, |word| word == named), "{named}");
            assert!(!quirks.learn(&body, |word| word == named), "{named} twice");
        }
        let body = asked(&request, true, &quirks);
        assert_eq!((body.get("stream_options"), body.get("max_tokens")), (None, None));
        assert_eq!(body.get("max_completion_tokens"), Some(&9.into()));
        assert!(
            !body.to_string().contains("strict") && body.get("tool_choice").is_none(),
            "{body}"
        );
        assert!(says(&body, "tools") && says(&body, "response_format"));
    }

    #[test]
    fn a_schema_is_strict_when_openai_takes_it_as_such() {
        let open =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let mut closed = open.clone();
        closed["additionalProperties"] = false.into();
        let mut optional = closed.clone();
        optional["required"] = json!([]);
        for (schema, strict) in [
            (open, false),
            (json!({"type": "array", "items": optional}), false),
            (json!({"type": "array", "items": closed}), true),
            (json!({"type": "object"}), false),
        ] {
            assert_eq!(is_strict(&schema), strict, "{schema}");
        }
    }
}
