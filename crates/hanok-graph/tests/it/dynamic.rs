//! Graphs that come as data, over states whose fields they declare.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use hanok_checkpoint::{Body, InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Change, Tenant, ThreadKey};
use hanok_graph::{
    App, BoxError, Context, Graph, GraphSpec, NodeError, NodeKinds, Outcome, RunError, Snapshot,
    Thread,
};
use hanok_state::{DynamicState, DynamicUpdate, Role};
use serde::Deserialize;
use serde_json::{Value, json};

/// What the nodes of a run share.
#[derive(Debug, Clone, Default)]
struct Services {
    runs: Arc<AtomicU32>,
    /// How often `fails` fails yet.
    failing: Arc<AtomicU32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Says {
    #[serde(default)]
    field: Option<String>,
    #[serde(default)]
    value: Value,
}

type Node = Snapshot<DynamicState>;

/// `say` writes one field; `fails` does so once it does not fail; `echo` copies a field.
fn kinds() -> NodeKinds<Services> {
    NodeKinds::new()
        .kind("say", |says: Says| {
            let field = says.field.ok_or("`field` is missing")?;
            let update = DynamicUpdate::new().set(field, says.value);
            Ok::<_, BoxError>(move |_: Node, cx: Context<Services>| {
                let update = update.clone();
                async move {
                    cx.services().runs.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, BoxError>(update)
                }
            })
        })
        .kind("fails", |says: Says| {
            let update = says.field.map_or_else(DynamicUpdate::new, |field| {
                DynamicUpdate::new().set(field, says.value)
            });
            Ok::<_, BoxError>(move |_: Node, cx: Context<Services>| {
                let update = update.clone();
                async move {
                    let left = &cx.services().failing;
                    let failing =
                        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
                    if failing.is_ok() { Err(BoxError::from("not yet")) } else { Ok(update) }
                }
            })
        })
        .kind("echo", |(from, to): (String, String)| {
            Ok::<_, BoxError>(move |state: Node, _: Context<Services>| {
                let value = state.get(&from).unwrap_or_default();
                let update = DynamicUpdate::new().set(to.as_str(), value);
                async move { Ok::<_, BoxError>(update) }
            })
        })
}

const TEXT: &str = r#"{
    "name": "research",
    "state": {
        "question": {"reduce": "last"},
        "notes": {"reduce": "append", "default": ["처음"]},
        "messages": {"reduce": "messages", "default": [{"role": "system", "content": "규칙"}]},
        "count": {"reduce": "sum"},
        "route": {"reduce": "last"}
    },
    "nodes": {
        "search": {"use": "say", "with": {"field": "notes", "value": ["12조", "13조"]}},
        "count": {"use": "say", "with": {"field": "count", "value": 2}},
        "flaky": {"use": "fails", "with": {"field": "notes", "value": "끝"}},
        "decide": {"use": "say", "with": {"field": "route", "value": true}},
        "answer": {"use": "say", "with": {"field": "messages", "value": {"role": "assistant", "content": "네"}}},
        "rest": {"use": "fails"}
    },
    "edges": [["START", "search"], ["START", "count"], ["START", "flaky"], ["answer", "END"], ["rest", "END"]],
    "joins": [{"from": ["search", "count", "flaky"], "to": "decide"}],
    "branches": [{"from": "decide", "field": "route", "cases": {"true": "answer"}, "otherwise": "rest"}],
    "recursion_limit": 9
}"#;

fn spec(text: &str) -> GraphSpec {
    serde_json::from_str(text).unwrap()
}

fn thread(app: &App<DynamicState, Services>) -> Thread<DynamicState, Services> {
    app.thread(ThreadKey::new(Tenant::default(), "t").unwrap())
}

fn done(outcome: Outcome<DynamicState>) -> DynamicState {
    let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
    state
}

