//! Hooks between the parts of a turn: what they write, where they jump, and that they run once.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_agent::{
    AgentError, AgentState, HasAgent, Hook, HookPoint, Hooked, Jump, ReactAgent, StopReason,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxError, ThreadKey};
use hanok_graph::{Context, Outcome};
use hanok_model::{Exchange, ScriptedModel};
use hanok_state::{Message, State};

use crate::support::{
    Ledger, call,
    desk::{App, Desk, desk, native, results},
    tools,
};

/// Notes where it runs, and in which order.
#[derive(Debug, Clone)]
struct Notes(&'static str, Ledger);

impl Notes {
    fn note<S: HasAgent>(&self, point: &str) -> Result<Hooked<S>, BoxError> {
        self.1.lock().unwrap().push(format!("{} {point}", self.0));
        Ok(Hooked::new())
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> Hook<S, C> for Notes {
    fn name(&self) -> &str {
        self.0
    }

    async fn before_agent(&self, _: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
        self.note("before_agent")
    }

    async fn before_model(&self, _: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
        self.note("before_model")
    }

    async fn after_model(&self, _: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
        self.note("after_model")
    }

    async fn after_agent(&self, _: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
        self.note("after_agent")
    }
}

/// A hook of one point that is a function of the state, the services and how often it ran.
struct At<F>(HookPoint, F, AtomicU32);

impl<F> std::fmt::Debug for At<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.code())
    }
}

fn at<F>(point: HookPoint, hook: F) -> At<F>
where
    F: Fn(&Desk, &App, u32) -> Hooked<Desk> + Send + Sync + 'static,
{
    At(point, hook, AtomicU32::new(0))
}

impl<F: Fn(&Desk, &App, u32) -> Hooked<Desk> + Send + Sync + 'static> At<F> {
    fn run(
        &self,
        point: HookPoint,
        desk: &Desk,
        cx: &Context<App>,
    ) -> Result<Hooked<Desk>, BoxError> {
        match point == self.0 {
            true => Ok((self.1)(desk, cx.services(), self.2.fetch_add(1, Ordering::SeqCst))),
            false => Ok(Hooked::new()),
        }
    }
}

impl<F: Fn(&Desk, &App, u32) -> Hooked<Desk> + Send + Sync + 'static> Hook<Desk, App> for At<F> {
    async fn before_agent(&self, desk: &Desk, cx: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        self.run(HookPoint::BeforeAgent, desk, cx)
    }

    async fn before_model(&self, desk: &Desk, cx: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        self.run(HookPoint::BeforeModel, desk, cx)
    }

    async fn after_model(&self, desk: &Desk, cx: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        self.run(HookPoint::AfterModel, desk, cx)
    }

    async fn after_agent(&self, desk: &Desk, cx: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
        self.run(HookPoint::AfterAgent, desk, cx)
    }
}

async fn ask(agent: &ReactAgent<Desk, App>) -> Desk {
    let outcome = agent.graph().invoke(agent.ask("?"), App::of("Lee")).await.unwrap();
    outcome.done().unwrap()
}

/// In front in the order in which they were added, behind in the reverse one; once for a turn, and once for each reply.
#[tokio::test]
async fn hooks_run_in_the_order_in_which_they_were_added() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "a"}"#)),
        Exchange::says("Final Answer: b"),
    ]);
    let agent = ReactAgent::builder("t", "", model)
        .tools(tools(&Ledger::default()))
        .hook(Notes("outer", ledger.clone()))
        .hook(Notes("inner", ledger.clone()))
        .build()
        .unwrap();
    agent.run("?").await.unwrap();
    let noted = ledger.lock().unwrap().join(", ");
    insta::assert_snapshot!(noted, @"outer before_agent, inner before_agent, outer before_model, inner before_model, inner after_model, outer after_model, outer before_model, inner before_model, inner after_model, outer after_model, inner after_agent, outer after_agent");
}

