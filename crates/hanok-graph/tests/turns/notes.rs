//! Notes of calls that are under way.

use std::sync::{Arc, Mutex};

use hanok_checkpoint::{
    Append, Body, CheckpointError, Checkpointer, Forks, Log, LogEntry, Safety, SharedCheckpointer,
};
use hanok_core::{Call, Position, Request, Stored, ThreadKey};
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, LostCall, NodeExt, Resolution, Retry, START, Snapshot,
};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, State};
use hanok_testkit::{Layer, Layered};

use crate::asking::{
    Ledger, S, SUpdate, asked, built, doubted,
    dying::{Dies, Dying},
    key, kinds, log, lost, memory, says, thread,
};

/// A job of a server that must be begun once: its handle is noted before it is waited for.
async fn job(ledger: Ledger, call: Call) -> Result<String, BoxError> {
    let handle = match call.noted::<String>()? {
        Some(handle) => handle,
        None => {
            let handle = format!("job-{}", ledger.note("begun"));
            if ledger.hangs("begin") {
                std::future::pending::<()>().await;
            }
            call.note(&handle).await?;
            handle
        }
    };
    ledger.note("waited");
    if ledger.fails("forgotten") {
        return Err(LostCall("the server knows no such job".into()).into());
    }
    if ledger.fails("wait") {
        return Err("the line broke".into());
    }
    if ledger.fails("ask") {
        let request = Request::new(Stored::encode(&format!("may {handle} end?"))?);
        let answer: String = call.question(request).await?.decode()?;
        return Ok(format!("{handle} {answer}"));
    }
    Ok(format!("{handle} is done"))
}

async fn run(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let done = cx.once("job", "{}", Doubt::Ask, |call| job(ledger, call)).await?;
    Ok(says(done))
}

fn running() -> Graph<S, Ledger> {
    built(Graph::builder("job").node("run", run).edge(START, "run").edge("run", END))
}

/// B139, P4: the process dies at every append. Until the note is stored it is a doubt; from then on the same job is waited for, and
/// nothing is begun again.
#[tokio::test]
async fn a_call_with_a_note_goes_on_from_it() {
    let mut ends = Vec::new();
    for nth in 1..20 {
        for dies in [Dies::Before, Dies::After] {
            let (store, ledger, graph) = (memory(), Ledger::default(), running());
            let dying = Dying::new(&store, (nth, dies), |_| true);
            let store_of = dying.shared();
            let first = thread(&graph, &store_of).invoke(S::update(), ledger.clone()).await;
            if first.is_ok() && dies == Dies::Before {
                assert!(nth > 3, "{ends:?}");
                insta::assert_snapshot!(ends.join("\n"), @r"
                1 Before: nothing was stored
                1 After: begun 0, job-1 is done
                2 Before: begun 0, job-1 is done
                2 After: begun 0, in doubt
                3 Before: begun 1, in doubt
                3 After: begun 1, job-1 is done
                4 Before: begun 1, job-1 is done
                4 After: begun 1, job-1 is done
                5 Before: begun 1, job-1 is done
                5 After: begun 1, job-1 is done
                ");
                return;
            }
            lost(&store, &key("t")).await;
            if store.head(&key("t")).await.unwrap().is_none() {
                ends.push(format!("{nth} {dies:?}: nothing was stored"));
                continue;
            }
            let begun = ledger.of("begun");
            match thread(&graph, &store).resume(ledger.clone()).await.unwrap() {
                hanok_graph::Outcome::Done(state) => {
                    ends.push(format!("{nth} {dies:?}: begun {begun}, {}", log(&state).join(",")));
                }
                doubt => {
                    doubted(Ok(doubt));
                    ends.push(format!("{nth} {dies:?}: begun {begun}, in doubt"));
                }
            }
            assert!(ledger.of("begun") <= 1);
        }
    }
}

/// A note that leads nowhere: the call is in doubt after all, a person settles it, and it may be begun anew.
#[tokio::test]
async fn a_note_that_leads_nowhere_is_a_doubt() {
    let retried = Graph::builder("job").node("run", run.retry(Retry::attempts(3)));
    let retried = built(retried.edge(START, "run").edge("run", END));
    for graph in [running(), retried] {
        for (resolution, want, begun) in [
            (Resolution::made("by hand").unwrap(), "by hand", 1),
            (Resolution::NotMade, "job-2 is done", 2),
        ] {
            let (store, ledger) = (memory(), Ledger::default());
            ledger.fail(&["forgotten"]);
            thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
            assert_eq!(ledger.counts(["begun", "waited"]), [1, 1], "it is not tried again");
            let doubts = doubted(thread(&graph, &store).resume(ledger.clone()).await);
            ledger.fail(&[]);
            let on = thread(&graph, &store);
            let state = on.settle(doubts[0].id.clone(), resolution, ledger.clone()).await;
            assert_eq!(log(&state.unwrap().done().unwrap()), [want]);
            assert_eq!(ledger.of("begun"), begun);
        }
    }
}

/// An error after the note is no doubt: the node's retry goes on from it, in the same run and in another one.
#[tokio::test(start_paused = true)]
async fn an_error_after_a_note_is_tried_again() {
    let graph = Graph::builder("job").node("run", run.retry(Retry::attempts(3)));
    let graph = built(graph.edge(START, "run").edge("run", END));
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    for store in [memory(), hanok_checkpoint::SharedCheckpointer::new(sqlite)] {
        let ledger = Ledger::default();
        ledger.fail(&["wait"]);
        thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
        assert_eq!(ledger.counts(["begun", "waited"]), [1, 3]);
        ledger.fail(&[]);
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!((log(&state), ledger.of("begun")), (vec!["job-1 is done"], 1));
    }
}

/// B139: a question of a call that is under way: the run ends, and the answer goes to the same job.
#[tokio::test]
async fn a_call_with_a_note_may_ask() {
    let (store, ledger, graph) = (memory(), Ledger::default(), running());
    ledger.fail(&["ask"]);
    let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(requests[0].payload::<String>().unwrap(), "may job-1 end?");
    assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), requests);
    let state = thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&state), ledger.of("begun")), (vec!["job-1 yes"], 1));
}

