//! Questions that stay what they were: whatever time it is, whatever is answered, and whoever takes an answer back.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_checkpoint::{
    Append, AppendId, CheckpointError, Checkpointer, Guard, Keep, Log, SharedCheckpointer,
};
use hanok_core::{RequestId, Stored, ThreadKey};
use hanok_graph::{
    BoxError, Context, Durability, END, EventKind, Graph, Input, Mode, NewAnswer, Outcome,
    RunError, START, Snapshot, Subgraph, answer, open_requests,
};
use hanok_state::State;
use hanok_testkit::{Layer, Layered};

use crate::asking::{
    Ledger, S, SUpdate, asked, built, clock, entries, id_of, key, kind, kinds, log, memory,
    payloads, says, thread, work,
};

/// A store that notes of each append how many records it has, and whether it gives the thread back.
#[derive(Debug)]
struct Noting {
    store: SharedCheckpointer,
    appends: Arc<Mutex<Vec<(usize, bool)>>>,
}

impl Layer for Noting {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let releases = matches!(append.guard, Guard::Release(_));
        self.appends.lock().unwrap().push((append.records.len(), releases));
        self.store.append(thread, append).await
    }
}

/// A node that names the time in what it asks.
async fn by_the_clock(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("asked");
    let answer: String = cx.interrupt(&format!("may I, at {}?", cx.now().0)).await?;
    Ok(says(answer).n(u32::from(cx.now() == clock::now())))
}

/// P14: a task is given one time in all its runs, that of the entry which scheduled it, so a question that names it is
/// answered once and for all.
#[tokio::test(start_paused = true)]
async fn a_question_that_names_the_time_is_answered_once() {
    let graph = Graph::builder("clock").node("before", work).node("asks", by_the_clock);
    let graph = graph.edge(START, "before").edge("before", "asks").edge("asks", END);
    let graph = built(graph);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, ledger) = (memory(), Ledger::default());
        let thread = || thread(&graph, &store).durability(durability);
        let first = asked(thread().invoke(S::update(), ledger.clone()).await);
        tokio::time::sleep(Duration::from_secs(60)).await;
        let again = asked(thread().resume(ledger.clone()).await);
        assert_eq!(again, first);
        // The entry that scheduled it says the same time.
        let scheduled = entries(&thread()).await;
        let commit = scheduled.iter().find(|entry| kind(&entry.entry.body) == "commit").unwrap();
        let named = format!("may I, at {}?", commit.entry.at.0);
        assert_eq!(payloads(&first), [named]);
        let outcome = thread().reply("yes", ledger.clone()).await.unwrap();
        let state = outcome.done().unwrap();
        assert_eq!((log(&state), state.n), (vec!["before", "yes"], 0));
        assert_eq!(ledger.of("asked"), 2);
    }
}

async fn how_many(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("how many");
    let many: u32 = cx.interrupt("how many?").await?;
    Ok(says(format!("{many} pieces")))
}

fn counting() -> Graph<S, Ledger> {
    let graph = Graph::builder("counting").node("count", how_many).node("other", work);
    let graph = graph.edge(START, "count").edge(START, "other");
    built(graph.edge("count", END).edge("other", END))
}

/// P14: an answer of another type is not taken: its giver is told what was expected and what came, the question stays open, and
/// the right answer goes on.
#[tokio::test]
async fn an_answer_of_another_type_leaves_the_question_open() {
    let (graph, store, ledger) = (counting(), memory(), Ledger::default());
    let open = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    for wrong in ["three", "four"] {
        let error = thread(&graph, &store).reply(wrong, ledger.clone()).await.unwrap_err();
        let RunError::WrongAnswer { id, question, expected, answer, faults } = error else {
            panic!("another: {error}")
        };
        assert_eq!((&id, &*question, expected.as_str()), (&open[0].id, &open[0], "u32"));
        assert_eq!(answer, Stored::encode(wrong).unwrap());
        assert!(faults[0].contains("is no `u32`"), "{faults:?}");
        assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), open);
    }
    let outcome = thread(&graph, &store).reply(&3, ledger.clone()).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["3 pieces", "other"]);
    // The sibling ran once, and the node once for each answer.
    assert_eq!(ledger.counts(["how many", "other"]), [4, 1]);
    let error = thread(&graph, &store).answer(open[0].id.clone(), &3, ledger).await.unwrap_err();
    assert!(matches!(error, RunError::AlreadyAnswered(_) | RunError::Stale(_)), "{error}");
}

