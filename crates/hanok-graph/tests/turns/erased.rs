//! What is erased within a thread is gone, from the file too.

use std::{fs, path::Path};

use hanok_checkpoint::{
    Body, CheckpointError, Checkpointer, Forks, Keep, Select, SharedCheckpointer,
};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_graph::{
    BoxError, Context, Doubt, END, Failure, Graph, NodeExt, RunError, START, Snapshot, Subgraph,
    Unfinished,
};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, State};

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built,
    dying::{Dies, Dying},
    entries, key, kind, log, lost, memory, payloads, says, thread, work,
};

const SECRET: &str = "the secret of the house";

fn chain() -> Graph<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work);
    built(graph.edge(START, "a").edge("a", "b").edge("b", END))
}

/// Whether any file of the store holds the secret.
fn holds(path: &Path) -> bool {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut bytes = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    bytes.any(|bytes| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()))
}

fn secret() -> SUpdate {
    says("in").message(Message::user(SECRET).with_id("m1")).message("hello")
}

/// P57, B75: a message that was erased is in no record, no snapshot, no fork and no file; the state without it stays, and
/// the thread goes on.
#[tokio::test]
async fn what_is_erased_is_not_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = SharedCheckpointer::new(Sqlite::open(&path).await.unwrap());
    let (graph, ledger) = (chain(), Ledger::default());
    let on = thread(&graph, &store);
    for _ in 0..30 {
        on.invoke(secret(), ledger.clone()).await.unwrap();
    }
    on.fork(None, &key("fork")).await.unwrap();
    let fold = on.log().open(None).await.unwrap().unwrap().fold;
    let life = store.head(on.key()).await.unwrap().unwrap().life;
    on.log().put_snapshot(life, &fold).await.unwrap();
    assert!(holds(&path));
    let before = on.state(None).await.unwrap().unwrap();
    let last = entries(&on).await.last().unwrap().position;

    let erased = on.erase(S::update().remove_message("m1"), "카페", Forks::Too).await.unwrap();
    assert_eq!((erased.position, &erased.forks[..]), (last.next(), &[key("fork")][..]));
    assert!(!holds(&path));
    let after = on.state(None).await.unwrap().unwrap();
    assert_eq!(log(&after), log(&before));
    assert_eq!(after.messages.len(), before.messages.len() - 1);
    assert_eq!(entries(&on).await.len(), 1);
    let Body::Erased(said) = &entries(&on).await[0].entry.body else { panic!("another entry") };
    assert_eq!(said.by, "카페");
    assert!(store.head(&key("fork")).await.unwrap().is_none());
    let gone = on.state(Some(Position(3))).await.unwrap_err();
    assert!(matches!(gone, RunError::Checkpoint(CheckpointError::Pruned { .. })), "{gone}");
    let state = on.invoke(says("more"), ledger).await.unwrap().done().unwrap();
    assert_eq!(state.messages, after.messages);
}

/// P57, B78: what was cut off by pruning is not in the files either.
#[tokio::test]
async fn what_is_pruned_is_not_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = SharedCheckpointer::new(Sqlite::open(&path).await.unwrap());
    let (graph, ledger) = (chain(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(secret(), ledger.clone()).await.unwrap();
    on.invoke(S::update().remove_message("m1"), ledger.clone()).await.unwrap();
    assert!(holds(&path));
    let state = on.state(None).await.unwrap().unwrap();
    on.log().prune(Keep::Newest).await.unwrap().unwrap();
    assert!(!holds(&path));
    assert_eq!(on.state(None).await.unwrap().unwrap(), state);
}

/// B78: all threads of a tenant are cut at once, and no other's.
#[tokio::test]
async fn the_threads_of_a_tenant_are_pruned_together() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let other = ThreadKey::new(Tenant::new("other").unwrap(), "t").unwrap();
    let app = app(&graph, &store);
    for key in [key("t"), key("u"), other.clone()] {
        for _ in 0..3 {
            app.thread(key.clone()).invoke(says("in"), ledger.clone()).await.unwrap();
        }
    }
    let keep = Keep::Last(2);
    let pruned = app.prune(&Tenant::default(), keep).await.unwrap();
    let names: Vec<_> = pruned.iter().map(|(key, cut)| (key.thread(), cut.is_ok())).collect();
    assert_eq!(names, [("t", true), ("u", true)]);
    assert_eq!(store.head(&other).await.unwrap().unwrap().floor, Position::START);
    assert!(app.prune(&Tenant::default(), keep).await.unwrap().is_empty());
    let kept = app.thread(key("t")).log().checkpoints(Select::all()).await.unwrap();
    assert_eq!(kept.len(), 1, "the other is where the log was cut off");
    let state = app.thread(key("t")).state(kept[0].parent).await.unwrap().unwrap();
    assert_eq!(log(&state).len(), 8);
}

