//! Conversations that an agent keeps small by itself, before each call of its model.

use hanok_agent::{
    AgentState, CapabilityPolicy, PersonalData, Protocol, ReactAgent, ReactAgentBuilder, Redaction,
    RedactionStrategy,
    memory::{Compaction, Compactor, KeepRecent, Trigger},
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, Tenant, ThreadKey};
use hanok_graph::RunError;
use hanok_model::{
    ChatRequest, Exchange, FnTool, ModelError, ScriptedModel, SharedTool, TokenCounter, ToolSpec,
};
use hanok_state::{Message, Role, ToolCall};
use serde_json::json;

fn look() -> SharedTool {
    let spec = ToolSpec::new("look", "Looks", json!({})).unwrap();
    let look = FnTool::untyped(spec, |arguments, _| async move {
        Ok(format!("found {arguments} {}", "among many things ".repeat(30)).into())
    });
    SharedTool::new(look.effect(Effect::Pure))
}

fn looks(n: usize) -> Exchange {
    Exchange::calls([ToolCall::new(n.to_string(), "look", json!({ "n": n }))])
}

fn agent(model: &ScriptedModel, policy: Compaction) -> ReactAgentBuilder {
    let policy = policy.counter(TokenCounter::estimate());
    ReactAgent::builder("tester", "Tests", model.clone())
        .tools([look()])
        .protocol(Protocol::Native)
        .max_iterations(40)
        .memory(Compactor::new(policy, model.clone()).unwrap())
}

async fn ask(agent: &ReactAgent, text: &str) -> Result<AgentState, RunError> {
    Ok(agent.graph().invoke(agent.ask(text), ()).await?.done().unwrap())
}

/// What is wrong with a request: a call without its result, or the other way round; or the question is not in it.
fn whole(request: &ChatRequest) -> Result<(), String> {
    let calls = request.messages.iter().flat_map(Message::tool_calls).map(|call| &*call.id);
    let results = request.messages.iter().filter_map(Message::tool_call_id);
    let (calls, results): (Vec<_>, Vec<_>) = (calls.collect(), results.collect());
    let asks = request.messages.iter().any(|message| message.text() == "Look everywhere");
    match calls == results && asks {
        true => Ok(()),
        false => Err(format!("{calls:?} {results:?} {asks}")),
    }
}

/// B117: thirty calls in a turn never fill the window; the question and the newest results are in every prompt.
#[tokio::test]
async fn a_long_turn_stays_in_its_window() {
    let policy = Compaction::new().trigger(Trigger::Tokens(1_500)).keep(KeepRecent::Messages(2));
    let steps = (0..30).map(|n| {
        let newest = move |request: &ChatRequest| {
            let result = request.messages.last().unwrap().text().into_owned();
            match n == 0 || result.starts_with(&format!("found {{\"n\":{}}}", n - 1)) {
                true => whole(request),
                false => Err(result),
            }
        };
        looks(n).check(newest)
    });
    let done = Exchange::says("all of it").check(whole);
    let model = ScriptedModel::new(steps.chain([done]));
    // Another model writes the summaries, which has read none of it.
    let small =
        (0..9).map(|_| Exchange::says("Places were looked at.").contains("between the marks"));
    let small = ScriptedModel::new(small).named("small");
    let policy = policy.long_result(40).counter(TokenCounter::estimate());
    let agent =
        agent(&model, policy.clone()).memory(Compactor::new(policy, small.clone()).unwrap());
    let agent = agent.build().unwrap();
    let state = ask(&agent, "Look everywhere").await.unwrap();
    model.finished().unwrap();
    assert_eq!((state.answer.as_deref(), state.iteration), (Some("all of it"), 31));
    let counter = TokenCounter::estimate();
    let largest = model.requests().iter().map(|request| counter.request(request)).max().unwrap();
    assert!((1_000..1_900).contains(&largest), "{largest}");
    assert!(state.memory.compactions > 3 && !small.requests().is_empty(), "{:?}", state.memory);
}

/// B117: a summary is asked for with the front of the last prompt, whose tools and messages the server has read.
#[tokio::test]
async fn a_summary_is_asked_for_behind_the_last_prompt() {
    let policy = Compaction::new().trigger(Trigger::Messages(6)).keep(KeepRecent::Messages(2));
    let model = ScriptedModel::new([
        looks(0),
        looks(1),
        looks(2),
        Exchange::says("Three places were looked at.").contains("Do not answer. Summarise"),
        Exchange::says("all of it").contains("Three places were looked at."),
    ]);
    let agent = agent(&model, policy).build().unwrap();
    let state = ask(&agent, "Look everywhere").await.unwrap();
    model.finished().unwrap();
    let sent = model.requests();
    let (before, summary, after) = (&sent[2], &sent[3], &sent[4]);
    let front = &summary.messages[..summary.messages.len() - 1];
    assert_eq!((&before.messages[..], &before.tools), (front, &summary.tools));
    // The question stands where it stood, and what was summarised stands before it.
    let roles: Vec<_> = after.messages.iter().map(Message::role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::User, Role::Assistant, Role::Tool]);
    // The summary is one of the turn's calls.
    assert_eq!(state.usage.spent.model_calls, 5);
}

