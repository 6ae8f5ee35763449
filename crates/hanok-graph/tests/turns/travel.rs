//! The past of a thread: its history, going back, forking, and editing what it says.

use std::time::Duration;

use hanok_checkpoint::{Body, Checkpointer, Which};
use hanok_core::{Namespace, Position, Tenant};
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, Outcome, Persistence, Resolution, RunError, START,
    Snapshot, Subgraph, Thread,
};
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, doubted, entries, key, kinds, log, lost, memory,
    payloads, says, thread, work,
};

fn chain() -> Graph<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work).node("c", work);
    built(graph.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", END))
}

/// Where each commit of the thread stands, with its nodes.
async fn commits(thread: &Thread<S, Ledger>) -> Vec<(Position, String)> {
    let commits = entries(thread).await.into_iter().filter_map(|entry| match entry.entry.body {
        Body::Commit(commit) => Some((entry.position, commit.nodes.join("+"))),
        _ => None,
    });
    commits.collect()
}

/// B74: a history is newest first, each entry with its parent, its step and what is due after it, in pages of any size.
#[tokio::test]
async fn a_history_is_told_newest_first_in_pages_of_any_size() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    for _ in 0..3 {
        on.invoke(S::update(), ledger.clone()).await.unwrap();
    }
    let all = on.history(None, usize::MAX).await.unwrap();
    assert_eq!(all.len(), 3 * 5);
    assert!(all.windows(2).all(|pair| pair[0].parent == pair[1].position));
    let steps: Vec<_> = all
        .iter()
        .filter_map(|entry| match &entry.entry.body {
            Body::Commit(commit) => {
                let next: Vec<_> = commit.frontier.due.iter().map(|due| &*due.node).collect();
                Some((commit.step, commit.nodes.join("+"), next.join("+")))
            }
            _ => None,
        })
        .take(3)
        .collect();
    let step = |n, node: &str, next: &str| (n, node.to_owned(), next.to_owned());
    assert_eq!(steps, [step(2, "c", ""), step(1, "b", "c"), step(0, "a", "b")]);
    for limit in [1, 2, 4, 7, 100] {
        let mut paged = Vec::new();
        loop {
            let before = paged.last().map(|entry: &hanok_checkpoint::LogEntry| entry.position);
            let page = on.history(before, limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, all, "pages of {limit}");
    }
}

/// B86: gone back to before `b`, `b` and what follows run again, what was before does not, and the branch that was left
/// stays in the history.
#[tokio::test]
async fn a_thread_that_goes_back_runs_what_follows_again() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(says("in"), ledger.clone()).await.unwrap();
    let before = entries(&on).await;
    let (after_a, _) = commits(&on).await[0].clone();
    assert_eq!(log(&on.state(Some(after_a)).await.unwrap().unwrap()), ["in", "a"]);
    on.rewind(after_a).await.unwrap();
    let on = thread(&graph, &store);
    assert_eq!(on.views(None).await.unwrap()[0].next, ["b"]);
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "b", "c"]);
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 2, 2]);
    let after = entries(&on).await;
    assert_eq!(&after[..before.len()], before);
    let old = before.last().unwrap().position;
    assert_eq!(log(&on.state(Some(old)).await.unwrap().unwrap()), ["in", "a", "b", "c"]);
}

/// B87: gone back to the end, or resumed there, nothing runs and the values come back.
#[tokio::test]
async fn at_its_end_a_thread_has_nothing_to_run() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let done = on.invoke(says("in"), ledger.clone()).await.unwrap().done().unwrap();
    for back in [false, true] {
        if back {
            let end = entries(&on).await.last().unwrap().position;
            on.rewind(end).await.unwrap();
        }
        let before = kinds(&on).await;
        let again = thread(&graph, &store).resume(ledger.clone()).await.unwrap();
        assert_eq!(again.done().unwrap(), done);
        assert_eq!(kinds(&on).await, before);
    }
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 1, 1]);
}

