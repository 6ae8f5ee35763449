//! Routers: those that wait and see services, and what of the state a router may read.

use std::time::Duration;

use hanok_core::AskError;
use hanok_graph::{
    BoxError, Command, Context, END, Failure, Fault, Graph, NodeError, NodeExt, Outcome, Retry,
    RunError, START, SendTo, Snapshot, Target,
};
use hanok_state::{State, View};

use crate::support::{Ledger, S, builder, done, log, memory, says, thread, work};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Waits, and decides by the services and by what the node has written.
async fn decides(state: Snapshot<S>, cx: Context<Ledger>) -> Result<Vec<Target>, BoxError> {
    cx.runtime().clock.sleep(ms(10)).await;
    let round = cx.services().note("decides");
    Ok(match (round, log(&state).last()) {
        (1, Some(&"a")) => vec!["b".into(), SendTo::new("c", &1).into()],
        _ => vec![END.into()],
    })
}

/// B7: the targets of an async router are due with those of edges, branches and commands, in the same order.
#[tokio::test(start_paused = true)]
async fn a_router_may_wait_and_see_the_services() {
    for stored in [true, false] {
        let graph = builder().node("a", work).node("b", work).node("c", work).node("d", work);
        let graph = graph.edge(START, "a").route("a", decides, ["b", "c", END]).edge("a", "d");
        let graph = graph.edge("b", END).edge("c", END).edge("d", END).build().unwrap();
        let ledger = Ledger::default();
        let outcome = match stored {
            true => thread(&graph, &memory()).invoke(S::update(), ledger.clone()).await,
            false => graph.invoke(S::update(), ledger.clone()).await,
        };
        assert_eq!(log(&done(outcome)), ["a", "b", "d", "c"]);
        let lines = graph.mermaid();
        assert!(lines.contains("n0 -.-> n1") && lines.contains("n0 -.-> __end__"), "{lines}");
    }
}

/// A router that fails, panics, takes too long or leads where it may not, fails its node, which is tried again with it; a
/// handler of the node stands for both, and a command that goes somewhere alone goes without it.
#[tokio::test(start_paused = true)]
async fn an_async_router_is_a_part_of_its_node() {
    async fn twice(_: Snapshot<S>, cx: Context<Ledger>) -> Result<&'static str, BoxError> {
        match cx.services().note("router") {
            1 => Err("no way".into()),
            2 => panic!("no way at all"),
            3 => {
                cx.runtime().clock.sleep(ms(1_000)).await;
                Ok(END)
            }
            4 => Ok("nowhere"),
            _ => Ok(END),
        }
    }
    async fn sorry(
        _: Snapshot<S>,
        failure: Failure,
        _: Context<Ledger>,
    ) -> Result<Command<S>, BoxError> {
        Ok(Command::new().update(says(failure.message)).goto(END))
    }
    async fn alone(_: Snapshot<S>, _: Context<Ledger>) -> Result<Command<S>, BoxError> {
        Ok(Command::new().goto(END).only().update(says("alone")))
    }
    let retried = |attempts| Retry::attempts(attempts).first(ms(1)).when(|_| true);
    let graph = |attempts| {
        let node = work.retry(retried(attempts)).timeout(ms(100));
        let graph = builder().node("a", node).edge(START, "a").route("a", twice, [END]);
        graph.build().unwrap()
    };
    let ledger = Ledger::default();
    assert_eq!(log(&done(graph(5).invoke(S::update(), ledger.clone()).await)), ["a"]);
    assert_eq!((ledger.of("a"), ledger.of("router")), (5, 5));
    for (attempts, want) in [(1, "no way"), (2, "no way at all"), (3, "100ms"), (4, "nowhere")] {
        let error = graph(attempts).invoke(S::update(), Ledger::default()).await.unwrap_err();
        let error = hanok_core::Chain(&error).to_string();
        assert!(error.contains(want), "{error}");
    }
    let handled = builder().node("a", work.on_error(sorry, [END])).edge(START, "a");
    let handled = handled.route("a", twice, [END]).build().unwrap();
    let ledger = Ledger::default();
    assert_eq!(log(&done(handled.invoke(S::update(), ledger.clone()).await)), ["no way"]);
    assert_eq!(ledger.of("router"), 1);
    let only = builder().node("a", alone.goto([END])).edge(START, "a");
    let only = only.route("a", twice, [END]).build().unwrap();
    let ledger = Ledger::default();
    assert_eq!(log(&done(only.invoke(S::update(), ledger.clone()).await)), ["alone"]);
    assert_eq!(ledger.of("router"), 0);
}