/// Without a note nothing changes, and where nothing is stored a note lasts as long as the run.
#[tokio::test(start_paused = true)]
async fn a_note_lasts_as_long_as_the_run_where_nothing_is_stored() {
    let noted: Arc<Mutex<Vec<Option<u32>>>> = Arc::default();
    let seen = noted.clone();
    let node = move |_: Snapshot<S>, cx: Context<Ledger>| {
        let seen = seen.clone();
        async move {
            let call = cx.call("tool", "count", "{}");
            let other = cx.call("tool", "count", "{}");
            let before: Option<u32> = call.noted()?;
            seen.lock().unwrap().push(before);
            call.note(&before.map_or(1, |count| count + 1)).await?;
            assert_eq!(other.noted::<u32>()?, None);
            assert!(call.noted::<String>().is_err());
            match before {
                Some(2) => Ok(says("done")),
                _ => Err(BoxError::from("again")),
            }
        }
    };
    let graph = Graph::builder("count").node("count", node.retry(Retry::attempts(3)));
    let graph = built(graph.edge(START, "count").edge("count", END));
    graph.invoke(S::update(), Ledger::default()).await.unwrap().done().unwrap();
    assert_eq!(*noted.lock().unwrap(), [None, Some(1), Some(2)]);
}

/// A note of nothing is none, also for the run that wrote it.
#[tokio::test]
async fn a_note_of_nothing_is_none() {
    let node = |_: Snapshot<S>, cx: Context<Ledger>| async move {
        let call = cx.call("tool", "count", "{}");
        call.note(&"job-1").await?;
        assert_eq!(call.noted::<String>()?, Some("job-1".to_owned()));
        call.note(&()).await?;
        assert_eq!(call.noted::<String>()?, None);
        Ok::<_, BoxError>(says("done"))
    };
    let graph = Graph::builder("count").node("count", node);
    let graph = built(graph.edge(START, "count").edge("count", END));
    graph.invoke(S::update(), Ledger::default()).await.unwrap().done().unwrap();
}

