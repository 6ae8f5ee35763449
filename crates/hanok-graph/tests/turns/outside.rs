//! Answers of programs that do not know the graph; and who may answer.

use std::time::Duration;

use hanok_checkpoint::{
    AppendId, Body, Checkpointer, Log, REQUESTS, STATUS, SharedCheckpointer, Which,
};
use hanok_core::{Answerer, AskError, Audience, Ids, Request, RequestId, Stored};
use hanok_graph::{
    BoxError, Context, END, Graph, NewAnswer, Outcome, RunError, START, Snapshot, Subgraph,
    SystemIds, answer, open_requests,
};
use hanok_sqlite::Sqlite;
use hanok_state::State;
use tokio::task::JoinSet;

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, clock, doubted, id_of, key, kinds, log, memory,
    payloads, says, thread, work,
};

/// A node that asks whoever is `admin` or called `ann`, for a number.
async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    let request = Request {
        audience: Audience::everybody().role("admin").name("ann"),
        schema: Some(r#"{"type":"integer"}"#.into()),
        ..Request::new(Stored::encode(&format!("{}?", cx.node()))?)
    };
    let answer: u32 = cx.call("ask", cx.node(), "").question(request).await?.decode()?;
    Ok(says(format!("{} {answer}", cx.node())))
}

fn two() -> Graph<S, Ledger> {
    let graph = Graph::builder("two").node("one", ask).node("two", ask).node("after", work);
    let graph = graph.edge(START, "one").edge(START, "two").join(["one", "two"], "after");
    built(graph.edge("after", END))
}

fn other(store: &SharedCheckpointer) -> Log {
    Log::new(store.clone(), key("t"))
}

fn ann() -> Answerer {
    Answerer::new("ann", "test")
}

async fn say(log: &Log, answers: Vec<NewAnswer>, by: Option<&Answerer>) -> Result<(), RunError> {
    answer(log, answers, by, AppendId(SystemIds.id()), clock::now()).await.map(drop)
}

fn to(id: &RequestId, value: u32) -> NewAnswer {
    NewAnswer::new(id.clone(), &value).unwrap()
}

/// B140, P14, P35: it is checked and stored as of `Thread::answer`, starts nothing, and any process goes on with it: what is answered
/// runs, what is not stays asked.
#[tokio::test]
async fn an_answer_is_taken_without_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let (graph, ledger) = (two(), Ledger::default());
        let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let log_of = other(&store);
        assert_eq!(open_requests(&log_of, clock::now()).await.unwrap(), requests);
        let (one, two) = (id_of(&requests, "one?"), id_of(&requests, "two?"));

        for (answers, by, code) in [
            (vec![to(&one, 1)], None, "HNK-228"),
            (vec![to(&one, 1)], Some(Answerer::new("bob", "test")), "HNK-228"),
            (vec![NewAnswer::new(one.clone(), "1").unwrap()], Some(ann()), "HNK-216"),
            (vec![to(&one, 1).shown("something else")], Some(ann()), "HNK-213"),
            (vec![to(&RequestId("no".into()), 1)], Some(ann()), "HNK-211"),
            (vec![to(&two, 2), to(&one, 1), to(&one, 1)], Some(ann()), "HNK-212"),
            (vec![], Some(ann()), "HNK-217"),
        ] {
            let refused = say(&log_of, answers, by.as_ref()).await.unwrap_err();
            assert_eq!(refused.code(), code, "{refused}");
        }
        assert_eq!(open_requests(&log_of, clock::now()).await.unwrap(), requests);

        let shown = requests.iter().find(|request| request.id == one).unwrap().digest();
        let first = to(&one, 1).key("k").shown(shown);
        say(&log_of, vec![first.clone()], Some(&ann())).await.unwrap();
        assert_eq!(ledger.counts(["one", "two"]), [1, 1], "nothing runs");
        // The very same again changes nothing; anything else is too late.
        let before = kinds(&thread(&graph, &store)).await;
        say(&log_of, vec![first], Some(&ann())).await.unwrap();
        for late in [to(&one, 1), to(&one, 1).key("other"), to(&one, 3).key("k")] {
            let refused = say(&log_of, vec![late], Some(&ann())).await.unwrap_err();
            assert!(matches!(refused, RunError::AlreadyAnswered(_)), "{refused}");
        }
        assert_eq!(kinds(&thread(&graph, &store)).await, before);
        let info = store.all_threads(&Which::All).await.unwrap().remove(0);
        assert_eq!((&*info.labels[STATUS], &*info.labels[REQUESTS]), ("interrupted", "1"));

        // Whoever goes on runs what is answered, and only that.
        let left = asked(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!((payloads(&left), ledger.counts(["one", "two"])), (vec!["two?".into()], [2, 1]));
        assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), left);
        let admin = Answerer::new("eve", "test").role("admin");
        say(&log_of, vec![to(&two, 2)], Some(&admin)).await.unwrap();
        let info = store.all_threads(&Which::All).await.unwrap().remove(0);
        assert_eq!((&*info.labels[STATUS], info.labels.get(REQUESTS)), ("due", None));
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["one 1", "two 2", "after"]);
        assert_eq!(ledger.counts(["one", "two", "after"]), [2, 2, 1]);
        let refused = say(&log_of, vec![to(&two, 2)], Some(&admin)).await.unwrap_err();
        assert!(matches!(refused, RunError::AlreadyAnswered(_)), "{refused}");

        // The log says who.
        let page = log_of.history(None, usize::MAX).await.unwrap();
        let by = page.iter().rev().filter_map(|read| match &read.entry.body {
            Body::Answer(answer) => {
                answer.by.as_ref().map(|by| (by.name.clone(), answer.key.clone()))
            }
            _ => None,
        });
        let by: Vec<_> = by.collect();
        assert_eq!(by, [("ann".to_owned(), Some("k".to_owned())), ("eve".to_owned(), None)]);
    }
}

