//! What nodes say of where to go on: `SendTo`s with inputs, commands, and commands to a parent.

use futures::future::BoxFuture;
use hanok_graph::{
    BoxError, Command, Context, END, Graph, GraphBuilder, NodeError, NodeExt, NodeSettings,
    Persistence, RunError, START, SendTo, Sent, Snapshot, Subgraph, Target,
};
use hanok_state::{List, State};
use hanok_testkit::sampled;
use serde::{Deserialize, Serialize};

use crate::support::{
    Dying, Ledger, S, SUpdate, both, builder, chain, done, key, log, memory, nothing, says, thread,
    work,
};

async fn run(graph: GraphBuilder<S, Ledger>) -> String {
    log(&both(&graph.build().unwrap(), &Ledger::default()).await).join(" ")
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Page {
    number: u32,
    text: String,
}

async fn read(_: Snapshot<S>, page: Sent<Page>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    // Later ones are done sooner.
    for _ in page.number..40 {
        tokio::task::yield_now().await;
    }
    Ok(says(format!("{}:{}", page.number, page.0.text)))
}

fn pages(numbers: std::ops::Range<u32>) -> Vec<Target> {
    let page = |number| Page { number, text: format!("p{number}") };
    numbers.map(|number| SendTo::new("read", &page(number)).into()).collect()
}

/// B37: as many tasks as `SendTo`s, each with its own input and in the order in which they were sent: of a router, of START,
/// of a command, and of two senders by their names. What follows runs once.
#[tokio::test]
async fn every_send_is_a_task_with_its_own_input() {
    let graph =
        || builder().node("read", read).node("end", work).edge("read", "end").edge("end", END);
    let said = |numbers: &[u32]| {
        let said: Vec<_> = numbers.iter().map(|n| format!("{n}:p{n}")).collect();
        format!("{} end", said.join(" "))
    };
    let all: Vec<_> = (0..30).collect();
    let by_start = graph().branch(START, |_: &S| pages(0..30), ["read"]);
    assert_eq!(run(by_start).await, said(&all));
    let by_router = graph()
        .node("b", nothing)
        .node("a", nothing)
        .edge(START, "b")
        .edge(START, "a")
        .branch("b", |_: &S| pages(4..6), ["read"])
        .branch("a", |_: &S| pages(0..3), ["read"])
        .branch("a", |_: &S| pages(3..4), ["read"]);
    assert_eq!(run(by_router).await, said(&[0, 1, 2, 3, 4, 5]));
    let sends = |_: Snapshot<S>, _: Context<Ledger>| async {
        Ok::<_, BoxError>(pages(7..9).into_iter().fold(Command::<S>::new(), Command::goto))
    };
    let by_command = graph().node("a", sends.goto(["read"])).edge(START, "a");
    assert_eq!(run(by_command).await, said(&[7, 8]));
}

/// B37: an input of another type is the sender's failure, and one of no `SendTo` is too; both name the node.
#[tokio::test]
async fn a_send_of_another_type_fails_the_task_that_sends_it() {
    type To = fn() -> Target;
    let cases: [(To, &str); 3] = [
        (
            || SendTo::new("read", &7_u32).into(),
            "it sends a `u32` to `read`, which takes a `it::commands::Page`",
        ),
        (
            || SendTo::new("read", &"text".to_owned()).into(),
            "it sends a `alloc::string::String` to `read`, which takes a `it::commands::Page`",
        ),
        (|| "read".into(), "`read` takes an input of its own, so only a `SendTo` can lead there"),
    ];
    for (to, want) in cases {
        let commands = move |_: Snapshot<S>, _: Context<Ledger>| async move {
            Ok::<_, BoxError>(Command::<S>::new().update(says("lost")).goto(to()))
        };
        let graph = || builder().node("read", read).edge("read", END);
        let routed =
            graph().node("a", work).edge(START, "a").branch("a", move |_: &S| to(), ["read"]);
        let commanded = graph().node("a", commands.goto(["read"])).edge(START, "a");
        let began = graph().branch(START, move |_: &S| to(), ["read"]);
        let node = "node `a`";
        for (graph, node) in [(routed, node), (commanded, node), (began, "what leads from START")] {
            let (graph, ledger) = (graph.build().unwrap(), Ledger::default());
            let error = graph.invoke(S::update(), ledger.clone()).await.unwrap_err();
            let said = format!("{node} failed in super-step 0 / {want}");
            assert_eq!((chain(&error), ledger.of("read")), (said, 0));
        }
    }
}

/// B37: a node without a `Sent` asks for its input itself, and may be led to in both ways.
#[tokio::test]
async fn a_node_may_ask_for_its_input() {
    async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let page: Option<Page> = cx.input()?;
        Ok(says(page.map_or("none".to_owned(), |page| page.text)))
    }
    let page = |_: &S| SendTo::new("a", &Page { number: 1, text: "one".into() });
    let graph = || builder().node("a", asks).edge("a", END);
    assert_eq!(run(graph().edge(START, "a").branch(START, page, ["a"])).await, "none one");
    let wrong = graph().branch(START, |_: &S| SendTo::new("a", &7_u32), ["a"]).build().unwrap();
    let error = wrong.invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { source: NodeError::Failed(_), .. }));
}

