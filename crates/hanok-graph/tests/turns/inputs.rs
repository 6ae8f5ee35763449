//! Inputs that do two things at once: an answer with an edit of the state, and a start at nodes of one's choice.

use hanok_core::RequestId;
use hanok_graph::{
    BoxError, Context, END, Graph, Input, NewInput, Outcome, RunError, START, SendTo, Snapshot,
    Unfinished,
};
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, asked, built, kinds, log, memory, payloads, says, thread, work,
};

/// Asks, and writes the answer beside what the state says when the answer comes.
async fn asks(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("asks");
    let answer: String = cx.interrupt("go on?").await?;
    Ok(says(format!("{answer} with {}", state.n)))
}

fn asking() -> Graph<S, Ledger> {
    let graph = Graph::builder("asking").node("a", work).node("asks", asks).node("z", work);
    built(graph.sequence([START, "a", "asks", "z", END]))
}

/// The node that asked reads both: the answer and the edit stand in the append that takes the thread.
#[tokio::test]
async fn an_answer_and_an_edit_are_one_input() {
    let (graph, store, ledger) = (asking(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    let before = kinds(&on).await.len();
    let input =
        Input::answer_and_edit(open[0].id.clone(), "yes", S::update().n(7).push_log("edited"));
    let state = on.run(input.unwrap(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "edited", "yes with 7", "z"]);
    assert_eq!(ledger.counts(["a", "asks", "z"]), [1, 2, 1]);
    assert_eq!(kinds(&on).await[before..][..3], ["begin", "answer", "edit"]);
    // What is read of the log is what the run returned.
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), log(&state));
}

/// An edit without an answer changes the state and leaves the question; an answer that is refused leaves no edit.
#[tokio::test]
async fn an_edit_is_stored_with_all_its_answers_or_not_at_all() {
    let (graph, store, ledger) = (asking(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update(), ledger.clone()).await);
    let edit = Input::Edited { answers: Vec::new(), update: S::update().n(1) };
    assert_eq!(asked(on.run(edit, ledger.clone()).await), open);
    let wrong =
        Input::answer_and_edit(RequestId("nobody".into()), "yes", S::update().n(2)).unwrap();
    let refused = on.run(wrong, ledger.clone()).await.unwrap_err();
    assert!(matches!(refused, RunError::NoSuchRequest(_)), "{refused:?}");
    assert_eq!(on.state(None).await.unwrap().unwrap().n, 1);
    let state = on.reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "yes with 1", "z"]);
    let edit = Input::Edited { answers: Vec::new(), update: S::update() };
    let none = thread(&graph, &memory()).run(edit, Ledger::default()).await;
    assert!(matches!(none, Err(RunError::NoSuchThread(_))));
}

/// A turn begins where the input says, at nodes and at sends, and nothing before them runs.
#[tokio::test]
async fn a_turn_begins_at_the_nodes_of_its_input() {
    async fn sent(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let by = cx.input::<String>()?.unwrap_or_else(|| "nobody".to_owned());
        Ok(says(format!("{} by {by}", cx.node())))
    }
    let graph = Graph::builder("three").node("a", work).node("b", sent).node("c", work);
    let graph = built(graph.sequence([START, "a", "b", "c", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    for (input, want) in [
        (Input::goto(says("in"), "b").unwrap(), vec!["in", "b by nobody", "c"]),
        (Input::goto(says("in"), SendTo::new("b", &"hand")).unwrap(), vec!["in", "b by hand", "c"]),
        (
            Input::goto(says("in"), vec!["a", "c"]).unwrap(),
            vec!["in", "a", "c", "b by nobody", "c"],
        ),
        (Input::goto(says("in"), END).unwrap(), vec!["in"]),
        (Input::New(says("in")), vec!["in", "a", "b by nobody", "c"]),
    ] {
        on.delete().await.unwrap();
        let state = on.run(input, ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), want);
        assert_eq!(log(&on.state(None).await.unwrap().unwrap()), want);
    }
    let unknown = on.run(Input::goto(S::update(), "d").unwrap(), ledger.clone()).await;
    assert!(matches!(unknown, Err(RunError::NoSuchNode { node, .. }) if node == "d"));
}

/// A thread that waits refuses such a start as it refuses any other, unless it says that inputs replace.
#[tokio::test]
async fn a_start_at_a_node_waits_its_turn_as_any_input() {
    let (graph, store, ledger) = (asking(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    asked(on.invoke(S::update(), ledger.clone()).await);
    let input = || Input::goto(S::update(), "z").unwrap();
    let refused = on.run(input(), ledger.clone()).await;
    assert!(
        matches!(refused, Err(RunError::Unfinished { why: Unfinished::Interrupted(_), .. })),
        "{refused:?}"
    );
    let state = on.new_input(NewInput::Replace).run(input(), ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "z"]);
}

/// An edit that rewords the question takes its answer with it, and the outcome says so.
#[tokio::test]
async fn an_edit_that_changes_the_question_voids_the_answer() {
    async fn price(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>(&format!("pay {}?", state.n)).await?))
    }
    let graph = Graph::builder("price").node("price", price).sequence([START, "price", END]);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let open = asked(on.invoke(S::update().n(5), ledger.clone()).await);
    let input = Input::answer_and_edit(open[0].id.clone(), "yes", S::update().n(50)).unwrap();
    let Outcome::Interrupted(waiting) = on.run(input, ledger).await.unwrap() else { panic!() };
    assert_eq!(payloads(&waiting), ["pay 50?"]);
    assert_eq!(payloads(&waiting.voided), ["pay 5?"]);
}
