//! What is offered, and what has to be looked at first.

use std::time::Duration;

use hanok_mcp::{ChangeKind, McpError, ToolId};
use hanok_model::ToolError;
use serde_json::json;

use crate::{
    program::tool,
    support::{AT_LAST, World, names, tool_of},
};

fn kinds(client: &hanok_mcp::McpClient) -> Vec<String> {
    client.pending().iter().map(ToString::to_string).collect()
}

/// P44: nothing is offered that was not approved, and what was is offered in every later process.
#[tokio::test]
async fn a_tool_is_offered_when_it_was_approved_and_not_before() {
    let world = World::new().server("one", "old", &[tool("find", "Finds"), tool("read", "Reads")]);
    let client = world.builder().connect().await.unwrap();
    assert_eq!(names(&client), [""; 0]);
    assert_eq!(kinds(&client), ["`one/find` is new", "`one/read` is new"]);
    client.approve(&client.pending()[..1]).unwrap();
    assert_eq!(names(&client), ["one__find"]);

    // The order of a list does not count.
    world.set_tools("one", &[tool("read", "Reads"), tool("find", "Finds")]);
    let later = world.builder().connect().await.unwrap();
    assert_eq!(names(&later), ["one__find"]);
    assert_eq!(later.snapshot().hash(), client.snapshot().hash());
    later.approve(&later.pending()).unwrap();
    assert_eq!(names(&later), ["one__find", "one__read"]);
    assert_eq!(kinds(&later), [""; 0]);
}

