//! Models that the run chooses.

use hanok_agent::{AgentError, AgentState, Protocol, ReactAgent, ReactAgentBuilder, StopReason};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::ThreadKey;
use hanok_model::{Exchange, ModelError, ScriptedModel, SharedModel, SharedTool, tool};
use hanok_state::Role;
use serde_json::json;

use super::{calls, pair, results, shared};
use crate::support::{
    Ledger,
    desk::{App, Desk, desk},
};

fn model(script: impl IntoIterator<Item = Exchange>) -> (ScriptedModel, SharedModel) {
    let model = ScriptedModel::new(script);
    (model.clone(), SharedModel::new(model))
}

fn agent() -> ReactAgentBuilder {
    ReactAgent::builder("guide", "Answers", ScriptedModel::new([])).protocol(Protocol::Native)
}

fn last(state: &AgentState) -> String {
    state.messages.iter().last().unwrap().text().into_owned()
}

fn user_says(state: &AgentState, word: &str) -> bool {
    let mut users = state.messages.iter().filter(|message| message.role() == Role::User);
    users.any(|message| message.text().contains(word))
}

async fn ask(agent: &ReactAgent, text: &str) -> AgentState {
    agent.graph().invoke(agent.ask(text), ()).await.unwrap().done().unwrap()
}

/// LangGraph: dynamic_model_basic, dynamic_model_async.
#[tokio::test]
async fn the_conversation_chooses_the_model() {
    let (small, own) = model([Exchange::says("well")]);
    let (large, other) = model([Exchange::says("at once")]);
    let by = move |state: &AgentState, _: &()| match user_says(state, "urgent") {
        true => other.clone(),
        false => own.clone(),
    };
    let agent = agent().model_by(by).build().unwrap();
    let state = ask(&agent, "hello").await;
    assert_eq!((state.messages.iter().count(), last(&state)), (2, "well".into()));
    assert_eq!((small.requests().len(), large.requests().len()), (1, 0));
    let state = ask(&agent, "urgent help").await;
    assert_eq!((state.messages.iter().count(), last(&state)), (2, "at once".into()));
    assert_eq!((small.requests().len(), large.requests().len()), (1, 1));
}

/// A basic tool.
#[tool(effect = pure)]
async fn basic(x: u32) -> String {
    format!("basic {x}")
}

/// An advanced tool.
#[tool(effect = pure)]
async fn advanced(x: u32) -> String {
    format!("advanced {x}")
}

/// LangGraph: dynamic_model_with_tools. The choice is made again for each reply.
#[tokio::test]
async fn each_model_calls_its_tools_and_is_chosen_for_each_reply() {
    for (text, tool, want) in
        [("a basic request", "basic", "basic 1"), ("an advanced one", "advanced", "advanced 1")]
    {
        let asked = Ledger::default();
        let script = || {
            let of = calls(tool, "1", json!({"x": 1}));
            model([Exchange::calls([of]), Exchange::says("done").contains(want)])
        };
        let ((plain, small), (better, large)) = (script(), script());
        let notes = asked.clone();
        let by = move |state: &AgentState, _: &()| {
            let is_large = user_says(state, "advanced");
            notes.lock().unwrap().push(if is_large { "large" } else { "small" }.to_owned());
            if is_large { large.clone() } else { small.clone() }
        };
        let agent = agent().tool(basic).tool(advanced).model_by(by).build().unwrap();
        let state = ask(&agent, text).await;
        assert_eq!(results(&state.messages), [pair("1", want)]);
        let is_advanced = tool == "advanced";
        let (used, unused) = if is_advanced { (better, plain) } else { (plain, better) };
        used.finished().unwrap();
        assert_eq!(unused.requests().len(), 0);
        let name = if is_advanced { "large" } else { "small" };
        assert_eq!(*asked.lock().unwrap(), [name, name]);
    }
}

