//! Threads: what survives, what is not run again, and who may run.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hanok_checkpoint::{Body, Checkpointer, InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Cancellation, Namespace, Tenant, ThreadKey, Token};
use hanok_graph::{
    App, BoxError, Context, END, EventKind, Graph, Input, Limit, Outcome, RunError, START, Snapshot,
};
use hanok_state::{List, Message, Messages, State};

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    messages: Messages,
    #[reduce(append)]
    log: List<String>,
    n: u32,
}

/// Counts how often each node ran, and says which of them fail.
#[derive(Debug, Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<String, u32>>>, Arc<Mutex<Vec<&'static str>>>);

impl Ledger {
    fn note(&self, what: &str) -> u32 {
        let mut counts = self.0.lock().unwrap();
        let count = counts.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    fn of(&self, what: &str) -> u32 {
        self.0.lock().unwrap().get(what).copied().unwrap_or_default()
    }

    fn fail(&self, nodes: &[&'static str]) {
        *self.1.lock().unwrap() = nodes.to_vec();
    }

    fn fails(&self, node: &str) -> bool {
        self.1.lock().unwrap().contains(&node)
    }
}

async fn work(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    if cx.services().fails(cx.node()) {
        return Err("out of order".into());
    }
    Ok(S::update().push_log(cx.node().to_owned()))
}

fn log(state: &S) -> Vec<&str> {
    state.log.iter().map(String::as_str).collect()
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

fn chain() -> Graph<S, Ledger> {
    Graph::builder("chain")
        .node("a", work)
        .node("b", work)
        .node("c", work)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("c", END)
        .build()
        .unwrap()
}

fn fan() -> Graph<S, Ledger> {
    Graph::builder("fan")
        .node("bad", work)
        .node("ok", work)
        .node("src", work)
        .node("end", work)
        .edge(START, "src")
        .edge("src", "ok")
        .edge("src", "bad")
        .edge("ok", "end")
        .edge("bad", "end")
        .edge("end", END)
        .build()
        .unwrap()
}

fn app(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> App<S, Ledger> {
    graph.checkpointer(store.clone())
}

fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// B70: a second turn goes on from the state; another thread knows nothing of it.
#[tokio::test]
async fn a_thread_goes_on_from_what_it_said_before() {
    let (store, ledger) = (memory(), Ledger::default());
    for turn in 1..=3u32 {
        let thread = app(&chain(), &store).thread(key("t"));
        let update = S::update().message(Message::user(format!("turn {turn}"))).n(turn);
        let state = thread.invoke(update, ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!((state.messages.len() as u32, state.log.len() as u32), (turn, 3 * turn));
        assert_eq!(thread.state(None).await.unwrap(), Some(state));
    }
    assert_eq!(app(&chain(), &store).thread(key("u")).state(None).await.unwrap(), None);
}

/// P20: however often a thread is begun, at once, one after the other, by two apps or after a failure, it is one turn with one input.
#[tokio::test]
async fn a_thread_that_is_begun_again_is_one_turn() {
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["b"]);
    let apps = [app(&chain(), &store), app(&chain(), &store)];
    let begin = |n: usize| {
        let thread = apps[n % 2].thread(key("t"));
        let update = S::update().message(Message::user("hello")).n(n as u32);
        let ledger = ledger.clone();
        async move { thread.begin(update, ledger).await }
    };
    assert!(matches!(begin(7).await, Err(RunError::Node { .. })));
    ledger.fail(&[]);
    for outcome in futures::future::join_all((0..6).map(begin)).await {
        match outcome {
            Ok(outcome) => assert_eq!(outcome.done().unwrap().n, 7),
            Err(error) => assert!(matches!(error, RunError::Conflict { .. }), "{error:?}"),
        }
    }
    let state = begin(8).await.unwrap().done().unwrap();
    assert_eq!((state.messages.len(), log(&state), state.n), (1, vec!["a", "b", "c"], 7));
    assert_eq!((ledger.of("a"), ledger.of("b"), ledger.of("c")), (1, 2, 1));
}

/// B43, P2: a failed node is run again, what was before it is not.
#[tokio::test]
async fn after_a_failure_only_what_is_missing_runs() {
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["c"]);
    let thread = app(&chain(), &store).thread(key("t"));
    let error = thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `c` failed in super-step 2");
    ledger.fail(&[]);
    let thread = app(&chain(), &store).thread(key("t"));
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "b", "c"]);
    assert_eq!((ledger.of("a"), ledger.of("b"), ledger.of("c")), (1, 1, 2));
}

/// B43, P2: a finished sibling of a failed node is not run again.
#[tokio::test]
async fn a_siblings_stored_write_survives_the_failure_of_another() {
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["bad"]);
    let thread = app(&fan(), &store).thread(key("t"));
    thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(log(&thread.state(None).await.unwrap().unwrap()), ["src"]);
    ledger.fail(&[]);
    let thread = app(&fan(), &store).thread(key("t"));
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["src", "bad", "ok", "end"]);
    assert_eq!((ledger.of("src"), ledger.of("ok"), ledger.of("bad")), (1, 1, 2));
}