/// A thread whose run is under way is that run's.
#[tokio::test]
async fn a_thread_that_runs_takes_no_answer_from_outside() {
    let (graph, store, ledger) = (two(), memory(), Ledger::default());
    let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    ledger.hang(&["after"]);
    let answers = requests.iter().map(|request| to(&request.id, 1)).collect();
    say(&other(&store), answers, Some(&ann())).await.unwrap();
    let running = thread(&graph, &store);
    let run = tokio::spawn(async move { running.resume(ledger).await });
    while store.head(&key("t")).await.unwrap().is_none_or(|head| head.claim.is_none()) {
        tokio::task::yield_now().await;
    }
    let refused = say(&other(&store), vec![to(&requests[0].id, 1)], Some(&ann())).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, RunError::AlreadyAnswered(_)), "{refused:?}");
    run.abort();
    let nothing = Log::new(store, key("none"));
    let refused = say(&nothing, vec![to(&requests[0].id, 1)], Some(&ann())).await;
    assert!(matches!(refused.unwrap_err(), RunError::NoSuchThread(_)));
}

/// B140, P35: eight answer at once, with and without the graph: one is taken, all others are told so.
#[tokio::test]
async fn of_many_answers_at_once_one_is_taken() {
    for round in 0..20 {
        let (graph, store, ledger) = (two(), memory(), Ledger::default());
        let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let one = id_of(&requests, "one?");
        let mut answering = JoinSet::new();
        for nth in 0..8_u32 {
            let (log_of, one) = (other(&store), one.clone());
            answering.spawn(async move {
                for _ in 0..(nth * round) % 5 {
                    tokio::task::yield_now().await;
                }
                say(&log_of, vec![to(&one, nth)], Some(&ann())).await.map(|()| nth)
            });
        }
        let ended = answering.join_all().await;
        let taken: Vec<_> = ended.iter().filter_map(|end| end.as_ref().ok()).collect();
        let late = ended.iter().filter(|end| matches!(end, Err(RunError::AlreadyAnswered(_))));
        assert_eq!((taken.len(), late.count()), (1, 7), "{ended:?}");
        asked(thread(&graph, &store).resume(ledger.clone()).await);
        let answers = [format!("one {}", taken[0])];
        say(&other(&store), vec![to(&id_of(&requests, "two?"), 9)], Some(&ann())).await.unwrap();
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert!(log(&state).contains(&&*answers[0]), "{state:?}");
    }
}

