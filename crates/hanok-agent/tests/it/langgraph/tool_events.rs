//! Calls of tools as observers see them: LangGraph's mode `tools`, and its handles of calls.

use std::{collections::BTreeMap, sync::Arc};

use futures::StreamExt;
use hanok_agent::{ToolErrors, ToolNode, ToolRegistry, ToolRunner};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Effect, Request, Stored, ThreadKey};
use hanok_graph::{
    END, Event, EventKind, Graph, Input, Mode, Outcome, START, Subgraph, Thread, ToolEvent,
};
use hanok_model::{FnTool, SharedTool, ToolError, ToolSpec, tool};
use hanok_state::ToolCall;
use serde_json::json;
use tokio::sync::Notify;

use super::{Trip, add, adds, asked, calls, divide, graph, make, node, pair, results, shared};

/// Sends a text in pieces.
#[tool(effect = pure)]
async fn spell(text: String, call: Call) -> String {
    for letter in text.chars() {
        call.output(&letter);
    }
    format!("spelt {text}")
}

/// Asks where to go.
#[tool(effect = pure)]
async fn choose(call: Call) -> Result<String, ToolError> {
    let question = Request::new(Stored::encode("where to?").map_err(ToolError::failed)?);
    call.question(question).await?.decode().map_err(ToolError::failed)
}

fn spells(id: &str, text: &str) -> ToolCall {
    calls("spell", id, json!({"text": text}))
}

fn with(errors: ToolErrors) -> ToolNode {
    let tools = [shared(add), shared(divide), shared(spell), shared(choose)];
    ToolNode::new(ToolRunner::new(ToolRegistry::new(tools).unwrap().errors(errors)))
}

fn thread(graph: &Graph<Trip>) -> Thread<Trip> {
    graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t").unwrap())
}

/// One event of a tool: the call, the tool, and what is told.
fn told(event: &Event) -> Option<(String, String)> {
    let EventKind::Tool(tool) = &event.kind else { return None };
    let call = event.call.as_ref().unwrap();
    let told = match tool {
        ToolEvent::Started { arguments } => format!("started {arguments}"),
        ToolEvent::Output { item } => format!("output {item}"),
        ToolEvent::Ended { text } => format!("ended {text}"),
        ToolEvent::Failed { error } => format!("failed {error}"),
        other => panic!("{other:?}"),
    };
    Some((call.id.as_deref().unwrap().to_owned(), format!("{} {told}", call.name)))
}

async fn events(thread: &Thread<Trip>, input: Input<Trip>) -> Vec<Event> {
    thread.stream(input, ()).collect().await
}

/// What is told of these calls.
async fn watch(node: ToolNode, of: impl IntoIterator<Item = ToolCall>) -> Vec<(String, String)> {
    let thread = thread(&graph(node)).modes([Mode::Tools]);
    events(&thread, Input::New(asked(of))).await.iter().filter_map(told).collect()
}

