//! Tools as a node of a graph of one's own.

use hanok_agent::{
    Approval, CallLimits, Conversation, Decision, Protocol, ReactAgent, ToolNode, ToolRegistry,
    ToolRunner, tools_condition,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{Context, END, Graph, NodeExt, Outcome, Retry, START, Snapshot, Thread};
use hanok_model::{ChatModel, ChatRequest, Exchange, ScriptedModel};
use hanok_state::{Message, Messages, Role, State, ToolCall};
use serde::{Deserialize, Serialize};

use crate::support::{Ledger, tools};

#[derive(State, Debug, Clone, Default, Serialize, Deserialize)]
struct Chat {
    talk: Messages,
    turns: u32,
}

impl Conversation for Chat {
    fn messages(&self) -> &Messages {
        &self.talk
    }

    fn add(update: ChatUpdate, message: Message) -> ChatUpdate {
        update.talk_message(message)
    }
}

fn node(ledger: &Ledger) -> ToolNode {
    ToolNode::new(ToolRunner::new(ToolRegistry::new(tools(ledger)).unwrap()))
}

fn thread(model: &ScriptedModel, tools: ToolNode) -> Thread<Chat> {
    let model = model.clone();
    let specs: Vec<_> = tools.runner().tools().specs().cloned().collect();
    let ask = move |state: Snapshot<Chat>, context: Context| {
        let (model, specs) = (model.clone(), specs.clone());
        async move {
            let request = ChatRequest::new(state.talk.iter().cloned()).tools(specs);
            let call = context.call("model", model.name(), "");
            let reply =
                context.step("model", || async { model.chat(request, &call).await }).await?;
            Ok::<_, hanok_graph::StepError>(Chat::update().talk_message(reply.message))
        }
    };
    let graph = Graph::<Chat>::builder("chat")
        .node("model", ask)
        .node("tools", tools.retry(Retry::attempts(2)))
        .edge(START, "model")
        .branch("model", tools_condition, ["tools", END])
        .edge("tools", "model")
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    graph.checkpointer(InMemoryCheckpointer::new()).thread(key)
}

fn find(id: &str, q: &str) -> ToolCall {
    ToolCall::new(id, "find", format!(r#"{{"q":"{q}"}}"#))
}

/// The results in the conversation: the call that each answers, and its text.
fn results(chat: &Chat) -> Vec<(String, String)> {
    let results = chat.talk.iter().filter(|message| message.role() == Role::Tool);
    let result = |message: &Message| {
        (message.tool_call_id().unwrap().to_owned(), message.text().into_owned())
    };
    results.map(result).collect()
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_the_last_message_are_made_and_answered_in_their_order() {
    let ledger = Ledger::default();
    let slow = ToolCall::new("b", "find", r#"{"q":"slow","wait":1000}"#);
    let model = ScriptedModel::new([
        Exchange::calls([slow, find("a", "quick"), ToolCall::new("c", "gone", "{}")]),
        Exchange::calls([find("d", "more")]).contains("found quick"),
        Exchange::says("done").contains("found more"),
    ]);
    let chat = thread(&model, node(&ledger)).invoke(Chat::update().talk_message("?"), ()).await;
    let chat = chat.unwrap().done().unwrap();
    let results = results(&chat);
    let ids: Vec<_> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["b", "a", "c", "d"]);
    assert_eq!((results[0].1.as_str(), results[1].1.as_str()), ("found slow", "found quick"));
    assert!(results[2].1.starts_with("There is no tool `gone`."), "{results:?}");
    assert_eq!(*ledger.lock().unwrap(), ["find slow", "find quick", "find more"]);
    model.finished().unwrap();
}

/// B69, B116
#[tokio::test]
async fn a_call_may_wait_for_a_person_and_the_others_are_made_once() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::calls([find("a", "x"), ToolCall::new("b", "large", r#"{"q":"y"}"#)]),
        Exchange::says("done").contains("a person rejected it"),
    ]);
    let thread = thread(&model, node(&ledger).intercept(Approval::new().tool("large")));
    let outcome = thread.invoke(Chat::update().talk_message("?"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(asked) if asked.len() == 1));
    let reject = Decision::Reject { message: None };
    let chat = thread.reply(&reject, ()).await.unwrap().done().unwrap();
    assert_eq!(results(&chat)[0], ("a".into(), "found x".into()));
    assert_eq!(*ledger.lock().unwrap(), ["find x"]);
}

#[tokio::test]
async fn limits_count_the_calls_since_the_users_last_message() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::calls([find("a", "1")]),
        Exchange::calls([ToolCall::new("b", "find", "{}"), find("c", "2"), find("d", "3")]),
        Exchange::says("done").contains("was not made"),
        Exchange::calls([find("e", "4")]),
        Exchange::says("done"),
    ]);
    let tools = node(&ledger).intercept(CallLimits::new().tool("find", 3));
    let thread = thread(&model, tools);
    thread.invoke(Chat::update().talk_message("?"), ()).await.unwrap().done().unwrap();
    // One of the three that stand before it was not made, and those of a reply are counted as they stand.
    assert_eq!(*ledger.lock().unwrap(), ["find 1", "find 2"]);
    thread.invoke(Chat::update().talk_message("again"), ()).await.unwrap().done().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find 1", "find 2", "find 4"]);
    model.finished().unwrap();
}

#[test]
fn the_router_sees_the_calls_without_a_result() {
    let asks = |calls: Vec<ToolCall>| Message::assistant("").with_tool_calls(calls);
    let gave = |id: &str| Message::tool(id, "found");
    let user = || Message::user("?");
    for (messages, want) in [
        (vec![], END),
        (vec![user()], END),
        (vec![user(), Message::assistant("hi")], END),
        (vec![user(), asks(vec![find("a", "x")])], "tools"),
        (vec![user(), asks(vec![find("a", "x"), find("b", "y")]), gave("b")], "tools"),
        (vec![user(), asks(vec![find("a", "x"), find("b", "y")]), gave("b"), gave("a")], END),
        // What an earlier message of the model asked for is over.
        (vec![asks(vec![find("a", "x")]), user(), Message::assistant("hi")], END),
        (vec![asks(vec![find("a", "x")]), gave("a"), asks(vec![find("b", "y")])], "tools"),
    ] {
        let chat = Chat { talk: messages.into_iter().collect(), turns: 0 };
        assert_eq!(tools_condition(&chat), want, "{chat:?}");
    }
}

/// The state of an agent is a conversation too.
#[tokio::test]
async fn the_state_of_an_agent_is_a_conversation() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([Exchange::calls([find("a", "x")])]);
    let agent =
        ReactAgent::builder("t", "", model).tools(tools(&ledger)).protocol(Protocol::Native);
    let agent = agent.build().unwrap();
    let asks = agent.clone();
    let graph = Graph::<hanok_agent::AgentState>::builder("own")
        .node("model", move |state, context: Context| {
            let agent = asks.clone();
            async move { agent.call_model(state, context).await }
        })
        .node("tools", node(&ledger))
        .edge(START, "model")
        .branch("model", tools_condition, ["tools", END])
        .edge("tools", END)
        .build()
        .unwrap();
    let state = graph.invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let last = state.messages.iter().last().map(|message| message.text().into_owned());
    assert_eq!(last.as_deref(), Some("found x"));
}
