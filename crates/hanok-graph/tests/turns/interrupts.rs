//! Questions to people: asked, listed, answered once, and what is not run again for them.

use hanok_checkpoint::SharedCheckpointer;
use hanok_core::{AskError, Request, RequestId, Stored};
use hanok_graph::{
    BoxError, Command, Context, END, Graph, Input, NodeSettings, Outcome, RunError, START, SendTo,
    Snapshot, Target, Unfinished,
};
use hanok_sqlite::Sqlite;
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, dying::Dies, dying::Dying, id_of, key, kinds, log, lost,
    memory, payloads, says, thread, work,
};

/// A node that asks what it is called and writes the answer.
async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    let answer: String = cx.interrupt(&format!("{}?", cx.node())).await?;
    cx.services().note(&format!("{} answered", cx.node()));
    Ok(says(answer))
}

fn first_ask_then(last: &str) -> Graph<S, Ledger> {
    built(
        Graph::builder("one")
            .node("before", work)
            .node("ask", ask)
            .node(last, work)
            .edge(START, "before")
            .edge("before", "ask")
            .edge("ask", last)
            .edge(last, END),
    )
}

/// B57, B58: the run returns the payload and an id, the node is next, and nothing else is lost; the answer is what the
/// call returns, and the rest of the node runs once.
#[tokio::test]
async fn a_question_ends_the_run_and_its_answer_goes_on_with_the_node() {
    let directory = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(directory.path().join("threads.db")).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let (graph, ledger) = (first_ask_then("after"), Ledger::default());
        let asking = asked(thread(&graph, &store).invoke(says("in").n(7), ledger.clone()).await);
        assert_eq!(payloads(&asking), ["ask?"]);
        assert_eq!((asking[0].node.as_str(), asking[0].path.depth()), ("ask", 0));
        assert!(!asking[0].id.0.is_empty());

        // Another process sees the same.
        let other = thread(&graph, &store);
        let views = other.views(None).await.unwrap();
        assert_eq!((views.len(), views[0].next.as_slice()), (1, ["ask".to_owned()].as_slice()));
        assert_eq!(views[0].requests, asking);
        let state = other.state(None).await.unwrap().unwrap();
        assert_eq!((log(&state), state.n), (vec!["in", "before"], 7));
        // Nobody is asked twice for looking.
        assert_eq!(asked(other.resume(ledger.clone()).await), asking);
        assert_eq!(ledger.of("ask"), 1);

        let state = other.answer(asking[0].id.clone(), "yes", ledger.clone()).await;
        let state = state.unwrap().done().unwrap();
        assert_eq!((log(&state), state.n), (vec!["in", "before", "yes", "after"], 7));
        assert_eq!(ledger.counts(["before", "ask", "ask answered", "after"]), [1, 2, 1, 1]);
        assert!(other.views(None).await.unwrap()[0].requests.is_empty());
    }
}

/// A node with three questions, of which the second depends on the first answer and the third is like the first.
async fn three(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("three");
    let city: String = cx.interrupt("where?").await?;
    let when: String = cx.interrupt(&format!("when in {city}?")).await?;
    let and: String = cx.interrupt("where?").await?;
    Ok(says(format!("{city} {when} {and}")))
}

fn asks_thrice() -> Graph<S, Ledger> {
    let graph = Graph::builder("three").node("three", three);
    built(graph.edge(START, "three").edge("three", END))
}

/// B59: n calls in one node are asked one after the other, and their answers survive a restart each.
#[tokio::test]
async fn the_questions_of_a_node_are_asked_one_after_the_other() {
    let (graph, store, ledger) = (asks_thrice(), memory(), Ledger::default());
    let mut asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let mut ids = Vec::new();
    for (payload, answer) in [("where?", "Seoul"), ("when in Seoul?", "May")] {
        assert_eq!(payloads(&asking), [payload]);
        ids.push(asking[0].id.clone());
        let thread = thread(&graph, &store);
        asking = asked(thread.answer(asking[0].id.clone(), answer, ledger.clone()).await);
    }
    // The same words again are another question.
    assert_eq!(payloads(&asking), ["where?"]);
    assert!(!ids.contains(&asking[0].id));
    let state = thread(&graph, &store).reply("Busan", ledger.clone()).await;
    assert_eq!(log(&state.unwrap().done().unwrap()), ["Seoul May Busan"]);
    assert_eq!(ledger.of("three"), 4);
}