/// B78, B76: a thread is cut again and again while it runs, and nothing that was said is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_pruned_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let (store, graph, ledger) = (SharedCheckpointer::new(store), chain(), Ledger::default());
    let on = thread(&graph, &store);
    let log_of = on.log();
    let runs = tokio::spawn(async move {
        for _ in 0..60 {
            on.invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
        }
        on
    });
    let mut cuts = 0;
    while !runs.is_finished() {
        match log_of.prune(Keep::Last(2)).await {
            Ok(cut) => cuts += usize::from(cut.is_some()),
            Err(CheckpointError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        tokio::task::yield_now().await;
    }
    let on = runs.await.unwrap();
    assert!(cuts > 0);
    let state = on.state(None).await.unwrap().unwrap();
    assert_eq!(log(&state), ["in", "a", "b"].repeat(60));
    assert!(on.log().verify().await.unwrap().unwrap().is_whole());
}

/// P57: forks that are to stay are named.
#[tokio::test]
async fn forks_that_stay_are_named() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(secret(), ledger).await.unwrap();
    on.fork(None, &key("fork")).await.unwrap();
    app(&graph, &store).thread(key("fork")).fork(None, &key("fork of fork")).await.unwrap();
    let gone = S::update().remove_message("m1");
    let erased = on.erase(gone, "me", Forks::Keep).await.unwrap();
    assert_eq!(erased.forks, [key("fork"), key("fork of fork")]);
    assert!(store.head(&key("fork of fork")).await.unwrap().is_some());
}

/// P57, P4, B76: nothing is erased while a run owns the thread or a call is in doubt; what is pending stays.
#[tokio::test]
async fn an_erasure_waits_for_runs_and_doubts_and_keeps_what_is_pending() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let paid =
            cx.once("pay", "{}", Doubt::Ask, |_| async { Ok::<_, BoxError>("paid".to_owned()) });
        Ok(says(paid.await?))
    }
    let graph = Graph::builder("asks").node("a", work).node("ask", ask).node("pay", pay);
    let graph = graph.edge(START, "a").edge(START, "ask").join(["a", "ask"], "pay");
    let graph = built(graph.edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    assert!(matches!(on.erase(secret(), "me", Forks::Too).await, Err(RunError::NoSuchThread(_))));
    let before = asked(on.invoke(secret(), ledger.clone()).await);
    on.erase(S::update().remove_message("m1"), "me", Forks::Too).await.unwrap();
    let again = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!((payloads(&again), again[0].id.clone()), (payloads(&before), before[0].id.clone()));
    assert_eq!(ledger.of("a"), 1, "what it wrote was pending");

    let dying = Dying::new(&store, (1, Dies::Before), |body| kind(body) == "memo");
    thread(&graph, &dying.shared()).reply("yes", ledger.clone()).await.unwrap_err();
    let held = on.erase(S::update(), "me", Forks::Too).await;
    assert!(matches!(held, Err(RunError::Conflict { .. })), "{held:?}");
    lost(&store, &key("t")).await;
    crate::asking::doubted(thread(&graph, &store).resume(ledger).await);
    let doubt = on.erase(S::update(), "me", Forks::Too).await;
    let told = matches!(
        &doubt,
        Err(RunError::Unfinished { why: Unfinished::InDoubt(requests), .. }) if requests.len() == 1
    );
    assert!(told, "{doubt:?}");
}

/// Pays once, then asks, with a step whose result names what is in the state.
async fn pays_and_asks(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let pays = cx.once("pay", "{\"to\": \"Kim\"}", Doubt::Ask, |_| async {
        Ok::<_, BoxError>(format!("receipt {}", ledger.note("paid")))
    });
    let receipt = pays.await?;
    let told = state.log.iter().next().cloned().unwrap_or_default();
    let step = cx.step("look", || async {
        Ok::<_, BoxError>(format!("saw {told} ({})", ledger.note("looked")))
    });
    let seen = step.await?;
    let answer: String = cx.interrupt("may I?").await?;
    Ok(says(format!("{receipt}, {seen}, {answer}")))
}

fn paying() -> Graph<S, Ledger> {
    let graph = Graph::builder("paying").node("pay", pays_and_asks).node("beside", work);
    let graph = graph.edge(START, "pay").edge(START, "beside");
    built(graph.edge("pay", END).edge("beside", END))
}