/// The question of a subgraph, three graphs deep, is answered from outside like any other; its caller is not run twice for it.
#[tokio::test]
async fn a_question_of_a_nested_graph_is_answered_without_any_graph() {
    let inner = built(Graph::builder("inner").node("ask", ask).edge(START, "ask").edge("ask", END));
    let middle = Graph::builder("middle").subgraph("inner", Subgraph::shared(inner));
    let middle = built(middle.edge(START, "inner").edge("inner", END));
    let outer = Graph::builder("outer").subgraph("middle", Subgraph::shared(middle));
    let outer = built(outer.edge(START, "middle").edge("middle", END));
    let (store, ledger) = (memory(), Ledger::default());
    let requests = asked(thread(&outer, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(requests[0].path.depth(), 2);
    say(&other(&store), vec![to(&requests[0].id, 4)], Some(&ann())).await.unwrap();
    let state = thread(&outer, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&state), ledger.of("ask")), (vec!["ask 4"], 2));
}

/// A doubt is settled from outside, too, in its stored form.
#[tokio::test]
async fn a_doubt_is_settled_without_the_graph() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let fails = |_| async { Err::<String, _>("the line broke") };
        Ok(says(cx.once("pay", "{}", hanok_graph::Doubt::Ask, fails).await?))
    }
    let graph = built(Graph::builder("pay").node("pay", pay).edge(START, "pay").edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
    let wrong = NewAnswer::new(doubts[0].id.clone(), "perhaps").unwrap();
    let refused = say(&other(&store), vec![wrong], None).await.unwrap_err();
    assert!(matches!(refused, RunError::WrongAnswer { .. }), "{refused}");
    let made = serde_json::json!({"made": "receipt 7"});
    let made = NewAnswer::new(doubts[0].id.clone(), &made).unwrap();
    say(&other(&store), vec![made], None).await.unwrap();
    let state = thread(&graph, &store).resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["receipt 7"]);
}

/// A handle that names its person is let in, and one that does not is told to.
#[tokio::test]
async fn whoever_is_not_admitted_is_told_for_whom_the_question_is() {
    let (graph, store, ledger) = (two(), memory(), Ledger::default());
    let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let id = requests[0].id.clone();
    let refused = thread(&graph, &store).answer(id.clone(), &1, ledger.clone()).await.unwrap_err();
    insta::assert_snapshot!(
        refused.to_string().replace(&*id.0, "…"),
        @"request `…` is for `ann`, or whoever is `admin` to answer, and it is not known who answers: name them with `Thread::answering_as`"
    );
    let bob = thread(&graph, &store).answering_as(Answerer::new("bob", "http"));
    let refused = bob.answer(id.clone(), &1, ledger.clone()).await.unwrap_err();
    insta::assert_snapshot!(
        refused.to_string().replace(&*id.0, "…"),
        @"request `…` is for `ann`, or whoever is `admin` to answer, and not for `bob`"
    );
    let ann = thread(&graph, &store).answering_as(ann());
    assert_eq!(asked(ann.answer(id, &1, ledger.clone()).await).len(), 1);
}

/// Asks for an hour, then the boss for a day.
async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("patient");
    let hour = cx.now().plus(Duration::from_secs(3_600));
    match cx.interrupt_until::<String>("you?", hour).await {
        Err(AskError::Expired(_)) => {}
        answer => return Ok(says(answer?)),
    }
    let day = cx.now().plus(Duration::from_secs(24 * 3_600));
    match cx.interrupt_until::<String>("the boss?", day).await {
        Err(AskError::Expired(_)) => Ok(says("nobody")),
        answer => Ok(says(answer?)),
    }
}

fn waiting(name: &str) -> Graph<S, Ledger> {
    built(Graph::builder(name).node("ask", patient).edge(START, "ask").edge("ask", END))
}