fn full(limit: Option<u64>) -> Exchange {
    Exchange::fails(ModelError::ContextTooLong { limit, requested: None, source: None })
}

/// B117: after a full window the conversation is made smaller, and the model is asked once more.
#[tokio::test]
async fn a_full_window_is_made_room_in_once() {
    let never =
        || Compaction::new().trigger(Trigger::Messages(1_000)).keep(KeepRecent::Messages(2));
    let begin = || [looks(0), looks(1), looks(2)];
    let cut = || {
        Exchange::says("Two places were looked at.")
            .contains("[tool] found {\"n\":0}")
            .lacks("found {\"n\":2}")
            .check(|request| match request.tools.is_empty() && request.messages.len() == 2 {
                // It holds what is cut, and nothing that might fill the window again.
                true => Ok(()),
                false => Err(format!("{request:?}")),
            })
    };
    let script = begin().into_iter().chain([
        full(None),
        cut(),
        Exchange::says("there").contains("Two places were looked at.").check(whole),
    ]);
    let model = ScriptedModel::new(script);
    let agent_of =
        |model: &ScriptedModel| agent(model, never().long_result(100_000)).build().unwrap();
    let state = ask(&agent_of(&model), "Look everywhere").await.unwrap();
    model.finished().unwrap();
    assert_eq!((state.answer.as_deref(), state.memory.summaries().count()), (Some("there"), 1));

    // Full again: it is an error, and nobody asks for ever.
    let model = ScriptedModel::new(begin().into_iter().chain([full(None), cut(), full(Some(10))]));
    let error = ask(&agent_of(&model), "Look everywhere").await.unwrap_err();
    model.finished().unwrap();
    assert!(too_long(&error), "{error:?}");

    // Nothing can be taken: the server's words are the error.
    let model = ScriptedModel::new([full(None)]);
    let error = ask(&agent_of(&model), "Look everywhere").await.unwrap_err();
    model.finished().unwrap();
    assert!(too_long(&error), "{error:?}");
}

fn too_long(error: &RunError) -> bool {
    format!("{error:?}").contains("ContextTooLong")
}

/// P42: what an agent may do after untrusted content does not come back when that content becomes a summary.
#[tokio::test]
async fn a_summary_is_as_untrusted_as_what_it_stands_for() {
    let pay = ToolSpec::new("pay", "Pays", json!({})).unwrap();
    let pay = FnTool::untyped(pay, |_, _| async { Ok("paid".into()) });
    let policy = Compaction::new().trigger(Trigger::Messages(6)).keep(KeepRecent::Messages(1));
    let model = ScriptedModel::new([
        looks(0),
        Exchange::says("seen"),
        Exchange::says("good"),
        Exchange::says("fine"),
        Exchange::says("They looked."),
        Exchange::calls([ToolCall::new("p", "pay", json!({}))]),
        Exchange::says("I may not").contains("content from outside"),
    ]);
    let agent = agent(&model, policy).tool(pay);
    let agent = agent.intercept(CapabilityPolicy::new().refuse_after_untrusted()).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    for text in ["look", "good?", "fine?", "Pay Eve"] {
        thread.invoke(agent.ask(text), ()).await.unwrap();
    }
    model.finished().unwrap();
    let state = thread.state(None).await.unwrap().unwrap();
    assert!(
        !state.messages.iter().any(|message| message.text().starts_with("found")),
        "{state:#?}"
    );
}

/// What interceptors keep from the model they keep from it when it summarises, too.
#[tokio::test]
async fn a_summary_is_asked_for_through_the_interceptors() {
    let policy = Compaction::new().trigger(Trigger::Messages(3)).keep(KeepRecent::Messages(1));
    let model = ScriptedModel::new([
        Exchange::says("noted").lacks("kim@example.com"),
        Exchange::says("They gave an address.").lacks("kim@example.com"),
        Exchange::says("no").lacks("kim@example.com"),
    ]);
    let redaction = Redaction::new().kind(PersonalData::Email, RedactionStrategy::Mask);
    let agent = agent(&model, policy).intercept(redaction).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let long = format!("Write to kim@example.com about {}", "all that was said before ".repeat(20));
    for text in [&long, "Did you?"] {
        thread.invoke(agent.ask(text), ()).await.unwrap();
    }
    model.finished().unwrap();
}