/// P4, P57: what was paid for stays paid, and what was done beside it stays done, when something else is erased.
#[tokio::test]
async fn what_is_pending_outlives_an_erasure() {
    let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    let sqlite = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let graph = paying();
        let graph = Graph::builder("outer").subgraph("call", Subgraph::shared(graph));
        let graph = built(graph.edge(START, "call").edge("call", END));
        for graph in [paying(), graph] {
            let (ledger, name) = (Ledger::default(), key(&ledger.note("thread").to_string()));
            let on = || app(&graph, &store).thread(name.clone());
            let before = asked(on().invoke(secret(), ledger.clone()).await);
            for gone in [S::update().remove_message("m1"), S::update().n(1)] {
                let thread = on();
                assert_eq!(thread.erase(gone, "me", Forks::Too).await.unwrap().remains, []);
                assert_eq!(asked(on().resume(ledger.clone()).await), before);
            }
            assert!(on().log().verify().await.unwrap().unwrap().is_whole());
            let state = on().reply("yes", ledger.clone()).await.unwrap().done().unwrap();
            assert_eq!(log(&state), ["in", "beside", "receipt 1, saw in (1), yes"]);
            assert_eq!(ledger.counts(["paid", "looked", "beside"]), [1, 1, 1]);
            assert!(state.messages.iter().all(|message| message.id() != Some("m1")));
        }
    }
}

/// P4, P57: a result that holds what is erased goes with it; a call that gave it is in doubt, and a step is done again.
#[tokio::test]
async fn a_result_that_holds_what_is_erased_goes_and_leaves_a_doubt() {
    async fn pay(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let (ledger, to) = (cx.services().clone(), state.messages.iter().next().unwrap().text());
        let arguments = format!("{{\"to\": \"{to}\"}}");
        let paid = cx.once("pay", &arguments, Doubt::Ask, |_| async {
            Ok::<_, BoxError>(format!("receipt {} for {to}", ledger.note("paid")))
        });
        let _receipt = paid.await?;
        Ok(says(cx.interrupt::<String>("may I?").await?))
    }
    let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    let path = folder.path().join("threads.db");
    let store = SharedCheckpointer::new(Sqlite::open(&path).await.unwrap());
    let graph = built(Graph::builder("g").node("pay", pay).edge(START, "pay").edge("pay", END));
    let on = thread(&graph, &store);
    asked(on.invoke(secret(), ledger.clone()).await);
    assert!(holds(&path));
    on.erase(S::update().remove_message("m1").message(Message::user("someone")), "me", Forks::Too)
        .await
        .unwrap();
    assert!(!holds(&path));
    let doubt = crate::asking::doubted(on.resume(ledger.clone()).await);
    let call = doubt[0].doubt.clone().unwrap();
    assert_eq!((call.tool.as_str(), call.arguments.as_str()), ("pay", ""));
    assert_eq!(ledger.of("paid"), 1);
}

/// P57: the words of a failure whose handler still asks, and of items that a finished node hands to others, are erased as well.
#[tokio::test]
async fn what_is_erased_is_in_no_failure_and_no_item_that_is_pending() {
    fn said(state: &S) -> String {
        state.messages.iter().next().map(|message| message.text().into_owned()).unwrap_or_default()
    }
    async fn fails(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("fails");
        Err(format!("nothing is known of {}", said(&state)).into())
    }
    async fn asks(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("and now?").await?))
    }
    async fn hands(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("hands");
        cx.hand_out("memory", &said(&state))?;
        Ok(says("handed"))
    }
    async fn waits(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("may I?").await?))
    }
    let failing = Graph::builder("fails").node("a", fails.on_error(asks, [END]));
    let failing = built(failing.edge(START, "a").edge("a", END));
    let handing = Graph::builder("hands").node("a", hands).node("b", waits);
    let handing = handing.edge(START, "a").edge(START, "b").edge("a", END).edge("b", END);
    for (graph, counted, left) in [(failing, "fails", 1), (built(handing), "hands", 2)] {
        let (folder, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
        let path = folder.path().join("threads.db");
        let store = SharedCheckpointer::new(Sqlite::open(&path).await.unwrap());
        let on = thread(&graph, &store);
        asked(on.invoke(secret(), ledger.clone()).await);
        assert!(holds(&path), "{counted}");
        on.erase(S::update().remove_message("m1"), "me", Forks::Too).await.unwrap();
        assert!(!holds(&path), "{counted}");
        on.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        assert!(!holds(&path), "{counted}");
        // A failure is one without its words; what was to be handed out is made again.
        assert_eq!(ledger.of(counted), left, "{counted}");
    }
}
