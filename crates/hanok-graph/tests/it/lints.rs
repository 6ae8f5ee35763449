//! What a builder refuses, and what it may be told to accept.

use hanok_graph::{
    BoxError, Command, Context, END, Failure, GraphBuilder, Lint, NodeExt, NodeSettings, Retry,
    START, SendTo, Sent, Snapshot, Subgraph,
};

use crate::support::{Ledger, S, SUpdate, both, builder, log, says, work};

fn faults(builder: GraphBuilder<S, Ledger>) -> Vec<String> {
    builder.build().unwrap_err().faults.iter().map(ToString::to_string).collect()
}

fn is_built(builder: GraphBuilder<S, Ledger>) -> bool {
    builder.build().is_ok()
}

/// `a`, and `b` behind it.
fn pair() -> GraphBuilder<S, Ledger> {
    builder().node("a", work).node("b", work).edge(START, "a").edge("a", "b").edge("b", END)
}

async fn mends(_: Snapshot<S>, _: Failure, _: Context<Ledger>) -> Result<(), BoxError> {
    Ok(())
}

/// B6, and every other declaration about a node: one that names no node is refused, and says which there are.
#[test]
fn what_is_said_of_a_node_that_is_not_there_is_a_fault() {
    for (what, graph) in [
        ("breakpoint", pair().interrupt_before(["a", "c"])),
        ("breakpoint", pair().interrupt_after(["c", "b"])),
        ("settings", pair().configure("c", NodeSettings::new().retry(Retry::attempts(2)))),
        ("settings", pair().configure("c", NodeSettings::new())),
    ] {
        assert_eq!(faults(graph), [format!("{what}: no node `c`; there are `a`, `b`")]);
    }
    assert_eq!(
        faults(pair().configure("c", NodeSettings::new().on_error(mends, ["d"]))),
        [
            "settings: no node `c`; there are `a`, `b`",
            "goto `c` -> `d`: no node `c`; there are `a`, `b`",
            "goto `c` -> `d`: no node `d`; there are `a`, `b`",
        ]
    );
    // The handler of all goes on from each node that has none of its own.
    assert_eq!(
        faults(
            pair()
                .configure("a", NodeSettings::new().on_error(mends, [END]))
                .on_any_error(mends, ["d"])
        ),
        ["goto `b` -> `d`: no node `d`; there are `a`, `b`"]
    );
    assert!(is_built(pair().on_any_error(mends, ["b", END])));
}

/// B2, B17: the input and the output of a graph are fields of its state.
#[test]
fn an_input_or_output_that_is_no_field_is_a_fault() {
    assert_eq!(
        faults(pair().input(["log", "question"]).output(["plans"])),
        [
            "input: the state has no field `question`; there are `log`, `n`, `plan`",
            "output: the state has no field `plans`; there are `log`, `n`, `plan`; did you mean `plan`?",
        ]
    );
    assert!(is_built(pair().input(["log"]).output(["plan", "n"])));
}

/// B4: an island and a dead end are faults unless they are allowed, each by its own name.
#[test]
fn an_unreachable_node_or_a_dead_end_may_be_allowed() {
    let graph =
        || pair().node("island", work).edge("island", END).node("stuck", work).edge("a", "stuck");
    let (island, stuck) = (
        "no path leads to `island`: add `.edge(\"…\", \"island\")`, or name it among the targets of a branch or of `.goto(…)`",
        "no way leads out of `stuck`: add `.edge(\"stuck\", END)`, a branch, or compose `.goto(…)` on it for its commands",
    );
    assert_eq!(faults(graph()), [island, stuck]);
    assert_eq!(
        faults(graph().configure("island", NodeSettings::new().allow(Lint::Unreachable))),
        [stuck]
    );
    assert_eq!(
        faults(graph().configure("stuck", NodeSettings::new().allow(Lint::DeadEnd))),
        [island]
    );
    // One lint does not stand for the other.
    assert_eq!(
        faults(
            graph()
                .configure("island", NodeSettings::new().allow(Lint::DeadEnd))
                .configure("stuck", NodeSettings::new().allow(Lint::Unreachable))
        ),
        [island, stuck]
    );
    let allowed = graph()
        .configure("island", NodeSettings::new().allow(Lint::Unreachable))
        .configure("stuck", NodeSettings::new().allow(Lint::DeadEnd));
    assert!(is_built(allowed));
}