/// B141, P35: a deadline that passed while no process lived is found by whoever looks first; each waits for its own, once.
#[tokio::test(start_paused = true)]
async fn whoever_was_not_answered_in_time_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let (graph, ledger) = (waiting("patient"), Ledger::default());
        let other = waiting("another");
        asked(app(&graph, &store).thread(key("a")).invoke(S::update(), ledger.clone()).await);
        asked(app(&other, &store).thread(key("z")).invoke(S::update(), ledger.clone()).await);
        tokio::time::advance(Duration::from_secs(60)).await;
        asked(app(&graph, &store).thread(key("b")).invoke(S::update(), ledger.clone()).await);
        let services = |_: &hanok_core::ThreadKey| Some(ledger.clone());
        let woken = |graph: &Graph<S, Ledger>| {
            let app = app(graph, &store);
            async move {
                let woken = app.wake(clock::now(), services).await.unwrap();
                let text = woken.into_iter().map(|(thread, outcome)| match outcome.unwrap() {
                    Outcome::Done(state) => {
                        format!("{}: {}", thread.thread(), log(&state).join(","))
                    }
                    Outcome::Interrupted(open) => {
                        format!("{}: {}", thread.thread(), payloads(&open).join(","))
                    }
                    other => panic!("{other:?}"),
                });
                text.collect::<Vec<_>>()
            }
        };
        assert!(woken(&graph).await.is_empty());
        tokio::time::advance(Duration::from_secs(3_541)).await;
        assert_eq!(woken(&graph).await, ["a: the boss?"]);
        assert!(woken(&graph).await.is_empty(), "nobody is woken twice for one deadline");
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(woken(&graph).await, ["b: the boss?"]);
        // Too late for you; in time for the boss.
        tokio::time::advance(Duration::from_secs(3_600)).await;
        assert_eq!(woken(&other).await, ["z: the boss?"]);
        tokio::time::advance(Duration::from_secs(24 * 3_600)).await;
        assert_eq!(woken(&graph).await, ["a: nobody", "b: nobody"]);
        assert!(app(&graph, &store).wake(clock::now(), |_| None).await.unwrap().is_empty());
        assert_eq!(woken(&other).await, ["z: nobody"]);
    }
}

/// A node that asks `ann` alone, for a minute.
async fn hurried(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let request = Request {
        audience: Audience::everybody().name("ann"),
        deadline: Some(cx.now().plus(Duration::from_secs(60))),
        ..Request::new(Stored::encode("you?")?)
    };
    match cx.call("ask", "hurried", "").question(request).await {
        Err(AskError::Expired(_)) => Ok(says("nobody")),
        answer => Ok(says(answer?.decode::<String>()?)),
    }
}

/// P14, P35: an answer that comes too late is kept if it is of somebody who was asked, and at most sixteen of them to one question: nobody
/// makes a log grow by what decides nothing.
#[tokio::test(start_paused = true)]
async fn late_answers_are_those_of_who_was_asked_and_not_without_bound() {
    let graph = Graph::builder("hurried").node("ask", hurried);
    let graph = built(graph.edge(START, "ask").edge("ask", END));
    let (store, ledger) = (memory(), Ledger::default());
    let open = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let id = open[0].id.clone();
    tokio::time::advance(Duration::from_secs(61)).await;
    thread(&graph, &store).resume(ledger).await.unwrap().done().unwrap();
    let late = async |text: String, by: &Answerer| {
        let answer = NewAnswer::new(id.clone(), &text).unwrap();
        let refused = say(&other(&store), vec![answer], Some(by)).await.unwrap_err();
        let stored = kinds(&thread(&graph, &store)).await;
        (refused, stored.into_iter().filter(|kind| *kind == "late").count())
    };
    let (refused, stored) = late("mine".to_owned(), &Answerer::new("bob", "test")).await;
    assert!(matches!(refused, RunError::Expired { .. }), "{refused:?}");
    assert_eq!(stored, 0, "bob was not asked");
    for number in 1..20 {
        let (refused, stored) = late(format!("{number}"), &ann()).await;
        assert!(matches!(refused, RunError::Expired { .. }), "{refused:?}");
        assert_eq!(stored, number.min(16), "{number}");
    }
}
