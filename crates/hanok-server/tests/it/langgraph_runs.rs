//! Runs as LangGraph's clients ask for them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::served::{SentEvent, Served, events, read};

const THREAD: &str = "0190a5b0-0000-7000-8000-000000000001";

fn says(text: &str) -> Value {
    json!({
        "assistant_id": "chat", "if_not_exists": "create",
        "input": {"messages": [{"role": "user", "content": text, "id": format!("id of {text}")}]},
    })
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn texts(values: &Value) -> Vec<&str> {
    let messages = values["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

fn runs(rest: &str) -> String {
    format!("/threads/{THREAD}/runs{rest}")
}

fn named<'a>(events: &'a [SentEvent], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event.name == name).map(|event| &event.data).collect()
}

fn names(events: &[SentEvent]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn whoever_waits_is_given_the_state() {
    let server = Served::start().await;
    let (status, values) = server.post(&runs("/wait"), says("hello there")).await;
    assert_eq!((status, texts(&values)), (200, vec!["hello there", "HELLO THERE"]), "{values}");
    // The ids of a client's messages stay.
    assert_eq!(values["messages"][0]["id"], "id of hello there");
    let (status, values) = server.post("/runs/wait", says("alone")).await;
    assert_eq!((status, texts(&values)), (200, vec!["alone", "ALONE"]));
}

#[tokio::test]
async fn a_run_is_made_listed_and_joined() {
    let server = Served::start().await;
    let made = server.request(Method::POST, &runs("")).json(&says("one")).send().await.unwrap();
    let place = made.headers()["content-location"].to_str().unwrap().to_owned();
    let (status, run) = read(made).await;
    assert_eq!(
        (status, &run["status"], &run["thread_id"]),
        (200, &json!("pending"), &json!(THREAD))
    );
    assert_eq!(place, runs(&format!("/{}", run["run_id"].as_str().unwrap())));
    assert_eq!(run["metadata"]["graph_id"], "chat");

    let (status, values) = server.get(&format!("{place}/join")).await;
    assert_eq!((status, texts(&values)), (200, vec!["one", "ONE"]));
    let (_, again) = server.get(&place).await;
    assert_eq!(again["status"], "success");
    server.post(&runs("/wait"), with(says("two"), json!({"metadata": {"k": 1}}))).await;
    let (_, listed) = server.get(&runs("?limit=10&offset=0&status=")).await;
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!((&listed[0]["metadata"]["k"], &listed[1]["run_id"]), (&json!(1), &run["run_id"]));
    let (_, rest) = server.get(&runs("?limit=10&offset=1&status=success")).await;
    assert_eq!(rest.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_stream_begins_with_metadata_and_ends_with_end() {
    let server = Served::start().await;
    let events = server.stream(&runs("/stream"), says("one two")).await;
    assert_eq!(names(&events)[0], "metadata");
    assert_eq!(names(&events).last(), Some(&"end"));
    assert_eq!(events[0].data["attempt"], 1);
    let values = named(&events, "values");
    assert_eq!(texts(values.last().unwrap()), ["one two", "ONE TWO"]);
    let ids: Vec<_> = events.iter().map(|event| &event.id).filter(|id| !id.is_empty()).collect();
    assert_eq!(ids.len(), values.len(), "{events:?}");
}

#[tokio::test]
async fn several_modes_are_shown_in_one_order() {
    let server = Served::start().await;
    let modes = json!({"stream_mode": ["updates", "messages-tuple", "values"]});
    let events = server.stream(&runs("/stream"), with(says("one two"), modes)).await;
    let updates = named(&events, "updates");
    assert_eq!(updates[0], &json!({"listen": {"turns": 1}}));
    assert_eq!(updates[1]["answer"]["messages"][0]["content"], "ONE TWO");
    let chunks = named(&events, "messages");
    let words: Vec<_> = chunks.iter().map(|pair| pair[0]["content"].as_str().unwrap()).collect();
    assert_eq!(words, ["ONE ", "TWO"]);
    // All chunks have one id: that of the message in the state.
    let id = &updates[1]["answer"]["messages"][0]["id"];
    assert!(chunks.iter().all(|pair| &pair[0]["id"] == id), "{chunks:?}");
    assert_eq!(chunks[0][1]["langgraph_node"], "answer");

    let partial = json!({"stream_mode": "messages"});
    let events = server.stream(&runs("/stream"), with(says("one two"), partial)).await;
    let partial = named(&events, "messages/partial");
    assert_eq!(partial.last().unwrap()[0]["content"], "ONE TWO");
    assert_eq!(partial[0][0]["type"], "ai");
    assert_eq!(named(&events, "messages/metadata").len(), 1);

    for mode in ["custom", "events", "tasks", "checkpoints", "debug", "tools", "lifecycle"] {
        let events = server.stream("/runs/stream", with(says("x"), json!({"stream_mode": [mode]})));
        assert_eq!(names(&events.await).last(), Some(&"end"), "{mode}");
    }
    let wrong = with(says("x"), json!({"stream_mode": "colours"}));
    assert_eq!(server.post(&runs("/stream"), wrong).await.0, 422);
}

#[tokio::test]
async fn a_question_is_a_last_frame_of_values_and_a_command_answers_it() {
    let server = Served::start().await;
    let modes = json!({"stream_mode": ["values", "updates"]});
    let events = server.stream(&runs("/stream"), with(says("tea?"), modes)).await;
    let asked = &named(&events, "values").last().unwrap()["__interrupt__"][0];
    assert_eq!(asked["value"], "What do you think?");
    assert_eq!(named(&events, "updates").last().unwrap()["__interrupt__"][0]["id"], asked["id"]);
    let (_, listed) = server.get(&runs("")).await;
    assert_eq!(listed[0]["status"], "success");

    let resumes = json!({"assistant_id": "chat", "command": {"resume": "tea please"}});
    let (status, values) = server.post(&runs("/wait"), resumes.clone()).await;
    assert_eq!((status, *texts(&values).last().unwrap()), (200, "TEA PLEASE"), "{values}");
    let (_, again) = server.post(&runs("/wait"), resumes).await;
    assert_eq!(again["__error__"]["error"], "HNK-217", "{again}");

    // By its id; and a new input drops what is asked.
    let (_, asks) = server.post(&runs("/wait"), says("and you?")).await;
    let id = asks["__interrupt__"][0]["id"].as_str().unwrap();
    let resumes = json!({"assistant_id": "chat", "command": {"resume": {id: "me too"}}});
    let (_, values) = server.post(&runs("/wait"), resumes).await;
    assert_eq!(*texts(&values).last().unwrap(), "ME TOO");
    server.post(&runs("/wait"), says("again?")).await;
    let (_, values) = server.post(&runs("/wait"), says("never mind")).await;
    assert_eq!(*texts(&values).last().unwrap(), "NEVER MIND");
}

/// P51
#[tokio::test]
async fn a_failure_is_told_in_the_answer() {
    let server = Served::start().await;
    let (status, failed) = server.post(&runs("/wait"), says("fail")).await;
    assert_eq!(status, 200);
    assert_eq!(failed["__error__"], json!({"error": "HNK-201", "message": "the run failed"}));
    let events = server.stream(&runs("/stream"), says("fail")).await;
    assert_eq!(names(&events)[names(&events).len() - 2..], ["error", "end"]);
    assert!(!format!("{events:?}").contains("4711"));
}

/// P54
#[tokio::test]
async fn a_stream_is_taken_up_where_it_was_cut() {
    let server = Served::start().await;
    let modes = json!({"stream_mode": ["values", "updates", "messages-tuple"]});
    let all = server.stream(&runs("/stream"), with(says("one two three"), modes)).await;
    let run = all[0].data["run_id"].as_str().unwrap().to_owned();
    let path = runs(&format!("/{run}/stream?stream_mode=values,updates&cancel_on_disconnect=0"));
    let recorded: Vec<_> =
        all.iter().filter(|event| ["values", "updates"].contains(&&*event.name)).collect();
    assert!(recorded.len() > 3);
    for cut in 0..=recorded.len() {
        let last = cut.checked_sub(1).map_or("-1", |at| &recorded[at].id);
        let request = server.request(Method::GET, &path).header("last-event-id", last);
        let rest = events(request.send().await.unwrap()).await;
        let rest: Vec<_> = rest.iter().filter(|event| !event.id.is_empty()).collect();
        assert_eq!(rest, recorded[cut..], "cut after {cut}");
    }
    // Whoever says nothing is told what comes from now on: nothing.
    let rest = events(server.request(Method::GET, &path).send().await.unwrap()).await;
    assert_eq!(names(&rest), ["metadata", "end"]);
    let request = server.request(Method::GET, &path).header("last-event-id", "rubbish");
    assert_eq!(request.send().await.unwrap().status(), 422);
}

#[tokio::test]
async fn a_run_is_cancelled() {
    let server = Served::start().await;
    let (_, run) = server.post(&runs(""), says("slow")).await;
    let path = runs(&format!("/{}", run["run_id"].as_str().unwrap()));
    let (status, _) =
        server.post(&format!("{path}/cancel?wait=1&action=interrupt"), json!({})).await;
    assert_eq!(status, 200);
    let (_, run) = server.get(&path).await;
    assert_eq!(run["status"], "interrupted");
    let late = server.post(&format!("{path}/cancel?wait=0"), json!({})).await;
    assert_eq!(late.0, 404);
    let refused = with(says("slow"), json!({"multitask_strategy": "reject"}));
    let (_, slow) = server.post(&runs(""), says("slow too")).await;
    assert_eq!(server.post(&runs(""), refused).await.0, 409);
    let many = json!({"thread_id": THREAD, "status": "all"});
    assert_eq!(server.post("/runs/cancel?action=rollback", many).await.0, 204);
    let path = runs(&format!("/{}", slow["run_id"].as_str().unwrap()));
    server.get(&format!("{path}/join")).await;
    let deleted = server.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(server.get(&path).await.0, 404);
}

#[tokio::test]
async fn the_run_of_a_reader_who_leaves_is_stopped_if_that_was_asked_for() {
    let server = Served::start().await;
    for (leaves, ends) in [("cancel", "interrupted"), ("continue", "running")] {
        let body = with(says("slow"), json!({"on_disconnect": leaves}));
        let path = format!("/threads/{}/runs", uuid::Uuid::from_u128(leaves.len() as u128));
        let request = server.request(Method::POST, &format!("{path}/stream")).json(&body);
        let mut sent = request.send().await.unwrap();
        let place = sent.headers()["content-location"].to_str().unwrap().to_owned();
        while !sent.chunk().await.unwrap().unwrap().starts_with(b"event: values") {}
        drop(sent);
        loop {
            let (_, run) = server.get(&place).await;
            if run["status"] == ends {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_thread_that_is_not_there_or_another_tenants_has_no_runs() {
    let server = Served::start().await;
    let body = json!({"assistant_id": "chat", "input": {}});
    let (status, missing) = server.post(&runs(""), body).await;
    assert_eq!((status, &missing["detail"]), (404, &json!("there is no such thread")));
    for (path, status) in [
        ("/threads/not-a-uuid/runs", 422),
        ("/threads/..%2f..%2fetc/runs", 422),
        ("/threads/%00/runs", 422),
        (&format!("/threads/{}/runs", "x".repeat(300)), 422),
    ] {
        assert_eq!(server.get(path).await.0, status, "{path}");
    }
    let unknown = json!({"assistant_id": "stove", "if_not_exists": "create"});
    assert_eq!(server.post(&runs(""), unknown).await.0, 422);
}
