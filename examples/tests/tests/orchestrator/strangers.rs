//! The orchestrator with servers of others, as somebody has them in a `mcp.json` who knows them from other programs.

use std::{fs, path::Path};

use example_tests::program::{command, said};
use hanok_testkit::sampled;
use serde_json::json;

/// The variable with the folder of the servers, which `cargo xtask test` installs where it can.
const PEERS: &str = "HANOK_TEST_MCP_PEERS";

/// What strangers ask, first of all of what reads; some of it wants something written.
const REQUESTS: [&str; 20] = [
    "What time is it in New York?",
    "노트 폴더에 write라는 말이 있는지 봐 줘",
    "서울은 지금 몇 시야?",
    "list the allowed directories",
    "memo.txt 파일을 만들어 줘",
    "Create a directory named reports",
    "Kim을 기억에 추가해 줘",
    "read the graph of the memory",
    "echo hello",
    "1 더하기 2는?",
    "move note.txt to old.txt",
    "note.txt를 지워 줘",
    "edit the file note.txt",
    "write hello into note.txt",
    "delete all entities",
    "안녕",
    "search the files for 연차",
    "Convert 9:00 in Seoul to UTC",
    "메모리에서 김을 찾아 줘",
    "directory tree",
];

/// The files below a folder with what they hold.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                all.push((path.display().to_string(), Vec::new()));
                all.extend(files(&path));
            }
            false => all.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    all.sort();
    all
}

/// Without a setting nothing is written before a person has said so, and the program ends as it says that it does.
#[test]
fn no_request_writes_unasked() {
    let Some(peers) = std::env::var_os(PEERS).filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: `{PEERS}` names no folder with servers of others");
        return;
    };
    let peers = Path::new(&peers);
    let npm = |name: &str| peers.join("node_modules/.bin").join(name);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("note.txt"), "연차는 15일").unwrap();
    let config = json!({"mcpServers": {
        "everything": {"command": npm("mcp-server-everything")},
        "filesystem": {"command": npm("mcp-server-filesystem"), "args": [data]},
        "memory": {
            "command": npm("mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": data.join("memory.jsonl")},
        },
        "time": {"command": peers.join("python/bin/mcp-server-time")},
    }});
    fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    let before = files(&data);
    let mut codes = Vec::new();
    for (number, request) in sampled(REQUESTS.into_iter().enumerate()) {
        let thread = format!("t{number}");
        let arguments =
            ["--mcp", "mcp.json", "--accept", "--db", "a.db", "--thread", &thread, request];
        let mut command = command("orchestrator", &arguments);
        command.env_remove("ENABLE_HITL").current_dir(folder.path());
        let ended = said(command.output().unwrap());
        let code = ended.code.unwrap();
        assert!([0, 1, 5].contains(&code), "{request}: {ended:?}");
        assert_eq!(files(&data), before, "{request}: {ended:?}");
        println!("{code} {request}");
        codes.push(code);
    }
    // Something was answered or asked about: not every request came to nothing.
    assert!(codes.iter().any(|code| *code != 1), "{codes:?}");
}
