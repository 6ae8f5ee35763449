//! What a service sends of a thread and is sent for it, in and out of JSON.

use std::fmt::Debug;

use hanok_checkpoint::{CheckpointError, Life, StoreError};
use hanok_core::{Audience, Namespace, Position, RequestId, Stored, ThreadKey, Timestamp};
use hanok_graph::{
    BoxError, Context, Doubted, Durability, END, EventId, Graph, GraphView, InMemoryCheckpointer,
    Mode, NewAnswer, NewInput, Outcome, Pending, Poisoned, Resolution, RunEnd, RunError, START,
    Snapshot, State, TurnEnd,
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The value is this JSON, and comes back from it.
fn is<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), json);
    assert_eq!(serde_json::from_str::<T>(&json.to_string()).unwrap(), *value);
}

fn stored(value: &Value) -> Stored {
    Stored::encode(value).unwrap()
}

fn pending(payload: Value, schema: Option<&str>) -> Pending {
    Pending {
        id: RequestId("q1".into()),
        node: "ask".into(),
        payload: stored(&payload),
        schema: schema.map(Into::into),
        deadline: Some(Timestamp(5)),
        audience: Audience::everybody().role("approver"),
        path: Namespace::root().child("a/b").unwrap(),
        doubt: Some(Doubted { tool: "pay".into(), key: "k".into(), arguments: "{}".into() }),
    }
}

#[test]
fn a_request_is_an_object_of_its_fields() {
    let json = |schema: Value| {
        json!({
            "id": "q1",
            "node": "ask",
            "payload": {"pay": 5},
            "schema": schema,
            "deadline": 5,
            "audience": {"roles": ["approver"]},
            "path": ["a/b"],
            "doubt": {"tool": "pay", "key": "k", "arguments": "{}"},
        })
    };
    for (text, schema) in [
        (None, json!(null)),
        (Some(r#"{"type":"string"}"#), json!({"type": "string"})),
        (Some("true"), json!(true)),
        (Some("no schema"), json!("no schema")),
        (Some(r#""5""#), json!("5")),
    ] {
        is(&pending(json!({"pay": 5}), text), json(schema));
    }
    // As an earlier build sent it.
    let old = json!({"id": "q1", "node": "ask", "payload": 1, "schema": null, "deadline": null, "doubt": null});
    let old: Pending = serde_json::from_value(old).unwrap();
    assert_eq!((old.audience, old.path), (Audience::everybody(), Namespace::root()));
    let long = json!({"id": "x".repeat(257), "node": "ask", "payload": 1});
    let error = serde_json::from_value::<Pending>(long).unwrap_err();
    assert!(error.to_string().starts_with("the request's id has 257 bytes"), "{error}");
}

#[test]
fn an_answer_is_read_with_what_it_was_shown_and_nothing_unknown() {
    let answer = NewAnswer::new(RequestId("q1".into()), &true).unwrap();
    is(&answer, json!({"id": "q1", "value": true}));
    let answer = answer.key("k1").shown("d1");
    is(&answer, json!({"id": "q1", "value": true, "key": "k1", "shown": "d1"}));
    let slip = json!({"id": "q1", "value": true, "showed": "d1"});
    assert!(serde_json::from_value::<NewAnswer>(slip).is_err());
}

#[test]
fn choices_are_words() {
    let modes = json!([
        "values",
        "updates",
        "messages",
        "custom",
        "tasks",
        "checkpoints",
        "interrupts",
        "graphs",
        "tools"
    ]);
    let all = [
        Mode::Values,
        Mode::Updates,
        Mode::Messages,
        Mode::Custom,
        Mode::Tasks,
        Mode::Checkpoints,
        Mode::Interrupts,
        Mode::Graphs,
        Mode::Tools,
    ];
    is(&all.to_vec(), modes);
    is(
        &[NewInput::Reject, NewInput::Queue, NewInput::Replace].to_vec(),
        json!(["reject", "queue", "replace"]),
    );
    is(
        &[Durability::Sync, Durability::Async, Durability::Exit].to_vec(),
        json!(["sync", "async", "exit"]),
    );
    is(
        &TurnEnd { position: Position(7), outcome: RunEnd::InDoubt },
        json!({"position": 7, "outcome": "in_doubt"}),
    );
    is(
        &Poisoned { tasks: vec!["a".into()], takeovers: 3 },
        json!({"tasks": ["a"], "takeovers": 3}),
    );
    is(&Resolution::Made(stored(&json!([1]))), json!({"made": [1]}));
    is(&Resolution::NotMade, json!("not_made"));
    is(&Resolution::GiveUp, json!("give_up"));
}

proptest! {
    #[test]
    fn the_id_of_an_event_is_its_text(life: u128, position: u64, index: u8) {
        let id = EventId { life: Life::new(life), position: Position(position), index };
        is(&id, json!(id.to_string()));
        prop_assert_eq!(EventId::try_from(id.to_string()), Ok(id));
    }
}

#[derive(State, Clone, Debug, Default)]
struct Order {
    cents: u32,
}

async fn pay(_: Snapshot<Order>, cx: Context) -> Result<OrderUpdate, BoxError> {
    let price: u32 = cx.step("price", || async { Ok::<_, BoxError>(250) }).await?;
    cx.interrupt::<bool>(&json!({"pay": price})).await?;
    Ok(Order::update())
}

/// What a client reads of a thread that asks is what the program has.
#[tokio::test]
async fn the_view_of_a_graph_comes_back() {
    let graph = Graph::<Order>::builder("order").node("pay", pay).edge(START, "pay");
    let graph = graph.edge("pay", END).build().unwrap();
    let thread =
        graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t").unwrap());
    let outcome = thread.invoke(Order::update().cents(3), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    let [view] = <[GraphView; 1]>::try_from(thread.views(None).await.unwrap()).unwrap();
    let json = serde_json::to_value(&view).unwrap();
    let (id, task) = (view.requests[0].id.to_string(), view.tasks[0].id.to_string());
    let request = json!({
        "id": id, "node": "pay", "payload": {"pay": 250}, "schema": null, "deadline": null, "audience": {}, "path": [],
        "doubt": null,
    });
    let due = json!({
        "id": task, "node": "pay", "steps": {"price": 250}, "is_done": false, "writes": null, "requests": [request],
        "failure": null,
    });
    let want = json!({
        "path": [], "values": {"cents": 3}, "next": ["pay"], "requests": [request], "tasks": [due], "error": null,
    });
    assert_eq!(json, want);
    is(&view, want);
}

/// An error that only carries another one has its status.
#[test]
fn a_service_tells_of_an_error_by_its_status() {
    let key = || ThreadKey::named("t").unwrap();
    let full = || CheckpointError::Full("no room".into());
    for (error, status) in [
        (RunError::NoSuchThread(key()), 404),
        (RunError::Checkpoint(CheckpointError::ThreadExists(key())), 409),
        (RunError::Checkpoint(full()), 503),
    ] {
        assert_eq!(error.status(), status, "{error}");
    }
    assert_eq!(StoreError::Storage(full()).status(), 503);
}
