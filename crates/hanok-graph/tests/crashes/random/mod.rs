//! Random graphs under random schedules, with failures, questions and crashes, end where a sequential model ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod graph;
mod model;
mod plan;

use std::{future::Future, sync::Arc, time::Duration};

use futures::StreamExt;
use graph::{S, World, graph};
use hanok_checkpoint::{Body, Checkpointer, Codec, Record, SharedCheckpointer, Snapshots};
use hanok_core::TaskId;
use hanok_graph::{Durability, Graph, Input, Outcome, RunError, Runtime, TokioSpawner};
use hanok_state::State;
use hanok_testkit::shortened;
use model::model;
use plan::{Death, Plan, plan};
use proptest::prelude::*;

use crate::support::{Counting, Dying, PausedClock, key, memory, runtime};

fn log(state: &S) -> Vec<String> {
    state.log.iter().cloned().collect()
}

/// What a person says to a question.
fn answer(question: &str) -> String {
    question.replace('?', "!")
}

/// How often the tasks were run whose writes the log has.
async fn written(store: &SharedCheckpointer, world: &World) -> Vec<(TaskId, u32)> {
    let page = store.history(&key("t"), None, usize::MAX).await.unwrap();
    let Some(page) = page else { return Vec::new() };
    let (life, codec) = (page.head.life, Codec::default());
    let open = |record: &Record| record.open(&codec, &key("t"), life).unwrap().1;
    let entries = page.records.iter().map(open);
    let tasks = entries.filter_map(|entry| match entry.body {
        Body::Write(write) => Some(write.task),
        _ => None,
    });
    tasks.map(|task| (task, world.ran(task))).collect()
}

/// Runs to the end whatever happens on the way: what failed is resumed, what was asked is answered, and after each death
/// another process goes on.
async fn to_the_end(
    graph: &Graph<S, World>,
    plan: &Plan,
    world: &World,
    durability: Durability,
) -> (S, SharedCheckpointer) {
    let store = memory();
    let mut deaths = plan.deaths.iter();
    let mut all_at_once = plan.answers.iter().cycle();
    let next = |death: Option<&Death>| {
        let at = death.map_or(usize::MAX, |death| death.at);
        Dying::at(store.clone(), at, death.is_some_and(|death| death.stored))
    };
    let mut dying = next(deaths.next());
    let mut input = Input::New(S::update());
    let mut before = Vec::new();
    for _ in 0..2_000 {
        let thread = graph.checkpointer(hanok_testkit::Layered(dying.clone())).thread(key("t"));
        let thread = thread.durability(durability);
        let run = thread.run(input.clone(), world.clone());
        let outcome = tokio::time::timeout(Duration::from_secs(60), run).await.expect("an end");
        // Nothing that was stored is run again.
        for (task, ran) in before {
            assert_eq!(world.ran(task), ran, "{task} ran again");
        }
        before = written(&store, world).await;
        if dying.is_dead() {
            dying.after_death(&key("t")).await.unwrap();
            dying = next(deaths.next());
            let began = graph.checkpointer(store.clone()).thread(key("t")).state(None).await;
            input = match began.unwrap() {
                Some(_) => Input::Resume,
                None => Input::New(S::update()),
            };
            continue;
        }
        input = match outcome {
            Ok(Outcome::Done(state)) => return (state, store),
            Ok(Outcome::Interrupted(asked)) => {
                let count = if *all_at_once.next().unwrap() { asked.len() } else { 1 };
                let answers = asked.iter().take(count).map(|asked| {
                    let said = answer(&asked.payload::<String>().unwrap());
                    (asked.id.clone(), hanok_core::Stored::encode(&said).unwrap())
                });
                Input::Answers(answers.collect())
            }
            Err(RunError::Node { .. }) => Input::Resume,
            other => panic!("{other:?}"),
        };
    }
    panic!("no end");
}