/// B59: an answer belongs to what was asked: a re-run that asks something else asks anew, and one that comes back to the
/// first question has its answer.
#[tokio::test]
async fn an_answer_is_not_given_to_another_question() {
    async fn fickle(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let question = match cx.services().note("fickle") {
            1 | 3 => "pay 10?",
            _ => "pay 10000?",
        };
        let said: String = cx.interrupt(question).await?;
        Ok(says(format!("{question} {said}")))
    }
    let graph = Graph::builder("fickle").node("fickle", fickle);
    let graph = built(graph.edge(START, "fickle").edge("fickle", END));
    let (store, ledger) = (memory(), Ledger::default());
    let small = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let answered = thread(&graph, &store).reply("yes to 10", ledger.clone()).await;
    let large = asked(answered);
    assert_eq!(
        (payloads(&small), payloads(&large)),
        (vec!["pay 10?".into()], vec!["pay 10000?".into()])
    );
    assert_ne!(small[0].id, large[0].id);
    let late = thread(&graph, &store).answer(small[0].id.clone(), "no", ledger.clone()).await;
    assert!(matches!(late.unwrap_err(), RunError::AlreadyAnswered(_)));
    let state = thread(&graph, &store).reply("yes to 10000", ledger.clone()).await;
    assert_eq!(log(&state.unwrap().done().unwrap()), ["pay 10? yes to 10"]);
}

fn parallel() -> Graph<S, Ledger> {
    let mut graph = Graph::builder("parallel");
    for node in ["a", "b", "c"] {
        graph = graph.node(node, ask).edge(START, node).edge(node, "end");
    }
    built(
        graph.node("d", work).edge(START, "d").edge("d", "end").node("end", work).edge("end", END),
    )
}

