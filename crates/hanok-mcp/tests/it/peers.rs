//! Servers of others. `cargo xtask test` installs them where it can, and names their folder in `HANOK_TEST_MCP_PEERS`.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Instant,
};

use hanok_core::Call;
use hanok_mcp::{Lifecycle, McpClient, McpConfig};
use hanok_model::{Tool, ToolOutput};
use serde_json::{Value, json};

/// The variable with the folder.
const PEERS: &str = "HANOK_TEST_MCP_PEERS";

/// A server of others, one call of one of its tools, and what stands in the result.
struct Peer {
    name: &'static str,
    server: Value,
    tool: &'static str,
    arguments: Value,
    result: &'static str,
}

/// The folder with the servers, or a word on why nothing is tested.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(PEERS).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: `{PEERS}` names no folder with servers of others");
    }
    folder
}

fn npm(folder: &Path, name: &str) -> PathBuf {
    folder.join("node_modules/.bin").join(name)
}

/// The servers that are child processes. What they write goes below `data`.
fn over_stdio(folder: &Path, data: &Path) -> Vec<Peer> {
    let python = |name: &str| folder.join("python/bin").join(name);
    std::fs::write(data.join("note.txt"), "연차는 15일").unwrap();
    let repository = data.join("repository");
    let git = Command::new("git").args(["init", "-q"]).arg(&repository).status();
    assert!(git.unwrap().success());
    vec![
        Peer {
            name: "everything",
            server: json!({"command": npm(folder, "mcp-server-everything")}),
            tool: "everything__echo",
            arguments: json!({"message": "휴가"}),
            result: "휴가",
        },
        Peer {
            name: "filesystem",
            server: json!({"command": npm(folder, "mcp-server-filesystem"), "args": [data]}),
            tool: "filesystem__read_text_file",
            arguments: json!({"path": data.join("note.txt")}),
            result: "연차는 15일",
        },
        Peer {
            name: "memory",
            server: json!({"command": npm(folder, "mcp-server-memory"), "env": {"MEMORY_FILE_PATH": data.join("memory.jsonl")}}),
            tool: "memory__create_entities",
            arguments: json!({"entities": [{"name": "Kim", "entityType": "person", "observations": ["likes tea"]}]}),
            result: "likes tea",
        },
        Peer {
            name: "thinking",
            server: json!({"command": npm(folder, "mcp-server-sequential-thinking")}),
            tool: "thinking__sequentialthinking",
            arguments: json!({"thought": "first", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}),
            result: "thoughtNumber",
        },
        Peer {
            name: "time",
            server: json!({"command": python("mcp-server-time"), "args": ["--local-timezone", "Asia/Seoul"]}),
            tool: "time__convert_time",
            arguments: json!({"source_timezone": "Asia/Seoul", "time": "09:00", "target_timezone": "UTC"}),
            result: "00:00:00+00:00",
        },
        Peer {
            name: "git",
            server: json!({"command": python("mcp-server-git"), "args": ["--repository", repository]}),
            tool: "git__git_status",
            arguments: json!({"repo_path": repository}),
            result: "No commits yet",
        },
    ]
}

fn config(peers: &[Peer]) -> McpConfig {
    let servers: serde_json::Map<_, _> =
        peers.iter().map(|peer| (peer.name.to_owned(), peer.server.clone())).collect();
    McpConfig::reader().parse(&json!({"mcpServers": servers}).to_string()).unwrap()
}

/// Connects to `peers`, approves their tools, makes a call of each, and prints a table.
async fn work_with(peers: &[Peer], transport: &str) {
    let begin = Instant::now();
    let client = McpClient::connect(config(peers)).await.unwrap();
    let connected = begin.elapsed();
    client.approve(&client.pending()).unwrap();
    let tools = client.tools();
    let refusals: Vec<_> = client.refusals().iter().map(ToString::to_string).collect();
    assert_eq!(refusals, [""; 0]);
    assert!(hanok_agent::ToolRegistry::new(tools.clone()).is_ok());
    println!("{transport}: all connected and listed in {connected:?}");
    for (peer, status) in peers.iter().map(|peer| {
        let all = client.status();
        (peer, all.into_iter().find(|status| status.server == peer.name).unwrap())
    }) {
        let words = format!("{}: {:?} {}", peer.name, status.error, status.stderr);
        let tool = tools.iter().find(|tool| tool.spec().name() == peer.tool).expect(&words);
        let begin = Instant::now();
        let arguments = peer.arguments.to_string().as_str().into();
        let ToolOutput { text, .. } = tool.run(&arguments, &Call::detached()).await.expect(&words);
        assert!(text.contains(peer.result), "{words}: {text}");
        let Some(lifecycle) = status.lifecycle else { panic!("{words}") };
        println!(
            "{:<12} {:<10} {} {:>3} tools, a call in {:?}",
            peer.name,
            if lifecycle == Lifecycle::Discover { "discover" } else { "initialize" },
            status.version.unwrap_or_default(),
            status.tools.unwrap_or_default(),
            begin.elapsed(),
        );
    }
    client.close().await;
}

#[tokio::test]
async fn servers_of_others_are_worked_with_over_their_standard_streams() {
    let Some(folder) = folder() else { return };
    let data = tempfile::tempdir().unwrap();
    // Some of them refuse a path through a link, as a folder for temporary files may be.
    let path = data.path().canonicalize().unwrap();
    work_with(&over_stdio(&folder, &path), "stdio").await;
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_server_of_others_is_worked_with_over_http() {
    let Some(folder) = folder() else { return };
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut command = Command::new(npm(&folder, "mcp-server-everything"));
    command
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _served = Served(command.spawn().unwrap());
    let listens = async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(crate::support::AT_LAST, listens).await.unwrap();
    let peer = Peer {
        name: "everything",
        server: json!({"url": format!("http://127.0.0.1:{port}/mcp")}),
        tool: "everything__echo",
        arguments: json!({"message": "휴가"}),
        result: "휴가",
    };
    work_with(&[peer], "HTTP").await;
}
