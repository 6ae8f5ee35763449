//! The agent: its prompt, its tools, what they write, ask and end.

use hanok_agent::{
    AgentState, AgentStateUpdate, Interceptor, NextModel, Protocol, ReactAgent, ReactAgentBuilder,
    RegistryError, StopReason,
};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, Put, SharedStore, Store};
use hanok_core::{
    Call, Chain, Effect, ItemKey, Labels, Request, Stored, Tenant, ThreadKey, Timestamp,
};
use hanok_graph::{
    BoxError, Context, END, EventKind, Graph, Input, Mode, Outcome, RunGraph, START, Snapshot,
};
use hanok_model::{
    ChatReply, ChatRequest, Exchange, FromState, ModelError, ScriptedModel, ToolError, ToolOutput,
    tool,
};
use hanok_state::{Message, Messages, Role, State};
use serde_json::json;

use super::{Weather, add, adds, calls, fault, get_weather, pair, result, results};
use crate::support::desk::{App, Desk, desk};

fn agent(model: &ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder("guide", "Answers", model.clone()).protocol(Protocol::Native)
}

fn talk(messages: &Messages) -> Vec<(Role, String)> {
    messages.iter().map(|it| (it.role(), it.text().into_owned())).collect()
}

fn said(role: Role, text: &str) -> (Role, String) {
    (role, text.to_owned())
}

/// The system prompt of a request.
fn system(request: &ChatRequest) -> String {
    let first = request.messages.first().unwrap();
    assert_eq!(first.role(), Role::System);
    first.text().into_owned()
}

async fn ask(agent: &ReactAgent, text: &str) -> AgentState {
    agent.graph().invoke(agent.ask(text), ()).await.unwrap().done().unwrap()
}

/// LangGraph: no_prompt, no_prompt_async. An agent says what it is for; nothing of it is in the conversation.
#[tokio::test]
async fn a_turn_without_a_prompt_of_ones_own_is_stored_whole() {
    let model = ScriptedModel::new([Exchange::says("hello")]);
    let agent = agent(&model).build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("123").unwrap());
    let state = thread.invoke(agent.ask("hi?"), ()).await.unwrap().done().unwrap();
    assert_eq!(talk(&state.messages), [said(Role::User, "hi?"), said(Role::Assistant, "hello")]);
    assert!(system(&model.requests()[0]).contains("Answers"));
    assert_eq!(thread.state(None).await.unwrap().unwrap(), state);
    let views = thread.views(None).await.unwrap();
    assert_eq!((views[0].next.len(), views[0].requests.len()), (0, 0));
}

/// LangGraph: system_message_prompt, string_prompt.
#[tokio::test]
async fn a_prompt_is_the_first_that_the_model_reads() {
    let model = ScriptedModel::new([Exchange::says("hello")]);
    let agent = agent(&model).prompt("Foo").build().unwrap();
    let state = ask(&agent, "hi?").await;
    let sent: Vec<_> =
        model.requests()[0].messages.iter().map(|it| it.text().into_owned()).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].starts_with("Foo") && !sent[0].contains("Answers"), "{}", sent[0]);
    assert_eq!((sent[1].as_str(), state.messages.iter().count()), ("hi?", 2));
}

/// Says something else in the place of the last message.
#[derive(Debug)]
struct Bar;

impl Interceptor for Bar {
    async fn around_model(
        &self,
        mut request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        let last = request.messages.last().map(|it| it.text().into_owned()).unwrap_or_default();
        request.messages = vec![Message::user(format!("Bar {last}"))];
        next.run(request, call).await
    }
}

/// LangGraph: callable_prompt, …_async, runnable_prompt, and pre_model_hook with `llm_input_messages`. An interceptor makes the
/// request; the conversation stays.
#[tokio::test]
async fn a_request_may_hold_other_messages_than_the_conversation() {
    let model = ScriptedModel::new([Exchange::says("hello")]);
    let agent = agent(&model).intercept(Bar).build().unwrap();
    let state = ask(&agent, "hi?").await;
    let sent: Vec<_> =
        model.requests()[0].messages.iter().map(|it| it.text().into_owned()).collect();
    assert_eq!(sent, ["Bar hi?"]);
    assert_eq!(talk(&state.messages), [said(Role::User, "hi?"), said(Role::Assistant, "hello")]);
}