/// B60, B61, B62: all questions of a super-step are asked at once; any of them may be answered, in any order and any
/// number; who still waits is not started again, and who is done is not either.
#[tokio::test]
async fn the_questions_of_a_step_are_answered_in_any_order_and_number() {
    for order in [
        vec![vec!["a", "b", "c"]],
        vec![vec!["c"], vec!["a", "b"]],
        vec![vec!["b"], vec!["c"], vec!["a"]],
    ] {
        let (graph, store, ledger) = (parallel(), memory(), Ledger::default());
        let mut asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        assert_eq!(payloads(&asking), ["a?", "b?", "c?"]);
        let mut ids: Vec<_> = asking.iter().map(|request| request.id.clone()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
        let error = thread(&graph, &store).reply("which?", ledger.clone()).await.unwrap_err();
        assert!(matches!(error, RunError::Ambiguous { requests } if requests.len() == 3));

        let mut answered = Vec::new();
        for (i, round) in order.iter().enumerate() {
            let answers = round.iter().map(|node| {
                (id_of(&asking, &format!("{node}?")), Stored::encode(&format!("{node}!")).unwrap())
            });
            let input = Input::Answers(answers.collect());
            let outcome = thread(&graph, &store).run(input, ledger.clone()).await;
            answered.extend(round);
            for node in ["a", "b", "c"] {
                let times = if answered.contains(&node) { 2 } else { 1 };
                assert_eq!(ledger.of(node), times, "{node} after {answered:?}");
            }
            if i + 1 < order.len() {
                asking = asked(outcome);
                assert_eq!(asking.len(), 3 - answered.len());
                assert_eq!(ledger.of("end"), 0);
            } else {
                let state = outcome.unwrap().done().unwrap();
                assert_eq!(log(&state), ["a!", "b!", "c!", "d", "end"]);
            }
        }
        assert_eq!(ledger.counts(["d", "end"]), [1, 1]);
    }
}

/// B60: each `SendTo` asks for itself.
#[tokio::test]
async fn equal_questions_of_several_tasks_are_different_requests() {
    async fn each(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let n: u32 = cx.input()?.unwrap_or_default();
        let said: String = cx.interrupt("sure?").await?;
        Ok(says(format!("{n} {said}")))
    }
    let sends =
        |_: &S| (0..4u32).map(|n| Target::from(SendTo::new("each", &n))).collect::<Vec<_>>();
    let graph = Graph::builder("sends").node("each", each);
    let graph = built(graph.branch(START, sends, ["each"]).edge("each", END));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let ids: std::collections::BTreeSet<_> = asking.iter().map(|r| r.id.clone()).collect();
    assert_eq!((asking.len(), ids.len()), (4, 4));
    let answers = asking.iter().map(|r| (r.id.clone(), Stored::encode("yes").unwrap()));
    let outcome = thread(&graph, &store).run(Input::Answers(answers.collect()), ledger).await;
    assert_eq!(log(&outcome.unwrap().done().unwrap()), ["0 yes", "1 yes", "2 yes", "3 yes"]);
}

/// B57, design: a node that swallows the error is suspended all the same, and nothing that it wrote counts.
#[tokio::test]
async fn a_node_that_swallows_its_question_is_suspended_all_the_same() {
    async fn swallows(_: Snapshot<S>, cx: Context<Ledger>) -> Result<Command<S>, BoxError> {
        let said: Result<String, _> = cx.interrupt("well?").await;
        Ok(Command::new().update(says(said.unwrap_or_else(|_| "nothing".into()))).goto("other"))
    }
    let graph = Graph::builder("swallows").node("swallows", swallows).node("other", work);
    let graph = graph
        .edge(START, "swallows")
        .configure("swallows", NodeSettings::new().goto(["other"]))
        .edge("other", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(ledger.of("other"), 0);
    let state = thread(&graph, &store).reply("fine", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["fine", "other"]);
}

/// B52, B47 at the edge: a question is no failure; it is neither tried again nor handled.
#[tokio::test]
async fn a_question_is_not_retried_and_not_handled() {
    async fn handle(
        _: Snapshot<S>,
        _: hanok_graph::Failure,
        cx: Context<Ledger>,
    ) -> Result<SUpdate, BoxError> {
        cx.services().note("handled");
        Ok(says("handled"))
    }
    let graph = Graph::builder("asks").node("ask", ask).edge(START, "ask").edge("ask", END);
    let graph = graph
        .configure("ask", NodeSettings::new().retry(hanok_graph::Retry::attempts(5)))
        .configure("ask", NodeSettings::new().on_error(handle, [END]));
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(ledger.counts(["ask", "handled"]), [1, 0]);
}

/// B61, B62: a sibling's failure does not lose a question, nor a question a failure.
#[tokio::test]
async fn a_question_outlives_the_failure_of_a_sibling() {
    let (graph, store, ledger) = (parallel(), memory(), Ledger::default());
    ledger.fail(&["d"]);
    let error = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { node, .. } if &*node == "d"));
    let asking = thread(&graph, &store).views(None).await.unwrap().remove(0).requests;
    assert_eq!(payloads(&asking), ["a?", "b?", "c?"]);
    ledger.fail(&[]);
    let answer = |node: &str| (id_of(&asking, &format!("{node}?")), Stored::encode(node).unwrap());
    let some = Input::Answers(vec![answer("a"), answer("b")]);
    let left = asked(thread(&graph, &store).run(some, ledger.clone()).await);
    assert_eq!(payloads(&left), ["c?"]);
    assert_eq!(ledger.counts(["a", "b", "c", "d"]), [2, 2, 1, 2]);
    let state = thread(&graph, &store).reply("c", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "b", "c", "d", "end"]);
    assert_eq!(ledger.counts(["a", "b", "c", "d", "end"]), [2, 2, 2, 2, 1]);
}

