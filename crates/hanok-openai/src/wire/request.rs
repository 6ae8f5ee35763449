//! What a server is sent: async-openai's types, made JSON once. What those types cannot say is added there.

use std::sync::atomic::Ordering;

use async_openai::types::{
    chat::{
        ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls,
        ChatCompletionNamedToolChoice, ChatCompletionRequestAssistantMessage,
        ChatCompletionRequestMessage, ChatCompletionRequestMessageContentPartImage,
        ChatCompletionRequestMessageContentPartText, ChatCompletionRequestSystemMessage,
        ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
        ChatCompletionRequestUserMessageContent, ChatCompletionRequestUserMessageContentPart,
        ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionToolChoiceOption,
        ChatCompletionTools, CreateChatCompletionRequest, FunctionCall, FunctionName,
        FunctionObject, ImageUrl, ResponseFormat as Format, ResponseFormatJsonSchema,
        StopConfiguration, ToolChoiceOptions,
    },
    embeddings::{CreateEmbeddingRequest, EmbeddingInput},
};
use hanok_model::{ChatRequest, ModelError, ResponseFormat, ToolChoice, ToolSpec};
use hanok_state::{Content, Message, Part, Role, ToolCall};
use serde::Serialize;
use serde_json::Value;

use super::Quirks;

/// The body that asks `model` for `request`.
pub(crate) fn body(
    request: &ChatRequest,
    model: &str,
    streamed: bool,
    quirks: &Quirks,
) -> Result<Value, ModelError> {
    let is_off = |quirk: &std::sync::atomic::AtomicBool| quirk.load(Ordering::Relaxed);
    let takes_strict = !is_off(&quirks.no_strict);
    let messages: Vec<_> = request.messages.iter().map(typed).collect();
    let has_tools = !request.tools.is_empty();
    let options = ChatCompletionStreamOptions { include_usage: Some(true), ..Default::default() };
    let typed = CreateChatCompletionRequest {
        model: model.to_owned(),
        messages: messages.iter().map(|it| it.clone().unwrap_or_else(placeholder)).collect(),
        tools: has_tools
            .then(|| request.tools.iter().map(|spec| tool(spec, takes_strict)).collect()),
        tool_choice: choice(&request.tool_choice)
            .filter(|_| has_tools && !is_off(&quirks.no_tool_choice)),
        response_format: format(&request.response_format, takes_strict),
        stop: (!request.stop.is_empty())
            .then(|| StopConfiguration::StringArray(request.stop.clone())),
        stream: streamed.then_some(true),
        stream_options: (streamed && !is_off(&quirks.no_stream_options)).then_some(options),
        ..Default::default()
    };
    let mut body = json(&typed)?;
    let places = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
    for (place, (message, typed)) in places.zip(request.messages.iter().zip(&messages)) {
        if typed.is_none() {
            *place = message.to_openai();
        }
    }
    if let Some(object) = body.as_object_mut() {
        // The type has an `f32`, of which JSON makes 0.20000000298 where 0.2 was meant.
        object.extend(request.temperature.map(|it| ("temperature".to_owned(), it.into())));
        // Deprecated in the type; it is the only one of the two that many servers know.
        let renamed = is_off(&quirks.max_completion_tokens);
        let max = if renamed { "max_completion_tokens" } else { "max_tokens" };
        object.extend(request.max_tokens.map(|it| (max.to_owned(), it.into())));
    }
    Ok(body)
}

/// The body that asks `model` for the vectors of `texts`.
pub(crate) fn embedding(model: &str, texts: &[String]) -> Result<Value, ModelError> {
    let input = EmbeddingInput::StringArray(texts.to_vec());
    json(&CreateEmbeddingRequest { model: model.to_owned(), input, ..Default::default() })
}

fn json(request: &impl Serialize) -> Result<Value, ModelError> {
    serde_json::to_value(request).map_err(|error| ModelError::Other(error.into()))
}

/// The message in the types' words; `None` where they have none for it, and it is written as it is: a part of another server's, an
/// image that is not a user's, a call without a text, for which some servers want `"content": null` and the type leaves the key
/// out, and the name of a tool's message.
fn typed(message: &Message) -> Option<ChatCompletionRequestMessage> {
    let name = message.name().map(str::to_owned);
    let text = || match message.content() {
        Content::Text(text) => Some(text.to_string()),
        Content::Parts(_) => None,
    };
    Some(match message.role() {
        Role::System => ChatCompletionRequestSystemMessage { content: text()?.into(), name }.into(),
        Role::User => {
            let content = match message.content() {
                Content::Text(text) => text.to_string().into(),
                Content::Parts(parts) => ChatCompletionRequestUserMessageContent::Array(
                    parts.iter().map(part).collect::<Option<_>>()?,
                ),
            };
            ChatCompletionRequestUserMessage { content, name }.into()
        }
        Role::Assistant => {
            let calls = message.tool_calls();
            let text = text()?;
            if text.is_empty() && !calls.is_empty() {
                return None;
            }
            let tool_calls = (!calls.is_empty()).then(|| calls.iter().map(call).collect());
            let content = Some(text.into());
            ChatCompletionRequestAssistantMessage {
                content,
                name,
                tool_calls,
                ..Default::default()
            }
            .into()
        }
        Role::Tool if name.is_none() => {
            let (content, id) = (text()?.into(), message.tool_call_id()?);
            ChatCompletionRequestToolMessage { content, tool_call_id: id.to_owned() }.into()
        }
        _ => return None,
    })
}

