//! Connections that break, and servers that go and come back.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Guard, Life, Put, Safety, Snapshots, Store, Trim,
};
use hanok_core::{ItemKey, Labels, Position, Stored, Tenant, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
use hanok_postgres::Postgres;
use hanok_state::{List, State};
use postgres_for_tests::{Installation, Server, Stop};

use crate::support::{
    self, admin, append, config, given, key, position, schema, server, store, texts, told, value,
};

use crate::support::proxy::{Loss, Proxy};

/// After so long a call hangs: each here ends within seconds.
const HANGS: Duration = Duration::from_secs(100);

/// The URL of the server at `url` through a proxy.
async fn through_a_proxy(url: &str) -> (String, Proxy) {
    let (user, place) = url.rsplit_once('@').unwrap();
    let (host, database) = place.split_once('/').unwrap();
    let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
    let proxy = Proxy::start(port).await;
    (format!("{user}@127.0.0.1:{}/{database}?sslmode=disable", proxy.port()), proxy)
}

/// P9, B73
#[tokio::test(flavor = "multi_thread")]
async fn an_append_whose_answer_is_lost_is_found_by_its_id_and_stored_once() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let schema = schema();
    let store = Postgres::connect(config(&through).schema(&schema)).await.unwrap();
    let mut want = Vec::new();
    for (at, loss) in (0..).zip([Loss::Answer, Loss::Nothing, Loss::Question, Loss::Answer]) {
        for (shift, safety) in [Safety::Process, Safety::Machine].into_iter().enumerate() {
            let at = at * 2 + shift as u64;
            let text = format!("{at} {loss:?}");
            proxy.lose(loss);
            let it = append(&key("t"), at, 100 + u128::from(at), &text);
            store.append(&key("t"), Append { safety, ..it }).await.unwrap();
            want.push(text);
            assert_eq!(texts(&store, &key("t")).await, want);
        }
    }
    assert_eq!(proxy.lost(), 6);
    let count =
        format!("SELECT count(*) || ' ' || count(DISTINCT append_id) FROM {schema}.records");
    assert_eq!(value(&admin(&url).await, &count).await, "8 8");
}

/// P9
#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_done_twice_survives_a_lost_answer_and_a_lost_question() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let (store, t) = (support::store(&through).await, key("t"));
    for (at, loss) in (0..).zip([Loss::Answer, Loss::Question]) {
        proxy.lose(loss);
        assert_eq!(position(&store, &t).await, at);
        proxy.lose(loss);
        store.append(&t, append(&t, at, u128::from(at), "x")).await.unwrap();
        proxy.lose(loss);
        store.put_snapshot(&t, Life::default(), Position(at + 1), vec![7].into()).await.unwrap();
    }
    for (floor, loss) in (1..).zip([Loss::Answer, Loss::Question]) {
        let then = Some(append(&t, floor + 1, 10 + u128::from(floor), "then"));
        proxy.lose(loss);
        store
            .trim(
                &t,
                Trim {
                    life: Life::default(),
                    floor: Position(floor),
                    base: vec![1].into(),
                    expected: None,
                    envelopes: Vec::new(),
                    then,
                },
            )
            .await
            .unwrap();
        let head = store.head(&t).await.unwrap().unwrap();
        assert_eq!((head.position.0, head.floor.0), (floor + 2, floor));
    }
    proxy.lose(Loss::Question);
    assert!(store.delete(&t, None).await.unwrap());
    assert_eq!(proxy.lost(), 9);
}

/// P9: the connection is not used again.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_falls_silent_is_given_up() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let config = config(&through).connections(1).statement_timeout(Duration::from_secs(1));
    let (store, t) = (Postgres::connect(config).await.unwrap(), key("t"));
    proxy.lose(Loss::Silence);
    store.append(&t, append(&t, 0, 1, "one")).await.unwrap();
    assert_eq!((texts(&store, &t).await, proxy.lost()), (vec!["one".to_owned()], 1));
}

