//! When what a run did is safe, what that costs, and what a crash can take.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use hanok_checkpoint::{
    Append, Body, CheckpointError, Checkpointer, Consumer, Delivery, Doubt, Guard, Head, Keep,
    LEASE, OutboxItem, SharedCheckpointer, Which,
};
use hanok_core::{Cancellation, Position, ThreadKey, Timestamp};
use hanok_graph::{
    BoxError, Command, Context, Durability, END, EventKind, Graph, Input, NodeExt, Outcome, Retry,
    START, Snapshot,
};
use hanok_state::State;
use hanok_testkit::{Layer, Layered};

use crate::support::{
    Dying, Ledger, S, SUpdate, builder, count, done, key, log, memory, says, slow, thread, work,
};

const ALL: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

/// Counts to ten, then says so.
fn looping() -> Graph<S, Ledger> {
    builder()
        .node("count", count)
        .node("work", work)
        .edge(START, "count")
        .branch("count", |state: &S| if state.n < 10 { "count" } else { "work" }, ["count", "work"])
        .edge("work", END)
        .build()
        .unwrap()
}

/// The kinds of the log's entries, in order.
async fn kinds(store: &SharedCheckpointer) -> Vec<&'static str> {
    let log = hanok_checkpoint::Log::new(store.clone(), key("t"));
    let mut entries = log.history(None, usize::MAX).await.unwrap();
    entries.reverse();
    let kind = |body: &Body| match body {
        Body::Begin(_) => "begin",
        Body::Write(_) => "write",
        Body::Commit(_) => "commit",
        Body::Memo(_) => "memo",
        Body::Intent(_) => "intent",
        Body::Question(_) => "question",
        Body::Answer(_) => "answer",
        Body::End(_) => "end",
        Body::Failed(_) => "failed",
        _ => "other",
    };
    entries.iter().map(|entry| kind(&entry.entry.body)).collect()
}

/// B72
#[tokio::test(start_paused = true)]
async fn with_exit_a_run_without_effects_is_its_beginning_and_one_commit() {
    for durability in ALL {
        let store = memory();
        let thread = thread(&looping(), &store).durability(durability);
        let state = done(thread.invoke(S::update(), Ledger::default()).await);
        assert_eq!((state.n, log(&state)), (10, vec!["work"]));
        assert_eq!(thread.state(None).await.unwrap(), Some(state), "{durability:?}");
        let commits = kinds(&store).await;
        match durability {
            Durability::Exit => assert_eq!(commits, ["begin", "commit", "end"]),
            _ => assert_eq!(commits.iter().filter(|kind| **kind == "commit").count(), 11),
        }
    }
}

/// B72: also after an error, a question, a cancellation or a limit; then the next run goes on from there.
#[tokio::test(start_paused = true)]
async fn with_exit_a_run_that_stops_leaves_one_commit_and_goes_on() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().ran("ask")?;
        let said: String = cx.interrupt("well?").await?;
        Ok(says(said))
    }
    let graph = builder()
        .node("count", count)
        .node("ask", ask)
        .node("work", work)
        .node("slow", slow(100))
        .edge(START, "count")
        .branch(
            "count",
            |s: &S| if s.n < 5 { vec!["count"] } else { vec!["work", "slow"] },
            ["count", "work", "slow"],
        )
        .join(["work", "slow"], "ask")
        .edge("ask", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let exit = thread(&graph, &store).durability(Durability::Exit);

    ledger.fail("work", 1);
    exit.invoke(S::update(), ledger.clone()).await.unwrap_err();
    // `slow` was done beside it, or is not: what was done is not done again.
    assert_eq!(kinds(&store).await.iter().filter(|kind| **kind == "commit").count(), 1);
    assert_eq!(exit.state(None).await.unwrap().unwrap().n, 5);
    let stop = Cancellation::default();
    let cancelled = exit.clone().cancellation(stop.clone());
    let (outcome, ()) = futures::join!(cancelled.resume(ledger.clone()), async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        stop.cancel();
    });
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_) | Outcome::Interrupted(_)));
    let outcome = exit.resume(ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)), "{outcome:?}");
    let state = done(exit.reply("fine", ledger.clone()).await);
    assert_eq!(log(&state).last(), Some(&"fine"));
    assert_eq!(ledger.of("count"), 5, "what was committed is not run again");
    assert_eq!(ledger.of("work"), 2);
    assert_eq!(exit.state(None).await.unwrap(), Some(state));
}

