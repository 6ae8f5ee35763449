//! The states and the history of a thread.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hanok_checkpoint::{
    AppendId, CheckpointError, Checkpointer as _, InMemoryCheckpointer, InMemoryStore, Log, Opened,
    SharedCheckpointer, SharedStore, Snapshots,
};
use hanok_core::{Position, ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot, Subgraph};
use hanok_state::{Message, Messages, State};
use hanok_testkit::{Layer, Layered};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    langgraph_threads::{THREAD, say},
    served::{Served, read},
};

async fn state(server: &Served, rest: &str) -> (u16, Value) {
    server.get(&format!("/threads/{THREAD}/state{rest}")).await
}

async fn edit(server: &Served, body: Value) -> (u16, Value) {
    server.post(&format!("/threads/{THREAD}/state"), body).await
}

async fn history(server: &Served, body: Value) -> Vec<Value> {
    let (status, history) = server.post(&format!("/threads/{THREAD}/history"), body).await;
    assert_eq!(status, 200, "{history}");
    history.as_array().unwrap().clone()
}

/// The step, the source and what is due.
fn place(state: &Value) -> Value {
    json!([state["metadata"]["step"], state["metadata"]["source"], state["next"]])
}

async fn status(server: &Served) -> Value {
    server.get(&format!("/threads/{THREAD}")).await.1["status"].clone()
}

async fn new(server: &Served) {
    server.post("/threads", json!({"thread_id": THREAD, "metadata": {"graph_id": "chat"}})).await;
}

#[tokio::test]
async fn a_thread_in_which_nothing_has_happened_has_no_checkpoint() {
    let server = Served::start().await;
    server.post("/threads", json!({"thread_id": THREAD})).await;
    let empty = json!({
        "values": {}, "next": [], "tasks": [], "metadata": null, "created_at": null,
        "checkpoint": null, "parent_checkpoint": null, "interrupts": [], "checkpoint_id": null,
        "parent_checkpoint_id": null,
    });
    assert_eq!(state(&server, "?subgraphs=false").await, (200, empty.clone()));
    assert_eq!(history(&server, json!({"limit": 10})).await, [] as [Value; 0]);
    let (status, refused) = edit(&server, json!({"values": {"turns": 1}})).await;
    assert_eq!((status, refused["code"].as_str()), (400, Some("HNK-430")));
    let chosen = server.request(Method::PATCH, &format!("/threads/{THREAD}"));
    chosen.json(&json!({"metadata": {"graph_id": "chat"}})).send().await.unwrap();
    assert_eq!(state(&server, "").await, (200, empty));
}

#[tokio::test]
async fn each_turn_begins_before_its_input_and_counts_its_steps() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    say(&server, THREAD, "two").await;
    let all = history(&server, json!({"limit": 10})).await;
    let turn = [
        json!([2, "loop", []]),
        json!([1, "loop", ["answer"]]),
        json!([0, "loop", ["listen"]]),
        json!([-1, "input", ["__start__"]]),
    ];
    assert_eq!(all.iter().map(place).collect::<Vec<_>>(), [turn.clone(), turn].concat());
    for (child, parent) in all.iter().zip(&all[1..]) {
        assert_eq!(child["parent_checkpoint"], parent["checkpoint"]);
        assert!(child["checkpoint_id"].as_str() > parent["checkpoint_id"].as_str());
    }
    assert_eq!(all[7]["parent_checkpoint"], Value::Null);
    let messages = |state: &Value| state["values"]["messages"].as_array().map_or(0, Vec::len);
    assert_eq!(all.iter().map(messages).collect::<Vec<_>>(), [4, 3, 3, 2, 2, 1, 1, 0]);
    assert_eq!(all[3]["tasks"][0]["name"], "__start__");
    assert_eq!(all[1]["tasks"][0]["name"], "answer");
    assert_eq!(all[0]["metadata"]["graph_id"], "chat");
    assert_eq!(all[0]["metadata"]["run_id"], all[3]["metadata"]["run_id"]);
    assert_ne!(all[0]["metadata"]["run_id"], all[4]["metadata"]["run_id"]);
    assert_eq!(state(&server, "").await.1, all[0]);
    for at in &all {
        let id = at["checkpoint_id"].as_str().unwrap();
        assert_eq!(&state(&server, &format!("/{id}?subgraphs=false")).await.1, at);
        let body = json!({"checkpoint": at["checkpoint"], "subgraphs": false});
        assert_eq!(&server.post(&format!("/threads/{THREAD}/state/checkpoint"), body).await.1, at);
    }
}

