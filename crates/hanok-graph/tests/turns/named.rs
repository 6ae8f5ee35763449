//! Graphs that a task runs by names: several at once, in any order, found again by their names.

use std::{collections::BTreeSet, time::Duration};

use futures::StreamExt;
use hanok_core::Call;
use hanok_graph::{
    BoxError, Context, Doubt, END, Event, EventKind, Graph, Input, Mode, NodeExt, Retry, RunGraph,
    START, Snapshot, SubgraphError,
};
use hanok_state::State as _;

use crate::asking::{
    Ledger, S, SUpdate, asked, built,
    dying::{Dies, Dying},
    entries, id_of, key, log, lost, memory, payloads, says, thread, work,
};

const CITIES: [&str; 3] = ["seoul", "busan", "jeju"];

/// Notes the key of its call, which is the identity of the task, and says where it is.
async fn visit(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let city = log(&state)[0].to_owned();
    cx.services().note(&format!("key {}", cx.call("tool", &city, "{}").key()));
    let said = || async {
        tokio::task::yield_now().await;
        Ok::<_, BoxError>(format!("{city} seen"))
    };
    Ok(says(cx.step("look", said).await?))
}

fn visiting() -> Graph<S, Ledger> {
    let graph = Graph::builder("visiting").node("visit", visit).node("leave", work);
    built(graph.edge(START, "visit").edge("visit", "leave").edge("leave", END))
}

/// Runs all of them at once, and begins with another one each time.
async fn travel(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let first = cx.services().note("travel") as usize;
    let graph = visiting();
    let run = |city: &'static str| {
        let (graph, cx) = (&graph, &cx);
        async move {
            let ended = cx.run_named(city, graph, says(city), cx.services().clone()).await?;
            Ok::<_, BoxError>((city, log(&ended.done()?).join(" ")))
        }
    };
    let order = (0..3).map(|n| CITIES[(first + n) % 3]);
    let ended = futures::future::join_all(order.map(run)).await;
    let mut ended = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
    ended.sort_unstable();
    Ok(S::update().log(ended.into_iter().map(|(_, said)| said)))
}

fn travelling() -> Graph<S, Ledger> {
    built(Graph::builder("outer").node("travel", travel).edge(START, "travel").edge("travel", END))
}

/// P1, P2, B94 (per call): wherever the process dies, the next one goes on with each by its name, although it names them in
/// another order.
#[tokio::test]
async fn graphs_that_run_by_names_go_on_in_whichever_order_they_come() {
    let want = ["busan busan seen leave", "jeju jeju seen leave", "seoul seoul seen leave"];
    let graph = travelling();
    let mut crashes = 0;
    for dies in [Dies::Before, Dies::After] {
        for nth in 1.. {
            let (store, ledger) = (memory(), Ledger::default());
            let dying = Dying::new(&store, (nth, dies), |_| true);
            let run = thread(&graph, &dying.shared()).invoke(S::update(), ledger.clone()).await;
            if !dying.died() {
                assert_eq!(log(&run.unwrap().done().unwrap()), want);
                break;
            }
            crashes += 1;
            lost(&store, &key("t")).await;
            // Nothing is known of a run whose first write was not stored.
            let on = thread(&graph, &store);
            let state = match on.state(None).await.unwrap() {
                Some(_) => on.resume(ledger.clone()).await,
                None => on.invoke(S::update(), ledger.clone()).await,
            };
            assert_eq!(log(&state.unwrap().done().unwrap()), want, "{dies:?} {nth}");
            assert_eq!(on.views(None).await.unwrap().len(), 1, "{dies:?} {nth}");
            // With numbers, each city would have been a task of each of the three.
            assert_eq!(ledger.keys("key ").len(), 3, "{dies:?} {nth}");
        }
    }
    assert!(crashes > 12, "{crashes}");
}

