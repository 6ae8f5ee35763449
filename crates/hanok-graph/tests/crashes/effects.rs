//! Calls that must not be made twice: their intent, what becomes of a doubt, and their keys.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_checkpoint::{Body, SharedCheckpointer};
use hanok_core::Position;
use hanok_graph::{
    BoxError, Context, Doubt, END, Failure, Graph, GraphBuilder, NewInput, NodeSettings, NotMade,
    Outcome, Resolution, Retry, RunError, START, Snapshot, StepError, Subgraph, Unfinished,
};
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, built, doubted,
    dying::{Dies, Dying},
    entries, key, kind, kinds, log, lost, memory, says, thread, work,
};

/// A node that pays once and says what it got. It gets no answer when the ledger hangs or fails `pay`.
async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    pays(cx, Doubt::Ask).await
}

async fn pays(cx: Context<Ledger>, doubt: Doubt) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    ledger.note(cx.node());
    let paid = cx
        .once("pay", r#"{"won":1000}"#, doubt, |_| async {
            let times = ledger.note("paid");
            if ledger.hangs("pay") {
                std::future::pending::<()>().await;
            }
            if ledger.fails("refused") {
                return Err(BoxError::from(NotMade("no such account".into())));
            }
            if ledger.fails("pay") {
                return Err("no answer".into());
            }
            Ok(format!("receipt {times}"))
        })
        .await;
    match paid {
        Err(StepError::GivenUp { tool, .. }) => Ok(says(format!("{tool} given up"))),
        paid => Ok(says(paid?)),
    }
}

fn paying() -> GraphBuilder<S, Ledger> {
    let graph = Graph::builder("paying").node("before", work).node("pay", pay).node("after", work);
    graph.edge(START, "before").edge("before", "pay").edge("pay", "after").edge("after", END)
}

fn is_doubt(error: &RunError) -> bool {
    matches!(error, RunError::Unfinished { why: Unfinished::InDoubt(_), .. })
}

