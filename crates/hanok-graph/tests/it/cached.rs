//! Nodes whose results are kept for a while.

use std::time::Duration;

use futures::StreamExt;
use hanok_checkpoint::{InMemoryStore, Put, Search, SharedStore, Store};
use hanok_core::{Labels, Stored, Tenant, ThreadKey};
use hanok_graph::{
    BoxError, Cache, Command, Context, END, EventKind, Failure, Graph, GraphBuilder, Input,
    NodeExt, NodeSettings, Outcome, START, SendTo, Snapshot, Target,
};
use hanok_state::{State, StateUpdate};

use crate::support::{
    Ledger, S, SUpdate, builder, done, key, log, memory, says, slow, thread, work,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Results are good for a second, for tasks that read the same plan.
fn by_plan() -> Cache<S, Ledger> {
    Cache::new(ms(1_000), |state: &S, _: &Ledger| state.plan.clone())
}

async fn decides(state: Snapshot<S>, cx: Context<Ledger>) -> Result<Command<S>, BoxError> {
    let n = cx.services().note("a");
    Ok(Command::new().update(says(format!("{} {n}", state.plan))).goto("b"))
}

fn one() -> GraphBuilder<S, Ledger> {
    builder()
        .node("a", decides.goto(["b"]).cache(by_plan()))
        .node("b", work)
        .edge(START, "a")
        .edge("b", END)
}

fn plan(plan: &str) -> SUpdate {
    S::update().plan(plan.to_owned())
}

async fn run(graph: &Graph<S, Ledger>, input: &str, ledger: &Ledger) -> String {
    log(&done(graph.invoke(plan(input), ledger.clone()).await)).join(" ")
}

/// B54: equal input, the same writes and the same way on; other input or a time that is over, another run.
#[tokio::test(start_paused = true)]
async fn an_equal_task_is_not_run_again_until_its_time_is_over() {
    let (graph, ledger) = (one().build().unwrap(), Ledger::default());
    for (wait, input, want) in [
        (0, "x", "x 1 b"),
        (0, "x", "x 1 b"),
        (0, "y", "y 2 b"),
        (999, "x", "x 1 b"),
        (1, "x", "x 3 b"),
        (999, "x", "x 3 b"),
        (0, "y", "y 4 b"),
        (1, "x", "x 5 b"),
    ] {
        tokio::time::sleep(ms(wait)).await;
        assert_eq!(run(&graph, input, &ledger).await, want);
    }
    assert_eq!(ledger.all(), ["a 5", "b 8"]);
}

/// B54: it is marked in the stream, and stored as if the node had run.
#[tokio::test(start_paused = true)]
async fn a_kept_result_is_marked_in_the_stream() {
    let (graph, store, ledger) = (one().build().unwrap(), memory(), Ledger::default());
    for (turn, cached) in [(1, false), (2, true)] {
        let thread = thread(&graph, &store);
        let mut events = thread.stream(Input::New(plan("x")), ledger.clone());
        let mut told = Vec::new();
        while let Some(event) = events.next().await {
            let node = event.node.as_deref().unwrap_or_default().to_owned();
            match event.kind {
                EventKind::TaskStarted { .. } => told.push(format!("{node} starts")),
                EventKind::TaskFinished { cached } => told.push(format!("{node} {cached}")),
                EventKind::Updates(update) => {
                    let same = update.to_changes().unwrap() == says("x 1").to_changes().unwrap();
                    told.push(format!("{node} writes {}", if same { "x 1" } else { "more" }));
                }
                _ => {}
            }
        }
        let outcome = events.outcome().await;
        let want = [
            "a starts".to_owned(),
            format!("a {cached}"),
            "a writes x 1".to_owned(),
            "b starts".to_owned(),
            "b false".to_owned(),
            "b writes more".to_owned(),
        ];
        assert_eq!(told, want, "turn {turn}");
        assert_eq!(done(outcome).log.len(), 2 * turn);
    }
    // The graph is the one that keeps: another graph, or process, does not know of it.
    done(thread(&one().build().unwrap(), &store).invoke(plan("x"), ledger.clone()).await);
    assert_eq!(ledger.of("a"), 2);
}

fn many(inputs: impl IntoIterator<Item = u64>) -> GraphBuilder<S, Ledger> {
    let inputs: Vec<_> = inputs.into_iter().collect();
    let sends =
        move |_: &S| inputs.iter().map(|n| Target::from(SendTo::new("a", n))).collect::<Vec<_>>();
    builder().node("a", slow(10)).branch(START, sends, ["a"]).edge("a", END)
}

/// B54: of equal tasks at the same time one runs, and the others are given its result.
#[tokio::test(start_paused = true)]
async fn of_equal_tasks_at_once_one_runs() {
    let graph = many([7; 20]).configure("a", NodeSettings::new().cache(by_plan())).build().unwrap();
    let ledger = Ledger::default();
    assert_eq!(done(graph.invoke(plan("x"), ledger.clone()).await).log.len(), 20);
    assert_eq!(ledger.all(), ["a 1"]);

    // In twenty threads as well.
    let (graph, store, ledger) = (
        many([7]).configure("a", NodeSettings::new().cache(by_plan())).build().unwrap(),
        memory(),
        Ledger::default(),
    );
    let app = graph.checkpointer(store);
    let threads = (0..20).map(|n| {
        let (thread, ledger) = (app.thread(key(&n.to_string())), ledger.clone());
        async move { done(thread.invoke(plan("x"), ledger).await).log.len() }
    });
    assert_eq!(futures::future::join_all(threads).await, [1; 20]);
    assert_eq!(ledger.all(), ["a 1"]);
}

/// B54: what is not equal does not share.
#[tokio::test(start_paused = true)]
async fn other_inputs_nodes_tenants_and_keys_share_nothing() {
    // `SendTo`s with other inputs.
    let graph =
        many([1, 2, 1, 3]).configure("a", NodeSettings::new().cache(by_plan())).build().unwrap();
    let ledger = Ledger::default();
    done(graph.invoke(plan("x"), ledger.clone()).await);
    assert_eq!(ledger.all(), ["a 3"]);

    // Two nodes that are the same function, with the same key.
    let graph = builder()
        .node("a", work.cache(by_plan()))
        .node("b", work.cache(by_plan()))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    assert_eq!(run(&graph, "x", &ledger).await, "a b");
    assert_eq!(run(&graph, "x", &ledger).await, "a b");
    assert_eq!(ledger.all(), ["a 1", "b 1"]);

    // Two tenants with threads of the same name.
    let (app, ledger) = (one().build().unwrap().checkpointer(memory()), Ledger::default());
    for (tenant, want) in [("one", "x 1"), ("two", "x 2"), ("one", "x 1"), ("two", "x 2")] {
        let key = ThreadKey::new(Tenant::new(tenant).unwrap(), "t").unwrap();
        let state = done(app.thread(key).invoke(plan("x"), ledger.clone()).await);
        assert_eq!(log(&state).iter().rev().nth(1), Some(&want), "{tenant}");
    }

    // What the services say may be part of the key.
    let by_services = |_: &S, ledger: &Ledger| ledger.of("user");
    let graph = one()
        .configure("a", NodeSettings::new().cache(Cache::new(ms(1_000), by_services)))
        .build()
        .unwrap();
    let (one, two) = (Ledger::default(), Ledger::default());
    two.note("user");
    for ledger in [&one, &two, &one, &two] {
        run(&graph, "x", ledger).await;
    }
    assert_eq!((one.of("a"), two.of("a")), (1, 1));
}

/// B54: what failed is not kept, also if a handler mended it; a task that waited takes over.
#[tokio::test(start_paused = true)]
async fn a_failure_is_not_kept() {
    async fn mends(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("handler");
        Ok(says("mended"))
    }
    let graph = |handled: bool| {
        let graph = builder().node("a", work.cache(by_plan())).edge(START, "a").edge("a", END);
        let graph = if handled {
            graph.configure("a", NodeSettings::new().on_error(mends, [END]))
        } else {
            graph
        };
        graph.build().unwrap()
    };
    let (plain, ledger) = (graph(false), Ledger::default());
    ledger.fail("a", 1);
    plain.invoke(plan("x"), ledger.clone()).await.unwrap_err();
    assert_eq!((run(&plain, "x", &ledger).await, ledger.of("a")), ("a".to_owned(), 2));
    assert_eq!((run(&plain, "x", &ledger).await, ledger.of("a")), ("a".to_owned(), 2));

    let (mended, ledger) = (graph(true), Ledger::default());
    ledger.fail("a", 1);
    for want in ["mended", "a", "a"] {
        assert_eq!(run(&mended, "x", &ledger).await, want);
    }
    assert_eq!(ledger.all(), ["a 2", "handler 1"]);

    // Three wait for one that fails: the next of them runs the node, and the others are given what it made.
    let graph = many([7; 4]).configure("a", NodeSettings::new().cache(by_plan())).build().unwrap();
    let ledger = Ledger::default();
    ledger.fail("a", 1);
    graph.invoke(plan("x"), ledger.clone()).await.unwrap_err();
    assert_eq!(ledger.all(), ["a 2"]);
}

/// B54: a node whose router failed has failed: what it returned is not kept, whatever its handler made of it.
#[tokio::test(start_paused = true)]
async fn what_a_failed_router_did_not_take_is_not_kept() {
    async fn mends(_: Snapshot<S>, _: Failure, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says("mended"))
    }
    let ledger = Ledger::default();
    let broken = ledger.clone();
    let graph = builder()
        .node("a", work.on_error(mends, [END]).cache(by_plan()))
        .edge(START, "a")
        .branch("a", move |_: &S| broken.ran("router").map(|()| END), [END])
        .build()
        .unwrap();
    // The handler's own way is asked of the router as well.
    for (failures, want, runs) in [(1, "mended", 1), (0, "a", 2), (0, "a", 2)] {
        ledger.fail("router", failures);
        assert_eq!((run(&graph, "x", &ledger).await.as_str(), ledger.of("a")), (want, runs));
    }
}