/// P4: a call that must not be repeated in each of two: after a crash in both, a person is asked about each, and each is made
/// once.
#[tokio::test]
async fn a_call_within_a_named_graph_is_not_repeated() {
    async fn pay(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let (ledger, whom) = (cx.services().clone(), log(&state)[0].to_owned());
        let paid = cx.once("pay", &whom, Doubt::Ask, |_| async {
            Ok::<_, BoxError>(format!("{} to {whom}", ledger.note(&whom)))
        });
        Ok(says(paid.await?))
    }
    async fn pay_both(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("paying").node("pay", pay).edge(START, "pay").edge("pay", END);
        let graph = built(graph);
        let (kim, lee) = futures::join!(
            cx.run_named("kim", &graph, says("kim"), cx.services().clone()),
            cx.run_named("lee", &graph, says("lee"), cx.services().clone()),
        );
        Ok(S::update().log([kim?.done()?, lee?.done()?].map(|ended| log(&ended).join(" "))))
    }
    let graph = Graph::builder("outer").node("both", pay_both).edge(START, "both");
    let graph = built(graph.edge("both", END));
    let (store, ledger) = (memory(), Ledger::default());
    let dying = Dying::new(&store, (2, Dies::Before), |body| crate::asking::kind(body) == "memo");
    let run = thread(&graph, &dying.shared()).invoke(S::update(), ledger.clone()).await;
    run.unwrap_err();
    assert!(dying.died());
    lost(&store, &key("t")).await;
    let doubts = crate::asking::doubted(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    let made = hanok_graph::Resolution::made("by hand").unwrap();
    let settled = thread(&graph, &store).settle(doubts[0].id.clone(), made, ledger.clone()).await;
    let state = settled.unwrap().done().unwrap();
    let said = log(&state).join(", ");
    assert!(["kim 1 to kim, lee by hand", "kim by hand, lee 1 to lee"].contains(&&*said), "{said}");
    assert_eq!(ledger.counts(["kim", "lee"]), [1, 1]);
}

/// B67, B61: two that ask at once are answered one after the other; the one that was answered does nothing twice.
#[tokio::test]
async fn named_graphs_that_ask_at_once_are_answered_one_by_one() {
    async fn ask(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>(&format!("{}?", log(&state)[0])).await?))
    }
    async fn both(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("asking").node("ask", ask).node("after", work);
        let graph = built(graph.edge(START, "ask").edge("ask", "after").edge("after", END));
        let (a, b) = futures::join!(
            cx.run_named("a", &graph, says("a"), cx.services().clone()),
            cx.run_named("b", &graph, says("b"), cx.services().clone()),
        );
        Ok(S::update().log([a?.done()?, b?.done()?].map(|ended| log(&ended).join(" "))))
    }
    let graph = Graph::builder("outer").node("both", both).edge(START, "both");
    let graph = built(graph.edge("both", END));
    let (store, ledger) = (memory(), Ledger::default());
    let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(payloads(&requests), ["a?", "b?"]);
    let second = id_of(&requests, "b?");
    let left = asked(thread(&graph, &store).answer(second, "yes", ledger.clone()).await);
    assert_eq!(payloads(&left), ["a?"]);
    assert_eq!(ledger.of("after"), 1);
    let state = thread(&graph, &store).reply("no", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a no after", "b yes after"]);
    assert_eq!(ledger.of("after"), 2);
}

/// A name that an attempt has used is refused in words; another attempt has them all again, and goes on with what has ended.
#[tokio::test]
async fn a_name_is_used_once_in_an_attempt() {
    async fn twice(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph =
            built(Graph::builder("inner").node("in", work).edge(START, "in").edge("in", END));
        let first = cx.run_named("one", &graph, S::update(), cx.services().clone()).await?;
        let again = cx.run_named("one", &graph, S::update(), cx.services().clone()).await;
        let error = again.unwrap_err();
        assert!(matches!(&error, SubgraphError::Twice { name, .. } if name == "one"), "{error:?}");
        cx.services().note(&error.to_string());
        // One with a number and one of another name are others.
        cx.run(&graph, S::update(), cx.services().clone()).await?.done()?;
        cx.run_named("0", &graph, S::update(), cx.services().clone()).await?.done()?;
        if cx.attempt() == 1 {
            return Err("once more".into());
        }
        Ok(says(log(&first.done()?).join(" ")))
    }
    let graph = Graph::builder("outer").node("twice", twice.retry(Retry::attempts(2)));
    let graph = built(graph.edge(START, "twice").edge("twice", END));
    for store in [None, Some(memory())] {
        let ledger = Ledger::default();
        let ended = match &store {
            Some(store) => thread(&graph, store).invoke(S::update(), ledger.clone()).await,
            None => graph.invoke(S::update(), ledger.clone()).await,
        };
        assert_eq!(log(&ended.unwrap().done().unwrap()), ["in"]);
        let said =
            "the task runs two graphs by the name `one`: give each run of a task a name of its own";
        // Without a store a second attempt begins anew.
        let ran = if store.is_some() { 3 } else { 6 };
        assert_eq!(ledger.counts([said, "in"]), [2, ran]);
    }
}

