//! A server that is killed again and again, on one SQLite file: whatever it accepted has ended when the last one is asked.

use std::{
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_server::Server;
use hanok_sqlite::Sqlite;
use hanok_testkit::is_full;
use serde_json::{Value, json};

use crate::served;

const FILE: &str = "HANOK_SERVER_TEST_FILE";

/// This is what a child runs; in a parent it does nothing.
#[test]
fn child() {
    let Ok(file) = env::var(FILE) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(&file).await.unwrap();
        let app = served::chat().checkpointer(SharedCheckpointer::new(store.clone()));
        let server = Server::new(SharedStore::new(store)).graph("chat", app, |_| Ok(()));
        let served = server.no_auth().requests(100_000).start().unwrap();
        let listener = served.listen("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        // Whole, or not there.
        fs::write(format!("{file}.new"), &address).unwrap();
        fs::rename(format!("{file}.new"), format!("{file}.address")).unwrap();
        served.run_on(listener).await;
    });
}

/// A server in a process of its own.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    async fn start(file: &Path) -> Self {
        let told = file.with_extension("db.address");
        let _ = fs::remove_file(&told);
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["kills::child", "--exact", "--nocapture"]).env(FILE, file);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let address = loop {
            if let Ok(address) = fs::read_to_string(&told) {
                break format!("http://{address}");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        Self { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Posts a run; its id, if the server says that it was accepted.
async fn post(client: &reqwest::Client, server: &Process, task: &Task) -> Option<String> {
    let url = format!("{}/threads/{}/runs", server.address, task.thread);
    let message = json!({"role": "user", "content": task.words, "id": task.words});
    let body = json!({
        "assistant_id": "chat", "if_not_exists": "create", "input": {"messages": [message]},
    });
    let request = client.post(url).header("idempotency-key", &task.words).json(&body);
    let run: Value = request.send().await.ok()?.error_for_status().ok()?.json().await.ok()?;
    Some(run["run_id"].as_str()?.to_owned())
}

struct Task {
    thread: String,
    words: String,
}

/// P62: eight deaths, forty under `--full`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_server_has_accepted_ends_once_and_in_order() {
    let rounds = if is_full() { 40 } else { 8 };
    let folder = tempfile::tempdir().unwrap();
    let (file, client) = (folder.path().join("server.db"), crate::support::client());
    let mut accepted: Vec<(Task, String)> = Vec::new();
    for round in 0..rounds {
        let server = Process::start(&file).await;
        let dies = tokio::time::sleep(Duration::from_millis(40 + 37 * (round % 7)));
        tokio::pin!(dies);
        let mut number = 0;
        loop {
            let thread = uuid::Uuid::from_u128(1 + number % 3).to_string();
            let task = Task { thread, words: format!("task {round}-{number} of many words") };
            tokio::select! {
                () = &mut dies => break,
                run = post(&client, &server, &task) => accepted.extend(run.map(|run| (task, run))),
            }
            number += 1;
        }
        server.kill();
    }
    assert!(!accepted.is_empty());
    let server = Process::start(&file).await;
    let get = async |path: String| -> Value {
        let answer = client.get(format!("{}{path}", server.address)).send().await.unwrap();
        answer.error_for_status().unwrap().json().await.unwrap()
    };
    for (task, run) in &accepted {
        get(format!("/threads/{}/runs/{run}/join", task.thread)).await;
        let row = loop {
            let row = get(format!("/threads/{}/runs/{run}", task.thread)).await;
            if !["pending", "running"].contains(&row["status"].as_str().unwrap()) {
                break row;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(row["status"], "success", "{}: {row}", task.words);
    }
    for thread in 1..=3 {
        let thread = uuid::Uuid::from_u128(thread).to_string();
        let Some((_, run)) = accepted.iter().rfind(|(task, _)| task.thread == thread) else {
            continue;
        };
        let state = get(format!("/threads/{thread}/runs/{run}/join")).await;
        let said = state["messages"].as_array().unwrap();
        let users = said.iter().filter(|message| message["type"] == "human");
        let users: Vec<_> = users.map(|message| message["content"].as_str().unwrap()).collect();
        let of_thread = accepted.iter().filter(|(task, _)| task.thread == thread);
        let asked: Vec<_> = of_thread.map(|(task, _)| task.words.as_str()).collect();
        // A run whose answer was lost with its server may be there, too.
        let kept: Vec<_> = users.iter().copied().filter(|words| asked.contains(words)).collect();
        assert_eq!(kept, asked);
        assert_eq!(said.len(), 2 * users.len(), "each is answered once");
    }
}
