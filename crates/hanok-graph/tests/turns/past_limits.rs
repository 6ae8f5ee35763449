//! Nodes that go on past the limits of the turn: the turn ends with what there is, and spends nothing more.

use std::time::Duration;

use hanok_core::{Charge, Spent};
use hanok_graph::{
    BoxError, Budget, Context, END, Graph, Limit, NodeExt, Outcome, START, Snapshot,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, built, key, log, lost, memory, says, thread};

const SECOND: Duration = Duration::from_secs(1);

/// One call of a model and one of a tool, in a second.
async fn spend(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let model = cx.call("model", "m", "{}");
    model.admit(Charge::Model)?;
    ledger.note("model calls");
    let spent = Spent { model_calls: 1, input_tokens: 100, cost: 5, ..Spent::default() };
    model.spend().add(spent);
    let tool = cx.call("tool", "t", "{}");
    tool.admit(Charge::Tool)?;
    ledger.note("tool calls");
    tool.spend().add(Spent { tool_calls: 1, ..Spent::default() });
    cx.runtime().clock.sleep(SECOND).await;
    Ok(says(cx.node()))
}

/// Runs four of these in a subgraph, and says what came of it.
async fn call(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let mut inner = Graph::builder("inner");
    let mut from = START;
    for node in ["a", "b", "c", "d"] {
        inner = inner.node(node, spend).edge(from, node);
        from = node;
    }
    let inner = built(inner.edge("d", END));
    match cx.run(&inner, S::update(), cx.shared_services()).await? {
        Outcome::Done(state) => Ok(says(log(&state).join(","))),
        Outcome::LimitReached { which, state } => {
            assert_eq!(
                cx.limit().is_some(),
                !matches!(which, Limit::ModelCalls(_) | Limit::ToolCalls(_))
            );
            Ok(says(format!("{} until {which}", log(&state).join(","))))
        }
        outcome => Err(format!("{outcome:?}").into()),
    }
}

/// Asks for a call of a model, and does without.
async fn end(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let asked = cx.call("model", "m", "{}").admit(Charge::Model);
    Ok(says(asked.map_or_else(|refused| refused.to_string(), |()| "asked".to_owned())))
}

/// The limits, and the nodes of the subgraph that had ended at each.
fn limits() -> Vec<(Budget, Limit, &'static str)> {
    let (budget, time) = (Budget::default(), Duration::from_millis(2_500));
    vec![
        (Budget { model_calls: Some(2), ..budget }, Limit::ModelCalls(2), "a,b"),
        (Budget { tool_calls: Some(3), ..budget }, Limit::ToolCalls(3), "a,b,c"),
        (Budget { tokens: Some(150), ..budget }, Limit::Tokens(150), "a"),
        (Budget { cost: Some(15), ..budget }, Limit::Cost(15), "a,b"),
        (Budget { time: Some(time), ..budget }, Limit::Time(time), "a,b"),
    ]
}

/// P17: the subgraph ends at the limit, its caller and what follows go on, and no call past the limit is made.
#[tokio::test(start_paused = true)]
async fn what_goes_on_past_a_limit_ends_the_turn_and_spends_nothing() {
    let graph = Graph::builder("outer").node("call", call.past_limits());
    let graph = graph.node("end", end.past_limits()).edge(START, "call").edge("call", "end");
    let graph = built(graph.edge("end", END));
    for (budget, limit, until) in limits() {
        let (store, ledger) = (memory(), Ledger::default());
        let thread = thread(&graph, &store).budget(budget);
        let state = thread.invoke(says("in"), ledger.clone()).await.unwrap();
        let state = state.done().unwrap();
        // A limit of tools lets the model go on.
        let last = match limit {
            Limit::ToolCalls(_) => "asked".to_owned(),
            limit => format!("the turn has reached its limit of {limit}"),
        };
        assert_eq!(log(&state), ["in", &format!("{until} until {limit}"), &last]);
        let [models, tools] = ledger.counts(["model calls", "tool calls"]);
        assert!(budget.model_calls.is_none_or(|most| models as u64 <= most), "{limit}");
        assert!(budget.tool_calls.is_none_or(|most| tools as u64 <= most), "{limit}");
    }
}

/// P17: a node that the limits end stops the turn there, and with more of it the turn goes on.
#[tokio::test(start_paused = true)]
async fn a_node_that_the_limits_end_ends_the_turn_behind_one_that_goes_on() {
    let graph = Graph::builder("outer").node("call", call.past_limits());
    let graph = graph.node("end", end).edge(START, "call").edge("call", "end");
    let graph = built(graph.edge("end", END));
    for (budget, limit, until) in limits() {
        if matches!(limit, Limit::ToolCalls(_)) {
            continue;
        }
        let (store, ledger) = (memory(), Ledger::default());
        let limited = || thread(&graph, &store).budget(budget);
        let call = format!("{until} until {limit}");
        for _ in 0..2 {
            let outcome = match ledger.of("model calls") {
                0 => limited().invoke(says("in"), ledger.clone()).await,
                _ => limited().resume(ledger.clone()).await,
            };
            let Outcome::LimitReached { which, state } = outcome.unwrap() else { panic!() };
            // The end of the caller is committed, and its successor is due.
            assert_eq!((which, log(&state)), (limit, vec!["in", call.as_str()]), "{limit}");
            lost(&store, &key("t")).await;
        }
        let more = thread(&graph, &store).budget(Budget::default());
        let state = more.resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["in", &call, "asked"], "{limit}");
    }
}

/// P17: a refusal that is handed on ends the turn, and a wait that is ended by the time does not.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_is_handed_on_ends_the_turn() {
    async fn waits(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let slept = cx.within_time(cx.runtime().clock.sleep(5 * SECOND)).await;
        Ok(says(format!("{slept:?}").chars().take(3).collect::<String>()))
    }
    let graph = Graph::builder("outer").node("waits", waits.past_limits());
    let graph = graph.node("spend", spend.past_limits()).edge(START, "waits");
    let graph = built(graph.edge("waits", "spend").edge("spend", END));
    let budget = Budget { time: Some(SECOND), ..Budget::default() };
    let (store, ledger) = (memory(), Ledger::default());
    let outcome = thread(&graph, &store).budget(budget).invoke(S::update(), ledger.clone()).await;
    let Outcome::LimitReached { which, state } = outcome.unwrap() else { panic!() };
    assert_eq!((which, log(&state)), (Limit::Time(SECOND), vec!["Err"]));
    assert_eq!(ledger.of("model calls"), 0);
    let more = thread(&graph, &store).budget(Budget::default());
    let state = more.resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["Err", "spend"]);
}
