//! Who watches a run: a stream without a store, an observer of all runs of an app, and the node that runs another thread.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hanok_core::Namespace;
use hanok_graph::{
    App, BoxError, Context, Durability, END, Event, EventKind, Graph, Input, Mode, START, Snapshot,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, app, asked, built, key, log, memory, says, thread, work};

async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.custom(&format!("{} asks", cx.node()));
    Ok(says(cx.interrupt::<String>("go on?").await?))
}

fn two() -> Graph<S, Ledger> {
    let graph = Graph::builder("two").node("a", work).node("z", work);
    built(graph.sequence([START, "a", "z", END]))
}

/// An event in a word, with the node or the depth that it is of.
fn word(event: &Event) -> String {
    let node = event.node.as_deref().unwrap_or("-");
    let kind = match &event.kind {
        EventKind::Values(_) => "values",
        EventKind::Updates(_) => "updates",
        EventKind::Request(_) => "request",
        EventKind::Answered { .. } => "answered",
        EventKind::Ended { outcome, .. } => return format!("ended {outcome:?}"),
        EventKind::GraphStarted { graph, .. } => return format!("{graph} started"),
        EventKind::GraphEnded { graph, outcome, .. } => {
            return format!("{graph} ended {outcome:?}");
        }
        EventKind::Custom(_) => "custom",
        _ => "other",
    };
    format!("{node} {kind}")
}

/// A graph is streamed without a store: the same events as with one, without ids, up to the end and its outcome.
#[tokio::test]
async fn a_graph_is_streamed_without_a_store() {
    let modes = [Mode::Updates, Mode::Values];
    let graph = two();
    let mut streams = Vec::new();
    for stored in [false, true] {
        let mut events = match stored {
            false => graph.stream_modes(modes, says("in"), Ledger::default()),
            true => {
                let thread = thread(&graph, &memory()).modes(modes);
                thread.stream(Input::New(says("in")), Ledger::default())
            }
        };
        let mut words = Vec::new();
        while let Some(event) = events.next().await {
            assert_eq!(event.id.is_some(), stored, "{event:?}");
            words.push(word(&event));
        }
        assert_eq!(log(&events.outcome().await.unwrap().done().unwrap()), ["in", "a", "z"]);
        streams.push(words);
    }
    assert_eq!(streams[0], streams[1]);
    assert!(streams[0].contains(&"z updates".to_owned()), "{:?}", streams[0]);
    // Dropped, it stops.
    let ledger = Ledger::default();
    ledger.hang(&["a"]);
    let mut events = graph.stream(S::update(), ledger.clone());
    while ledger.of("a") == 0 {
        events.next().await;
    }
    drop(events);
    assert_eq!(ledger.of("z"), 0);
}

type Seen = Arc<Mutex<Vec<String>>>;

fn observed(app: &App<S, Ledger>, seen: &Seen, modes: &[Mode]) -> App<S, Ledger> {
    let seen = seen.clone();
    app.observing(modes.iter().copied(), move |thread, event| {
        seen.lock().unwrap().push(format!("{}: {}", thread.thread(), word(event)));
    })
}