type Ready<T> = BoxFuture<'static, Result<T, BoxError>>;

/// A node that returns what `make` says.
fn returns<T: 'static + std::marker::Send>(
    make: fn() -> T,
) -> impl Fn(Snapshot<S>, Context<Ledger>) -> Ready<T> {
    move |_, cx| {
        Box::pin(async move {
            cx.services().note(cx.node());
            Ok(make())
        })
    }
}

type Make = fn() -> Command<S>;

fn goes() -> Command<S> {
    Command::new().update(says("a")).goto("b")
}

async fn sees(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let seen = log(&state).join("+");
    Ok(says(format!("{}({seen})", cx.node())))
}

/// B38: the target sees the update in the next super-step; the node's edges, branches and joins fire as well, unless the
/// command says `only`; END among its targets ends nothing else.
#[tokio::test]
async fn a_command_goes_on_besides_the_nodes_own_ways_or_instead_of_them() {
    let cases: [(Make, &str); 6] = [
        (goes, "a b(a) edge(a) routed(a) joined(a+b(a)+edge(a)+routed(a))"),
        (|| goes().only(), "a b(a)"),
        (|| goes().goto(END), "a b(a) edge(a) routed(a) joined(a+b(a)+edge(a)+routed(a))"),
        (|| Command::new().only(), ""),
        (|| Command::new().goto(END), "edge() routed() joined(edge()+routed())"),
        (|| goes().only().goto(SendTo::new("edge", &1)), "a b(a) edge(a)"),
    ];
    for (make, want) in cases {
        let graph = builder()
            .node("a", returns(make).goto(["b", "edge", END]))
            .node("b", sees)
            .node("edge", sees)
            .node("routed", sees)
            .node("joined", sees)
            .edge(START, "a")
            .edge("a", "edge")
            .branch("a", |_: &S| "routed", ["routed"])
            .join(["a", "edge"], "joined")
            .edge("b", END)
            .edge("routed", END)
            .edge("joined", END);
        assert_eq!(run(graph).await, want);
    }
}

/// B40: all of a list count, one after the other, whether they are updates or commands; two values are one writer's, and
/// the last of them counts.
#[tokio::test]
async fn several_updates_or_commands_of_one_node_are_applied_in_order() {
    let to = || builder().node("b", work).node("c", work).edge("b", END).edge("c", END);
    let updates = to()
        .node("a", returns(|| vec![says("1").n(1), says("2").n(2), S::update().n(3)]))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c");
    let state = both(&updates.build().unwrap(), &Ledger::default()).await;
    assert_eq!((log(&state), state.n), (vec!["1", "2", "b", "c"], 3));

    let commands = to()
        .node(
            "a",
            returns(|| {
                let first: Command<S> = Command::new().update(says("1").n(1)).goto("c");
                vec![first, Command::new().update(says("2").n(2)).goto("b"), Command::new()]
            }),
        )
        .edge(START, "a")
        .configure("a", NodeSettings::new().goto(["b", "c"]));
    let state = both(&commands.build().unwrap(), &Ledger::default()).await;
    assert_eq!((log(&state), state.n), (vec!["1", "2", "b", "c"], 2));

    let empty = to().node("a", returns(Vec::<SUpdate>::new)).edge(START, "a").edge("a", "b");
    assert_eq!(run(empty.edge(START, "c")).await, "c b");
}

fn up(text: &str) -> Command<S> {
    Command::new().update(says(text))
}

/// A graph as the node `sub` of another, with `next` behind it and `other` for commands.
fn around(
    name: &str,
    inner: Graph<S, Ledger>,
    persistence: Persistence,
) -> GraphBuilder<S, Ledger> {
    let [next, other] = ["next", "other"].map(|node| format!("{name}.{node}"));
    builder()
        .subgraph(
            "sub",
            Subgraph::shared(inner).persistence(persistence).goto([other.clone(), END.to_owned()]),
        )
        .node(&next, work)
        .node(&other, work)
        .edge(START, "sub")
        .edge("sub", &next)
        .edge(&next, END)
        .edge(&other, END)
}

/// A graph whose node `a` returns what `make` says; `b` stands behind it.
fn inner(make: Make) -> Graph<S, Ledger> {
    builder()
        .node("a", returns(make))
        .node("b", work)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .build()
        .unwrap()
}