/// B88: an edit of the past begins a branch with the reducers applied; two of one parent are independent, after a reload
/// too.
#[tokio::test]
async fn edits_of_the_past_begin_independent_branches() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(says("in").message("hello"), ledger.clone()).await.unwrap();
    let (after_a, _) = commits(&on).await[0].clone();
    let mut ends = Vec::new();
    for name in ["one", "two"] {
        on.rewind(after_a).await.unwrap();
        on.edit(says(name).n(ends.len() as u32).message(name)).await.unwrap();
        let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["in", "a", name, "b", "c"]);
        assert_eq!((state.messages.len(), state.n), (2, ends.len() as u32));
        ends.push((entries(&on).await.last().unwrap().position, state));
    }
    let fresh = thread(&graph, &store);
    for (end, state) in ends {
        assert_eq!(fresh.state(Some(end)).await.unwrap().unwrap(), state);
    }
    assert_eq!(ledger.of("a"), 1);
}

/// B89, B91: as whose write an edit counts: that node's successors are next; the last writer's if nobody is named; several
/// are an error; behind the last node nothing is left.
#[tokio::test]
async fn an_edit_counts_as_the_write_of_a_node() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    ledger.fail(&["b"]);
    on.invoke(S::update(), ledger.clone()).await.unwrap_err();
    for (node, next, runs) in
        [(Some("a"), vec!["b"], false), (None, vec!["b"], false), (Some("b"), vec!["c"], true)]
    {
        on.edit_as(node, says(node.unwrap_or("last"))).await.unwrap();
        let views = on.views(None).await.unwrap();
        assert_eq!(views[0].next, next, "{node:?}");
        if runs {
            let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
            assert_eq!(log(&state), ["a", "a", "last", "b", "c"]);
        }
    }
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 1, 1]);
    on.edit_as(Some("c"), says("closed")).await.unwrap();
    assert!(on.views(None).await.unwrap()[0].next.is_empty());
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state).last(), Some(&"closed"));
    assert_eq!(ledger.of("c"), 1);
    let unknown = on.edit_as(Some("nobody"), S::update()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no node `nobody`; there are `a`, `b`, `c`");

    let wide = Graph::builder("wide").node("x", work).node("y", work).edge(START, "x");
    let wide = built(wide.edge(START, "y").edge("x", END).edge("y", END));
    let on = app(&wide, &store).thread(key("wide"));
    on.invoke(S::update(), ledger).await.unwrap();
    let error = on.edit_as(None, S::update()).await.unwrap_err();
    assert!(matches!(error, RunError::AmbiguousEdit { nodes } if nodes == ["x", "y"]));
    let missing = app(&wide, &store).thread(key("missing")).edit(S::update()).await.unwrap_err();
    assert!(matches!(missing, RunError::NoSuchThread(_)));
}

/// B76, B88: nobody edits or rewinds a thread while it runs.
#[tokio::test(start_paused = true)]
async fn a_thread_that_runs_is_not_edited() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    ledger.hang(&["b"]);
    let on = thread(&graph, &store);
    let run = on.invoke(S::update(), ledger.clone());
    let editing = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let before = kinds(&on).await;
        let edit = on.edit(says("edit")).await.unwrap_err();
        assert!(matches!(edit, RunError::Conflict { .. }), "{edit}");
        let edit = on.edit_as(Some("a"), says("edit")).await.unwrap_err();
        assert!(matches!(edit, RunError::Conflict { .. }), "{edit}");
        assert!(on.rewind(Position(1)).await.is_err());
        assert_eq!(kinds(&on).await, before);
    };
    let both = async { tokio::join!(run, editing).0 };
    tokio::time::timeout(Duration::from_secs(1), both).await.unwrap_err();
}

fn asking() -> Graph<S, Ledger> {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("ask");
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = Graph::builder("asks").node("before", work).node("ask", ask).node("after", work);
    let graph = graph.edge(START, "before").edge("before", "ask").edge("ask", "after");
    built(graph.edge("after", END))
}