/// Any text is a name, and its place in the log can be read.
#[tokio::test]
async fn any_text_is_a_name_of_a_run() {
    async fn odd(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph =
            built(Graph::builder("inner").node("in", work).edge(START, "in").edge("in", END));
        let long = "긴 이름 ".repeat(100);
        for name in ["", "a", "a/b", "#", "\u{1b}[2J", &long, &format!("{long}!")] {
            cx.run_named(name, &graph, S::update(), cx.services().clone()).await?.done()?;
        }
        Ok(S::update())
    }
    let graph = Graph::builder("outer").node("odd:#", odd).edge(START, "odd:#");
    let graph = built(graph.edge("odd:#", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(ledger.of("in"), 7);
    let places = entries(&on).await;
    let places: BTreeSet<_> = places.iter().map(|entry| entry.entry.namespace.clone()).collect();
    assert_eq!(places.len(), 1 + 7);
}

/// B94 (per call): what a call runs is told by the call's key and by the number of its graphs: an equal call beside it, another
/// try and another attempt are each their own, and the next process goes on with them.
#[tokio::test]
async fn a_call_runs_graphs_of_its_own() {
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("inner").node("in", work).node("stop", work);
        let graph = built(graph.edge(START, "in").edge("in", "stop").edge("stop", END));
        let tool = |call: Call| {
            let (graph, services) = (graph.clone(), cx.services().clone());
            async move {
                let ended = call.run(&graph, says(call.key().as_str()), services).await?;
                Ok::<_, BoxError>(ended.done()?)
            }
        };
        let (one, other) = (cx.call("tool", "t", "{}"), cx.call("tool", "t", "{}"));
        let ended = futures::join!(tool(one.clone()), tool(other), tool(one));
        let ended = [ended.0?, ended.1?, ended.2?];
        assert!(ended.iter().all(|ended| log(ended)[1..] == ["in", "stop"]));
        Ok(says(log(&ended[0])[0]))
    }
    let graph = Graph::builder("outer").node("calls", calls).edge(START, "calls");
    let graph = built(graph.edge("calls", END));
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["stop"]);
    let failed = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
    failed.unwrap_err();
    assert_eq!(ledger.counts(["in", "stop"]), [3, 3]);
    ledger.fail(&[]);
    let on = thread(&graph, &store);
    on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(ledger.counts(["in", "stop"]), [3, 6]);
    let places = entries(&on).await;
    let places: BTreeSet<_> = places.iter().map(|entry| entry.entry.namespace.clone()).collect();
    assert_eq!(places.len(), 1 + 3);
}

/// A call that is asked to stop, or whose time is over, ends its graph; a question ends the run, whatever the node makes of it.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_over_ends_its_graph() {
    async fn sleeps(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.runtime().clock.sleep(Duration::from_secs(60)).await;
        cx.services().note("slept");
        Ok(S::update())
    }
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("slow").node("sleeps", sleeps).edge(START, "sleeps");
        let graph = built(graph.edge("sleeps", END));
        let late = cx.runtime().clock.now().plus(Duration::from_secs(5));
        let call = cx.call("tool", "late", "{}").deadline(late);
        let late = call.run(&graph, S::update(), cx.services().clone()).await.unwrap_err();
        let stop = cx.cancellation().child();
        let call = cx.call("tool", "stopped", "{}").cancellation(stop.clone());
        let run = call.run(&graph, S::update(), cx.services().clone());
        let stops = async {
            cx.runtime().clock.sleep(Duration::from_secs(5)).await;
            stop.cancel();
        };
        let (stopped, ()) = futures::join!(run, stops);
        assert!(!late.suspends());
        Ok(S::update().log([late.to_string(), stopped.unwrap_err().to_string()]))
    }
    let graph = Graph::builder("outer").node("calls", calls).edge(START, "calls");
    let graph = built(graph.edge("calls", END));
    let ledger = Ledger::default();
    let state = thread(&graph, &memory()).invoke(S::update(), ledger.clone()).await.unwrap();
    let want = [
        "graph `slow` did not end within 5s, the time of the call that runs it",
        "the call that runs graph `slow` was asked to stop",
    ];
    assert_eq!(log(&state.done().unwrap()), want);
    assert_eq!(ledger.of("slept"), 0);
}

