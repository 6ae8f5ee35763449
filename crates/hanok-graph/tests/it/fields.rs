//! What becomes of the fields of a state in a run: by rule, by who may see them, and by how long they last.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_graph::{
    BoxError, Context, END, EventKind, Graph, GraphBuilder, Input, Mode, Outcome, RunError, START,
    SendTo, Sent, Snapshot, Thread,
};
use hanok_state::{List, Map, Message, Messages, State, View};
use hanok_testkit::Layered;
use serde::{Deserialize, Serialize};

use crate::support::{Dying, key, runtime};

/// Keeps both, so that the order in which writes are merged shows.
fn both_of(value: &String, write: String) -> String {
    format!("{value}{write}")
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    plan: String,
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    by_node: Map<String, u64>,
    #[reduce(with = both_of)]
    order: String,
    messages: Messages,
}

type Node<T> = BoxFuture<'static, Result<T, BoxError>>;

/// A node that returns what `make` says of its own name, after a while.
fn writes<T: State>(
    make: impl Fn(&str) -> T::Update + std::marker::Send + Sync + 'static,
) -> impl Fn(Snapshot<T>, Context) -> Node<T::Update> {
    let make = Arc::new(make);
    move |_, cx| {
        let make = make.clone();
        Box::pin(async move {
            let delay = cx.runtime().rng.bits() % 20;
            cx.runtime().clock.sleep(Duration::from_millis(delay)).await;
            Ok(make(cx.node()))
        })
    }
}

fn builder<T: State>() -> GraphBuilder<T> {
    Graph::builder("test").runtime(runtime())
}

fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

fn thread<T: State>(graph: &Graph<T>, store: &SharedCheckpointer) -> Thread<T> {
    graph.checkpointer(store.clone()).thread(key("t"))
}

/// `names` side by side, each writing what `make` says; then the end.
fn side_by_side<T: State>(names: &[&str], make: fn(&str) -> T::Update) -> Graph<T> {
    names
        .iter()
        .fold(builder(), |graph, name| {
            graph.node(name, writes::<T>(make)).edge(START, name).edge(name, END)
        })
        .build()
        .unwrap()
}

/// B9: what one node writes later ones read; what none writes stays, from turn to turn and in another process.
#[tokio::test]
async fn a_last_value_stays_until_it_is_written() {
    let reads = |state: Snapshot<S>, _: Context| async move {
        Ok::<_, BoxError>(S::update().push_log(state.plan.clone()))
    };
    let graph = builder::<S>()
        .node("a", reads)
        .node("b", writes::<S>(|_| S::update().plan("b's")))
        .node("c", reads)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("c", END)
        .build()
        .unwrap();
    let store = memory();
    for (input, want) in [
        (S::update().plan("given"), vec!["given", "b's"]),
        (S::update(), vec!["given", "b's", "b's", "b's"]),
    ] {
        let state = thread(&graph, &store).invoke(input, ()).await.unwrap().done().unwrap();
        assert_eq!(state.log.iter().collect::<Vec<_>>(), want);
    }
}