/// LangGraph: dynamic_model_with_context.
#[tokio::test]
async fn the_services_choose_the_model() {
    let (ordinary, small) = model([Exchange::says("basic")]);
    let (premium, large) = model([Exchange::says("premium")]);
    let agent = desk(&ScriptedModel::new([]))
        .model_by(move |_, app| match app.user.as_str() {
            "premium" => large.clone(),
            _ => small.clone(),
        })
        .build()
        .unwrap();
    for user in ["basic", "premium"] {
        let outcome = agent.graph().invoke(agent.ask("hello"), App::of(user)).await.unwrap();
        assert_eq!(last(&outcome.done().unwrap().agent), user);
    }
    ordinary.finished().unwrap();
    premium.finished().unwrap();
}

/// LangGraph: dynamic_model_with_state_schema, dynamic_model_receives_correct_state, …_async. It is the state, and not what the
/// model is sent.
#[tokio::test]
async fn a_field_of_ones_own_chooses_the_model() {
    let (used, large) = model([Exchange::says("hello")]);
    let (unused, small) = model([]);
    let seen = Ledger::default();
    let notes = seen.clone();
    let agent = desk(&ScriptedModel::new([]))
        .prompt("You serve.")
        .model_by(move |desk: &Desk, _| {
            let texts = desk.agent.messages.iter().map(|it| it.text().into_owned());
            let texts = texts.collect::<Vec<_>>().join(",");
            notes.lock().unwrap().push(format!("{}: {texts}", desk.customer));
            if desk.customer == "advanced" { large.clone() } else { small.clone() }
        })
        .build()
        .unwrap();
    let input = agent.ask("hello").customer("advanced");
    let state = agent.graph().invoke(input, App::default()).await.unwrap().done().unwrap();
    assert_eq!((state.customer.as_str(), state.agent.messages.iter().count()), ("advanced", 2));
    assert_eq!(*seen.lock().unwrap(), ["advanced: hello"]);
    assert_eq!((used.requests().len(), unused.requests().len()), (1, 0));
    assert_eq!(used.requests()[0].messages.len(), 2);
}

/// LangGraph: dynamic_model_with_prompt.
#[tokio::test]
async fn a_chosen_model_reads_the_prompt() {
    for by_state in [false, true] {
        let (read, chosen) = model([Exchange::says("hello")]);
        let agent = agent().model_by(move |_: &AgentState, _: &()| chosen.clone());
        let agent = match by_state {
            false => agent.prompt("system_msg"),
            true => agent.prompt_by(|state, _| format!("system_msg of {}", state.messages.len())),
        };
        let state = ask(&agent.build().unwrap(), "human_msg").await;
        let sent = &read.requests()[0].messages;
        let want = if by_state { "system_msg of 1" } else { "system_msg" };
        assert!(sent[0].text().starts_with(want), "{}", sent[0].text());
        assert_eq!((&*sent[1].text(), last(&state).as_str()), ("human_msg", "hello"));
    }
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Reply {
    message: String,
    confidence: f64,
}

/// LangGraph: dynamic_model_with_structured_response.
#[tokio::test]
async fn a_chosen_model_gives_a_value() {
    let answer = json!({"message": "dynamic response", "confidence": 0.9});
    let (_, chosen) = model([Exchange::call("final_answer", answer.to_string())]);
    let agent = agent().model_by(move |_: &AgentState, _: &()| chosen.clone());
    let state = ask(&agent.answer::<Reply>().build().unwrap(), "hello").await;
    let want = Reply { message: "dynamic response".into(), confidence: 0.9 };
    assert_eq!(state.read_value().unwrap(), Some(want));
    assert_eq!(state.stopped, Some(StopReason::Answered));
}

/// LangGraph: dynamic_model_with_checkpointer.
#[tokio::test]
async fn the_model_is_chosen_in_every_turn_of_a_thread() {
    let asked = Ledger::default();
    let notes = asked.clone();
    let (script, chosen) = model([Exchange::says("a"), Exchange::says("b").contains("hello")]);
    let by = move |state: &AgentState, _: &()| {
        notes.lock().unwrap().push(state.messages.iter().count().to_string());
        chosen.clone()
    };
    let agent = agent().model_by(by).build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("dynamic").unwrap());
    for (text, count) in [("hello", 2), ("world", 4)] {
        let state = thread.invoke(agent.ask(text), ()).await.unwrap().done().unwrap();
        assert_eq!(state.messages.iter().count(), count);
    }
    assert_eq!(*asked.lock().unwrap(), ["1", "3"]);
    script.finished().unwrap();
}

