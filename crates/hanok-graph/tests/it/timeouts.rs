//! How long a node may take, and how long it may be silent.

use std::time::Duration;

use hanok_checkpoint::{Append, CheckpointError, Checkpointer as _, SharedCheckpointer};
use hanok_core::{ThreadKey, Timestamp, Token};
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, GraphBuilder, Input, NodeError, NodeExt, NodeSettings,
    Outcome, Retry, RunError, START, SendTo, Snapshot, Subgraph,
};
use hanok_state::State;
use hanok_testkit::{Layer, Layered};
use tokio::time::Instant;

use crate::support::{
    Ledger, S, SUpdate, both, builder, chain, done, log, memory, says, slow, thread, work,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn one(node: &str, graph: GraphBuilder<S, Ledger>) -> GraphBuilder<S, Ledger> {
    graph.edge(START, node).edge(node, END)
}

/// B49: at that time, with a typed error, and nothing of what it would have written.
#[tokio::test(start_paused = true)]
async fn a_node_that_takes_too_long_is_stopped_at_that_time() {
    for (takes, ends) in [(99, true), (101, false)] {
        let graph = one("a", builder().node("a", slow(takes)));
        let graph = graph.configure("a", NodeSettings::new().timeout(ms(100))).build().unwrap();
        let (store, ledger) = (memory(), Ledger::default());
        let before = Instant::now();
        let outcome = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
        if ends {
            assert_eq!(log(&done(outcome)), ["a"]);
            continue;
        }
        assert_eq!(before.elapsed(), ms(100));
        let RunError::Node { node, source: NodeError::TimedOut { after }, .. } =
            outcome.unwrap_err()
        else {
            panic!("another error")
        };
        assert_eq!((node.as_ref(), after), ("a", ms(100)));
        assert_eq!((ledger.inside(), ledger.of("a")), (0, 0));
        assert_eq!(log(&thread(&graph, &store).state(None).await.unwrap().unwrap()), [""; 0]);
        // The thread goes on, and the node has its whole time again.
        let before = Instant::now();
        thread(&graph, &store).resume(ledger.clone()).await.unwrap_err();
        assert_eq!(before.elapsed(), ms(100));
    }
}

/// B49: a time-out is worth another try unless a policy says otherwise, and each attempt has the whole time.
#[tokio::test(start_paused = true)]
async fn a_node_that_took_too_long_may_be_tried_again() {
    async fn hurries(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("a");
        let takes = [80, 80, 20][cx.attempt() as usize - 1];
        let left = cx.call("model", "m", "").time_left();
        assert_eq!(left, Some(ms(50)));
        cx.runtime().clock.sleep(ms(takes)).await;
        Ok(says(format!("attempt {}", cx.attempt())))
    }
    let graph = |retry: Retry| {
        let graph = one("a", builder().node("a", hurries));
        graph
            .configure("a", NodeSettings::new().timeout(ms(50)))
            .configure("a", NodeSettings::new().retry(retry))
            .build()
            .unwrap()
    };
    let retry = Retry::attempts(3).first(ms(10)).factor(1.0).jitter(false);
    let ledger = Ledger::default();
    let before = Instant::now();
    let state = done(graph(retry.clone()).invoke(S::update(), ledger.clone()).await);
    assert_eq!((log(&state), before.elapsed()), (vec!["attempt 3"], ms(50 + 10 + 50 + 10 + 20)));
    assert_eq!(ledger.of("a"), 3);

    let ledger = Ledger::default();
    let never = retry.when(|error| !matches!(error, NodeError::TimedOut { .. }));
    let error = graph(never).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `a` failed in super-step 0 / it took longer than 50ms, its time-out"
    );
    assert_eq!(ledger.of("a"), 1);
}

/// B49: the time of one node is not its siblings'.
#[tokio::test(start_paused = true)]
async fn a_time_out_stops_one_task_and_its_siblings_end() {
    let graph = builder()
        .node("late", slow(100).timeout(ms(50)))
        .node("slow", slow(200))
        .edge(START, "late")
        .edge(START, "slow")
        .edge("late", END)
        .edge("slow", END)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    let before = Instant::now();
    graph.invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!((before.elapsed(), ledger.all()), (ms(200), vec!["slow 1".to_owned()]));
}

fn steps() -> Graph<S, Ledger> {
    builder()
        .node("a", slow(40))
        .node("b", slow(40))
        .node("b2", slow(30))
        .node("c", slow(40))
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "b2")
        .join(["b", "b2"], "c")
        .edge("c", END)
        .build()
        .unwrap()
}