/// B10, B15: two values, two overwrites: the field and its writers are named, nothing of the step is applied, and a resume
/// runs both again.
#[tokio::test(start_paused = true)]
async fn writes_that_exclude_each_other_fail_the_step_whole() {
    type Make = fn(&str) -> SUpdate;
    let cases: [(&str, Make); 4] = [
        ("plan", |node| S::update().plan(node).push_log("lost")),
        ("log", |node| S::update().overwrite_log([node.to_owned()].into_iter().collect())),
        ("order", |node| S::update().overwrite_order(node.to_owned()).push_log("lost")),
        ("messages", |_| S::update().remove_message("nobody").push_log("lost")),
    ];
    for (field, make) in cases {
        let (store, graph) = (memory(), side_by_side::<S>(&["b", "a"], make));
        for attempt in 0..2 {
            let thread = thread(&graph, &store);
            let failed = if attempt == 0 {
                thread.invoke(S::update().plan("before"), ()).await
            } else {
                thread.resume(()).await
            };
            let Err(RunError::Reduce { source, step: 0, .. }) = failed else {
                panic!("{failed:?}")
            };
            assert_eq!(source.field, field);
            assert!(source.nodes.contains(&Arc::from("a")), "{:?}", source.nodes);
            let state = thread.state(None).await.unwrap().unwrap();
            assert_eq!(state, S { plan: "before".into(), ..S::default() });
        }
        // Mended, the step's tasks run anew and nothing of before is left.
        let mended = side_by_side::<S>(&["a", "b"], |node| S::update().push_log(node.to_owned()));
        let state = thread(&mended, &store).resume(()).await.unwrap().done().unwrap();
        assert_eq!(state.log.iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}

/// B11: by node, then by the index of `SendTo`s, in each of a hundred runs whose tasks end in any order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_are_merged_in_task_order_whoever_is_done_first() {
    async fn letter(_: Snapshot<S>, n: Sent<u32>, cx: Context) -> Result<SUpdate, BoxError> {
        for _ in 0..cx.runtime().rng.bits() % 8 {
            tokio::task::yield_now().await;
        }
        let said = format!("s{}", n.0);
        Ok(S::update()
            .order(said.clone())
            .push_log(said.clone())
            .insert_by_node("last", u64::from(n.0)))
    }
    let sends = |_: &S| (0..6_u32).map(|n| SendTo::new("send", &n)).collect::<Vec<_>>();
    let graph = ["z", "m", "a"]
        .iter()
        .fold(builder(), |graph, name| {
            let said = |node: &str| S::update().order(node.to_owned()).push_log(node.to_owned());
            graph.node(name, writes::<S>(said)).edge(START, name).edge(name, END)
        })
        .runtime(hanok_graph::Runtime::default())
        .node("send", letter)
        .branch(START, sends, ["send"])
        .edge("send", END)
        .build()
        .unwrap();
    for _ in 0..100 {
        let state =
            thread(&graph, &memory()).invoke(S::update(), ()).await.unwrap().done().unwrap();
        assert_eq!(state.order, "amzs0s1s2s3s4s5");
        assert_eq!(state.log.iter().cloned().collect::<String>(), state.order);
        assert_eq!(state.by_node.get("last"), Some(&5));
    }
}

/// B15, B16: an overwrite alone remains of its super-step, and may be the first write of all.
#[tokio::test(start_paused = true)]
async fn an_overwrite_wins_over_the_writes_beside_it() {
    let graph = side_by_side::<S>(&["a", "b", "c"], |node| match node {
        "b" => S::update()
            .overwrite_log(["whole".to_owned()].into_iter().collect())
            .overwrite_order("whole".into())
            .overwrite_messages([Message::user("whole").with_id("w")].into_iter().collect()),
        _ => S::update().push_log(node).order(node.to_owned()).message(Message::user(node)),
    });
    for input in [S::update(), S::update().push_log("before").order("before".into())] {
        let store = memory();
        let state = thread(&graph, &store).invoke(input, ()).await.unwrap().done().unwrap();
        assert_eq!(state.log.iter().collect::<Vec<_>>(), ["whole"]);
        assert_eq!((state.order.as_str(), state.messages.len()), ("whole", 1));
        assert_eq!(thread(&graph, &store).state(None).await.unwrap(), Some(state));
    }
}

/// B23: a message without an id gets one, the same in every process and in no other message.
#[tokio::test(start_paused = true)]
async fn messages_get_ids_that_stay() {
    let graph = side_by_side::<S>(&["a", "b"], |node| S::update().message(node).message(node));
    let (store, mut seen) = (memory(), Vec::new());
    for turn in 1..=3 {
        let input = S::update().message("in");
        let state = thread(&graph, &store).invoke(input, ()).await.unwrap().done().unwrap();
        let ids: Vec<_> = state.messages.iter().map(|m| m.id().unwrap().to_owned()).collect();
        let loaded = thread(&graph, &store).state(None).await.unwrap().unwrap();
        assert_eq!(loaded, state);
        assert!(ids.starts_with(&seen), "{ids:?}");
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 5 * turn);
        seen = ids;
    }
}

