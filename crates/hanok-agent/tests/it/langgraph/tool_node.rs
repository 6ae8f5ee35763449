//! Results of calls: their texts, their order, where they stand, and what is sent before they are there.

use futures::StreamExt;
use hanok_agent::{ToolRegistry, ToolRunner, ToolTurn, TurnUsage, tools_condition};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxError, Call, ThreadKey};
use hanok_graph::{Context, END, EventKind, Graph, Input, Mode, START, Snapshot};
use hanok_model::{ChatModel, ChatRequest, Exchange, ScriptedModel, SharedTool, ToolOutput, tool};
use hanok_state::{Content, Json, Message, Part, Role, State};
use serde_json::json;

use super::{Trip, add, adds, asked, calls, graph, make, node, pair, result, results, shared};

/// Lists the days of a trip.
#[tool(effect = pure)]
async fn plan(days: Vec<String>) -> ToolOutput {
    let list = json!(days);
    ToolOutput::new(list.to_string()).data(list)
}

/// Takes a photo.
#[tool(effect = pure)]
async fn photo() -> ToolOutput {
    ToolOutput::new("a tower").image("https://example.org/tower.png")
}

/// Walks, and tells how far it is.
#[tool(effect = pure)]
async fn walk(call: Call) -> &'static str {
    for milestone in ["gate", "bridge", "tower"] {
        call.custom(&json!({"passed": milestone}));
    }
    "arrived"
}