/// B45: the last checkpoint can be resumed with a higher limit.
#[tokio::test]
async fn a_turn_that_reached_its_limit_goes_on_with_a_higher_one() {
    let (store, ledger) = (memory(), Ledger::default());
    let thread = app(&chain(), &store).thread(key("t"));
    let outcome = thread.clone().recursion_limit(2).invoke(S::update(), ledger.clone()).await;
    assert!(matches!(outcome.unwrap(), Outcome::LimitReached { which: Limit::Steps(2), .. }));
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "b", "c"]);
    assert_eq!(ledger.of("a"), 1);
}

/// P10, B76: of two runs one gets a conflict before its first node.
#[tokio::test(start_paused = true)]
async fn a_second_run_of_a_thread_is_refused_before_its_first_node() {
    async fn wait(_: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
        cx.services().note("wait");
        cx.runtime().clock.sleep(Duration::from_millis(50)).await;
        Ok(())
    }
    let graph = Graph::<S, Ledger>::builder("wait")
        .node("wait", wait)
        .edge(START, "wait")
        .edge("wait", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let one = app(&graph, &store);
    let thread = one.thread(key("t"));
    // The same handle, and another one as in another process.
    for second in [one.thread(key("t")), app(&graph, &store).thread(key("t"))] {
        let before = ledger.of("wait");
        let first = thread.invoke(S::update().message("first"), ledger.clone());
        let late = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            second.invoke(S::update().message("second"), ledger.clone()).await
        };
        let (first, late) = tokio::join!(first, late);
        first.unwrap().done().unwrap();
        assert!(matches!(late.unwrap_err(), RunError::Conflict { holder: Some(_), .. }));
        assert_eq!(ledger.of("wait"), before + 1);
        // It can be tried again, and no message is lost.
        second.invoke(S::update().message("again"), ledger.clone()).await.unwrap().done().unwrap();
    }
    let state = thread.state(None).await.unwrap().unwrap();
    let said: Vec<_> = state.messages.iter().map(|m| m.text().into_owned()).collect();
    assert_eq!(said, ["first", "again", "first", "again"]);
}

/// P15 in part: a run that is dropped is a lost one, and the next run finishes its turn first.
#[tokio::test(start_paused = true)]
async fn the_turn_of_a_dropped_run_is_finished_first() {
    async fn slow(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let times = cx.services().note("slow");
        if times == 1 {
            std::future::pending::<()>().await;
        }
        Ok(S::update().push_log(format!("slow {}", state.messages.len())))
    }
    let graph = Graph::<S, Ledger>::builder("slow")
        .node("a", work)
        .node("slow", slow)
        .edge(START, "a")
        .edge("a", "slow")
        .edge("slow", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let app = app(&graph, &store);
    let thread = app.thread(key("t"));
    let run = thread.invoke(S::update().message("one"), ledger.clone());
    tokio::time::timeout(Duration::from_millis(50), run).await.unwrap_err();
    let update = S::update().message("two");
    let state = thread.invoke(update, ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "slow 1", "a", "slow 2"]);
    assert_eq!(ledger.of("a"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_what_was_committed_and_can_go_on() {
    async fn slow(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().note("slow") == 1 {
            std::future::pending::<()>().await;
        }
        Ok(S::update().push_log("slow"))
    }
    let graph = Graph::<S, Ledger>::builder("slow")
        .node("a", work)
        .node("slow", slow)
        .edge(START, "a")
        .edge("a", "slow")
        .edge("slow", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let thread = app(&graph, &store).thread(key("t"));
    let stop = Cancellation::default();
    let stopped = thread.clone().cancellation(stop.clone());
    let (outcome, ()) = tokio::join!(stopped.invoke(S::update(), ledger.clone()), async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        stop.cancel();
    });
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_)));
    assert!(store.head(&key("t")).await.unwrap().unwrap().claim.is_none());
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "slow"]);
    assert_eq!(ledger.of("a"), 1);
}

