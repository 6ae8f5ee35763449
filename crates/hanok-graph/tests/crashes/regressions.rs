//! Mistakes that other engines made and repaired, by what a user sees of them.

use hanok_checkpoint::{Body, Keep};
use hanok_core::{Cancellation, Position};
use hanok_graph::{
    BoxError, Command, Context, Durability, END, Failure, Graph, GraphBuilder, GraphView, Input,
    Outcome, Persistence, RunError, START, Snapshot, Subgraph, Thread,
};
use hanok_state::{Message, State};

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, entries, id_of, key, log, lost, memory, payloads, says,
    thread, work,
};

async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("asks");
    Ok(says(cx.interrupt::<String>(&format!("{}?", cx.node())).await?))
}

async fn count(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("count");
    Ok(S::update().n(state.n + 1))
}

/// A graph that counts its calls and asks, `levels` deep in graphs that keep their state with the thread and count too.
fn nested(levels: usize) -> Graph<S, Ledger> {
    let graph: GraphBuilder<S, Ledger> = Graph::builder(&format!("level {levels}"));
    let graph = graph.node("count", count);
    if levels == 0 {
        return built(graph.node("ask", asks).sequence([START, "count", "ask", END]));
    }
    // What each level has counted, from the innermost outward.
    let out =
        |inner: &S| says(format!("{} {}", inner.n, log(inner).last().copied().unwrap_or_default()));
    let call = Subgraph::new(nested(levels - 1), |_: &S| S::update(), out);
    let graph = graph.subgraph("call", call.persistence(Persistence::PerThread));
    built(graph.sequence([START, "count", "call", END]))
}

/// The ends of the turns of a thread, and where it asked in each.
async fn places(on: &Thread<S, Ledger>) -> (Vec<Position>, Vec<Position>) {
    let (mut ends, mut questions) = (Vec::new(), Vec::new());
    for entry in entries(on).await {
        match &entry.entry.body {
            Body::End(_) if entry.entry.namespace.is_root() => ends.push(entry.position),
            Body::Question(_) => questions.push(entry.position),
            _ => {}
        }
    }
    (ends, questions)
}

/// Subgraphs that keep their state go back with their thread however deep they are: to the end of a turn, to the question in
/// the middle of one, and in a fork; each level counts on from what it had counted there, and not from the newest.
#[tokio::test]
async fn rewinds_and_forks_take_subgraphs_along_three_levels_deep() {
    for levels in 1..=3 {
        let (graph, store, ledger) = (nested(levels), memory(), Ledger::default());
        let on = thread(&graph, &store);
        for turn in 1..=3_u32 {
            asked(on.invoke(S::update(), ledger.clone()).await);
            let state = on.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
            assert_eq!(state.n, turn);
            let below = format!("{turn} ").repeat(levels) + "yes";
            assert_eq!(log(&state).last(), Some(&below.as_str()), "{levels} levels, turn {turn}");
        }
        let (ends, questions) = places(&on).await;
        assert_eq!((ends.len(), questions.len()), (6, 3), "a turn ends twice, for it asks");
        // To the end of the first turn; and to the beginning of the second, which its subgraph had not been called in yet.
        for (place, to, resumes) in [("end", ends[1], false), ("begin", ends[1].next(), true)] {
            let fork = key(&format!("fork {place}"));
            on.fork(Some(to), &fork).await.unwrap();
            on.rewind(to).await.unwrap();
            for name in [key("t"), fork] {
                let fresh = app(&graph, &store).thread(name);
                let outcome = match resumes {
                    true => fresh.resume(ledger.clone()).await,
                    false => fresh.invoke(S::update(), ledger.clone()).await,
                };
                assert_eq!(payloads(&asked(outcome)), ["ask?"], "{place}");
                let state = fresh.reply("again", ledger.clone()).await.unwrap().done().unwrap();
                let below = "2 ".repeat(levels) + "again";
                assert_eq!(
                    (state.n, log(&state).last()),
                    (2, Some(&below.as_str())),
                    "{levels} levels, back to the {place}"
                );
            }
        }
    }
}

