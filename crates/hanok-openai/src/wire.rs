//! The JSON of chat completions (<https://platform.openai.com/docs/api-reference/chat>).

mod assembly;
mod message;

use std::sync::atomic::{AtomicBool, Ordering};

use async_openai::types::{
    chat::{
        ChatCompletionNamedToolChoice, ChatCompletionStreamOptions, ChatCompletionTool,
        ChatCompletionToolChoiceOption, ChatCompletionTools, CreateChatCompletionRequest,
        FunctionName, FunctionObject, ResponseFormat as Format, ResponseFormatJsonSchema,
        StopConfiguration, ToolChoiceOptions,
    },
    embeddings::{CreateEmbeddingRequest, EmbeddingInput},
};
use hanok_model::{ChatRequest, ModelError, ResponseFormat, ToolChoice, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

    /// Takes out of `body` what the server does not take.
    pub(crate) fn apply(&self, body: &mut Value) {
        let is = |quirk: &AtomicBool| quirk.load(Ordering::Relaxed);
        if is(&self.no_strict) {
            let tools = body.get_mut("tools").and_then(Value::as_array_mut);
            let functions = tools.into_iter().flatten().map(|tool| tool.get_mut("function"));
            functions.flatten().for_each(|function| remove(function, "strict"));
            let schema = body.pointer_mut("/response_format/json_schema");
            schema.into_iter().for_each(|schema| remove(schema, "strict"));
        }
        if is(&self.no_stream_options) {
            remove(body, "stream_options");
        }
        if is(&self.no_tool_choice) {
            remove(body, "tool_choice");
        }
        if let Some(body) = body.as_object_mut().filter(|_| is(&self.max_completion_tokens))
            && let Some(max) = body.remove("max_tokens")
        {
            body.insert("max_completion_tokens".to_owned(), max);
        }
    }
}

/// The body that asks `model` for `request`, all of it: [`Quirks::apply`] takes out what its server does not take.
///
/// It is built as async-openai's types, and made JSON once. What they cannot say is added there.
pub(crate) fn body(
    request: &ChatRequest,
    model: &str,
    streamed: bool,
) -> Result<Value, ModelError> {
    #[allow(deprecated, reason = "only OpenAI's own models want the newer `max_completion_tokens`")]
    let typed = CreateChatCompletionRequest {
        model: model.to_owned(),
        messages: request.messages.iter().map(message::typed).collect(),
        tools: (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect()),
        tool_choice: choice(&request.tool_choice).filter(|_| !request.tools.is_empty()),
        response_format: format(&request.response_format),
        max_tokens: request.max_tokens,
        stop: (!request.stop.is_empty())
            .then(|| StopConfiguration::StringArray(request.stop.clone())),
        stream: streamed.then_some(true),
        stream_options: streamed.then_some(ChatCompletionStreamOptions {
            include_usage: Some(true),
            include_obfuscation: None,
        }),
        ..CreateChatCompletionRequest::default()
    };
    let mut body = json(&typed)?;
    // The type has 32 bits, in which 0.2 would be sent as 0.20000000298023224.
    if let (Some(temperature), Some(body)) = (request.temperature, body.as_object_mut()) {
        body.insert("temperature".to_owned(), temperature.into());
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    for (message, json) in request.messages.iter().zip(messages.into_iter().flatten()) {
        if let Some(json) = json.as_object_mut() {
            message::complete(message, json);
        }
    }
    Ok(body)
}

/// The body that asks `model` for the embeddings of `texts`.
pub(crate) fn embeddings(texts: &[String], model: &str) -> Result<Value, ModelError> {
    json(&CreateEmbeddingRequest {
        model: model.to_owned(),
        input: EmbeddingInput::StringArray(texts.to_vec()),
        ..CreateEmbeddingRequest::default()
    })
}

fn json(request: &impl Serialize) -> Result<Value, ModelError> {
    serde_json::to_value(request).map_err(|error| ModelError::Other(error.into()))
}

fn tool(tool: &ToolSpec) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: tool.name().to_owned(),
            description: Some(tool.description().to_owned()),
            parameters: Some(tool.schema().clone()),
            strict: is_strict(tool.schema()).then_some(true),
        },
    })
}

fn format(format: &ResponseFormat) -> Option<Format> {
    let ResponseFormat::JsonSchema { name, schema } = format else { return None };
    let json_schema = ResponseFormatJsonSchema {
        description: None,
        name: name.clone(),
        schema: schema.0.clone(),
        strict: is_strict(&schema.0).then_some(true),
    };
    Some(Format::JsonSchema { json_schema })
}

fn remove(from: &mut Value, key: &str) {
    if let Some(from) = from.as_object_mut() {
        from.remove(key);
    }
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
fn choice(choice: &ToolChoice) -> Option<ChatCompletionToolChoiceOption> {
    match choice {
        ToolChoice::None => Some(ChatCompletionToolChoiceOption::Mode(ToolChoiceOptions::None)),
        ToolChoice::Required => {
            Some(ChatCompletionToolChoiceOption::Mode(ToolChoiceOptions::Required))
        }
        ToolChoice::Tool(name) => {
            let function = FunctionName { name: name.clone() };
            let named = ChatCompletionNamedToolChoice { function };
            Some(ChatCompletionToolChoiceOption::Function(named))
        }
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

/// A whole answer, or a piece of one. Everything may be missing, which async-openai's types do not allow: they want the id,
/// the model and the time of each piece, and know no reasoning.
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
    use serde_json::json;

    use super::*;

    fn asked(request: &ChatRequest, streamed: bool, quirks: &Quirks) -> Value {
        let mut body = body(request, "m", streamed).unwrap();
        quirks.apply(&mut body);
        body
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