/// B65: without a store, and whatever else runs, a question is a typed error.
#[tokio::test]
async fn without_a_store_a_question_says_that_nobody_can_be_asked() {
    for graph in [parallel(), asks_thrice()] {
        let error = graph.invoke(S::update(), Ledger::default()).await.unwrap_err();
        let RunError::Node { source: hanok_graph::NodeError::Failed(source), .. } = error else {
            panic!("another error: {error}");
        };
        assert!(matches!(source.downcast_ref(), Some(AskError::Nobody { .. })), "{source}");
    }
}

/// B69: of several calls of one task only the one that asks pauses; the results of the others are kept as steps.
#[tokio::test]
async fn of_several_calls_only_the_one_that_asks_waits() {
    async fn tools(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let search = cx.step("search", || async {
            ledger.note("search");
            Ok::<_, BoxError>("found".to_owned())
        });
        let call = cx.call("tool", "pay", "{}");
        let pay = call.question(Request::new(Stored::encode("pay?")?));
        let other = cx.call("tool", "delete", "{}");
        let delete = other.question(Request::new(Stored::encode("delete?")?));
        let (found, paid, deleted) = futures::join!(search, pay, delete);
        let (paid, deleted): (String, String) = (paid?.decode()?, deleted?.decode()?);
        Ok(says(format!("{} {paid} {deleted}", found?)))
    }
    let graph = Graph::builder("tools").node("tools", tools);
    let graph = built(graph.edge(START, "tools").edge("tools", END));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(payloads(&asking), ["delete?", "pay?"]);
    let id = id_of(&asking, "pay?");
    let left = asked(thread(&graph, &store).answer(id, "paid", ledger.clone()).await);
    assert_eq!(payloads(&left), ["delete?"]);
    let state = thread(&graph, &store).reply("kept", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["found paid kept"]);
    assert_eq!(ledger.of("search"), 1);
}

/// B68: a new input while a person is asked is refused, or takes the turn's place; the state stays in both.
#[tokio::test]
async fn a_new_input_while_a_person_is_asked_is_refused_or_begins_anew() {
    let (graph, store, ledger) = (first_ask_then("after"), memory(), Ledger::default());
    let old = asked(thread(&graph, &store).invoke(says("one"), ledger.clone()).await);
    let before = kinds(&thread(&graph, &store)).await;
    let refused = thread(&graph, &store).invoke(says("two"), ledger.clone()).await.unwrap_err();
    let RunError::Unfinished { why: Unfinished::Interrupted(open), .. } = refused else {
        panic!("another error: {refused}");
    };
    assert_eq!(open, old);
    assert_eq!(kinds(&thread(&graph, &store)).await, before);

    let replacing = thread(&graph, &store).new_input(hanok_graph::NewInput::Replace);
    let new = asked(replacing.invoke(says("two"), ledger.clone()).await);
    assert_ne!(new[0].id, old[0].id);
    assert_eq!(ledger.of("before"), 2);
    let stale = thread(&graph, &store).answer(old[0].id.clone(), "late", ledger.clone()).await;
    assert!(matches!(stale.unwrap_err(), RunError::Stale(id) if id == old[0].id));
    let state = thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["one", "before", "two", "before", "yes", "after"]);
}

/// P14: an answer that was stored survives the death of the run that it began; it need not be given again, and cannot.
#[tokio::test]
async fn an_answer_survives_a_crash() {
    for (dies, is_kept) in [(Dies::Before, false), (Dies::After, true)] {
        let (graph, store, ledger) = (first_ask_then("after"), memory(), Ledger::default());
        let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let id = asking[0].id.clone();
        let answered = |body: &hanok_checkpoint::Body| crate::asking::kind(body) == "answer";
        let dying = Dying::new(&store, (1, dies), answered);
        let died = thread(&graph, &dying.shared()).answer(id.clone(), "yes", ledger.clone()).await;
        assert!(matches!(died.unwrap_err(), RunError::Checkpoint(_)) && dying.died());
        lost(&store, &key("t")).await;
        let again = thread(&graph, &store).answer(id.clone(), "no", ledger.clone()).await;
        let (state, said) = if is_kept {
            assert!(matches!(again.unwrap_err(), RunError::AlreadyAnswered(given) if given == id));
            (thread(&graph, &store).resume(ledger.clone()).await, "yes")
        } else {
            (again, "no")
        };
        assert_eq!(log(&state.unwrap().done().unwrap()), ["before", said, "after"]);
        assert_eq!(ledger.counts(["before", "ask", "after"]), [1, 2, 1]);
    }
}