/// B72: a call that must not be repeated is noted before it is made, with all that it follows from.
#[tokio::test(start_paused = true)]
async fn a_barrier_adds_its_own_entry_and_what_it_follows_from() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let paid = async move |_| {
            ledger.note("paid");
            Ok::<_, BoxError>("paid".to_owned())
        };
        Ok(says(cx.once("pay", "{}", Doubt::Ask, paid).await?))
    }
    let graph = builder()
        .node("count", count)
        .node("pay", pay)
        .node("work", work)
        .edge(START, "count")
        .branch("count", |s: &S| if s.n < 5 { "count" } else { "pay" }, ["count", "pay"])
        .edge("pay", "work")
        .edge("work", END)
        .build()
        .unwrap();
    let store = memory();
    let exit = thread(&graph, &store).durability(Durability::Exit);
    done(exit.invoke(S::update(), Ledger::default()).await);
    assert_eq!(kinds(&store).await, ["begin", "commit", "intent", "commit", "end"]);

    // Wherever the process dies, the payment is made once, or a person is asked whether it was.
    for durability in ALL {
        for (at, stored) in (0..9).flat_map(|at| [(at, false), (at, true)]) {
            let (dying, ledger) = (Dying::at(memory(), at, stored), Ledger::default());
            let first = graph.checkpointer(Layered(dying.clone())).thread(key("t"));
            let _ = first.durability(durability).invoke(S::update(), ledger.clone()).await;
            if !dying.is_dead() {
                continue;
            }
            let store = dying.after_death(&key("t")).await.unwrap();
            let next = thread(&graph, &store).durability(durability);
            let outcome = match next.state(None).await.unwrap() {
                Some(_) => next.resume(ledger.clone()).await.unwrap(),
                None => next.invoke(S::update(), ledger.clone()).await.unwrap(),
            };
            let known = format!("{durability:?} at {at}, stored: {stored}");
            match outcome {
                Outcome::Done(_) => assert_eq!(ledger.of("paid"), 1, "{known}"),
                Outcome::InDoubt(asked) => {
                    assert!(ledger.of("paid") <= 1 && asked.len() == 1, "{known}");
                }
                other => panic!("{known}: {other:?}"),
            }
        }
    }
}

/// A store that takes its time, and notes how much was appended at once.
#[derive(Debug, Clone)]
struct Slow {
    store: SharedCheckpointer,
    appends: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Layer for Slow {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.appends.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(append.records.len(), Ordering::SeqCst);
        if matches!(append.guard, Guard::Hold(_)) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.store.append(thread, append).await
    }
}

/// A store that has long given a thread back when it says so.
#[derive(Debug, Clone)]
struct LateAnswer(SharedCheckpointer);

impl Layer for LateAnswer {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let releases = matches!(append.guard, Guard::Release(_));
        self.0.append(thread, append).await?;
        if releases {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        Ok(())
    }
}

/// P10: a sign of life that comes when the thread was given back is not a claim that was lost.
#[tokio::test(start_paused = true)]
async fn a_run_that_gave_its_claim_back_has_not_lost_it() {
    for durability in ALL {
        let thread = looping().checkpointer(Layered(LateAnswer(memory()))).thread(key("t"));
        let thread = thread.durability(durability);
        let state = done(thread.invoke(S::update(), Ledger::default()).await);
        assert_eq!(thread.state(None).await.unwrap(), Some(state), "{durability:?}");
    }
}