/// What came before a failure inside a node is not done again if it was a step.
#[tokio::test]
async fn a_memoised_step_is_not_done_again() {
    async fn steps(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let first: String = cx
            .step("first", || async { Ok::<_, BoxError>(format!("paid {}", ledger.note("first"))) })
            .await?;
        if ledger.fails("steps") {
            return Err("after the step".into());
        }
        let twice = cx.step("first", || async { Ok::<_, BoxError>(1) }).await;
        assert_eq!(twice.unwrap_err().to_string(), "two steps of one task are named `first`");
        Ok(S::update().push_log(first))
    }
    let graph = Graph::<S, Ledger>::builder("steps")
        .node("steps", steps)
        .edge(START, "steps")
        .edge("steps", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["steps"]);
    let thread = app(&graph, &store).thread(key("t"));
    thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["paid 1"]);
}

async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("ask");
    let answer: String = cx.interrupt("지급할까요?").await?;
    Ok(S::update().push_log(answer))
}

fn asking() -> Graph<S, Ledger> {
    Graph::builder("asking")
        .node("ask", ask)
        .node("other", work)
        .edge(START, "ask")
        .edge(START, "other")
        .edge("ask", END)
        .edge("other", END)
        .build()
        .unwrap()
}

/// B57, B58, B62, B63: a question ends the run; its answer goes on, once, in another process as well.
#[tokio::test]
async fn a_question_waits_for_its_answer_and_siblings_are_not_run_again() {
    let (store, ledger) = (memory(), Ledger::default());
    let thread = app(&asking(), &store).thread(key("t"));
    let outcome = thread.invoke(S::update(), ledger.clone()).await.unwrap();
    let Outcome::Interrupted(requests) = outcome else { panic!("another outcome") };
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].payload::<String>().unwrap(), "지급할까요?");

    let thread = app(&asking(), &store).thread(key("t"));
    let error = thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::Unfinished { .. }));
    let again = thread.resume(ledger.clone()).await.unwrap();
    assert!(matches!(again, Outcome::Interrupted(_)));
    let wrong = hanok_core::RequestId("nobody".into());
    let error = thread.answer(wrong, "네", ledger.clone()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no request `nobody`; `resume` shows those that are open"
    );

    let id = requests[0].id.clone();
    let state = thread.answer(id.clone(), "네", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["네", "other"]);
    assert_eq!((ledger.of("ask"), ledger.of("other")), (2, 1));
    let twice = thread.answer(id, "아니오", ledger.clone()).await.unwrap_err();
    assert!(matches!(twice, RunError::AlreadyAnswered(_)));
}

/// B65
#[tokio::test]
async fn a_question_without_a_store_is_an_error_that_says_so() {
    let error = asking().invoke(S::update(), Ledger::default()).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("needs a checkpointer"), "{source}");
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Child {
    #[reduce(append)]
    log: List<String>,
}

async fn child_work(_: Snapshot<Child>, cx: Context<Ledger>) -> Result<ChildUpdate, BoxError> {
    cx.services().note(cx.node());
    if cx.services().fails(cx.node()) {
        return Err("out of order".into());
    }
    Ok(Child::update().push_log(cx.node().to_owned()))
}

async fn parent(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let child = Graph::<Child, Ledger>::builder("child")
        .node("one", child_work)
        .node("two", child_work)
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", END)
        .build()?;
    cx.services().note("parent");
    let input = Child::update().push_log("in");
    let state = cx.run(&child, input, cx.services().clone()).await?.done()?;
    Ok(S::update().log(state.log.iter().cloned()))
}

fn parents() -> Graph<S, Ledger> {
    Graph::builder("parent")
        .node("parent", parent)
        .edge(START, "parent")
        .edge("parent", END)
        .build()
        .unwrap()
}

/// B94 (per call): a subgraph goes on where it stopped, in a namespace of the thread's own log.
#[tokio::test]
async fn a_subgraph_goes_on_where_it_stopped() {
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["two"]);
    let thread = app(&parents(), &store).thread(key("t"));
    let error = thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    let chain: Vec<_> =
        std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source())
            .map(ToString::to_string)
            .collect();
    assert_eq!(chain[0], "node `parent` failed in super-step 0");
    assert!(
        chain.iter().any(|line| line.starts_with("node `two` failed in super-step 1 of `parent#")),
        "{chain:?}"
    );
    ledger.fail(&[]);
    let thread = app(&parents(), &store).thread(key("t"));
    let state = thread.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "one", "two"]);
    assert_eq!((ledger.of("parent"), ledger.of("one"), ledger.of("two")), (2, 1, 2));
    // Each call starts fresh.
    let state = thread.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "one", "two", "in", "one", "two"]);
}

