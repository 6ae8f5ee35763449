//! Graphs within graphs.

use hanok_graph::{Command, END, NodeSettings, Persistence, START, Snapshot, Subgraph};
use hanok_simulation::{Effects, Simulation};
use hanok_state::State;

use super::{Builder, Scenario, answer, flow::chain, inner, of};
use crate::nodes::{Cx, S, ask, begin, count, pay, says, steps, work};

pub(super) fn all() -> Vec<Scenario> {
    let per_call = |inner| Ok(own(inner));
    vec![
        within("within, per call", two, per_call, 1),
        within(
            "within, for the thread",
            rounds_within,
            |inner| Ok(own(inner).persistence(Persistence::PerThread)),
            2,
        ),
        within("within, shared", two, |inner| Ok(Subgraph::shared(inner)), 1),
        within(
            "within, nothing kept",
            two,
            |inner| Ok(own(inner).persistence(Persistence::None)),
            1,
        ),
        within("a question within", asks, per_call, 1),
        within("a question in a shared one", asks, |inner| Ok(Subgraph::shared(inner)), 1),
        within("a call within that is not repeated", pays, per_call, 1),
        within(
            "two levels",
            asks,
            |inner| {
                let graph = hanok_graph::Graph::builder("middle").node("before", work);
                let graph = graph.subgraph("deeper", own(inner)).edge(START, "before");
                Ok(own(graph.edge("before", "deeper").edge("deeper", END).build()?))
            },
            1,
        ),
        within("a command to the caller", hands_over, |inner| Ok(Subgraph::shared(inner)), 1),
        by_name("two by their names at once", two),
        by_name("questions in two by their names", asks),
        by_name("calls that are not repeated in two by their names", pays),
    ]
}

type Within =
    fn(hanok_graph::Graph<S, Effects>) -> Result<Subgraph<S, Effects>, hanok_graph::BuildError>;

/// A graph with two calls of another one side by side, and something before and after.
fn within(
    name: &'static str,
    build: fn(Builder) -> Builder,
    call: Within,
    turns: usize,
) -> Scenario {
    let simulation = Simulation::of(move |world| {
        let graph = hanok_graph::Graph::builder("outer").node("a", work).node("z", count);
        let graph = graph.node("y", work).node("other", work);
        let graph = graph.subgraph("l", call(inner(build)?)?).subgraph("r", call(inner(build)?)?);
        let graph = graph
            .edge(START, "a")
            .edge("a", "l")
            .edge("a", "r")
            .configure("l", NodeSettings::new().goto(["other"]));
        let graph = graph
            .configure("r", NodeSettings::new().goto(["other"]))
            .join(["l", "r"], "z")
            .edge("other", END);
        let graph = graph.edge("z", "y").edge("y", END).runtime(world.runtime());
        let graph =
            graph.configure("z", NodeSettings::new().allow(hanok_graph::Lint::UnequalFanIn));
        Ok((graph.build()?, world.effects()))
    });
    let simulation = (0..turns).fold(simulation.answer(answer), |it, _| it.input(S::update()));
    of(name, simulation)
}

/// A node that runs two graphs at once by their names, each time in another order.
fn by_name(name: &'static str, build: fn(Builder) -> Builder) -> Scenario {
    let simulation = Simulation::of(move |world| {
        let inner = inner(build)?;
        let both = move |_: Snapshot<S>, cx: Cx| {
            let inner = inner.clone();
            async move {
                begin(&cx).await;
                let swap = cx.runtime().rng.bits() & 1 == 0;
                let [first, second] = if swap { ["one", "two"] } else { ["two", "one"] };
                let run = |name| cx.run_named(name, &inner, says(name), cx.services().clone());
                let ended = futures::join!(run(first), run(second));
                let (one, two) = if swap { ended } else { (ended.1, ended.0) };
                let ended = [one?.done()?, two?.done()?];
                let said = ended.iter().flat_map(|ended| ended.log.iter().cloned());
                Ok::<_, hanok_graph::BoxError>(S::update().log(said.collect::<Vec<_>>()))
            }
        };
        let graph = hanok_graph::Graph::builder("outer").node("both", both).node("z", count);
        let graph = graph.edge(START, "both").edge("both", "z").edge("z", END);
        Ok((graph.runtime(world.runtime()).build()?, world.effects()))
    });
    of(name, simulation.answer(answer).input(S::update()))
}

/// A graph with a state of its own, of which the log is given back.
pub(super) fn own(inner: hanok_graph::Graph<S, Effects>) -> Subgraph<S, Effects> {
    let given = |state: &S| S::update().push_log(format!("from {}", state.log.len()));
    let said = |state: &S| S::update().log(state.log.iter().map(|line| format!("in {line}")));
    Subgraph::new(inner, given, said)
}

pub(super) fn two(graph: Builder) -> Builder {
    let graph = graph.node("x", steps).node("y", work).node("w", work).edge(START, "x");
    graph.edge("x", "y").edge("x", "w").edge("y", END).edge("w", END)
}

fn rounds_within(graph: Builder) -> Builder {
    let graph = graph.node("x", count).node("y", work).edge(START, "x");
    graph.edge("x", "y").branch(
        "y",
        |s: &S| if s.n.is_multiple_of(2) { END } else { "x" },
        ["x", END],
    )
}

fn asks(graph: Builder) -> Builder {
    let graph = chain(graph, ["x"]).node("q", ask).node("p", work);
    graph.edge("x", "q").edge("x", "p").edge("q", END).edge("p", END)
}

fn pays(graph: Builder) -> Builder {
    chain(graph, ["x"]).node("q", pay).edge("x", "q").edge("q", END)
}

fn hands_over(graph: Builder) -> Builder {
    async fn over(_: Snapshot<S>, cx: Cx) -> Result<Command<S>, hanok_graph::BoxError> {
        begin(&cx).await;
        let command: Command<S> = Command::new().update(says("to you")).goto("other");
        Ok(Command::new().update(says("over")).parent(command))
    }
    chain(graph, ["x"]).node("q", over).edge("x", "q").edge("q", END)
}