fn is(what: &'static str) -> impl Fn(&Body) -> bool + Send + Sync + 'static {
    move |body| kind(body) == what
}

/// What a person may say of a call, what the node then writes, and how often the call is made after that.
fn settlements() -> Vec<(Resolution, &'static str, u32)> {
    vec![
        (Resolution::made("by hand").unwrap(), "by hand", 0),
        (Resolution::NotMade, "receipt", 1),
        (Resolution::GiveUp, "pay given up", 0),
    ]
}

/// P4: the process dies right after the intent, or after the call and before its result is stored: nobody knows, so a
/// person is asked, and until then nothing of the task is done again.
#[tokio::test]
async fn a_call_that_may_have_been_made_is_not_repeated_before_a_person_says_so() {
    // (dies at, how often the call was made by then)
    for (at, dies, made) in [("intent", Dies::After, 0), ("memo", Dies::Before, 1)] {
        for (resolution, says, more) in settlements() {
            let (store, ledger) = (memory(), Ledger::default());
            let graph = built(paying());
            let dying = Dying::new(&store, (1, dies), is(at));
            let died = thread(&graph, &dying.shared()).invoke(S::update(), ledger.clone()).await;
            assert!(died.is_err() && dying.died());
            assert_eq!(ledger.counts(["before", "pay", "paid", "after"]), [1, 1, made, 0]);
            lost(&store, &key("t")).await;

            for _ in 0..3 {
                let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
                assert_eq!(doubts.len(), 1);
                let doubt = doubts[0].doubt.as_ref().unwrap();
                assert_eq!(
                    (doubt.tool.as_str(), doubt.arguments.as_str()),
                    ("pay", r#"{"won":1000}"#)
                );
                assert_eq!(doubts[0].node, "pay");
                let refused = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
                let RunError::Unfinished { why, .. } = refused.unwrap_err() else {
                    panic!("another error");
                };
                assert!(matches!(why, Unfinished::InDoubt(again) if again == doubts));
            }
            assert_eq!(ledger.counts(["before", "pay", "paid", "after"]), [1, 1, made, 0]);

            let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
            let (id, on) = (doubts[0].id.clone(), thread(&graph, &store));
            let wrong = on.answer(id.clone(), "perhaps", ledger.clone()).await.unwrap_err();
            assert!(matches!(wrong, RunError::WrongAnswer { .. }), "{wrong}");
            let state = on.settle(id.clone(), resolution, ledger.clone()).await;
            let state = state.unwrap().done().unwrap();
            assert!(log(&state)[1].starts_with(says), "{at}: {:?}", log(&state));
            assert_eq!(ledger.counts(["before", "pay", "paid", "after"]), [1, 2, made + more, 1]);
            let late = on.settle(id, Resolution::NotMade, ledger.clone()).await.unwrap_err();
            assert!(matches!(late, RunError::AlreadyAnswered(_)), "{late}");
        }
    }
}

/// P4: before the intent is stored nothing was called, and after the result is stored nothing is called again: no doubt.
#[tokio::test]
async fn where_everything_is_known_nobody_is_asked() {
    for (at, nth, dies) in [
        ("intent", 1, Dies::Before),
        ("memo", 1, Dies::After),
        ("commit", 2, Dies::Before),
        ("commit", 2, Dies::After),
    ] {
        let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
        let dying = Dying::new(&store, (nth, dies), is(at));
        thread(&graph, &dying.shared()).invoke(S::update(), ledger.clone()).await.unwrap_err();
        assert!(dying.died(), "{at}");
        lost(&store, &key("t")).await;
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["before", "receipt 1", "after"], "{at} {dies:?}");
        assert_eq!(ledger.of("paid"), 1, "{at} {dies:?}");
    }
}

/// P4: what a tool said about doubts beforehand counts: its call is repeated, or given up, without a question.
#[tokio::test]
async fn a_tool_may_say_beforehand_what_becomes_of_a_doubt() {
    async fn repeat(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        pays(cx, Doubt::Repeat).await
    }
    async fn give_up(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        pays(cx, Doubt::GiveUp).await
    }
    for (doubt, want, times) in [("repeat", "receipt 3", 3), ("give up", "pay given up", 1)] {
        let graph = Graph::builder("paying");
        let graph = match doubt {
            "repeat" => graph.node("pay", repeat),
            _ => graph.node("pay", give_up),
        };
        let graph = built(graph.edge(START, "pay").edge("pay", END));
        let (store, ledger) = (memory(), Ledger::default());
        // It dies twice, each time after the call.
        let first = Dying::new(&store, (1, Dies::Before), is("memo"));
        thread(&graph, &first.shared()).invoke(S::update(), ledger.clone()).await.unwrap_err();
        lost(&store, &key("t")).await;
        let second = Dying::new(&store, (1, Dies::Before), is("memo"));
        let again = thread(&graph, &second.shared()).resume(ledger.clone()).await;
        if times == 1 {
            assert_eq!(log(&again.unwrap().done().unwrap()), [want]);
        } else {
            again.unwrap_err();
            lost(&store, &key("t")).await;
            let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap();
            assert_eq!(log(&state.done().unwrap()), [want]);
        }
        assert_eq!(ledger.of("paid"), times, "{doubt}");
    }
}

/// P4: said not to have been made, a call is made again, and may be in doubt again: another request.
#[tokio::test]
async fn a_repeated_call_may_be_in_doubt_again() {
    let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
    let mut ids = BTreeSet::new();
    let dying = Dying::new(&store, (1, Dies::Before), is("memo"));
    thread(&graph, &dying.shared()).invoke(S::update(), ledger.clone()).await.unwrap_err();
    for round in 1..4 {
        lost(&store, &key("t")).await;
        let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!(doubts.len(), 1);
        ids.insert(doubts[0].id.clone());
        assert_eq!((ids.len(), ledger.of("paid")), (round, round as u32));
        let dying = Dying::new(&store, (1, Dies::Before), is("memo"));
        let on = thread(&graph, &dying.shared());
        let id = doubts[0].id.clone();
        on.settle(id, Resolution::NotMade, ledger.clone()).await.unwrap_err();
    }
    lost(&store, &key("t")).await;
    let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
    let on = thread(&graph, &store);
    let settled = on.settle(doubts[0].id.clone(), Resolution::GiveUp, ledger);
    assert_eq!(log(&settled.await.unwrap().done().unwrap()), ["before", "pay given up", "after"]);
}

async fn handled(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("handled");
    Ok(says("handled"))
}

/// P4: an error that leaves a doubt is neither tried again nor handled; with a store the run is in doubt afterwards,
/// without one it fails.
#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_is_not_tried_again() {
    let graph = paying()
        .configure("pay", NodeSettings::new().retry(Retry::attempts(5)))
        .configure("pay", NodeSettings::new().on_error(handled, [END]));
    let graph = built(graph);
    for store in [Some(memory()), None] {
        let ledger = Ledger::default();
        ledger.fail(&["pay"]);
        let failed = match &store {
            Some(store) => thread(&graph, store).invoke(S::update(), ledger.clone()).await,
            None => graph.invoke(S::update(), ledger.clone()).await,
        };
        let RunError::Node { node, .. } = failed.unwrap_err() else { panic!("another error") };
        assert_eq!(&*node, "pay");
        assert_eq!(ledger.counts(["pay", "paid", "handled"]), [1, 1, 0], "{}", store.is_some());
        let Some(store) = store else { continue };
        ledger.fail(&[]);
        let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
        let id = doubts[0].id.clone();
        let state = thread(&graph, &store).settle(id, Resolution::NotMade, ledger.clone()).await;
        assert_eq!(log(&state.unwrap().done().unwrap()), ["before", "receipt 2", "after"]);
    }
}

