//! Tasks that servers begin for calls.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_agent::Decision;
use hanok_checkpoint::{Checkpointer, SharedCheckpointer};
use hanok_core::{CallItem, CallSink, Cancellation};
use hanok_graph::Outcome;
use hanok_mcp::{ElicitationAnswer, McpClient, McpConfig, McpError, ServerError, TaskProgress};
use hanok_model::{Tool, ToolError};
use hanok_sqlite::Sqlite;
use hanok_testkit::Dying;
use serde_json::json;

use crate::{
    durable::{answered, key, lost, memory, thread},
    program::tool,
    support::{AT_LAST, World, tool_of},
};

fn modern() -> World {
    World::new().server_with("office", "modern", &[tool("long", "")], json!({"timeout": 9}))
}

/// The state of the task from now on.
fn becomes(world: &World, state: &str) {
    std::fs::write(world.path("office.pid.task"), state).unwrap();
}

fn calls(world: &World, name: &str) -> usize {
    world.ledger("office").iter().filter(|line| line.split(' ').next() == Some(name)).count()
}

/// The time between two polls of a server that wants more of them.
const WAIT: Duration = Duration::from_millis(100);

/// Has a minute pass between two polls, and none within one.
#[derive(Debug, Default)]
struct Minutes(usize);

impl Minutes {
    async fn pass_until_polled(&mut self, world: &World, times: usize) {
        let passing = async {
            while calls(world, "poll") < times {
                while world.clock.sleeps(WAIT) <= self.0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                self.0 += 1;
                let polls = calls(world, "poll");
                world.clock.advance(Duration::from_secs(60));
                // The next wait begins after the next poll, whether its server answers or not.
                while world.clock.sleeps(WAIT) <= self.0 && calls(world, "poll") == polls {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        tokio::time::timeout(AT_LAST, passing).await.unwrap();
    }
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<TaskProgress>>);

impl CallSink for Heard {
    fn item(&self, item: CallItem) {
        let CallItem::Custom(item) = item else { panic!("{item:?}") };
        self.0.lock().unwrap().push(item.decode().unwrap());
    }
}

/// A task of more than an hour is one call, whose server ends in between: only each request has the server's time.
#[tokio::test]
async fn a_task_of_more_than_an_hour_is_polled_to_its_end() {
    let world = modern();
    let client = world.approved().await;
    let heard = Arc::new(Heard::default());
    let (long, call) = (tool_of(&client, "office__long"), world.call("k").items(heard.clone()));
    let calling = tokio::spawn(async move { long.run(&r#"{"text":"k"}"#.into(), &call).await });
    let mut minutes = Minutes::default();
    minutes.pass_until_polled(&world, 70).await;
    world.kill(&client, "office").await;
    minutes.pass_until_polled(&world, 75).await;
    assert!(!calling.is_finished());
    becomes(&world, "completed");
    minutes.pass_until_polled(&world, calls(&world, "poll") + 1).await;
    let made = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap().unwrap();
    assert_eq!((made.text.as_str(), calls(&world, "long")), ("task-k is done", 1));
    let heard = heard.0.lock().unwrap();
    let states: Vec<_> =
        heard.iter().map(|at| (at.status.as_str(), at.message.as_deref())).collect();
    let message = Some("at\\u{1b} it");
    assert_eq!(states, [("working", message), ("completed", message)]);
}

/// B138, P4, P44: the process dies at every append. From the note on the same task is polled, whatever was lost, and the tool is
/// called once.
#[tokio::test]
async fn a_task_survives_a_crash_at_every_append() {
    let world = modern();
    let client = world.approved().await;
    let mut ends = Vec::new();
    for at in 1..30 {
        let mut is_over = false;
        for is_stored in [false, true] {
            becomes(&world, "completed");
            let (store, before) = (memory(), calls(&world, "long"));
            let dying = Dying::at(store.clone(), at - 1, is_stored);
            let first = thread(&dying.shared());
            let _ = first.invoke(Default::default(), tool_of(&client, "office__long")).await;
            is_over |= !dying.is_dead();
            dying.after_death(&key()).await.unwrap();
            let made = calls(&world, "long") - before;
            if dying.is_dead() && store.head(&key()).await.unwrap().is_some() {
                let answer = ElicitationAnswer::Cancel;
                let end = answered(&store, &client, "office__long", &answer).await;
                let when = if is_stored { "after" } else { "before" };
                ends.push(format!("{when} append {at}: called {made}, then {end}"));
            }
            assert!(calls(&world, "long") - before <= 1, "{at} {is_stored}");
        }
        if is_over {
            break;
        }
    }
    // Until the note is stored it is a doubt; from then on it is no doubt any more.
    let want = [
        "after append 1: called 0, then task-k is done",
        "before append 2: called 0, then task-k is done",
        "after append 2: called 0, then in doubt",
        "before append 3: called 1, then in doubt",
        "after append 3: called 1, then task-k is done",
        "before append 4: called 1, then task-k is done",
        "after append 4: called 1, then task-k is done",
        "before append 5: called 1, then task-k is done",
        "after append 5: called 1, then task-k is done",
    ];
    assert_eq!(ends, want);
}

/// The questions of a task are those of its call: the run ends, and the next one hands the answer over to the same task.
#[tokio::test]
async fn a_task_may_ask_a_person() {
    let (world, store) = (modern(), memory());
    let client = world.approved().await;
    becomes(&world, "input_required");
    let long = tool_of(&client, "office__long");
    let run = thread(&store).invoke(Default::default(), long.clone()).await;
    let Ok(Outcome::Interrupted(open)) = run else { panic!("{run:?}") };
    world.kill(&client, "office").await;
    let answer = Decision::from(ElicitationAnswer::accept(json!({"pages": 4})));
    let done = thread(&store).answer(open[0].id.clone(), &answer, long).await.unwrap().done();
    assert_eq!(done.unwrap().text, "task-k is done");
    assert_eq!((calls(&world, "long"), calls(&world, "update")), (1, 1));
    let updates = world.ledger("office");
    let update = updates.iter().find(|line| line.starts_with("update")).unwrap();
    assert_eq!(update, r#"update {"pages":{"action":"accept","content":{"pages":4}}}"#);
}

/// A server that failed again and again is not called, but what it has begun is polled all the same.
#[tokio::test]
async fn a_circuit_that_is_open_keeps_no_task_from_its_end() {
    let tools = [tool("long", ""), tool("die", "")];
    let (world, store) = (World::new().server("office", "modern", &tools), memory());
    let client = world.approved().await;
    becomes(&world, "input_required");
    let long = tool_of(&client, "office__long");
    let run = thread(&store).invoke(Default::default(), long.clone()).await;
    let Ok(Outcome::Interrupted(open)) = run else { panic!("{run:?}") };
    for _ in 0..5 {
        world.run(&client, "office__die", "k").await.unwrap_err();
    }
    let refused = world.run_tool(&tool_of(&client, "office__die"), "k").await.unwrap_err();
    assert!(matches!(refused, ToolError::Unavailable { .. }), "{refused:?}");
    let answer = Decision::from(ElicitationAnswer::accept(json!({"pages": 4})));
    let done = thread(&store).answer(open[0].id.clone(), &answer, long).await.unwrap().done();
    assert_eq!((done.unwrap().text.as_str(), calls(&world, "long")), ("task-k is done", 1));
}

/// A task that its server has forgotten is in doubt, and one that failed or was cancelled says so.
#[tokio::test]
async fn the_end_of_a_task_is_told_as_what_it_is() {
    type Is = fn(&ServerError) -> bool;
    let cases: [(&str, bool, Is); 3] = [
        (
            "forgotten",
            true,
            |error| matches!(error, ServerError::TaskForgotten { task } if task == "task-k"),
        ),
        (
            "failed",
            false,
            |error| matches!(error, ServerError::Refused { code: -32000, message } if message == "no paper\\u{1b}"),
        ),
        (
            "cancelled",
            false,
            |error| matches!(error, ServerError::TaskCancelled { message: Some(message) } if message == "at\\u{1b} it"),
        ),
    ];
    for (state, in_doubt, is) in cases {
        let world = modern();
        let client = world.approved().await;
        becomes(&world, state);
        let error = world.run_tool(&tool_of(&client, "office__long"), "k").await.unwrap_err();
        assert_eq!(matches!(error, ToolError::InDoubt(_)), in_doubt, "{error:?}");
        let Some(McpError::Server { source, .. }) = McpError::of(&error) else {
            panic!("{error:?}")
        };
        assert!(is(source), "{state}: {source:?}");
        assert_eq!(calls(&world, "long"), 1);
    }
}

/// P4: a call whose task is forgotten is in doubt, however often its run is resumed, and is not made again before a person says
/// what became of it.
#[tokio::test]
async fn a_forgotten_task_is_never_begun_again() {
    let (world, store) = (modern(), memory());
    let client = world.approved().await;
    becomes(&world, "forgotten");
    let long = tool_of(&client, "office__long");
    let error = thread(&store).invoke(Default::default(), long.clone()).await.unwrap_err();
    let text = hanok_core::Chain(&error).to_string();
    assert!(text.contains("has forgotten the task `task-k`"), "{text}");
    for _ in 0..3 {
        let outcome = thread(&store).resume(long.clone()).await.unwrap();
        assert!(matches!(outcome, Outcome::InDoubt(_)), "{outcome:?}");
    }
    assert_eq!(calls(&world, "long"), 1);
}

/// A turn that stops has its task stopped.
#[tokio::test]
async fn a_task_of_a_call_that_is_stopped_is_cancelled_at_its_server() {
    let world = modern();
    let client = world.approved().await;
    let stopped = Cancellation::default();
    let (long, call) = (tool_of(&client, "office__long"), world.call("k"));
    let call = call.cancellation(stopped.clone());
    let calling = tokio::spawn(async move { long.run(&r#"{"text":"k"}"#.into(), &call).await });
    Minutes::default().pass_until_polled(&world, 2).await;
    stopped.cancel();
    let error = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap().unwrap_err();
    assert!(matches!(error, ToolError::Cancelled), "{error:?}");
    let cancelled = async {
        while calls(&world, "cancel-task") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AT_LAST, cancelled).await.unwrap();
}

/// A call that nobody waits for any more, as when a process ends, leaves its task alone: the next run polls it.
#[tokio::test]
async fn a_task_of_a_call_that_is_only_dropped_goes_on() {
    let (world, store) = (modern(), memory());
    let client = world.approved().await;
    let (running, long) = (store.clone(), tool_of(&client, "office__long"));
    let calling =
        tokio::spawn(
            async move { thread(&running).invoke(Default::default(), long).await.map(drop) },
        );
    world.taken("office", 2).await;
    calling.abort();
    let _ = calling.await;
    becomes(&world, "completed");
    lost(&store).await;
    let end = answered(&store, &client, "office__long", &ElicitationAnswer::Cancel).await;
    assert_eq!((end.as_str(), calls(&world, "long")), ("task-k is done", 1));
    assert_eq!(calls(&world, "cancel-task"), 0);
}

/// The folder of a client that is to be killed.
const KILLED: &str = "KILLED_CLIENT";

/// Calls a tool in a process of its own when it is told to; in a run of the tests it does nothing.
#[tokio::test]
async fn client() {
    let Ok(folder) = std::env::var(KILLED) else { return };
    let folder = std::path::Path::new(&folder);
    let client = McpClient::connect(McpConfig::read(folder.join("mcp.json")).unwrap()).await;
    let sqlite = Sqlite::open(folder.join("threads.db")).await.unwrap();
    let (store, long) =
        (SharedCheckpointer::new(sqlite), tool_of(&client.unwrap(), "office__long"));
    let ended = thread(&store).invoke(Default::default(), long).await;
    panic!("it is killed before: {ended:?}");
}

/// B138: a process that polls a task is killed. The next one polls the same task, and the tool is called once.
#[tokio::test]
async fn a_task_survives_its_client_that_is_killed() {
    let world = modern();
    world.approved().await.close().await;
    let mut killed = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tasks::client", "--nocapture"])
        .env(KILLED, world.folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let polls = async {
        while calls(&world, "poll") < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let polled = tokio::time::timeout(AT_LAST, polls).await;
    killed.kill().unwrap();
    let status = killed.wait().unwrap();
    assert!(polled.is_ok() && !status.success(), "{status}");

    let client = world.builder().connect().await.unwrap();
    becomes(&world, "completed");
    let sqlite = Sqlite::open(world.path("threads.db")).await.unwrap();
    let store = SharedCheckpointer::new(sqlite);
    lost(&store).await;
    let end = answered(&store, &client, "office__long", &ElicitationAnswer::Cancel).await;
    assert_eq!((end.as_str(), calls(&world, "long")), ("task-k is done", 1));
}
