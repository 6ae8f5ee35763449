//! Resources, prompts and logs of servers, as data.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{CallItem, CallSink};
use hanok_mcp::{McpClient, McpError, PromptRole, ServerError, ServerLog};
use hanok_model::Tool;
use serde_json::json;

use crate::{
    program::tool,
    support::{AT_LAST, World, tool_of},
};

/// P44: texts are bounded and hide nothing; an address is a name for its server, and nothing is fetched from it.
#[tokio::test]
async fn resources_are_listed_and_read_as_data() {
    for mode in ["old", "modern"] {
        let world = World::new().server("files", mode, &[]);
        let client = world.approved().await;
        let listed = client.resources("files").await.unwrap();
        assert_eq!(listed.len(), 1);
        // At this address nobody listens: whoever fetched it would fail.
        assert_eq!(
            (listed[0].uri.as_str(), listed[0].name.as_str()),
            ("http://127.0.0.1:9/secret", "leave\\u{202e}")
        );
        assert!(listed[0].description.len() <= 4096 && listed[0].description.ends_with(" […]"));
        let read = client.read_resource("files", &listed[0].uri).await.unwrap();
        let text = read[0].text.as_deref().unwrap();
        assert!(
            text.starts_with("two\\u{1b}[2J days가") && text.len() <= 256 * 1024,
            "{}",
            text.len()
        );
        assert_eq!((read[1].text.as_deref(), read[1].bytes), (None, Some(3)));
        assert_eq!(world.ledger("files").len(), 1);
        let templates = client.resource_templates("files").await.unwrap();
        assert_eq!(templates[0].uri_template, "file:///{name}");
        let none = client.read_resource("files", "file:///none").await.unwrap_err();
        assert!(
            matches!(
                none,
                McpError::Server { source: ServerError::Refused { code: -32002, .. }, .. }
            ),
            "{none:?}"
        );
        let unknown = client.resources("elsewhere").await.unwrap_err();
        assert!(matches!(unknown, McpError::Server { source: ServerError::Unknown, .. }));
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled_as_data() {
    let world = World::new().server("files", "modern", &[]);
    let client = world.approved().await;
    let listed = client.prompts("files").await.unwrap();
    assert_eq!(
        (listed[0].name.as_str(), listed[0].description.as_str()),
        ("greet", "Greets\\u{202e}")
    );
    assert!(listed[0].arguments[0].required);
    let arguments = BTreeMap::from([("who".to_owned(), "Kim".to_owned())]);
    let filled = client.prompt("files", "greet", &arguments).await.unwrap();
    assert_eq!(
        (filled[0].role, filled[0].text.as_str()),
        (PromptRole::User, "Greet\\u{1b} \"Kim\"")
    );
    assert_eq!(
        (filled[1].role, filled[1].text.as_str()),
        (PromptRole::Assistant, "[resource x <http://127.0.0.1:9/x>]")
    );
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<ServerLog>>);

impl CallSink for Heard {
    fn item(&self, item: CallItem) {
        let CallItem::Custom(item) = item else { panic!("{item:?}") };
        self.0.lock().unwrap().push(item.decode().unwrap());
    }
}

/// A server logs to the observers of the only call under way, at most 1,000 lines.
#[tokio::test]
async fn logs_of_a_server_are_told_to_the_observers_of_its_call() {
    for (mode, level) in [("old", json!(null)), ("modern", json!("info"))] {
        let world = World::new().server("disk", mode, &[tool("log", "")]);
        let client = world.approved().await;
        let heard = Arc::new(Heard::default());
        let call = world.call("k").items(heard.clone());
        tool_of(&client, "disk__log").run(&"{}".into(), &call).await.unwrap();
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard.len(), 1_000);
        assert_eq!(
            (heard[0].level.as_str(), heard[0].logger.as_deref()),
            ("warning", Some("disk\\u{1b}"))
        );
        assert_eq!(heard[0].text, json!({"at": 0, "asked": level}).to_string());
    }
}

/// A server of an older version is told from which level it is to log; of several calls under way, nobody knows whose a line is.
#[tokio::test]
async fn a_server_of_an_older_version_is_told_what_to_log_and_a_line_is_of_one_call_or_of_none() {
    let tools = [tool("log", ""), tool("hang", "")];
    let world = World::new().server("disk", "old", &tools);
    let client = world.approved().await;
    let level = async {
        while std::fs::read_to_string(world.path("disk.pid.level")).ok().as_deref()
            != Some("info\n")
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AT_LAST, level).await.unwrap();
    let heard = Arc::new(Heard::default());
    let (hang, hanging) = (tool_of(&client, "disk__hang"), world.call("h").items(heard.clone()));
    let hangs = tokio::spawn(async move { hang.run(&"{}".into(), &hanging).await.map(drop) });
    world.taken("disk", 1).await;
    let call = world.call("k").items(heard.clone());
    tool_of(&client, "disk__log").run(&"{}".into(), &call).await.unwrap();
    assert!(heard.0.lock().unwrap().is_empty());
    hangs.abort();
}

/// What a client does may be done in a task of its own.
#[test]
fn requests_may_run_in_tasks_of_their_own() {
    fn is_send(_: impl Send) {}
    fn all(client: &McpClient, arguments: &BTreeMap<String, String>) {
        is_send(client.resources("a"));
        is_send(client.resource_templates("a"));
        is_send(client.read_resource("a", "b"));
        is_send(client.prompts("a"));
        is_send(client.prompt("a", "b", arguments));
    }
    let _: fn(&McpClient, &BTreeMap<String, String>) = all;
}
