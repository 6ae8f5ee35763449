//! Copies of threads whose turn is not over.

use hanok_checkpoint::{AppendId, Body, SharedCheckpointer};
use hanok_core::Timestamp;
use hanok_graph::{
    BoxError, Context, Doubt, END, Event, Graph, Outcome, Persistence, Resolution, START, Snapshot,
    Subgraph, Thread,
};

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, doubted,
    dying::{Dies, Dying},
    entries, key, kind, log, lost, memory, says, thread, work,
};

async fn copied(
    graph: &Graph<S, Ledger>,
    store: &SharedCheckpointer,
    name: &str,
) -> Thread<S, Ledger> {
    let source = thread(graph, store);
    let before = entries(&source).await;
    source.log().copy(&key(name), AppendId(77), Timestamp(9)).await.unwrap();
    assert_eq!(entries(&source).await, before, "the source does not change");
    let copy = app(graph, store).thread(key(name));
    let mut all = entries(&copy).await;
    assert!(matches!(all.pop().unwrap().entry.body, Body::Copied(_)));
    assert_eq!(all, before);
    assert_eq!(copy.views(None).await.unwrap(), source.views(None).await.unwrap());
    copy
}

/// B81: of a super-step that failed in part, what was written is written in the copy, and only what failed runs there.
#[tokio::test]
async fn the_copy_of_a_broken_super_step_runs_what_is_missing() {
    let graph = Graph::builder("wide").node("a", work).node("b", work).node("c", work);
    let graph = built(graph.edge(START, "a").edge(START, "b").join(["a", "b"], "c").edge("c", END));
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["b"]);
    thread(&graph, &store).invoke(says("in"), ledger.clone()).await.unwrap_err();
    let copy = copied(&graph, &store, "copy").await;
    ledger.fail(&[]);
    for on in [copy.clone(), thread(&graph, &store)] {
        let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["in", "a", "b", "c"]);
    }
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 3, 2]);
}

/// B81: a question that is open in the source, here in a subgraph, is open in the copy under the same id, and each is
/// answered by itself.
#[tokio::test]
async fn a_copy_waits_for_its_own_answers() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("ask");
        Ok(says(cx.interrupt::<String>("really?").await?))
    }
    let inner = Graph::builder("inner").node("first", work).node("ask", ask);
    let inner = inner.edge(START, "first").edge("first", "ask").edge("ask", END);
    let graph = Graph::builder("outer").node("before", work).node("after", work);
    let graph = graph.subgraph("call", Subgraph::shared(built(inner)));
    let graph = graph.edge(START, "before").edge("before", "call").edge("call", "after");
    let graph = built(graph.edge("after", END));
    let (store, ledger) = (memory(), Ledger::default());
    let requests = asked(thread(&graph, &store).invoke(says("in"), ledger.clone()).await);
    let copy = copied(&graph, &store, "copy").await;
    // A copy of a copy is the first one's as well.
    copy.log().copy(&key("third"), AppendId(78), Timestamp(9)).await.unwrap();
    let third = app(&graph, &store).thread(key("third"));
    for (on, answer) in [(copy, "yes"), (third, "perhaps"), (thread(&graph, &store), "no")] {
        assert_eq!(asked(on.resume(ledger.clone()).await), requests);
        let outcome = on.answer(requests[0].id.clone(), &answer, ledger.clone()).await.unwrap();
        assert_eq!(log(&outcome.done().unwrap()), ["in", "before", "first", answer, "after"]);
    }
    // The subgraph's tasks were known: what was done in it is not done again.
    assert_eq!(ledger.counts(["before", "first", "ask", "after"]), [1, 1, 4, 3]);
}

/// B81, P3, P4: a call in doubt is in doubt in the copy, as the same call; a call of a turn that the copy begins is its own.
#[tokio::test]
async fn a_call_in_doubt_is_the_same_call_in_the_copy() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let paid = cx.once("pay", "{}", Doubt::Ask, |call| {
            ledger.note(&format!("key {}", call.key()));
            async { Ok::<_, BoxError>("paid".to_owned()) }
        });
        Ok(says(paid.await?))
    }
    let graph =
        built(Graph::builder("paying").node("pay", pay).edge(START, "pay").edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    let dying = Dying::new(&store, (1, Dies::Before), |body| kind(body) == "memo");
    thread(&graph, &dying.shared()).invoke(says("in"), ledger.clone()).await.unwrap_err();
    lost(&store, &key("t")).await;
    let copy = copied(&graph, &store, "copy").await;
    let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
    let theirs = doubted(copy.resume(ledger.clone()).await);
    assert_eq!(theirs, doubts);
    let keys = || ledger.keys("key ");
    assert_eq!(keys().len(), 1);
    for on in [copy.clone(), thread(&graph, &store)] {
        let outcome = on.settle(doubts[0].id.clone(), Resolution::NotMade, ledger.clone()).await;
        assert!(matches!(outcome.unwrap(), Outcome::Done(_)));
    }
    // Where it was announced first it is made under the key that it had. In the copy it is another call to whoever receives it.
    assert_eq!(keys().len(), 2);
    for on in [copy, thread(&graph, &store)] {
        on.invoke(says("more"), ledger.clone()).await.unwrap().done().unwrap();
    }
    assert_eq!(keys().len(), 4, "what begins after the copy is each thread's own");
}