/// Checks one plan under one runtime.
async fn check(plan: Plan, runtime: Runtime) {
    let want = model(&plan);
    let graph = graph(&plan, runtime);
    if plan.needs_no_store() {
        let outcome = graph.invoke(S::update(), World::default()).await;
        assert_eq!(log(&outcome.unwrap().done().unwrap()), want, "without a store");
    }
    let quiet = Plan { deaths: Vec::new(), ..plan.clone() };
    let all = [Durability::Sync, Durability::Async, Durability::Exit];
    for (plan, durability) in [quiet, plan].iter().flat_map(|plan| all.map(|it| (plan, it))) {
        let (state, store) = to_the_end(&graph, plan, &World::default(), durability).await;
        assert_eq!(log(&state), want, "{durability:?}");
        // What is stored is what was run, with and without snapshots.
        let thread = graph.checkpointer(store.clone()).thread(key("t"));
        assert_eq!(thread.state(None).await.unwrap(), Some(state));
        let opened = store.open(&key("t"), None, Snapshots::Ignore).await.unwrap().unwrap();
        assert!(opened.head.claim.is_none());
        let told = thread.events(None).await.unwrap();
        assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
}

/// Of so many random cases those that are tried.
fn cases(all: usize) -> u32 {
    shortened(all).try_into().unwrap()
}

/// Runs `test` on one thread, whose time is paused.
fn paused(test: impl Future<Output = ()>) {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap().block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    /// B11, B30, B31, B33, B34, B37, B44, B47, B58, B67, B71, P1, P2, P11: with every durability.
    #[test]
    fn any_graph_under_any_schedule_ends_where_a_sequential_model_ends(plan in plan()) {
        paused(async { check(plan, runtime()).await });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// B11, P11: also where tasks run on several threads at once.
    #[test]
    fn threads_change_nothing(plan in plan()) {
        let plan = Plan { sleeps: false, ..plan };
        let builder = &mut tokio::runtime::Builder::new_multi_thread();
        let threads = builder.worker_threads(2).enable_all().build().unwrap();
        threads.block_on(async { check(plan, Runtime::default()).await });
    }
}

/// Everything that can be seen of a run: its events, its outcome and its log.
async fn trace(plan: &Plan, seed: u64) -> Vec<String> {
    let runtime = Runtime {
        clock: Arc::new(PausedClock::default()),
        ids: Arc::new(Counting::from(seed)),
        rng: Arc::new(Counting::from(!seed)),
        spawner: Arc::new(TokioSpawner),
        slots: None,
    };
    let (graph, world, store) = (graph(plan, runtime), World::default(), memory());
    let thread = graph.checkpointer(store).thread(key("t"));
    let (mut seen, mut input) = (Vec::new(), Input::New(S::update()));
    for _ in 0..200 {
        let mut events = thread.stream(input, world.clone());
        while let Some(event) = events.next().await {
            seen.push(format!("{event:?}"));
        }
        let outcome = events.outcome().await;
        seen.push(format!("{outcome:?}"));
        input = match outcome {
            Ok(Outcome::Interrupted(asked)) => {
                let said = answer(&asked[0].payload::<String>().unwrap());
                Input::answer(asked[0].id.clone(), &said).unwrap()
            }
            Err(RunError::Node { .. }) => Input::Resume,
            _ => break,
        };
    }
    let entries = thread.history(None, usize::MAX).await.unwrap();
    seen.extend(entries.iter().map(|entry| format!("{entry:?}")));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// The same seed gives the same run: every event with its number, every id, every entry with its time.
    #[test]
    fn one_seed_replays_one_run(plan in plan(), seed: u64) {
        let mut traces = Vec::new();
        for seed in [seed, seed, seed.wrapping_add(1)] {
            paused(async { traces.push(trace(&plan, seed).await) });
        }
        let other = traces.pop().unwrap();
        prop_assert_eq!(&traces[0], &traces[1]);
        // Ids come from the seed, so another one gives another run.
        prop_assert_ne!(&traces[0], &other);
    }
}
