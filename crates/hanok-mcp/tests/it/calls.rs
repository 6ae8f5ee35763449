//! Calls, and what becomes of them when a connection is lost.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{CallItem, CallSink, Cancellation, Effect};
use hanok_mcp::{Lifecycle, McpClient, McpConfig, McpError, Progress, ServerError};
use hanok_model::{Tool, ToolError};
use serde_json::json;

use crate::{
    program::tool,
    support::{AT_LAST, World, is_alive, names, tool_of, until_dead},
};

#[tokio::test]
async fn tools_of_many_servers_are_called_each_with_its_key() {
    let world = World::new()
        .server("one", "old", &[tool("echo", "Says the same")])
        .server("two", "modern", &[tool("echo", "Says the same"), tool("find", "Finds")])
        .server("three", "ends-at-discover", &[tool("read", "Reads")]);
    let client = world.approved().await;
    assert_eq!(names(&client), ["one__echo", "three__read", "two__echo", "two__find"]);
    let spoken: Vec<_> = client
        .status()
        .into_iter()
        .map(|server| (server.server, server.lifecycle, server.error))
        .collect();
    let (old, modern) = (Some(Lifecycle::Initialize), Some(Lifecycle::Discover));
    let want = [("one", old), ("three", old), ("two", modern)];
    assert_eq!(spoken, want.map(|(server, lifecycle)| (server.to_owned(), lifecycle, None)));
    for (name, key) in [("one__echo", "k1"), ("two__find", "k2"), ("three__read", "k3")] {
        assert_eq!(world.run(&client, name, key).await, Ok(key.to_owned()));
    }
    assert_eq!(world.ledger("one"), ["echo k1"]);
    assert_eq!(world.ledger("two"), ["find k2"]);
    client.close().await;
    let error = world.run(&client, "one__echo", "k4").await.unwrap_err();
    assert_eq!(error, "server `one`: the client was closed");
}

/// P44: annotations are hints of a stranger; the operator's word wins.
#[tokio::test]
async fn the_effect_of_a_tool_is_the_operators_word() {
    let hinted = |name: &str, hints: serde_json::Value| {
        let mut tool = tool(name, "");
        tool["annotations"] = hints;
        tool
    };
    let tools = [
        hinted("read", json!({"readOnlyHint": true})),
        hinted("put", json!({"idempotentHint": true})),
        hinted("send", json!({"readOnlyHint": false})),
        hinted("drop", json!({"readOnlyHint": true})),
        tool("say", ""),
    ];
    let own = json!({"trust": "annotations", "tools": {"drop": {"effect": "at_most_once"}, "say": {"effect": "pure"}}});
    let world =
        World::new().server("strange", "old", &tools).server_with("known", "old", &tools, own);
    let client = world.approved().await;
    let effects = |server: &str| {
        ["read", "put", "send", "drop", "say"]
            .map(|name| tool_of(&client, &format!("{server}__{name}")).effect())
    };
    assert_eq!(effects("strange"), [Effect::AtMostOnce; 5]);
    let (pure, again, once) = (Effect::Pure, Effect::Idempotent, Effect::AtMostOnce);
    assert_eq!(effects("known"), [pure, again, once, once, pure]);
}

/// P4, P20: a lost call is repeated only when it may be, else it is in doubt; either way the server comes back by itself.
#[tokio::test]
async fn a_call_whose_connection_is_lost_is_repeated_or_in_doubt() {
    let pure = json!({"tools": {"die-first": {"effect": "pure"}}});
    let tools = [tool("die-first", ""), tool("echo", "")];
    let world =
        World::new().server("unknown", "old", &tools).server_with("known", "old", &tools, pure);
    let client = world.approved().await;

    assert_eq!(world.run(&client, "known__die-first", "k1").await, Ok("k1".to_owned()));
    assert_eq!(world.ledger("known"), ["die-first k1", "die-first k1"]);

    let error = world.run_tool(&tool_of(&client, "unknown__die-first"), "k2").await.unwrap_err();
    assert!(matches!(error, ToolError::InDoubt(_)), "{error:?}");
    let server = McpError::of(&error);
    assert!(
        matches!(server, Some(McpError::Server { source: ServerError::Ended { .. }, .. })),
        "{server:?}"
    );
    assert_eq!(world.ledger("unknown"), ["die-first k2"]);
    assert_eq!(world.run(&client, "unknown__echo", "k3").await, Ok("k3".to_owned()));
}