/// B82: what waits for a slow store is bounded, and goes to it together.
#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_slow_store_before_its_queue_grows() {
    let graph = builder()
        .recursion_limit(3_000)
        .node("count", count)
        .edge(START, "count")
        .branch("count", |s: &S| if s.n < 2_000 { "count" } else { END }, ["count", END])
        .build()
        .unwrap();
    let slow = Slow { store: memory(), appends: Arc::default(), most: Arc::default() };
    let app = graph.checkpointer(Layered(slow.clone())).durable(Durability::Async);
    let thread = app.thread(key("t"));
    let state = done(thread.invoke(S::update(), Ledger::default()).await);
    assert_eq!(thread.state(None).await.unwrap(), Some(state));
    let (appends, most) = (slow.appends.load(Ordering::SeqCst), slow.most.load(Ordering::SeqCst));
    assert!(most <= 256, "{most} entries in one append");
    assert!((8..=20).contains(&appends), "{appends} appends of 2,000 super-steps");
}

/// P5: no position is told before it is safe.
#[tokio::test(start_paused = true)]
async fn recorded_events_wait_until_they_are_safe() {
    for durability in ALL {
        let slow = Slow { store: memory(), appends: Arc::default(), most: Arc::default() };
        let thread = looping().checkpointer(Layered(slow.clone())).thread(key("t"));
        let thread = thread.durability(durability);
        let mut events = thread.stream(Input::New(S::update()), Ledger::default());
        let (mut told, mut ended) = (Vec::new(), false);
        while let Some(event) = events.next().await {
            ended |= matches!(event.kind, EventKind::Ended { .. });
            let Some(id) = event.id else { continue };
            let head = slow.store.head(&key("t")).await.unwrap().unwrap();
            assert!(head.position >= id.position, "{durability:?}: {id:?} is not safe");
            told.push(id);
        }
        assert!(ended);
        done(events.outcome().await);
        assert!(told.is_sorted(), "{durability:?}");
        let replayed = thread.events(None).await.unwrap();
        let replayed: Vec<_> = replayed.into_iter().filter_map(|event| event.id).collect();
        match durability {
            // Its super-steps were told as they went by; what is recorded is what they became.
            Durability::Exit => assert!(told.iter().all(|id| replayed.contains(id))),
            _ => assert_eq!(told, replayed, "{durability:?}"),
        }
    }
}

/// A store that refuses one append, and then knows less than it has confirmed.
#[derive(Debug, Clone)]
struct Behind {
    store: SharedCheckpointer,
    appends: Arc<AtomicUsize>,
    refused: usize,
}

impl Layer for Behind {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        match self.appends.fetch_add(1, Ordering::SeqCst) == self.refused {
            true => Err(CheckpointError::Full("for once".into())),
            false => self.store.append(thread, append).await,
        }
    }

    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let head = self.store.head(thread).await?;
        Ok(head.map(|head| Head { position: Position(head.position.0 - 1), ..head }))
    }
}

/// P54: a store whose reads are behind its appends does not make a run tell of what is not in the log.
#[tokio::test(start_paused = true)]
async fn a_head_that_is_behind_does_not_take_the_run_back() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(
            cx.once("pay", "{}", Doubt::Ask, async |_| Ok::<_, BoxError>("paid".to_owned()))
                .await?,
        ))
    }
    let graph = builder()
        .node("count", count)
        .node("pay", pay)
        .node("slow", slow(10))
        .edge(START, "count")
        .edge("count", "pay")
        .edge("count", "slow")
        .edge("pay", END)
        .edge("slow", END)
        .build()
        .unwrap();
    for durability in ALL {
        for refused in 1..6 {
            let behind = Behind { store: memory(), appends: Arc::default(), refused };
            let thread = graph.checkpointer(Layered(behind.clone())).thread(key("t"));
            let thread = thread.durability(durability);
            let mut events = thread.stream(Input::New(S::update()), Ledger::default());
            let mut told = Vec::new();
            while let Some(event) = events.next().await {
                told.extend(event.id.map(|id| (id, event.task)));
            }
            let outcome = events.outcome().await;
            let there = graph.checkpointer(behind.store).thread(key("t"));
            let replayed = there.events(None).await.unwrap();
            let replayed: Vec<_> =
                replayed.into_iter().map(|event| (event.id.unwrap(), event.task)).collect();
            let other: Vec<_> = told.iter().filter(|event| !replayed.contains(event)).collect();
            assert!(other.is_empty(), "{durability:?}, {refused}, {outcome:?}: {other:?}");
        }
    }
}