/// LangGraph: dynamic_model_state_dependent_tools. The tools themselves may depend on the state.
#[tokio::test]
async fn the_state_chooses_the_tools_that_a_model_has() {
    for (text, tool, want) in
        [("use_b please", "advanced", "advanced 2"), ("hello", "basic", "basic 1")]
    {
        let x = if tool == "advanced" { 2 } else { 1 };
        let (script, chosen) =
            model([Exchange::calls([calls(tool, "1", json!({"x": x}))]), Exchange::says("done")]);
        let agent = agent()
            .model_by(move |_: &AgentState, _: &()| chosen.clone())
            .tools_by(|state, _| -> Vec<SharedTool> {
                match user_says(state, "use_b") {
                    true => vec![shared(advanced)],
                    false => vec![shared(basic)],
                }
            })
            .build()
            .unwrap();
        let state = ask(&agent, text).await;
        assert_eq!(results(&state.messages), [pair("1", want)]);
        for request in script.requests() {
            let shown: Vec<_> = request.tools.iter().map(|spec| spec.name().to_owned()).collect();
            assert_eq!(shown, [tool]);
        }
    }
}

/// LangGraph: dynamic_model_error_handling. A choice cannot fail here; the model that it gives can, and the run with it.
#[tokio::test]
async fn a_chosen_model_that_fails_fails_the_run() {
    let (_, healthy) = model([Exchange::says("hello")]);
    let unknown = ModelError::UnknownModel { model: "dynamic".into(), source: None };
    let (_, ill) = model([Exchange::fails(unknown)]);
    let by = move |state: &AgentState, _: &()| match user_says(state, "fail") {
        true => ill.clone(),
        false => healthy.clone(),
    };
    let agent = agent().model_by(by).build().unwrap();
    assert_eq!(ask(&agent, "hello").await.messages.iter().count(), 2);
    let error = agent.graph().invoke(agent.ask("fail now"), ()).await.unwrap_err();
    let cause = error.downcast_ref::<AgentError>().unwrap();
    assert!(matches!(cause, AgentError::Model { agent, .. } if agent == "guide"), "{cause:?}");
    assert!(hanok_core::Chain(cause).to_string().contains("the server has no model `dynamic`"));
}

/// LangGraph: dynamic_model_vs_static_model_behavior.
#[tokio::test]
async fn a_chosen_model_does_what_it_does_when_it_is_the_only_one() {
    let script =
        || [Exchange::calls([calls("basic", "1", json!({"x": 1}))]), Exchange::says("done")];
    let plain = ReactAgent::builder("guide", "Answers", ScriptedModel::new(script()));
    let plain = plain.protocol(Protocol::Native).tool(basic).build().unwrap();
    let (_, chosen) = model(script());
    let by_run = agent().tool(basic).model_by(move |_: &AgentState, _: &()| chosen.clone());
    let by_run = by_run.build().unwrap();
    let (plain, by_run) = (ask(&plain, "hi").await, ask(&by_run, "hi").await);
    let talk = |state: &AgentState| -> Vec<_> {
        let parts = |it: &hanok_state::Message| {
            (it.role(), it.text().into_owned(), it.tool_calls().to_vec())
        };
        state.messages.iter().map(parts).collect()
    };
    assert_eq!(talk(&plain), talk(&by_run));
    assert_eq!(
        (plain.usage, plain.answer, plain.stopped),
        (by_run.usage, by_run.answer, by_run.stopped)
    );
}
