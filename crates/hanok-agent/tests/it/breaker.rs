//! A dead server does not hold up the others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use hanok_agent::{CircuitBreaker, Fallback, FaultKind, Handling, ReactAgent, ToolErrors};
use hanok_core::{BoxFuture, Clock, Timestamp};
use hanok_graph::{Outcome, Runtime};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, SharedTool, ToolError, ToolSpec};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{call, observations};

/// The paused time of the test, for those who only look at the clock too.
#[derive(Debug)]
struct Paused(Instant);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        Timestamp::default().plus(self.0.elapsed())
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

fn runtime() -> Runtime {
    Runtime { clock: Arc::new(Paused(Instant::now())), ..Runtime::default() }
}

/// A tool that answers in 10 ms while its server is up, and hangs for its two seconds while it is not.
fn tool(name: &str, up: &Arc<AtomicBool>, asked: &Arc<AtomicUsize>) -> SharedTool {
    let (up, asked, spec) =
        (up.clone(), asked.clone(), ToolSpec::new(name, "", json!({})).unwrap());
    let run = move |_, _| {
        asked.fetch_add(1, Ordering::SeqCst);
        let up = up.load(Ordering::SeqCst);
        async move {
            tokio::time::sleep(Duration::from_millis(if up { 10 } else { 60_000 })).await;
            Ok("here".into())
        }
    };
    SharedTool::new(
        FnTool::untyped(spec, run).effect(hanok_core::Effect::Pure).timeout(Duration::from_secs(2)),
    )
}

/// P20: after its failures a dead server is refused at once, the other one is not; and it is back when it lives again.
#[tokio::test(start_paused = true)]
async fn a_dead_server_is_not_waited_for_and_the_others_are_not_held_up() {
    let (dead, alive) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let (of_dead, of_alive) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let both = || Exchange::says(call("wiki", "{}") + &call("news", "{}"));
    let model = ScriptedModel::new((0..12).map(|n| match n % 2 {
        0 => both(),
        _ => Exchange::says("Final Answer: x"),
    }));
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools([tool("wiki", &dead, &of_dead), tool("news", &alive, &of_alive)])
        .runtime(runtime())
        .intercept(CircuitBreaker::of_tools("wiki", ["wiki"]).failures(2))
        .build()
        .unwrap();
    let turn = async || {
        let begun = Instant::now();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        (begun.elapsed().as_millis(), observations(&state))
    };
    for _ in 0..2 {
        let (took, seen) = turn().await;
        assert!(took >= 2_000 && seen[0].contains("did not finish within 2s"), "{took} {seen:?}");
    }
    let (took, seen) = turn().await;
    assert!(took < 100, "{took}");
    assert!(
        seen[0].contains("`wiki` failed again and again, and is not called for 30 s"),
        "{seen:?}"
    );
    assert_eq!(seen[1], "Observation: here");
    assert_eq!((of_dead.load(Ordering::SeqCst), of_alive.load(Ordering::SeqCst)), (2, 3));

    // Half open: one call tries, and the server is still dead.
    tokio::time::advance(Duration::from_secs(31)).await;
    assert!(turn().await.0 >= 2_000);
    assert!(turn().await.0 < 100);
    dead.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(turn().await.1[0], "Observation: here");
    assert_eq!(of_dead.load(Ordering::SeqCst), 4);
}

/// P20: the model is told in a fault of its own, whatever becomes of other errors.
#[tokio::test(start_paused = true)]
async fn a_refused_call_is_a_fault_of_its_own() {
    let up = Arc::new(AtomicBool::new(false));
    let asked = Arc::<AtomicUsize>::default();
    let breaker = CircuitBreaker::of_tools("wiki", ["wiki"]).failures(1);
    let model = ScriptedModel::new([
        Exchange::says(call("wiki", "{}")),
        Exchange::says(call("wiki", "{}")),
        Exchange::says("Final Answer: x"),
    ]);
    let agent = ReactAgent::builder("t", "", model)
        .tool(tool("wiki", &up, &asked))
        .runtime(runtime())
        .intercept(breaker)
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let faults: Vec<_> =
        state.messages.iter().filter_map(|m| Some(m.metadata().get("fault")?.0.clone())).collect();
    assert_eq!(faults, [FaultKind::TimedOut.code(), FaultKind::Unavailable.code()]);
}