/// B54: a task that asks a person is not kept; what it made of the answer is.
#[tokio::test(start_paused = true)]
async fn a_question_is_not_kept() {
    async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("a");
        let answer: String = cx.interrupt("ok?").await?;
        Ok(says(answer))
    }
    let graph =
        builder().node("a", asks.cache(by_plan())).edge(START, "a").edge("a", END).build().unwrap();
    let (app, ledger) = (graph.checkpointer(memory()), Ledger::default());
    for name in ["t", "u"] {
        let outcome = app.thread(key(name)).invoke(plan("x"), ledger.clone()).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
    }
    assert_eq!(ledger.of("a"), 2);
    let state = done(app.thread(key("t")).reply("yes", ledger.clone()).await);
    assert_eq!((log(&state), ledger.of("a")), (vec!["yes"], 3));
    // Equal is equal: who wants the person in the result's key says so.
    let state = done(app.thread(key("u")).reply("no", ledger.clone()).await);
    assert_eq!((log(&state), ledger.of("a")), (vec!["yes"], 3));
}

/// B54: a task that made a result and was stopped leaves it to the next that waits.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_result_that_is_given_up_makes_it() {
    let (graph, ledger) = (
        many([7]).configure("a", NodeSettings::new().cache(by_plan())).build().unwrap(),
        Ledger::default(),
    );
    let given_up = tokio::time::timeout(ms(5), graph.invoke(plan("x"), ledger.clone()));
    let waits = graph.invoke(plan("x"), ledger.clone());
    let (given_up, waited) = tokio::join!(given_up, waits);
    given_up.unwrap_err();
    assert_eq!((done(waited).log.len(), ledger.of("a")), (1, 1));
}