/// A connection that was lost while nobody used it is made again before a call is sent, even of one that must not be repeated.
#[tokio::test]
async fn a_server_that_ended_between_calls_is_started_again() {
    let world = World::new().server("one", "old", &[tool("echo", "")]);
    let client = world.approved().await;
    let pid = std::fs::read_to_string(world.path("one.pid")).unwrap();
    world.kill(&client, "one").await;
    assert_eq!(world.run(&client, "one__echo", "k1").await, Ok("k1".to_owned()));
    assert_eq!(world.ledger("one"), ["echo k1"]);
    assert_ne!(std::fs::read_to_string(world.path("one.pid")).unwrap(), pid);
}

/// The lifecycle that a server spoke is remembered: it is not asked for again when the connection is made again.
#[tokio::test]
async fn the_lifecycle_of_a_server_is_remembered() {
    for (mode, openings) in [
        ("old", ["server/discover", "initialize", "initialize"].as_slice()),
        ("modern", &["server/discover", "server/discover"]),
    ] {
        let world = World::new().server("one", mode, &[tool("echo", "")]);
        let client = world.approved().await;
        world.kill(&client, "one").await;
        world.run(&client, "one__echo", "k").await.unwrap();
        let text = std::fs::read_to_string(world.path("one.pid.openings")).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), openings, "{mode}");
    }
}

/// P44: a program sees what it needs and what is listed.
#[tokio::test]
async fn a_program_sees_no_other_variables_than_those_that_are_listed() {
    let world = World::new().server("one", "old", &[tool("env", "")]);
    let client = world.approved().await;
    let seen_by_child = world.run(&client, "one__env", "k").await.unwrap();
    let allowed = ["PATH", "HOME", "LANG", "TMPDIR", "MODE", "LEDGER", "PID", "TOOLS"];
    // What the harness of the test sets itself is not ours.
    let others: Vec<_> = seen_by_child.split(' ').filter(|name| !allowed.contains(name)).collect();
    assert_eq!(others, [""; 0]);
    // This program has some.
    assert!(std::env::vars().any(|variable| !allowed.contains(&variable.0.as_str())));
}

/// What a server has started ends with its client.
#[tokio::test]
async fn descendants_of_a_server_end_with_the_client() {
    let world = World::new().server("one", "old", &[tool("child", "")]);
    let client = world.approved().await;
    let pid = world.run(&client, "one__child", "k").await.unwrap();
    assert!(is_alive(&pid));
    client.close().await;
    until_dead(&pid).await;
}

#[tokio::test]
async fn what_a_server_answers_is_told_as_what_it_is() {
    let tools = ["fail", "refuse", "unfit", "echo"].map(|name| tool(name, ""));
    let world = World::new().server("one", "old", &tools);
    let client = world.approved().await;
    // `isError` counts, whatever the words say.
    assert_eq!(world.run(&client, "one__fail", "k").await, Err("all is well".to_owned()));
    let refused = world.run(&client, "one__refuse", "k").await;
    assert_eq!(
        refused,
        Err("server `one`: the server refused (-32000): not today\\u{1b}[2J".to_owned())
    );
    let error = world.run_tool(&tool_of(&client, "one__unfit"), "k").await.unwrap_err();
    assert!(matches!(error, ToolError::Arguments(_)), "{error:?}");
    // An answer of the server is no failure of it: its breaker stays closed.
    for _ in 0..20 {
        world.run(&client, "one__fail", "k").await.unwrap_err();
    }
    assert_eq!(world.run(&client, "one__echo", "k").await, Ok("k".to_owned()));
}

#[derive(Default)]
struct Heard(Mutex<Vec<CallItem>>);

impl CallSink for Heard {
    fn item(&self, item: CallItem) {
        self.0.lock().unwrap().push(item);
    }
}

/// How far a call is goes to whoever watches its run, and is no part of its result.
#[tokio::test]
async fn the_progress_of_a_call_is_told_to_its_observers() {
    let world = World::new().server("one", "old", &[tool("steps", "")]);
    let client = world.approved().await;
    let heard = Arc::new(Heard::default());
    let call = world.call("k").items(heard.clone());
    let made = tool_of(&client, "one__steps").run(&"{}".into(), &call).await.unwrap();
    assert_eq!(made.text, "done");
    let progress: Vec<_> = heard
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|item| match item {
            CallItem::Custom(item) => item.decode::<Progress>().unwrap(),
            other => panic!("{other:?}"),
        })
        .map(|at| (at.progress, at.total, at.message))
        .collect();
    let at = |progress| (progress, Some(2.0), Some("at\\u{1b}[2J it".to_owned()));
    assert_eq!(progress, [at(1.0), at(2.0)]);
}