fn item(user: &str) -> ItemKey {
    ItemKey::new(Tenant::default(), Labels::new(["memories", user]).unwrap(), "name").unwrap()
}

/// Reads the name of the user from the store.
#[derive(Debug)]
struct Recalls;

impl hanok_agent::Hook<Desk, App> for Recalls {
    async fn before_agent(
        &self,
        _: &Desk,
        cx: &Context<App>,
    ) -> Result<hanok_agent::Hooked<Desk>, BoxError> {
        let store = cx.memory().ok_or("no store")?;
        let found = store.get(&item(&cx.services().user), Timestamp(1)).await?.ok_or("nobody")?;
        let name: String = found.value.decode()?;
        Ok(hanok_agent::Hooked::new().update(Desk::update().customer(name)))
    }
}

/// LangGraph: prompt_with_store, …_async. A hook reads the store, and the prompt is made of the state.
#[tokio::test]
async fn a_prompt_is_made_of_what_a_store_holds_of_the_user() {
    let store = SharedStore::new(InMemoryStore::new());
    for (user, name) in [("1", "Alice"), ("2", "Bob")] {
        store
            .put(&item(user), Put::new(Stored::encode(name).unwrap()), Timestamp(1))
            .await
            .unwrap();
    }
    for (user, name) in [("1", "Alice"), ("2", "Bob")] {
        let model = ScriptedModel::new([Exchange::says("hello")]);
        let agent = desk(&model)
            .hook(Recalls)
            .prompt_by(|desk, _| format!("The user is {}.", desk.customer))
            .build()
            .unwrap();
        let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
        let thread = app.remembering(store.clone()).thread(ThreadKey::named("t").unwrap());
        thread.invoke(agent.ask("hi"), App::of(user)).await.unwrap().done().unwrap();
        let prompt = system(&model.requests()[0]);
        assert!(prompt.starts_with(&format!("The user is {name}.")), "{prompt}");
    }
}

/// Subtracts a number from another.
#[tool(effect = pure)]
async fn sub(a: i64, b: i64) -> String {
    (a - b).to_string()
}

/// LangGraph: model_with_tools, should_bind_tools. The agent shows its tools in each request; a model has none of its own.
#[tokio::test]
async fn the_model_is_shown_the_tools_of_the_agent_and_calls_them() {
    let of = [adds("1", 2, 3), calls("sub", "2", json!({"a": 2, "b": 3}))];
    let model = ScriptedModel::new([Exchange::calls(of), Exchange::says("done")]);
    let built = agent(&model).tool(add).tool(sub).build().unwrap();
    let state = ask(&built, "?").await;
    assert_eq!(results(&state.messages), [pair("1", "5"), pair("2", "-1")]);
    for request in model.requests() {
        let shown: Vec<_> = request.tools.iter().map(|spec| spec.name().to_owned()).collect();
        assert_eq!(shown, ["add", "sub"]);
    }
    let twice = agent(&model).tool(add).tool(add).build().unwrap_err();
    let told = Chain(&twice).to_string();
    assert!(told.contains("two tools are named `add`"), "{told}");
    let faults = std::error::Error::source(&twice).unwrap().downcast_ref::<RegistryError>();
    assert_eq!(faults.unwrap().faults.len(), 1);
}