#[tokio::test]
async fn a_history_is_read_from_a_checkpoint_on_and_by_its_metadata() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    say(&server, THREAD, "two").await;
    let all = history(&server, json!({"limit": 10})).await;
    for at in 0..8 {
        let id = &all[at]["checkpoint_id"];
        for before in [
            id.clone(),
            json!({"checkpoint_id": id}),
            json!({"configurable": {"checkpoint_id": id}}),
        ] {
            assert_eq!(
                history(&server, json!({"limit": 10, "before": before})).await,
                all[at + 1..]
            );
        }
        let page = history(&server, json!({"limit": 3, "before": id})).await;
        assert_eq!(page, all[at + 1..8.min(at + 4)]);
        let (_, queried) = server
            .get(&format!("/threads/{THREAD}/history?limit=2&before={}", id.as_str().unwrap()))
            .await;
        assert_eq!(queried, json!(all[at + 1..8.min(at + 3)]));
    }
    assert_eq!(history(&server, json!({})).await, all[..1]);
    let inputs = history(&server, json!({"limit": 1, "metadata": {"source": "input"}})).await;
    assert_eq!(inputs, all[3..4]);
    let only = history(&server, json!({"limit": 9, "checkpoint": all[2]["checkpoint"]})).await;
    assert_eq!(only, all[2..3]);
    let selected = history(&server, json!({"limit": 1, "select": ["next", "values.turns"]})).await;
    assert_eq!(selected, [json!({"next": [], "values": {"turns": 2}})]);
    let (_, few) = state(&server, "?select=next,values.turns").await;
    assert_eq!(few, selected[0]);
}

#[tokio::test]
async fn a_checkpoint_of_another_thread_is_not_there() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    let other = "33333333-3333-4333-8333-333333333333";
    say(&server, other, "one").await;
    let foreign = server.get(&format!("/threads/{other}/state")).await.1["checkpoint_id"].clone();
    let id = foreign.as_str().unwrap();
    let (status, error) = state(&server, &format!("/{id}")).await;
    assert_eq!((status, error["code"].as_str()), (404, Some("HNK-102")));
    for body in [json!({"limit": 1, "before": id}), json!({"checkpoint": {"checkpoint_id": id}})] {
        assert_eq!(server.post(&format!("/threads/{THREAD}/history"), body).await.0, 404);
    }
    let edited = edit(&server, json!({"values": {"turns": 9}, "checkpoint_id": id})).await;
    assert_eq!(edited.0, 404);
    assert_eq!(state(&server, "").await.1["values"]["turns"], 1);
}

#[tokio::test]
async fn a_question_stands_in_its_task_and_in_the_state() {
    let server = Served::start().await;
    say(&server, THREAD, "tea or coffee?").await;
    let (_, asked) = state(&server, "").await;
    assert_eq!(asked["next"], json!(["answer"]));
    let interrupt = &asked["tasks"][0]["interrupts"][0];
    assert_eq!(interrupt["value"], "What do you think?");
    assert_eq!(asked["interrupts"], json!([interrupt]));
    assert_eq!(asked["tasks"][0]["path"], json!(["__pregel_pull", "answer"]));
    assert_eq!(history(&server, json!({"limit": 1})).await, [asked]);
}

#[tokio::test]
async fn a_failure_is_told_without_its_words() {
    let server = Served::start().await;
    say(&server, THREAD, "fail").await;
    let (_, failed) = state(&server, "").await;
    assert_eq!(failed["tasks"][0]["error"], "the run failed");
    assert!(!failed.to_string().contains("4711"));
}