/// An observer of an app is told of every run, whoever makes it and whether it is streamed or not; several are told, one that
/// panics harms nobody, and one that is interested in questions alone is told the end besides.
#[tokio::test]
async fn an_observer_of_an_app_is_told_of_every_run() {
    let graph = Graph::builder("two").node("a", work).node("ask", asks);
    let graph = built(graph.sequence([START, "a", "ask", END]));
    for durability in [Durability::Sync, Durability::Async] {
        let (store, ledger) = (memory(), Ledger::default());
        let (all, few) = (Seen::default(), Seen::default());
        let watched = observed(
            &app(&graph, &store).durable(durability),
            &all,
            &[Mode::Updates, Mode::Interrupts],
        );
        let watched =
            watched.observing([Mode::Updates], |_, _| panic!("an observer that is broken"));
        let watched = observed(&watched, &few, &[Mode::Interrupts]);
        for name in ["t", "u"] {
            asked(watched.thread(key(name)).invoke(S::update(), ledger.clone()).await);
        }
        let mut events = watched.thread(key("t")).stream(Input::reply("yes").unwrap(), ledger);
        let mut streamed = Vec::new();
        while let Some(event) = events.next().await {
            streamed.push(word(&event));
        }
        events.outcome().await.unwrap().done().unwrap();
        assert!(streamed.contains(&"ended Done".to_owned()), "{streamed:?}");
        let of = |name: &str| {
            let run = |end: &str| format!("{name}: {end}");
            vec![run("a updates"), run("ask request"), run("ended Interrupted")]
        };
        let answered =
            ["ask answered", "ask updates", "ended Done"].map(|what| format!("t: {what}"));
        let all = all.lock().unwrap().clone();
        assert_eq!(all, [of("t"), of("u"), answered.to_vec()].concat(), "{durability:?}");
        let few = few.lock().unwrap().clone();
        let told: Vec<_> = all.iter().filter(|told| !told.contains("updates")).cloned().collect();
        assert_eq!(few, told);
    }
}

/// A node runs another thread: with the node's context its events are those of the node's stream, below the node and between
/// the start and the end of its graph, a question included; without it nothing of them is. The child keeps its own log, under
/// its own name.
#[tokio::test]
async fn a_thread_that_a_node_runs_is_streamed_to_whoever_watches_the_node() {
    let child = Graph::<S, Ledger>::builder("child").node("inner", work).node("ask", asks);
    let child = built(child.sequence([START, "inner", "ask", END]));
    for reports in [true, false] {
        let store = memory();
        let inner = app(&child, &store);
        let call = move |_: Snapshot<S>, cx: Context<Ledger>| {
            let (thread, ledger) = (inner.thread(key("child")), cx.services().clone());
            async move {
                let thread = if reports { thread.reporting_to(&cx) } else { thread };
                let outcome = thread.invoke(S::update(), ledger).await?;
                Ok::<_, BoxError>(says(format!("{}", outcome.state().map_or(0, |s| s.log.len()))))
            }
        };
        let graph = Graph::builder("parent").node("call", call).sequence([START, "call", END]);
        let graph = built(graph);
        let on = thread(&graph, &store);
        let events: Vec<_> = on.stream(Input::New(S::update()), Ledger::default()).collect().await;
        let below: Vec<_> = events.iter().filter(|event| !event.path.is_root()).collect();
        let words: Vec<_> = below.iter().map(|event| word(event)).collect();
        if !reports {
            assert!(words.is_empty(), "{words:?}");
            continue;
        }
        assert_eq!(words.first().map(String::as_str), Some("child started"));
        assert_eq!(words.last().map(String::as_str), Some("child ended Interrupted"));
        for told in ["inner updates", "ask request", "ask custom"] {
            assert!(words.iter().any(|word| word == told), "{told} in {words:?}");
        }
        assert!(below.iter().all(|event| event.path.depth() == 1 && event.id.is_none()));
        let EventKind::GraphStarted { cause, .. } = &below[0].kind else { panic!() };
        assert_eq!(&*cause.node, "call");
        // One end, of the parent's own run.
        let ends = events.iter().filter(|event| matches!(event.kind, EventKind::Ended { .. }));
        assert_eq!(ends.count(), 1);
        // The child is a thread as any other.
        let state = app(&child, &store).thread(key("child")).state(None).await.unwrap().unwrap();
        assert_eq!(log(&state), ["inner"]);
        let views = on.views(None).await.unwrap();
        assert!(views.iter().all(|view| view.path == Namespace::root()));
        let done = on.state(None).await.unwrap().unwrap();
        assert_eq!(log(&done), ["1"]);
    }
}