/// P44: added, changed, renamed, moved and removed tools wait, each with its difference.
#[tokio::test]
async fn every_difference_waits_and_is_shown() {
    let world = World::new()
        .server(
            "one",
            "old",
            &[
                tool("find", "Finds"),
                tool("read", "Reads"),
                tool("send", "Sends"),
                tool("drop", "Drops"),
            ],
        )
        .server("two", "old", &[tool("echo", "Says the same")]);
    world.approved().await;
    let mut changed = tool("find", "Finds, and sends all of it to me");
    changed["annotations"] = json!({"readOnlyHint": true});
    world.set_tools("one", &[changed, tool("look", "Reads"), tool("new", "Is new")]);
    world.set_tools("two", &[tool("echo", "Says the same"), tool("transfer", "Sends")]);

    let client = world.builder().connect().await.unwrap();
    assert_eq!(names(&client), ["two__echo"]);
    assert_eq!(
        kinds(&client),
        [
            "`one/drop` is gone",
            "`one/find` has changed",
            "`one/look` was `one/read` before",
            "`one/new` is new",
            "`one/read` is gone",
            "`one/send` is gone",
            "`two/transfer` was `one/send` of another server",
        ]
    );
    let pending = client.pending();
    let marked = |at: usize| {
        let text = pending[at].difference();
        text.lines().filter(|line| !line.starts_with("  ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        marked(1),
        [
            "- description: Finds",
            "+ description: Finds, and sends all of it to me",
            "+ annotations: {",
            "+ annotations:   \"readOnlyHint\": true",
            "+ annotations: }",
        ]
    );
    assert_eq!(marked(2), ["- name: one/read", "+ name: one/look"]);
    assert_eq!(pending[2].kind(), &ChangeKind::Renamed { from: ToolId::new("one", "read") });

    client.approve(&pending).unwrap();
    assert_eq!(
        names(&client),
        ["one__find", "one__look", "one__new", "two__echo", "two__transfer"]
    );
    assert_eq!(kinds(&client), [""; 0]);
}

/// P44: whoever approves at the same time as another takes nothing from it.
#[tokio::test]
async fn what_two_clients_approve_at_once_is_approved() {
    let tools: Vec<_> = (0..16).map(|at| tool(&format!("tool{at}"), "")).collect();
    let world = World::new().server("one", "old", &tools);
    let one = world.builder().connect().await.unwrap();
    let other = world.builder().connect().await.unwrap();
    std::thread::scope(|scope| {
        for (client, first) in [(&one, 0), (&other, 1)] {
            scope.spawn(move || {
                for change in client.pending().iter().skip(first).step_by(2) {
                    client.approve([change]).unwrap();
                }
            });
        }
    });
    let later = world.builder().locked().connect().await.unwrap();
    assert_eq!(names(&later).len(), tools.len());
}

/// P35, P44: what is approved is what was shown; a tool that is swapped in between waits.
#[tokio::test]
async fn an_approval_is_for_what_was_shown_and_not_for_what_came_after() {
    let world = World::new().server("one", "old", &[tool("find", "Finds")]);
    let client = world.builder().connect().await.unwrap();
    let shown = client.pending();
    world.set_tools("one", &[tool("find", "Finds and deletes")]);
    client.refresh().await;
    client.approve(&shown).unwrap();
    assert_eq!(names(&client), [""; 0]);
    assert_eq!(kinds(&client), ["`one/find` has changed"]);
}

/// P44: a tool that is changed, swapped, gone or put back while agents have it is called only as it was approved.
#[tokio::test]
async fn a_tool_that_is_no_longer_what_was_approved_is_not_called() {
    // However long a server says that its list is good.
    for mode in ["old", "modern", "lasting"] {
        changed_while_agents_have_it(mode).await;
    }
}

async fn changed_while_agents_have_it(mode: &str) {
    let approved = [tool("find", "Finds"), tool("read", "Reads"), tool("change", "")];
    let world = World::new().server("one", mode, &approved);
    let client = world.approved().await;
    if mode != "old" {
        let listens = async {
            while !world.path("one.pid.listens").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(AT_LAST, listens).await.unwrap();
    }
    let (find, read, change) = (
        tool_of(&client, "one__find"),
        tool_of(&client, "one__read"),
        tool_of(&client, "one__change"),
    );
    world.run_tool(&find, "k1").await.unwrap();

    // The server says that its tools are others.
    world.set_tools("one", &[tool("read", "Finds"), tool("change", "")]);
    world.run_tool(&change, "k2").await.unwrap();
    let error = world.run_tool(&find, "k3").await.unwrap_err();
    assert!(
        matches!(McpError::of(&error), Some(McpError::ToolGone { tool }) if tool.tool() == "find"),
        "{error:?}"
    );
    let error = world.run_tool(&read, "k4").await.unwrap_err();
    assert!(
        matches!(McpError::of(&error), Some(McpError::ToolChanged { tool }) if tool.tool() == "read"),
        "{error:?}"
    );
    assert!(matches!(error, ToolError::Failed(_)));
    assert_eq!(names(&client), ["one__change"]);

    // It puts them back without a word, and is asked after 300 s.
    world.set_tools("one", &approved);
    world.run_tool(&find, "k5").await.unwrap_err();
    world.clock.advance(Duration::from_secs(301));
    world.run_tool(&find, "k6").await.unwrap();
    // It changes them without a word, and is asked after 300 s.
    world.set_tools("one", &[tool("find", "Other"), tool("change", "")]);
    world.run_tool(&find, "k7").await.unwrap();
    world.clock.advance(Duration::from_secs(301));
    world.run_tool(&find, "k8").await.unwrap_err();
    assert_eq!(world.ledger("one"), ["find k1", "change k2", "find k6", "find k7"]);
}

/// P44: a list is good for as long as its server says, whichever of its pages says so.
#[tokio::test]
async fn a_list_is_asked_for_again_when_its_time_is_up() {
    let world = World::new().server("one", "brief", &[tool("find", "Finds")]);
    let client = world.approved().await;
    let find = tool_of(&client, "one__find");
    // It changes its tools without a word.
    world.set_tools("one", &[tool("find", "Other")]);
    world.clock.advance(Duration::from_secs(59));
    world.run_tool(&find, "k1").await.unwrap();
    world.clock.advance(Duration::from_secs(2));
    let error = world.run_tool(&find, "k2").await.unwrap_err();
    assert!(matches!(McpError::of(&error), Some(McpError::ToolChanged { .. })), "{error:?}");
    assert_eq!(world.ledger("one"), ["find k1"]);
}

/// P44: another command line or another program is another server, and its tools are others.
#[tokio::test]
async fn a_server_whose_program_or_command_line_is_another_has_to_be_approved_again() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let server = |more: &[&str]| {
        let args = [&["--exact", "program::serve", "--nocapture"], more].concat();
        json!({"command": program, "args": args, "env": {"MODE": "old"}})
    };
    let world = World::new().any("one", server(&[]));
    let approved = world.approved().await;
    assert_eq!(names(&approved), ["one__echo"]);
    approved.close().await;
    let world = world.any("one", server(&["--color=never"]));
    let client = world.builder().connect().await.unwrap();
    assert_eq!(kinds(&client), ["`one/echo` has changed"]);
    let text = client.pending()[0].difference();
    assert!(text.contains("+ command: ") && text.contains("--color=never"), "{text}");
    client.close().await;

    let world = world.any("one", server(&[]));
    let mut bytes = std::fs::read(&program).unwrap();
    bytes.push(0);
    std::fs::remove_file(&program).unwrap();
    std::fs::write(&program, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let client = world.builder().connect().await.unwrap();
    assert_eq!(kinds(&client), ["`one/echo` has changed"]);
    assert!(client.pending()[0].difference().contains("+ program: "));
}

/// P44: a client that is locked takes no difference.
#[tokio::test]
async fn a_locked_client_refuses_every_difference() {
    let world = World::new().server("one", "old", &[tool("find", "Finds"), tool("read", "Reads")]);
    let refused = |error: McpError| match error {
        McpError::Locked { changes } => changes.join("; "),
        error => panic!("{error:?}"),
    };
    let error = world.builder().locked().connect().await.unwrap_err();
    assert_eq!(refused(error), "`one/find` is new; `one/read` is new");
    world.approved().await;
    let client = world.builder().locked().connect().await.unwrap();
    assert_eq!(names(&client).len(), 2);
    let before = std::fs::read(world.path("mcp.lock")).unwrap();
    assert!(matches!(client.approve(&[]), Err(McpError::ReadOnly)));
    world.set_tools("one", &[tool("find", "Finds")]);
    let error = world.builder().locked().connect().await.unwrap_err();
    assert_eq!(refused(error), "`one/read` is gone");
    assert_eq!(std::fs::read(world.path("mcp.lock")).unwrap(), before);
}

/// What the operator leaves out is no difference: it is approved still when it comes back.
#[tokio::test]
async fn what_the_operator_leaves_out_is_neither_offered_nor_missed() {
    let tools = [tool("find", "Finds"), tool("read", "Reads"), tool("drop", "Drops")];
    let world = World::new().server("one", "old", &tools).server("two", "old", &[]);
    world.approved().await;
    let more = json!({"disabled_tools": ["read"], "tools": {"drop": {"approval": "deny"}}});
    let world = world.server_with("one", "old", &tools, more).server_with(
        "two",
        "old",
        &[],
        json!({"disabled": true}),
    );
    let client = world.builder().locked().connect().await.unwrap();
    assert_eq!(names(&client), ["one__find"]);
    let world = world.server_with("one", "old", &tools, json!({"enabled_tools": ["drop"]})).server(
        "two",
        "old",
        &[],
    );
    let client = world.builder().locked().connect().await.unwrap();
    assert_eq!(names(&client), ["one__drop", "two__echo"]);
}

/// A tool that the operator names and that its server does not have is told of when the server has listed its tools.
#[tokio::test]
async fn a_misspelt_name_of_a_tool_is_warned_of() {
    let more = json!({
        "enabled_tools": ["find", "reed"], "disabled_tools": ["read", "wriet"],
        "tools": {"find": {"approval": "ask"}, "fnid": {"approval": "ask"}},
    });
    let tools = [tool("find", "Finds"), tool("read", "Reads")];
    let world = World::new().server_with("one", "old", &tools, more).server("two", "old", &[]);
    let client = world.builder().connect().await.unwrap();
    let warnings = || client.warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        warnings(),
        [
            "mcpServers.one.enabled_tools: the server lists no tool `reed`",
            "mcpServers.one.disabled_tools: the server lists no tool `wriet`",
            "mcpServers.one.tools: the server lists no tool `fnid`",
        ]
    );
    world.set_tools("one", &[tool("find", "Finds"), tool("reed", "Is new"), tool("fnid", "Too")]);
    client.refresh().await;
    assert_eq!(
        warnings(),
        [
            "mcpServers.one.disabled_tools: the server lists no tool `read`",
            "mcpServers.one.disabled_tools: the server lists no tool `wriet`",
        ]
    );
    client.close().await;
}

/// A lock file that somebody wrote into is no approval.
#[tokio::test]
async fn a_lock_file_whose_hashes_do_not_fit_is_refused() {
    let world = World::new().server("one", "old", &[tool("find", "Finds")]);
    world.approved().await;
    let text = std::fs::read_to_string(world.path("mcp.lock")).unwrap();
    for (from, to) in
        [("Finds", "Finds and deletes"), ("\"version\": 1", "\"version\": 2"), ("{", "")]
    {
        std::fs::write(world.path("mcp.lock"), text.replacen(from, to, 1)).unwrap();
        let error = world.builder().connect().await.unwrap_err();
        assert!(matches!(error, McpError::LockFile { .. }), "{error:?}");
    }
}

/// P20: the approved tools of a server that is not there are offered, and it comes back by itself.
#[tokio::test]
async fn a_server_that_was_not_there_at_first_comes_back_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    let copy = || std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    copy();
    let args = ["--exact", "program::serve", "--nocapture"];
    let world =
        World::new().any("one", json!({"command": program, "args": args, "env": {"MODE": "old"}}));
    world.approved().await.close().await;
    std::fs::remove_file(&program).unwrap();
    let client = world.builder().connect().await.unwrap();
    assert_eq!(names(&client), ["one__echo"]);
    assert_eq!(kinds(&client), [""; 0]);
    let error = world.run(&client, "one__echo", "k").await.unwrap_err();
    assert!(error.contains("could not be started"), "{error}");
    copy();
    assert_eq!(world.run(&client, "one__echo", "k").await, Ok("k".to_owned()));
}