#[tokio::test]
async fn a_state_is_edited_in_the_place_of_a_node() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    let before = state(&server, "").await.1;
    let (code, made) = edit(&server, json!({"values": {"turns": 7}, "as_node": "listen"})).await;
    assert_eq!(code, 200, "{made}");
    let (_, after) = state(&server, "").await;
    assert_eq!((&after["next"], &after["values"]["turns"]), (&json!(["answer"]), &json!(7)));
    assert_eq!(
        (&after["checkpoint"], &after["checkpoint_id"]),
        (&made["checkpoint"], &made["checkpoint_id"])
    );
    assert_eq!(after["parent_checkpoint"], before["checkpoint"]);
    assert_eq!(after["metadata"]["source"], "update");
    assert_eq!(status(&server).await, "interrupted");

    // Without a node it is that of the node that wrote last.
    edit(&server, json!({"values": null})).await;
    let (_, advanced) = state(&server, "").await;
    assert_eq!((&advanced["next"], &advanced["values"]["turns"]), (&json!(["answer"]), &json!(7)));
    edit(&server, json!({"values": {"turns": 8}, "as_node": "__end__"})).await;
    let (_, ended) = state(&server, "").await;
    assert_eq!((&ended["next"], &ended["values"]["turns"]), (&json!([]), &json!(8)));
    assert_eq!(status(&server).await, "idle");
    for wrong in [
        json!({"values": {}, "as_node": "stove"}),
        json!({"values": {"turns": "many"}}),
        json!({"values": "many"}),
    ] {
        assert_eq!(edit(&server, wrong.clone()).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn an_edit_of_an_earlier_checkpoint_is_a_branch() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    let all = history(&server, json!({"limit": 10})).await;
    let (_, made) =
        edit(&server, json!({"values": {"turns": 5}, "checkpoint": all[1]["checkpoint"]})).await;
    let (_, now) = state(&server, "").await;
    assert_eq!(
        (&now["checkpoint"], &now["parent_checkpoint"]),
        (&made["checkpoint"], &all[1]["checkpoint"])
    );
    assert_eq!((&now["next"], &now["values"]["turns"]), (&json!(["answer"]), &json!(5)));
    let both = history(&server, json!({"limit": 10})).await;
    assert_eq!((both.len(), &both[0], &both[1..]), (5, &now, &all[..]));
}

#[tokio::test]
async fn a_new_thread_is_edited_before_anything_ran() {
    let server = Served::start().await;
    new(&server).await;
    let hello = json!({"messages": [{"role": "user", "content": "hello"}]});
    edit(&server, json!({"values": hello})).await;
    let (_, as_input) = state(&server, "").await;
    assert_eq!((&as_input["next"], &as_input["metadata"]["step"]), (&json!(["listen"]), &json!(0)));
    assert_eq!(as_input["values"]["messages"][0]["content"], "hello");

    let steps = json!([{"updates": [{"values": hello, "as_node": "listen"}]}]);
    let new = json!({"metadata": {"graph_id": "chat"}, "supersteps": steps});
    let (_, made) = server.post("/threads", new).await;
    assert_eq!(
        (made["status"].as_str(), &made["values"]["messages"][0]["content"]),
        (Some("interrupted"), &json!("hello"))
    );
    let id = made["thread_id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/threads/{id}/state")).await.1["next"], json!(["answer"]));
}

#[tokio::test]
async fn a_state_is_not_edited_while_a_run_is_under_way() {
    let server = Served::start().await;
    let slow = say(&server, THREAD, "slow");
    let refused = async {
        while status(&server).await != "busy" {
            tokio::task::yield_now().await;
        }
        let refused = edit(&server, json!({"values": {"turns": 5}})).await;
        server.request(Method::DELETE, &format!("/threads/{THREAD}")).send().await.unwrap();
        refused
    };
    let (_, (code, refused)) = tokio::join!(slow, refused);
    assert_eq!((code, refused["code"].as_str()), (409, Some("HNK-403")));
}

/// Counts the records that are read.
#[derive(Debug)]
struct Counting {
    beneath: SharedCheckpointer,
    read: Arc<AtomicUsize>,
}

impl Counting {
    fn count(&self, opened: &Option<Opened>) {
        let records = opened.as_ref().map_or(0, |opened| opened.records.len());
        self.read.fetch_add(records, Ordering::Relaxed);
    }
}

impl Layer for Counting {
    fn inner(&self) -> &SharedCheckpointer {
        &self.beneath
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let opened = self.beneath.open(thread, at, snapshots).await?;
        self.count(&opened);
        Ok(opened)
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        let opened = self.beneath.history(thread, before, limit).await?;
        self.count(&opened);
        Ok(opened)
    }
}

#[derive(State, Clone, Debug, Default)]
struct Count {
    n: u32,
}

async fn add(count: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().n(count.n + 1))
}

#[tokio::test]
async fn the_newest_of_a_thousand_checkpoints_are_read_without_the_others() {
    let read = Arc::new(AtomicUsize::new(0));
    let beneath = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let logs = SharedCheckpointer::new(Layered(Counting { beneath, read: Arc::clone(&read) }));
    let graph = Graph::<Count>::builder("count").node("add", add).sequence([START, "add", END]);
    let app = graph.build().unwrap().checkpointer(logs.clone());
    let thread = app.thread(ThreadKey::named(THREAD).unwrap());
    let store = SharedStore::new(InMemoryStore::new());
    let server = Served::start_on(store, logs, |it| it.graph("count", app, |_| Ok(()))).await;
    server.post("/threads", json!({"thread_id": THREAD, "metadata": {"graph_id": "count"}})).await;
    // Each turn has three checkpoints.
    for _ in 0..334 {
        thread.invoke(Count::update(), ()).await.unwrap();
    }
    read.store(0, Ordering::Relaxed);
    assert_eq!(state(&server, "").await.1["values"]["n"], 334);
    let for_one = read.swap(0, Ordering::Relaxed);
    assert_eq!(history(&server, json!({"limit": 20})).await.len(), 20);
    let for_twenty = read.load(Ordering::Relaxed);
    assert!(for_twenty < for_one + 500, "{for_one}, {for_twenty}");
}