/// B121: what a hook writes stays, and the next hook and the model see it.
#[tokio::test]
async fn a_hook_writes_fields_and_messages_that_the_next_ones_see() {
    let model = ScriptedModel::new([Exchange::says("done").contains("Lee is served")]);
    let agent = desk(&model)
        .hook(at(HookPoint::BeforeAgent, |_, app, _| {
            Hooked::new().update(Desk::update().customer(app.user.as_str()))
        }))
        .hook_named(
            "second",
            at(HookPoint::BeforeAgent, |desk, _, _| {
                Hooked::new().message(Message::user(format!("{} is served", desk.customer)))
            }),
        )
        .build()
        .unwrap();
    let desk = ask(&agent).await;
    assert_eq!(desk.customer, "Lee");
    assert!(desk.agent.messages.iter().any(|message| message.text() == "Lee is served"));
    assert!(desk.agent.messages.iter().all(|message| message.id().is_some()));
}

#[tokio::test]
async fn a_hook_leaves_the_loop() {
    for point in [HookPoint::BeforeAgent, HookPoint::BeforeModel, HookPoint::AfterModel] {
        let model = ScriptedModel::new([Exchange::calls([native("1", "serve", "Park")])]);
        let agent = desk(&model)
            .hook(at(point, |_, _, _| {
                Hooked::new().message(Message::assistant("no")).jump(Jump::End)
            }))
            .build()
            .unwrap();
        let desk = ask(&agent).await;
        assert_eq!(desk.agent.stopped, Some(StopReason::Hook), "{point:?}");
        assert_eq!((desk.customer.as_str(), results(&desk).len()), ("", 0), "no call is made");
        let asked = usize::from(point == HookPoint::AfterModel);
        assert_eq!(model.requests().len(), asked, "{point:?}");
    }
}

/// B121: a hook may send the model back to work: after a reply, and at the end of the turn.
#[tokio::test]
async fn a_hook_has_the_model_asked_again() {
    for point in [HookPoint::AfterModel, HookPoint::AfterAgent] {
        let model = ScriptedModel::new([
            Exchange::says("short"),
            Exchange::says("a longer answer").contains("Write more."),
        ]);
        let agent = desk(&model)
            .hook(at(point, |_, _, n| match n {
                0 => Hooked::new().message(Message::user("Write more.")).jump(Jump::Model),
                _ => Hooked::new(),
            }))
            .build()
            .unwrap();
        let desk = ask(&agent).await;
        model.finished().unwrap();
        assert_eq!(desk.agent.answer.as_deref(), Some("a longer answer"), "{point:?}");
        assert_eq!((desk.agent.iteration, desk.agent.stopped), (2, Some(StopReason::Answered)));
    }
}

/// One that never has enough is ended by the limit of model calls.
#[tokio::test]
async fn a_hook_that_never_has_enough_comes_to_the_limit() {
    for point in [HookPoint::AfterModel, HookPoint::AfterAgent] {
        let model = ScriptedModel::new([(); 3].map(|()| Exchange::says("short")));
        let agent = desk(&model)
            .max_iterations(3)
            .hook(at(point, |_, _, _| Hooked::new().jump(Jump::Model)))
            .build()
            .unwrap();
        let desk = ask(&agent).await;
        assert_eq!(desk.agent.stopped, Some(StopReason::MaxIterations), "{point:?}");
    }
}

/// The calls that a hook puts there are made without asking the model.
#[tokio::test]
async fn a_hook_has_calls_made() {
    let model = ScriptedModel::new([Exchange::says("done").contains("serving Park")]);
    let agent = desk(&model)
        .hook(at(HookPoint::BeforeAgent, |_, _, _| {
            let call = native("own", "serve", "Park");
            let message = Message::assistant("").with_tool_calls([call.clone()]);
            let update = AgentState::update().message(message).pending_tool_calls(vec![call]);
            Hooked::new().update(Desk::wrap(update.iteration(1))).jump(Jump::Tools)
        }))
        .build()
        .unwrap();
    let desk = ask(&agent).await;
    model.finished().unwrap();
    assert_eq!((desk.customer.as_str(), results(&desk).len()), ("Park", 1));
}