/// A router asks a person: the run ends as if its node had asked, and the answer is read by the router in the next one.
#[tokio::test]
async fn an_async_router_may_ask() {
    async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<&'static str, AskError> {
        let yes: bool = cx.interrupt("on?").await?;
        Ok(if yes { "b" } else { END })
    }
    let graph = builder().node("a", work).node("b", work).edge(START, "a").edge("b", END);
    let graph = graph.route("a", asks, ["b", END]).build().unwrap();
    for (answer, want) in [(true, vec!["a", "b"]), (false, vec!["a"])] {
        let (store, ledger) = (memory(), Ledger::default());
        let asked = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap();
        assert!(matches!(&asked, Outcome::Interrupted(open) if open.len() == 1), "{asked:?}");
        // Nothing of the node is written before the router has an answer.
        assert_eq!(asked.state().map(|state| state.log.len()), Some(0));
        let state = done(thread(&graph, &store).reply(&answer, ledger.clone()).await);
        assert_eq!(log(&state), want);
    }
}

/// An edit that stands for a node with an async router is refused, and nothing of it is stored; START has none.
#[tokio::test]
async fn an_async_router_needs_a_run() {
    async fn ends(_: Snapshot<S>, _: Context<Ledger>) -> Result<&'static str, BoxError> {
        Ok(END)
    }
    let graph = builder().node("a", work).edge(START, "a").route("a", ends, [END]);
    let (graph, store) = (graph.build().unwrap(), memory());
    done(thread(&graph, &store).invoke(S::update(), Ledger::default()).await);
    let on = thread(&graph, &store);
    let refused = on.edit_as(Some("a"), says("by hand")).await.unwrap_err();
    assert!(
        matches!(refused, RunError::Node { source: NodeError::RouterWaits { .. }, .. }),
        "{refused:?}"
    );
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), ["a"]);
    let start = builder().node("a", work).route(START, decides, ["a"]).edge("a", END);
    assert_eq!(start.build().unwrap_err().faults, [Fault::RouterOfStart]);
}

/// A state with a field that only some nodes see.
#[derive(State, Clone, Debug, Default)]
struct Guarded {
    text: String,
    #[state(private)]
    secret: String,
}

#[derive(View)]
#[view(of = Guarded)]
struct Insider {
    secret: String,
}

/// B18: a router reads the private fields that the node reads behind which it stands, and no other, whether it waits or not; an
/// async router that shows one which its node does not is a fault of the graph.
#[tokio::test]
async fn a_router_reads_the_private_fields_of_its_node_and_no_other() {
    async fn insider(_: Snapshot<Insider>, _: Context) -> Result<GuardedUpdate, BoxError> {
        Ok(Guarded::update().secret("sesame"))
    }
    async fn outsider(_: Snapshot<Guarded>, _: Context) -> Result<GuardedUpdate, BoxError> {
        Ok(Guarded::update().secret("sesame"))
    }
    async fn end(state: Snapshot<Guarded>, cx: Context) -> Result<GuardedUpdate, BoxError> {
        Ok(Guarded::update().text(format!("{}{}", state.text, cx.node())))
    }
    async fn within(state: Snapshot<Insider>, _: Context) -> Result<&'static str, BoxError> {
        Ok(if state.secret == "sesame" { "open" } else { "shut" })
    }
    async fn without(_: Snapshot<Guarded>, _: Context) -> Result<&'static str, BoxError> {
        Ok("shut")
    }
    fn plain(state: &Guarded) -> &'static str {
        if state.secret == "sesame" { "open" } else { "shut" }
    }
    let ends = |graph: hanok_graph::GraphBuilder<Guarded>| {
        graph
            .node("open", end)
            .node("shut", end)
            .edge(START, "a")
            .edge("open", END)
            .edge("shut", END)
    };
    let targets = ["open", "shut"];
    let graph = |node: &str| match node {
        "insider" => ends(Graph::<Guarded>::builder("g").node("a", insider)),
        _ => ends(Graph::<Guarded>::builder("g").node("a", outsider)),
    };
    for (graph, want) in [
        (graph("insider").branch("a", plain, targets), "open"),
        (graph("outsider").branch("a", plain, targets), "shut"),
        (graph("insider").route("a", within, targets), "open"),
        (graph("insider").route("a", without, targets), "shut"),
        (graph("outsider").route("a", without, targets), "shut"),
    ] {
        let state = graph.build().unwrap().invoke(Guarded::update(), ()).await.unwrap();
        assert_eq!(state.done().unwrap().text, want);
    }
    let faults = graph("outsider").route("a", within, targets).build().unwrap_err().faults;
    assert_eq!(faults, [Fault::RouterReads { node: "a".into(), field: "secret".into() }]);
}