/// Outside of a graph a call runs a graph by itself, within the call's time.
#[tokio::test]
async fn a_call_outside_of_a_graph_runs_one_by_itself() {
    let graph = Graph::builder("alone").node("in", work).edge(START, "in").edge("in", END);
    let (graph, ledger) = (built(graph), Ledger::default());
    let call = Call::detached();
    let ended = call.run(&graph, says("begins"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&ended), ["begins", "in"]);
    ledger.fail(&["in"]);
    let error = call.run(&graph, S::update(), ledger.clone()).await.unwrap_err();
    assert!(matches!(&error, SubgraphError::Run { graph, .. } if graph == "alone"), "{error:?}");
}

/// Each graph that is run is told with its path and what runs it, as it begins and as it ends, however it ends.
#[tokio::test(start_paused = true)]
async fn graphs_are_told_with_what_runs_them() {
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = |name: &str, node: &str| {
            let graph = Graph::builder(name).node(node, work).node("ask", ask);
            built(graph.edge(START, node).edge(node, "ask").edge("ask", END))
        };
        let services = || cx.services().clone();
        cx.run(&graph("numbered", "a"), S::update().n(1), services()).await?.done()?;
        let broken = graph("broken", "broken");
        cx.run_named("broken", &broken, S::update().n(1), services()).await.unwrap_err();
        let late = cx.call("tool", "late", "{}").deadline(cx.runtime().clock.now());
        late.run(&graph("late", "hangs"), S::update(), services()).await.unwrap_err();
        let asks = cx.call("tool", "asks", "{}");
        asks.run(&graph("asks", "b"), S::update(), services()).await?;
        Ok(S::update())
    }
    async fn ask(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if state.n == 0 {
            cx.interrupt::<String>("well?").await?;
        }
        Ok(S::update())
    }
    let graph = Graph::builder("outer").node("calls", calls).edge(START, "calls");
    let (graph, store) = (built(graph.edge("calls", END)), memory());
    let ledger = Ledger::default();
    ledger.fail(&["broken"]);
    ledger.hang(&["hangs"]);
    let on = thread(&graph, &store).modes([Mode::Graphs]);
    let told = |events: Vec<Event>| {
        let mut told = Vec::new();
        for event in events {
            let line = match &event.kind {
                EventKind::GraphStarted { graph, cause } => {
                    assert_eq!((&*cause.node, event.path.depth()), ("calls", 1));
                    format!("{graph} {}", if cause.call.is_some() { "in a call" } else { "begins" })
                }
                EventKind::GraphEnded { graph, outcome, error } => {
                    assert!(event.id.is_none() && event.node.is_none());
                    format!("{graph} {outcome}{}", if error.is_some() { ": error" } else { "" })
                }
                kind => kind.name().to_owned(),
            };
            told.push(line);
        }
        told
    };
    let events = on.stream(Input::New(S::update()), ledger.clone()).collect().await;
    let want = [
        "numbered begins",
        "numbered done",
        "broken begins",
        "broken failed: error",
        "late in a call",
        "late cancelled",
        "asks in a call",
        "asks interrupted",
        "ended",
    ];
    assert_eq!(told(events), want);
    // Nothing of it is told again.
    assert!(on.events(None).await.unwrap().iter().all(|event| event.kind.name() == "ended"));
}

/// A node that runs graphs is tested as the function that it is.
#[tokio::test]
async fn a_node_that_runs_graphs_is_called_by_a_test() {
    async fn runs(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("inner").node("in", work).edge(START, "in").edge("in", END);
        let (graph, services) = (built(graph), || cx.services().clone());
        let named = cx.run_named("one", &graph, S::update(), services()).await?.done()?;
        let call = cx.call("tool", "t", "{}");
        let called = call.run(&graph, S::update(), services()).await?.done()?;
        Ok(S::update().n((named.log.len() + called.log.len()) as u32))
    }
    let ledger = Ledger::default();
    let context = Context::for_test(ledger.clone()).build().unwrap();
    let mut state = S::default();
    let update = runs(Snapshot::new(state.clone()), context).await.unwrap();
    state.reduce(vec![("runs".into(), update)]).unwrap();
    assert_eq!((state.n, ledger.of("in")), (2, 2));
}
