//! Where a run goes on: edges, joins, deferred nodes, routers, loops.

use std::time::Duration;

use hanok_graph::{
    BoxError, Command, Context, END, Graph, GraphBuilder, Limit, Lint, NodeExt, NodeSettings,
    Outcome, RunError, START, SendTo, Snapshot, Target,
};
use hanok_state::State;

use crate::support::{
    Ledger, S, SUpdate, both, builder, chain, count, done, log, memory, nothing, says, slow,
    thread, work,
};

/// Says which nodes it saw the writes of.
async fn sees(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let seen = log(&state).join("+");
    Ok(says(format!("{}({seen})", cx.node())))
}

async fn run(graph: GraphBuilder<S, Ledger>) -> String {
    log(&both(&graph.build().unwrap(), &Ledger::default()).await).join(" ")
}

/// B30: each sees what came before, and not what the other writes.
#[tokio::test]
async fn siblings_see_what_came_before_and_not_each_other() {
    let graph = builder()
        .node("a", sees)
        .node("b", sees)
        .node("c", sees)
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .edge("b", END)
        .edge("c", END);
    assert_eq!(run(graph).await, "a() b(a()) c(a())");
}

/// A round: `count`, then `short` and `long1`, `long2`, `long3` beside each other; `join` behind both; `rounds` times.
fn rounds(rounds: u32) -> GraphBuilder<S, Ledger> {
    builder()
        .node("count", count)
        .node("short", work)
        .node("long1", nothing)
        .node("long2", nothing)
        .node("long3", work)
        .node("join", sees)
        .edge(START, "count")
        .edge("count", "short")
        .edge("count", "long1")
        .edge("long1", "long2")
        .edge("long2", "long3")
        .join(["short", "long3"], "join")
        .branch("join", move |s: &S| if s.n < rounds { "count" } else { END }, ["count", END])
}

/// B31: once, after both, in each round of a loop.
#[tokio::test]
async fn a_join_runs_once_in_each_round_after_the_longest_branch() {
    let ledger = Ledger::default();
    let state = both(&rounds(4).build().unwrap(), &ledger).await;
    let mut want: Vec<String> = Vec::new();
    for _ in 0..4 {
        want.extend(["short".to_owned(), "long3".to_owned()]);
        want.push(format!("join({})", want.join("+")));
    }
    assert_eq!(log(&state), want);
    assert_eq!((ledger.of("short"), ledger.of("long3")), (2 * 4, 2 * 4));
}

/// B31: a source that runs twice before the others counts once; several joins to one node are each its own; what a `SendTo`
/// runs counts as well.
#[tokio::test]
async fn a_join_waits_for_every_source_and_counts_each_once() {
    let sends =
        |_: &S| vec![Target::from(SendTo::new("a", &1)), SendTo::new("a", &2).into(), "b".into()];
    let graph = || {
        builder()
            .node("a", work)
            .node("b", nothing)
            .node("c", nothing)
            .node("d", work)
            .node("end", work)
            .branch(START, sends, ["a", "b"])
            .edge("b", "c")
            .edge("c", "d")
            .edge("end", END)
    };
    assert_eq!(run(graph().join(["a", "d"], "end")).await, "a a d end");
    // Complete in different super-steps: once for each.
    let twice = graph().join(["a", "b"], "end").join(["c", "d"], "end");
    assert_eq!(run(twice).await, "a a end d end");
    // Complete in the same one: once.
    let once = graph().join(["a", "d"], "end").join(["b", "c", "d"], "end");
    assert_eq!(run(once).await, "a a d end");
}

/// B31: a join whose sources did not all run does not run, and the run is over all the same.
#[tokio::test]
async fn a_join_that_misses_a_source_does_not_run() {
    let graph = builder()
        .node("a", work)
        .node("b", work)
        .node("end", work)
        .edge(START, "a")
        .branch("a", |_: &S| END, ["b", END])
        .join(["a", "b"], "end")
        .edge("end", END);
    assert_eq!(run(graph).await, "a");
}

