//! What a list of threads says of each.

use std::{collections::BTreeMap, time::Duration};

use hanok_checkpoint::{
    AppendId, DEADLINE, Forks, GRAPH, Log, REQUESTS, STATUS, SharedCheckpointer, Which,
    deadline_label,
};
use hanok_core::{AskError, Tenant};
use hanok_graph::{
    BoxError, Context, END, EditStep, Graph, NewAnswer, RunError, START, Snapshot, answer,
};
use hanok_sqlite::Sqlite;
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, clock, key, memory, says, thread, work,
};

async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let deadline = cx.now().plus(Duration::from_secs(60));
    Ok(says(cx.interrupt_until::<String>("may I?", deadline).await?))
}

/// Asks one person with a deadline and another without.
fn asking() -> Graph<S, Ledger> {
    async fn other(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("and I?").await?))
    }
    let graph = Graph::builder("asking").node("ask", ask).node("other", other).node("after", work);
    let graph = graph.edge(START, "ask").edge(START, "other").join(["ask", "other"], "after");
    built(graph.edge("after", END))
}

async fn labels(store: &SharedCheckpointer, name: &str) -> BTreeMap<String, String> {
    let all = store.all_threads(&Which::Of(Tenant::default())).await.unwrap();
    all.into_iter()
        .find(|info| info.thread == key(name))
        .map(|info| info.labels)
        .unwrap_or_default()
}

fn are<const N: usize>(labels: [(&str, &str); N]) -> BTreeMap<String, String> {
    labels.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Without a log being read, a list says of each thread how far it is, how many requests are open, and when the first
/// expires; stores find threads by it.
#[tokio::test(start_paused = true)]
async fn a_list_says_how_far_each_thread_is() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let (graph, ledger) = (asking(), Ledger::default());
        let on = || thread(&graph, &store);
        let begins = clock::now();
        let open = asked(on().invoke(S::update(), ledger.clone()).await);
        let deadline = deadline_label(begins.plus(Duration::from_secs(60)));
        let both = are([
            (GRAPH, "asking"),
            (STATUS, "interrupted"),
            (REQUESTS, "2"),
            (DEADLINE, &deadline),
        ]);
        assert_eq!(labels(&store, "t").await, both);
        let which = |name: &str, value: &str| Which::Labelled {
            tenant: Tenant::default(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(store.all_threads(&which(STATUS, "interrupted")).await.unwrap().len(), 1);

        // An edit leaves it waiting, a fork has nobody to wait for, a copy waits as well.
        on().edit(S::update().n(1)).await.unwrap();
        assert_eq!(labels(&store, "t").await, both);
        on().fork(None, &key("fork")).await.unwrap();
        assert_eq!(labels(&store, "fork").await, are([(GRAPH, "asking"), (STATUS, "due")]));
        on().log().copy(&key("copy"), hanok_checkpoint::AppendId(7), clock::now()).await.unwrap();
        assert_eq!(labels(&store, "copy").await, both);
        on().erase(S::update().n(2), "me", Forks::Keep).await.unwrap();
        assert_eq!(labels(&store, "t").await, both);

        let first = on().answer(open[0].id.clone(), "yes", ledger.clone()).await;
        asked(first);
        let one = are([(GRAPH, "asking"), (STATUS, "interrupted"), (REQUESTS, "1")]);
        assert_eq!(labels(&store, "t").await, one);
        on().reopen(&open[0].id).await.unwrap_err();
        ledger.fail(&["after"]);
        let failed = on().reply("no", ledger.clone()).await.unwrap_err();
        assert!(matches!(failed, RunError::Node { .. }), "{failed}");
        assert_eq!(labels(&store, "t").await, are([(GRAPH, "asking"), (STATUS, "failed")]));
        ledger.fail(&[]);
        on().resume(ledger.clone()).await.unwrap().done().unwrap();
        let done = are([(GRAPH, "asking"), (STATUS, "done")]);
        assert_eq!(labels(&store, "t").await, done);
        assert_eq!(
            store.all_threads(&which(STATUS, "interrupted")).await.unwrap().len(),
            1,
            "the copy"
        );

        // Gone back to where it asked, it is due; gone on with by hand, it is done.
        let first = on().history(None, usize::MAX).await.unwrap().last().unwrap().position;
        on().rewind(first).await.unwrap();
        assert_eq!(labels(&store, "t").await[STATUS], "due");
        let by_hand = vec![("after".to_owned(), says("by hand"))];
        on().edits(vec![EditStep::Input(S::update()), EditStep::Nodes(by_hand)]).await.unwrap();
        assert_eq!(labels(&store, "t").await, done);
    }
}

/// A thread that is done stays so in the list while later turns of the same graph run: nothing is written for it.
#[tokio::test]
async fn a_turn_of_a_thread_that_is_done_writes_no_label() {
    let graph = Graph::builder("a").node("work", work).edge(START, "work").edge("work", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let app = app(&graph, &store);
    for _ in 0..3 {
        app.thread(key("t")).invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(labels(&store, "t").await, are([(GRAPH, "a"), (STATUS, "done")]));
    }
    // Another graph says so.
    let graph = Graph::builder("b")
        .formerly("a")
        .node("other", work)
        .edge(START, "other")
        .edge("other", END);
    let graph = built(graph);
    thread(&graph, &store).invoke(S::update(), ledger).await.unwrap().done().unwrap();
    assert_eq!(labels(&store, "t").await, are([(GRAPH, "b"), (STATUS, "done")]));
}

/// A thread in which somebody waits does not expire, nor does one whose answer no run has taken.
#[tokio::test(start_paused = true)]
async fn a_thread_in_which_somebody_waits_is_not_swept() {
    async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("may I?").await?))
    }
    let graph = Graph::builder("asking").node("ask", patient).edge(START, "ask").edge("ask", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let app = app(&graph, &store).keep_for(Duration::from_secs(60));
    let open = asked(app.thread(key("t")).invoke(S::update(), ledger.clone()).await);
    let later = || tokio::time::sleep(Duration::from_secs(61));
    later().await;
    assert_eq!(app.sweep().await.unwrap(), []);
    let yes = NewAnswer::new(open[0].id.clone(), "yes").unwrap();
    let log = Log::new(store.clone(), key("t"));
    answer(&log, vec![yes], None, AppendId(7), clock::now()).await.unwrap();
    later().await;
    assert_eq!(app.sweep().await.unwrap(), []);
    let ended = app.thread(key("t")).resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(crate::asking::log(&ended), ["yes"]);
    later().await;
    assert_eq!(app.sweep().await.unwrap(), [key("t")]);
}