/// For one question the model is shown the tools that a hook chose.
#[tokio::test]
async fn a_hook_chooses_the_tools_that_the_model_is_shown() {
    let model = ScriptedModel::new([
        Exchange::calls([native("1", "serve", "Park")]),
        Exchange::says("done"),
    ]);
    let agent = desk(&model)
        .hook(at(HookPoint::BeforeModel, |_, _, n| match n {
            0 => Hooked::new().only_tools(["serve"]),
            _ => Hooked::new(),
        }))
        .build()
        .unwrap();
    ask(&agent).await;
    let shown: Vec<_> = model.requests().iter().map(|request| request.tools.len()).collect();
    assert_eq!(shown, [1, 3]);
}

/// A hook that was added before the state and the services were given is there still.
#[tokio::test]
async fn a_hook_of_a_plain_agent_stays_when_it_gets_a_state_and_services() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([Exchange::says("Final Answer: b")]);
    let agent = ReactAgent::builder("t", "", model)
        .hook(Notes("plain", ledger.clone()))
        .prompt_by(|state: &AgentState, _: &()| format!("{} messages", state.messages.len()))
        .services::<App>()
        .state::<Desk>()
        .build()
        .unwrap();
    ask(&agent).await;
    assert_eq!(ledger.lock().unwrap().len(), 4);
}

/// B121: each is a step: a run that goes on reads what the hook gave back, and runs it no second time.
#[tokio::test(start_paused = true)]
async fn a_hook_that_ran_is_not_run_again() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says("lost").delay(Duration::from_secs(1)),
        Exchange::says("done").contains("once"),
    ]);
    #[derive(Debug)]
    struct Once(Ledger);
    impl Hook<Desk, App> for Once {
        async fn before_model(&self, _: &Desk, _: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
            self.0.lock().unwrap().push("ran".into());
            Ok(Hooked::new()
                .message(Message::user("once"))
                .update(Desk::update().push_orders("once")))
        }
    }
    let agent = desk(&model).hook(Once(ledger.clone())).build().unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = thread.thread(ThreadKey::named("t").unwrap());
    let run = thread.invoke(agent.ask("?"), App::default());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    let desk = thread.resume(App::default()).await.unwrap().done().unwrap();
    assert_eq!(ledger.lock().unwrap().len(), 1);
    assert_eq!(desk.orders, ["once"]);
}

/// A hook may ask a person; it is run again from its beginning then, and what was done before it is not.
#[tokio::test]
async fn a_hook_asks_a_person() {
    #[derive(Debug)]
    struct Asks(Arc<Mutex<u32>>);
    impl Hook<Desk, App> for Asks {
        async fn after_model(&self, _: &Desk, cx: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
            *self.0.lock().unwrap() += 1;
            let yes: bool = cx.interrupt("publish?").await?;
            Ok(if yes { Hooked::new() } else { Hooked::new().jump(Jump::End) })
        }
    }
    for yes in [true, false] {
        let (model, ran) = (ScriptedModel::new([Exchange::says("done")]), Arc::default());
        let agent = desk(&model).hook(Asks(Arc::clone(&ran))).build().unwrap();
        let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
        let thread = app.thread(ThreadKey::named("t").unwrap());
        let asked = thread.invoke(agent.ask("?"), App::default()).await.unwrap();
        assert!(matches!(asked, Outcome::Interrupted(_)));
        let desk = thread.reply(&yes, App::default()).await.unwrap().done().unwrap();
        let want = if yes { StopReason::Answered } else { StopReason::Hook };
        assert_eq!((desk.agent.stopped, *ran.lock().unwrap()), (Some(want), 2));
        assert_eq!(model.requests().len(), 1, "the reply was stored");
    }
}

#[tokio::test]
async fn a_hook_that_fails_fails_the_run_in_its_own_words() {
    #[derive(Debug)]
    struct Broken;
    impl Hook<Desk, App> for Broken {
        fn name(&self) -> &str {
            "broken"
        }
        async fn before_model(&self, _: &Desk, _: &Context<App>) -> Result<Hooked<Desk>, BoxError> {
            Err("no paper".into())
        }
    }
    let agent = desk(&ScriptedModel::new([])).hook(Broken).build().unwrap();
    let error = agent.graph().invoke(agent.ask("?"), App::default()).await.unwrap_err();
    let error = error.downcast_ref::<AgentError>().unwrap();
    let told = hanok_core::Chain(error).to_string();
    assert_eq!(told, "hook `broken` of agent `desk` failed at `before_model`: no paper");
}
