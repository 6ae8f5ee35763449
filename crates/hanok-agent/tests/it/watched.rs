//! What an operator sees of an agent's turn, and what holds it: spans and budgets.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
};

use hanok_agent::{AgentState, ContentCapture, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Budget, Call, Request, Stored, Tenant, ThreadKey};
use hanok_graph::{Limit, Outcome, Thread};
use hanok_model::{Exchange, FnTool, Price, Priced, ScriptedModel, ToolError, ToolSpec};
use serde_json::json;
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{Layer, Registry, layer::Context, prelude::*, registry::LookupSpan};

use crate::support::{Ledger, call, tools};

/// Spans, as their names from the outermost in, with what was recorded.
#[derive(Debug, Clone, Default)]
struct SpanLog(Arc<Mutex<Vec<(String, Fields)>>>);

type Fields = BTreeMap<String, String>;

struct Recorded<'a>(&'a mut Fields);

impl Visit for Recorded<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLog {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, cx: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Recorded(&mut fields));
        cx.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, cx: Context<'_, S>) {
        let span = cx.span(id).unwrap();
        let mut extensions = span.extensions_mut();
        values.record(&mut Recorded(extensions.get_mut().unwrap()));
    }

    fn on_close(&self, id: span::Id, cx: Context<'_, S>) {
        let span = cx.span(&id).unwrap();
        let name = |fields: &Fields| fields["otel.name"].clone();
        let path = span
            .scope()
            .from_root()
            .map(|span| span.extensions().get::<Fields>().map(name).unwrap_or_default());
        let path: Vec<_> = path.collect();
        let fields = span.extensions().get::<Fields>().cloned().unwrap();
        self.0.lock().unwrap().push((path.join(" > "), fields));
    }
}

fn thread(agent: &ReactAgent) -> Thread<AgentState> {
    let key = ThreadKey::new(Tenant::default(), "t-17").unwrap();
    agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key)
}

/// A turn is one tree of spans, named as the conventions say, and holds nothing of what was said.
#[tokio::test]
async fn a_turn_of_an_agent_is_a_tree_of_spans_without_content() {
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "a secret"}"#) + &call("broken", r#"{"q": "b"}"#)),
        Exchange::says("Final Answer: done"),
    ]);
    let agent =
        ReactAgent::builder("clerk", "", model).tools(tools(&Ledger::default())).build().unwrap();
    let seen = SpanLog::default();
    let _watching = tracing::subscriber::set_default(Registry::default().with(seen.clone()));
    thread(&agent).invoke(agent.ask("where is a secret?"), ()).await.unwrap().done().unwrap();

    let spans = seen.0.lock().unwrap().clone();
    let paths: Vec<_> = spans.iter().map(|(path, _)| path.as_str()).collect();
    let turn = "invoke_agent clerk";
    let tool = format!("{turn} > node execute_tool > execute_tool");
    assert_eq!(
        paths,
        [
            format!("{turn} > node call_model > chat scripted"),
            format!("{turn} > node call_model"),
            // The one that fails is the first to be over.
            format!("{tool} broken"),
            format!("{tool} find"),
            format!("{turn} > node execute_tool"),
            format!("{turn} > node call_model > chat scripted"),
            format!("{turn} > node call_model"),
            turn.to_owned(),
        ]
    );
    assert_eq!(spans[7].1["gen_ai.conversation.id"], "t-17");
    assert_eq!(spans[2].1["error.type"], "tool");
    assert!(spans[0].1.contains_key("gen_ai.usage.input_tokens"));
    assert!(!format!("{spans:?}").contains("secret"));
}