/// P14: in a subgraph as well.
#[tokio::test]
async fn an_answer_of_another_type_to_a_subgraph_leaves_its_question_open() {
    let within = counting();
    let graph = Graph::builder("around").subgraph("within", Subgraph::shared(within));
    let graph = built(graph.edge(START, "within").edge("within", END));
    let (store, ledger) = (memory(), Ledger::default());
    let open = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let error = thread(&graph, &store).reply("three", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::WrongAnswer { .. }), "{error}");
    assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), open);
    let outcome = thread(&graph, &store).reply(&3, ledger.clone()).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["3 pieces", "other"]);
}

async fn twice(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let from: String = cx.interrupt("from?").await?;
    let to: String = cx.interrupt("to?").await?;
    Ok(says(format!("{from} to {to}")))
}

/// P14: an answer can be taken back until its task is done.
#[tokio::test]
async fn an_answer_is_taken_back_until_its_task_is_done() {
    let graph = Graph::builder("twice").node("twice", twice);
    let graph = built(graph.edge(START, "twice").edge("twice", END));
    let (store, ledger) = (memory(), Ledger::default());
    let thread = || thread(&graph, &store);
    let from = asked(thread().invoke(S::update(), ledger.clone()).await);
    let to = asked(thread().reply("Seoul", ledger.clone()).await);
    assert_eq!(payloads(&to), ["to?"]);
    let error = thread().reopen(&to[0].id).await.unwrap_err();
    assert!(matches!(error, RunError::Stale(_)), "{error}");
    let error = thread().reopen(&RequestId("nobody".into())).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRequest(_)), "{error}");

    thread().reopen(&from[0].id).await.unwrap();
    let both = asked(thread().resume(ledger.clone()).await);
    assert_eq!(payloads(&both), ["from?", "to?"]);
    let given = |id: &RequestId, text: &str| (id.clone(), Stored::encode(text).unwrap());
    let answers = vec![given(&from[0].id, "Busan"), given(&id_of(&both, "to?"), "Jeju")];
    let outcome = thread().run(Input::Answers(answers), ledger.clone()).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["Busan to Jeju"]);
    let error = thread().reopen(&from[0].id).await.unwrap_err();
    assert!(matches!(error, RunError::Stale(_)), "{error}");
}

/// P14: whoever passes an answer on once more, under its key, does not give it again once it was taken back.
#[tokio::test]
async fn an_answer_that_was_taken_back_does_not_come_back() {
    let graph = Graph::builder("twice").node("twice", twice);
    let graph = built(graph.edge(START, "twice").edge("twice", END));
    let (store, ledger) = (memory(), Ledger::default());
    let on = thread(&graph, &store);
    let from = asked(on.invoke(S::update(), ledger.clone()).await).remove(0).id;
    let log_of = Log::new(store.clone(), key("t"));
    let given = async |append: u128, text: &str, key: &str| {
        let answers = vec![NewAnswer::new(from.clone(), text).unwrap().key(key)];
        answer(&log_of, answers, None, AppendId(append), clock::now()).await
    };
    given(1, "Seoul", "k1").await.unwrap();
    given(2, "Seoul", "k1").await.unwrap();
    on.reopen(&from).await.unwrap();
    let again = given(3, "Seoul", "k1").await.unwrap_err();
    assert!(matches!(again, RunError::AlreadyAnswered(_)), "{again}");
    assert_eq!(open_requests(&log_of, clock::now()).await.unwrap().len(), 1);
    given(4, "Busan", "k2").await.unwrap();
    let to = asked(on.resume(ledger.clone()).await);
    assert_eq!(payloads(&to), ["to?"]);
    let ended = on.reply("Jeju", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&ended), ["Busan to Jeju"]);
}

