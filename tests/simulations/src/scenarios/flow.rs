//! Which nodes run, and in which order.

use std::time::Duration;

use hanok_graph::{Cache, END, Lint, NodeSettings, Retry, START, SendTo, Target};
use hanok_state::State;

use super::{Builder, Scenario, of, scenario, silent};
use crate::nodes::{S, broken, chatter, clash, count, flaky, late, mend, speak, unready, work};

pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario("chain", |graph| chain(graph, ["a", "b", "c"])),
        scenario("loop", rounds),
        scenario("fan-out", |graph| {
            let fan = |_: &S| {
                let sends = (1..=3u64).map(|n| Target::from(SendTo::new("work", &n)));
                sends.chain(["side".into()]).collect::<Vec<_>>()
            };
            let graph = graph.node("begin", work).node("work", work).node("side", work);
            let graph = graph.node("end", work).edge(START, "begin");
            let graph = graph.branch("begin", fan, ["work", "side"]).edge("work", END);
            graph.join(["work", "side"], "end").edge("end", END)
        }),
        scenario("uneven join", |graph| {
            let graph = graph.node("a", work).node("long", work).node("longer", work);
            let graph = graph.node("short", work).node("z", work).edge(START, "a");
            let graph = graph.edge("a", "long").edge("long", "longer").edge("a", "short");
            graph.join(["short", "longer"], "z").edge("z", END)
        }),
        scenario("deferred", |graph| {
            let graph = graph.node("a", work).node("b", work).node("c", work).node("last", work);
            let graph = graph.edge(START, "a").edge(START, "last").edge("a", "b").edge("b", "c");
            graph
                .edge("a", "last")
                .edge("c", "last")
                .edge("last", END)
                .configure("last", NodeSettings::new().defer())
        }),
        scenario("retry", |graph| {
            let graph = graph.node("a", flaky).node("b", flaky).edge(START, "a");
            graph.edge("a", "b").edge("b", END).retry_all(Retry::attempts(5))
        }),
        scenario("failure of one of several", |graph| {
            let graph = graph.node("good", work).node("bad", unready);
            let graph = graph.node("end", work).edge(START, "good").edge(START, "bad");
            graph.join(["good", "bad"], "end").edge("end", END)
        }),
        scenario("error handler", |graph| {
            let graph = graph.node("a", broken).node("b", work).node("c", work);
            let graph = graph.edge(START, "a").edge(START, "b").edge("a", END).edge("b", END);
            graph
                .edge("c", END)
                .configure("a", NodeSettings::new().on_error(mend, ["c"]))
                .configure("c", NodeSettings::new().allow(Lint::Unreachable))
        }),
        scenario("time-out", |graph| {
            let graph = graph.node("a", late).node("b", late).edge(START, "a").edge(START, "b");
            let graph = graph
                .edge("a", END)
                .edge("b", END)
                .configure("a", NodeSettings::new().timeout(Duration::from_secs(60)));
            let graph =
                graph.configure("b", NodeSettings::new().idle_timeout(Duration::from_secs(60)));
            graph.retry_all(Retry::attempts(3))
        }),
        scenario("cached", |graph| {
            let hour = Duration::from_secs(3_600);
            rounds(graph)
                .configure("a", NodeSettings::new().cache(Cache::new(hour, |state: &S, _| state.n)))
        }),
        of("void", silent(clashing).input(S::update()).view(|state| format!("{:?}", state.log))),
        scenario("narrow", |graph| {
            let graph = graph.node("a", count).node("b", work).node("c", work).node("d", work);
            let graph = graph.edge(START, "a").edge(START, "b").edge(START, "c").edge(START, "d");
            let graph = graph.edge("a", END).edge("b", END).edge("c", END).edge("d", END);
            graph.max_concurrency(2).configure("d", NodeSettings::new().concurrency(1))
        }),
        scenario("messages", |graph| {
            let graph = graph.node("a", speak).node("b", speak).node("c", speak);
            let graph = graph.edge(START, "a").edge("a", "b").edge("a", "c");
            graph.edge("b", END).edge("c", END)
        }),
        scenario("a reader that lags", |graph| {
            let graph = graph.node("a", chatter).node("b", chatter).node("c", chatter);
            let graph = graph.node("d", chatter).edge(START, "a").edge(START, "b");
            graph.edge("a", "c").edge("b", END).edge("c", "d").edge("d", END)
        }),
        of("runs by their names", {
            let chain = silent(|graph| chain(graph, ["a", "b", "c"]));
            chain.input(S::update().n(1)).input(S::update().n(2)).naming_runs()
        }),
        of("limit of steps", silent(endless).input(S::update()).handle(|it| it.recursion_limit(5))),
    ]
}

/// Nodes one after the other.
pub(super) fn chain<const N: usize>(graph: Builder, names: [&'static str; N]) -> Builder {
    let (mut graph, mut from) = (graph, START);
    for name in names {
        graph = graph.node(name, work).edge(from, name);
        from = name;
    }
    graph.edge(from, END)
}

/// Three rounds of two nodes.
pub(super) fn rounds(graph: Builder) -> Builder {
    let graph = graph.node("a", work).node("b", count).edge(START, "a").edge("a", "b");
    graph.branch("b", |s: &S| if s.n.is_multiple_of(3) { END } else { "a" }, ["a", END])
}

/// Two nodes that cannot be merged the first time.
fn clashing(graph: Builder) -> Builder {
    let graph = graph.node("a", clash).node("b", clash).node("z", work);
    let graph = graph.edge(START, "a").edge(START, "b");
    graph.join(["a", "b"], "z").edge("z", END)
}

fn endless(graph: Builder) -> Builder {
    let graph = graph.node("a", count).edge(START, "a");
    graph.branch("a", |s: &S| if s.n > 1_000 { END } else { "a" }, ["a", END])
}