/// LangGraph: tool_node. A list is text for the model and data for programs.
#[tokio::test]
async fn a_result_is_a_text_a_list_or_a_picture() {
    let tools = node([shared(add), shared(plan), shared(photo)]);
    let days = calls("plan", "2", json!({"days": ["mon", "tue"]}));
    let trip = make(tools, [adds("1", 1, 2), days, calls("photo", "3", json!({}))]).await.unwrap();
    let messages: Vec<_> = trip.talk.iter().skip(1).collect();
    assert!(messages.iter().all(|message| message.role() == Role::Tool));
    assert_eq!((messages[0].tool_call_id(), &*messages[0].text()), (Some("1"), "3"));
    assert_eq!(messages[0].metadata()["tool"], Json(json!("add")));
    assert_eq!(&*messages[1].text(), r#"["mon","tue"]"#);
    assert_eq!(messages[1].metadata()["data"], Json(json!(["mon", "tue"])));
    let image = Part::Image { url: "https://example.org/tower.png".into() };
    let parts = vec![Part::Text { text: "a tower".into() }, image];
    assert_eq!(messages[2].content(), &Content::Parts(parts));
}

/// The texts of these calls, made without a conversation.
async fn run_alone(of: Vec<hanok_state::ToolCall>) -> Result<Vec<String>, hanok_graph::RunError> {
    let runner = ToolRunner::new(ToolRegistry::new([shared(add)]).unwrap());
    let alone = move |_: Snapshot<Trip>, cx: Context| {
        let (runner, of) = (runner.clone(), of.clone());
        async move {
            let turn = ToolTurn { messages: &Default::default(), usage: &TurnUsage::default() };
            let made = runner.run_all(&cx, turn, &of).await?;
            let texts = made.into_iter().map(|result| result.observation.text);
            Ok::<_, BoxError>(texts.fold(Trip::update(), |update, text| update.push_visited(text)))
        }
    };
    let graph = Graph::<Trip>::builder("alone").node("a", alone).edge(START, "a").edge("a", END);
    let trip = graph.build().unwrap().invoke(Trip::update(), ()).await?.done().unwrap();
    Ok(trip.visited)
}

/// LangGraph: tool_node_tool_call_input. A runner takes calls where there is no conversation.
#[tokio::test]
async fn calls_are_made_without_a_conversation() {
    assert_eq!(run_alone(vec![adds("1", 1, 2)]).await.unwrap(), ["3"]);
    assert_eq!(run_alone(vec![adds("1", 1, 2), adds("2", 3, 4)]).await.unwrap(), ["3", "7"]);
    let texts = run_alone(vec![adds("1", 1, 2), calls("sub", "2", json!({}))]).await.unwrap();
    assert_eq!(texts[0], "3");
    assert!(texts[1].starts_with("There is no tool `sub`."), "{texts:?}");
    // Two calls with one id are no two calls here: their steps would be one.
    run_alone(vec![adds("1", 1, 2), adds("1", 3, 4)]).await.unwrap_err();
}

/// LangGraph: tool_node_incorrect_tool_name.
#[tokio::test]
async fn a_call_of_no_tool_is_told_which_tools_there_are() {
    let trip = make(node([shared(add), shared(plan)]), [calls("sub", "1", json!({"a": 1}))]).await;
    let trip = trip.unwrap();
    let want = "There is no tool `sub`. The tools are: `add`, `plan`.";
    assert_eq!(results(&trip.talk), [pair("1", want)]);
    assert_eq!(super::fault(&trip.talk, "1").as_deref(), Some("unknown_tool"));
}

/// LangGraph: tool_node_ensure_utf8.
#[tokio::test]
async fn a_result_keeps_the_letters_of_every_language() {
    let days = ["星期一", "水曜日", "목요일", "Friday"];
    let trip = make(node([shared(plan)]), [calls("plan", "1", json!({"days": days}))]).await;
    let text = result(&trip.unwrap().talk, "1");
    assert_eq!(text, r#"["星期一","水曜日","목요일","Friday"]"#);
}

/// LangGraph: tool_node_messages_key. The state says where its conversation is.
#[tokio::test]
async fn the_conversation_may_be_any_field_of_the_state() {
    let model = ScriptedModel::new([
        Exchange::calls([adds("1", 1, 2)]),
        Exchange::says("three").check(|request| match request.messages.last() {
            Some(last) if last.tool_call_id() == Some("1") && last.text() == "3" => Ok(()),
            last => Err(format!("{last:?}")),
        }),
    ]);
    let asks = model.clone();
    let ask = move |trip: Snapshot<Trip>, context: Context| {
        let model = asks.clone();
        async move {
            let call = context.call("model", model.name(), "");
            let reply = model.chat(ChatRequest::new(trip.talk.iter().cloned()), &call).await?;
            Ok::<_, BoxError>(Trip::update().talk_message(reply.message))
        }
    };
    let graph = Graph::<Trip>::builder("trip")
        .node("model", ask)
        .node("tools", node([shared(add)]))
        .edge(START, "model")
        .branch("model", tools_condition, ["tools", END])
        .edge("tools", "model")
        .build()
        .unwrap();
    let trip = graph.invoke(Trip::update().talk_message("hi"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let talk: Vec<_> = trip.talk.iter().map(|it| (it.role(), it.text().into_owned())).collect();
    let want = [(Role::User, "hi"), (Role::Assistant, ""), (Role::Tool, "3")];
    let want = want.into_iter().chain([(Role::Assistant, "three")]);
    assert_eq!(talk, want.map(|(role, text)| (role, text.to_owned())).collect::<Vec<_>>());
}

/// LangGraph: tool_node_stream_writer, of both suites.
#[tokio::test]
async fn a_tool_sends_items_before_its_result_is_written() {
    let modes: [&[Mode]; 2] = [&[Mode::Custom], &[Mode::Custom, Mode::Updates]];
    for modes in modes {
        let app = graph(node([shared(walk)])).checkpointer(InMemoryCheckpointer::new());
        let thread = app.thread(ThreadKey::named("t").unwrap()).modes(modes.iter().copied());
        let mut events = thread.stream(Input::New(asked([calls("walk", "1", json!({}))])), ());
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            match &event.kind {
                EventKind::Custom(item) => {
                    let item: serde_json::Value = item.decode().unwrap();
                    let call = event.call.as_ref().unwrap();
                    assert_eq!((call.id.as_deref(), &*call.name), (Some("1"), "walk"));
                    seen.push(item["passed"].as_str().unwrap().to_owned());
                }
                EventKind::Updates(update) if event.node.as_deref() == Some("tools") => {
                    let text = format!("{update:?}");
                    assert!(text.contains("arrived"), "{text}");
                    seen.push("written".into());
                }
                _ => {}
            }
        }
        let written = if modes.len() == 2 { &["written"][..] } else { &[] };
        assert_eq!(seen, [&["gate", "bridge", "tower"], written].concat());
    }
}

/// LangGraph: tool_node_with_functools_partial. A tool may be a closure that holds what it works with.
#[tokio::test]
async fn a_tool_is_a_closure_that_holds_its_index() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Query {
        query: String,
    }
    let index = std::sync::Arc::new(vec!["the palace opens at nine", "the tower is closed"]);
    let search = move |Query { query }, _| {
        let index = index.clone();
        async move {
            let found = index.iter().filter(|line| line.contains(&query)).copied();
            Ok(found.collect::<Vec<_>>().join("\n").into())
        }
    };
    let search = hanok_model::FnTool::new("search", "Searches", search).unwrap();
    let tools = node([SharedTool::new(search)]);
    let trip = make(tools, [calls("search", "1", json!({"query": "tower"}))]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "the tower is closed")]);
}

/// Beside LangGraph's: what waits is made, and a conversation without calls stays as it is.
#[tokio::test]
async fn only_calls_without_a_result_are_made() {
    let tools = graph(node([shared(add)]));
    let input = asked([adds("1", 1, 2), adds("2", 3, 4)]).talk_message(Message::tool("1", "known"));
    let trip = tools.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "known"), pair("2", "7")]);
    let input = Trip::update().talk_message("hi");
    let trip = tools.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!(trip.talk.iter().count(), 1);
}