/// A call that nobody waits for any more is cancelled at its server, by its time or because it is stopped.
#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_at_its_server() {
    let world = World::new().server_with("one", "old", &[tool("hang", "")], json!({"timeout": 9}));
    let client = world.approved().await;
    let hang = tool_of(&client, "one__hang");
    let (call, stopped) = (world.call("k1"), Cancellation::default());
    for (call, taken) in [(call, 1), (world.call("k2").cancellation(stopped.clone()), 3)] {
        let hang = hang.clone();
        let calling = tokio::spawn(async move { hang.run(&"{}".into(), &call).await });
        world.taken("one", taken).await;
        if taken == 1 {
            world.clock.advance(Duration::from_secs(9))
        } else {
            stopped.cancel()
        }
        let error = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap().unwrap_err();
        assert!(matches!(error, ToolError::InDoubt(_) | ToolError::Cancelled), "{error:?}");
        world.taken("one", taken + 1).await;
    }
    let ledger = world.ledger("one").join(" ");
    assert_eq!(
        ledger.split_whitespace().collect::<Vec<_>>(),
        ["hang", "cancelled", "hang", "cancelled"]
    );
}

/// P20: a server that is stuck is started again by the call after the one that it did not answer.
#[tokio::test]
async fn a_server_that_is_stuck_is_started_again() {
    let more = json!({"timeout": 9, "startup_timeout": 86_000});
    let world =
        World::new().server_with("one", "old", &[tool("block", ""), tool("echo", "")], more);
    let client = world.approved().await;
    let pid = std::fs::read_to_string(world.path("one.pid")).unwrap();
    let (block, call) = (tool_of(&client, "one__block"), world.call("k1"));
    let blocked = tokio::spawn(async move { block.run(&"{}".into(), &call).await });
    world.taken("one", 1).await;
    world.clock.advance(Duration::from_secs(9));
    tokio::time::timeout(AT_LAST, blocked).await.unwrap().unwrap().unwrap_err();

    let (echo, call) = (tool_of(&client, "one__echo"), world.call("k2"));
    let calling = tokio::spawn(async move { echo.run(&r#"{"text":"k2"}"#.into(), &call).await });
    // It is asked for its tools, and that is waited for until its time is over; the new process has all the time again.
    let given_up = async {
        let is_new = || std::fs::read_to_string(world.path("one.pid")).unwrap() != pid;
        while client.status()[0].error.is_none() && !is_new() {
            world.clock.advance(Duration::from_secs(10_000));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(AT_LAST, given_up).await.unwrap();
    let made = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap();
    assert_eq!(made.unwrap().text, "k2");
    assert_ne!(std::fs::read_to_string(world.path("one.pid")).unwrap(), pid);
}

/// What ends the client ends its servers, also while a call is under way.
#[tokio::test]
async fn closing_the_client_ends_a_call_that_is_under_way() {
    let world = World::new().server("one", "old", &[tool("hang", "")]);
    let client = world.approved().await;
    let (hang, call) = (tool_of(&client, "one__hang"), world.call("k"));
    let calling = tokio::spawn(async move { hang.run(&"{}".into(), &call).await });
    world.taken("one", 1).await;
    client.close().await;
    let error = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap().unwrap_err();
    assert!(matches!(error, ToolError::InDoubt(_)), "{error:?}");
}

/// P55: what a server was told is not in what it is quoted with.
#[tokio::test]
async fn secrets_of_the_configuration_are_cut_out_of_what_servers_say() {
    // Filled in, or written as it is under a name that says what it is.
    for secret in ["${KEY}", "planted-secret"] {
        a_secret_is_cut_out(secret).await;
    }
}

async fn a_secret_is_cut_out(secret: &str) {
    let program = std::env::current_exe().unwrap();
    let config = json!({"mcpServers": {"one": {
        "command": program, "args": ["--exact", "program::serve", "--nocapture"],
        "env": {"MODE": "old", "SECRET": secret, "TOOLS": "${TOOLS}"},
    }}});
    let world = World::new();
    world.set_tools("one", &[tool("refuse", ""), tool("echo", "Says planted-secret again")]);
    let tools = world.path("one.tools");
    let variables = move |name: &str| match name {
        "KEY" => Some("planted-secret".to_owned()),
        _ => Some(tools.to_string_lossy().into_owned()),
    };
    let config = McpConfig::reader().variables(variables).parse(&config.to_string()).unwrap();
    let client = McpClient::connect(config).await.unwrap();
    client.approve(&client.pending()).unwrap();
    let echo = tool_of(&client, "one__echo");
    assert!(echo.spec().description().contains("Says … again"), "{:?}", echo.spec());
    // What a server answers, too.
    assert_eq!(world.run(&client, "one__echo", "planted-secret").await, Ok("…".to_owned()));
    let error = world.run(&client, "one__refuse", "k").await.unwrap_err();
    assert!(error.ends_with("not today\\u{1b}[2J…"), "{error}");
    let told = async {
        while !client.status()[0].stderr.contains("refused by …") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AT_LAST, told).await.unwrap();
    assert!(!format!("{client:?} {:?}", client.status()).contains("planted-secret"));
}