/// B49, P2: a subgraph that took too long is tried again from where it was; none of its tasks is left behind.
#[tokio::test(start_paused = true)]
async fn a_subgraph_that_took_too_long_goes_on_where_it_was() {
    let retry = || Retry::attempts(9).first(ms(1_000)).factor(1.0).jitter(false);
    let graph = |persistent: bool| {
        let subgraph = if persistent {
            Subgraph::shared(steps())
        } else {
            Subgraph::shared(steps()).persistence(hanok_graph::Persistence::None)
        };
        one("sub", builder().subgraph("sub", subgraph.timeout(ms(75)).retry(retry())))
            .build()
            .unwrap()
    };
    let (store, ledger) = (memory(), Ledger::default());
    let state = done(thread(&graph(true), &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(log(&state), ["a", "b", "b2", "c"]);
    assert_eq!(ledger.all(), ["a 1", "b 1", "b2 1", "c 1"]);
    // Where nothing is kept it begins anew, each time.
    let ledger = Ledger::default();
    let outcome = thread(&graph(false), &memory()).invoke(S::update(), ledger.clone()).await;
    outcome.unwrap_err();
    tokio::task::yield_now().await;
    assert_eq!((ledger.inside(), ledger.all()), (0, vec!["a 9".to_owned(), "b2 9".to_owned()]));
}

/// Lives for 300 ms and shows it every 30 ms in the way that the state says; then it is silent for 300 ms, if `n` says so.
async fn lives(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let mut calls = None;
    for i in 0..10 {
        cx.runtime().clock.sleep(ms(30)).await;
        match state.plan.as_str() {
            "heartbeat" => cx.heartbeat(),
            "custom" => cx.custom(&i),
            "call" => drop(cx.call("tool", "t", &i.to_string())),
            "step" => cx.step(&i.to_string(), || async { Ok::<_, BoxError>(i) }).await.map(drop)?,
            "token" => {
                // A model streams if it is given a sink.
                let call = calls.get_or_insert_with(|| cx.call("model", "m", ""));
                if let Some(sink) = call.sink() {
                    sink.token(Token::Text("x".into()));
                }
            }
            "subgraph" => {
                let graph = one("work", builder().node("work", work)).build()?;
                cx.run(&graph, S::update(), cx.services().clone()).await?.done()?;
            }
            _ => {}
        }
    }
    if state.n > 0 {
        cx.runtime().clock.sleep(ms(300)).await;
    }
    Ok(says("lived"))
}

/// B50: every sign of life extends the time, whether somebody watches or not, and silence ends it.
#[tokio::test(start_paused = true)]
async fn a_sign_of_life_extends_the_idle_time_and_silence_ends_it() {
    let graph = one("a", builder().node("a", lives.idle_timeout(ms(50)))).build().unwrap();
    for watched in [false, true] {
        for (plan, silent, want) in [
            ("heartbeat", 0, None),
            ("custom", 0, None),
            ("call", 0, None),
            ("step", 0, None),
            ("subgraph", 0, None),
            ("token", 0, None),
            ("nothing", 0, Some(50)),
            ("heartbeat", 1, Some(350)),
            ("subgraph", 1, Some(350)),
            ("token", 1, Some(350)),
        ] {
            let input = S::update().plan(plan.to_owned()).n(silent);
            let (store, before) = (memory(), Instant::now());
            let thread = thread(&graph, &store);
            let outcome = if watched {
                thread.stream(Input::New(input), Ledger::default()).outcome().await
            } else {
                thread.invoke(input, Ledger::default()).await
            };
            match want {
                None => assert_eq!(log(&done(outcome)), ["lived"], "{plan}, watched: {watched}"),
                Some(at) => {
                    let error = outcome.unwrap_err();
                    let RunError::Node { source: NodeError::Idle { after }, .. } = error else {
                        panic!("{plan}: {}", chain(&error))
                    };
                    assert_eq!((after, before.elapsed()), (ms(50), ms(at)), "{plan}, {watched}");
                }
            }
        }
    }
}

/// B50: what the nodes of a subgraph do is a sign of life of the node that it is, at any depth.
#[tokio::test(start_paused = true)]
async fn the_life_of_a_subgraph_is_the_life_of_its_node() {
    let middle = one("sub", builder().subgraph("sub", Subgraph::shared(steps()))).build().unwrap();
    let graph = |idle| {
        let graph = one("sub", builder().subgraph("sub", Subgraph::shared(middle.clone())));
        graph.configure("sub", NodeSettings::new().idle_timeout(ms(idle))).build().unwrap()
    };
    assert_eq!(log(&both(&graph(45), &Ledger::default()).await), ["a", "b", "b2", "c"]);
    let error = graph(35).invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `sub` failed in super-step 0 / it gave no sign of life for 35ms"
    );
}

/// B50: the time for the whole is not extended by signs of life.
#[tokio::test(start_paused = true)]
async fn a_sign_of_life_does_not_extend_the_time_of_the_whole() {
    let graph =
        one("a", builder().node("a", lives.timeout(ms(100)).idle_timeout(ms(50)))).build().unwrap();
    let before = Instant::now();
    let input = S::update().plan("heartbeat".to_owned());
    let error = graph.invoke(input, Ledger::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { source: NodeError::TimedOut { .. }, .. }));
    assert_eq!(before.elapsed(), ms(100));
}