/// An item is handed over with the super-step that says it, and not by an attempt that failed.
#[tokio::test(start_paused = true)]
async fn items_for_others_come_with_their_super_step() {
    async fn remember(_: Snapshot<S>, cx: Context<Ledger>) -> Result<Command<S>, BoxError> {
        cx.hand_out("memory", &format!("{} remembers", cx.node()))?;
        cx.services().ran(cx.node())?;
        Ok(Command::new())
    }
    let graph = builder()
        .node("one", remember)
        .node("two", remember)
        .node("three", remember)
        .edge(START, "one")
        .edge(START, "two")
        .join(["one", "two"], "three")
        .edge("three", END)
        .build()
        .unwrap();
    for durability in ALL {
        let (store, ledger) = (memory(), Ledger::default());
        let consumer = Consumer::new(store.clone(), "learner", "memory");
        consumer.register().await.unwrap();
        let thread = thread(&graph, &store).durability(durability);
        ledger.fail("two", 1);
        thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
        assert!(consumer.next(9).await.unwrap().is_empty(), "nothing is committed yet");
        done(thread.resume(ledger.clone()).await);

        let items = consumer.next(9).await.unwrap();
        let said: Vec<String> = items.iter().map(said).collect();
        assert_eq!(said, ["one remembers", "two remembers", "three remembers"], "{durability:?}");
        assert!(items.iter().all(|item| item.thread == key("t")));
        let ids = async || {
            let next = consumer.next(9).await.unwrap();
            next.iter().map(|given| given.item.as_ref().unwrap().id.clone()).collect::<Vec<_>>()
        };
        let all: Vec<_> =
            items.iter().map(|given| given.item.as_ref().unwrap().id.clone()).collect();
        assert_eq!(ids().await, all, "until they are done, with the same ids");
        consumer.done(&items[1]).await.unwrap();
        assert_eq!(ids().await, all[2..]);
    }
}

fn said(given: &Delivery) -> String {
    given.item.as_ref().unwrap().payload.decode().unwrap()
}

/// A store that damages what a topic holds of one thread.
#[derive(Debug)]
struct Damaging(SharedCheckpointer);

impl Layer for Damaging {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        let mut items = self.0.outbox(consumer, topic, limit).await?;
        for item in items.iter_mut().filter(|item| item.thread == key("bob")) {
            let mut bytes = item.bytes.to_vec();
            bytes[9] ^= 1;
            item.bytes = bytes.into();
        }
        Ok(items)
    }
}