/// B54: results in a store are shared by processes, by their tenant and node, until their time is over; what cannot be read
/// there, and a store that fails, make the node run.
#[tokio::test(start_paused = true)]
async fn processes_share_the_results_in_a_store() {
    let (store, runtime) = (SharedStore::new(InMemoryStore::new()), crate::support::runtime());
    let shared = |by: SharedStore| {
        let cache = by_plan().stored_in(by);
        let node = decides.goto(["b"]).cache(cache);
        let graph = builder().node("a", node).node("b", work).edge(START, "a").edge("b", END);
        graph.runtime(runtime.clone()).build().unwrap()
    };
    let ledger = Ledger::default();
    assert_eq!(run(&shared(store.clone()), "x", &ledger).await, "x 1 b");
    // Another process: its graph has made nothing yet.
    let second = shared(store.clone());
    assert_eq!(run(&second, "x", &ledger).await, "x 1 b");
    assert_eq!(run(&second, "y", &ledger).await, "y 2 b");
    assert_eq!(run(&shared(store.clone()), "y", &ledger).await, "y 2 b");
    let other = ThreadKey::new(Tenant::new("other").unwrap(), "t").unwrap();
    let of_other = shared(store.clone()).checkpointer(memory()).thread(other);
    let state = done(of_other.invoke(plan("x"), ledger.clone()).await);
    assert_eq!(log(&state), ["x 3", "b"]);
    tokio::time::sleep(ms(1_000)).await;
    assert_eq!(run(&shared(store.clone()), "x", &ledger).await, "x 4 b");
    // Something else stands there.
    let labels = Labels::new(["cache", shared(store.clone()).name(), "a"]).unwrap();
    let now = || runtime.clock.now();
    let search = Search::within(Tenant::default(), labels).limit(10);
    let items = store.search(&search, now()).await.unwrap().hits;
    assert!(!items.is_empty());
    for hit in items {
        let put = Put::new(Stored::encode("nonsense").unwrap());
        store.put(&hit.item.key, put, now()).await.unwrap();
    }
    assert_eq!(run(&shared(store), "x", &ledger).await, "x 5 b");
    // A store that fails.
    let folder = tempfile::tempdir().unwrap();
    let sqlite = hanok_sqlite::Sqlite::open(folder.path().join("cache.db")).await.unwrap();
    sqlite.clone().close().await.unwrap();
    let failing = SharedStore::new(sqlite);
    failing.search(&search, now()).await.unwrap_err();
    assert_eq!(run(&shared(failing), "x", &ledger).await, "x 6 b");
}

