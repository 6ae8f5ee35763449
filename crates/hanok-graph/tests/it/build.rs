//! Building: every fault of a graph at once, and its drawings.

use hanok_graph::{BoxError, Context, END, Fault, Graph, GraphBuilder, NodeExt, START, Snapshot};
use hanok_state::State;

#[derive(State, Clone, Default)]
struct S {
    n: u32,
}

async fn nothing(_: Snapshot<S>, _: Context) -> Result<(), BoxError> {
    Ok(())
}

fn builder() -> GraphBuilder<S> {
    Graph::builder("test")
}

fn faults(builder: GraphBuilder<S>) -> Vec<String> {
    builder.build().unwrap_err().faults.iter().map(ToString::to_string).collect()
}

/// B1
#[test]
fn a_graph_without_a_beginning_is_refused() {
    let error = builder().node("a", nothing).edge("a", END).build().unwrap_err();
    assert_eq!(error.faults, [Fault::NoStart]);
    assert_eq!(
        error.to_string(),
        "graph `test` cannot be built\n- nothing says where to begin: add `.edge(START, \"…\")`"
    );
    let error = builder().build().unwrap_err();
    assert_eq!(error.faults, [Fault::NoNode]);
}

#[test]
fn an_end_that_is_written_as_a_text_is_told_from_the_constant() {
    let graph = builder().node("a", nothing).node("ends", nothing).edge(START, "a");
    assert_eq!(
        faults(graph.edge("a", "END").edge("START", "ends").edge("ends", END)),
        [
            "edge `a` -> `END`: no node `END`; there are `a`, `ends`; write END, the constant, and not the text \"END\"",
            "edge `START` -> `ends`: no node `START`; there are `a`, `ends`; write START, the constant, and not the text \"START\"",
        ]
    );
}

/// B2, B5 in part
#[test]
fn every_end_that_is_no_node_is_named_with_the_nodes_there_are() {
    let graph = builder()
        .node("memory", nothing.goto([START]))
        .node("search", nothing)
        .edge(START, "memory")
        .edge("memory", "serch")
        .edge("router", "search")
        .branch("search", |_: &S| END, ["memory", "nowhere", END])
        .join(["search", "lost"], "memory");
    assert_eq!(
        faults(graph),
        [
            "edge `memory` -> `serch`: no node `serch`; there are `memory`, `search`; did you mean `search`?",
            "edge `router` -> `search`: no node `router`; there are `memory`, `search`",
            "branch `search` -> `nowhere`: no node `nowhere`; there are `memory`, `search`",
            "goto `memory` -> START: no node START; there are `memory`, `search`",
            "join `lost` -> `memory`: no node `lost`; there are `memory`, `search`",
        ]
    );
}

/// B3
#[test]
fn a_name_belongs_to_one_node_and_not_to_the_graph() {
    let graph = builder()
        .node("a", nothing)
        .node("a", nothing)
        .node(END, nothing)
        .node("", nothing)
        .node("a\nb", nothing)
        .edge(START, "a")
        .edge("a", END);
    let faults = faults(graph);
    assert_eq!(faults[0], "two nodes are named `a`: give one of them another name");
    assert_eq!(faults[1], "a node cannot be named \"__end__\": END is where a path ends");
    assert_eq!(faults[2], "a node cannot be named \"\"");
    assert_eq!(faults[3], "a node cannot be named \"a\\nb\"");
}

/// B4
#[test]
fn a_node_that_no_path_reaches_or_leaves_is_named() {
    let graph = builder()
        .node("a", nothing)
        .node("island", nothing)
        .node("stuck", nothing)
        .edge(START, "a")
        .edge("a", "stuck")
        .edge("island", END);
    assert_eq!(
        faults(graph),
        [
            "no path leads to `island`: add `.edge(\"…\", \"island\")`, or name it among the targets of a branch or of `.goto(…)`",
            "no way leads out of `stuck`: add `.edge(\"stuck\", END)`, a branch, or compose `.goto(…)` on it for its commands",
        ]
    );
}

#[test]
fn a_drawing_is_stable_and_shows_what_may_not_be_taken_dotted() {
    let graph = || {
        builder()
            .node("execute_tool", nothing)
            .node("call \"model\"", nothing)
            .edge(START, "call \"model\"")
            .branch("call \"model\"", |_: &S| END, ["execute_tool", END])
            .edge("execute_tool", "call \"model\"")
            .build()
            .unwrap()
    };
    assert_eq!(graph().mermaid(), graph().mermaid());
    insta::assert_snapshot!(graph().mermaid(), @r#"
    flowchart TD
        __start__([START])
        n0["call #quot;model#quot;"]
        n1["execute_tool"]
        __end__([END])
        __start__ --> n0
        n0 -.-> n1
        n0 -.-> __end__
        n1 --> n0
    "#);
    insta::assert_snapshot!(graph().dot(), @r#"
    digraph "test" {
        "__start__" -> "call \"model\"";
        "call \"model\"" -> "execute_tool" [style=dashed];
        "call \"model\"" -> "__end__" [style=dashed];
        "execute_tool" -> "call \"model\"";
    }
    "#);
}

proptest::proptest! {
    /// P26: whatever the name of a node, a drawing has the lines of one with a plain name, and nothing in it is markup.
    #[test]
    fn no_name_becomes_part_of_a_drawing(name in "[a-z]{1,3}(\\PC|[\"<>#\\[\\]\\\\;&-]|--> |<b>|click |\n){0,6}") {
        let drawn = |name: &str| {
            let graph = builder().node(name, nothing).edge(START, name).edge(name, END).build();
            graph.ok().map(|graph| graph.drawing().calls(name, graph.drawing()))
        };
        let (Some(plain), Some(other)) = (drawn("plain"), drawn(&name)) else { return Ok(()) };
        for (plain, other) in [(plain.mermaid(), other.mermaid()), (plain.dot(), other.dot())] {
            proptest::prop_assert_eq!(plain.lines().count(), other.lines().count(), "{}", other);
        }
        let labels: Vec<_> = other.mermaid().lines().filter_map(|line| Some(line.split_once("[\"")?.1.to_owned())).collect();
        proptest::prop_assert!(!labels.is_empty());
        for label in labels {
            let text = label.strip_suffix("\"]").unwrap();
            proptest::prop_assert!(!text.contains(['"', '<', '>']), "{}", text);
        }
    }
}

/// B8 in part
#[test]
fn a_drawing_shows_the_graphs_that_its_nodes_call() {
    let inner = builder().node("x", nothing).edge(START, "x").edge("x", END).build().unwrap();
    let outer = builder().node("a", nothing).edge(START, "a").edge("a", END).build().unwrap();
    insta::assert_snapshot!(outer.drawing().calls("a", inner.drawing()).mermaid(), @r#"
    flowchart TD
        __start__([START])
        n0["a"]
        __end__([END])
        __start__ --> n0
        n0 --> __end__
        subgraph g0["test"]
            g0___start__([START])
            g0_n0["x"]
            g0___end__([END])
            g0___start__ --> g0_n0
            g0_n0 --> g0___end__
        end
        n0 -.-> g0
    "#);
}