/// Two subgraphs of one super-step, and one that a loop calls again and again, each go on from what they were at the place that
/// the thread went back to.
#[tokio::test]
async fn a_rewind_finds_each_of_several_subgraphs_where_it_was() {
    let inner = |name: &str| {
        let graph = Graph::<S, Ledger>::builder(name).node("count", count);
        let call = Subgraph::new(
            built(graph.sequence([START, "count", END])),
            |_: &S| S::update(),
            |inner: &S| says(inner.n.to_string()),
        );
        call.persistence(Persistence::PerThread)
    };
    let graph = Graph::builder("outer").subgraph("left", inner("l")).subgraph("right", inner("r"));
    let graph = graph.subgraph("again", inner("loop")).node("turn", count);
    let graph = graph.edge(START, "left").edge(START, "right").join(["left", "right"], "again");
    let router = |state: &S| if state.n.is_multiple_of(2) { END } else { "again" };
    let graph = graph.edge("again", "turn").branch("turn", router, ["again", END]);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let on = thread(&graph, &store);
    // The loop runs twice in each turn.
    let turn = |n: u32| {
        let (left, again) = (n.to_string(), (2 * n - 1).to_string());
        vec![left.clone(), left, again, (2 * n).to_string()]
    };
    let mut want = Vec::new();
    for n in 1..=3 {
        want.extend(turn(n));
        let state = on.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), want);
    }
    let (ends, _) = places(&on).await;
    on.rewind(ends[0]).await.unwrap();
    let fresh = thread(&graph, &store);
    let state = fresh.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), [turn(1), turn(2)].concat());
    // Into the middle of that turn: behind the first round of its loop.
    let commits = entries(&fresh).await.into_iter().filter_map(|entry| match &entry.entry.body {
        Body::Commit(commit) if entry.entry.namespace.is_root() => {
            Some((entry.position, commit.nodes.join("+")))
        }
        _ => None,
    });
    let rounds: Vec<_> = commits.filter(|(_, nodes)| nodes == "again").collect();
    fresh.rewind(rounds[rounds.len() - 2].0).await.unwrap();
    let state = thread(&graph, &store).resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), [turn(1), turn(2)].concat(), "the second round counts on");
}