/// B90: gone back behind a question, to wherever it was not answered yet, the thread asks again, once, as another request;
/// a fresh answer gives a new result, and the old branch keeps the old one.
#[tokio::test]
async fn a_thread_that_goes_back_behind_a_question_asks_again() {
    let graph = asking();
    for back_to in ["commit", "question", "end"] {
        let (store, ledger) = (memory(), Ledger::default());
        let on = thread(&graph, &store);
        let old = asked(on.invoke(S::update(), ledger.clone()).await);
        on.reply("first", ledger.clone()).await.unwrap().done().unwrap();
        let all = entries(&on).await;
        let old_end = all.last().unwrap().position;
        let to =
            all.iter().find(|entry| crate::asking::kind(&entry.entry.body) == back_to).unwrap();
        on.rewind(to.position).await.unwrap();

        let new = asked(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!(payloads(&new), ["well?"], "{back_to}");
        assert_ne!(new[0].id, old[0].id, "{back_to}");
        assert_eq!(ledger.of("ask"), 3, "{back_to}");
        let state = thread(&graph, &store).reply("second", ledger.clone()).await.unwrap();
        assert_eq!(log(&state.done().unwrap()), ["before", "second", "after"]);
        assert_eq!(
            log(&on.state(Some(old_end)).await.unwrap().unwrap()),
            ["before", "first", "after"]
        );
        assert_eq!(ledger.counts(["before", "ask", "after"]), [1, 4, 2]);
    }
}

/// B90, P3: gone back behind a call in doubt, the doubt is the old branch's: the new one makes its own call.
#[tokio::test]
async fn a_doubt_belongs_to_the_branch_that_left_it() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let paid = cx.once("pay", "{}", Doubt::Ask, |_| async {
            ledger.note("paid");
            if ledger.fails("pay") {
                Err(BoxError::from("no answer"))
            } else {
                Ok("paid".to_owned())
            }
        });
        Ok(says(paid.await?))
    }
    let graph = Graph::builder("pays").node("before", work).node("pay", pay);
    let graph = built(graph.edge(START, "before").edge("before", "pay").edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    ledger.fail(&["pay"]);
    on.invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let doubts = doubted(on.resume(ledger.clone()).await);
    let at = entries(&on).await.last().unwrap().position;
    on.clone().discarding_doubts().rewind(at).await.unwrap();
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&state), ledger.of("paid")), (vec!["before", "paid"], 2));
    let id = doubts[0].id.clone();
    let late = on.settle(id, Resolution::NotMade, ledger.clone()).await.unwrap_err();
    assert!(matches!(late, RunError::Stale(_) | RunError::NoSuchRequest(_)), "{late}");
}