/// P4: a call that may be repeated is tried again like any other work.
#[tokio::test(start_paused = true)]
async fn a_call_that_may_be_repeated_is_tried_again() {
    async fn repeat(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.attempt() == 3 {
            cx.services().fail(&[]);
        }
        pays(cx, Doubt::Repeat).await
    }
    let graph = Graph::builder("repeat").node("pay", repeat).edge(START, "pay").edge("pay", END);
    let graph = built(graph.configure("pay", NodeSettings::new().retry(Retry::attempts(5))));
    for store in [Some(memory()), None] {
        let ledger = Ledger::default();
        ledger.fail(&["pay"]);
        let outcome = match &store {
            Some(store) => thread(&graph, store).invoke(S::update(), ledger.clone()).await,
            None => graph.invoke(S::update(), ledger.clone()).await,
        };
        assert_eq!(log(&outcome.unwrap().done().unwrap()), ["receipt 3"]);
        assert_eq!(ledger.of("paid"), 3);
    }
}

/// P4: an error that says that the call was not made leaves no doubt: it is tried again, and then handled.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_certainly_not_made_is_tried_again() {
    let graph = paying()
        .configure("pay", NodeSettings::new().retry(Retry::attempts(3)))
        .configure("pay", NodeSettings::new().on_error(handled, ["after"]));
    let graph = built(graph);
    for store in [Some(memory()), None] {
        let ledger = Ledger::default();
        ledger.fail(&["refused"]);
        let outcome = match &store {
            Some(store) => thread(&graph, store).invoke(S::update(), ledger.clone()).await,
            None => graph.invoke(S::update(), ledger.clone()).await,
        };
        assert_eq!(log(&outcome.unwrap().done().unwrap()), ["before", "handled", "after"]);
        assert_eq!(ledger.counts(["pay", "paid", "handled"]), [3, 3, 1]);
    }
}