/// One thread that takes long holds up none of the others that are woken.
#[tokio::test(start_paused = true)]
async fn a_thread_that_takes_long_holds_up_no_other() {
    async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let deadline = cx.now().plus(Duration::from_secs(60));
        match cx.interrupt_until::<String>("may I?", deadline).await {
            // The first that is woken waits for the second.
            Err(AskError::Expired(_)) => {
                let ledger = cx.services().clone();
                ledger.note("woken");
                while ledger.of("woken") < 2 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Ok(says("expired"))
            }
            answer => Ok(says(answer?)),
        }
    }
    let graph = Graph::builder("asking").node("ask", patient).edge(START, "ask").edge("ask", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let app = app(&graph, &store);
    for name in ["a", "b"] {
        asked(app.thread(key(name)).invoke(S::update(), ledger.clone()).await);
    }
    tokio::time::sleep(Duration::from_secs(61)).await;
    let woken = app.wake(app.now(), |_| Some(ledger.clone())).await.unwrap();
    let threads: Vec<_> = woken.iter().map(|(thread, _)| thread.clone()).collect();
    assert_eq!(threads, [key("a"), key("b")]);
    assert!(woken.into_iter().all(|(_, outcome)| outcome.unwrap().done().is_ok()));
}

/// B141: a request that is open beside a failure is counted and found by its deadline like any other, and a thread with one is woken.
#[tokio::test(start_paused = true)]
async fn who_waits_beside_a_failure_is_listed_and_woken() {
    async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let deadline = cx.now().plus(Duration::from_secs(60));
        match cx.interrupt_until::<String>("may I?", deadline).await {
            Err(AskError::Expired(_)) => Ok(says("expired")),
            answer => Ok(says(answer?)),
        }
    }
    let graph = Graph::builder("asking").node("ask", patient).node("other", work);
    let graph = graph.edge(START, "ask").edge(START, "other");
    let graph = built(graph.edge("ask", END).edge("other", END));
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["other"]);
    let deadline = deadline_label(clock::now().plus(Duration::from_secs(60)));
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    let waits = [(GRAPH, "asking"), (STATUS, "failed"), (REQUESTS, "1"), (DEADLINE, &deadline)];
    assert_eq!(labels(&store, "t").await, are(waits));
    ledger.fail(&[]);
    tokio::time::sleep(Duration::from_secs(61)).await;
    let app = app(&graph, &store);
    let woken = app.wake(app.now(), |_| Some(ledger.clone())).await.unwrap();
    let (_, outcome) = woken.into_iter().next().unwrap();
    assert_eq!(crate::asking::log(&outcome.unwrap().done().unwrap()), ["expired", "other"]);
}

/// B141: of several deadlines the first is the label, whichever node it is of.
#[tokio::test(start_paused = true)]
async fn the_label_is_the_first_of_the_deadlines() {
    async fn waits(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let minutes = if cx.node() == "b" { 1 } else { 2 };
        let deadline = cx.now().plus(Duration::from_secs(60 * minutes));
        Ok(says(cx.interrupt_until::<String>(&cx.node().to_owned(), deadline).await?))
    }
    let graph = Graph::builder("waits").node("a", waits).node("b", waits).node("c", waits);
    let graph = graph.edge(START, "a").edge(START, "b").edge(START, "c");
    let graph = built(graph.edge("a", END).edge("b", END).edge("c", END));
    let store = memory();
    let begins = clock::now();
    let open = asked(thread(&graph, &store).invoke(S::update(), Ledger::default()).await);
    assert_eq!(open.len(), 3);
    let first = deadline_label(begins.plus(Duration::from_secs(60)));
    assert_eq!(labels(&store, "t").await.get(DEADLINE), Some(&first));
}