/// B92, B94: a subgraph that keeps its state for the thread goes back with it.
#[tokio::test]
async fn a_subgraph_goes_back_with_its_thread() {
    async fn count(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(S::update().n(state.n + 1))
    }
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let inner = Graph::builder("inner").node("count", count).node("ask", ask);
    let inner = inner.edge(START, "count").edge("count", "ask").edge("ask", END);
    let subgraph =
        Subgraph::new(built(inner), |_: &S| S::update(), |inner: &S| S::update().n(inner.n));
    let graph = Graph::builder("outer");
    let graph = graph.subgraph("call", subgraph.persistence(Persistence::PerThread));
    let graph = built(graph.edge(START, "call").edge("call", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    let mut ends = Vec::new();
    for n in 1..=3 {
        asked(on.invoke(S::update(), ledger.clone()).await);
        let state = on.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(state.n, n);
        ends.push(entries(&on).await.last().unwrap().position);
    }
    // Back to the end of the first turn; and to the question of the second, which the subgraph asks anew from the state
    // that it had before.
    let asks = |turn: usize| ends[turn - 2].next();
    for (to, resumes) in [(ends[0], false), (asks(2), true)] {
        on.rewind(to).await.unwrap();
        let fresh = thread(&graph, &store);
        let outcome = match resumes {
            true => fresh.resume(ledger.clone()).await,
            false => fresh.invoke(S::update(), ledger.clone()).await,
        };
        assert_eq!(asked(outcome).len(), 1);
        let state = fresh.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(state.n, 2, "back to {to:?}");
    }
}

/// B81 in part, B70: a fork has the state, and nothing of what it forked changes, whatever becomes of either.
#[tokio::test]
async fn a_fork_and_its_source_go_their_own_ways() {
    let (graph, store, ledger) = (asking(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let old = asked(on.invoke(says("in").message("hello"), ledger.clone()).await);
    let before = entries(&on).await;
    on.fork(None, &key("fork")).await.unwrap();
    assert!(on.fork(None, &key("fork")).await.is_err());
    let fork = app(&graph, &store).thread(key("fork"));
    assert_eq!(fork.state(None).await.unwrap(), on.state(None).await.unwrap());
    let new = asked(fork.resume(ledger.clone()).await);
    assert_ne!(new[0].id, old[0].id);
    let error = fork.answer(old[0].id.clone(), "x", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRequest(_)), "{error}");
    let state = fork.reply("fork", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "before", "fork", "after"]);
    assert_eq!(entries(&on).await, before);
    let state = on.reply("source", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "before", "source", "after"]);
    assert_eq!(ledger.of("before"), 1);
}

/// B75: nothing remains of a deleted thread, in no namespace, and others are untouched.
#[tokio::test]
async fn a_deleted_thread_leaves_nothing() {
    let (graph, store, ledger) = (asking(), memory(), Ledger::default());
    let (one, other) = (thread(&graph, &store), app(&graph, &store).thread(key("u")));
    let asking = asked(one.invoke(says("in"), ledger.clone()).await);
    asked(other.invoke(says("other"), ledger.clone()).await);
    let before = entries(&other).await;
    assert!(one.delete().await.unwrap());
    assert!(!one.delete().await.unwrap());
    assert!(one.state(None).await.unwrap().is_none() && kinds(&one).await.is_empty());
    assert!(one.views(None).await.unwrap().is_empty());
    assert!(one.events(None).await.unwrap().is_empty());
    let error = one.answer(asking[0].id.clone(), "x", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRequest(_)), "{error}");
    let listed = store.threads(Which::Of(Tenant::default()), None, 10).await.unwrap();
    let names: Vec<_> = listed.iter().map(|info| info.thread.thread().to_owned()).collect();
    assert_eq!((names, entries(&other).await), (vec!["u".to_owned()], before));
    let anew = asked(one.invoke(S::update(), ledger.clone()).await);
    assert_eq!(anew.len(), 1);
    assert_eq!(log(&one.state(None).await.unwrap().unwrap()), ["before"]);
}

/// B92: a fork taken while a subgraph is under way goes on in it or begins it anew, and ends as the source does.
#[tokio::test]
async fn a_fork_within_a_subgraph_ends_as_its_source_does() {
    let subgraph = Subgraph::shared(asking());
    let graph = Graph::builder("outer").subgraph("call", subgraph).node("last", work);
    let graph = built(graph.edge(START, "call").edge("call", "last").edge("last", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    asked(on.invoke(says("in"), ledger.clone()).await);
    on.fork(None, &key("fork")).await.unwrap();
    lost(&store, &key("fork")).await;
    let fork = app(&graph, &store).thread(key("fork"));
    for thread in [&fork, &on] {
        if thread.key() == fork.key() {
            assert_eq!(asked(thread.resume(ledger.clone()).await).len(), 1);
        }
        let outcome = thread.reply("yes", ledger.clone()).await.unwrap();
        let Outcome::Done(state) = outcome else { panic!("another outcome: {outcome:?}") };
        assert_eq!(log(&state), ["in", "before", "yes", "after", "last"]);
        let fold = thread.log().open(None).await.unwrap().unwrap().fold;
        assert_eq!(fold.runs.keys().collect::<Vec<_>>(), [&Namespace::root()]);
    }
}