/// B67 in part: a question of a subgraph ends the whole run, and its answer goes on inside.
#[tokio::test]
async fn a_question_of_a_subgraph_is_answered_there() {
    async fn child_ask(_: Snapshot<Child>, cx: Context<Ledger>) -> Result<ChildUpdate, BoxError> {
        let answer: u32 = cx.interrupt(&("how many?", 3)).await?;
        Ok(Child::update().push_log(answer.to_string()))
    }
    async fn outer(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let child = Graph::<Child, Ledger>::builder("child")
            .node("one", child_work)
            .node("ask", child_ask)
            .edge(START, "one")
            .edge("one", "ask")
            .edge("ask", END)
            .build()?;
        let state = cx.run(&child, Child::update(), cx.services().clone()).await?.done()?;
        Ok(S::update().log(state.log.iter().cloned()))
    }
    let graph = Graph::<S, Ledger>::builder("outer")
        .node("outer", outer)
        .edge(START, "outer")
        .edge("outer", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let thread = app(&graph, &store).thread(key("t"));
    let outcome = thread.invoke(S::update(), ledger.clone()).await.unwrap();
    let Outcome::Interrupted(requests) = outcome else { panic!("another outcome") };
    let thread = app(&graph, &store).thread(key("t"));
    let id = requests[0].id.clone();
    let state = thread.answer(id, &7u32, ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["one", "7"]);
    assert_eq!(ledger.of("one"), 1);
}

/// B99, B101, B102, B105: the same run, observed.
#[tokio::test]
async fn a_stream_shows_the_run_as_it_goes() {
    async fn talk(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.custom("half way");
        if let Some(sink) = cx.call("model", "m", "{}").sink() {
            sink.token(Token::Text("안".into()));
            sink.token(Token::Text("녕".into()));
        }
        Ok(S::update().message(Message::assistant("안녕")))
    }
    let graph = Graph::<S, Ledger>::builder("talk")
        .node("talk", talk)
        .node("parent", parent)
        .edge(START, "talk")
        .edge("talk", "parent")
        .edge("parent", END)
        .build()
        .unwrap();
    let thread = app(&graph, &memory()).thread(key("t"));
    let mut events = thread.stream(Input::New(S::update().message("hi")), Ledger::default());
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let path = event.path.segments().next().map(|s| s.split('#').next().unwrap().to_owned());
        let what = match &event.kind {
            EventKind::Values(state) => {
                assert!(event.id.is_some());
                match (state.downcast_ref::<S>(), state.downcast_ref::<Child>()) {
                    (Some(s), None) => format!("values {}/{}", s.messages.len(), s.log.len()),
                    (None, Some(c)) => format!("values {}", c.log.len()),
                    _ => panic!("a state of neither type"),
                }
            }
            EventKind::Updates(update) => {
                format!("updates {}", update.to_changes().unwrap().0.len())
            }
            EventKind::Custom(item) => format!("custom {item}"),
            EventKind::Token(Token::Text(text)) => format!("token {text}"),
            EventKind::TaskStarted { .. } => "starts".to_owned(),
            EventKind::Ended { outcome, .. } => format!("ended {outcome}"),
            EventKind::GraphStarted { graph, cause } => format!("{graph} starts by {}", cause.node),
            EventKind::GraphEnded { graph, outcome, .. } => format!("{graph} ended {outcome}"),
            other => format!("{other:?}"),
        };
        let node = event.node.as_deref().unwrap_or("-").to_owned();
        seen.push(format!("{} {}.{node}: {what}", path.unwrap_or_default(), event.step));
    }
    assert!(matches!(events.outcome().await.unwrap(), Outcome::Done(_)));
    insta::assert_snapshot!(seen.join("\n"));
}