/// The time that a node sees is the clock's, and the same for all tasks of a super-step.
#[tokio::test(start_paused = true)]
async fn the_tasks_of_a_step_are_told_one_time() {
    async fn tells(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let Timestamp(now) = cx.now();
        Ok(says((now - 1_000_000).to_string()))
    }
    let graph = builder()
        .node("first", slow(70))
        .node("a", tells)
        .node("b", tells)
        .edge(START, "first")
        .edge("first", "a")
        .edge("first", "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let outcome = graph.invoke(S::update(), Ledger::default()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
    assert_eq!(log(&state), ["first", "70", "70"]);
}

/// B49: a default for all nodes, which a node's own stands before.
#[tokio::test(start_paused = true)]
async fn a_time_out_of_all_nodes_is_for_those_without_one() {
    let graph = builder().node("own", slow(150).timeout(ms(200))).node("other", slow(150));
    let graph = graph.sequence([START, "own", "other", END]).timeout_all(ms(100)).build().unwrap();
    let ledger = Ledger::default();
    let error = graph.invoke(S::update(), ledger.clone()).await.unwrap_err();
    let RunError::Node { node, source: NodeError::TimedOut { after }, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!((node.as_ref(), *after, ledger.of("own")), ("other", ms(100), 1));
    let silent = builder().node("a", slow(150)).sequence([START, "a", END]);
    let silent = silent.idle_timeout_all(ms(100)).build().unwrap();
    let error = silent.invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { source: NodeError::Idle { .. }, .. }), "{error:?}");
}

/// B49: a send has a time-out of its own for its task, which is stored with it: after a crash, or a failure, it is the same.
#[tokio::test(start_paused = true)]
async fn a_send_has_a_time_out_of_its_own() {
    async fn takes(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let (name, takes): (String, u64) = cx.input()?.unwrap_or_default();
        cx.services().note(&name);
        cx.runtime().clock.sleep(ms(takes)).await;
        Ok(says(name))
    }
    fn spread(_: &S) -> Vec<SendTo> {
        vec![
            SendTo::new("takes", &("short", 80_u64)),
            SendTo::new("takes", &("long", 300_u64)).timeout(ms(400)),
            SendTo::new("takes", &("late", 80_u64)).timeout(ms(50)),
        ]
    }
    let graph = builder().node("takes", takes.timeout(ms(100))).branch(START, spread, ["takes"]);
    let graph = graph.edge("takes", END).build().unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    for run in 1..=2 {
        let outcome = match run {
            1 => thread(&graph, &store).invoke(S::update(), ledger.clone()).await,
            _ => thread(&graph, &store).resume(ledger.clone()).await,
        };
        let error = outcome.unwrap_err();
        let RunError::Node { source: NodeError::TimedOut { after }, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(*after, ms(50));
        assert_eq!([ledger.of("short"), ledger.of("long"), ledger.of("late")], [1, 1, run]);
    }
}

/// B49: where only heartbeats count, no other sign of life extends the time; heartbeats do, of a subgraph's node too.
#[tokio::test(start_paused = true)]
async fn a_heartbeat_time_out_is_extended_by_heartbeats_alone() {
    async fn tells(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        for round in 0..5 {
            cx.runtime().clock.sleep(ms(60)).await;
            cx.custom(&round);
            if cx.node() == "beats" {
                cx.heartbeat();
            }
        }
        Ok(says(cx.node()))
    }
    for (name, ends) in [("beats", true), ("tells", false)] {
        let limits = NodeSettings::new().heartbeat_timeout(ms(100)).idle_timeout(ms(100));
        let graph = one(name, builder().node(name, tells)).configure(name, limits).build().unwrap();
        let before = Instant::now();
        let outcome = graph.invoke(S::update(), Ledger::default()).await;
        match (ends, outcome) {
            (true, outcome) => assert_eq!(log(&done(outcome)), ["beats"]),
            (false, Err(RunError::Node { source: NodeError::Idle { after }, .. })) => {
                assert_eq!((after, before.elapsed()), (ms(100), ms(100)));
            }
            (false, other) => panic!("{other:?}"),
        }
        let inner = one(name, builder().node(name, tells)).build().unwrap();
        let call =
            Subgraph::new(inner, |_: &S| S::update(), |inner: &S| says(log(inner).join("+")));
        let graph = one("call", builder().subgraph("call", call));
        let limits = NodeSettings::new().heartbeat_timeout(ms(100));
        let graph = graph.configure("call", limits).build().unwrap();
        assert_eq!(graph.invoke(S::update(), Ledger::default()).await.is_ok(), ends, "{name}");
    }
}

/// A store whose appends take this long.
#[derive(Debug)]
struct SlowStore(SharedCheckpointer, Duration);

impl Layer for SlowStore {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        tokio::time::sleep(self.1).await;
        self.0.append(thread, append).await
    }
}