/// B32: in one super-step once, in two twice, unless the node is deferred.
#[tokio::test]
async fn a_node_that_two_edges_lead_to_runs_once_per_step() {
    let ends = |graph: GraphBuilder<S, Ledger>| graph.edge("end", END);
    let three = || builder().node("a", work).node("b", work).node("end", work).edge(START, "a");
    let same = three().edge(START, "b").edge("a", "end").edge("b", "end");
    assert_eq!(run(ends(same)).await, "a b end");
    let different = || three().edge("a", "b").edge("a", "end").edge("b", "end");
    let twice = different().configure("end", NodeSettings::new().allow(Lint::UnequalFanIn));
    assert_eq!(run(ends(twice)).await, "a b end end");
    assert_eq!(
        run(ends(different().configure("end", NodeSettings::new().defer()))).await,
        "a b end"
    );
}

/// B33: once, after a loop, after `SendTo`s and what they lead to.
#[tokio::test]
async fn a_deferred_node_runs_once_when_nothing_else_is_left() {
    let sends = |s: &S| match s.n {
        0 => {
            vec![
                Target::from(SendTo::new("task", &1)),
                SendTo::new("task", &2).into(),
                "count".into(),
            ]
        }
        _ => vec![],
    };
    let graph = builder()
        .node("src", nothing)
        .node("task", work)
        .node("after", work)
        .node("count", count)
        .node("last", sees.defer())
        .edge(START, "src")
        .edge("src", "last")
        .branch("src", sends, ["task", "count"])
        .edge("task", "last")
        .edge("task", "after")
        .edge("after", "last")
        .branch("count", |s: &S| if s.n < 5 { "count" } else { "last" }, ["count", "last"])
        .edge("last", END)
        .build()
        .unwrap();
    let state = both(&graph, &Ledger::default()).await;
    assert_eq!((log(&state), state.n), (vec!["task", "task", "after", "last(task+task+after)"], 5));
}

/// B33: deferred nodes that wait together run together; what one of them leads to runs next; a `SendTo` to one is a task
/// of its own.
#[tokio::test]
async fn deferred_nodes_run_in_one_step_and_may_lead_on() {
    let to = |_: &S| {
        vec![
            Target::from(SendTo::new("d1", &7)),
            "d2".into(),
            "d1".into(),
            SendTo::new("d1", &8).into(),
        ]
    };
    let graph = builder()
        .node("a", work)
        .node("b", work)
        .node("d1", |state: Snapshot<S>, cx: Context<Ledger>| async move {
            let input: Option<u64> = cx.input()?;
            Ok::<_, BoxError>(says(format!("d1 {input:?} of {}", state.log.len())))
        })
        .node("d2", work.defer())
        .node("c", work)
        .edge(START, "a")
        .branch("a", to, ["d1", "d2"])
        .edge("a", "b")
        .edge("b", END)
        .edge("d1", "c")
        .edge("d2", END)
        .edge("c", END)
        .configure("d1", NodeSettings::new().defer());
    let want = "a b d1 None of 2 d2 d1 Some(7) of 2 d1 Some(8) of 2 c";
    assert_eq!(run(graph).await, want);
}

/// B34: a router sees the state of before the step with its own node's write, and not its sibling's.
#[tokio::test]
async fn a_router_sees_its_own_nodes_write_and_not_its_siblings() {
    fn goes(s: &S) -> String {
        log(s).join("").replace(['a', 'b'], "x")
    }
    let graph = builder()
        .node("first", says_s)
        .node("a", work)
        .node("b", work)
        .node("sx", work)
        .edge(START, "first")
        .edge("first", "a")
        .edge("first", "b")
        .branch("a", goes, ["sx"])
        .branch("b", goes, ["sx"])
        .edge("sx", END);
    assert_eq!(run(graph).await, "s a b sx");
}

async fn says_s(_: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(says("s"))
}