/// P9: what is several statements, too. The one connection there may be is not waited on again.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_falls_silent_under_a_transaction_is_given_up() {
    let Some(url) = server() else { return };
    let one = async || {
        let (through, proxy) = through_a_proxy(&url).await;
        let config = config(&through).connections(1);
        Postgres::connect(config.clone()).await.unwrap();
        let impatient = config.statement_timeout(Duration::from_secs(1));
        (Postgres::connect(impatient).await.unwrap(), proxy)
    };
    let trim = async {
        let ((store, proxy), t) = (one().await, key("t"));
        store.append(&t, append(&t, 0, 1, "one")).await.unwrap();
        proxy.lose(Loss::Silence);
        let trim = Trim {
            life: Life::default(),
            floor: Position(1),
            base: vec![7].into(),
            expected: None,
            envelopes: Vec::new(),
            then: None,
        };
        store.trim(&t, trim).await.unwrap();
        assert_eq!((position(&store, &t).await, proxy.lost()), (1, 1));
    };
    let put = async {
        let (store, proxy) = one().await;
        let kim = ItemKey::new(Tenant::default(), Labels::new(["kim"]).unwrap(), "leave").unwrap();
        proxy.lose(Loss::Silence);
        store.put(&kim, Put::new(Stored::encode("15").unwrap()), Timestamp(1)).await.unwrap();
        assert_eq!(proxy.lost(), 1);
    };
    let sweep = async {
        let (store, proxy) = one().await;
        proxy.lose(Loss::Silence);
        assert_eq!(store.sweep(Timestamp(2), 9).await.unwrap(), 0);
        assert_eq!(proxy.lost(), 1);
    };
    tokio::join!(trim, put, sweep);
}

/// P9: whatever answer is the last one.
#[tokio::test(flavor = "multi_thread")]
async fn connecting_ends_though_the_server_falls_silent_at_any_step() {
    let Some(url) = server() else { return };
    let silent = (1..=10).map(async |answers| {
        let (through, proxy) = through_a_proxy(&url).await;
        proxy.answer_no_more_after(answers);
        let config = config(&through)
            .statement_timeout(Duration::from_millis(10))
            .acquire_timeout(Duration::from_secs(1))
            .retry_for(Duration::ZERO);
        let connected = tokio::time::timeout(HANGS, Postgres::connect(config)).await;
        let connected = connected.unwrap_or_else(|_| panic!("it hangs after {answers} answers"));
        let error = connected.unwrap_err();
        assert!(matches!(error, CheckpointError::Unavailable { .. }), "{answers}: {error:?}");
    });
    join_all(silent).await;
}

/// Whoever waits looks all the same when the connection to listen on cannot be made.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_sees_an_append_though_nobody_may_listen() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let config = config(&through).connections(1).acquire_timeout(Duration::from_millis(100));
    let (store, t) = (Postgres::connect(config).await.unwrap(), key("t"));
    store.append(&t, append(&t, 0, 1, "one")).await.unwrap();
    proxy.greet_nobody();
    let waiting = tokio::time::timeout(HANGS, store.beyond(&t, Position(1)));
    let (moved, ()) = tokio::join!(waiting, async {
        store.append(&t, append(&t, 1, 2, "two")).await.unwrap();
    });
    assert_eq!(moved.expect("nobody looks").unwrap(), Position(2));
}

/// A network on which nothing comes back before all was sent is no trouble: nothing is waited for in between.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_one_way_there_and_back() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let config = config(&through).connections(1).retry_for(Duration::ZERO);
    let store = Postgres::connect(config.statement_timeout(HANGS)).await;
    let (store, t) = (store.unwrap(), key("t"));
    proxy.lose(Loss::Patience);
    for at in 0..5 {
        store.append(&t, append(&t, at, u128::from(at), "x")).await.unwrap();
        store.put_snapshot(&t, Life::default(), Position(at), vec![7].into()).await.unwrap();
        let opened = store.open(&t, None, Snapshots::Use).await.unwrap().unwrap();
        assert_eq!(opened.records.len(), 1);
        assert_eq!(position(&store, &t).await, at + 1);
    }
    let head = store.head(&t).await.unwrap().unwrap();
    assert_eq!(head.position, Position(5));
    assert!(store.delete(&t, Some(&head)).await.unwrap());
}

/// P9: the caller appends again with the same id.
#[tokio::test(flavor = "multi_thread")]
async fn an_append_that_is_given_up_is_found_by_the_next_attempt() {
    let Some(url) = server() else { return };
    let (through, proxy) = through_a_proxy(&url).await;
    let config = config(&through).retry_for(Duration::ZERO);
    let (store, t) = (Postgres::connect(config).await.unwrap(), key("t"));
    for (at, loss) in (0..).zip([Loss::Answer, Loss::Question]) {
        proxy.lose(loss);
        let it = append(&t, at, u128::from(at), "x");
        let error = store.append(&t, it.clone()).await.unwrap_err();
        assert!(matches!(error, CheckpointError::Unavailable { .. }), "{}", told(&error));
        store.append(&t, it).await.unwrap();
        assert_eq!(position(&store, &t).await, at + 1);
    }
}

