//! Calls of tools from a node of one's own.

use std::time::Duration;

use hanok_agent::{
    Approval, CallLimits, Decision, Doubt, FaultKind, Observation, ToolCallError, ToolErrors,
    ToolRegistry, ToolResult, ToolRunner, ToolTurn, TurnUsage,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Budget, Tenant, ThreadKey};
use hanok_graph::{Context, END, Graph, NodeExt, Outcome, Retry, START, Snapshot, Thread};
use hanok_model::{FnTool, SharedTool, ToolSpec};
use hanok_state::{Messages, State, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Ledger, tools};

#[derive(State, Debug, Clone, Default, Serialize, Deserialize)]
struct Made {
    calls: Vec<ToolCall>,
    observations: Vec<Observation>,
    usage: TurnUsage,
}

/// `find`, … and `pay`, which must not be repeated and takes a second.
fn runner(ledger: &Ledger) -> ToolRunner {
    let mut all = tools(ledger);
    let paying = ledger.clone();
    let pay = FnTool::untyped(ToolSpec::new("pay", "Pays", json!({})).unwrap(), move |_, _| {
        paying.lock().unwrap().push("pay".into());
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok("paid".into())
        }
    });
    all.push(SharedTool::new(pay));
    ToolRunner::new(ToolRegistry::new(all).unwrap())
}

/// A graph of one node that makes the calls of its state, all at once.
fn graph(runner: ToolRunner) -> Graph<Made> {
    let make = move |state: Snapshot<Made>, context: Context| {
        let runner = runner.clone();
        async move {
            let (messages, mut usage) = (Messages::default(), state.usage.clone());
            let turn = ToolTurn { messages: &messages, usage: &state.usage };
            let results = runner.run_all(&context, turn, &state.calls).await?;
            for (call, result) in state.calls.iter().zip(&results) {
                usage.tool(&call.name, result.spent);
            }
            let observations = results.into_iter().map(|result| result.observation).collect();
            Ok::<_, ToolCallError>(Made::update().observations(observations).usage(usage))
        }
    };
    let graph = Graph::<Made>::builder("own").node("make", make.retry(Retry::attempts(1)));
    graph.edge(START, "make").edge("make", END).build().unwrap()
}

fn thread(graph: &Graph<Made>) -> Thread<Made> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    graph.checkpointer(InMemoryCheckpointer::new()).thread(key)
}

fn calls(of: &[(&str, &str)]) -> MadeUpdate {
    let calls = of.iter().enumerate();
    let calls = calls.map(|(id, (tool, with))| ToolCall::new(id.to_string(), *tool, *with));
    Made::update().calls(calls.collect())
}

fn observed(made: &Made) -> Vec<(Option<FaultKind>, &str)> {
    made.observations.iter().map(|made| (made.fault, made.text.as_str())).collect()
}

