//! Answers of a form: as a server gives them, out of prose, repaired, and what is none.

use std::{collections::BTreeMap, sync::Arc};

use hanok_agent::{SchemaPlace, Structured, StructuredError, StructuredMode, StructuredReply};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxFuture, Call, CallKey, Clock, Tenant, ThreadKey, Timestamp};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_model::{
    ChatReply, ChatRequest, Exchange, Finish, FnTool, ModelError, ResponseFormat, ScriptedModel,
    Tool, ToolSpec,
};
use hanok_state::{Message, Role, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Route {
    target: Target,
    /// Why.
    reason: Option<String>,
    #[serde(default)]
    top: u8,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Documents,
    Web,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Step {
    Find { query: String, after: Option<u32> },
    Stop,
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn sleep(&self, _: std::time::Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn call() -> Call {
    Call::new(CallKey::new("k"), Arc::new(Still))
}

async fn ask(
    model: &ScriptedModel,
    mode: StructuredMode,
) -> Result<StructuredReply<Route>, StructuredError> {
    let request = ChatRequest::new([Message::system("You route."), Message::user("연차는?")]);
    let reply = Structured::<Route>::new("route").mode(mode).ask(model, request, &call()).await;
    model.finished().unwrap();
    reply
}

const GOOD: &str = r#"{"target":"web","reason":null,"top":null,"steps":[{"kind":"find","query":"연차","after":null},{"kind":"stop"}]}"#;

fn good() -> Route {
    let find = Step::Find { query: "연차".into(), after: None };
    Route { target: Target::Web, reason: None, top: 0, steps: vec![find, Step::Stop] }
}

/// Every object of a schema is closed, and requires all it has.
fn is_strict(schema: &Value) -> bool {
    let own = schema.get("properties").and_then(Value::as_object).is_none_or(|properties| {
        let required = schema["required"].as_array().unwrap();
        schema["additionalProperties"] == false
            && properties.keys().all(|n| required.contains(&json!(n)))
    });
    let inner: Vec<&Value> = match schema {
        Value::Object(object) => object.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own && inner.into_iter().all(is_strict)
}

#[tokio::test]
async fn a_server_reads_a_strict_schema_and_optional_fields_may_be_null() {
    let model = ScriptedModel::new([Exchange::says(GOOD).usage(50, 9)]);
    let reply = ask(&model, StructuredMode::Auto).await.unwrap();
    assert_eq!((reply.value, reply.sent_in, reply.attempts), (good(), SchemaPlace::Server, 1));
    assert_eq!((reply.usage.input_tokens, reply.model.as_str()), (50, "scripted"));
    let sent = &model.requests()[0];
    let ResponseFormat::JsonSchema { name, schema } = &sent.response_format else { panic!() };
    assert_eq!(name, "route");
    assert!(is_strict(&schema.0), "{}", schema.0);
    assert!(schema.0.to_string().contains("documents"));
    // The prompt is the caller's alone.
    assert_eq!((sent.messages.len(), &*sent.messages[0].text()), (2, "You route."));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_once_more_with_its_mistakes() {
    let bad = r#"{"target":"moon","steps":[],"more":1}"#;
    let again = || Exchange::says(GOOD).usage(60, 10);
    let model = ScriptedModel::new([
        Exchange::says(bad).usage(50, 9),
        again()
            .contains(bad)
            .contains("`target` has to be one of \"documents\", \"web\", and is \"moon\"."),
    ]);
    let reply = ask(&model, StructuredMode::Auto).await.unwrap();
    assert_eq!((reply.value, reply.attempts), (good(), 2));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (110, 19));
    let roles: Vec<_> = model.requests()[1].messages.iter().map(Message::role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);

    let model = ScriptedModel::new([Exchange::says(bad), Exchange::says(bad)]);
    let error = ask(&model, StructuredMode::Auto).await.unwrap_err();
    let StructuredError::Invalid { name, mistakes, text } = error else { panic!("{error:?}") };
    assert_eq!((name.as_str(), mistakes.len(), text.as_str()), ("route", 1, bad));
}

#[tokio::test]
async fn a_server_that_refuses_schemas_is_asked_by_the_prompt() {
    let refused = || ModelError::BadRequest { status: 400, source: None };
    let said =
        format!("<think>{{\"target\": 1}}</think>Sure!\n```json\n{GOOD}\n```\nAnything else?");
    let model = ScriptedModel::new([
        Exchange::fails(refused()),
        Exchange::says(said.as_str())
            .contains("You route.\n\nAnswer with one JSON object that fits"),
    ]);
    let reply = ask(&model, StructuredMode::Auto).await.unwrap();
    assert_eq!((reply.value, reply.sent_in, reply.attempts), (good(), SchemaPlace::Prompt, 2));
    let formats = model.requests().into_iter().map(|request| request.response_format);
    assert_eq!(formats.last(), Some(ResponseFormat::Text));

    // Only where it may.
    let model = ScriptedModel::new([Exchange::fails(refused())]);
    let error = ask(&model, StructuredMode::Schema).await.unwrap_err();
    assert!(matches!(error, StructuredError::Model(ModelError::BadRequest { .. })), "{error:?}");
    // And by the prompt at once where it is told to; a repair stays there.
    let model = ScriptedModel::new([Exchange::says("I think web."), Exchange::says(said)]);
    let reply = ask(&model, StructuredMode::Prompt).await.unwrap();
    assert_eq!((reply.sent_in, reply.attempts), (SchemaPlace::Prompt, 2));
    assert!(model.requests().iter().all(|sent| sent.response_format == ResponseFormat::Text));
    assert!(model.requests()[1].messages[3].text().contains("There is no JSON object"));
}

#[tokio::test]
async fn a_reply_without_an_answer_is_a_typed_error() {
    let reply = |text: &str, finish| {
        Exchange::replies(ChatReply::new(Message::assistant(text), "m").finish(finish))
    };
    type Is = fn(&StructuredError) -> bool;
    let cases: [(Vec<Exchange>, Is); 6] = [
        (
            vec![reply("I cannot help with that.", Finish::Refused)],
            |e| matches!(e, StructuredError::Refused { text, .. } if text == "I cannot help with that."),
        ),
        (vec![reply("", Finish::ContentFilter)], |e| matches!(e, StructuredError::Refused { .. })),
        (vec![reply(r#"{"target":"we"#, Finish::Length)], |e| {
            matches!(e, StructuredError::CutOff { .. })
        }),
        (vec![reply("", Finish::Stop), reply(" ", Finish::Stop)], |e| {
            matches!(e, StructuredError::Empty { .. })
        }),
        (vec![Exchange::fails(ModelError::Cancelled)], |e| {
            matches!(e, StructuredError::Model(ModelError::Cancelled))
        }),
        (vec![reply("no", Finish::Stop), reply("no", Finish::Stop)], |e| {
            matches!(e, StructuredError::Invalid { .. })
        }),
    ];
    for (script, is) in cases {
        let error = ask(&ScriptedModel::new(script), StructuredMode::Auto).await.unwrap_err();
        assert!(is(&error), "{error:?}");
    }
    // What is whole is whole, however it ended.
    let model = ScriptedModel::new([reply(GOOD, Finish::Length)]);
    assert_eq!(ask(&model, StructuredMode::Auto).await.unwrap().value, good());
}

#[tokio::test]
async fn a_type_that_is_no_struct_is_wrapped_and_a_schema_may_be_made_at_run_time() {
    let wrapped = |answer: Value| json!({ "answer": answer }).to_string();
    let model = ScriptedModel::new([
        Exchange::says(wrapped(json!("web"))),
        Exchange::says(wrapped(json!([{"kind": "stop"}]))),
        Exchange::says(r#"{"a": "x"}"#),
        Exchange::says(r#"{"b": {"k": 3}}"#),
    ]);
    let request = || ChatRequest::new(["?"]);
    let target = Structured::<Target>::new("target").ask(&model, request(), &call()).await;
    assert_eq!(target.unwrap().value, Target::Web);
    let steps = Structured::<Vec<Step>>::new("steps").ask(&model, request(), &call()).await;
    assert_eq!(steps.unwrap().value, [Step::Stop]);
    let schema = json!({"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]});
    let any = Structured::<Value>::of_schema("any", schema).ask(&model, request(), &call()).await;
    assert_eq!(any.unwrap().value, json!({"a": "x"}));
    // A map has no strict form: it is sent as it is, and checked here.
    type Maps = BTreeMap<String, BTreeMap<String, u8>>;
    let maps = Structured::<Maps>::new("maps").ask(&model, request(), &call()).await;
    assert_eq!(maps.unwrap().value["b"]["k"], 3);

    let broken =
        Structured::<Value>::of_schema("broken", json!({"type": "object", "$ref": "http://x/y"}));
    let error = broken.ask(&model, request(), &call()).await.unwrap_err();
    assert!(matches!(error, StructuredError::Schema { .. }), "{error:?}");
}

#[tokio::test]
async fn tools_are_not_shown_and_each_attempt_is_a_call_of_the_budget() {
    let tool =
        FnTool::untyped(ToolSpec::new("t", "", json!({})).unwrap(), |_, _| async { Ok("".into()) });
    let model = ScriptedModel::new([Exchange::says("?"), Exchange::says(GOOD)]);
    let budget = hanok_core::Budget { model_calls: Some(1), ..Default::default() };
    let meter = hanok_core::Meter::budgeted(budget, Default::default());
    let request = ChatRequest::new(["?"]).tools([tool.spec().clone()]);
    let call = call().meter(meter);
    let error = Structured::<Route>::new("r").ask(&model, request, &call).await.unwrap_err();
    assert!(matches!(error, StructuredError::Model(ModelError::OverBudget(_))), "{error:?}");
    assert!(model.requests()[0].tools.is_empty());
}

#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Routed {
    to: Option<Target>,
    tries: u32,
}

/// A memoised step: a run that goes on is given the answer, and the model is not asked again.
#[tokio::test]
async fn in_a_node_it_is_asked_once() {
    let model = ScriptedModel::new([Exchange::says(GOOD)]);
    let failed = std::sync::atomic::AtomicBool::new(false);
    let (asked, failed) = (model.clone(), Arc::new(failed));
    let node = move |_: Snapshot<Routed>, context: Context| {
        let (model, failed) = (asked.clone(), failed.clone());
        async move {
            let call = context.call("model", "route", "");
            let route = Structured::<Route>::new("route");
            let ask = || route.ask(&model, ChatRequest::new(["?"]), &call);
            let route = context.step("route", ask).await?;
            if !failed.swap(true, std::sync::atomic::Ordering::SeqCst) {
                return Err(hanok_core::BoxError::from("the node dies"));
            }
            Ok(Routed::update().to(Some(route.value.target)))
        }
    };
    let graph = Graph::<Routed>::builder("g").node("route", node);
    let graph = graph.edge(START, "route").edge("route", END).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(key);
    thread.invoke(Routed::update(), ()).await.unwrap_err();
    let state = thread.resume(()).await.unwrap().done().unwrap();
    assert_eq!(state.to, Some(Target::Web));
    model.finished().unwrap();
}