/// P9: connections are ended between appends and in the middle of them.
#[tokio::test(flavor = "multi_thread")]
async fn appends_go_on_while_connections_are_ended() {
    let Some(url) = server() else { return };
    let name = schema();
    let named = format!("{url}?application_name={name}");
    let store = Postgres::connect(config(&named).schema(&name)).await.unwrap();
    let admin = admin(&url).await;
    let ended = Arc::new(AtomicU32::new(0));
    let ending = tokio::spawn({
        let ended = Arc::clone(&ended);
        async move {
            let end = format!(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE application_name = '{name}'"
            );
            loop {
                let count: u32 = value(&admin, &end).await.parse().unwrap();
                ended.fetch_add(count, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        }
    });
    let write = |writer: u64| {
        let (store, ended) = (store.clone(), Arc::clone(&ended));
        tokio::spawn(async move {
            let t = key(&format!("t{writer}"));
            let mut want = Vec::new();
            // As long as it takes for enough to be ended.
            while want.len() < 60 || ended.load(Ordering::SeqCst) < 20 {
                let (at, text) = (want.len() as u64, format!("{writer} {}", want.len()));
                let id = u128::from(writer) << 64 | u128::from(at);
                store.append(&t, append(&t, at, id, &text)).await.unwrap();
                want.push(text);
            }
            assert_eq!(texts(&store, &t).await, want);
        })
    };
    for written in join_all((0..3).map(write)).await {
        written.unwrap();
    }
    ending.abort();
}

/// P10, B76
#[tokio::test(flavor = "multi_thread")]
async fn of_two_stores_that_append_to_one_position_one_gets_a_conflict() {
    let Some(url) = server() else { return };
    let schema = schema();
    let connect = |_| Postgres::connect(config(&url).schema(&schema));
    let stores: Vec<_> = join_all((0..2).map(connect)).await.into_iter().flatten().collect();
    let t = key("t");
    for at in 0..40 {
        let race = |handle: usize| {
            let (store, t) = (stores[handle].clone(), t.clone());
            let id = u128::from(at) << 8 | handle as u128;
            tokio::spawn(async move { store.append(&t, append(&t, at, id, "x")).await })
        };
        let answers: Vec<_> = join_all((0..2).map(race)).await;
        let lost: Vec<_> = answers.into_iter().filter_map(|it| it.unwrap().err()).collect();
        let [CheckpointError::Conflict { expected, actual, .. }] = &lost[..] else {
            panic!("{lost:?}");
        };
        assert_eq!((expected.0, actual.0), (at, at + 1));
    }
}

/// P57: what is put or appended while a thread is removed goes with it, or makes it anew.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_thread_that_is_removed_while_it_is_written() {
    let Some(url) = server() else { return };
    let schema = schema();
    let store = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let t = key("t");
    for round in 0..30 {
        store.append(&t, append(&t, 0, round, "x")).await.unwrap();
        let write = tokio::spawn({
            let (store, t) = (store.clone(), t.clone());
            async move {
                for at in 1..6 {
                    let it = append(&t, at, round << 8 | u128::from(at), "x");
                    if store.append(&t, it).await.is_err() {
                        return;
                    }
                    store
                        .put_snapshot(&t, Life::default(), Position(at), vec![7].into())
                        .await
                        .unwrap();
                }
            }
        });
        tokio::time::sleep(Duration::from_micros(500 * round as u64)).await;
        store.delete(&t, None).await.unwrap();
        write.await.unwrap();
        store.delete(&t, None).await.unwrap();
        let left = format!(
            "SELECT (SELECT count(*) FROM {schema}.records) + (SELECT count(*) FROM {schema}.snapshots)"
        );
        assert_eq!(value(&admin(&url).await, &left).await, "0", "round {round}");
    }
}

/// P57: a snapshot that comes while its thread is removed waits, and goes nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_a_thread_that_is_being_removed_is_not_kept() {
    let Some(url) = server() else { return };
    let schema = schema();
    let named = format!("{url}?application_name={schema}");
    let store = Postgres::connect(config(&named).schema(&schema)).await.unwrap();
    let (t, admin) = (key("t"), admin(&url).await);
    for what in ["DELETE FROM threads", "UPDATE threads SET floor = 1"] {
        store.append(&t, append(&t, 0, 1, "x")).await.unwrap();
        // What `delete` and `trim` do first, from another process.
        let removing = support::admin(&url).await;
        let what = what.replace("threads", &format!("{schema}.threads"));
        let lock = format!("BEGIN; SELECT FROM {schema}.threads FOR UPDATE; {what}");
        removing.batch_execute(&lock).await.unwrap();
        let put = tokio::spawn({
            let (store, t) = (store.clone(), t.clone());
            async move { store.put_snapshot(&t, Life::default(), Position(1), vec![7].into()).await }
        });
        let waits = format!(
            "SELECT count(*) FROM pg_stat_activity
             WHERE application_name = '{schema}' AND wait_event_type = 'Lock'"
        );
        while value(&admin, &waits).await == "0" && !put.is_finished() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        removing.batch_execute("COMMIT").await.unwrap();
        put.await.unwrap().unwrap();
        let count = format!("SELECT count(*) FROM {schema}.snapshots");
        assert_eq!(value(&admin, &count).await, "0", "{what}");
        store.delete(&t, None).await.unwrap();
        admin.batch_execute(&format!("DELETE FROM {schema}.records")).await.unwrap();
    }
}