/// Pays after a rate was looked up, and asks before it pays if the ledger fails `ask`.
async fn pay_at_rate(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let noting = |what: &'static str| {
        let ledger = ledger.clone();
        async move |call: hanok_core::Call| {
            ledger.note(&format!("{what} {}", call.key()));
            Ok::<_, BoxError>(what.to_owned())
        }
    };
    cx.once("look", "{}", Doubt::Ask, noting("looked")).await?;
    if ledger.fails("ask") {
        cx.interrupt::<String>("really?").await?;
    }
    Ok(says(cx.once("pay", "{}", Doubt::Ask, noting("paid")).await?))
}

/// P3: to whoever receives calls, threads of one name are many threads: in two stores, before and after a deletion, a copy and what it was
/// copied from, what was exported and what was taken in, a fork. What was done before a copy is not done again there.
#[tokio::test]
async fn no_two_lives_of_a_thread_share_a_key() {
    let graph = Graph::builder("paying").node("pay", pay_at_rate);
    let graph = built(graph.edge(START, "pay").edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    let keys = || (ledger.keys("looked ").len(), ledger.keys("paid ").len());
    let on = thread(&graph, &store);
    on.invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
    assert!(on.delete().await.unwrap());
    on.invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
    thread(&graph, &memory()).invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(keys(), (3, 3), "an earlier life, and another store");
    for _ in 0..2 {
        graph.invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
    }
    assert_eq!(keys(), (5, 5), "runs that are not stored");

    ledger.fail(&["ask"]);
    let store = memory();
    let source = thread(&graph, &store);
    let requests = asked(source.invoke(says("in"), ledger.clone()).await);
    let copy = copied(&graph, &store, "copy").await;
    let elsewhere = memory();
    let lines = source.log().export().await.unwrap();
    let taken = thread(&graph, &elsewhere);
    let lines = lines.iter().map(String::as_str);
    taken.log().import(lines, AppendId(78), Timestamp(9)).await.unwrap();
    source.fork(None, &key("fork")).await.unwrap();
    assert_eq!(keys(), (6, 5));
    for on in [copy, taken, source] {
        assert_eq!(asked(on.resume(ledger.clone()).await), requests);
        let ended = on.answer(requests[0].id.clone(), &"yes", ledger.clone()).await.unwrap();
        assert_eq!(log(&ended.done().unwrap()), ["in", "paid"]);
    }
    assert_eq!(keys(), (6, 8), "what was looked up before the copies is not looked up again");
    asked(app(&graph, &store).thread(key("fork")).resume(ledger.clone()).await);
    assert_eq!(keys(), (7, 8), "a fork begins its super-step anew");
}

/// B81, B99: a copy tells its past as its source does: the same tasks.
#[tokio::test]
async fn a_copy_tells_its_past_as_its_source_does() {
    let graph = Graph::builder("chain").node("a", work).node("b", work);
    let graph = built(graph.edge(START, "a").edge("a", "b").edge("b", END));
    let (store, ledger) = (memory(), Ledger::default());
    thread(&graph, &store).invoke(says("in"), ledger.clone()).await.unwrap();
    let copy = copied(&graph, &store, "copy").await;
    let told = async |on: &Thread<S, Ledger>| {
        let events = on.events(None).await.unwrap();
        let place = |event: &Event| event.id.map(|id| (id.position, id.index));
        events
            .iter()
            .map(|event| format!("{:?} {:?}", place(event), event.task))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&copy).await, told(&thread(&graph, &store)).await);
    copy.invoke(says("more"), ledger.clone()).await.unwrap();
    thread(&graph, &store).invoke(says("more"), ledger).await.unwrap();
    let (copy, source) = (told(&copy).await, told(&thread(&graph, &store)).await);
    assert_ne!(copy.last(), source.last());
}