/// A fault of a spec with `edits` of it, each a JSON pointer and a value.
fn faults(edits: &[(&str, Value)]) -> Vec<String> {
    let mut value: Value = serde_json::from_str(TEXT).unwrap();
    for (pointer, new) in edits {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap() {
            Value::Object(object) => drop(object.insert(key.to_owned(), new.clone())),
            Value::Array(array) => array.push(new.clone()),
            other => panic!("{other}"),
        }
    }
    let spec: GraphSpec = serde_json::from_value(value).unwrap();
    let error = spec.build(&kinds()).unwrap_err();
    error.faults.iter().map(ToString::to_string).collect()
}

/// A run that broke in a wide super-step goes on in another process, which has the graph from the same text: the writes
/// that were stored stand, and their nodes are not run again.
#[tokio::test]
async fn a_graph_from_a_text_runs_and_resumes() {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let services = Services::default();
    services.failing.store(1, Ordering::SeqCst);
    let app = spec(TEXT).build(&kinds()).unwrap().checkpointer(store.clone());
    let input = DynamicUpdate::new().set("question", "휴가?").set("messages", "안녕");
    let error = thread(&app).invoke(input, services.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `flaky` failed in super-step 0");
    assert_eq!(services.runs.load(Ordering::SeqCst), 2);

    let again = spec(&serde_json::to_string(&spec(TEXT)).unwrap());
    let app = again.build(&kinds()).unwrap().checkpointer(store);
    let state = done(thread(&app).resume(services.clone()).await.unwrap());
    assert_eq!(services.runs.load(Ordering::SeqCst), 4);
    assert_eq!(state.get("notes"), Some(json!(["처음", "끝", "12조", "13조"])));
    assert_eq!((state.get("count"), state.get("question")), (Some(json!(2)), Some(json!("휴가?"))));
    let messages = state.messages("messages").unwrap();
    let said: Vec<_> = messages.iter().map(|m| (m.role(), m.text().into_owned())).collect();
    let want = [(Role::System, "규칙"), (Role::User, "안녕"), (Role::Assistant, "네")];
    assert_eq!(said, want.map(|(role, text)| (role, text.to_owned())));
    assert!(messages.iter().all(|message| message.id().is_some()));

    // What the log folds to, and a second turn on it.
    assert_eq!(thread(&app).state(None).await.unwrap(), Some(state.clone()));
    let state = done(thread(&app).invoke(DynamicUpdate::new(), services).await.unwrap());
    assert_eq!(state.get("count"), Some(json!(4)));
    assert_eq!(thread(&app).state(None).await.unwrap(), Some(state));
}

#[tokio::test]
async fn a_log_holds_what_was_written_and_no_list_whole() {
    let app = spec(TEXT).build(&kinds()).unwrap().checkpointer(InMemoryCheckpointer::new());
    let thread = thread(&app);
    for _ in 0..3 {
        thread.invoke(DynamicUpdate::new(), Services::default()).await.unwrap();
    }
    let history = thread.history(None, 100).await.unwrap();
    let mut appended = Vec::new();
    for entry in &history {
        let changes = match &entry.entry.body {
            Body::Write(write) => &write.changes,
            _ => continue,
        };
        for (field, change) in changes.0.iter().filter(|(field, _)| field == "notes") {
            let Change::Append(items) = change else { panic!("{field}: {change:?}") };
            appended.push(items.len());
        }
    }
    assert_eq!(appended.iter().sum::<usize>(), 9, "{appended:?}");
}

/// By a node, by an input. B13
#[tokio::test]
async fn a_key_that_the_state_does_not_have_fails_its_node_by_name() {
    let known = "`count`, `messages`, `notes`, `question`, `route`";
    let mut value: Value = serde_json::from_str(TEXT).unwrap();
    value["nodes"]["answer"]["with"]["field"] = "mesages".into();
    let app = serde_json::from_value::<GraphSpec>(value).unwrap();
    let app = app.build(&kinds()).unwrap().checkpointer(InMemoryCheckpointer::new());
    let error = thread(&app).invoke(DynamicUpdate::new(), Services::default()).await.unwrap_err();
    let RunError::Node { node, source: NodeError::Reduce(reason), .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(node.as_ref(), "answer");
    assert_eq!(
        reason.to_string(),
        format!(
            "field `mesages`: `answer` wrote it, and the state has no such field; there are {known}"
        )
    );

    let unknown = DynamicUpdate::new().set("qestion", 1);
    let error = thread(&app).invoke(unknown.clone(), Services::default()).await.unwrap_err();
    assert!(
        error.source().is_some_and(|source| source.to_string().contains("`qestion`")),
        "{error:?}"
    );
    let graph: Graph<_, _> = spec(TEXT).build(&kinds()).unwrap();
    let error = graph.invoke(unknown, Services::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Reduce { .. }), "{error:?}");
}

/// B10
#[tokio::test]
async fn two_writers_of_one_last_value_are_named() {
    let mut value: Value = serde_json::from_str(TEXT).unwrap();
    for node in ["search", "count"] {
        value["nodes"][node]["with"]["field"] = "question".into();
    }
    let graph = serde_json::from_value::<GraphSpec>(value).unwrap().build(&kinds()).unwrap();
    let error = graph.invoke(DynamicUpdate::new(), Services::default()).await.unwrap_err();
    let RunError::Reduce { source, .. } = error else { panic!("{error:?}") };
    assert_eq!((source.field.as_str(), source.nodes.len()), ("question", 2));
}

/// A value leads where its case says: texts as they are, anything else as its JSON. In part: B5
#[tokio::test]
async fn a_branch_goes_where_the_value_of_its_field_says() {
    for (value, want) in [
        (json!("yes"), Ok("a")),
        (json!(3), Ok("b")),
        (json!(null), Ok("b")),
        (
            json!(true),
            Err("field `route` is true, and the branch has cases for `3`, `null`, `yes` alone"),
        ),
        (
            json!([1]),
            Err("field `route` is [1], and the branch has cases for `3`, `null`, `yes` alone"),
        ),
    ] {
        let say = |text: &str| json!({"use": "say", "with": {"field": "out", "value": text}});
        let spec: GraphSpec = serde_json::from_value(json!({
            "name": "route",
            "state": {"route": {"reduce": "last"}, "in": {"reduce": "last"}, "out": {"reduce": "last"}},
            "nodes": {"from": {"use": "echo", "with": ["in", "route"]}, "a": say("a"), "b": say("b")},
            "edges": [["START", "from"], ["a", "END"], ["b", "END"]],
            "branches": [{"from": "from", "field": "route", "cases": {"yes": "a", "3": "b", "null": "b"}}],
        }))
        .unwrap();
        let graph = spec.build(&kinds()).unwrap();
        let input = DynamicUpdate::new().set("in", value);
        let got = match graph.invoke(input, Services::default()).await {
            Ok(outcome) => Ok(done(outcome).get("out").unwrap()),
            Err(RunError::Node { source: NodeError::Router(reason), .. }) => {
                Err(reason.to_string())
            }
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(got, want.map(Value::from).map_err(str::to_owned));
    }
}

/// The faults of any graph, with those that only data can have, all at once. B2 B3 B4
#[test]
fn every_fault_of_a_spec_is_named_at_once() {
    let got = faults(&[
        ("/nodes/fetch", json!({"use": "http_get"})),
        ("/nodes/bad", json!({"use": "say", "with": {"field": 3}})),
        ("/nodes/worse", json!({"use": "say"})),
        ("/nodes/END", json!({"use": "fails"})),
        ("/edges/-", json!(["rest", "nowhere"])),
        ("/branches/-", json!({"from": "rest", "field": "rute", "cases": {"a": "lost"}})),
        ("/joins/-", json!({"from": ["gone"], "to": "rest"})),
    ]);
    let known =
        "END, `answer`, `bad`, `count`, `decide`, `fetch`, `flaky`, `rest`, `search`, `worse`";
    let want = [
        "node `bad`: `say` cannot be made with what `with` says: invalid type: integer `3`, expected a string".to_owned(),
        "node `fetch`: no kind `http_get`; there are `echo`, `fails`, `say`".to_owned(),
        "node `worse`: `say` cannot be made with what `with` says: `field` is missing".to_owned(),
        "branch of `rest`: no field `rute`; there are `count`, `messages`, `notes`, `question`, `route`; did you mean `route`?".to_owned(),
        "a node cannot be named \"__end__\": END is where a path ends".to_owned(),
        format!("edge `rest` -> `nowhere`: no node `nowhere`; there are {known}"),
        format!("branch `rest` -> `lost`: no node `lost`; there are {known}"),
        format!("join `gone` -> `rest`: no node `gone`; there are {known}"),
    ];
    assert_eq!(got, want);
    let got = faults(&[("/nodes/island", json!({"use": "fails"}))]);
    assert_eq!(
        got,
        [
            "no path leads to `island`: add `.edge(\"…\", \"island\")`, or name it among the targets of a branch or of `.goto(…)`"
        ]
    );
}

#[test]
fn what_a_spec_does_not_know_is_refused() {
    let with = |key: &str, value: Value| {
        let mut spec: Value = serde_json::from_str(TEXT).unwrap();
        let (parent, key) = key.rsplit_once('/').unwrap();
        spec.pointer_mut(parent).unwrap()[key] = value;
        serde_json::from_value::<GraphSpec>(spec).unwrap_err().to_string()
    };
    for (key, value, want) in [
        ("/nodez", json!({}), "unknown field `nodez`"),
        ("/nodes/rest/wiht", json!({}), "unknown field `wiht`"),
        ("/branches/0/else", json!("END"), "unknown field `else`"),
        ("/joins/0/wait", json!(1), "unknown field `wait`"),
        ("/state/x", json!({"reduce": "lats"}), "unknown variant `lats`"),
        ("/edges", json!([["a"]]), "invalid length 1"),
    ] {
        let error = with(key, value);
        assert!(error.contains(want), "{key}: {error}");
    }
    let twice = TEXT.replacen("\"count\": {\"use\"", "\"search\": {\"use\"", 1);
    let error = spec(&twice).build(&kinds()).unwrap_err().to_string();
    assert!(error.contains("two nodes are named `search`"), "{error}");
}

#[test]
fn a_spec_is_written_as_it_is_read_and_draws_like_any_graph() {
    let spec = spec(TEXT);
    let text = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<GraphSpec>(&text).unwrap(), spec);
    let graph = spec.builder(&kinds()).unwrap().build().unwrap();
    assert_eq!(graph.name(), "research");
    let drawing = graph.mermaid();
    for part in ["decide", "answer", "rest"] {
        assert!(drawing.contains(part), "{drawing}");
    }
}

/// B7: what is done to a spec after a graph was built from it does not reach the graph.
#[tokio::test]
async fn a_graph_that_was_built_does_not_change_with_its_spec() {
    let text = json!({
        "name": "g",
        "state": {"said": {"reduce": "append"}},
        "nodes": {"a": {"use": "say", "with": {"field": "said", "value": "a"}}},
        "edges": [["START", "a"], ["a", "END"]],
    });
    let mut spec: GraphSpec = serde_json::from_value(text).unwrap();
    let built = spec.build(&kinds()).unwrap();
    let drawn = built.mermaid();

    let b = json!({"use": "say", "with": {"field": "said", "value": "b"}});
    spec.nodes.push(("b".to_owned(), serde_json::from_value(b).unwrap()));
    spec.edges.push(("START".to_owned(), "b".to_owned()));
    spec.edges.push(("b".to_owned(), "END".to_owned()));
    let later = spec.build(&kinds()).unwrap();

    for (graph, said) in [(&built, json!(["a"])), (&later, json!(["a", "b"]))] {
        let ended = graph.invoke(DynamicUpdate::new(), Services::default()).await.unwrap();
        assert_eq!(ended.done().unwrap().get("said"), Some(said));
    }
    assert_eq!(built.mermaid(), drawn);
}
