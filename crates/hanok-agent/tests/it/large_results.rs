//! Results too large for a prompt: stored beside the thread, read again by name, gone with it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hanok_agent::{
    AgentState, LargeResult, LargeResults, Protocol, ReactAgent, ReactAgentBuilder,
    memory::{Compaction, Compactor, KeepRecent, Trigger},
};
use hanok_checkpoint::{
    Forks, InMemoryCheckpointer, InMemoryStore, Search, SharedCheckpointer, SharedStore,
    Store as _, ThreadItems,
};
use hanok_core::{Call, Effect, Tenant, ThreadKey, Timestamp};
use hanok_graph::App;
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, FnTool, ModelError, ScriptedModel, SharedTool,
    TokenCounter, ToolOutput, ToolSpec,
};
use hanok_parse::Language;
use hanok_state::{Message, Role, State as _, ToolCall};
use hanok_testkit::Dying;
use serde_json::json;

/// A model that asks for the log, looks in it for what went wrong, and answers with that line.
#[derive(Debug, Default)]
struct Operator;

impl ChatModel for Operator {
    fn name(&self) -> &str {
        "operator"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        let last = request.messages.last().map(|message| message.text().into_owned());
        let last = last.unwrap_or_default();
        let says = |text: &str| ChatReply::new(Message::assistant(text), "operator");
        let call = |tool: &str, arguments: serde_json::Value| {
            let id = format!("c{}", request.messages.len());
            let call = ToolCall::new(id, tool, arguments.to_string());
            ChatReply::new(Message::assistant("").with_tool_calls([call]), "operator")
        };
        if let Some(line) = last.lines().find(|line| line.contains("disk full")) {
            return Ok(says(line));
        }
        match name_in(&last) {
            Some(name) => Ok(call("read_result", json!({"name": name, "find": "disk FULL"}))),
            None if request.messages.last().is_some_and(|it| it.role() == Role::Tool) => {
                Ok(says(&last))
            }
            None => Ok(call("log", json!({}))),
        }
    }
}

/// The name that a shortened result gives.
fn name_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("the name `")?;
    Some(rest.split_once('`')?.0.to_owned())
}

/// The log of a day, of 96,000 characters.
fn log_of_the_day() -> String {
    let quiet = "all is well\n".repeat(4_000);
    format!("{quiet}17:02 disk full on node 7\n{quiet}")
}

/// The tool that reads it, and how often it was called.
fn log() -> (SharedTool, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let spec = ToolSpec::new("log", "The log of the day", json!({})).unwrap();
    let log = FnTool::untyped(spec, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::new(log_of_the_day()).data(json!({"log": log_of_the_day()}))) }
    });
    (SharedTool::new(log.effect(Effect::Pure)), calls)
}

fn builder(model: impl ChatModel) -> ReactAgentBuilder {
    ReactAgent::builder("ops", "Reads logs", model)
        .protocol(Protocol::Native)
        .large_results(LargeResults::new())
}

fn agent() -> ReactAgent {
    builder(Operator).tool(log().0).build().unwrap()
}

fn memory() -> SharedStore {
    SharedStore::new(InMemoryStore::new())
}

fn on(agent: &ReactAgent, store: &SharedCheckpointer, memory: &SharedStore) -> App<AgentState> {
    agent.graph().checkpointer(store.clone()).remembering(memory.clone())
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::named(name).unwrap()
}

/// The number of items in `memory`.
async fn items(memory: &SharedStore) -> usize {
    let all = Search::all(Tenant::default()).limit(100);
    memory.search(&all, Timestamp(0)).await.unwrap().hits.len()
}

/// The message that stands for the log in `state`, and its name.
fn shown(state: &AgentState) -> (String, String) {
    let message = state.messages.iter().find(|it| it.metadata().contains_key("stored")).unwrap();
    let name = message.metadata()["stored"].0.as_str().unwrap().to_owned();
    (message.text().into_owned(), name)
}

