//! What a run that is not done returns: the state so far, the requests, and the answers that count for nothing.

use hanok_core::{Cancellation, Position};
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, Outcome, Persistence, START, Snapshot, Subgraph,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, asked, built, log, memory, payloads, says, thread, work};

/// A graph of `a` and then `last`.
fn then<M: 'static>(last: impl hanok_graph::Node<S, Ledger, M>) -> Graph<S, Ledger> {
    let graph = Graph::builder("two").node("a", work).node("last", last);
    built(graph.edge(START, "a").edge("a", "last").edge("last", END))
}

async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(says(cx.interrupt::<String>("go on?").await?))
}

/// A call of which nobody knows whether it was made.
async fn breaks_off(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let lost = |_| async { Err::<String, _>(BoxError::from("the line is dead")) };
    Ok(says(cx.once("pay", "{}", Doubt::Ask, lost).await?))
}

/// The state of the last commit, in whichever way a run stops before its end; also when nothing is run for it.
#[tokio::test]
async fn a_run_that_stops_returns_the_state_of_its_last_commit() {
    let store = memory();
    let asking = then(asks);
    let outcome = thread(&asking, &store).invoke(says("in"), Ledger::default()).await.unwrap();
    assert_eq!(outcome.state().map(log), Some(vec!["in", "a"]));
    let Outcome::Interrupted(waiting) = outcome else { panic!("{outcome:?}") };
    assert_eq!((waiting.len(), log(&waiting.state)), (1, vec!["in", "a"]));
    assert!(waiting.voided.is_empty());
    // Nothing is run here: the state is that of the log.
    let again = thread(&asking, &store).resume(Ledger::default()).await.unwrap();
    let Outcome::Interrupted(again) = again else { panic!("{again:?}") };
    assert_eq!(again, waiting);

    let (store, doubting) = (memory(), then(breaks_off));
    let failed = thread(&doubting, &store).invoke(says("in"), Ledger::default()).await;
    assert!(failed.is_err());
    for _ in 0..2 {
        let outcome = thread(&doubting, &store).resume(Ledger::default()).await.unwrap();
        let Outcome::InDoubt(waiting) = outcome else { panic!("{outcome:?}") };
        assert_eq!((waiting.len(), log(&waiting.state)), (1, vec!["in", "a"]));
    }

    let stop = Cancellation::default();
    let stops = |stop: Cancellation| {
        move |_: Snapshot<S>, _: Context<Ledger>| {
            stop.cancel();
            async { Ok::<_, BoxError>(says("last")) }
        }
    };
    let (store, graph) = (memory(), then(stops(stop.clone())));
    let on = thread(&graph, &store).drain(stop.clone());
    let drained = on.invoke(says("in"), Ledger::default()).await.unwrap();
    // The super-step under way was the last one.
    assert_eq!(log(&drained.done().unwrap()), ["in", "a", "last"]);
    let (store, graph) = (memory(), then(work));
    let on = thread(&graph, &store).drain(stop);
    let drained = on.invoke(says("in"), Ledger::default()).await.unwrap();
    assert!(matches!(&drained, Outcome::Drained(state) if log(state) == ["in"]), "{drained:?}");
}

/// A cancelled run returns what it had committed.
#[tokio::test]
async fn a_cancelled_run_returns_its_state() {
    let stop = Cancellation::default();
    let by = stop.clone();
    let waits = move |_: Snapshot<S>, _: Context<Ledger>| {
        by.cancel();
        async { std::future::pending::<Result<SUpdate, BoxError>>().await }
    };
    let graph = then(waits);
    let on = thread(&graph, &memory()).cancellation(stop);
    let outcome = on.invoke(says("in"), Ledger::default()).await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Cancelled(state) if log(state) == ["in", "a"]),
        "{outcome:?}"
    );
}

/// The state of a question in a subgraph is that of the thread's own graph, as at a breakpoint.
#[tokio::test]
async fn a_question_below_comes_with_the_state_above() {
    let inner = Graph::<S, Ledger>::builder("inner").node("asks", asks);
    let inner = built(inner.edge(START, "asks").edge("asks", END));
    let call = Subgraph::new(inner, |_: &S| says("inside"), |inner: &S| says(log(inner).join("+")));
    let graph = Graph::builder("outer").node("a", work).subgraph("call", call);
    let graph = built(graph.edge(START, "a").edge("a", "call").edge("call", END));
    let (store, ledger) = (memory(), Ledger::default());
    let outcome = thread(&graph, &store).invoke(says("in"), ledger.clone()).await.unwrap();
    let Outcome::Interrupted(waiting) = outcome else { panic!("{outcome:?}") };
    assert_eq!((waiting[0].path.depth(), log(&waiting.state)), (1, vec!["in", "a"]));
    let state = thread(&graph, &store).reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "inside+yes"]);
}

