//! A graph that cannot be built.

use hanok::{BoxError, Context, END, Graph, START, Snapshot, State, graph::GraphBuilder};

use crate::runtime_mistakes::Page;

#[derive(State, Clone, Default)]
struct Search {
    question: String,
}

async fn node(_: Snapshot<Search>, _: Context) -> Result<SearchUpdate, BoxError> {
    Ok(Search::update().question("again"))
}

fn graph() -> GraphBuilder<Search> {
    Graph::builder("search")
}

#[test]
fn a_graph_that_cannot_be_built() {
    let mut page = Page::default();
    let mut tell = |mistake: &str, graph: GraphBuilder<Search>| {
        page.tell(mistake, &graph.build().map(|_| ()).unwrap_err());
    };

    let one = || graph().node("search", node);
    tell("no node", graph());
    tell("START forgotten", one().edge("search", END));
    tell("END forgotten", one().edge(START, "search"));
    tell("a target misspelt", one().edge(START, "serach").edge("search", END));
    tell(
        "a target that is nothing like a node",
        one().edge(START, "search").edge("search", "print"),
    );
    tell("`END` as a text of one's own", one().edge(START, "search").edge("search", "END"));
    tell(
        "a branch to a node that is not there",
        one().edge(START, "search").branch("search", |_: &Search| END, ["answer", END]),
    );
    tell(
        "two nodes of one name",
        one().node("search", node).edge(START, "search").edge("search", END),
    );
    tell("a node named as END", one().node("END", node).edge(START, "search").edge("search", END));
    tell(
        "a node that nothing leads to",
        one().node("answer", node).edge(START, "search").edge("search", END).edge("answer", END),
    );
    tell(
        "settings of a node that is not there",
        one().interrupt_before(["serach"]).edge(START, "search").edge("search", END),
    );
    tell(
        "an input field misspelt",
        one().edge(START, "search").edge("search", END).input(["qestion"]),
    );
    tell("a circle of edges", one().edge(START, "search").edge("search", "search"));
    let parted = graph().node("a", node).node("b", node).node("c", node).node("last", node);
    let parted = parted.edge(START, "a").edge("a", "b").edge("b", "last").edge("a", "c");
    let parted = parted.node("d", node).edge("c", "d").edge("d", "last").edge("last", END);
    tell("branches of different length meet", parted);
    insta::assert_snapshot!(page.0, @r#"
    # no node
    graph `search` cannot be built
    - it has no node: add `.node("…", …)`, and edges from START to END by way of it
    # START forgotten
    graph `search` cannot be built
    - nothing says where to begin: add `.edge(START, "…")`
    # END forgotten
    graph `search` cannot be built
    - no way leads out of `search`: add `.edge("search", END)`, a branch, or compose `.goto(…)` on it for its commands
    # a target misspelt
    graph `search` cannot be built
    - edge START -> `serach`: no node `serach`; there are `search`; did you mean `search`?
    # a target that is nothing like a node
    graph `search` cannot be built
    - edge `search` -> `print`: no node `print`; there are `search`
    # `END` as a text of one's own
    graph `search` cannot be built
    - edge `search` -> `END`: no node `END`; there are `search`; write END, the constant, and not the text "END"
    # a branch to a node that is not there
    graph `search` cannot be built
    - branch `search` -> `answer`: no node `answer`; there are `search`
    # two nodes of one name
    graph `search` cannot be built
    - two nodes are named `search`: give one of them another name
    # a node named as END
    graph `search` cannot be built
    - a node cannot be named "END": END is where a path ends
    - no path leads to `END`: add `.edge("…", "END")`, or name it among the targets of a branch or of `.goto(…)`
    # a node that nothing leads to
    graph `search` cannot be built
    - no path leads to `answer`: add `.edge("…", "answer")`, or name it among the targets of a branch or of `.goto(…)`
    # settings of a node that is not there
    graph `search` cannot be built
    - breakpoint: no node `serach`; there are `search`; did you mean `search`?
    # an input field misspelt
    graph `search` cannot be built
    - input: the state has no field `qestion`; there are `question`; did you mean `question`?
    # a circle of edges
    graph `search` cannot be built
    - no way leads out of the circle of `search`: add an edge or a branch from one of them, or compose `.allow(Lint::DeadEnd)` on it
    # branches of different length meet
    graph `search` cannot be built
    - `last` would run once for each branch from `a`, which are of different length: `b` comes first, `d` later; join them with `.join(["b", "d"], "last")`, or compose `.defer()` or `.allow(Lint::UnequalFanIn)` on `last`
    "#);
}