/// LangGraph: _validate_messages, which refuses a conversation with calls that have no result. Here they get one.
#[tokio::test]
async fn a_call_without_a_result_gets_one_before_the_model_is_asked() {
    let asks = || Message::assistant("").with_tool_calls([adds("1", 1, 2), adds("2", 3, 4)]);
    let user = || Message::user("?");
    for (history, dangling) in [
        (vec![], 0),
        (vec![user(), Message::assistant("hi")], 0),
        (vec![user(), asks(), Message::tool("1", "3"), Message::tool("2", "7")], 0),
        (vec![asks()], 2),
        (vec![user(), asks(), Message::tool("1", "3"), Message::assistant("3")], 1),
    ] {
        let model = ScriptedModel::new([Exchange::says("done")]);
        let agent = agent(&model).tool(add).build().unwrap();
        let input = history.iter().cloned().chain([user()]).collect::<Vec<_>>();
        let outcome = agent.graph().invoke(agent.input(input, None), ()).await.unwrap();
        let state = outcome.done().unwrap();
        let made = results(&state.messages);
        let not_made = made.iter().filter(|(id, _)| fault(&state.messages, id).is_some());
        assert_eq!(not_made.count(), dangling, "{history:?}");
        let asked = history.iter().flat_map(Message::tool_calls).count();
        assert_eq!(made.len(), asked, "{history:?}");
        // In the request each call is followed by its result.
        let sent = &model.requests()[0].messages;
        let of_calls = sent.iter().position(|message| !message.tool_calls().is_empty());
        let behind = of_calls.map(|at| [1, 2].map(|n| sent[at + n].tool_call_id().unwrap()));
        assert_eq!(behind, (!made.is_empty()).then_some(["1", "2"]), "{history:?}");
    }
}

/// LangGraph: react_agent_with_structured_response. There another call of the model gives the value; here the answer is it.
#[tokio::test]
async fn the_answer_of_an_agent_is_a_value() {
    let model = ScriptedModel::new([
        Exchange::calls([calls("get_weather", "1", json!({}))]),
        Exchange::calls([calls("final_answer", "2", json!({"temperature": 75.0}))])
            .contains("75°F"),
    ]);
    let agent = agent(&model).tool(get_weather).answer::<Weather>().build().unwrap();
    let state = ask(&agent, "What's the weather?").await;
    model.finished().unwrap();
    assert_eq!(state.read_value().unwrap(), Some(Weather { temperature: 75.0 }));
    assert_eq!(result(&state.messages, "1"), "It is sunny and 75°F.");
    assert_eq!(state.stopped, Some(StopReason::Answered));
}

async fn question(call: &Call, text: &str) -> Result<String, ToolError> {
    let question = Request::new(Stored::encode(text).map_err(ToolError::failed)?);
    call.question(question).await?.decode().map_err(ToolError::failed)
}

/// Asks for the user's name.
#[tool(effect = pure)]
async fn get_name(call: Call) -> Result<ToolOutput, ToolError> {
    let name = question(&call, "your name?").await?;
    ToolOutput::new("the name is known").update(&Desk::update().customer(name))
}

/// LangGraph: react_agent_update_state.
#[tokio::test]
async fn a_tool_asks_a_person_and_writes_the_answer_into_the_state() {
    let model = ScriptedModel::new([
        Exchange::calls([calls("get_name", "1", json!({}))]).lacks("The user is"),
        Exchange::says("Hello Archibald").contains("The user is Archibald."),
    ]);
    let agent = desk(&model)
        .tool(get_name)
        .prompt_by(|desk, _| match desk.customer.as_str() {
            "" => "You serve.".to_owned(),
            name => format!("The user is {name}."),
        })
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("1").unwrap());
    let outcome = thread.invoke(agent.ask("what's my name"), App::default()).await.unwrap();
    let Outcome::Interrupted(open) = outcome else { panic!("{outcome:?}") };
    assert_eq!(open[0].payload::<String>().unwrap(), "your name?");
    let state = thread.reply("Archibald", App::default()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(state.customer, "Archibald");
    assert_eq!(results(&state.agent.messages), [pair("1", "the name is known")]);
    assert_eq!(state.agent.messages.iter().count(), 4);
}

/// Asks a person for help.
#[tool(effect = pure)]
async fn help(query: String, call: Call) -> Result<String, ToolError> {
    let app = call.provided::<App>().ok_or_else(|| ToolError::failed("no app"))?;
    let help = question(&call, &query).await?;
    app.made.lock().unwrap().push("help".into());
    Ok(help)
}