/// B35: several, none, END among others; and nothing at all to begin with.
#[tokio::test]
async fn a_router_may_lead_to_several_to_none_and_to_the_end() {
    for (targets, want) in [
        (vec!["b", "c"], "a b c"),
        (vec!["c", "b", "c"], "a b c"),
        (vec![END, "c"], "a c"),
        (vec!["b", END], "a b"),
        (vec![END], "a"),
        (vec![], "a"),
    ] {
        let graph = || builder().node("a", work).node("b", work).node("c", work);
        let ends = |graph: GraphBuilder<S, Ledger>| graph.edge("b", END).edge("c", END);
        let to = targets.clone();
        let routed = graph().edge(START, "a").branch("a", move |_: &S| to.clone(), ["b", "c", END]);
        assert_eq!(run(ends(routed)).await, want, "{targets:?}");
        let to = targets.clone();
        let began = graph().edge("a", END).branch(START, move |_: &S| to.clone(), ["b", "c", END]);
        let began = began.configure("a", NodeSettings::new().allow(Lint::Unreachable));
        assert_eq!(run(ends(began)).await, want.trim_start_matches('a').trim_start());
    }
}

/// B36: a router, a command and a `SendTo` to what is not there or was not declared: named, nothing applied, and the thread
/// goes on once the graph is mended.
#[tokio::test]
async fn a_way_to_nowhere_fails_the_step_and_applies_nothing() {
    type To = fn() -> Target;
    let nowhere: [(&str, To); 5] = [
        ("`serch`", || "serch".into()),
        ("`b`", || "b".into()),
        ("`serch`", || SendTo::new("serch", &1).into()),
        ("END", || SendTo::new(END, &1).into()),
        ("START", || START.into()),
    ];
    let graph = |to: To, by_router: bool| {
        let commands = move |_: Snapshot<S>, _: Context<Ledger>| async move {
            let command = Command::new().update(says("a"));
            Ok::<_, BoxError>(if by_router { command } else { command.goto(to()) })
        };
        let graph = builder()
            .node("a", commands)
            .node("b", work)
            .node("c", work)
            .edge(START, "a")
            .edge(START, "b")
            .edge("b", END)
            .edge("c", END);
        let declared = ["c", END];
        let graph = if by_router {
            graph.branch("a", move |_: &S| to(), declared)
        } else {
            graph.configure("a", NodeSettings::new().goto(declared))
        };
        graph.build().unwrap()
    };
    for (target, to) in nowhere {
        for by_router in [false, true] {
            let (store, ledger) = (memory(), Ledger::default());
            let broken = graph(to, by_router);
            let error = thread(&broken, &store).invoke(S::update(), ledger.clone()).await;
            let said = chain(&error.unwrap_err());
            let want =
                format!("node `a` failed in super-step 0 / it goes on to {target}; declared are ");
            assert!(said.starts_with(&want), "{said}");
            let state = thread(&broken, &store).state(None).await.unwrap().unwrap();
            assert_eq!(state, S::default());
            let mended = graph(|| "c".into(), by_router);
            let state = done(thread(&mended, &store).resume(ledger.clone()).await);
            assert_eq!((log(&state), ledger.of("b")), (vec!["a", "b", "c"], 1));
        }
    }
}

/// B36: START's own routers are held to the same, and then nothing is stored at all.
#[tokio::test]
async fn a_way_to_nowhere_at_the_beginning_stores_nothing() {
    for to in [|| Target::from("b"), || Target::from(SendTo::new(END, &1))] {
        let graph = builder()
            .node("a", work)
            .node("b", work)
            .branch(START, move |_: &S| to(), ["a", END])
            .edge("a", "b")
            .edge("b", END)
            .build()
            .unwrap();
        let store = memory();
        let error =
            thread(&graph, &store).invoke(S::update(), Ledger::default()).await.unwrap_err();
        let RunError::Node { ref node, .. } = error else { panic!("{}", chain(&error)) };
        assert_eq!(node.as_ref(), START);
        assert_eq!(thread(&graph, &store).state(None).await.unwrap(), None);
    }
}

/// B41: nodes and `SendTo`s that one router names run side by side.
#[tokio::test(start_paused = true)]
async fn sends_and_nodes_of_one_router_run_in_one_step() {
    let to =
        |_: &S| vec![Target::from(SendTo::new("b", &1)), "c".into(), SendTo::new("b", &2).into()];
    let graph = builder()
        .node("a", nothing)
        .node("b", slow(50))
        .node("c", slow(50))
        .edge(START, "a")
        .branch("a", to, ["b", "c"])
        .edge("a", "c")
        .edge("b", END)
        .edge("c", END)
        .build()
        .unwrap();
    let (ledger, before) = (Ledger::default(), tokio::time::Instant::now());
    let state = done(graph.invoke(S::update(), ledger.clone()).await);
    assert_eq!(before.elapsed(), Duration::from_millis(50));
    assert_eq!((log(&state), ledger.most()), (vec!["c", "b", "b"], 3));
}

