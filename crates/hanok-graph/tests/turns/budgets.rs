//! What a turn may spend: each limit by name, the state kept, and going on with a larger one.

use std::time::Duration;

use futures::StreamExt;
use hanok_core::{Charge, Namespace, Spent};
use hanok_graph::{
    BoxError, Budget, Context, END, EventKind, Graph, GraphBuilder, Input, Limit, Outcome,
    RunError, START, Snapshot, Subgraph,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, asked, built, key, log, lost, memory, says, thread, work};

const SECOND: Duration = Duration::from_secs(1);

/// A node that makes one call of a model and one of a tool, each as a step, and takes a second.
async fn spend(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    ledger.note(cx.node());
    let model = cx.call("model", "m", "{}");
    cx.step("model", || async {
        model.admit(Charge::Model)?;
        ledger.note("model calls");
        model.spend().add(Spent {
            model_calls: 1,
            input_tokens: 70,
            output_tokens: 30,
            cost: 5,
            ..Spent::default()
        });
        Ok::<_, BoxError>(())
    })
    .await?;
    let tool = cx.call("tool", "t", "{}");
    cx.step("tool", || async {
        tool.admit(Charge::Tool)?;
        ledger.note("tool calls");
        tool.spend().add(Spent { tool_calls: 1, ..Spent::default() });
        Ok::<_, BoxError>(())
    })
    .await?;
    cx.runtime().clock.sleep(SECOND).await;
    Ok(says(cx.node()))
}

fn chain(name: &str) -> GraphBuilder<S, Ledger> {
    let mut graph = Graph::builder(name);
    let mut from = START;
    for node in ["a", "b", "c", "d"] {
        graph = graph.node(node, spend).edge(from, node);
        from = node;
    }
    graph.edge("d", END)
}

