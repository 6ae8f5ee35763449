//! Limits of a graph's shape, each with an error that names it.

use hanok_graph::{
    BoxError, Command, Context, END, Graph, GraphBuilder, Limit, NodeExt, Outcome, RunError, START,
    SendTo, Snapshot, Target,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, built, kinds, log, memory, says, thread};

async fn count(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("count");
    Ok(S::update().n(state.n + 1))
}

async fn each(_: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
    cx.services().note("each");
    Ok(())
}

fn sends(state: &S) -> Vec<Target> {
    (0..state.n).map(|n| Target::from(SendTo::new("each", &n))).collect()
}

/// Where the tasks come from: a router of START, a router of a node, a command.
fn fans() -> Vec<(&'static str, GraphBuilder<S, Ledger>)> {
    async fn commands(state: Snapshot<S>, _: Context<Ledger>) -> Result<Command<S>, BoxError> {
        Ok(sends(&state).into_iter().fold(Command::new(), |command, send| command.goto(send)))
    }
    async fn nothing(_: Snapshot<S>, _: Context<Ledger>) -> Result<(), BoxError> {
        Ok(())
    }
    let begun = |name| Graph::builder(name).node("each", each).edge("each", END);
    vec![
        ("start", begun("start").branch(START, sends, ["each"])),
        (
            "router",
            begun("router").node("a", nothing).edge(START, "a").branch("a", sends, ["each"]),
        ),
        ("command", begun("command").node("a", commands.goto(["each"])).edge(START, "a")),
    ]
}

/// P22: a super-step has at most 1,024 tasks if nothing else is said; one more runs none of them, and what was committed
/// stays.
#[tokio::test]
async fn a_super_step_has_so_many_tasks_and_no_more() {
    for (name, _) in fans() {
        for (own, limit) in [(None, 1_024), (Some(7), 7)] {
            for over in [false, true] {
                let graph = fans().into_iter().find(|fan| fan.0 == name).unwrap().1;
                let graph = built(match own {
                    Some(own) => graph.max_fan_out(own),
                    None => graph,
                });
                let (store, ledger) = (memory(), Ledger::default());
                let on = thread(&graph, &store);
                let tasks = limit + u32::from(over);
                let kept = on.invoke(S::update().n(tasks), ledger.clone()).await;
                let unkept = graph.invoke(S::update().n(tasks), ledger.clone()).await;
                for ended in [kept, unkept] {
                    match (over, ended) {
                        (false, Ok(Outcome::Done(_))) => {}
                        (true, Err(RunError::TooWide { tasks: found, limit: said, .. })) => {
                            assert_eq!((found, said), (tasks as usize, limit as usize));
                        }
                        (_, other) => panic!("{name} {tasks}: {other:?}"),
                    }
                }
                assert_eq!(ledger.of("each"), if over { 0 } else { 2 * limit }, "{name}");
                if over && name == "start" {
                    assert!(kinds(&on).await.is_empty());
                }
                if over && name == "router" {
                    let before = kinds(&on).await;
                    let edited = on.edit_as(Some("a"), S::update()).await.unwrap_err();
                    assert!(matches!(edited, RunError::TooWide { .. }));
                    assert_eq!(kinds(&on).await, before);
                }
            }
        }
    }
}

/// P22, B45: a turn has at most 100 super-steps if nothing else is said, and goes on with more.
#[tokio::test]
async fn a_turn_has_a_hundred_super_steps_if_nothing_else_is_said() {
    let graph = Graph::builder("loop").node("count", count).edge(START, "count");
    let router = |s: &S| if s.n < 150 { "count" } else { END };
    let graph = built(graph.branch("count", router, ["count", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    let first = on.invoke(says("in"), ledger.clone()).await.unwrap();
    let Outcome::LimitReached { which: Limit::Steps(100), state } = first else {
        panic!("another outcome: {first:?}");
    };
    assert_eq!((state.n, ledger.of("count")), (100, 100));
    let state = on.recursion_limit(150).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((state.n, log(&state), ledger.of("count")), (150, vec!["in"], 150));
}