/// B42: a loop ends when its router says so, and what remains goes down by one per super-step.
#[tokio::test]
async fn in_a_loop_what_remains_goes_down_by_one() {
    async fn tells(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let said = format!("{}:{}", cx.step_number(), cx.remaining_steps());
        Ok(says(said).n(state.n + 1))
    }
    let graph = |limit| -> Graph<S, Ledger> {
        builder()
            .node("loop", tells)
            .edge(START, "loop")
            .branch("loop", |s: &S| if s.n < 4 { "loop" } else { END }, ["loop", END])
            .recursion_limit(limit)
            .build()
            .unwrap()
    };
    let state = both(&graph(6), &Ledger::default()).await;
    assert_eq!(log(&state), ["0:5", "1:4", "2:3", "3:2"]);
    // The last one that may run has none left.
    let state = both(&graph(4), &Ledger::default()).await;
    assert_eq!(log(&state).last(), Some(&"3:0"));
}

/// B45: at most so many super-steps; a graph that needs exactly as many ends; a wide step is one; a higher limit goes on.
#[tokio::test]
async fn at_most_so_many_steps_run_and_a_higher_limit_goes_on() {
    let graph = |limit| rounds(2).recursion_limit(limit).build().unwrap();
    // Two rounds of five super-steps.
    for limit in 0..12 {
        let (store, ledger) = (memory(), Ledger::default());
        let outcome = thread(&graph(limit), &store).invoke(S::update(), ledger.clone()).await;
        match outcome.unwrap() {
            Outcome::Done(state) => assert!(limit >= 10 && state.n == 2, "{limit}"),
            Outcome::LimitReached { which, state } => {
                assert_eq!(which, Limit::Steps(limit));
                assert!(limit < 10);
                let kept = thread(&graph(limit), &store).state(None).await.unwrap().unwrap();
                assert_eq!(kept, state);
                // The same limit again does nothing more; a higher one ends it.
                let again = thread(&graph(limit), &store).resume(ledger.clone()).await.unwrap();
                assert!(matches!(again, Outcome::LimitReached { .. }), "{again:?}");
                let raised = thread(&graph(limit), &store).recursion_limit(10);
                assert_eq!(done(raised.resume(ledger.clone()).await).n, 2);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            ledger.all(),
            ["count 2", "long1 2", "long2 2", "long3 2", "short 2"],
            "{limit}"
        );
    }
}

/// A step that would be too wide is refused before any of it runs, at the beginning as well.
#[tokio::test]
async fn a_step_is_no_wider_than_it_may_be() {
    let wide =
        |count: u64| move |_: &S| (0..count).map(|n| SendTo::new("b", &n)).collect::<Vec<_>>();
    let graph = |at_start: u64, later: u64| {
        builder()
            .node("a", work)
            .node("b", work)
            .edge(START, "a")
            .branch(START, wide(at_start), ["b"])
            .branch("a", wide(later), ["b"])
            .edge("b", END)
            .max_fan_out(3)
            .build()
            .unwrap()
    };
    for (at_start, later, want) in [
        (2, 3, Ok(6)),
        (
            3,
            0,
            Err(
                "super-step 0 schedules 4 tasks; the limit is 3: send fewer, or raise `max_fan_out`",
            ),
        ),
        (
            0,
            4,
            Err(
                "super-step 0 schedules 4 tasks; the limit is 3: send fewer, or raise `max_fan_out`",
            ),
        ),
    ] {
        let ledger = Ledger::default();
        let outcome = graph(at_start, later).invoke(S::update(), ledger.clone()).await;
        let outcome = outcome.map(|outcome| outcome.done().unwrap().log.len());
        assert_eq!(outcome.map_err(|error| error.to_string()), want.map_err(str::to_owned));
        assert_eq!(ledger.of("b"), if want.is_ok() { 5 } else { 0 });
    }
}
