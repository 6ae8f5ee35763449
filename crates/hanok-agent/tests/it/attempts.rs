//! Calls that fail: made again, by another model, and not for ever.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hanok_agent::{AgentState, CallLimits, Exceeded, Fallback, ReactAgent, Retrying};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxError, Effect, Limit, Tenant, ThreadKey, Token};
use hanok_graph::{EventKind, Input, Outcome};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, SharedTool, ToolError, ToolSpec};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Ledger, call, observations, tools};

fn busy(retry_after: Option<Duration>) -> ModelError {
    ModelError::RateLimited { retry_after, source: None }
}

fn unreachable() -> ModelError {
    ModelError::Unreachable { server: "http://s".into(), source: None }
}

/// How long a turn takes that is asked with `retrying`, and how often it was asked.
async fn turn(retrying: Retrying, errors: Vec<ModelError>) -> (Duration, usize, bool) {
    let script = errors.into_iter().map(Exchange::fails).chain([Exchange::says("Final Answer: x")]);
    let model = ScriptedModel::new(script);
    let agent = ReactAgent::builder("t", "", model.clone()).intercept(retrying).build().unwrap();
    let begun = Instant::now();
    let outcome = agent.graph().invoke(agent.ask("?"), ()).await;
    (begun.elapsed(), model.requests().len(), outcome.is_ok())
}

/// P16
#[tokio::test(start_paused = true)]
async fn a_model_is_asked_again_after_a_wait_and_not_for_ever() {
    let three = || Retrying::attempts(3).first(Duration::from_secs(1));
    // Half to the whole of 1 s, and of 2 s.
    let (took, asked, ok) = turn(three(), vec![unreachable(), unreachable()]).await;
    assert_eq!((asked, ok), (3, true));
    assert!(took >= Duration::from_millis(1_500) && took <= Duration::from_secs(3), "{took:?}");
    let (_, asked, ok) = turn(three(), vec![unreachable(), unreachable(), unreachable()]).await;
    assert_eq!((asked, ok), (3, false));
    // What a server says is believed, up to the cap.
    let (took, asked, _) = turn(three(), vec![busy(Some(Duration::from_secs(7)))]).await;
    assert_eq!((took.as_secs(), asked), (7, 2));
    let (took, asked, ok) = turn(three(), vec![busy(Some(Duration::from_secs(31)))]).await;
    assert_eq!((took.as_secs(), asked, ok), (0, 1, false));
    // Within the time there is, and only what may help.
    let hurried = three().within(Duration::from_secs(5));
    let (_, asked, ok) = turn(hurried, vec![busy(Some(Duration::from_secs(7)))]).await;
    assert_eq!((asked, ok), (1, false));
    let (_, asked, ok) = turn(three(), vec![ModelError::QuotaExceeded { source: None }]).await;
    assert_eq!((asked, ok), (1, false));
    let quota = three().model_errors(|error| matches!(error, ModelError::QuotaExceeded { .. }));
    let (_, asked, ok) = turn(quota, vec![ModelError::QuotaExceeded { source: None }]).await;
    assert_eq!((asked, ok), (2, true));
}

/// What was seen of a reply that broke off is taken back, whoever answers then.
#[tokio::test(start_paused = true)]
async fn a_watcher_sees_one_answer() {
    let broken = || {
        let error = ModelError::BrokenStream { received: 9, source: None };
        Exchange::fails(error).pieces(["Thought: 안다\nFinal Answer: 연차는 9"])
    };
    let good = || Exchange::says("Final Answer: 연차는 15일.").usage(5, 5);
    for fallback in [false, true] {
        let other = ScriptedModel::new([good()]).named("other");
        let script = if fallback { vec![broken()] } else { vec![broken(), good()] };
        let agent = ReactAgent::builder("t", "", ScriptedModel::new(script));
        let agent = match fallback {
            true => agent.intercept(Fallback::to(other)),
            false => agent.intercept(Retrying::attempts(2)),
        };
        let agent = agent.build().unwrap();
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
        let mut events = thread.stream(Input::New(agent.ask("?")), ());
        let mut shown = String::new();
        let mut taken_back = 0;
        while let Some(event) = events.next().await {
            match event.kind {
                EventKind::Token(Token::Text(text)) => shown.push_str(&text),
                EventKind::Token(Token::Retracted) => {
                    taken_back += 1;
                    shown.clear();
                }
                _ => {}
            }
        }
        assert_eq!((shown.as_str(), taken_back), ("연차는 15일.", 1), "{fallback}");
        let state = events.outcome().await.unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some("연차는 15일."));
    }
}