/// B4: a circle of edges has to be left somehow. A branch or a command may choose nothing, and so leaves it.
#[test]
fn a_circle_that_nothing_leads_out_of_may_be_allowed() {
    let graph = || builder().node("a", work).node("b", work).edge(START, "a").edge("a", "b");
    let circle = |nodes: &str| {
        format!(
            "no way leads out of the circle of {nodes}: add an edge or a branch from one of them, or compose `.allow(Lint::DeadEnd)` on it"
        )
    };
    assert_eq!(faults(graph().edge("b", "a")), [circle("`a`, `b`")]);
    assert_eq!(faults(graph().edge("b", "b")), [circle("`b`")]);
    assert_eq!(faults(graph().join(["a", "b"], "a")), [circle("`a`, `b`")]);
    for left in [
        graph().edge("b", "a").edge("a", END),
        graph().edge("b", "a").branch("b", |_: &S| Vec::<&str>::new(), ["a"]),
        graph().edge("b", "a").configure("a", NodeSettings::new().goto(["b"])),
        graph().edge("b", "a").configure("b", NodeSettings::new().allow(Lint::DeadEnd)),
    ] {
        assert!(is_built(left));
    }
}

/// B4: each kind of way leads to a node, and out of one.
#[test]
fn branches_commands_joins_and_handlers_are_ways() {
    let c = || pair().node("c", work);
    for (way, graph) in [
        ("branch", c().branch("a", |_: &S| "c", ["c"]).edge("c", END)),
        ("goto", c().configure("a", NodeSettings::new().goto(["c"])).edge("c", END)),
        ("join", c().join(["a", "b"], "c").edge("c", END)),
        ("handler", c().configure("a", NodeSettings::new().on_error(mends, ["c"])).edge("c", END)),
        ("out by a branch", c().edge("b", "c").branch("c", |_: &S| END, [END])),
        ("out by a command", c().edge("b", "c").configure("c", NodeSettings::new().goto([END]))),
        ("out by a join", c().edge("a", "c").node("d", work).join(["b", "c"], "d").edge("d", END)),
    ] {
        assert!(is_built(graph), "{way}");
    }
    // A join that waits for a node that nothing leads to would wait for ever.
    let waits = c().join(["b", "c"], "a");
    assert_eq!(
        faults(waits),
        [
            "no path leads to `c`: add `.edge(\"…\", \"c\")`, or name it among the targets of a branch or of `.goto(…)`"
        ]
    );
}

async fn takes(_: Snapshot<S>, sent: Sent<u64>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(says(sent.to_string()))
}

/// B2: only a `SendTo` leads to a node that takes an input of its own.
#[test]
fn an_edge_or_a_join_to_a_node_with_an_input_of_its_own_is_a_fault() {
    let graph = || pair().node("takes", takes).edge("takes", END);
    for (way, from, graph) in [
        ("edge", "START", graph().edge(START, "takes")),
        ("edge", "`a`", graph().edge("a", "takes")),
        ("join", "`b`", graph().join(["b"], "takes")),
    ] {
        let want = format!(
            "{way} {from} -> `takes`: `takes` takes an input of its own, so only a `SendTo` can lead there"
        );
        assert_eq!(faults(graph), [want]);
    }
    // What a branch or a command gives is seen when it is given.
    assert!(is_built(graph().branch("a", |_: &S| SendTo::new("takes", &1_u64), ["takes"])));
    assert!(is_built(graph().configure("a", NodeSettings::new().goto(["takes"]))));
}

/// From `src` to `end` by `short`, and by `long1` and `long2`.
fn uneven() -> GraphBuilder<S, Ledger> {
    builder()
        .node("src", work)
        .node("short", work)
        .node("long1", work)
        .node("long2", work)
        .node("end", work)
        .edge(START, "src")
        .edge("src", "short")
        .edge("src", "long1")
        .edge("long1", "long2")
        .edge("end", END)
}

/// B4, B32: branches of unequal length that meet by edges are named, with the three ways to mean it.
#[tokio::test]
async fn an_unequal_fan_in_is_refused_and_says_what_may_be_meant() {
    let edges = || uneven().edge("short", "end").edge("long2", "end");
    assert_eq!(
        faults(edges()),
        [
            "`end` would run once for each branch from `src`, which are of different length: `short` comes first, `long2` later; join them with `.join([\"short\", \"long2\"], \"end\")`, or compose `.defer()` or `.allow(Lint::UnequalFanIn)` on `end`"
        ]
    );
    // It also happens behind START.
    let start = builder()
        .node("a", work)
        .node("b", work)
        .node("end", work)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "end")
        .edge("b", "a")
        .edge("end", END);
    assert_eq!(faults(start).len(), 1);

    let joined = uneven().join(["short", "long2"], "end");
    let (allowed, deferred) = (
        edges().configure("end", NodeSettings::new().allow(Lint::UnequalFanIn)),
        edges().configure("end", NodeSettings::new().defer()),
    );
    for (graph, want) in [
        (joined, vec!["src", "long1", "short", "long2", "end"]),
        (deferred, vec!["src", "long1", "short", "long2", "end"]),
        (allowed, vec!["src", "long1", "short", "end", "long2", "end"]),
    ] {
        assert_eq!(log(&both(&graph.build().unwrap(), &Ledger::default()).await), want);
    }
}

