//! What becomes of a tool's own error.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use hanok_agent::{AgentError, FaultKind, Handling, ReactAgent, ToolErrors};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, Tenant, ThreadKey};
use hanok_graph::{NodeError, Outcome, Resolution, RunError};
use hanok_model::{
    BlockingPool, Exchange, FnTool, InjectedTool, ScriptedModel, ToolError, ToolSpec,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{Ledger, builder, call, observations, tools};

/// The agent's own error inside a run's.
fn cause(error: &RunError) -> &AgentError {
    let RunError::Node { source: NodeError::Failed(cause), .. } = error else {
        panic!("{error:?}")
    };
    cause.downcast_ref().unwrap()
}

const FAILING: [(&str, FaultKind); 4] = [
    ("broken", FaultKind::Failed),
    ("refuse", FaultKind::Refused),
    ("panic", FaultKind::Panicked),
    ("endless", FaultKind::TimedOut),
];

/// B112: the error names agent, tool and call.
#[tokio::test(start_paused = true)]
async fn an_error_that_is_propagated_fails_the_run_and_names_the_call() {
    for (tool, kind) in FAILING {
        let by_type = ToolErrors::to_model().for_kind(kind, Handling::Propagate);
        let by_function = ToolErrors::by(move |failed| {
            assert_eq!((failed.tool, failed.kind), (tool, kind));
            assert_eq!(failed.arguments.as_str(), r#"{"q":"a"}"#);
            Handling::Propagate
        });
        for errors in [ToolErrors::propagate(), by_type, by_function] {
            let model = ScriptedModel::new([Exchange::says(call(tool, r#"{"q":"a"}"#))]);
            let agent = builder(&model).tool_errors(errors).build().unwrap();
            let error = agent.graph().invoke(agent.ask("?"), ()).await.unwrap_err();
            let AgentError::ToolFailed { agent, tool: failed, call, .. } = cause(&error) else {
                panic!("{error:?}")
            };
            assert_eq!((agent.as_str(), failed.as_str()), ("tester", tool));
            assert!(call.starts_with("call-") && call.ends_with("-0"), "{call}");
        }
    }
}

/// B112
#[tokio::test(start_paused = true)]
async fn kinds_and_functions_say_which_errors_the_model_reads_and_in_which_words() {
    for (tool, kind) in FAILING {
        let said = || Handling::Say(format!("{kind:?} today"));
        for errors in [
            ToolErrors::propagate().for_kind(kind, said()),
            ToolErrors::by(move |failed| Handling::Say(format!("{:?} today", failed.kind))),
            ToolErrors::by(|_| Handling::Propagate).for_kind(kind, said()),
        ] {
            let model = ScriptedModel::new([
                Exchange::says(call(tool, r#"{"q":"a"}"#)),
                Exchange::says("Final Answer: done"),
            ]);
            let agent = builder(&model).tool_errors(errors).build().unwrap();
            let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
            assert_eq!(observations(&state), [format!("Observation: {kind:?} today")]);
        }
    }
}

/// B112: what is wrong with a call is the model's to correct, and no error of a tool.
#[tokio::test]
async fn a_mistake_of_the_model_is_an_observation_under_every_policy() {
    let picky = ToolSpec::new("picky", "", json!({})).unwrap();
    let picky = FnTool::untyped(picky, |_, _| async { Err(ToolError::arguments("too small")) });
    let model = ScriptedModel::new([
        Exchange::says(call("gone", "{}") + &call("find", "{}") + &call("picky", "{}")),
        Exchange::says("Final Answer: done")
            .contains("There is no tool `gone`.")
            .contains("`q` is missing.")
            .contains("too small"),
    ]);
    let agent = builder(&model).tool(picky).tool_errors(ToolErrors::propagate()).build().unwrap();
    agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
}

/// B112, B113: finished calls are not made again, the failed one is, and each has one result.
#[tokio::test(start_paused = true)]
async fn a_run_that_a_tool_failed_is_resumed_without_the_calls_that_were_finished() {
    let ledger = Ledger::default();
    let fails = ledger.clone();
    let spec = ToolSpec::new("flaky", "", json!({})).unwrap();
    let flaky = FnTool::untyped(spec, move |_, _| {
        let mut ledger = fails.lock().unwrap();
        ledger.push("flaky".into());
        let first = ledger.iter().filter(|made| *made == "flaky").count() == 1;
        async move { if first { Err(ToolError::failed("offline")) } else { Ok("online".into()) } }
    });
    let said = call("find", r#"{"q":"slow","wait":100}"#)
        + &call("flaky", "{}")
        + &call("find", r#"{"q":"quick"}"#);
    let model = ScriptedModel::new([Exchange::says(said), Exchange::says("Final Answer: done")]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&ledger))
        .tool(flaky.effect(Effect::Pure))
        .tool_errors(ToolErrors::propagate())
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);

    let error = thread.invoke(agent.ask("?"), ()).await.unwrap_err();
    assert!(matches!(cause(&error), AgentError::ToolFailed { tool, .. } if tool == "flaky"));
    let state = thread.resume(()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find slow", "flaky", "find quick", "flaky"]);
    let want = ["found slow", "online", "found quick"].map(|text| format!("Observation: {text}"));
    assert_eq!(observations(&state), want);
}

/// P4: a propagated error leaves open what the call did, so it is not made twice.
#[tokio::test]
async fn a_failed_call_that_must_not_be_repeated_is_in_doubt_when_the_run_goes_on() {
    let ledger = Ledger::default();
    let paying = ledger.clone();
    let pay = FnTool::untyped(ToolSpec::new("pay", "", json!({})).unwrap(), move |_, _| {
        paying.lock().unwrap().push("pay".into());
        async { Err(ToolError::failed("the line went dead")) }
    });
    let model = ScriptedModel::new([
        Exchange::says(call("pay", "{}")),
        Exchange::says("Final Answer: done").contains("nobody knows whether it took effect"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tool(pay)
        .tool_errors(ToolErrors::propagate())
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    thread.invoke(agent.ask("?"), ()).await.unwrap_err();
    let outcome = thread.resume(()).await.unwrap();
    let Outcome::InDoubt(asked) = outcome else { panic!("{outcome:?}") };
    thread.settle(asked[0].id.clone(), Resolution::GiveUp, ()).await.unwrap().done().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["pay"]);
}

/// P4: without any policy, a lost answer of a call that must not be repeated is a doubt, and of any other an observation.
#[tokio::test]
async fn a_lost_answer_is_in_doubt_for_a_call_that_must_not_be_repeated_alone() {
    for effect in [Effect::AtMostOnce, Effect::Pure] {
        let lost = FnTool::untyped(ToolSpec::new("pay", "", json!({})).unwrap(), |_, _| async {
            Err(ToolError::InDoubt("the connection was lost".into()))
        });
        let answer = Exchange::says("Final Answer: done").contains("nobody knows whether");
        let model = ScriptedModel::new([Exchange::says(call("pay", "{}")), answer]);
        let agent = ReactAgent::builder("t", "", model.clone()).tool(lost.effect(effect));
        let agent = agent.build().unwrap();
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
        let outcome = thread.invoke(agent.ask("?"), ()).await;
        if effect == Effect::AtMostOnce {
            outcome.unwrap_err();
            let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
            let settled = thread.settle(asked[0].id.clone(), Resolution::GiveUp, ()).await;
            settled.unwrap().done().unwrap();
        } else {
            outcome.unwrap().done().unwrap();
        }
        model.finished().unwrap();
    }
}

#[derive(Deserialize, JsonSchema)]
struct Orders {
    #[allow(dead_code, reason = "it is refused before it is read")]
    user_id: String,
    q: String,
}

/// B111: what the service gives is not in the prompt, and a call that sets it is told so.
#[tokio::test]
async fn an_injected_argument_is_not_shown_and_a_call_that_sets_it_is_not_made() {
    let orders = FnTool::new("orders", "Orders", |orders: Orders, _| async move {
        Ok(format!("{} for {}", orders.q, orders.user_id).into())
    });
    let orders = InjectedTool::new(orders.unwrap()).value("user_id", "u-17").unwrap();
    let model = ScriptedModel::new([
        Exchange::says(call("orders", r#"{"q":"a","user_id":"u-1"}"#)).lacks("user_id"),
        Exchange::says(call("orders", r#"{"q":"a"}"#)).contains("there is no argument `user_id`"),
        Exchange::says("Final Answer: done").contains("a for u-17"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone()).tool(orders).build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let fault = |n: usize| state.messages.iter().nth(n).unwrap().metadata().get("fault").cloned();
    assert_eq!((fault(2), fault(4)), (Some("bad_arguments".into()), None));
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// P19: a tool that never returns is abandoned at its deadline; past the cap the model is told at once.
#[tokio::test(start_paused = true)]
async fn a_blocking_tool_that_never_returns_is_abandoned_and_past_the_cap_refused() {
    let (hold, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let (began, pool) = (Arc::new(AtomicBool::new(false)), BlockingPool::new(1, 1));
    let begins = began.clone();
    let stuck = FnTool::blocking_in(&pool, "stuck", "Never returns", move |_: Nothing, _| {
        begins.store(true, Ordering::SeqCst);
        let held = held.lock().unwrap();
        Ok(format!("{:?}", held.recv().is_err()).into())
    });
    let stuck = stuck.unwrap().effect(Effect::Pure).timeout(Duration::from_secs(5));
    let model = ScriptedModel::new([
        Exchange::says(call("stuck", "{}")),
        Exchange::says(call("stuck", "{}"))
            .contains("The tool `stuck` did not finish within 5s and was stopped."),
        Exchange::says("Final Answer: done")
            .contains("The tool `stuck` was not run: 1 earlier calls never ended."),
        Exchange::says(call("stuck", "{}")),
        Exchange::says("Final Answer: done").contains("true"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone()).tool(stuck).build().unwrap();
    // Paused time stands still as long as a task is busy: the deadline passes when the thread has begun.
    let busy = tokio::spawn(async move {
        while !began.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    });
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let faults = state.messages.iter().filter_map(|m| m.metadata().get("fault"));
    assert_eq!(faults.collect::<Vec<_>>(), [&"timed_out".into(), &"exhausted".into()]);

    busy.await.unwrap();
    drop(hold);
    while pool.leaked() > 0 {
        std::thread::yield_now();
    }
    tokio::time::resume();
    agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
}