/// What stands for a message that has no type, until it is written as it is.
fn placeholder() -> ChatCompletionRequestMessage {
    ChatCompletionRequestMessage::User(ChatCompletionRequestUserMessage::default())
}

fn part(part: &Part) -> Option<ChatCompletionRequestUserMessageContentPart> {
    use ChatCompletionRequestUserMessageContentPart as Typed;
    match part {
        Part::Text { text } => Some(Typed::Text(ChatCompletionRequestMessageContentPartText {
            text: text.clone(),
            ..Default::default()
        })),
        Part::Image { url } => {
            Some(Typed::ImageUrl(ChatCompletionRequestMessageContentPartImage {
                image_url: ImageUrl { url: url.clone(), ..Default::default() },
                ..Default::default()
            }))
        }
        _ => None,
    }
}

fn call(call: &ToolCall) -> ChatCompletionMessageToolCalls {
    let (name, arguments) = (call.name.clone(), call.arguments.as_str().to_owned());
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
        id: call.id.clone(),
        function: FunctionCall { name, arguments },
    })
}

fn tool(tool: &ToolSpec, takes_strict: bool) -> ChatCompletionTools {
    let function = FunctionObject {
        name: tool.name().to_owned(),
        description: Some(tool.description().to_owned()),
        parameters: Some(tool.schema().clone()),
        strict: (takes_strict && is_strict(tool.schema())).then_some(true),
    };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

/// `None` for what servers do by themselves.
fn choice(choice: &ToolChoice) -> Option<ChatCompletionToolChoiceOption> {
    Some(match choice {
        ToolChoice::None => ChatCompletionToolChoiceOption::Mode(ToolChoiceOptions::None),
        ToolChoice::Required => ChatCompletionToolChoiceOption::Mode(ToolChoiceOptions::Required),
        ToolChoice::Tool(name) => {
            let function = FunctionName { name: name.clone() };
            ChatCompletionToolChoiceOption::Function(ChatCompletionNamedToolChoice { function })
        }
        _ => return None,
    })
}

fn format(format: &ResponseFormat, takes_strict: bool) -> Option<Format> {
    let ResponseFormat::JsonSchema { name, schema } = format else { return None };
    let json_schema = ResponseFormatJsonSchema {
        name: name.clone(),
        schema: schema.0.clone(),
        strict: (takes_strict && is_strict(&schema.0)).then_some(true),
        description: None,
    };
    Some(Format::JsonSchema { json_schema })
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

#[cfg(test)]
mod tests {
    use hanok_model::ToolSpec;
    use serde_json::json;

    use super::{super::says, *};

    fn asked(request: &ChatRequest, streamed: bool, quirks: &Quirks) -> Value {
        body(request, "m", streamed, quirks).unwrap()
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

    /// Those that have a type, and those that have none.
    #[test]
    fn every_message_is_sent_as_it_is() {
        let call = ToolCall::new("c1", "now", json!({"zone": "Asia/Seoul"}));
        let parts = vec![
            Part::Text { text: "이건?".into() },
            Part::Image { url: "data:image/png;base64,AA==".into() },
        ];
        let other = Part::Other { json: hanok_state::Arguments::new(r#"{"type":"audio","n":1}"#) };
        let messages = [
            Message::system("짧게").with_name("house"),
            Message::system(Content::Parts(parts.clone())),
            Message::user("안녕").with_name("하늘").with_id("m1"),
            Message::user(Content::Parts(parts.clone())),
            Message::user(Content::Parts(vec![parts[0].clone(), other])),
            Message::assistant("네").with_name("a"),
            Message::assistant("").with_tool_calls([call.clone()]),
            Message::assistant("잠깐").with_tool_calls([call]),
            Message::assistant(Content::Parts(parts)),
            Message::tool("c1", "12:00"),
            Message::tool("c1", "12:00").with_name("now"),
            Message::new(Role::Tool, "12:00"),
        ];
        let sent = asked(&ChatRequest::new(messages.clone()), false, &Quirks::default());
        let want: Vec<_> = messages.iter().map(Message::to_openai).collect();
        assert_eq!(sent["messages"], Value::from(want));
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