/// LangGraph: react_agent_parallel_tool_calls, and tool_node_node_interrupt in an agent. What is finished beside a call that waits
/// is not made again; it is in the conversation when all are finished, as in `v1` there.
#[tokio::test]
async fn a_call_that_waits_keeps_those_beside_it() {
    let of =
        [calls("whoami", "1", json!({})), calls("help", "2", json!({"query": "request help"}))];
    let model = ScriptedModel::new([Exchange::calls(of), Exchange::says("done")]);
    let agent = desk(&model).tool(help).build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("1").unwrap()).modes([Mode::Values]);
    let services = App::of("Lee");
    let made = services.made.clone();
    let roles = async |input, services| {
        let mut events = thread.stream(input, services);
        let mut seen = Vec::new();
        while let Some(event) = futures::StreamExt::next(&mut events).await {
            if let EventKind::Values(state) = &event.kind {
                let desk: Desk = state.get().unwrap();
                let roles = desk.agent.messages.iter().map(|message| message.role().to_string());
                seen.push(roles.collect::<Vec<_>>().join(" "));
            }
        }
        seen
    };
    let seen = roles(Input::New(agent.ask("help me")), services).await;
    assert_eq!(seen, ["user", "user assistant"]);
    let views = thread.views(None).await.unwrap();
    assert_eq!(views[0].next, ["execute_tool"]);
    assert_eq!(views[0].requests[0].payload::<String>().unwrap(), "request help");
    assert_eq!(*made.lock().unwrap(), ["whoami"]);

    let again = App { user: "Lee".into(), made: made.clone() };
    let seen = roles(Input::reply("Hello").unwrap(), again).await;
    assert_eq!(seen, ["user assistant tool tool", "user assistant tool tool assistant"]);
    assert_eq!(*made.lock().unwrap(), ["whoami", "help"]);
    let state = thread.state(None).await.unwrap().unwrap();
    assert_eq!(results(&state.agent.messages), [pair("1", "You are Lee."), pair("2", "Hello")]);
}

/// Adds numbers of the call, the state and the store.
#[tool(effect = pure)]
async fn total(some: usize, desk: FromState<Desk>, store: SharedStore) -> Result<String, BoxError> {
    let found = store.get(&item("1"), Timestamp(1)).await?.ok_or("nothing")?;
    let stored: usize = found.value.decode()?;
    Ok((some + desk.orders.len() + stored).to_string())
}

/// LangGraph: create_react_agent_inject_vars.
#[tokio::test]
async fn a_tool_of_an_agent_sees_its_state_and_the_store() {
    let store = SharedStore::new(InMemoryStore::new());
    store.put(&item("1"), Put::new(Stored::encode(&3_usize).unwrap()), Timestamp(1)).await.unwrap();
    let model = ScriptedModel::new([
        Exchange::calls([calls("total", "some 0", json!({"some": 1}))]),
        Exchange::says("six").contains("6"),
    ]);
    let agent = desk(&model).tool(total).build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new()).remembering(store);
    let thread = app.thread(ThreadKey::named("1").unwrap());
    let input = agent.ask("hi").push_orders("tea").push_orders("rice");
    let state = thread.invoke(input, App::default()).await.unwrap().done().unwrap();
    assert_eq!(results(&state.agent.messages), [pair("some 0", "6")]);
    assert_eq!(state.orders, ["tea", "rice"]);
    let of_total = model.requests()[0].tools.last().unwrap().schema()["properties"].clone();
    assert_eq!(of_total.as_object().unwrap().keys().collect::<Vec<_>>(), ["some"]);
}

