//! What observers are told of messages, of calls and of tools.

use std::time::Duration;

use futures::StreamExt;
use hanok_core::{Call, Token};
use hanok_graph::{
    BoxError, Command, Context, END, Event, EventKind, Graph, Input, Mode, NodeExt, Printer, Retry,
    START, Snapshot, Subgraph, Thread, ToolEvent,
};
use hanok_state::{Message, State};
use serde_json::json;

use crate::asking::{Ledger, S, SUpdate, built, memory, says, thread, work};

async fn told(on: &Thread<S, Ledger>, ledger: Ledger) -> Vec<Event> {
    let mut events = on.stream(Input::New(S::update()), ledger);
    let seen = (&mut events).collect().await;
    events.outcome().await.unwrap().done().unwrap();
    seen
}

/// Tokens and whole messages, each with its node.
fn messages(events: &[Event]) -> Vec<String> {
    let shown = events.iter().filter_map(|event| {
        let text = match &event.kind {
            EventKind::Token(Token::Text(text)) => format!("{text}…"),
            EventKind::Message(message) => message.text().into_owned(),
            _ => return None,
        };
        Some(format!("{}: {text}", event.node.as_deref().unwrap_or_default()))
    });
    shown.collect()
}

/// Lets a model write `text`.
fn streams(cx: &Context<Ledger>, text: &str) {
    if let Some(sink) = cx.call("model", "m", text).sink() {
        sink.token(Token::Text(text.to_owned()));
    }
}

/// B102: a message that is written as a whole is told with the end of its task, each once; one that was told as tokens is not
/// told again, by its node and by those around it. Who does not watch messages is told none.
#[tokio::test]
async fn a_whole_message_is_told_once() {
    async fn whole(_: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let update = S::update().message(Message::user("asked"));
        Ok(update.message(Message::assistant("answered").with_id("a")))
    }
    async fn model(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        streams(&cx, "streamed");
        let update = S::update().message(Message::assistant("streamed"));
        Ok(update.message(Message::tool("call-1", "found")))
    }
    async fn again(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let last = state.messages.iter().last().cloned();
        let first = Message::assistant("answered").with_id("a");
        Ok(S::update().message(first).messages(last))
    }
    let inner = || {
        let graph = Graph::builder("inner").node("whole", whole).node("model", model);
        built(graph.edge(START, "whole").edge("whole", "model").edge("model", END))
    };
    let own = Subgraph::new(
        inner(),
        |_: &S| S::update(),
        |inner: &S| S::update().messages(inner.messages.iter().cloned()),
    );
    for subgraph in [Subgraph::shared(inner()), own] {
        let graph = Graph::builder("outer").subgraph("call", subgraph).node("again", again);
        let graph = built(graph.edge(START, "call").edge("call", "again").edge("again", END));
        let on = thread(&graph, &memory());
        let events = told(&on.clone().modes([Mode::Messages]), Ledger::default()).await;
        let want = ["whole: asked", "whole: answered", "model: streamed…", "model: found"];
        assert_eq!(messages(&events), want);
        let live = events.iter().filter(|event| !matches!(event.kind, EventKind::Ended { .. }));
        assert!(live.clone().count() == 4 && live.clone().all(|event| event.id.is_none()));
        // What is told of the next run is told anew.
        let events = told(&on.clone().modes([Mode::Messages]), Ledger::default()).await;
        assert_eq!(messages(&events).len(), 4);
        assert_eq!(messages(&told(&on.modes([Mode::Updates]), Ledger::default()).await), [""; 0]);
    }
}

/// B102: what an attempt streamed that failed is void, so the message of the next one is told.
#[tokio::test(start_paused = true)]
async fn a_message_is_told_as_a_whole_when_its_own_attempt_did_not_stream() {
    async fn retried(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.attempt() == 1 {
            streams(&cx, "half");
            return Err("broken off".into());
        }
        Ok(S::update().message(Message::assistant("whole")))
    }
    for timeout in [false, true] {
        let node = retried.retry(Retry::attempts(2));
        let node = if timeout { node.timeout(Duration::from_secs(9)) } else { node };
        let graph = built(Graph::builder("g").node("r", node).edge(START, "r").edge("r", END));
        let on = thread(&graph, &memory()).modes([Mode::Messages]);
        let events = told(&on, Ledger::default()).await;
        assert_eq!(messages(&events), ["r: half…", "r: whole"]);
        assert_eq!(events[1].attempt, 2);
    }
}

