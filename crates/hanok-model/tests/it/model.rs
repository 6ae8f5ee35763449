//! Requests, tools and errors.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{error::Error, time::Duration};

use hanok_core::{AskError, Effect};
use hanok_model::{
    ChatRequest, FnTool, InvalidSpec, ModelError, ResponseFormat, SharedTool, Tool, ToolChoice,
    ToolError, ToolOutput, ToolSpec,
};
use hanok_state::{Arguments, Message};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::clock::call;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Asc,
    Desc,
}

/// What the docs of the struct say is not for the model.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is read")]
struct Search {
    /// What to look for.
    query: String,
    /// How many at most.
    limit: Option<u32>,
    order: Order,
    tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    question: String,
}

#[test]
fn a_spec_holds_the_schema_of_its_type_and_nothing_else() {
    let spec = ToolSpec::of::<Search>("search", "Searches").unwrap();
    assert_eq!(
        spec.schema(),
        &json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0, "description": "How many at most."},
                "order": {"type": "string", "enum": ["asc", "desc"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["query", "order", "tags"],
        })
    );
    let parameters: Vec<_> = spec
        .parameters()
        .into_iter()
        .map(|p| (p.name, p.kind, p.required, p.description.unwrap_or_default()))
        .collect();
    let row = |name: &str, kind: &str, required, description: &str| {
        (name.to_owned(), kind.to_owned(), required, description.to_owned())
    };
    assert_eq!(
        parameters,
        [
            row("order", r#""asc" or "desc""#, true, ""),
            row("query", "string", true, "What to look for."),
            row("tags", "array of string", true, ""),
            row("limit", "integer", false, "How many at most."),
        ]
    );
    assert_eq!(spec.only_text_parameter(), None);
    assert_eq!(ToolSpec::of::<Ask>("ask", "").unwrap().only_text_parameter(), Some("question"));
}

#[test]
fn a_schema_without_type_and_properties_is_one_of_an_object() {
    let bare = ToolSpec::new("now", "The time", json!({})).unwrap();
    assert_eq!(bare.schema(), &json!({"type": "object", "properties": {}}));
    assert_eq!((bare.parameters(), bare.only_text_parameter()), (vec![], None));
    for schema in [json!({"type": "string"}), json!(true), json!([])] {
        let refused = ToolSpec::new("now", "", schema).unwrap_err();
        assert_eq!(refused, InvalidSpec::NotAnObject { tool: "now".into() });
    }
    assert!(ToolSpec::of::<String>("echo", "").is_err());
}

#[test]
fn a_name_is_what_model_servers_take() {
    for name in ["a", "search_docs-2.1", &"x".repeat(64)] {
        assert_eq!(ToolSpec::new(name, "", json!({})).unwrap().name(), name);
    }
    for name in ["", "검색", "a b", "a\u{1b}", "a/b", &"x".repeat(65)] {
        let error = ToolSpec::new(name, "", json!({})).unwrap_err();
        assert_eq!(error, InvalidSpec::Name { name: name.to_owned() });
        assert!(!error.to_string().contains('\u{1b}'));
        let stored = json!({"name": name, "description": "", "schema": {}});
        assert!(serde_json::from_value::<ToolSpec>(stored).is_err(), "{name:?}");
    }
}

#[test]
fn a_request_reads_back_as_it_was_written() {
    let request = ChatRequest::new([Message::user("안녕")])
        .message(Message::assistant("네"))
        .tools([ToolSpec::of::<Ask>("ask", "Asks").unwrap()])
        .tool_choice(ToolChoice::Tool("ask".into()))
        .response_format(ResponseFormat::of::<Ask>("ask"))
        .temperature(0.2)
        .max_tokens(100)
        .stop(["\nObservation:"]);
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<ChatRequest>(&text).unwrap(), request);
    let bare: ChatRequest = serde_json::from_value(json!({"messages": []})).unwrap();
    assert_eq!(bare, ChatRequest::default());
}