/// B4: what only looks like an unequal fan-in is not refused.
#[test]
fn ways_that_meet_in_step_or_exclude_each_other_are_no_fault() {
    let even = || {
        builder()
            .node("src", work)
            .node("b", work)
            .node("c", work)
            .node("end", work)
            .edge(START, "src")
            .edge("end", END)
    };
    for (claim, graph) in [
        (
            "of equal length",
            even().edge("src", "b").edge("src", "c").edge("b", "end").edge("c", "end"),
        ),
        (
            "one or the other",
            even().branch("src", |_: &S| "b", ["b", "end"]).edge("b", "c").edge("c", "end"),
        ),
        (
            "a loop back to the fork",
            even().edge("src", "b").branch("b", |_: &S| "c", ["src", "c"]).edge("c", "end"),
        ),
        (
            "an agent and its tools",
            even().edge("src", "b").branch("b", |_: &S| "c", ["c", "end"]).edge("c", "b"),
        ),
        (
            "they met before",
            even()
                .node("d", work)
                .node("e", work)
                .edge("src", "b")
                .edge("src", "c")
                .edge("b", "d")
                .edge("c", "d")
                .branch("d", |_: &S| "e", ["e", "end"])
                .edge("e", "end"),
        ),
    ] {
        let built = graph.build();
        assert!(built.is_ok(), "{claim}: {}", built.unwrap_err());
    }
}

/// B3: a name has to be one that a log can hold.
#[test]
fn a_name_that_is_too_long_is_refused() {
    let name = |length: usize| "n".repeat(length);
    let graph = |name: &str| builder().node(name, work).edge(START, name).edge(name, END);
    assert!(is_built(graph(&name(256))));
    assert_eq!(faults(graph(&name(257))), [format!("a node cannot be named {:?}", name(257))]);
    assert_eq!(
        faults(graph(START))[0],
        "a node cannot be named \"__start__\": START is where a run begins"
    );
}

/// B8: so many levels, the same text each time.
#[test]
fn a_drawing_shows_as_many_levels_as_it_is_asked_for() {
    let graph = || {
        let inner = pair().build().unwrap();
        let middle = builder()
            .subgraph("middle", Subgraph::shared(inner))
            .edge(START, "middle")
            .edge("middle", END);
        let outer = Subgraph::shared(middle.build().unwrap());
        builder().subgraph("outer", outer).edge(START, "outer").edge("outer", END).build().unwrap()
    };
    let drawn = |levels| graph().drawing_to(levels).mermaid();
    for (levels, boxes) in [(1, 0), (2, 1), (3, 2), (9, 2)] {
        assert_eq!(drawn(levels).matches("subgraph ").count(), boxes, "{levels}");
        assert_eq!(drawn(levels), drawn(levels));
    }
    assert_eq!(graph().mermaid(), drawn(1));
    insta::assert_snapshot!(drawn(3), @r#"
    flowchart TD
        __start__([START])
        n0["outer"]
        __end__([END])
        __start__ --> n0
        n0 --> __end__
        subgraph g0["test"]
            g0___start__([START])
            g0_n0["middle"]
            g0___end__([END])
            g0___start__ --> g0_n0
            g0_n0 --> g0___end__
            subgraph g0_g0["test"]
                g0_g0___start__([START])
                g0_g0_n0["a"]
                g0_g0_n1["b"]
                g0_g0___end__([END])
                g0_g0___start__ --> g0_g0_n0
                g0_g0_n0 --> g0_g0_n1
                g0_g0_n1 --> g0_g0___end__
            end
            g0_n0 -.-> g0_g0
        end
        n0 -.-> g0
    "#);
}

/// B5: what a router or a command may choose is dotted, and each target shows once.
#[test]
fn what_may_be_taken_or_not_is_drawn_dotted() {
    async fn decides(_: Snapshot<S>, _: Context<Ledger>) -> Result<Command<S>, BoxError> {
        Ok(Command::new().goto(END))
    }
    let graph = builder()
        .node("a", decides.goto(["b", END]))
        .node("b", work)
        .edge(START, "a")
        .branch("b", |_: &S| "a", ["a", END])
        .build()
        .unwrap();
    insta::assert_snapshot!(graph.mermaid(), @r#"
    flowchart TD
        __start__([START])
        n0["a"]
        n1["b"]
        __end__([END])
        __start__ --> n0
        n0 -.-> n1
        n0 -.-> __end__
        n1 -.-> n0
        n1 -.-> __end__
    "#);
}