/// LangGraph: started_finished_cycle, tool_started_yields_handle, finish_closes_stream.
#[tokio::test]
async fn a_call_begins_with_its_arguments_and_ends_with_its_result() {
    let seen = watch(with(ToolErrors::default()), [adds("1", 1, 2)]).await;
    let want = [pair("1", r#"add started {"a":1,"b":2}"#), pair("1", "add ended 3")];
    assert_eq!(seen, want);
}

/// LangGraph: emit_output_delta_produces_delta_events, delta_accumulates_on_active_stream,
/// sync_streaming_tool_populates_tool_calls.
#[tokio::test]
async fn the_parts_of_a_result_stand_between_its_beginning_and_its_end() {
    let seen = watch(with(ToolErrors::default()), [spells("1", "abc")]).await;
    let want = [
        pair("1", r#"spell started {"text":"abc"}"#),
        pair("1", r#"spell output "a""#),
        pair("1", r#"spell output "b""#),
        pair("1", r#"spell output "c""#),
        pair("1", "spell ended spelt abc"),
    ];
    assert_eq!(seen, want);
}

/// LangGraph: tool_error_event, error_closes_stream, tool_error_populates_error_field.
#[tokio::test]
async fn a_call_that_fails_ends_with_its_error() {
    let divides = || [calls("divide", "1", json!({"a": 1, "b": 0}))];
    let started = || pair("1", r#"divide started {"a":1,"b":0}"#);
    let thread = thread(&graph(with(ToolErrors::propagate()))).modes([Mode::Tools]);
    let events = events(&thread, Input::New(asked(divides()))).await;
    let seen: Vec<_> = events.iter().filter_map(told).collect();
    assert_eq!(seen, [started(), pair("1", "divide failed division by zero")]);
    let EventKind::Ended { error: Some(error), .. } = &events.last().unwrap().kind else {
        panic!("{events:?}")
    };
    assert!(error.contains("division by zero"), "{error}");

    // Where the model reads it, it is what the model reads.
    let seen = watch(with(ToolErrors::to_model()), divides()).await;
    let failed = "divide failed The tool `divide` gave no result: division by zero";
    assert_eq!(seen, [started(), pair("1", failed)]);
}

/// LangGraph: writer_unset_outside_tool. Where nobody watches nothing is sent, and the result is the same.
#[tokio::test]
async fn a_tool_that_nobody_watches_sends_nothing_and_has_its_result() {
    let trip = make(with(ToolErrors::default()), [spells("1", "abc")]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "spelt abc")]);
    assert_eq!(spell::call("ab".into(), Call::detached()).await, "spelt ab");
}

/// LangGraph: no_events_without_tools_mode, stream_modes_union_includes_tools, required_stream_modes_declares_tools.
#[tokio::test]
async fn calls_are_told_in_the_mode_of_tools_alone() {
    for (modes, want) in [
        (Some(vec![Mode::Values, Mode::Custom, Mode::Tasks, Mode::Messages]), 0),
        (Some(vec![Mode::Values, Mode::Tools]), 5),
        (None, 5),
    ] {
        let thread = thread(&graph(with(ToolErrors::default())));
        let thread = modes.clone().map_or(thread.clone(), |modes| thread.modes(modes));
        let events = events(&thread, Input::New(asked([spells("1", "abc")]))).await;
        assert_eq!(events.iter().filter_map(told).count(), want, "{modes:?}");
        let values = events.iter().filter(|it| matches!(it.kind, EventKind::Values(_))).count();
        assert_eq!(values, 2, "{modes:?}");
    }
}

/// LangGraph: tools_event_passes_through_main_log.
#[tokio::test]
async fn calls_stand_among_the_other_events_of_their_task() {
    let thread = thread(&graph(with(ToolErrors::default()))).modes([Mode::Tools, Mode::Tasks]);
    let events = events(&thread, Input::New(asked([adds("1", 1, 2)]))).await;
    let seen: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TaskStarted { .. } => Some("task started".to_owned()),
            EventKind::TaskFinished { .. } => Some("task finished".to_owned()),
            _ => Some(told(event)?.1),
        })
        .collect();
    let want = ["task started", r#"add started {"a":1,"b":2}"#, "add ended 3", "task finished"];
    assert_eq!(seen, want);
    let tasks: std::collections::BTreeSet<_> = events.iter().filter_map(|it| it.task).collect();
    assert_eq!(tasks.len(), 1);
    assert!(events.iter().filter_map(|it| it.place).is_sorted());
}

/// LangGraph: async_tool_produces_events, async_streaming_tool_populates_tool_calls. The tool goes on when its part was seen.
#[tokio::test]
async fn a_part_is_seen_while_the_tool_still_runs() {
    let seen = Arc::new(Notify::new());
    let waits = seen.clone();
    let run = move |_, call: Call| {
        let waits = waits.clone();
        async move {
            call.output("half");
            waits.notified().await;
            call.output("whole");
            Ok("done".into())
        }
    };
    let spec = ToolSpec::new("slow", "Works", json!({})).unwrap();
    let slow = shared(FnTool::untyped(spec, run).effect(Effect::Pure));
    let thread = thread(&graph(node([slow]))).modes([Mode::Tools]);
    let mut events = thread.stream(Input::New(asked([calls("slow", "1", json!({}))])), ());
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        let Some((_, told)) = told(&event) else { continue };
        if told == r#"slow output "half""# {
            seen.notify_one();
        }
        all.push(told);
    }
    let want =
        ["slow started {}", r#"slow output "half""#, r#"slow output "whole""#, "slow ended done"];
    assert_eq!(all, want);
}

/// LangGraph: interrupt_not_reported_as_tool_error_sync, …_async. The call begins again when there is an answer.
#[tokio::test]
async fn a_call_that_waits_for_a_person_has_not_failed() {
    let thread = thread(&graph(with(ToolErrors::default()))).modes([Mode::Tools]);
    let input = Input::New(asked([calls("choose", "1", json!({}))]));
    let seen: Vec<_> = events(&thread, input).await.iter().filter_map(told).collect();
    assert_eq!(seen, [pair("1", "choose started {}")]);
    let views = thread.views(None).await.unwrap();
    assert_eq!(views[0].requests.len(), 1);

    let answer = Input::reply("Busan").unwrap();
    let seen: Vec<_> = events(&thread, answer).await.iter().filter_map(told).collect();
    assert_eq!(seen, [pair("1", "choose started {}"), pair("1", "choose ended Busan")]);
}

/// LangGraph: parallel_tool_calls_do_not_bleed, concurrent_tool_calls_do_not_bleed.
#[tokio::test]
async fn the_parts_of_calls_that_run_at_once_are_told_by_their_ids() {
    let turns = Arc::new(tokio::sync::Barrier::new(2));
    let run = move |arguments: hanok_state::Arguments, call: Call| {
        let turns = turns.clone();
        async move {
            let name: String = arguments.decode().map_err(ToolError::arguments).map(
                |arguments: serde_json::Value| arguments["name"].as_str().unwrap_or("").to_owned(),
            )?;
            for part in 1..=2 {
                // Each sends its part when the other is as far.
                turns.wait().await;
                call.output(&format!("{name}{part}"));
            }
            Ok(name.into())
        }
    };
    let schema = json!({"properties": {"name": {"type": "string"}}});
    let spec = ToolSpec::new("stream", "Sends", schema).unwrap();
    let stream: SharedTool = shared(FnTool::untyped(spec, run).effect(Effect::Pure));
    let of = ["A", "B"].map(|name| calls("stream", &name.to_lowercase(), json!({"name": name})));
    let seen = watch(node([stream]), of).await;
    let order: Vec<_> = seen.iter().filter(|it| it.1.contains("output")).map(|it| &*it.0).collect();
    assert_ne!(order, ["a", "a", "b", "b"], "they run at once");
    let mut by_id: BTreeMap<String, Vec<String>> = BTreeMap::new();
    seen.into_iter().for_each(|(id, told)| by_id.entry(id).or_default().push(told));
    for (id, name) in [("a", "A"), ("b", "B")] {
        let want = [
            format!(r#"stream started {{"name":"{name}"}}"#),
            format!(r#"stream output "{name}1""#),
            format!(r#"stream output "{name}2""#),
            format!("stream ended {name}"),
        ];
        assert_eq!(by_id[id], want);
    }
}

/// LangGraph: tool_inside_subgraph_emits_with_subgraph_ns.
#[tokio::test]
async fn a_call_within_a_subgraph_is_told_by_its_path() {
    let inner = Graph::<Trip>::builder("inner").node("tools", with(ToolErrors::default()));
    let inner = inner.edge(START, "tools").edge("tools", END).build().unwrap();
    let outer = Graph::<Trip>::builder("outer").subgraph("sub", Subgraph::shared(inner));
    let outer = outer.edge(START, "sub").edge("sub", END).build().unwrap();
    let thread = thread(&outer).modes([Mode::Tools]);
    let events = events(&thread, Input::New(asked([adds("1", 1, 2)]))).await;
    let of_tools: Vec<_> = events.iter().filter(|event| told(event).is_some()).collect();
    assert_eq!(of_tools.len(), 2);
    for event in of_tools {
        assert_eq!((event.path.depth(), event.node.as_deref()), (1, Some("tools")));
        assert!(event.path.to_string().contains("sub"), "{}", event.path);
    }
}

/// Beside LangGraph's: a call of no tool, or with arguments that do not fit, has
/// a result and never begins.
#[tokio::test]
async fn a_call_that_is_not_made_never_begins() {
    let of = [calls("gone", "1", json!({})), calls("add", "2", json!({"a": 1})), adds("3", 1, 2)];
    let thread = thread(&graph(with(ToolErrors::default())));
    let outcome = thread.invoke(asked(of.clone()), ()).await.unwrap();
    let Outcome::Done(trip) = outcome else { panic!("{outcome:?}") };
    assert_eq!(results(&trip.talk).len(), 3);
    let seen = watch(with(ToolErrors::default()), of).await;
    assert_eq!(seen.iter().map(|it| &*it.0).collect::<Vec<_>>(), ["3", "3"]);
}