/// The chain as it is, and as a subgraph.
fn graphs() -> [(&'static str, Graph<S, Ledger>); 2] {
    let subgraph = Subgraph::new(
        built(chain("inner")),
        |_: &S| S::update(),
        |inner: &S| S::update().log(inner.log.iter().cloned()),
    );
    let outer = Graph::builder("outer").subgraph("call", subgraph).edge(START, "call");
    [("alone", built(chain("chain"))), ("subgraph", built(outer.edge("call", END)))]
}

/// Each limit, a larger one, and which nodes had committed when the first was reached.
fn limits() -> Vec<(Budget, Limit, Budget, usize)> {
    let budget = Budget::default();
    vec![
        (
            Budget { model_calls: Some(2), ..budget },
            Limit::ModelCalls(2),
            Budget { model_calls: Some(4), ..budget },
            2,
        ),
        (
            Budget { tool_calls: Some(3), ..budget },
            Limit::ToolCalls(3),
            Budget { tool_calls: Some(4), ..budget },
            3,
        ),
        // The call that passes the limit is the last one.
        (
            Budget { tokens: Some(150), ..budget },
            Limit::Tokens(150),
            Budget { tokens: Some(401), ..budget },
            1,
        ),
        (
            Budget { cost: Some(15), ..budget },
            Limit::Cost(15),
            Budget { cost: Some(21), ..budget },
            2,
        ),
        (
            Budget { time: Some(2500 * Duration::from_millis(1)), ..budget },
            Limit::Time(2500 * Duration::from_millis(1)),
            Budget { time: Some(20 * SECOND), ..budget },
            2,
        ),
    ]
}

fn reached(outcome: Result<Outcome<S>, RunError>) -> (Limit, S) {
    match outcome.unwrap() {
        Outcome::LimitReached { which, state } => (which, state),
        other => panic!("another outcome: {other:?}"),
    }
}

/// P17: each limit ends the turn by its name, with what was committed; more of the same reaches it again, a larger one
/// goes on, in another process, and nothing that was done is done again.
#[tokio::test(start_paused = true)]
async fn each_limit_ends_the_turn_and_a_larger_one_goes_on() {
    for (kind, graph) in graphs() {
        for (budget, limit, larger, committed) in limits() {
            let (store, ledger) = (memory(), Ledger::default());
            let small = || thread(&graph, &store).budget(budget);
            let (which, state) = reached(small().invoke(says("in"), ledger.clone()).await);
            assert_eq!(which, limit, "{kind}");
            let had = ["in", "a", "b", "c"];
            let at_root = if kind == "alone" { 1 + committed } else { 1 };
            assert_eq!(log(&state), had[..at_root], "{kind} {limit:?}");
            let inner = small().views(None).await.unwrap().pop().unwrap();
            assert_eq!(inner.next, [["a", "b", "c", "d"][committed]], "{kind} {limit:?}");

            let calls = ledger.counts(["model calls", "tool calls"]);
            for _ in 0..2 {
                lost(&store, &key("t")).await;
                assert_eq!(reached(small().resume(ledger.clone()).await).0, limit);
            }
            assert_eq!(ledger.counts(["model calls", "tool calls"]), calls, "{kind} {limit:?}");

            let state = thread(&graph, &store).budget(larger).resume(ledger.clone()).await;
            let state = state.unwrap().done().unwrap();
            assert_eq!(log(&state), ["in", "a", "b", "c", "d"], "{kind} {limit:?}");
            assert_eq!(ledger.counts(["model calls", "tool calls"]), [4, 4], "{kind} {limit:?}");
        }
    }
}

/// P17: a budget of the graph counts for each of its runs; the thread's own counts before it; without a store as well.
#[tokio::test(start_paused = true)]
async fn a_graph_has_a_budget_of_its_own() {
    let budget = Budget { model_calls: Some(2), ..Budget::default() };
    let (graph, store, ledger) =
        (built(chain("chain").budget(budget)), memory(), Ledger::default());
    let (which, state) = reached(graph.invoke(S::update(), ledger.clone()).await);
    assert_eq!((which, log(&state)), (Limit::ModelCalls(2), vec!["a", "b"]));
    assert_eq!(ledger.of("model calls"), 2);
    let (which, _) = reached(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(which, Limit::ModelCalls(2));
    let larger = thread(&graph, &store).budget(Budget::default());
    assert!(matches!(larger.resume(ledger).await.unwrap(), Outcome::Done(_)));
}

/// P17: what a turn has spent counts across questions and crashes; the next turn begins with nothing.
#[tokio::test(start_paused = true)]
async fn a_turn_spends_one_budget_across_questions_and_crashes() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("go on?").await?))
    }
    let graph = Graph::builder("asks").node("a", spend).node("ask", ask).node("b", spend);
    let graph = graph.node("c", spend).node("hang", work).edge(START, "a").edge("a", "ask");
    let graph = graph.edge("ask", "b").edge("b", "hang").edge("hang", "c").edge("c", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let millis = Duration::from_millis;
    for (budget, limit) in [
        (Budget { model_calls: Some(2), ..Budget::default() }, Limit::ModelCalls(2)),
        (Budget { cost: Some(10), ..Budget::default() }, Limit::Cost(10)),
        (Budget { time: Some(millis(2_500)), ..Budget::default() }, Limit::Time(millis(2_500))),
    ] {
        let on = || thread(&graph, &store).budget(budget);
        let replacing = on().new_input(hanok_graph::NewInput::Replace);
        asked(replacing.invoke(S::update(), ledger.clone()).await);
        // Waiting for a person costs nothing.
        tokio::time::sleep(3600 * SECOND).await;
        ledger.hang(&["hang"]);
        let answered = on();
        let run = answered.reply("yes", ledger.clone());
        match tokio::time::timeout(millis(1_100), run).await {
            // Where the money is spent there is nothing to hang in.
            Ok(ended) => assert_eq!(reached(ended).0, Limit::Cost(10)),
            Err(_) => assert_ne!(limit, Limit::Cost(10)),
        }
        lost(&store, &key("t")).await;
        ledger.hang(&[]);
        let (which, _) = reached(on().resume(ledger.clone()).await);
        assert_eq!(which, limit);
        let spent = on().log().open(None).await.unwrap().unwrap().fold;
        let spent = spent.run(&Namespace::root()).unwrap().spent;
        // The call that spends the last of the money is the last of any kind; what a lost run did since it last said
        // so is not known.
        let want = match limit {
            Limit::Cost(_) => (2, 1, 10, 1_000),
            Limit::Time(_) => (3, 3, 15, 2_500),
            _ => (2, 2, 10, 2_000),
        };
        let calls = (spent.model_calls, spent.tool_calls, spent.cost, spent.millis);
        assert_eq!(calls, want, "{limit:?}");
    }
}

