//! Hooks before and after the model.

use hanok_agent::{AgentState, HasAgent, Hook, Hooked, ReactAgentBuilder, StopReason};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxError, ThreadKey};
use hanok_graph::{Context, EventKind, Input, Mode};
use hanok_model::{Exchange, ScriptedModel};
use hanok_state::{Message, Role, State};
use serde_json::json;

use super::{Weather, calls, get_weather, pair, results};
use crate::support::desk::{App, Desk, desk, native};

/// Runs before the model is asked.
#[derive(Debug)]
struct Before(fn(&Desk) -> Hooked<Desk>);

impl Hook<Desk, App> for Before {
    async fn before_model(&self, desk: &Desk, _: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        Ok((self.0)(desk))
    }
}

/// Runs after each reply.
#[derive(Debug)]
struct After(fn(&Desk) -> Hooked<Desk>);

impl Hook<Desk, App> for After {
    async fn after_model(&self, desk: &Desk, _: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        Ok((self.0)(desk))
    }
}

async fn ask(agent: ReactAgentBuilder<Desk, App>) -> Desk {
    let agent = agent.build().unwrap();
    let outcome = agent.graph().invoke(agent.ask("hi?"), App::of("Lee")).await.unwrap();
    outcome.done().unwrap()
}

fn texts(desk: &Desk) -> Vec<String> {
    desk.agent.messages.iter().map(|message| message.text().into_owned()).collect()
}

/// LangGraph: pre_model_hook, with `messages`.
#[tokio::test]
async fn a_hook_before_the_model_replaces_the_conversation() {
    let model = ScriptedModel::new([Exchange::says("hello").lacks("hi?")]);
    let hook = Before(|_| {
        let update = AgentState::update().clear_messages().message(Message::user("Hello!"));
        Hooked::new().update(Desk::wrap(update))
    });
    let state = ask(desk(&model).hook(hook)).await;
    assert_eq!(texts(&state), ["Hello!", "hello"]);
    let sent: Vec<_> = model.requests()[0].messages.iter().map(Message::role).collect();
    assert_eq!(sent, [Role::System, Role::User]);
}

fn flag(_: &Desk) -> Hooked<Desk> {
    Hooked::new().update(Desk::update().push_orders("flag"))
}

/// LangGraph: post_model_hook. A hook is a step of the model's node, and no node of its own: one update holds the reply and what
/// the hook wrote.
#[tokio::test]
async fn a_hook_after_the_model_writes_with_the_reply() {
    let model = ScriptedModel::new([Exchange::says("hello"), Exchange::says("again")]);
    let agent = desk(&model).hook(After(flag)).build().unwrap();
    let outcome = agent.graph().invoke(agent.ask("hi?"), App::default()).await.unwrap();
    assert_eq!(outcome.done().unwrap().orders, ["flag"]);

    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap()).modes([Mode::Updates]);
    let mut events = thread.stream(Input::New(agent.ask("hi?")), App::default());
    let mut updates = Vec::new();
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        if let (Some(node), EventKind::Updates(update)) = (&event.node, &event.kind) {
            updates.push((node.to_string(), format!("{update:?}")));
        }
    }
    let [(node, update)] = updates.try_into().unwrap();
    assert_eq!(node, "call_model");
    assert!(update.contains("again") && update.contains("flag"), "{update}");
}

/// LangGraph: post_model_hook_with_structured_output. The value is the last reply, so the hook sees it too.
#[tokio::test]
async fn a_hook_after_the_model_sees_every_reply_to_the_typed_answer() {
    let model = ScriptedModel::new([
        Exchange::calls([calls("get_weather", "1", json!({}))]),
        Exchange::calls([calls("final_answer", "2", json!({"temperature": 75.0}))])
            .contains("75°F"),
    ]);
    let hook = After(|desk| {
        let value = desk.agent.value.as_ref().map(|value| value.0.to_string());
        Hooked::new().update(Desk::update().push_orders(format!("{value:?}")))
    });
    let state = ask(desk(&model).tool(get_weather).answer::<Weather>().hook(hook)).await;
    model.finished().unwrap();
    assert_eq!(state.agent.read_value().unwrap(), Some(Weather { temperature: 75.0 }));
    assert_eq!(state.orders, ["None", r#"Some("{\"temperature\":75.0}")"#]);
    assert_eq!(state.agent.stopped, Some(StopReason::Answered));
}

/// LangGraph: create_react_agent_inject_vars_with_post_model_hook.
#[tokio::test]
async fn a_tool_sees_what_a_hook_wrote_behind_the_reply_that_calls_it() {
    let model = ScriptedModel::new([
        Exchange::calls([native("some 0", "order", "tea")]),
        Exchange::says("done"),
    ]);
    let hook = After(|_| Hooked::new().update(Desk::update().customer("Kim")));
    let state = ask(desk(&model).hook(hook)).await;
    assert_eq!(results(&state.agent.messages), [pair("some 0", "ordered tea for Kim")]);
    assert_eq!(
        (state.customer.as_str(), state.orders.as_slice()),
        ("Kim", &["tea for Kim".to_owned()][..])
    );
}

/// LangGraph: post_model_hook_identical_tool_call_ids. The second call gets an id of its own, and both are made.
#[tokio::test]
async fn calls_of_two_replies_with_one_id_are_two_calls() {
    let model = ScriptedModel::new([
        Exchange::calls([native("1", "whoami", "")]),
        Exchange::calls([native("1", "whoami", "")]),
        Exchange::says("done"),
    ]);
    let agent = desk(&model).hook(After(flag)).build().unwrap();
    let app = App::of("Lee");
    let made = app.made.clone();
    let state = agent.graph().invoke(agent.ask("?"), app).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!((state.orders.len(), made.lock().unwrap().len()), (3, 2));
    let ids: std::collections::BTreeSet<_> =
        results(&state.agent.messages).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 2);
    let asked: Vec<_> =
        state.agent.messages.iter().flat_map(Message::tool_calls).map(|it| it.id.clone()).collect();
    assert_eq!(asked.into_iter().collect::<std::collections::BTreeSet<_>>(), ids);
}