/// A build whose page stores its text in `$text`, with the function that upgrades an earlier one, if there is one.
macro_rules! build {
    ($build:ident, $text:ident: $kind:ty = $value:expr, #[$($of:tt)*] #[$($field:tt)*]) => {
        mod $build {
            use super::*;

            #[derive(State, Clone, Default, Debug)]
            #[$($of)*]
            pub(super) struct Page {
                pub(super) url: String,
                #[$($field)*]
                pub(super) $text: $kind,
            }

            async fn load(_: Snapshot<Page>, cx: Context<Ledger>) -> Result<PageUpdate, BoxError> {
                cx.services().note(stringify!($build));
                Ok(Page::update().$text(<$kind>::from($value)))
            }

            pub(super) async fn run(store: &SharedStore, ledger: &Ledger) -> $kind {
                let key = |page: &Page, _: &Ledger| page.url.clone();
                let cache = Cache::new(ms(1_000), key).stored_in(store.clone());
                let graph = Graph::<Page, Ledger>::builder("page").node("load", load.cache(cache));
                let graph = graph.sequence([START, "load", END]).build().unwrap();
                let page = graph.invoke(Page::update().url("u"), ledger.clone()).await;
                page.unwrap().done().unwrap().$text
            }
        }
    };
}

fn in_capitals(_: u32, _: &mut hanok_core::Fields) -> Result<(), BoxError> {
    Ok(())
}

build!(first, text: String = "text", #[state(version = 1)] #[state(alias = "none")]);
build!(added, text: String = "text", #[state(version = 1)] #[state(alias = "nothing")]);
build!(renamed, body: String = "text", #[state(version = 1)] #[state(alias = "text")]);
build!(retyped, text: Vec<u8> = b"text", #[state(version = 1)] #[state(alias = "none")]);
build!(upgraded, text: String = "TEXT", #[state(version = 2, upgrade = in_capitals)] #[state(alias = "none")]);

/// B54: a result of a build whose state has another schema is none of this build's: the node runs.
#[tokio::test(start_paused = true)]
async fn a_stored_result_in_another_schema_is_made_anew() {
    let (store, ledger) = (SharedStore::new(InMemoryStore::new()), Ledger::default());
    assert_eq!(first::run(&store, &ledger).await, "text");
    assert_eq!(added::run(&store, &ledger).await, "text");
    assert_eq!(ledger.all(), ["first 1"], "one schema");
    assert_eq!(renamed::run(&store, &ledger).await, "text");
    assert_eq!(ledger.of("renamed"), 1);
    assert_eq!(first::run(&store, &ledger).await, "text");
    assert_eq!(retyped::run(&store, &ledger).await, b"text");
    assert_eq!(ledger.of("retyped"), 1);
    assert_eq!(upgraded::run(&store, &ledger).await, "TEXT");
    assert_eq!(ledger.of("upgraded"), 1);
}