/// P17, B45: the number of super-steps of a turn counts across questions and restarts too, to the step.
#[tokio::test]
async fn a_turn_has_so_many_super_steps_in_all_its_runs() {
    async fn ask(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("ask");
        let _: String = cx.interrupt(&format!("{}?", state.n)).await?;
        Ok(S::update().n(state.n + 1))
    }
    let graph = Graph::builder("asks").node("ask", ask).edge(START, "ask");
    let graph = built(graph.branch("ask", |_: &S| "ask", ["ask"]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = |limit| thread(&graph, &store).recursion_limit(limit);
    asked(on(3).invoke(S::update(), ledger.clone()).await);
    asked(on(3).reply("x", ledger.clone()).await);
    asked(on(3).reply("x", ledger.clone()).await);
    let (which, state) = reached(on(3).reply("x", ledger.clone()).await);
    assert_eq!((which, state.n), (Limit::Steps(3), 3));
    assert_eq!(reached(on(3).resume(ledger.clone()).await).0, Limit::Steps(3));
    assert_eq!(ledger.of("ask"), 6);
    asked(on(4).resume(ledger.clone()).await);
    assert_eq!(reached(on(4).reply("x", ledger.clone()).await).1.n, 4);
}

/// P17: a node that goes on after a call was refused ends the turn all the same, and nothing of it is committed.
#[tokio::test]
async fn a_refusal_that_is_swallowed_ends_the_turn_all_the_same() {
    async fn greedy(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let mut made = 0;
        for n in 0..5 {
            let call = cx.call("tool", "t", &n.to_string());
            made += u32::from(call.admit(Charge::Tool).is_ok());
        }
        cx.services().note(&format!("made {made}"));
        Ok(says("went on"))
    }
    let graph = Graph::builder("greedy").node("greedy", greedy).node("after", work);
    let graph = graph.edge(START, "greedy").edge("greedy", "after").edge("after", END);
    let graph = built(graph.budget(Budget { tool_calls: Some(3), ..Budget::default() }));
    let (store, ledger) = (memory(), Ledger::default());
    let kept = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
    for outcome in [kept, graph.invoke(S::update(), ledger.clone()).await] {
        let (which, state) = reached(outcome);
        assert_eq!((which, log(&state)), (Limit::ToolCalls(3), vec![]));
    }
    assert_eq!(ledger.counts(["made 3", "after"]), [2, 0]);
}

/// P17: parallel tasks share the budget: never more calls are made than it says.
#[tokio::test(start_paused = true)]
async fn parallel_tasks_share_one_budget() {
    let mut graph = Graph::builder("wide");
    for node in ["a", "b", "c", "d", "e"] {
        graph = graph.node(node, spend).edge(START, node).edge(node, END);
    }
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let budget = Budget { model_calls: Some(3), ..Budget::default() };
    let limited = thread(&graph, &store).budget(budget);
    let (which, state) = reached(limited.invoke(S::update(), ledger.clone()).await);
    assert_eq!((which, log(&state)), (Limit::ModelCalls(3), vec![]));
    assert_eq!(ledger.of("model calls"), 3);
    let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "b", "c", "d", "e"]);
    assert_eq!(ledger.of("model calls"), 5);
}

/// P17: what the end of a run says that the turn has spent is what its calls spent, the subgraphs' included.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_says_what_the_turn_has_spent() {
    for (kind, graph) in graphs() {
        let (store, ledger) = (memory(), Ledger::default());
        for turn in 1..=2 {
            let on = thread(&graph, &store);
            let mut events = on.stream(Input::New(S::update()), ledger.clone());
            let mut ended = Vec::new();
            while let Some(event) = events.next().await {
                if let EventKind::Ended { spent, .. } = event.kind {
                    ended.push(spent);
                }
            }
            let want = Spent {
                model_calls: 4,
                tool_calls: 4,
                input_tokens: 280,
                output_tokens: 120,
                cost: 20,
                millis: 4_000,
            };
            assert_eq!(ended, [want], "{kind}, turn {turn}");
            let fold = on.log().open(None).await.unwrap().unwrap().fold;
            assert_eq!(fold.run(&Namespace::root()).unwrap().spent, want, "{kind}, turn {turn}");
        }
    }
}

/// P17: what a task has spent counts when its write is stored, before a commit counts it.
#[tokio::test(start_paused = true)]
async fn what_is_stored_and_not_committed_counts_when_the_turn_goes_on() {
    async fn call(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().fails(cx.node()) {
            return Err("out of order".into());
        }
        let call = cx.call("model", "m", "{}");
        call.admit(Charge::Model)?;
        call.spend().add(Spent { model_calls: 1, ..Spent::default() });
        Ok(says(cx.node()))
    }
    let graph = Graph::builder("fan").node("a", call).node("b", call).node("c", call);
    let graph = graph.edge(START, "a").edge(START, "b").join(["a", "b"], "c").edge("c", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let two = Budget { model_calls: Some(2), ..Budget::default() };
    let thread = thread(&graph, &store).budget(two);
    ledger.fail(&["b"]);
    thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let outcome = thread.resume(ledger.clone()).await.unwrap();
    let Outcome::LimitReached { which, state } = outcome else { panic!("{outcome:?}") };
    assert_eq!((which, log(&state)), (Limit::ModelCalls(2), vec!["a", "b"]));
}