/// A subgraph asks twice. A rewind between its two questions ends the call, as it ends all that a super-step has begun: the
/// subgraph begins anew and both are asked, each once; a thread that is merely resumed there asks the second alone.
#[tokio::test]
async fn back_between_two_questions_of_a_subgraph_both_are_asked_anew() {
    let inner = Graph::<S, Ledger>::builder("inner").node("first", asks).node("second", asks);
    let inner = built(inner.sequence([START, "first", "second", END]));
    let call = Subgraph::new(inner, |_: &S| S::update(), |inner: &S| says(log(inner).join("+")));
    let graph =
        built(Graph::builder("outer").subgraph("call", call).sequence([START, "call", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    assert_eq!(payloads(&asked(on.invoke(S::update(), ledger.clone()).await)), ["first?"]);
    let second = asked(on.reply("one", ledger.clone()).await);
    assert_eq!(payloads(&second), ["second?"]);
    assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), second);
    let between = entries(&on).await.last().unwrap().position;
    let state = on.reply("two", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["one+two"]);
    on.rewind(between).await.unwrap();
    let fresh = thread(&graph, &store);
    assert_eq!(payloads(&asked(fresh.resume(ledger.clone()).await)), ["first?"]);
    assert_eq!(payloads(&asked(fresh.reply("another", ledger.clone()).await)), ["second?"]);
    let state = fresh.reply("way", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["another+way"]);
}

/// A subgraph that keeps its state with the thread asks, is answered, and is entered again in the same turn: it goes on from
/// its state, asks once more, and no answer is taken for the other's.
#[tokio::test]
async fn a_subgraph_that_asked_is_entered_again_in_the_same_turn() {
    let inner = Graph::<S, Ledger>::builder("inner").node("count", count).node("ask", asks);
    let inner = built(inner.sequence([START, "count", "ask", END]));
    let out = |inner: &S| {
        let last = log(inner).last().copied().unwrap_or_default();
        S::update().n(inner.n).push_log(format!("{} {last}", inner.n))
    };
    let call = Subgraph::new(inner, |_: &S| S::update(), out).persistence(Persistence::PerThread);
    let graph = Graph::builder("outer").subgraph("call", call).edge(START, "call");
    let router = |state: &S| if state.n < 3 { "call" } else { END };
    let graph = built(graph.branch("call", router, ["call", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let mut open = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    for answer in ["a", "b"] {
        let again = thread(&graph, &store).reply(answer, ledger.clone()).await;
        let again = asked(again);
        assert_eq!(payloads(&again), ["ask?"]);
        assert_ne!(again[0].id, open[0].id, "another question of the same words");
        open = again;
    }
    let state = thread(&graph, &store).reply("c", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["1 a", "2 b", "3 c"]);
}

/// Several tasks of one super-step have failed and their failures are stored when the run is lost: each handler runs, with its
/// own failure, and no node runs again; so does that of a subgraph's caller, for what failed within.
#[tokio::test]
async fn after_a_crash_every_recorded_failure_is_handled() {
    async fn sorry(
        _: Snapshot<S>,
        failure: Failure,
        cx: Context<Ledger>,
    ) -> Result<Command<S>, BoxError> {
        // The first run is lost here.
        if cx.services().note(&format!("sorry {}", cx.node())) == 1 {
            std::future::pending::<()>().await;
        }
        Ok(Command::new().update(says(format!("{}: {}", cx.node(), failure.message))))
    }
    let inner = Graph::<S, Ledger>::builder("inner").node("deep", work);
    let inner = built(inner.sequence([START, "deep", END]));
    let call = Subgraph::new(inner, |_: &S| S::update(), |_: &S| says("called"));
    let none: [&str; 0] = [];
    let graph = Graph::builder("outer").node("a", work).node("b", work).subgraph("call", call);
    let graph = graph.on_any_error(sorry, none);
    let graph =
        ["a", "b", "call"].iter().fold(graph, |graph, node| graph.sequence([START, node, END]));
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    ledger.fail(&["a", "b", "deep"]);
    {
        let on = thread(&graph, &store);
        let mut run = Box::pin(on.invoke(S::update(), ledger.clone()));
        let handled = async {
            while ledger.keys("sorry").len() < 3 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            ended = &mut run => panic!("{ended:?}"),
            () = handled => {}
        }
    }
    lost(&store, &key("t")).await;
    let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    let lines = log(&state);
    assert_eq!(lines.len(), 3);
    for (line, node) in lines.iter().zip(["a", "b", "call"]) {
        assert!(line.starts_with(&format!("{node}: ")) && line.contains("out of order"), "{line}");
    }
    assert_eq!(ledger.counts(["a", "b", "deep"]), [1, 1, 1], "no node runs again");
    assert_eq!(ledger.counts(["sorry a", "sorry b", "sorry call"]), [2, 2, 2]);
}

/// A node invokes another thread of the app: the child's turns, questions and state are its own, the parent's log has nothing of
/// them, and each is resumed by its own name.
#[tokio::test]
async fn a_thread_that_a_node_invokes_keeps_its_own_log() {
    let child = Graph::<S, Ledger>::builder("child").node("count", count).node("ask", asks);
    let child = built(child.sequence([START, "count", "ask", END]));
    let store = memory();
    let inner = app(&child, &store);
    let call = move |_: Snapshot<S>, cx: Context<Ledger>| {
        let thread = inner.thread(key("child"));
        async move {
            let outcome = thread.invoke(S::update(), cx.services().clone()).await?;
            let waits = matches!(outcome, Outcome::Interrupted(_));
            Ok::<_, BoxError>(
                S::update()
                    .n(outcome.state().map_or(0, |s| s.n))
                    .push_log(format!("waits: {waits}")),
            )
        }
    };
    let graph = built(Graph::builder("parent").node("call", call).sequence([START, "call", END]));
    let ledger = Ledger::default();
    let parent = thread(&graph, &store);
    let state = parent.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&state), state.n), (vec!["waits: true"], 1));
    assert!(parent.views(None).await.unwrap().iter().all(|view| view.path.is_root()));
    assert!(
        entries(&parent).await.iter().all(|entry| !matches!(entry.entry.body, Body::Question(_)))
    );
    let own = app(&child, &store).thread(key("child"));
    let views = own.views(None).await.unwrap();
    assert_eq!((payloads(&views[0].requests), views[0].path.depth()), (vec!["ask?".to_owned()], 0));
    assert_eq!(own.reply("yes", ledger).await.unwrap().done().unwrap().n, 1);
}

/// A message is taken out of a conversation by an edit, between runs, and only that one.
#[tokio::test]
async fn an_edit_removes_a_message() {
    async fn reply(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(S::update().message(Message::assistant(format!("{} before", state.messages.len()))))
    }
    let graph = built(Graph::builder("chat").node("reply", reply).sequence([START, "reply", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    let texts =
        |state: &S| state.messages.iter().map(|m| m.text().into_owned()).collect::<Vec<_>>();
    let state =
        on.invoke(S::update().message("secret"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(texts(&state), ["secret", "1 before"]);
    let id = state.messages.iter().next().and_then(Message::id).unwrap().to_owned();
    on.edit(S::update().remove_message(id.as_str())).await.unwrap();
    assert_eq!(texts(&on.state(None).await.unwrap().unwrap()), ["1 before"]);
    let state = on.invoke(S::update().message("hello"), ledger).await.unwrap().done().unwrap();
    assert_eq!(texts(&state), ["1 before", "hello", "2 before"]);
}

/// A drain that comes in the last super-step leaves nothing to drain: the turn is done, at every durability; and what is
/// drained may be cancelled after a while, with what it has committed.
#[tokio::test]
async fn a_drain_in_the_last_step_ends_the_turn_and_one_may_be_followed_by_a_cancellation() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let drain = Cancellation::default();
        let by = drain.clone();
        let last = move |_: Snapshot<S>, _: Context<Ledger>| {
            by.cancel();
            async { Ok::<_, BoxError>(says("last")) }
        };
        let graph = Graph::builder("two").node("a", work).node("last", last);
        let graph = built(graph.sequence([START, "a", "last", END]));
        let (store, ledger) = (memory(), Ledger::default());
        let on = thread(&graph, &store).durability(durability).drain(drain.clone());
        let outcome = on.invoke(S::update(), ledger.clone()).await.unwrap();
        assert!(matches!(outcome, Outcome::Done(_)), "{durability:?}: {outcome:?}");
        let stored = thread(&graph, &store).state(None).await.unwrap().unwrap();
        assert_eq!(log(&stored), ["a", "last"], "{durability:?}");

        let (drain, stop) = (Cancellation::default(), Cancellation::default());
        let (store, ledger) = (memory(), Ledger::default());
        ledger.hang(&["b"]);
        let graph = Graph::builder("hangs").node("a", work).node("b", work);
        let graph = built(graph.sequence([START, "a", "b", END]));
        let on = thread(&graph, &store).durability(durability);
        let on = on.drain(drain.clone()).cancellation(stop.clone());
        let (outcome, ()) = tokio::join!(on.invoke(S::update(), ledger.clone()), async {
            while ledger.of("b") == 0 {
                tokio::task::yield_now().await;
            }
            drain.cancel();
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        });
        let outcome = outcome.unwrap();
        assert!(
            matches!(&outcome, Outcome::Cancelled(state) if log(state) == ["a"]),
            "{outcome:?}"
        );
        ledger.hang(&[]);
        let state = thread(&graph, &store).resume(ledger).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["a", "b"]);
    }
}

/// A log is pruned to what its newest state needs while a subgraph waits in it: its state, its question and its answer stay.
#[tokio::test]
async fn pruning_keeps_a_subgraph_that_waits() {
    let (graph, store, ledger) = (nested(2), memory(), Ledger::default());
    let on = thread(&graph, &store);
    for _ in 0..2 {
        asked(on.invoke(S::update(), ledger.clone()).await);
        on.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    }
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    // The fields themselves may be stored in other pieces.
    let shown = |views: Vec<GraphView>| {
        let one = |view: GraphView| (view.path, view.next, view.requests, view.tasks);
        views.into_iter().map(one).collect::<Vec<_>>()
    };
    let before = shown(on.views(None).await.unwrap());
    on.log().prune(Keep::Newest).await.unwrap().unwrap();
    let fresh = thread(&graph, &store);
    assert_eq!(shown(fresh.views(None).await.unwrap()), before);
    assert_eq!(asked(fresh.resume(ledger.clone()).await), open);
    let state = fresh.reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state).last(), Some(&"3 3 yes"));
}

/// An edit of a thread that waits for two people leaves their questions as they are, with their ids; an answer that was given
/// before it counts as one that comes after.
#[tokio::test]
async fn an_edit_of_a_thread_that_waits_leaves_its_questions() {
    let graph = Graph::builder("two").node("a", asks).node("b", asks).node("z", work);
    let graph = graph.edge(START, "a").edge(START, "b").join(["a", "b"], "z").edge("z", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    let left = asked(on.answer(id_of(&open, "a?"), "one", ledger.clone()).await);
    on.edit(S::update().push_log("edited")).await.unwrap();
    assert_eq!(on.views(None).await.unwrap()[0].requests, left);
    assert_eq!(left, [open.iter().find(|request| request.node == "b").unwrap().clone()]);
    let state = on.answer(id_of(&open, "b?"), "two", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["edited", "one", "two", "z"]);
}

/// Two tasks of one subgraph ask at once. An answer without an id is refused, with both; each is answered by its own.
#[tokio::test]
async fn an_answer_to_two_questions_of_one_subgraph_has_to_name_one() {
    let inner = Graph::<S, Ledger>::builder("inner").node("a", asks).node("b", asks);
    let inner =
        built(["a", "b"].iter().fold(inner, |graph, node| graph.sequence([START, node, END])));
    let call = Subgraph::new(inner, |_: &S| S::update(), |inner: &S| says(log(inner).join("+")));
    let graph =
        built(Graph::builder("outer").subgraph("call", call).sequence([START, "call", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    let refused = on.run(Input::reply("yes").unwrap(), ledger.clone()).await.unwrap_err();
    assert!(
        matches!(&refused, RunError::Ambiguous { requests } if *requests == open),
        "{refused:?}"
    );
    let left = asked(on.answer(id_of(&open, "b?"), "two", ledger.clone()).await);
    assert_eq!(payloads(&left), ["a?"]);
    let state = on.reply("one", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["one+two"]);
}