/// What is stored of a note: a memo, and the intent once more, as one that is repeated.
#[tokio::test]
async fn a_note_is_safe_before_the_call_goes_on() {
    let (store, ledger, graph) = (memory(), Ledger::default(), running());
    thread(&graph, &store).invoke(S::update(), ledger).await.unwrap().done().unwrap();
    let stored = kinds(&thread(&graph, &store)).await;
    assert_eq!(stored, ["begin", "intent", "memo", "intent", "memo", "commit", "end"]);
}

/// P4: an erasure that takes the note of a call with it leaves the call in doubt. It is not begun again unasked.
#[tokio::test]
async fn a_call_whose_note_is_erased_is_in_doubt() {
    for how in ["wait", "ask"] {
        for (resolution, said, begun) in [
            (Resolution::made("by hand").unwrap(), "by hand", 1),
            (Resolution::NotMade, "job-2 is done", 2),
        ] {
            let (store, ledger, graph) = (memory(), Ledger::default(), running());
            ledger.fail(&[how]);
            let on = thread(&graph, &store);
            let message = Message::user("What of job-1?").with_id("m1");
            let first = on.invoke(S::update().message(message), ledger.clone()).await;
            assert!(first.is_err() || how == "ask");
            let gone = S::update().remove_message("m1");
            on.erase(gone, "an officer", Forks::Keep).await.unwrap();
            ledger.fail(&[]);
            let asked = doubted(on.resume(ledger.clone()).await);
            assert_eq!((asked.len(), ledger.of("begun")), (1, 1), "{how}");
            let settled = on.settle(asked[0].id.clone(), resolution, ledger.clone()).await.unwrap();
            assert_eq!(log(&settled.done().unwrap()), [said], "{how}");
            assert_eq!(ledger.of("begun"), begun, "{how}: {said}");
        }
    }
}

/// P12: whoever goes back behind a call with a note reads, once, that it is made again.
#[tokio::test]
async fn a_rewind_says_that_a_call_with_a_note_is_made_again() {
    for how in ["wait", "ask"] {
        let (store, ledger, graph) = (memory(), Ledger::default(), running());
        ledger.fail(&[how]);
        for resumed in 0..2 {
            let thread = thread(&graph, &store);
            let ran = match resumed {
                0 => thread.invoke(S::update(), ledger.clone()).await,
                _ => thread.resume(ledger.clone()).await,
            };
            assert!(ran.is_err() || how == "ask");
        }
        let rewound = thread(&graph, &store).rewind(Position(1)).await.unwrap();
        let tools: Vec<_> = rewound.repeats.iter().map(|call| call.tool.as_str()).collect();
        assert_eq!(tools, ["job"], "{how}");
    }
}

/// A store that tells how safe each append of a note was asked to be.
#[derive(Debug, Clone)]
struct Telling(SharedCheckpointer, Arc<Mutex<Vec<Safety>>>);

impl Layer for Telling {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let (records, safety) = (append.records.len(), append.safety);
        self.0.append(thread, append).await?;
        let log = Log::new(self.0.clone(), thread.clone());
        let newest = log.history(None, records).await?;
        let is_note = |entry: &LogEntry| matches!(&entry.entry.body, Body::Memo(memo) if memo.name.starts_with("\u{1}note/"));
        if newest.iter().any(is_note) {
            self.1.lock().unwrap().push(safety);
        }
        Ok(())
    }
}

/// P5, P57: a note, and its loss, are on the disk before the call goes on: a machine that dies then does not begin the job again.
#[tokio::test]
async fn a_note_outlives_the_machine() {
    let told = Telling(memory(), Arc::default());
    let store = SharedCheckpointer::new(Layered(told.clone()));
    let ledger = Ledger::default();
    ledger.fail(&["wait"]);
    let graph = running();
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(*told.1.lock().unwrap(), [Safety::Machine]);
    ledger.fail(&["forgotten"]);
    thread(&graph, &store).resume(ledger).await.unwrap_err();
    assert_eq!(*told.1.lock().unwrap(), [Safety::Machine, Safety::Machine]);
}