#[tokio::test]
async fn a_thread_that_went_back_is_at_a_fork_until_it_has_gone_on() {
    let logs = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let store = SharedStore::new(InMemoryStore::new());
    let server = Served::start_on(store, logs.clone(), |server| server).await;
    say(&server, THREAD, "one").await;
    let all = history(&server, json!({"limit": 10})).await;
    let id = all[1]["checkpoint_id"].as_str().unwrap();
    let position = u64::from_str_radix(&id.replace('-', "")[..12], 16).unwrap();
    let log = Log::new(logs, ThreadKey::named(THREAD).unwrap());
    log.rewind(Position(position), None, AppendId(1), Timestamp(7)).await.unwrap();

    let (_, fork) = state(&server, "").await;
    assert_eq!(place(&fork), json!([2, "fork", ["answer"]]));
    assert_eq!(
        (&fork["parent_checkpoint"], &fork["values"]),
        (&all[1]["checkpoint"], &all[1]["values"])
    );
    let forked = history(&server, json!({"limit": 10})).await;
    assert_eq!((forked.len(), &forked[0], &forked[1..]), (5, &fork, &all[..]));
    let id = fork["checkpoint_id"].as_str().unwrap();
    assert_eq!(state(&server, &format!("/{id}")).await.1, fork);

    edit(&server, json!({"values": {"turns": 5}})).await;
    let on = history(&server, json!({"limit": 10})).await;
    assert_eq!((&on[0]["parent_checkpoint"], &on[1..]), (&all[1]["checkpoint"], &all[..]));
    assert_eq!(state(&server, &format!("/{id}")).await.1["values"], fork["values"]);
}

/// A desk that lets a colleague answer.
#[derive(State, Clone, Debug, Default)]
struct Desk {
    messages: Messages,
}

async fn ask(_: Snapshot<Desk>, cx: Context) -> Result<DeskUpdate, BoxError> {
    let said: String = cx.interrupt("What shall I say?").await?;
    Ok(Desk::update().message(Message::assistant(said)))
}

#[tokio::test]
async fn the_state_of_a_subgraph_stands_within_the_task_that_calls_it() {
    let inner = Graph::<Desk>::builder("inner").node("ask", ask).sequence([START, "ask", END]);
    let call = Subgraph::new(
        inner.build().unwrap(),
        |outer: &Desk| Desk::update().messages(outer.messages.iter().cloned()),
        |_: &Desk| Desk::update(),
    );
    let outer = Graph::<Desk>::builder("desk").subgraph("colleague", call);
    let outer = outer.sequence([START, "colleague", END]).build().unwrap();
    let logs = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = outer.checkpointer(logs.clone());
    let store = SharedStore::new(InMemoryStore::new());
    let server = Served::start_on(store, logs, |it| it.graph("desk", app, |_| Ok(()))).await;

    let body = json!({"model": "desk", "messages": [{"role": "user", "content": "hello"}]});
    let said = server.request(Method::POST, "/v1/chat/completions").header("x-thread-id", THREAD);
    assert_eq!(read(said.json(&body).send().await.unwrap()).await.0, 200);
    let (_, outside) = state(&server, "").await;
    let task = &outside["tasks"][0];
    assert_eq!((&task["name"], &task["state"]), (&json!("colleague"), &Value::Null));
    assert_eq!(task["interrupts"][0]["value"], "What shall I say?");
    let (_, inside) = state(&server, "?subgraphs=true").await;
    let task = &inside["tasks"][0];
    assert_eq!((&task["checkpoint"], &task["state"]["next"]), (&Value::Null, &json!(["ask"])));
    assert_eq!(task["state"]["values"]["messages"][0]["type"], "human");
    let place = &task["state"]["checkpoint"];
    assert_eq!(place["checkpoint_ns"], outside["tasks"][0]["checkpoint"]["checkpoint_ns"]);
    let path = format!("/threads/{THREAD}/state/checkpoint");
    let (_, alone) = server.post(&path, json!({"checkpoint": place})).await;
    assert_eq!(alone, task["state"]);
    let within = history(
        &server,
        json!({"limit": 10, "checkpoint": {"checkpoint_ns": place["checkpoint_ns"]}}),
    )
    .await;
    assert_eq!(within.iter().map(|it| it["metadata"]["step"].clone()).collect::<Vec<_>>(), [0, -1]);
    assert_eq!(
        server.get("/assistants/desk/subgraphs").await.1["colleague"]["state_schema"],
        json!({})
    );
}