/// G: history, fork and rewind of a thread.
#[tokio::test]
async fn a_thread_can_be_read_forked_and_rewound() {
    let (store, ledger) = (memory(), Ledger::default());
    let app = app(&chain(), &store);
    let thread = app.thread(key("t"));
    thread.invoke(S::update().n(1), ledger.clone()).await.unwrap();
    let first = store.head(&key("t")).await.unwrap().unwrap().position;
    thread.invoke(S::update().n(2), ledger.clone()).await.unwrap();

    let history = thread.history(None, 100).await.unwrap();
    let commits: Vec<_> = history
        .iter()
        .filter_map(|entry| match &entry.entry.body {
            Body::Commit(commit) => Some(commit.nodes.join("+")),
            _ => None,
        })
        .collect();
    assert_eq!(commits, ["c", "b", "a", "c", "b", "a"]);
    assert!(history.windows(2).all(|pair| pair[0].position > pair[1].position));

    assert_eq!(thread.state(Some(first)).await.unwrap().unwrap().n, 1);
    thread.fork(Some(first), &key("fork")).await.unwrap();
    thread.rewind(first).await.unwrap();
    assert_eq!(thread.state(None).await.unwrap().unwrap().log.len(), 3);
    let fork = app.thread(key("fork"));
    thread.delete().await.unwrap();
    let state = fork.invoke(S::update(), ledger).await.unwrap().done().unwrap();
    assert_eq!((state.n, state.log.len()), (1, 6));
    assert_eq!(fork.history(None, 100).await.unwrap().len(), 1 + 1 + 3 + 1);
}

/// A thread that two versions of a state write in turn; what one does not know rides along.
#[tokio::test]
async fn a_thread_outlives_a_change_of_its_state() {
    #[derive(State, Debug, Clone, Default)]
    #[state(version = 2, upgrade = upgrade)]
    struct Newer {
        #[reduce(append)]
        log: List<String>,
        #[state(alias = "n")]
        count: u32,
        added: String,
    }
    fn upgrade(from: u32, fields: &mut hanok_core::Fields) -> Result<(), BoxError> {
        assert_eq!(from, 1);
        let value = hanok_core::Stored::encode("upgraded")?;
        fields.insert("added", hanok_core::Field::Value(value));
        Ok(())
    }
    async fn newer(_: Snapshot<Newer>, _: Context<Ledger>) -> Result<NewerUpdate, BoxError> {
        Ok(Newer::update().push_log("newer"))
    }
    let (store, ledger) = (memory(), Ledger::default());
    let update = S::update().message("kept").n(5);
    app(&chain(), &store).thread(key("t")).invoke(update, ledger.clone()).await.unwrap();
    let graph = Graph::<Newer, Ledger>::builder("chain")
        .node("newer", newer)
        .edge(START, "newer")
        .edge("newer", END)
        .build()
        .unwrap();
    let thread = graph.checkpointer(store.clone()).thread(key("t"));
    let state = thread.invoke(Newer::update(), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((state.log.len(), state.count, state.added.as_str()), (4, 5, "upgraded"));
    let fold = thread.log().open(None).await.unwrap().unwrap().fold;
    assert!(fold.run(&Namespace::root()).unwrap().fields.get("messages").is_some());

    let error = app(&chain(), &store).thread(key("t")).invoke(S::update(), ledger).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "the state was stored in version 2 of its type, and this build has version 1; it takes a build that has version 2"
    );
}

/// A subgraph that a newer build goes on with is upgraded once, however often that build has to begin again.
#[tokio::test]
async fn a_subgraphs_state_is_upgraded_once() {
    static UPGRADES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

    #[derive(State, Debug, Clone, Default)]
    #[state(version = 2, upgrade = upgrade)]
    struct NewerChild {
        #[reduce(append)]
        log: List<String>,
    }
    fn upgrade(_: u32, fields: &mut hanok_core::Fields) -> Result<(), BoxError> {
        UPGRADES.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let upgraded = hanok_core::Stored::encode("upgraded")?;
        Ok(fields.apply("log", &hanok_core::Change::Append(vec![upgraded]))?)
    }
    async fn newer(
        _: Snapshot<NewerChild>,
        cx: Context<Ledger>,
    ) -> Result<NewerChildUpdate, BoxError> {
        if cx.services().fails(cx.node()) {
            return Err("out of order".into());
        }
        Ok(NewerChild::update().push_log(cx.node().to_owned()))
    }
    async fn newer_parent(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let child = Graph::<NewerChild, Ledger>::builder("child")
            .node("one", newer)
            .node("two", newer)
            .edge(START, "one")
            .edge("one", "two")
            .edge("two", END)
            .build()?;
        let state = cx.run(&child, NewerChild::update(), cx.services().clone()).await?.done()?;
        Ok(S::update().log(state.log.iter().cloned()))
    }
    let newer = Graph::<S, Ledger>::builder("parent")
        .node("parent", newer_parent)
        .edge(START, "parent")
        .edge("parent", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["two"]);
    let thread = app(&parents(), &store).thread(key("t"));
    thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    let thread = app(&newer, &store).thread(key("t"));
    thread.resume(ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let state = thread.resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "one", "upgraded", "two"]);
    assert_eq!(UPGRADES.load(std::sync::atomic::Ordering::SeqCst), 1);
}