#[tokio::test(start_paused = true)]
async fn a_function_is_a_tool_with_typed_arguments() {
    let tool = FnTool::new("ask", "Asks", |ask: Ask, call| async move {
        Ok(ToolOutput::new(format!("{}?", ask.question)).data(json!(call.key().as_str())))
    })
    .unwrap()
    .effect(Effect::Pure)
    .timeout(Duration::from_secs(5));
    let tool = SharedTool::new(tool);
    assert_eq!((tool.effect(), tool.timeout()), (Effect::Pure, Duration::from_secs(5)));

    let given = tool.run(&Arguments::new(r#"{"question":"왜"}"#), &call()).await.unwrap();
    assert_eq!(given, ToolOutput::new("왜?").data(json!("test")));

    let refused = tool.run(&Arguments::new(r#"{"query":"왜"}"#), &call()).await.unwrap_err();
    assert_eq!(
        refused.report(),
        "the arguments do not fit the tool: missing field `question` at line 1 column 15"
    );
}

#[tokio::test(start_paused = true)]
async fn an_untyped_tool_gets_the_arguments_as_they_were_written() {
    let spec = ToolSpec::new("echo", "", json!({})).unwrap();
    let echo =
        FnTool::untyped(spec, |arguments, _| async move { Ok(arguments.to_string().into()) });
    assert_eq!(Tool::effect(&echo), Effect::AtMostOnce);
    assert_eq!(echo.run(&Arguments::new("{ }"), &call()).await.unwrap().text, "{ }");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_cannot_ask_a_person_says_so() {
    let tool = FnTool::new("ask", "Asks", |ask: Ask, call| async move {
        let payload = hanok_core::Stored::encode(&ask.question).map_err(ToolError::failed)?;
        call.question(hanok_core::Request::new(payload)).await?;
        Ok("asked".into())
    })
    .unwrap();
    let error = tool.run(&Arguments::new(r#"{"question":"왜"}"#), &call()).await.unwrap_err();
    assert!(matches!(error, ToolError::Waiting(AskError::Nobody { .. })), "{error:?}");
}

#[test]
fn an_error_names_the_remedy_and_keeps_its_cause() {
    let cause = || Some("server: it is full".into());
    for (error, transient, want) in [
        (
            ModelError::BadKey { sent: false, source: cause() },
            false,
            "the model's server wants an API key and none was given; set OPENAI_API_KEY",
        ),
        (
            ModelError::ContextTooLong {
                limit: Some(8192),
                requested: Some(9000),
                source: cause(),
            },
            false,
            "the conversation is too long for the model: 9000 tokens of at most 8192; shorten it",
        ),
        (
            ModelError::RateLimited { retry_after: Some(Duration::from_secs(2)), source: cause() },
            true,
            "the model's server gets too many requests; ask again in 2s",
        ),
        (
            ModelError::Server { status: 503, retry_after: None, source: cause() },
            true,
            "the model's server failed (status 503); ask again later",
        ),
    ] {
        assert_eq!((error.to_string().as_str(), error.is_transient()), (want, transient));
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("server: it is full"));
    }
}

/// What a model wrote in the place of one of a few values is shown bounded and without what acts on a terminal; what there could be
/// stands behind it.
#[tokio::test]
async fn a_value_that_is_none_of_the_tool_s_is_shown_bounded() {
    #[derive(Deserialize, JsonSchema)]
    struct Sorted {
        order: Order,
    }
    let sort = FnTool::new("sort", "Sorts", |sorted: Sorted, _| async move {
        Ok(matches!(sorted.order, Order::Asc).to_string().into())
    });
    let sort = sort.unwrap();
    let said = async |order: &str| {
        let arguments = Arguments::from_value(&json!({"order": order})).unwrap();
        sort.run(&arguments, &call()).await.map_err(|error| error.report())
    };
    assert!(said("asc").await.is_ok());
    let short = said("up").await.unwrap_err();
    assert!(short.contains("unknown variant `up`") && short.contains("`desc`"), "{short}");
    let long = said(&format!("\u{1b}[31m{}", "가".repeat(100_000))).await.unwrap_err();
    assert!(long.chars().count() < 450, "{}", long.chars().count());
    assert!(long.contains("\\u{1b}") && !long.contains(char::is_control), "{long:?}");
    assert!(long.contains("`asc`") && long.contains('…'), "{long}");
}