/// LangGraph: return_direct. The agent says which tools end its turn.
#[tokio::test]
async fn the_result_of_a_tool_is_the_answer() {
    let direct = |id| adds(id, 1, 2);
    let normal = |id| calls("sub", id, json!({"a": 1, "b": 2}));
    for (of, answer, asked, stopped) in [
        (vec![direct("1")], "3", 1, StopReason::ToolResult),
        (vec![normal("1")], "done", 2, StopReason::Answered),
        (vec![direct("1"), normal("2")], "3", 1, StopReason::ToolResult),
    ] {
        let made = of.len();
        let model = ScriptedModel::new([Exchange::calls(of), Exchange::says("done")]);
        let agent = agent(&model).tool(add).tool(sub).ends_turn("add").build().unwrap();
        let state = ask(&agent, "?").await;
        assert_eq!((state.answer.as_deref(), state.stopped), (Some(answer), Some(stopped)));
        assert_eq!((model.requests().len(), results(&state.messages).len()), (asked, made));
        let last = state.messages.iter().last().unwrap().role();
        assert_eq!(last, if asked == 1 { Role::Tool } else { Role::Assistant });
    }
}

#[derive(State, Clone, Debug, Default)]
struct Sum {
    a: i64,
    b: i64,
    result: i64,
}

fn summing(name: &str, of: fn(i64, i64) -> i64) -> Graph<Sum> {
    let work = move |sum: Snapshot<Sum>, _: Context| {
        std::future::ready(Ok::<_, BoxError>(Sum::update().result(of(sum.a, sum.b))))
    };
    Graph::<Sum>::builder(name)
        .node("work", work)
        .edge(START, "work")
        .edge("work", END)
        .build()
        .unwrap()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

/// LangGraph: react_with_subgraph_tools. Their graphs are parts of the turn, and observers see them.
#[tokio::test]
async fn tools_may_run_graphs() {
    let tool = |name: &'static str, of| {
        let graph = summing(name, of);
        let run = move |Pair { a, b }, call: Call| {
            let graph = graph.clone();
            async move {
                let ended = call.run(&graph, Sum::update().a(a).b(b), ()).await;
                let sum = ended.map_err(ToolError::failed)?.done().map_err(ToolError::failed)?;
                Ok(sum.result.to_string().into())
            }
        };
        hanok_model::FnTool::new(name, "Calculates", run).unwrap().effect(Effect::Pure)
    };
    let numbers = json!({"a": 2, "b": 3});
    let of = [calls("addition", "1", numbers.clone()), calls("multiplication", "2", numbers)];
    let model = ScriptedModel::new([
        Exchange::calls(of),
        Exchange::says("5 and 6").contains("5").contains("6"),
    ]);
    let agent = agent(&model)
        .tool(tool("addition", |a, b| a + b))
        .tool(tool("multiplication", |a, b| a * b))
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("1").unwrap()).modes([Mode::Graphs]);
    let mut events = thread.stream(Input::New(agent.ask("2 + 3 and 2 * 3?")), ());
    let mut graphs = Vec::new();
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        if let EventKind::GraphEnded { graph, error: None, .. } = &event.kind {
            graphs.push(graph.to_string());
        }
    }
    graphs.sort();
    assert_eq!(graphs, ["addition", "multiplication"]);
    let state = thread.state(None).await.unwrap().unwrap();
    assert_eq!(results(&state.messages), [pair("1", "5"), pair("2", "6")]);
    assert_eq!(state.answer.as_deref(), Some("5 and 6"));
}

/// Beside LangGraph's: a turn begins afresh, with what was said before it.
#[tokio::test]
async fn a_turn_keeps_the_messages_of_those_before_it_and_nothing_else() {
    let model = ScriptedModel::new([
        Exchange::calls([adds("1", 1, 2)]),
        Exchange::says("3"),
        Exchange::says("bye").contains("hi").contains("3"),
    ]);
    let agent = agent(&model).tool(add).build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("1").unwrap());
    let first = thread.invoke(agent.ask("hi"), ()).await.unwrap().done().unwrap();
    let input: AgentStateUpdate = agent.ask("bye");
    let second = thread.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!((first.iteration, second.iteration), (2, 1));
    assert_eq!((first.messages.iter().count(), second.messages.iter().count()), (4, 6));
    assert_eq!((first.usage.spent.tool_calls, second.usage.spent.tool_calls), (1, 0));
}
