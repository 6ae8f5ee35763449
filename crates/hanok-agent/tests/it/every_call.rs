//! Whatever a model writes: every call has exactly one observation, and the turn ends.

use std::collections::BTreeMap;

use hanok_agent::{AgentState, Protocol};
use hanok_model::{ChatReply, ChatRequest, Exchange, ScriptedModel};
use hanok_state::{Arguments, Message, Role, ToolCall};
use proptest::prelude::*;

use crate::support::builder;

/// A piece of a reply: good, bad, broken, invented.
fn piece() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "Thought: hm\n",
        "Action: find\nAction Input: {\"q\": \"a\"}\n",
        "Action: find\nAction Input: {\"q\": 1}\n",
        "Action: broken\nAction Input: plain words\n",
        "Action: panic\nAction Input: {\"q\": \"a\", \"wait\": 0}\n",
        "Action: gone\nAction Input: {}\n",
        "Action:\n",
        "Action: find\nAction Input: {\"q\": ",
        "<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"b\"}}</tool_call>",
        "<tool_call>{\"name\": \"없음\", \"arguments\": \"x\"}</tool_call>",
        "Observation: invented\n",
        "Delegate: somebody\nTask: a\n",
        "<think>Action: find</think>",
        "Final Answer: 15일\n",
        "words\n",
        " ",
    ])
    .prop_map(str::to_owned)
}

fn native() -> impl Strategy<Value = ToolCall> {
    let ids = prop::sample::select(vec!["", "x", "y"]);
    let names = prop::sample::select(vec!["find", "broken", "gone", ""]);
    let arguments = prop::sample::select(vec!["{\"q\":\"a\"}", "{", "[]", ""]);
    (ids, names, arguments).prop_map(|(id, name, arguments)| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: Arguments::new(arguments),
    })
}

fn reply() -> impl Strategy<Value = ChatReply> {
    let text = prop::collection::vec(piece(), 0..5).prop_map(|pieces| pieces.concat());
    let calls = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(native(), 1..4)];
    (text, calls).prop_map(|(text, calls)| {
        ChatReply::new(Message::assistant(text).with_tool_calls(calls), "m")
    })
}

fn run(replies: Vec<ChatReply>, protocol: Protocol) -> (AgentState, Vec<ChatRequest>) {
    let model = ScriptedModel::new(replies.into_iter().map(Exchange::replies));
    let agent = builder(&model).max_iterations(4).protocol(protocol).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(agent.graph().invoke(agent.ask("?"), ()));
    (outcome.unwrap().done().unwrap(), model.requests())
}

/// Every call is followed by its observation before anybody else speaks.
fn is_answered(request: &ChatRequest) -> bool {
    let mut open: Vec<&str> = Vec::new();
    request.messages.iter().all(|message| match message.tool_call_id() {
        Some(id) if open.first() == Some(&id) => {
            open.remove(0);
            message.role() == Role::Tool
        }
        Some(_) => false,
        None => {
            let none_is_open = open.is_empty();
            open.extend(message.tool_calls().iter().map(|call| call.id.as_str()));
            none_is_open
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// B113
    #[test]
    fn every_call_has_exactly_one_observation(
        replies in prop::collection::vec(reply(), 4),
        protocol in prop::sample::select(vec![Protocol::Text, Protocol::Native]),
    ) {
        let (state, requests) = run(replies, protocol);
        let mut observed = BTreeMap::new();
        for id in state.messages.iter().filter_map(Message::tool_call_id) {
            *observed.entry(id).or_insert(0) += 1;
        }
        let calls = state.messages.iter().flat_map(Message::tool_calls).map(|call| (call.id.as_str(), 1));
        prop_assert_eq!(calls.collect::<BTreeMap<_, _>>(), observed);
        prop_assert!(state.should_stop && state.stopped.is_some() && state.iteration <= 4);
        prop_assert!(state.pending_tool_calls.is_empty() && state.faults.is_empty());
        prop_assert!(requests.iter().all(is_answered));
    }
}