/// Makes a call of a tool, which tells how far it is.
async fn tool(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let call = cx.call("tool", "find", r#"{"q":"tea"}"#).identified("call-1").tag("slow");
    cx.tool_event(&call, || ToolEvent::Started { arguments: r#"{"q":"tea"}"#.to_owned() });
    run(&call.clone().metadata("shop", "12")).await;
    cx.tool_event(&call, || ToolEvent::Ended { text: "two teas".to_owned() });
    cx.tool_event(&call, || ToolEvent::Failed { error: "not really".to_owned() });
    // What a node sends is of no call.
    cx.custom("of the node");
    Ok(says("called"))
}

async fn run(call: &Call) {
    call.custom("half done");
    call.output(&json!({"tea": "green"}));
    if let Some(sink) = call.sink() {
        sink.token(Token::Text("hm".to_owned()));
    }
}

fn calling() -> Graph<S, Ledger> {
    built(Graph::builder("calling").node("tool", tool).edge(START, "tool").edge("tool", END))
}

/// B101, B102: what a tool tells while it runs names its call, as tokens do: the kind, the name, the key, the id, the tags and
/// what else was said of it, and so it is read by clients.
#[tokio::test]
async fn what_a_tool_tells_names_its_call() {
    let on = thread(&calling(), &memory());
    let of_modes: [(Mode, &[&str]); 3] = [
        (Mode::Tools, &["tool_started", "tool_output", "tool_ended", "tool_failed"]),
        (Mode::Custom, &["custom", "custom"]),
        (Mode::Messages, &["token"]),
    ];
    for (mode, want) in of_modes {
        let events = told(&on.clone().modes([mode]), Ledger::default()).await;
        let names: Vec<_> = events.iter().map(|event| event.kind.name()).collect();
        assert_eq!(names, [want, &["ended"]].concat());
    }
    let events = told(&on, Ledger::default()).await;
    let of_call: Vec<_> = events.iter().filter(|event| event.call.is_some()).collect();
    let mut datas = Vec::new();
    for (n, event) in of_call.iter().enumerate() {
        let json = serde_json::to_value(event).unwrap();
        let call = event.call.as_ref().unwrap();
        let mut want = json!({
            "kind": "tool", "name": "find", "key": call.key.as_str(), "id": "call-1", "tags": ["slow"],
        });
        // It was said of the call after its start.
        if n > 0 {
            want["metadata"] = json!({"shop": "12"});
        }
        if matches!(event.kind, EventKind::Token(_)) {
            want["message"] = json!(&*call.message);
        }
        assert_eq!(json["call"], want);
        assert_eq!((&json["node"], &json["attempt"]), (&json!("tool"), &json!(1)));
        datas.push((json["event"].as_str().unwrap().to_owned(), json["data"].clone()));
    }
    let want = [
        ("tool_started", json!({"arguments": r#"{"q":"tea"}"#})),
        ("custom", json!("half done")),
        ("tool_output", json!({"tea": "green"})),
        ("token", json!({"text": "hm"})),
        ("tool_ended", json!({"text": "two teas"})),
        ("tool_failed", json!({"error": "not really"})),
    ];
    assert_eq!(datas, want.map(|(event, data)| (event.to_owned(), data)));
}

/// The same on a terminal.
#[tokio::test]
async fn a_terminal_shows_tools_and_whole_messages() {
    async fn whole(_: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let update = S::update().message(Message::assistant("two teas"));
        // What a person or a tool says is not an answer.
        Ok(update.message(Message::user("tea?")).message(Message::tool("call-1", "green")))
    }
    let graph = Graph::builder("shop").node("tool", tool).node("whole", whole);
    let graph = graph.edge(START, "tool").edge("tool", "whole").edge("whole", END);
    let on = thread(&built(graph), &memory());
    let mut printer = Printer::new(Vec::new());
    for event in told(&on, Ledger::default()).await {
        printer.event(&event).unwrap();
    }
    let want = "tool …\n\
        tool: find({\"q\":\"tea\"})\n\
        tool: half done\n\
        tool: find: {\"tea\":\"green\"}\n\
        hm\n\
        tool: find failed: not really\n\
        tool: of the node\n\
        whole …\n\
        whole: two teas\n\
        done\n";
    assert_eq!(String::from_utf8(printer.into_inner()).unwrap(), want);
}

/// Where nobody watches, nothing is noted; what a tool tells is a sign of life all the same.
#[tokio::test(start_paused = true)]
async fn what_nobody_watches_is_a_sign_of_life() {
    async fn alone(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let call = cx.call("tool", "t", "{}").tag("x").identified("1");
        assert!(call.info().is_none() && call.sink().is_none());
        call.custom("nobody hears this");
        Ok(SUpdate::default())
    }
    async fn slow(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let call = cx.call("tool", "t", "{}");
        for n in 0..6 {
            cx.runtime().clock.sleep(Duration::from_secs(4)).await;
            if n % 2 == 0 { call.custom(&n) } else { call.output(&n) }
        }
        Ok(SUpdate::default())
    }
    let graph = Graph::builder("alone").node("alone", alone);
    let graph = graph.node("slow", slow.idle_timeout(Duration::from_secs(5)));
    let graph = graph.edge(START, "alone").edge("alone", "slow").edge("slow", END);
    let graph = built(graph.node("last", work).edge(START, "last").edge("last", END));
    thread(&graph, &memory()).invoke(S::update(), Ledger::default()).await.unwrap().done().unwrap();
}

fn started(event: &Event) -> Option<(usize, String)> {
    let told = match &event.kind {
        EventKind::GraphStarted { graph, cause } => format!("{graph} by {}", cause.node),
        EventKind::GraphEnded { graph, outcome, .. } => format!("{graph} {outcome}"),
        _ => return None,
    };
    Some((event.path.depth(), told))
}

/// LangGraph's `nested_chain_emits_completed_at_each_depth`, `stream_v2_real_graph_emits_lifecycle_at_each_depth`,
/// `failed_on_parent_task_result_with_error` and `interrupt_takes_precedence_over_error`: graphs in graphs are told at each
/// depth, the inner within the outer, with how each ended.
#[tokio::test]
async fn lifecycle_at_each_depth() {
    async fn both(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().hangs("asks") {
            // The question counts, and not the error that it is turned into.
            let answer: Result<String, _> = cx.interrupt("well?").await;
            return Err(if answer.is_err() { "lost" } else { "answered" }.into());
        }
        if cx.services().fails("fails") {
            return Err("out of order".into());
        }
        Ok(says("deep"))
    }
    let inner = Graph::builder("inner").node("both", both).edge(START, "both").edge("both", END);
    let middle = Graph::builder("middle").subgraph("call", Subgraph::shared(built(inner)));
    let middle = built(middle.edge(START, "call").edge("call", END));
    let outer = Graph::builder("outer").subgraph("agent", Subgraph::shared(middle));
    let graph = built(outer.edge(START, "agent").edge("agent", END));
    for (fails, asks, end) in
        [(false, false, "done"), (true, false, "failed"), (false, true, "interrupted")]
    {
        let (on, ledger) = (thread(&graph, &memory()), Ledger::default());
        ledger.fail(if fails { &["fails"] } else { &[] });
        ledger.hang(if asks { &["asks"] } else { &[] });
        let events = on.modes([Mode::Graphs]).stream(Input::New(S::update()), ledger);
        let events: Vec<_> = events.collect().await;
        let seen: Vec<_> = events.iter().filter_map(started).collect();
        let want = [
            (1, "middle by agent".to_owned()),
            (2, "inner by call".to_owned()),
            (2, format!("inner {end}")),
            (1, format!("middle {end}")),
        ];
        assert_eq!(seen, want);
        assert!(events[1].path.is_within(&events[0].path) && events[0].path == events[3].path);
        let error =
            |event: &Event| matches!(&event.kind, EventKind::GraphEnded { error: Some(_), .. });
        assert_eq!(events.iter().any(error), fails);
    }
}

/// LangGraph's `stream_mode_messages_command`: a message of a command is told as any other, out of a subgraph and past the
/// command that it gives its caller.
#[tokio::test]
async fn stream_mode_messages_command() {
    async fn first(_: Snapshot<S>, _: Context<Ledger>) -> Result<Command<S>, BoxError> {
        let update = S::update().message(Message::assistant("bar"));
        Ok(Command::new().update(update).goto("second"))
    }
    async fn hands(_: Snapshot<S>, _: Context<Ledger>) -> Result<Command<S>, BoxError> {
        let to_caller = Command::<S>::new().update(S::update().message(Message::assistant("baz")));
        let own = Command::<S>::new().update(S::update().message(Message::assistant("own")));
        Ok(own.parent(to_caller.goto("third")))
    }
    async fn third(_: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(S::update().message(Message::assistant("end")))
    }
    let inner = Graph::builder("inner").node("hands", hands);
    let inner = Subgraph::shared(built(inner.edge(START, "hands").edge("hands", END)));
    let graph = Graph::builder("g").node("first", first.goto(["second"])).node("third", third);
    let graph = graph.subgraph("second", inner.goto(["third"])).edge(START, "first");
    let graph = built(graph.edge("third", END));
    let on = thread(&graph, &memory()).modes([Mode::Messages]);
    let events = told(&on, Ledger::default()).await;
    let want = ["first: bar", "hands: own", "second: baz", "third: end"];
    assert_eq!(messages(&events), want);
}

/// LangGraph's `tags_stream_mode_messages`: tokens are told apart by the tags of the call that they are of.
#[tokio::test]
async fn tags_stream_mode_messages() {
    async fn talks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        for tag in ["joke", "poem"] {
            let call = cx.call("model", "m", tag).tag("meow").tag(tag);
            let call = call.keyed(hanok_core::CallKey::new(format!("{}-again", call.key())));
            if let Some(sink) = call.tag("of another call").sink() {
                sink.token(Token::Text(tag.to_owned()));
            }
        }
        Ok(says("talked"))
    }
    let graph = Graph::builder("g").node("talks", talks).edge(START, "talks").edge("talks", END);
    let on = thread(&built(graph), &memory()).modes([Mode::Messages]);
    let events = told(&on, Ledger::default()).await;
    let tags: Vec<_> = events.iter().filter_map(|event| event.call.as_ref()).collect();
    let tags: Vec<Vec<_>> = tags.iter().map(|call| call.tags.iter().collect()).collect();
    assert_eq!(tags, [["joke", "meow"], ["meow", "poem"]]);
}