/// What is said is recorded when somebody decides that, and then only.
#[tokio::test]
async fn content_is_recorded_when_it_is_switched_on() {
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "a secret"}"#)),
        Exchange::says("Final Answer: done"),
    ]);
    let agent = ReactAgent::builder("clerk", "", model)
        .tools(tools(&Ledger::default()))
        .capture(ContentCapture::On)
        .build()
        .unwrap();
    let seen = SpanLog::default();
    let _watching = tracing::subscriber::set_default(Registry::default().with(seen.clone()));
    thread(&agent).invoke(agent.ask("where is it?"), ()).await.unwrap().done().unwrap();
    let spans = seen.0.lock().unwrap().clone();
    assert!(spans[0].1["gen_ai.input.messages"].contains("where is it?"));
    assert!(spans[0].1["gen_ai.output.messages"].contains("a secret"));
    let tool = &spans.iter().find(|(path, _)| path.ends_with("execute_tool find")).unwrap().1;
    assert_eq!(tool["gen_ai.tool.call.arguments"], r#"{"q":"a secret"}"#);
    assert_eq!(tool["gen_ai.tool.call.result"], "found a secret");
}

fn busy(model: &ScriptedModel, price: Price) -> ReactAgent {
    let model = Priced::new(model.clone(), price);
    ReactAgent::builder("t", "", model).tools(tools(&Ledger::default())).build().unwrap()
}

/// P17: calls of models and tools, tokens and money: none is spent past its limit, and a larger one goes on with what was
/// done.
#[tokio::test]
async fn a_turn_ends_at_its_budget_and_goes_on_with_a_larger_one() {
    let price = Price { input: 1_000_000, output: 0 };
    for (budget, which) in [
        (Budget { model_calls: Some(1), ..Budget::default() }, Limit::ModelCalls(1)),
        (Budget { tool_calls: Some(1), ..Budget::default() }, Limit::ToolCalls(1)),
        (Budget { tokens: Some(120), ..Budget::default() }, Limit::Tokens(120)),
        (Budget { cost: Some(100), ..Budget::default() }, Limit::Cost(100)),
    ] {
        let said = call("find", r#"{"q": "a"}"#) + &call("find", r#"{"q": "b"}"#);
        let model = ScriptedModel::new([
            Exchange::says(said).usage(100, 20),
            Exchange::says("Final Answer: done").usage(100, 20),
        ]);
        let agent = busy(&model, price);
        let thread = thread(&agent);
        let outcome = thread.clone().budget(budget).invoke(agent.ask("?"), ()).await.unwrap();
        let Outcome::LimitReached { which: reached, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(reached, which);
        assert_eq!(model.requests().len(), 1, "{which}");
        // The same budget stops at once; nothing more is spent.
        let again = thread.clone().budget(budget).resume(()).await.unwrap();
        assert!(matches!(again, Outcome::LimitReached { .. }), "{again:?}");
        assert_eq!(model.requests().len(), 1, "{which}");
        let state = thread.resume(()).await.unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some("done"));
        model.finished().unwrap();
    }
}

/// A call that waits for a person has not failed, and its span has no error.
#[tokio::test]
async fn the_span_of_a_call_that_waits_has_no_error() {
    let spec = ToolSpec::new("choose", "Asks", json!({})).unwrap();
    let choose = FnTool::untyped(spec, |_, call: Call| async move {
        let question = Request::new(Stored::encode("which?").map_err(ToolError::failed)?);
        let answer: String = call.question(question).await?.decode().map_err(ToolError::failed)?;
        Ok(answer.into())
    });
    let model = ScriptedModel::new([
        Exchange::says(call("choose", "{}")),
        Exchange::says("Final Answer: done").contains("the blue one"),
    ]);
    let agent = ReactAgent::builder("clerk", "", model).tool(choose).build().unwrap();
    let seen = SpanLog::default();
    let _watching = tracing::subscriber::set_default(Registry::default().with(seen.clone()));
    let thread = thread(&agent);
    let outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)), "{outcome:?}");
    thread.reply("the blue one", ()).await.unwrap().done().unwrap();
    let spans = seen.0.lock().unwrap();
    let of_tool: Vec<_> = spans.iter().filter(|it| it.0.ends_with("execute_tool choose")).collect();
    assert_eq!(of_tool.len(), 2);
    assert!(of_tool.iter().all(|it| !it.1.contains_key("error.type")), "{of_tool:?}");
}