/// P4: a run that is dropped, or a node that is out of time, in the middle of the call leaves the same doubt.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_leaves_a_doubt() {
    for cut in ["dropped", "timed out"] {
        let graph = match cut {
            "dropped" => built(paying()),
            _ => built(
                paying()
                    .configure("pay", NodeSettings::new().timeout(Duration::from_secs(1)))
                    .retry_all(Retry::attempts(3)),
            ),
        };
        let (store, ledger) = (memory(), Ledger::default());
        ledger.hang(&["pay"]);
        // Only the call hangs, not a node.
        let on = thread(&graph, &store);
        let run = on.invoke(S::update(), ledger.clone());
        match tokio::time::timeout(Duration::from_secs(5), run).await {
            Ok(ended) => assert!(matches!(ended.unwrap_err(), RunError::Node { .. }), "{cut}"),
            Err(_) => assert_eq!(cut, "dropped"),
        }
        lost(&store, &key("t")).await;
        ledger.hang(&[]);
        let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!(ledger.counts(["pay", "paid"]), [1, 1]);
        let made = Resolution::made("receipt of the bank").unwrap();
        let id = doubts[0].id.clone();
        let state = thread(&graph, &store).settle(id, made, ledger.clone()).await.unwrap();
        assert_eq!(log(&state.done().unwrap()), ["before", "receipt of the bank", "after"]);
        assert_eq!(ledger.of("paid"), 1);
    }
}

