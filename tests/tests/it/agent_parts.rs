//! An agent with all that its tools may see: services, a state of its own with plans and files, and a store across threads.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use hanok::{
    InMemoryCheckpointer, InMemoryStore, ItemKey, Labels, SharedStore, State, Store,
    agent::{AgentState, HasAgent, Protocol, ReactAgent},
    checkpoint::Put,
    core::{Stored, Tenant, ThreadKey, Timestamp},
    graph::Outcome,
    model::{Services, ToolError},
    sandbox::{FileChange, FileRules, FileTools, StateFiles},
    state::ToolCall,
    tool,
    tools::{Todos, TodosChange, WriteTodos},
};
use hanok_model::{Exchange, ScriptedModel};
use serde_json::json;

struct App {
    user: String,
}

#[derive(State, HasAgent, Clone, Debug, Default)]
struct Work {
    #[reduce(nested)]
    agent: AgentState,
    #[reduce(operations = Todos::merge, update = TodosChange)]
    todos: Todos,
    #[reduce(merge)]
    files: BTreeMap<String, String>,
}

/// Looks up what the user likes.
#[tool(effect = pure)]
async fn likes(app: Services<App>, store: SharedStore) -> Result<String, ToolError> {
    let labels = Labels::new(["users", app.user.as_str()]).map_err(ToolError::failed)?;
    let key = ItemKey::new(Tenant::default(), labels, "likes").map_err(ToolError::failed)?;
    let item = store.get(&key, Timestamp(0)).await.map_err(ToolError::failed)?;
    let item = item.ok_or_else(|| ToolError::failed("nothing is known"))?;
    item.value.decode().map_err(ToolError::failed)
}

#[tokio::test]
async fn the_tools_of_an_agent_see_and_write_all_of_it() {
    let call =
        |id: &str, tool: &str, arguments| Exchange::calls([ToolCall::new(id, tool, arguments)]);
    let model = ScriptedModel::new([
        call(
            "1",
            "write_todos",
            json!({"items": [{"id": "ask", "text": "Ask what she likes"}]}).to_string(),
        ),
        call("2", "likes", "{}".to_owned()).contains("Ask what she likes"),
        call("3", "write", json!({"path": "notes/kim.md", "text": "likes tea"}).to_string())
            .contains("green tea"),
        call("4", "read", json!({"path": "notes/kim.md"}).to_string()),
        call("5", "write_todos", json!({"items": [{"id": "ask", "status": "done"}]}).to_string())
            .contains("likes tea"),
        Exchange::says("done"),
    ]);
    let files = FileTools::new(StateFiles::new(
        |work: &Work| &work.files,
        |change| match change {
            FileChange::Write { path, text } => Work::update().insert_files(path, text),
            FileChange::Remove { path } => Work::update().remove_files(path),
        },
    ));
    let files = files.rules(FileRules::new().allow("notes/**").unwrap());
    let agent = ReactAgent::builder("notes", "Takes notes", model.clone())
        .protocol(Protocol::Native)
        .state::<Work>()
        .services::<App>()
        .tool(
            WriteTodos::new(|work: &Work| &work.todos, |change| Work::update().todos(change))
                .unwrap(),
        )
        .tools(files.all().unwrap())
        .tool(likes)
        .build()
        .unwrap();

    let store = SharedStore::new(InMemoryStore::new());
    let labels = Labels::new(["users", "Kim"]).unwrap();
    let key = ItemKey::new(Tenant::default(), labels, "likes").unwrap();
    store.put(&key, Put::new(Stored::encode("green tea").unwrap()), Timestamp(0)).await.unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new()).remembering(store);
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let outcome = thread.invoke(agent.ask("Note what Kim likes"), App { user: "Kim".into() }).await;
    let work = match outcome.unwrap() {
        Outcome::Done(work) => work,
        other => panic!("{other:?}"),
    };
    model.finished().unwrap();
    assert!(work.todos.is_done());
    assert_eq!(work.files.get("notes/kim.md").map(String::as_str), Some("likes tea"));
}