/// P4, P14, B81: a question, a call in doubt and a call with a note go on in whatever the thread was copied to: under another name, in
/// another store, in a backup of the file. Nothing that was begun is begun there again.
#[tokio::test]
async fn what_is_pending_goes_on_wherever_the_thread_is_copied_to() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("really?").await?))
    }
    async fn job(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let work = |call: hanok_core::Call| async move {
            if call.noted::<String>()?.is_none() {
                ledger.note("begun");
                call.note(&"a job").await?;
            }
            match ledger.fails("line") {
                true => Err(BoxError::from("the line broke")),
                false => Ok("the job is done".to_owned()),
            }
        };
        Ok(says(cx.once("job", "{}", Doubt::Ask, work).await?))
    }
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let work = |_| async move {
            ledger.note("paid");
            match ledger.fails("line") {
                true => Err(BoxError::from("the answer is lost")),
                false => Ok("paid".to_owned()),
            }
        };
        Ok(says(cx.once("pay", "{}", Doubt::Ask, work).await?))
    }
    let graph = Graph::builder("all").node("ask", ask).node("job", job).node("pay", pay);
    let graph = graph.edge(START, "ask").edge(START, "job").edge(START, "pay");
    let graph = built(graph.edge("ask", END).edge("job", END).edge("pay", END));
    let folder = tempfile::tempdir().unwrap();
    let sqlite = hanok_sqlite::Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let (store, ledger) = (SharedCheckpointer::new(sqlite.clone()), Ledger::default());
    ledger.fail(&["line"]);
    let source = thread(&graph, &store);
    source.invoke(says("in"), ledger.clone()).await.unwrap_err();
    assert_eq!(ledger.counts(["begun", "paid"]), [1, 1]);
    ledger.fail(&[]);

    source.log().copy(&key("copy"), AppendId(77), Timestamp(9)).await.unwrap();
    let (lines, elsewhere) = (source.log().export().await.unwrap(), memory());
    let lines = lines.iter().map(String::as_str);
    let taken = thread(&graph, &elsewhere);
    taken.log().import(lines, AppendId(78), Timestamp(9)).await.unwrap();
    sqlite.backup(folder.path().join("backup.db")).await.unwrap();
    let backup = hanok_sqlite::Sqlite::open(folder.path().join("backup.db")).await.unwrap();
    let backup = thread(&graph, &SharedCheckpointer::new(backup));

    for on in [app(&graph, &store).thread(key("copy")), taken, backup, source] {
        let doubts = doubted(on.resume(ledger.clone()).await);
        let doubt = doubts.iter().find(|asked| asked.doubt.is_some()).unwrap();
        let made = Resolution::made("paid by hand").unwrap();
        let asked = asked(on.settle(doubt.id.clone(), made, ledger.clone()).await);
        assert_eq!(asked.len(), 1);
        let ended = on.answer(asked[0].id.clone(), &"yes", ledger.clone()).await.unwrap();
        assert_eq!(log(&ended.done().unwrap()), ["in", "yes", "the job is done", "paid by hand"]);
    }
    assert_eq!(ledger.counts(["begun", "paid"]), [1, 1], "nothing was begun in any of them");
}

/// P3: in a copied turn, a call within a subgraph that stores nothing is the copy's own too.
#[tokio::test]
async fn a_call_in_a_subgraph_that_stores_nothing_is_the_copys_own() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("really?").await?))
    }
    async fn call(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note(&format!("key {}", cx.call("tool", "look", "{}").key()));
        Ok(says("called"))
    }
    let inner = Graph::builder("inner").node("call", call);
    let inner = built(inner.edge(START, "call").edge("call", END));
    let inner = Subgraph::shared(inner).persistence(Persistence::None);
    let graph = Graph::builder("outer").node("ask", ask).subgraph("inner", inner);
    let graph = built(graph.edge(START, "ask").edge("ask", "inner").edge("inner", END));
    let (store, ledger) = (memory(), Ledger::default());
    let source = thread(&graph, &store);
    let requests = asked(source.invoke(says("in"), ledger.clone()).await);
    let copy = copied(&graph, &store, "copy").await;
    for on in [copy, source] {
        let ended = on.answer(requests[0].id.clone(), &"yes", ledger.clone()).await.unwrap();
        assert_eq!(log(&ended.done().unwrap()), ["in", "yes", "called"]);
    }
    assert_eq!(ledger.keys("key ").len(), 2);
}