/// B146: a large result is read by its beginning, its end, and what is looked for in it; programs read it whole.
#[tokio::test]
async fn the_rest_of_a_large_result_is_read_by_its_name() {
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let thread = on(&agent(), &store, &memory).thread(key("t"));
    let state = thread.invoke(agent().ask("What happened?"), ()).await.unwrap().done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("17:02 disk full on node 7"));
    let (text, name) = shown(&state);
    let (head, rest) = text.split_at(2_000);
    let mark = format!(
        "\n[… 93026 characters are not shown; `read_result` with the name `{name}` and from 2000 reads on …]\n"
    );
    let tail = rest.strip_prefix(mark.as_str()).unwrap();
    let whole = log_of_the_day();
    assert!(whole.starts_with(head) && whole.ends_with(tail) && tail.len() == 1_000, "{text}");
    let read = state.messages.iter().rev().nth(1).unwrap().text().into_owned();
    assert!(read.starts_with("[characters 47806 to 55806 of 96026]\n"), "{read:.60}");

    let head = store_head(&store).await;
    let beside = ThreadItems::new(memory.clone(), store.codec().clone(), key("t"), head);
    let whole = LargeResult::stored(&beside, &name, Timestamp(0)).await.unwrap().unwrap();
    assert_eq!((whole.tool.as_str(), whole.text), ("log", log_of_the_day()));
    assert_eq!(whole.data.unwrap().0, json!({"log": log_of_the_day()}));
    // The state holds none of it.
    let stored = state.messages.iter().map(|it| serde_json::to_string(it).unwrap().len());
    assert!(stored.sum::<usize>() < 20_000);
}

async fn store_head(store: &SharedCheckpointer) -> hanok_checkpoint::Life {
    use hanok_checkpoint::Checkpointer as _;
    store.head(&key("t")).await.unwrap().unwrap().life
}

/// B146, P4: whatever append the process dies at, the result is stored once, and the run ends with the same answer.
#[tokio::test]
async fn what_is_stored_twice_is_there_once() {
    for at in 0.. {
        let mut is_over = false;
        for is_stored in [false, true] {
            let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
            let (agent, dying) = (agent(), Dying::at(store.clone(), at, is_stored));
            let first = on(&agent, &dying.shared(), &memory).thread(key("t"));
            let _ = first.invoke(agent.ask("What happened?"), ()).await;
            is_over |= !dying.is_dead();
            let store = dying.after_death(&key("t")).await.unwrap();
            let thread = on(&agent, &store, &memory).thread(key("t"));
            let state = match thread.log().open(None).await.unwrap() {
                Some(_) => thread.resume(()).await,
                None => thread.invoke(agent.ask("What happened?"), ()).await,
            };
            let state = state.unwrap().done().unwrap();
            assert_eq!(state.answer.as_deref(), Some("17:02 disk full on node 7"), "{at}");
            assert_eq!(items(&memory).await, 1, "{at} {is_stored}");
        }
        if is_over {
            assert!(at > 4, "{at}");
            break;
        }
    }
}

/// B146: what a thread stored goes when it is deleted or swept, and a fork has copies of its own.
#[tokio::test]
async fn a_result_goes_with_its_thread() {
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let app = on(&agent(), &store, &memory);
    let thread = app.thread(key("t"));
    let first = thread.invoke(agent().ask("What happened?"), ()).await.unwrap().done().unwrap();
    let (_, name) = shown(&first);
    let before = thread.turn_ends().await.unwrap().last().unwrap().position;
    // Another turn's result is stored under another name, and the fork of the time before does not name it.
    thread.invoke(agent().ask("And now?"), ()).await.unwrap().done().unwrap();
    assert_eq!(items(&memory).await, 2);
    thread.fork(Some(before), &key("fork")).await.unwrap();
    assert_eq!(items(&memory).await, 3);
    // A fork that is not made leaves nothing.
    thread.fork(None, &key("fork")).await.unwrap_err();
    assert_eq!(items(&memory).await, 3);

    assert!(thread.delete().await.unwrap());
    assert_eq!(items(&memory).await, 1);
    let model = ScriptedModel::new([
        Exchange::call("read_result", json!({"name": name, "from": 48_000})),
        Exchange::says("read").contains("17:02 disk full on node 7"),
        Exchange::call("read_result", json!({"name": "r0", "from": 9})),
        Exchange::says("none").contains("No result is stored as `r0`"),
        Exchange::call("read_result", json!({"name": name, "from": 96_026})),
        Exchange::says("behind").contains("has 96026 characters, none at 96026"),
        Exchange::call("read_result", json!({"name": name, "find": "flood"})),
        Exchange::says("dry").contains("`flood` does not occur"),
    ]);
    let reader = builder(model.clone()).build().unwrap();
    let fork = on(&reader, &store, &memory).thread(key("fork"));
    for want in ["read", "none", "behind", "dry"] {
        let state = fork.invoke(reader.ask("Read on"), ()).await.unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some(want));
    }
    model.finished().unwrap();

    let short = app.keep_for(std::time::Duration::ZERO);
    short.thread(key("fork")).invoke(agent().ask("Bye"), ()).await.unwrap();
    assert!(items(&memory).await > 0);
    assert_eq!(short.sweep().await.unwrap(), [key("fork")]);
    assert_eq!(items(&memory).await, 0);
}