/// P7: an item that is damaged stops nobody else's: it is handed out as what it is, and whoever says so leaves it behind.
#[tokio::test]
async fn a_damaged_item_is_handed_out_as_damaged() {
    async fn tells(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.hand_out("memory", "a fact")?;
        Ok(S::update())
    }
    let graph = Graph::<S, Ledger>::builder("tells").node("tells", tells);
    let graph = graph.edge(START, "tells").edge("tells", END).build().unwrap();
    let store = SharedCheckpointer::new(Layered(Damaging(memory())));
    let consumer = Consumer::new(store.clone(), "learner", "memory");
    consumer.register().await.unwrap();
    for name in ["alice", "bob", "carol"] {
        let thread = graph.checkpointer(store.clone()).thread(key(name));
        done(thread.invoke(S::update(), Ledger::default()).await);
    }
    let all = consumer.next(9).await.unwrap();
    let whole: Vec<_> = all.iter().map(|given| given.item.is_ok()).collect();
    assert_eq!(whole, [true, false, true]);
    let error = all[1].item.as_ref().unwrap_err();
    assert!(matches!(error, CheckpointError::Corrupt { thread, .. } if *thread == key("bob")));
    consumer.done(&all[1]).await.unwrap();
    let rest = consumer.next(9).await.unwrap();
    assert_eq!(rest.iter().map(|given| given.thread.clone()).collect::<Vec<_>>(), [key("carol")]);
}

/// P7: a node with a time-out, or one that is tried again, puts into the outbox what its last attempt did.
#[tokio::test(start_paused = true)]
async fn a_node_with_a_timeout_hands_out() {
    async fn tells(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.hand_out("memory", &format!("attempt {}", cx.attempt()))?;
        cx.services().ran("tells")?;
        Ok(S::update())
    }
    let graph = Graph::<S, Ledger>::builder("tells").runtime(crate::support::runtime());
    let tells = tells.timeout(Duration::from_secs(5)).retry(Retry::attempts(2));
    let graph = graph.node("tells", tells).edge(START, "tells").edge("tells", END).build().unwrap();
    for failures in [0, 1] {
        let (store, ledger) = (memory(), Ledger::default());
        ledger.fail("tells", failures);
        let consumer = Consumer::new(store.clone(), "learner", "memory");
        consumer.register().await.unwrap();
        done(thread(&graph, &store).invoke(S::update(), ledger).await);
        let items = consumer.next(9).await.unwrap();
        let payload = |given: &Delivery| given.item.as_ref().unwrap().payload.to_string();
        let items: Vec<_> = items.iter().map(payload).collect();
        assert_eq!(items, [format!("\"attempt {}\"", failures + 1)]);
    }
}

/// P57: a cut that keeps what came since a time keeps all of that very time.
#[tokio::test(start_paused = true)]
async fn what_came_at_the_time_since_which_all_is_kept_stays() {
    let store = memory();
    let thread = looping().checkpointer(store.clone()).thread(key("t"));
    done(thread.invoke(S::update(), Ledger::default()).await);
    tokio::time::sleep(Duration::from_secs(60)).await;
    done(thread.invoke(S::update(), Ledger::default()).await);
    let history = thread.history(None, 99).await.unwrap();
    let newest = history.first().unwrap().entry.at;
    let commits = |entry: &&hanok_checkpoint::LogEntry| matches!(entry.entry.body, Body::Commit(_));
    let of_turn: Vec<_> =
        history.iter().filter(commits).filter(|entry| entry.entry.at == newest).collect();
    let oldest = of_turn.last().unwrap().position;
    assert!(of_turn.len() > 1, "a turn takes no time here: {of_turn:?}");
    thread.log().prune(Keep::Since(newest)).await.unwrap().unwrap();
    assert!(store.head(&key("t")).await.unwrap().unwrap().floor <= oldest);
    thread.state(Some(oldest)).await.unwrap().unwrap();
}

/// P57: a thread that nobody used for long enough is swept, with all that belongs to it, and no other.
#[tokio::test(start_paused = true)]
async fn a_thread_that_is_not_used_expires() {
    let store = memory();
    let app = looping().checkpointer(store.clone()).keep_for(Duration::from_secs(60));
    let forever = looping().checkpointer(store.clone());
    let run = async |app: &hanok_graph::App<S, Ledger>, name| {
        done(app.thread(key(name)).invoke(S::update(), Ledger::default()).await);
    };
    run(&app, "old").await;
    run(&app, "used").await;
    run(&forever, "kept").await;
    tokio::time::sleep(Duration::from_secs(40)).await;
    run(&app, "used").await;
    assert_eq!(app.sweep().await.unwrap(), []);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(app.sweep().await.unwrap(), [key("old")]);
    let left = store.threads(Which::All, None, 9).await.unwrap();
    assert_eq!(left.iter().map(|info| info.thread.thread()).collect::<Vec<_>>(), ["kept", "used"]);
}