/// P8, P9
#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_are_waited_for() {
    let settings =
        ["max_connections = 8", "superuser_reserved_connections = 0", "max_wal_senders = 2"];
    let Some(installation) = given(Installation::newest()) else { return };
    let server = Server::start(&installation, &settings).unwrap();
    let url = server.url("postgres");
    let schema = schema();
    drop(Postgres::connect(config(&url).schema(&schema)).await.unwrap());
    let mut others = Vec::new();
    while let Ok((client, connection)) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await
    {
        others.push((client, tokio::spawn(connection)));
    }
    let impatient = config(&url).schema(&schema).retry_for(Duration::from_millis(200));
    let error = Postgres::connect(impatient).await.err().unwrap();
    assert!(told(&error).contains("it has too many connections"), "{}", told(&error));
    let patient = tokio::spawn(Postgres::connect(config(&url).schema(&schema)));
    tokio::time::sleep(Duration::from_millis(100)).await;
    others.clear();
    let store = patient.await.unwrap().unwrap();
    store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Work {
    n: u32,
    #[reduce(append)]
    log: List<String>,
}

async fn work(state: Snapshot<Work>, cx: Context<Arc<AtomicU32>>) -> Result<WorkUpdate, BoxError> {
    let said: String = cx
        .step("say", || async {
            cx.services().fetch_add(1, Ordering::SeqCst);
            Ok::<_, BoxError>(format!("said {}", state.n))
        })
        .await?;
    Ok(Work::update().n(state.n + 1).push_log(said))
}

/// P9, P10: the server dies twice under a run, and is away for a while.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_when_its_server_comes_back() {
    const STEPS: u32 = 60;
    let Some(installation) = given(Installation::newest()) else { return };
    let server = Arc::new(Server::start(&installation, &[]).unwrap());
    let store = store(&server.url("postgres")).await;
    let graph = Graph::<Work, Arc<AtomicU32>>::builder("work")
        .node("work", work)
        .edge(START, "work")
        .branch("work", |state: &Work| if state.n < STEPS { "work" } else { END }, ["work", END])
        .recursion_limit(STEPS + 1)
        .build()
        .unwrap();
    let done = Arc::new(AtomicU32::new(0));
    let thread = graph.checkpointer(store.clone()).thread(key("t"));
    let run = tokio::spawn({
        let (thread, done) = (thread.clone(), Arc::clone(&done));
        async move { thread.invoke(Work::update(), done).await }
    });
    for (at, away) in [(15, 300), (35, 1_500)] {
        while done.load(Ordering::SeqCst) < at {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let server = Arc::clone(&server);
        tokio::task::spawn_blocking(move || {
            server.stop(Stop::Immediate).unwrap();
            std::thread::sleep(Duration::from_millis(away));
            server.up().unwrap();
        })
        .await
        .unwrap();
    }
    let state = run.await.unwrap().unwrap().done().unwrap();
    let want: Vec<_> = (0..STEPS).map(|n| format!("said {n}")).collect();
    assert_eq!((state.n, state.log.iter().cloned().collect::<Vec<_>>()), (STEPS, want));
    // Every step was made once: what was answered before the server died was there after it.
    assert_eq!(done.load(Ordering::SeqCst), STEPS);
    assert_eq!(thread.state(None).await.unwrap().unwrap(), state);
    let head = store.head(&key("t")).await.unwrap().unwrap();
    assert!(head.claim.is_none());
    let (life, guard) = (head.life, Guard::Hold(head.epoch));
    let late = Append { life, guard, ..append(&key("t"), head.position.0, 1, "x") };
    assert!(matches!(store.append(&key("t"), late).await, Err(CheckpointError::Fenced { .. })));
}