/// P4, B62: siblings of a task in doubt run to their end and not again; the doubt of a subgraph names its path.
#[tokio::test]
async fn a_doubt_in_a_subgraph_does_not_hold_up_siblings() {
    let inner = Graph::builder("inner").node("pay", pay).edge(START, "pay").edge("pay", END);
    let subgraph = Subgraph::new(
        built(inner),
        |_: &S| S::update(),
        |inner: &S| S::update().log(inner.log.iter().cloned()),
    );
    let graph = Graph::builder("outer").subgraph("call", subgraph).node("side", work);
    let graph = graph.edge(START, "call").edge(START, "side").edge("call", END).edge("side", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    ledger.fail(&["pay"]);
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!((doubts.len(), doubts[0].path.depth()), (1, 1));
    let id = doubts[0].id.clone();
    let made = Resolution::made("paid").unwrap();
    let state = thread(&graph, &store).settle(id, made, ledger.clone()).await.unwrap();
    assert_eq!(log(&state.done().unwrap()), ["paid", "side"]);
    assert_eq!(ledger.counts(["side", "paid"]), [1, 1]);
}

/// P4, B68: a turn in doubt is replaced by whoever says that the doubt may go; its call is not made again in anybody's name
/// but the new turn's own.
#[tokio::test]
async fn a_turn_in_doubt_is_replaced_by_who_discards_the_doubt() {
    let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
    ledger.fail(&["pay"]);
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
    let replacing = thread(&graph, &store).new_input(NewInput::Replace);
    let refused = replacing.invoke(says("anew"), ledger.clone()).await.unwrap_err();
    assert!(is_doubt(&refused), "{refused}");
    let replacing = replacing.discarding_doubts();
    let state = replacing.invoke(says("anew"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["before", "anew", "before", "receipt 2", "after"]);
    let id = doubts[0].id.clone();
    let stale = thread(&graph, &store).settle(id, Resolution::NotMade, ledger).await;
    assert!(matches!(stale.unwrap_err(), RunError::Stale(_)));
}

/// Notes the keys of its calls.
type Keys = Arc<Mutex<Vec<Vec<String>>>>;

async fn calls(_: Snapshot<S>, cx: Context<(Ledger, Keys)>) -> Result<SUpdate, BoxError> {
    let (ledger, keys) = cx.services();
    let of = |kind, name, arguments| cx.call(kind, name, arguments).key().to_string();
    keys.lock().unwrap().push(vec![
        of("model", "m", "{}"),
        of("tool", "m", "{}"),
        of("tool", "n", "{}"),
        of("tool", "n", r#"{"a":1}"#),
        of("tool", "n", "{}"),
        of("tool", "n", "{}"),
    ]);
    match ledger.note("calls") {
        1 | 3 => Err("again".into()),
        2 => {
            std::future::pending::<()>().await;
            Ok(S::update())
        }
        _ => Ok(S::update()),
    }
}

async fn keys_of(store: &SharedCheckpointer) -> (Vec<Vec<String>>, Position) {
    let graph = Graph::<S, (Ledger, Keys)>::builder("calls").node("calls", calls);
    let graph = graph.edge(START, "calls").edge("calls", END).retry_all(Retry::attempts(2));
    let graph = graph.runtime(crate::asking::clock::runtime()).build().unwrap();
    let services = (Ledger::default(), Keys::default());
    let keys = services.1.clone();
    let on = || graph.checkpointer(store.clone()).thread(key("t"));
    // Attempts 1 and 2 of a run that is lost; attempts 1 and 2 of the next.
    let first = on();
    let run = first.invoke(S::update(), services.clone());
    tokio::time::timeout(Duration::from_secs(60), run).await.unwrap_err();
    lost(store, &key("t")).await;
    on().resume(services.clone()).await.unwrap().done().unwrap();
    let begun = Position(1);
    // The same task in a fork and after a rewind, and in the next turn.
    on().fork(Some(begun), &key("fork")).await.unwrap();
    let fork = graph.checkpointer(store.clone()).thread(key("fork"));
    fork.resume(services.clone()).await.unwrap().done().unwrap();
    on().rewind(begun).await.unwrap();
    on().resume(services.clone()).await.unwrap().done().unwrap();
    on().invoke(S::update(), services.clone()).await.unwrap().done().unwrap();
    let keys = keys.lock().unwrap().clone();
    (keys, begun)
}

/// P3: the key of a call is the same in every retry and resume; it differs for every other call, and across forks,
/// rewinds and turns.
#[tokio::test(start_paused = true)]
async fn the_key_of_a_call_names_it_and_no_other() {
    let (keys, _) = keys_of(&memory()).await;
    assert_eq!(keys.len(), 7);
    for attempt in &keys {
        let different: BTreeSet<_> = attempt.iter().collect();
        assert_eq!(different.len(), attempt.len(), "{attempt:?}");
    }
    assert_eq!((&keys[0], &keys[0], &keys[0]), (&keys[1], &keys[2], &keys[3]));
    let tasks: BTreeSet<_> = keys[3..].iter().flatten().collect();
    assert_eq!(tasks.len(), 4 * 6);
}

/// P4: an intent is in the log before its call is made, and says which call.
#[tokio::test]
async fn an_intent_stands_before_its_result() {
    let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
    let on = thread(&graph, &store);
    assert!(matches!(on.invoke(S::update(), ledger).await.unwrap(), Outcome::Done(_)));
    assert_eq!(kinds(&on).await, ["begin", "commit", "intent", "memo", "commit", "commit", "end"]);
    let entries = entries(&on).await;
    let (Body::Intent(intent), Body::Memo(memo)) = (&entries[2].entry.body, &entries[3].entry.body)
    else {
        panic!("other entries");
    };
    assert_eq!((intent.task, &intent.key), (memo.task, &memo.name));
    assert_eq!((intent.tool.as_str(), intent.doubt), ("pay", Doubt::Ask));
}

/// P4: an open doubt is dropped by nobody who does not say so.
#[tokio::test]
async fn a_doubt_is_dropped_only_by_who_says_so() {
    for discards in [false, true] {
        let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
        ledger.fail(&["pay"]);
        let on = || match discards {
            true => thread(&graph, &store).discarding_doubts(),
            false => thread(&graph, &store),
        };
        on().invoke(S::update(), ledger.clone()).await.unwrap_err();
        ledger.fail(&[]);
        let before = kinds(&on()).await;
        // A fork of what was before the call has no doubt.
        on().fork(Some(Position(2)), &key("before")).await.unwrap();
        let branches = [
            on().fork(None, &key("now")).await.map(|branch| branch.repeats),
            on().edit_as(Some("before"), says("by hand")).await.map(|_| Vec::new()),
        ];
        for branch in branches {
            assert_eq!(branch.is_ok(), discards, "{branch:?}");
            assert!(branch.is_ok_and(|calls| calls.len() <= 1) || !discards);
        }
        let rewound = on().rewind(Position(2)).await;
        match rewound {
            Ok(branch) => assert_eq!((discards, branch.repeats.len()), (true, 1)),
            Err(error) => {
                assert!(!discards && is_doubt(&error), "{error}");
                assert_eq!(kinds(&on()).await, before);
                assert_eq!(doubted(on().resume(ledger.clone()).await).len(), 1);
            }
        }
        assert_eq!(ledger.of("paid"), 1);
    }
}

/// P4: a rewind, or a fork, past a call that must not be made twice says that it is made again.
#[tokio::test]
async fn a_rewind_says_which_calls_are_made_again() {
    let (graph, store, ledger) = (built(paying()), memory(), Ledger::default());
    let on = thread(&graph, &store);
    for _ in 0..2 {
        on.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
    }
    let all = entries(&on).await;
    let is = |kind_of: &str, nth: usize| {
        let mut found = all.iter().filter(|entry| kind(&entry.entry.body) == kind_of);
        found.nth(nth).unwrap().position
    };
    let keys = |branch: hanok_graph::Restarted| {
        branch.repeats.into_iter().map(|call| (call.tool, call.key)).collect::<Vec<_>>()
    };
    let meant: Vec<_> = all
        .iter()
        .filter_map(|entry| match &entry.entry.body {
            Body::Intent(intent) => Some((intent.tool.clone(), intent.key.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(meant.len(), 2);
    // After the second call, between it and its super-step's end, before it, and before both.
    let places = [(is("end", 1), 2), (is("memo", 1), 1), (is("end", 0), 1), (is("begin", 0), 0)];
    for (n, (at, from)) in places.into_iter().enumerate() {
        let fork = on.fork(Some(at), &key(&format!("fork {n}"))).await.unwrap();
        assert_eq!(keys(fork), meant[from..], "at {at}");
    }
    let rewound = on.rewind(is("memo", 1)).await.unwrap();
    assert_eq!(keys(rewound), meant[1..]);
    on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(ledger.of("paid"), 3);
    // The branch holds both: the one that was made before the rewind, and the one after it.
    let both = keys(on.rewind(is("end", 0)).await.unwrap());
    assert_eq!((both.len(), &both[0]), (2, &meant[1]));
    assert_ne!(both[1], meant[1]);
}

/// P4: a call that was not made is not among those that a rewind makes again.
#[tokio::test]
async fn a_rewind_does_not_name_calls_that_were_not_made() {
    async fn pays(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let refuses = |_| async { Err::<String, _>(NotMade("the shop is closed".into())) };
        let refused = cx.once("pay", "{}", Doubt::Ask, refuses).await;
        let makes = |_| async { Ok::<_, BoxError>("sent".to_owned()) };
        let sent = cx.once("mail", "{}", Doubt::Ask, makes).await?;
        Ok(says(format!("{sent}, {}", refused.is_err())))
    }
    let graph = built(Graph::builder("pays").node("a", pays).edge(START, "a").edge("a", END));
    let store = memory();
    let on = thread(&graph, &store);
    let state = on.invoke(S::update(), Ledger::default()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["sent, true"]);
    let rewound = on.rewind(Position(1)).await.unwrap();
    let tools: Vec<_> = rewound.repeats.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["mail"]);
}