fn slow_store() -> SharedCheckpointer {
    SharedCheckpointer::new(Layered(SlowStore(memory(), ms(200))))
}

/// Works twice for as long as `n` says, with a step and a call that must not be repeated in between.
async fn stores(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let attempt = cx.services().note(cx.node());
    let work = cx.runtime().clock.sleep(ms(state.n.into()));
    work.await;
    let known = cx.step("known", async || Ok::<_, BoxError>(attempt)).await?;
    let paid = async |call: hanok_core::Call| Ok::<_, BoxError>(call.time_left());
    let left: Option<Duration> = cx.once("pay", "{}", Doubt::Ask, paid).await?;
    assert!(left.is_none_or(|left| left == ms(50) - ms(state.n.into())), "{left:?}");
    cx.runtime().clock.sleep(ms(state.n.into())).await;
    Ok(says(format!("{} {known}", cx.node())))
}

/// B49: a store that is slow is not the node's fault: the time of an attempt passes while the node works, and not while it waits for what
/// it stores, or for what others store.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_node_does_not_pass_while_it_waits_for_the_store() {
    let timed = |node: &str, graph: GraphBuilder<S, Ledger>| {
        let retry = Retry::attempts(3).first(ms(1)).factor(1.0).jitter(false);
        graph.configure(node, NodeSettings::new().timeout(ms(50)).retry(retry))
    };
    let inner = one("a", builder().node("a", stores)).build().unwrap();
    let both = builder().node("a", stores).node("b", stores);
    let both = both.edge(START, "a").edge(START, "b").edge("a", END).edge("b", END);
    for (graph, ends) in [
        (timed("a", one("a", builder().node("a", stores))), vec!["a 1"]),
        (timed("b", timed("a", both)), vec!["a 1", "b 1"]),
        (timed("sub", one("sub", builder().subgraph("sub", Subgraph::shared(inner)))), vec!["a 1"]),
    ] {
        let graph = graph.build().unwrap();
        let ledger = Ledger::default();
        let on = thread(&graph, &slow_store());
        let state = done(on.invoke(S::update().n(20), ledger.clone()).await);
        assert_eq!(log(&state), ends);
        // What the node itself needs counts.
        let on = thread(&graph, &slow_store());
        let error = on.invoke(S::update().n(60), ledger).await.unwrap_err();
        assert!(chain(&error).ends_with("it took longer than 50ms, its time-out"), "{error:?}");
    }
}

/// B49: a node whose own work is too long is stopped when that was too long, however long the store took.
#[tokio::test(start_paused = true)]
async fn a_node_that_takes_too_long_beside_a_slow_store_is_stopped() {
    async fn works(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.runtime().clock.sleep(ms(30)).await;
        cx.step("known", async || Ok::<_, BoxError>(())).await?;
        cx.services().note("stored");
        cx.runtime().clock.sleep(ms(30)).await;
        Ok(says("late"))
    }
    let graph = one("a", builder().node("a", works.timeout(ms(50)))).build().unwrap();
    let ledger = Ledger::default();
    let on = thread(&graph, &slow_store());
    let before = Instant::now();
    on.invoke(S::update(), ledger.clone()).await.unwrap_err();
    // The run's beginning and its end are appends too.
    assert_eq!((before.elapsed(), ledger.of("stored")), (ms(200 + 30 + 200 + 20 + 200), 1));
}
