//! What is seen of a super-step that is not over: which tasks are done and with what, which wait, which failed and why.

use hanok_core::Namespace;
use hanok_graph::{
    BoxError, Context, END, Graph, GraphView, RunError, START, Snapshot, Subgraph, TaskView,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, asked, built, log, memory, payloads, says, thread, work};

async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(says(cx.interrupt::<String>(&format!("{}?", cx.node())).await?))
}

/// Three at once: one works, one asks, one fails if the ledger says so.
fn three() -> Graph<S, Ledger> {
    let graph = Graph::builder("three").node("a", work).node("b", asks).node("c", work);
    let graph =
        ["a", "b", "c"].iter().fold(graph, |graph, node| graph.sequence([START, node, END]));
    built(graph)
}

/// Each task: its node, whether it is done and with which fields, and what it asks.
fn shown(view: &GraphView) -> Vec<(&str, bool, Vec<&str>, Vec<String>)> {
    let writes = |task: &'_ TaskView| -> Vec<String> {
        let writes = task.writes.iter().flat_map(|changes| &changes.0);
        writes.map(|(field, _)| field.to_string()).collect()
    };
    let one = |task: &'_ TaskView| (writes(task), payloads(&task.requests));
    let tasks = view.tasks.iter().map(|task| {
        let (writes, asks) = one(task);
        let writes = if writes == ["log"] { vec!["log"] } else { Vec::new() };
        (task.node.as_str(), task.is_done, writes, asks)
    });
    tasks.collect()
}

/// What is due is what is still to do; what is done shows what it writes, what waits its question. An answer to the one that
/// waits leaves nothing due, and an older position shows what was there then.
#[tokio::test]
async fn a_paused_super_step_shows_what_each_task_did() {
    let (graph, store, ledger) = (three(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    asked(on.invoke(says("in"), ledger.clone()).await);
    let views = on.views(None).await.unwrap();
    assert_eq!(views[0].next, ["b"]);
    let none = Vec::<String>::new();
    let paused = [
        ("a", true, vec!["log"], none.clone()),
        ("b", false, vec![], vec!["b?".to_owned()]),
        ("c", true, vec!["log"], none.clone()),
    ];
    assert_eq!(shown(&views[0]), paused);
    assert_eq!(views[0].error, None);
    // The state is that of the last commit: nothing of the super-step is in it yet.
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), ["in"]);
    let paused_at = on.history(None, 1).await.unwrap()[0].position;
    on.reply("yes", ledger).await.unwrap().done().unwrap();
    let views = on.views(None).await.unwrap();
    assert!(views[0].next.is_empty() && views[0].tasks.is_empty());
    assert_eq!(shown(&on.views(Some(paused_at)).await.unwrap()[0]), paused);
}

/// A super-step that failed shows who is done, and the view says why it failed, until a run ends otherwise.
#[tokio::test]
async fn a_failed_super_step_shows_what_each_task_did_and_why() {
    let (graph, store, ledger) = (three(), memory(), Ledger::default());
    ledger.fail(&["c"]);
    let on = thread(&graph, &store);
    on.invoke(says("in"), ledger.clone()).await.unwrap_err();
    let views = on.views(None).await.unwrap();
    assert_eq!(views[0].next, ["b", "c"]);
    let done = |view: &GraphView| view.tasks.iter().filter(|task| task.is_done).count();
    assert_eq!(done(&views[0]), 1);
    let error = views[0].error.as_deref().unwrap();
    assert!(error.contains("node `c` failed") && error.contains("out of order"), "{error}");
    let failed_at = on.history(None, 1).await.unwrap()[0].position;
    ledger.fail(&[]);
    assert_eq!(payloads(&asked(on.resume(ledger.clone()).await)), ["b?"]);
    let views = on.views(None).await.unwrap();
    assert_eq!((views[0].next.as_slice(), &views[0].error), (["b".to_owned()].as_slice(), &None));
    assert!(on.views(Some(failed_at)).await.unwrap()[0].error.is_some());
}

/// A subgraph is edited as one of its nodes while it waits: what that node leads to runs, and the node does not.
#[tokio::test]
async fn a_subgraph_is_edited_as_one_of_its_nodes() {
    let inner = Graph::<S, Ledger>::builder("inner").node("ask", asks).node("last", work);
    let inner = built(inner.sequence([START, "ask", "last", END]));
    let call = Subgraph::new(
        inner.clone(),
        |_: &S| says("inside"),
        |inner: &S| says(log(inner).join("+")),
    );
    let graph = Graph::builder("outer").node("a", work).subgraph("call", call);
    let (graph, store, ledger) =
        (built(graph.sequence([START, "a", "call", END])), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    let path = open[0].path.clone();
    on.edit_subgraph_as(&path, &inner, Some("ask"), says("by hand")).await.unwrap();
    let views = on.views(None).await.unwrap();
    let below = views.iter().find(|view| view.path == path).unwrap();
    assert_eq!((below.next.as_slice(), below.requests.len()), (["last".to_owned()].as_slice(), 0));
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "inside+by hand+last"]);
    assert_eq!(ledger.of("last"), 1);
    let nowhere = Namespace::root().child("no").unwrap();
    let gone = on.edit_subgraph_as(&nowhere, &inner, Some("ask"), says("")).await;
    assert!(matches!(gone, Err(RunError::NoSuchSubgraph { .. })));
}