/// P4: a call that was not made, because of a breaker or a budget, leaves no doubt behind.
#[tokio::test(start_paused = true)]
async fn a_refused_call_that_must_not_be_repeated_is_made_when_the_run_goes_on() {
    let tenant = hanok_core::Tenant::default;
    let key = || hanok_core::ThreadKey::new(tenant(), "t").unwrap();
    let asked = Arc::<AtomicUsize>::default();
    let agent = |script: Vec<Exchange>| {
        let counted = asked.clone();
        let spec = ToolSpec::new("pay", "", json!({})).unwrap();
        let pay = FnTool::untyped(spec, move |_, _| {
            let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            async move { if first { Err(ToolError::refused("closed")) } else { Ok("paid".into()) } }
        });
        let breaker = CircuitBreaker::of_tools("bank", ["pay"]).failures(1);
        let breaker = breaker.tool_errors(|error| matches!(error, ToolError::Refused { .. }));
        let errors = ToolErrors::to_model().for_kind(FaultKind::Unavailable, Handling::Propagate);
        ReactAgent::builder("t", "", ScriptedModel::new(script))
            .tool(pay)
            .tool_errors(errors)
            .intercept(breaker)
            .runtime(runtime())
            .build()
            .unwrap()
    };
    let pay = || Exchange::says(call("pay", "{}"));
    let open = agent(vec![pay(), pay(), Exchange::says("Final Answer: x").contains("paid")]);
    let thread =
        open.graph().checkpointer(hanok_checkpoint::InMemoryCheckpointer::new()).thread(key());
    thread.invoke(open.ask("?"), ()).await.unwrap_err();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_secs(31)).await;
    thread.resume(()).await.unwrap().done().unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);

    let closed = agent(vec![pay(), Exchange::says("Final Answer: x").contains("paid")]);
    let budget = |calls| hanok_core::Budget { tool_calls: Some(calls), ..Default::default() };
    let thread =
        closed.graph().checkpointer(hanok_checkpoint::InMemoryCheckpointer::new()).thread(key());
    let thread = thread.budget(budget(0));
    let outcome = thread.invoke(closed.ask("?"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::LimitReached { .. }), "{outcome:?}");
    thread.budget(budget(1)).resume(()).await.unwrap().done().unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

/// P20: a bulkhead lets so many through at once, the others in their order, and none for ever.
#[tokio::test(start_paused = true)]
async fn calls_beyond_a_bulkhead_wait_for_their_turn_and_not_for_ever() {
    let (dead, up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    for (up, patience, made, refused) in [(&up, 5, 10, 0), (&dead, 1, 2, 8), (&dead, 3, 4, 6)] {
        let asked = Arc::<AtomicUsize>::default();
        let breaker = CircuitBreaker::of_tools("wiki", ["wiki"]).at_once(2);
        let breaker = breaker.patience(Duration::from_secs(patience)).failures(100);
        let calls = Exchange::says(call("wiki", "{}").repeat(10));
        let model = ScriptedModel::new([calls, Exchange::says("Final Answer: x")]);
        let agent = ReactAgent::builder("t", "", model)
            .tool(tool("wiki", up, &asked))
            .runtime(runtime())
            .intercept(breaker)
            .build()
            .unwrap();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        let busy = observations(&state).iter().filter(|text| text.contains("is busy")).count();
        assert_eq!((asked.load(Ordering::SeqCst), busy), (made, refused), "{patience}");
    }
}

/// P20: a provider that is down is not asked, and another one answers at once.
#[tokio::test(start_paused = true)]
async fn a_provider_that_is_down_is_replaced_by_its_fallback() {
    let down = || Exchange::fails(ModelError::Unreachable { server: "s".into(), source: None });
    let first = ScriptedModel::new((0..3).map(|_| down().delay(Duration::from_secs(3))));
    let second = ScriptedModel::new((0..5).map(|_| Exchange::says("Final Answer: second")));
    let breaker = CircuitBreaker::of_model("first").failures(3);
    let agent = |breaker: CircuitBreaker| {
        // The fallback is the outer one: the breaker stands around the first model alone.
        ReactAgent::builder(
            "t",
            "",
            hanok_agent::Intercepted::new(first.clone()).intercept(breaker),
        )
        .intercept(Fallback::to(second.clone()))
        .runtime(runtime())
        .build()
        .unwrap()
    };
    // Clones of a breaker are the same one.
    let agents = [agent(breaker.clone()), agent(breaker)];
    let mut took = Vec::new();
    for n in 0..5 {
        let agent = &agents[n % 2];
        let begun = Instant::now();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some("second"));
        took.push(begun.elapsed().as_secs());
    }
    assert_eq!(took, [3, 3, 3, 0, 0]);
    first.finished().unwrap();
}