/// B17: what is no input is refused before anything is stored; what is no output is not shown, by the outcome, by a
/// stream or by a resume of what is done, and is there all the same.
#[tokio::test(start_paused = true)]
async fn a_graph_may_say_what_goes_in_and_what_comes_out() {
    let graph = builder::<S>()
        .node("a", writes::<S>(|_| S::update().plan("secret").order("x".into())))
        .edge(START, "a")
        .edge("a", END)
        .input(["log", "messages"])
        .output(["order"])
        .build()
        .unwrap();
    let store = memory();
    let refused = thread(&graph, &store).invoke(S::update().plan("mine"), ()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the input writes `plan`; the graph's input is `log`, `messages`"
    );
    assert_eq!(thread(&graph, &store).state(None).await.unwrap(), None);
    graph.invoke(S::update().order("mine".into()), ()).await.unwrap_err();

    let shown = S { order: "x".into(), ..S::default() };
    let input = || S::update().push_log("in");
    assert_eq!(graph.invoke(input(), ()).await.unwrap().done().unwrap(), shown);
    let thread = thread(&graph, &store).modes([Mode::Values]);
    let mut events = thread.stream(Input::New(input()), ());
    let mut values = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Values(state) = event.kind {
            values.push(state.get::<S>().unwrap());
        }
    }
    assert_eq!(values, [S::default(), shown.clone()]);
    assert_eq!(events.outcome().await.unwrap().done().unwrap(), shown);
    assert_eq!(thread.resume(()).await.unwrap().done().unwrap(), shown);
    let mut whole = shown.clone();
    (whole.plan, whole.log) = ("secret".into(), ["in".to_owned()].into_iter().collect());
    assert_eq!(thread.state(None).await.unwrap(), Some(whole));
    let replayed = thread.events(None).await.unwrap();
    let replayed: Vec<S> = replayed
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Values(state) => Some(state.get().unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(replayed, [S::default(), shown]);
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Secrets {
    #[reduce(append)]
    log: List<String>,
    #[state(private)]
    draft: String,
    #[state(ephemeral)]
    signal: String,
    #[state(ephemeral)]
    #[reduce(append)]
    items: List<u64>,
}

#[derive(View)]
#[view(of = Secrets)]
struct Draft {
    draft: String,
}

/// B18: who declares the field sees it, in another process as well; who does not, and the caller, do not.
#[tokio::test(start_paused = true)]
async fn a_private_field_is_between_the_nodes_that_name_it() {
    let looks = |state: Snapshot<Secrets>, _: Context| async move {
        Ok::<_, BoxError>(Secrets::update().push_log(format!("whole {:?}", state.draft)))
    };
    let reads = |view: Snapshot<Draft>, cx: Context| async move {
        let goes_on: bool = cx.interrupt("go on?").await?;
        Ok::<_, BoxError>(Secrets::update().push_log(format!("view {:?} {goes_on}", view.draft)))
    };
    let graph = builder::<Secrets>()
        .node("a", writes::<Secrets>(|_| Secrets::update().draft("two lines")))
        .node("b", reads)
        .node("c", looks)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("c", END)
        .build()
        .unwrap();
    let store = memory();
    let outcome = thread(&graph, &store).invoke(Secrets::update(), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    let mut events = thread(&graph, &store).stream(Input::reply(&true).unwrap(), ());
    let mut values = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Values(state) = event.kind {
            values.push(state.get::<Secrets>().unwrap().draft);
        }
    }
    let state = events.outcome().await.unwrap().done().unwrap();
    let said: Vec<_> = state.log.iter().map(String::as_str).collect();
    assert_eq!(said, [r#"view "two lines" true"#, r#"whole """#]);
    assert_eq!((state.draft.as_str(), values), ("", vec![String::new(); 2]));
    assert_eq!(thread(&graph, &store).state(None).await.unwrap().unwrap().draft, "two lines");
}

/// A chain that writes what is ephemeral in the nodes that `writers` names and tells in each node what it saw.
fn telling(writers: &'static str) -> Graph<Secrets> {
    let tells = move |state: Snapshot<Secrets>, cx: Context| async move {
        let items: Vec<_> = state.items.iter().map(u64::to_string).collect();
        let update = Secrets::update().push_log(format!("{}:{}", state.signal, items.join("+")));
        Ok::<_, BoxError>(match writers.contains(cx.node()) {
            true => {
                let n = cx.node().bytes().next().map_or(0, |byte| u64::from(byte - b'a'));
                update.signal(cx.node().to_owned()).push_items(n)
            }
            false => update,
        })
    };
    ["a", "b", "c", "d"]
        .windows(2)
        .fold(builder(), |graph, pair| graph.edge(pair[0], pair[1]))
        .node("a", tells)
        .node("b", tells)
        .node("c", tells)
        .node("d", tells)
        .edge(START, "a")
        .edge("d", END)
        .build()
        .unwrap()
}

/// B20: what a super-step writes is there in the next one alone: through a crash at any write, and in the next turn.
#[tokio::test(start_paused = true)]
async fn an_ephemeral_field_lasts_for_one_super_step() {
    let input = || Secrets::update().signal("in").push_items(9);
    for (writers, want) in [
        ("", ["in:9", ":", ":", ":"]),
        ("a", ["in:9", "a:0", ":", ":"]),
        ("ab", ["in:9", "a:0", "b:1", ":"]),
        ("abcd", ["in:9", "a:0", "b:1", "c:2"]),
        ("bd", ["in:9", ":", "b:1", ":"]),
    ] {
        let graph = telling(writers);
        let said = |state: &Secrets| state.log.iter().cloned().collect::<Vec<_>>();
        let state = graph.invoke(input(), ()).await.unwrap().done().unwrap();
        assert_eq!(said(&state), want, "{writers}");
        for (at, stored) in (0..6).flat_map(|at| [(at, false), (at, true)]) {
            let dying = Dying::at(memory(), at, stored);
            let run = graph.checkpointer(Layered(dying.clone())).thread(key("t"));
            assert_eq!(run.invoke(input(), ()).await.is_err(), dying.is_dead());
            let store = dying.after_death(&key("t")).await.unwrap();
            let run = thread(&graph, &store);
            let state = match run.state(None).await.unwrap() {
                Some(_) => run.resume(()).await.unwrap().done().unwrap(),
                None => run.invoke(input(), ()).await.unwrap().done().unwrap(),
            };
            assert_eq!(said(&state), want, "{writers}, died at {at}, stored: {stored}");
            assert_eq!(thread(&graph, &store).state(None).await.unwrap(), Some(state));
            // What the last super-step wrote is over when the next turn begins.
            let again = run.invoke(Secrets::update(), ()).await.unwrap().done().unwrap();
            assert_eq!(
                said(&again)[4..],
                [":"].iter().chain(&want[1..]).map(|s| (*s).to_owned()).collect::<Vec<_>>()
            );
            assert_eq!(thread(&graph, &store).state(None).await.unwrap(), Some(again));
        }
    }
}

/// What copying and storing a value has cost.
#[derive(Debug, Clone, Default)]
struct Cost(Arc<std::sync::Mutex<(usize, usize)>>);

impl Cost {
    fn copied(&self, bytes: usize) {
        self.0.lock().unwrap().0 += bytes;
    }

    fn stored(&self, bytes: usize) {
        self.0.lock().unwrap().1 += bytes;
    }

    fn of(&self) -> (usize, usize) {
        *self.0.lock().unwrap()
    }
}

/// A large value that knows when it is copied or stored.
#[derive(Debug, Default)]
struct Large(Vec<u8>, Cost);

impl Clone for Large {
    fn clone(&self) -> Self {
        self.1.copied(self.0.len());
        Self(self.0.clone(), self.1.clone())
    }
}

impl Serialize for Large {
    fn serialize<Z: serde::Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
        self.1.stored(self.0.len());
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Large {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        Ok(Self(from.deserialize_bytes(Bytes)?, Cost::default()))
    }
}

/// A large value that is shared, as a state holds one.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Large>);

impl Serialize for Shared {
    fn serialize<Z: serde::Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Large::deserialize(from).map(|large| Self(Arc::new(large)))
    }
}

#[derive(State, Debug, Clone, Default)]
struct Plain {
    file: Large,
    n: u32,
}

#[derive(State, Debug, Clone, Default)]
struct Pointed {
    file: Shared,
    n: u32,
    #[reduce(append)]
    log: List<u32>,
}

const SIZE: usize = 20 * 1024 * 1024;

/// B22: a hundred super-steps copy nothing of a field that nobody writes: what is copied and stored is for the run, and the
/// same for a run of any length.
#[tokio::test]
async fn a_large_field_that_nobody_writes_is_not_copied_by_super_steps() {
    async fn counts(state: Snapshot<Plain>, _: Context) -> Result<PlainUpdate, BoxError> {
        Ok(Plain::update().n(state.n + 1))
    }
    let names: Vec<_> = (0..100).map(|n| format!("n{n}")).collect();
    let chain =
        names.windows(2).fold(builder::<Plain>(), |graph, pair| graph.edge(&pair[0], &pair[1]));
    let chain = names.iter().fold(chain, |graph, name| graph.node(name, counts));
    let graph = chain.edge(START, "n0").edge("n99", END).build().unwrap();

    let cost = Cost::default();
    let input = || Plain::update().file(Large(vec![7; SIZE], cost.clone()));
    let state = graph.invoke(input(), ()).await.unwrap().done().unwrap();
    // The input is encoded, and that is all.
    assert_eq!((state.n, cost.of()), (100, (SIZE, SIZE)));
    let state = thread(&graph, &memory()).invoke(input(), ()).await.unwrap().done().unwrap();
    let (copied, stored) = cost.of();
    assert_eq!(state.n, 100);
    let (copied, stored) = (copied - SIZE, stored - SIZE);
    // Once each: the input, which may have to wait its turn; the outcome; and the state, if a snapshot that is made off
    // the run's path holds it while a step writes.
    assert!(copied <= 3 * SIZE && stored <= 2 * SIZE, "{copied} {stored}");
}

/// B22: shared, it is not copied in loops with routers and wide steps either, nor by an observer who keeps every state.
#[tokio::test]
async fn a_large_field_that_is_shared_is_never_copied() {
    async fn counts(state: Snapshot<Pointed>, _: Context) -> Result<PointedUpdate, BoxError> {
        Ok(Pointed::update().n(state.n + 1))
    }
    async fn says(state: Snapshot<Pointed>, _: Context) -> Result<PointedUpdate, BoxError> {
        Ok(Pointed::update().push_log(state.n))
    }
    let graph = builder::<Pointed>()
        .node("count", counts)
        .node("a", says)
        .node("b", says)
        .edge(START, "count")
        .branch("count", |s: &Pointed| if s.n < 50 { vec!["a", "b"] } else { vec![] }, ["a", "b"])
        .join(["a", "b"], "count")
        .build()
        .unwrap();
    let cost = Cost::default();
    let file = Shared(Arc::new(Large(vec![7; SIZE], cost.clone())));
    let thread = thread(&graph, &memory());
    let mut events = thread.stream(Input::New(Pointed::update().file(file)), ());
    let mut kept = Vec::new();
    while let Some(event) = events.next().await {
        kept.push(event);
    }
    let state = events.outcome().await.unwrap().done().unwrap();
    assert_eq!((state.n, state.log.len(), state.file.0.0.len()), (50, 98, SIZE));
    let (copied, stored) = cost.of();
    assert!(copied == 0 && stored <= 2 * SIZE, "{copied} {stored}");
}

/// Writes as it is told, and cannot be read as it was written: an untagged enum is read by what it looks like, and nothing
/// looks like that number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    #[default]
    None,
    Large {
        number: u128,
    },
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Unread {
    n: u32,
    tagged: Tagged,
    nested: Option<Option<u8>>,
}

/// P1, P22: what cannot be read again fails the node that wrote it, in a wide super-step and alone, and the thread goes on
/// without it.
#[tokio::test]
async fn what_cannot_be_read_again_fails_its_node() {
    async fn one(state: Snapshot<Unread>, _: Context) -> Result<UnreadUpdate, BoxError> {
        let large = Tagged::Large { number: u128::MAX };
        Ok(match state.n {
            0 => Unread::update().tagged(large),
            1 => Unread::update().nested(Some(None)),
            _ => Unread::update().nested(Some(Some(1))),
        })
    }
    async fn beside(_: Snapshot<Unread>, _: Context) -> Result<(), BoxError> {
        Ok(())
    }
    for wide in [false, true] {
        let graph = Graph::<Unread>::builder("unread").node("one", one).edge(START, "one");
        let graph = match wide {
            true => graph.node("beside", beside).edge(START, "beside").edge("beside", END),
            false => graph,
        };
        let graph = graph.edge("one", END).build().unwrap();
        let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
        let on = || graph.checkpointer(store.clone()).thread(key("t"));
        for n in 0..2 {
            let error = match n {
                0 => on().invoke(Unread::update(), ()).await.unwrap_err(),
                _ => on().resume(()).await.unwrap_err(),
            };
            let typed = matches!(&error, RunError::Node { node, .. } if &**node == "one");
            assert!(typed, "wide {wide}, {n}: {error}");
            // Read by another process, the thread is as it was, and can be mended.
            assert_eq!(on().state(None).await.unwrap().unwrap().n, n);
            on().edit(Unread::update().n(n + 1)).await.unwrap();
        }
        let state = on().resume(()).await.unwrap().done().unwrap();
        assert_eq!(state.nested, Some(Some(1)), "wide {wide}");
    }
}

/// A name that is compared without its case, and stored with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Name(String);

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.to_lowercase().cmp(&other.0.to_lowercase())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Name {}

#[derive(State, Debug, Clone, Default)]
struct Ages {
    #[reduce(merge)]
    ages: Map<Name, u32>,
}

/// P11: keys that are equal and not stored as equal bytes would be two when the thread is read: a debug build says so.
#[cfg(debug_assertions)]
#[tokio::test]
async fn equal_keys_of_other_bytes_are_told() {
    async fn older(_: Snapshot<Ages>, _: Context) -> Result<AgesUpdate, BoxError> {
        Ok(Ages::update().insert_ages(Name("kim".to_owned()), 2_u32))
    }
    let graph = Graph::<Ages>::builder("ages").node("older", older).edge(START, "older");
    let graph = graph.edge("older", END).build().unwrap();
    let on = graph.checkpointer(InMemoryCheckpointer::new()).thread(key("t"));
    let error =
        on.invoke(Ages::update().insert_ages(Name("Kim".to_owned()), 1_u32), ()).await.unwrap_err();
    let chain =
        std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let told = chain.map(ToString::to_string).collect::<String>();
    assert!(told.contains("equal bytes"), "{told}");
}