/// B146: an erasure takes the result with the message that names it, and those of the forks that it removes; another's stays.
#[tokio::test]
async fn an_erased_result_is_gone() {
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let app = on(&agent(), &store, &memory);
    let (thread, other) = (app.thread(key("t")), app.thread(key("other")));
    let state = thread.invoke(agent().ask("What happened?"), ()).await.unwrap().done().unwrap();
    other.invoke(agent().ask("What happened?"), ()).await.unwrap();
    thread.fork(None, &key("fork")).await.unwrap();
    assert_eq!(items(&memory).await, 3);
    let ids = state.messages.iter().filter_map(Message::id).map(str::to_owned);
    let gone = ids.fold(AgentState::update(), |update, id| update.remove_message(id));
    thread.erase(gone, "the data officer", Forks::Too).await.unwrap();
    assert_eq!(items(&memory).await, 1);
    assert!(other.delete().await.unwrap());
    assert_eq!(items(&memory).await, 0);
}

/// B146, B117: a compaction that clears the message leaves the name, and the model reads on by it.
#[tokio::test]
async fn a_cleared_result_keeps_its_name() {
    let calls = (0..6).map(|n| Exchange::call("log", json!({ "n": n })));
    let cleared = Exchange::says("looked").check(|request: &ChatRequest| {
        let results = request.messages.iter().map(Message::text);
        let cleared = results.filter(|text| text.contains("cleared, stored as `r")).count();
        (cleared > 1).then_some(()).ok_or(format!("{cleared} are cleared"))
    });
    let model = ScriptedModel::new(calls.chain([cleared]));
    let policy = Compaction::new()
        .trigger(Trigger::Tokens(3_000))
        .keep(KeepRecent::Messages(2))
        .long_result(40)
        .counter(TokenCounter::estimate());
    let agent = builder(model.clone()).tool(log().0);
    let agent = agent.memory(Compactor::new(policy, model.clone()).unwrap()).build().unwrap();
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let thread = on(&agent, &store, &memory).thread(key("t"));
    thread.invoke(agent.ask("Look again and again"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(items(&memory).await, 6);
}

/// B146: without a store, in a failing one, or where it is the answer, a result is shown as it would be otherwise.
#[tokio::test]
async fn what_cannot_be_stored_is_shown() {
    let state = agent().graph().invoke(agent().ask("What happened?"), ()).await.unwrap();
    let state = state.done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("17:02 disk full on node 7"));
    assert!(state.messages.iter().any(|message| message.text().len() > 90_000));

    let (tool, calls) = log();
    let ends = builder(Operator).tool(tool).ends_turn("log").build().unwrap();
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let thread = on(&ends, &store, &memory).thread(key("t"));
    let state = thread.invoke(ends.ask("The log"), ()).await.unwrap().done().unwrap();
    assert_eq!((state.answer, items(&memory).await), (Some(log_of_the_day()), 0));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A Korean agent's model reads Korean words about it.
#[tokio::test]
async fn a_korean_model_reads_where_the_rest_is() {
    let model = ScriptedModel::new([
        Exchange::call("log", json!({})),
        Exchange::says("끝").contains("93026자를 줄였음. `read_result`에 name `r"),
    ]);
    let agent = builder(model.clone()).tool(log().0).language(Language::Korean).build().unwrap();
    let (store, memory) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory());
    let thread = on(&agent, &store, &memory).thread(key("t"));
    thread.invoke(agent.ask("무슨 일이야?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
}