async fn another_each_time(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let wording = cx.services().note("wording").min(2);
    let answer: String = cx.interrupt(&format!("shall I? (wording {wording})")).await?;
    Ok(says(answer))
}

/// P14: whoever answers a question that its node asks in other words is told that the answer is void.
#[tokio::test]
async fn an_answer_to_what_is_not_asked_any_more_is_told() {
    let graph = Graph::builder("words").node("words", another_each_time);
    let graph = built(graph.edge(START, "words").edge("words", END));
    let (store, ledger) = (memory(), Ledger::default());
    let open = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let observed = thread(&graph, &store).modes([Mode::Interrupts]);
    let mut events = observed.stream(Input::reply("yes").unwrap(), ledger.clone());
    let mut seen = Vec::new();
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        seen.push(event.kind);
    }
    let voided = seen.iter().find_map(|kind| match kind {
        EventKind::AnswerVoided { request, .. } => Some(request.clone()),
        _ => None,
    });
    assert_eq!(voided, Some(open[0].clone()), "{seen:?}");
    let anew = asked(events.outcome().await);
    assert_eq!(payloads(&anew), ["shall I? (wording 2)"]);
    let outcome = thread(&graph, &store).reply("yes", ledger).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(_)));
}

/// P10, P14: a question, and the end of the run that asks it, are stored at once: whoever sees the question finds the thread
/// free.
#[tokio::test]
async fn whoever_sees_a_question_can_answer_it() {
    let (graph, ledger, appends) = (counting(), Ledger::default(), Arc::<Mutex<Vec<_>>>::default());
    let noting = Noting { store: memory(), appends: appends.clone() };
    let store = SharedCheckpointer::new(Layered(noting));
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    // The run begins, what the sibling wrote, and then all that is left.
    assert_eq!(*appends.lock().unwrap(), [(1, false), (1, false), (2, true)]);
    let kinds = kinds(&thread(&graph, &store)).await;
    assert_eq!(kinds, ["begin", "write", "question", "end"]);
}

/// B43: a task that failed beside one that asks is run again by a resume, before anybody answers.
#[tokio::test]
async fn what_failed_beside_a_question_runs_again_before_the_answer() {
    let (graph, store, ledger) = (counting(), memory(), Ledger::default());
    ledger.fail(&["other"]);
    let error = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { .. }), "{error}");
    ledger.fail(&[]);
    let open = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(
        (payloads(&open), ledger.counts(["how many", "other"])),
        (vec!["how many?".into()], [1, 2])
    );
    // Now there is nothing to do but to wait.
    assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), open);
    assert_eq!(ledger.counts(["how many", "other"]), [1, 2]);
    let outcome = thread(&graph, &store).reply(&1, ledger.clone()).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["1 pieces", "other"]);
    assert_eq!(ledger.counts(["how many", "other"]), [2, 2]);
}

/// P57: an edit beside an open question is a checkpoint where something is pending, so a cut goes no further than to the one
/// before, and the question is answered as if nothing had been cut.
#[tokio::test(start_paused = true)]
async fn a_cut_keeps_what_is_asked() {
    let graph = Graph::builder("clock").node("before", work).node("asks", by_the_clock);
    let graph = graph.edge(START, "before").edge("before", "asks").edge("asks", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let thread = || thread(&graph, &store);
    asked(thread().invoke(S::update(), ledger.clone()).await);
    thread().edit(S::update().n(7)).await.unwrap();
    let head = async || store.head(thread().log().thread()).await.unwrap().unwrap();
    let before = head().await;
    thread().log().prune(Keep::Newest).await.unwrap();
    assert!(head().await.floor < before.position);
    let state = thread().reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state).last(), Some(&"yes"));
}