/// P14: of two answers that race one wins, in one process and in two, and the node sees it alone.
#[tokio::test]
async fn of_two_racing_answers_one_wins() {
    for same in [true, false] {
        let (graph, store, ledger) = (first_ask_then("after"), memory(), Ledger::default());
        let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let id = asking[0].id.clone();
        let one = app(&graph, &store);
        let other = if same { one.clone() } else { app(&graph, &store) };
        let (one, other) = (one.thread(key("t")), other.thread(key("t")));
        let (a, b) = tokio::join!(
            one.answer(id.clone(), "a", ledger.clone()),
            other.answer(id.clone(), "b", ledger.clone()),
        );
        let (won, lost, said) = if a.is_ok() { (a, b, "a") } else { (b, a, "b") };
        assert_eq!(log(&won.unwrap().done().unwrap()), ["before", said, "after"]);
        let lost = lost.unwrap_err();
        assert!(
            matches!(lost, RunError::Conflict { .. } | RunError::AlreadyAnswered(_)),
            "same: {same}: {lost}"
        );
        assert_eq!(ledger.counts(["ask", "ask answered", "after"]), [2, 1, 1]);
        let answers = kinds(&one).await.iter().filter(|kind| **kind == "answer").count();
        assert_eq!(answers, 1);
        for late in [id.clone(), id] {
            let error = one.answer(late, "c", ledger.clone()).await.unwrap_err();
            assert!(matches!(error, RunError::AlreadyAnswered(_)));
        }
    }
}

/// B63: an answer to a request that never was changes nothing.
#[tokio::test]
async fn an_answer_to_nothing_is_an_error_and_changes_nothing() {
    let (graph, store, ledger) = (first_ask_then("after"), memory(), Ledger::default());
    let nobody = RequestId("nobody".into());
    let fresh = thread(&graph, &store);
    let error = fresh.answer(nobody.clone(), "x", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRequest(id) if id == nobody));
    let error = fresh.reply("x", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::NothingAsked(_)));
    assert!(fresh.state(None).await.unwrap().is_none());
    let asking = asked(fresh.invoke(S::update(), ledger.clone()).await);
    let before = kinds(&fresh).await;
    let error = fresh.answer(nobody, "x", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRequest(_)));
    assert_eq!(kinds(&fresh).await, before);
    let outcome = fresh.answer(asking[0].id.clone(), "x", ledger).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(_)));
}

/// A view lists the tasks that are due, with what they have stored: the steps of one that waits, and whether one is done.
#[tokio::test]
async fn a_view_shows_what_the_tasks_have_stored() {
    async fn ask_late(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.step("looked", || async { Ok::<_, BoxError>(7_u32) }).await?;
        let answer: String = cx.interrupt("and now?").await?;
        Ok(says(answer))
    }
    let graph = Graph::builder("wide").node("ask", ask_late).node("other", work);
    let graph = graph.edge(START, "ask").edge(START, "other");
    let graph = built(graph.edge("ask", END).edge("other", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    asked(on.invoke(says("in"), ledger.clone()).await);
    let views = on.views(None).await.unwrap();
    let tasks = &views[0].tasks;
    let nodes: Vec<_> = tasks.iter().map(|task| (task.node.as_str(), task.is_done)).collect();
    assert_eq!(nodes, [("ask", false), ("other", true)]);
    assert_eq!(tasks[0].step::<u32>("looked").unwrap(), Some(7));
    assert_eq!(tasks[0].step::<u32>("nothing").unwrap(), None);
    assert!(tasks[0].step::<String>("looked").is_err());
    on.reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(on.views(None).await.unwrap()[0].tasks, []);
}