/// B39: the nearest parent applies update and goto, once, also if the process dies in between; further up nothing is told
/// unless the command says so; the rest of the subgraph does not run.
#[tokio::test]
async fn a_command_to_the_parent_is_the_nearest_parents() {
    let cases: [(Make, &str); 6] = [
        (|| up("own").parent(up("up")), "own up mid.next top.next"),
        (|| Command::new().parent(up("up").goto("mid.other")), "up mid.next mid.other top.next"),
        (|| Command::new().parent(up("up").goto("mid.other").only()), "up mid.other top.next"),
        (|| Command::new().parent(up("up").goto(END).only()), "up top.next"),
        // What the middle graph commands ends it in turn; what was written to the state that they share is not lost.
        (|| Command::new().parent(up("mid").parent(up("top"))), "mid top top.next"),
        (
            || Command::new().parent(up("mid").parent(up("top").goto("top.other").only())),
            "mid top top.other",
        ),
    ];
    for (make, want) in cases {
        for persistence in [Persistence::PerCall, Persistence::None] {
            let middle = around("mid", inner(make), persistence).build().unwrap();
            let top = around("top", middle, persistence);
            assert_eq!(run(top).await, want);
        }
        let middle = around("mid", inner(make), Persistence::PerCall).build().unwrap();
        let top = around("top", middle, Persistence::PerCall).build().unwrap();
        let quiet = Dying::at(memory(), usize::MAX, false);
        let run = top.checkpointer(quiet.shared()).thread(key("t"));
        assert_eq!(log(&done(run.invoke(S::update(), Ledger::default()).await)).join(" "), want);
        let appends = quiet.appends();
        assert!((4..20).contains(&appends), "{appends}");
        for (at, stored) in sampled((0..appends).flat_map(|at| [(at, false), (at, true)])) {
            let (dying, ledger) = (Dying::at(memory(), at, stored), Ledger::default());
            let run = top.checkpointer(dying.shared()).thread(key("t"));
            run.invoke(S::update(), ledger.clone()).await.unwrap_err();
            assert!(dying.is_dead(), "{at} of {appends}");
            let store = dying.after_death(&key("t")).await.unwrap();
            let thread = thread(&top, &store);
            let state = match thread.state(None).await.unwrap() {
                Some(_) => thread.resume(ledger.clone()).await,
                None => thread.invoke(S::update(), ledger.clone()).await,
            };
            assert_eq!(log(&done(state)).join(" "), want, "died at {at}, stored: {stored}");
            assert_eq!(ledger.of("b"), 0);
        }
    }
}

/// B39: of two siblings that command the parent both are heard, in task order.
#[tokio::test]
async fn two_commands_to_the_parent_are_both_applied() {
    let inner = builder()
        .node("a", returns(|| Command::<S>::new().parent(up("of a").goto("top.other"))))
        .node(
            "b",
            returns(|| {
                vec![Command::<S>::new().parent(up("of b")), Command::new().parent(up("of b too"))]
            }),
        )
        .node("c", work)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "c")
        .edge("b", END)
        .edge("c", END)
        .build()
        .unwrap();
    let graph = around("top", inner, Persistence::PerCall);
    assert_eq!(run(graph).await, "of a of b of b too top.next top.other");
}

/// B39: nobody called the thread's own graph; a field or a node that the parent has not is the parent's node's failure.
#[tokio::test]
async fn a_command_to_a_parent_that_cannot_take_it_fails_a_task() {
    let alone = inner(|| Command::new().parent(up("up")));
    let error = alone.invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `a` failed in super-step 0 / it commands a parent, and this graph is not a subgraph here"
    );
    let too_far = around(
        "top",
        inner(|| Command::new().parent(up("x").parent(up("y")))),
        Persistence::PerCall,
    );
    let error = too_far.build().unwrap().invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `sub` failed in super-step 0 / it commands a parent, and this graph is not a subgraph here"
    );
    let stray =
        around("top", inner(|| Command::new().parent(up("x").goto("b"))), Persistence::PerCall);
    let error = stray.build().unwrap().invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `sub` failed in super-step 0 / it goes on to `b`; declared are `top.other`, END; add it to the targets of the branch, or to the node's `.goto([…])`"
    );

    #[derive(State, Debug, Clone, Default)]
    struct Other {
        #[reduce(append)]
        found: List<String>,
    }
    let foreign = inner(|| {
        Command::new().parent(Command::<Other>::new().update(Other::update().push_found("x")))
    });
    let graph = around("top", foreign, Persistence::PerCall).build().unwrap();
    let error = graph.invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `sub` failed in super-step 0 / its subgraph's command writes `found`, which this graph's state has not"
    );
}