/// A node that words its question anew each time, as one does whose text comes from a model: the answer counts for nothing,
/// and the outcome says which question it was that is not asked any more. With a step around what makes the text it counts.
#[tokio::test]
async fn an_answer_to_a_question_that_is_worded_anew_is_in_the_outcome() {
    async fn anew(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let round = cx.services().note("asked");
        Ok(says(cx.interrupt::<String>(&format!("wording {round}")).await?))
    }
    async fn once(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let words =
            || async move { Ok::<_, BoxError>(format!("wording {}", ledger.note("asked"))) };
        let words: String = cx.step("words", words).await?;
        Ok(says(cx.interrupt::<String>(&words).await?))
    }
    let (graph, store, ledger) = (then(anew), memory(), Ledger::default());
    let first = asked(thread(&graph, &store).invoke(says("in"), ledger.clone()).await);
    assert_eq!(payloads(&first), ["wording 1"]);
    let outcome = thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap();
    let Outcome::Interrupted(waiting) = outcome else { panic!("{outcome:?}") };
    assert_eq!(payloads(&waiting), ["wording 2"]);
    assert_eq!(waiting.voided, first);

    let (graph, store) = (then(once), memory());
    asked(thread(&graph, &store).invoke(says("in"), ledger.clone()).await);
    let state = thread(&graph, &store).reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "yes"]);
}

/// The limit of super-steps counts the turn over all its runs, and its words say so, at which number and how to go on.
#[tokio::test]
async fn the_limit_of_a_turn_says_what_it_counts_and_how_to_raise_it() {
    async fn again(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(S::update().n(state.n + 1))
    }
    let graph = Graph::builder("loop").node("again", again).edge(START, "again");
    let router = |state: &S| if state.n < 120 { "again" } else { END };
    let graph = built(graph.branch("again", router, ["again", END]));
    let store = memory();
    let words = "the turn reached its limit of 100 super-steps, over all its runs: if that is no endless loop, raise \
                 `recursion_limit` of the graph or of the thread, and `resume` it";
    let outcome = thread(&graph, &store).invoke(S::update(), Ledger::default()).await.unwrap();
    assert_eq!(outcome.done().unwrap_err().to_string(), words);
    // Another run of the turn counts on.
    let outcome = thread(&graph, &store).resume(Ledger::default()).await.unwrap();
    assert_eq!(outcome.done().unwrap_err().to_string(), words);
    let raised = thread(&graph, &store).recursion_limit(200);
    assert_eq!(raised.resume(Ledger::default()).await.unwrap().done().unwrap().n, 120);
}

/// What a node and a node below it know of their run: the run and its tags are the same, the position is one at which the
/// state can be read as the node reads it, in a first run, in a retry, and in the run that an answer begins.
#[tokio::test]
async fn a_node_knows_its_run_and_where_its_state_stands() {
    async fn notes(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let user = cx.tags().get("user").cloned().unwrap_or_default();
        let place = format!("{} {user} {} {}", cx.node(), cx.position().0, log(&state).join("+"));
        cx.services().note(&place);
        cx.services().note(&format!("run {}", cx.run_id()));
        if cx.node() == "asks" {
            cx.interrupt::<String>("on?").await?;
        }
        Ok(says(cx.node()))
    }
    let inner = Graph::<S, Ledger>::builder("inner").node("asks", notes);
    let inner = built(inner.edge(START, "asks").edge("asks", END));
    let call = Subgraph::new(inner.clone(), |_: &S| says("inside"), |_: &S| says("called"));
    let graph = Graph::builder("outer").node("a", notes);
    let graph = graph.subgraph("call", call.persistence(Persistence::PerCall)).node("z", notes);
    let graph = graph.edge(START, "a").edge("a", "call").edge("call", "z").edge("z", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let on = || thread(&graph, &store).tag("user", "ada").unwrap();
    let asking = asked(on().invoke(says("in"), ledger.clone()).await);
    on().answer(asking[0].id.clone(), "yes", ledger.clone()).await.unwrap().done().unwrap();

    let noted = ledger.keys("");
    let runs = noted.iter().filter(|note| note.starts_with("run ")).count();
    assert_eq!(runs, 2, "one run asked, the other was answered: {noted:?}");
    let places = noted.iter().filter(|note| !note.starts_with("run "));
    let mut read = Vec::new();
    for place in places {
        let [node, user, position, state] = &place.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{place}")
        };
        assert_eq!(*user, "ada");
        let at = Some(Position(position.parse().unwrap()));
        let views = on().views(at).await.unwrap();
        let of_node =
            |view: &&hanok_graph::GraphView| view.path.depth() == usize::from(*node == "asks");
        let view = views.iter().find(of_node).unwrap();
        let shown = view.values.get("log").unwrap().to_stored().decode::<Vec<String>>().unwrap();
        assert_eq!(shown.join("+"), *state, "{place}");
        read.push(*node);
    }
    read.sort_unstable();
    assert_eq!(read, ["a", "asks", "asks", "z"]);
}