/// P10: threads that dead processes left are found, and finished once.
#[tokio::test(start_paused = true)]
async fn what_dead_processes_left_is_finished_by_another() {
    let (store, ledger) = (memory(), Ledger::default());
    for name in ["a", "b"] {
        let dying = Dying::at(store.clone(), 4, true);
        let lost = looping().checkpointer(Layered(dying.clone())).thread(key(name));
        lost.invoke(S::update(), ledger.clone()).await.unwrap_err();
    }
    let app = looping().checkpointer(store.clone());
    // Their process cannot be told from one that lives, so its signs of life are waited for.
    assert_eq!(app.abandoned().await.unwrap(), []);
    tokio::time::sleep(LEASE).await;
    done(app.thread(key("quiet")).invoke(S::update(), ledger.clone()).await);
    assert_eq!(app.abandoned().await.unwrap(), [key("a"), key("b")]);
    let recovered = app.recover(|_| Some(ledger.clone())).await.unwrap();
    for (thread, outcome) in recovered {
        assert_eq!(done(outcome).n, 10, "{thread}");
    }
    assert_eq!(app.abandoned().await.unwrap(), []);
    assert!(app.recover(|_| Some(ledger.clone())).await.unwrap().is_empty());
}

/// P10: a thread that was made anew is not mistaken for its former self.
#[tokio::test(start_paused = true)]
async fn a_thread_that_was_removed_and_made_anew_has_other_epochs() {
    let store = memory();
    let thread = thread(&looping(), &store);
    let epoch = async || store.head(&key("t")).await.unwrap().unwrap().epoch;
    done(thread.invoke(S::update(), Ledger::default()).await);
    let before = epoch().await;
    assert!(thread.delete().await.unwrap());
    tokio::time::sleep(Duration::from_millis(5)).await;
    done(thread.invoke(S::update(), Ledger::default()).await);
    assert!(epoch().await > before && before.0 >= Timestamp(1_000_000).0);
}

/// A slow store that is full from one append on.
#[derive(Debug)]
struct FillsUp(SharedCheckpointer, AtomicUsize);

impl Layer for FillsUp {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = |left: usize| left.checked_sub(1);
        match self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left) {
            Ok(_) => self.0.append(thread, append).await,
            Err(_) => Err(CheckpointError::Full("no room".into())),
        }
    }
}

/// P8: whoever waits for a queue that failed says why the store refused it, also where a call that is announced looks into the log for
/// what became of it.
#[tokio::test(start_paused = true)]
async fn a_run_says_what_the_store_refused_first() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let paid = async |_| Ok::<_, BoxError>("paid".to_owned());
        Ok(says(cx.once("pay", "{}", Doubt::Ask, paid).await?))
    }
    let graph = builder().node("count", count).node("pay", pay);
    let graph = graph.edge(START, "count").edge("count", "pay").edge("pay", END).build().unwrap();
    for durability in ALL {
        for room in 1..4 {
            let store = Layered(FillsUp(memory(), room.into()));
            let thread = graph.checkpointer(store).thread(key("t")).durability(durability);
            let Err(error) = thread.invoke(S::update(), Ledger::default()).await else { continue };
            let mut causes = hanok_core::Chain(&error).causes();
            let is_full = |cause: &(dyn std::error::Error + 'static)| {
                matches!(cause.downcast_ref(), Some(CheckpointError::Full(_)))
            };
            assert!(causes.any(is_full), "{durability:?}, {room}: {error:?}");
        }
    }
}