/// The time of a tool holds outside of an agent too.
#[tokio::test(start_paused = true)]
async fn every_failure_is_an_observation_and_the_calls_are_counted() {
    let ledger = Ledger::default();
    let input = calls(&[
        ("find", r#"{"q":"a"}"#),
        ("lost", "{}"),
        ("find", r#"{"q":7}"#),
        ("find", r#"{"q":"a","q":"b"}"#),
        ("broken", r#"{"q":"b"}"#),
        ("panic", r#"{"q":"c"}"#),
        ("endless", r#"{"q":"d"}"#),
    ]);
    let made = graph(runner(&ledger)).invoke(input, ()).await.unwrap().done().unwrap();
    let faults = made.observations.iter().map(|made| made.fault).collect::<Vec<_>>();
    let want = [
        None,
        Some(FaultKind::UnknownTool),
        Some(FaultKind::BadArguments),
        Some(FaultKind::BadArguments),
        Some(FaultKind::Failed),
        Some(FaultKind::Panicked),
        Some(FaultKind::TimedOut),
    ];
    assert_eq!(faults, want);
    assert_eq!(made.observations[0].text, "found a");
    assert!(made.observations[3].text.contains("`q` stands twice"), "{made:?}");
    assert_eq!(*ledger.lock().unwrap(), ["find a", "broken b", "panic c", "endless d"]);
    assert_eq!((made.usage.spent.tool_calls, made.usage.tools["find"]), (4, 1));
}

/// B69, B116: interceptors judge, a person is asked, and what is finished is not made again.
#[tokio::test(start_paused = true)]
async fn interceptors_stand_around_the_calls_of_any_node() {
    let ledger = Ledger::default();
    let runner = runner(&ledger)
        .agent("own")
        .intercept(CallLimits::new().tool("find", 2))
        .intercept(Approval::new().tool("pay"));
    let thread = thread(&graph(runner));
    let find = |q| ("find", q);
    let input =
        calls(&[find(r#"{"q":"a"}"#), ("pay", "{}"), find(r#"{"q":"a"}"#), find(r#"{"q":"c"}"#)]);
    let Outcome::Interrupted(asked) = thread.invoke(input, ()).await.unwrap() else { panic!() };
    let shown: hanok_agent::ApprovalRequest = asked[0].payload().unwrap();
    assert_eq!((asked.len(), shown.agent.as_str(), shown.tool.as_str()), (1, "own", "pay"));
    assert_eq!(*ledger.lock().unwrap(), ["find a", "find a"]);

    let made = thread.reply(&Decision::Approve, ()).await.unwrap().done().unwrap();
    let limited = "The call of `find` was not made: `find` may be called 2 times in a turn.";
    let told = observed(&made);
    assert_eq!(told[..3], [(None, "found a"), (None, "paid"), (None, "found a")]);
    assert_eq!(told[3].0, Some(FaultKind::Denied), "{told:?} {limited}");
    assert_eq!(*ledger.lock().unwrap(), ["find a", "find a", "pay"]);
}

/// P4: an intent is stored before a call that must not be repeated is made.
#[tokio::test(start_paused = true)]
async fn a_lost_call_that_must_not_be_repeated_is_in_doubt_and_finished_ones_are_not_repeated() {
    for doubt in [Doubt::Ask, Doubt::GiveUp] {
        let ledger = Ledger::default();
        let thread = thread(&graph(runner(&ledger).in_doubt(doubt)));
        let run = thread.invoke(calls(&[("find", r#"{"q":"a"}"#), ("pay", "{}")]), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        let outcome = thread.resume(()).await.unwrap();
        match doubt {
            Doubt::GiveUp => {
                let made = outcome.done().unwrap();
                assert_eq!(made.observations[1].fault, Some(FaultKind::InDoubt));
            }
            _ => assert!(matches!(outcome, Outcome::InDoubt(asked) if asked.len() == 1)),
        }
        assert_eq!(*ledger.lock().unwrap(), ["find a", "pay"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_budget_is_not_made_and_the_run_ends_with_that_limit() {
    let ledger = Ledger::default();
    let thread = thread(&graph(runner(&ledger)));
    let budget = |calls| Budget { tool_calls: Some(calls), ..Budget::default() };
    let input = calls(&[("find", r#"{"q":"a"}"#), ("pay", "{}")]);
    let stopped = thread.clone().budget(budget(1)).invoke(input, ()).await.unwrap();
    assert!(matches!(stopped, Outcome::LimitReached { .. }), "{stopped:?}");
    assert_eq!(ledger.lock().unwrap().len(), 1);
    let made = thread.budget(budget(2)).resume(()).await.unwrap().done().unwrap();
    assert_eq!(observed(&made), [(None, "found a"), (None, "paid")]);
    assert_eq!(ledger.lock().unwrap().len(), 2);
}

/// An error that is propagated names the call, and so does a second call of one id.
#[tokio::test]
async fn an_error_names_the_call() {
    let ledger = Ledger::default();
    let errors = ToolRegistry::new(tools(&ledger)).unwrap().errors(ToolErrors::propagate());
    let one = |runner: ToolRunner, of: Vec<ToolCall>| async move {
        let make = move |_: Snapshot<Made>, context: Context| {
            let (runner, of) = (runner.clone(), of.clone());
            async move {
                let mut made = Vec::<ToolResult>::new();
                for call in &of {
                    made.push(runner.run(&context, call).await?);
                }
                Ok::<_, ToolCallError>(Made::update())
            }
        };
        let graph = Graph::<Made>::builder("own").node("make", make);
        let graph = graph.edge(START, "make").edge("make", END).build().unwrap();
        let error = graph.invoke(Made::update(), ()).await.unwrap_err();
        hanok_core::Chain(&error).to_string()
    };
    let broken = ToolCall::new("7", "broken", r#"{"q":"a"}"#);
    let said = one(ToolRunner::new(errors), vec![broken]).await;
    assert!(said.contains("call `7` of tool `broken` failed: the disk is full"), "{said}");

    let twice = ToolCall::new("7", "find", r#"{"q":"a"}"#);
    let runner = ToolRunner::new(ToolRegistry::new(tools(&ledger)).unwrap());
    let said = one(runner, vec![twice.clone(), twice]).await;
    assert!(said.contains("two steps of one task are named `tool-7`"), "{said}");
}