#[tokio::test]
async fn another_model_is_asked_when_the_server_of_one_is_to_blame() {
    let says = |text: &str| Exchange::says(format!("Final Answer: {text}"));
    let run = async |error: ModelError, fallback: Fallback| {
        let model = ScriptedModel::new([Exchange::fails(error)]);
        let agent = ReactAgent::builder("t", "", model).intercept(fallback).build().unwrap();
        let outcome = agent.graph().invoke(agent.ask("?"), ()).await;
        outcome.map(|outcome| outcome.done().unwrap().answer.unwrap())
    };
    let second = || ScriptedModel::new([says("second")]);
    for error in [unreachable(), busy(None), ModelError::BadKey { sent: true, source: None }] {
        assert_eq!(run(error, Fallback::to(second())).await.unwrap(), "second");
    }
    let fallback = Fallback::to(ScriptedModel::new([Exchange::fails(busy(None))])).or(second());
    assert_eq!(run(unreachable(), fallback).await.unwrap(), "second");
    let long = || ModelError::ContextTooLong { limit: None, requested: None, source: None };
    run(long(), Fallback::to(second())).await.unwrap_err();
    let longer = Fallback::to(second()).when(|e| matches!(e, ModelError::ContextTooLong { .. }));
    assert_eq!(run(long(), longer).await.unwrap(), "second");
}

/// A tool that fails `failures` times.
fn flaky(name: &str, effect: Effect, failures: usize, ledger: &Ledger) -> SharedTool {
    let ledger = ledger.clone();
    let spec = ToolSpec::new(name, "Fails", json!({})).unwrap();
    let name = name.to_owned();
    let run = move |_, call: hanok_core::Call| {
        let mut ledger = ledger.lock().unwrap();
        ledger.push(format!("{name} {}", call.key()));
        let made = ledger.iter().filter(|made| made.starts_with(&name)).count();
        let result = match made > failures {
            true => Ok("fine".into()),
            false => Err(ToolError::failed("the line is busy")),
        };
        async { result }
    };
    SharedTool::new(FnTool::untyped(spec, run).effect(effect))
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_again_with_its_key_but_never_one_that_must_not_be() {
    let ledger = Ledger::default();
    let asked = call("read", "{}") + &call("put", "{}") + &call("pay", "{}");
    let model = ScriptedModel::new([Exchange::says(asked), Exchange::says("Final Answer: x")]);
    let agent = ReactAgent::builder("t", "", model)
        .tools([
            flaky("read", Effect::Pure, 2, &ledger),
            flaky("put", Effect::Idempotent, 5, &ledger),
            flaky("pay", Effect::AtMostOnce, 5, &ledger),
        ])
        .intercept(Retrying::attempts(3))
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let seen = observations(&state);
    assert_eq!(seen[0], "Observation: fine");
    assert!(
        seen[1].contains("the line is busy") && seen[2].contains("the line is busy"),
        "{seen:?}"
    );
    let made = ledger.lock().unwrap();
    let count = |name: &str| made.iter().filter(|made| made.starts_with(name)).count();
    assert_eq!((count("read"), count("put"), count("pay")), (3, 3, 1));
    let keys: std::collections::BTreeSet<_> = made.iter().collect();
    assert_eq!(keys.len(), 3, "{made:?}");
    // Attempts are counted as spent; the turn made three calls.
    let usage = &state.usage;
    assert_eq!((usage.spent.tool_calls, usage.tools.values().sum::<u64>()), (7, 3));
}

fn finds(count: usize) -> String {
    call("find", r#"{"q": "a"}"#).repeat(count)
}

/// P17
#[tokio::test]
async fn calls_past_a_limit_of_the_turn_are_observations() {
    let ledger: Ledger = Arc::new(Mutex::default());
    let model = ScriptedModel::new([
        Exchange::says(finds(1)),
        Exchange::says(finds(2) + &call("broken", r#"{"q": "a"}"#)),
        Exchange::says("Final Answer: x").contains("`find` is called at most 2 times in a turn"),
    ]);
    let agent = ReactAgent::builder("t", "", model)
        .tools(tools(&ledger))
        .intercept(CallLimits::new().tool("find", 2).tool_calls(10))
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find a", "find a", "broken a"]);
    assert!(observations(&state)[2].starts_with("Observation: The call of `find` was not made"));
}

/// P17
#[tokio::test]
async fn a_run_ends_with_the_limit_that_it_is_to_end_with() {
    type Run = (CallLimits, Limit, usize);
    let runs: [Run; 2] = [
        (CallLimits::new().model_calls(2), Limit::ModelCalls(2), 2),
        (CallLimits::new().tool_calls(1).exceeded(Exceeded::End), Limit::ToolCalls(1), 1),
    ];
    for (limits, want, made) in runs {
        let ledger: Ledger = Arc::new(Mutex::default());
        let model = ScriptedModel::new((0..5).map(|_| Exchange::says(finds(1))));
        let agent = ReactAgent::builder("t", "", model).tools(tools(&ledger));
        let agent = agent.intercept(limits).build().unwrap();
        let outcome: Result<Outcome<AgentState>, BoxError> =
            agent.graph().invoke(agent.ask("?"), ()).await.map_err(Into::into);
        match outcome.unwrap() {
            Outcome::LimitReached { which, .. } => assert_eq!(which, want),
            other => panic!("{other:?}"),
        }
        assert_eq!(ledger.lock().unwrap().len(), made, "{want:?}");
    }
}
