//! The list of what is to be done: how writers are merged, and the tool.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::sync::Arc;

use hanok_core::{Effect, Need};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_state::{Arguments, State};
use hanok_tools::{TodoStatus, Todos, TodosChange, WriteTodos};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::call;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Desk {
    #[reduce(operations = Todos::merge, update = TodosChange)]
    todos: Todos,
}

/// The desk after two writers of one super-step.
fn after(before: &Desk, one: TodosChange, other: TodosChange) -> String {
    let mut desk = before.clone();
    let writes = [("one", one), ("other", other)];
    let writes = writes.map(|(node, change)| (node.into(), Desk::update().todos(change)));
    desk.reduce(writes.into()).unwrap();
    desk.todos.to_string()
}

fn desk() -> Desk {
    let mut desk = Desk::default();
    desk.todos.apply(TodosChange::new().add("a", "A").add("b", "B").status("b", TodoStatus::Done));
    desk
}

#[test]
fn writers_of_one_super_step_do_not_disturb_each_other() {
    let change = TodosChange::new;
    let (open, done) = (TodoStatus::InProgress, TodoStatus::Done);
    for (one, other, want) in [
        // Different items.
        (change().status("a", open), change().add("c", "C"), "[>] a: A\n[x] b: B\n[ ] c: C\n"),
        // The text and the status of one item.
        (change().text("a", "A2"), change().status("a", done), "[x] a: A2\n[x] b: B\n"),
        // What is done does not come back, whoever is first.
        (change().status("a", done), change().status("a", open), "[x] a: A\n[x] b: B\n"),
        (change().status("b", open), change().text("b", "B2"), "[ ] a: A\n[x] b: B\n"),
        (change().add("b", "B"), change(), "[ ] a: A\n[x] b: B\n"),
        // Two items under one id, of which the writer of the later one goes on with its own.
        (
            change().add("c", "C"),
            change().add("c", "other C").status("c", open),
            "[ ] a: A\n[x] b: B\n[ ] c: C\n[>] c-2: other C\n",
        ),
        // One item, added twice.
        (
            change().add("c", "C").status("c", open),
            change().add("c", "C"),
            "[ ] a: A\n[x] b: B\n[>] c: C\n",
        ),
        // An item that is not there.
        (change().status("c", done), change().text("d", "D"), "[ ] a: A\n[x] b: B\n"),
    ] {
        assert_eq!(after(&desk(), one, other), want);
    }
}

fn changes() -> impl Strategy<Value = Vec<TodosChange>> {
    let write = (0..4_u8, 0..3_u8, "[ab]").prop_map(|(kind, id, text)| {
        let id = id.to_string();
        match kind {
            0 => TodosChange::new().add(id, text),
            1 => TodosChange::new().text(id, text),
            2 => TodosChange::new().status(id, TodoStatus::InProgress),
            _ => TodosChange::new().status(id, TodoStatus::Done),
        }
    });
    proptest::collection::vec(write, 0..20)
}

proptest! {
    #[test]
    fn nothing_is_lost_and_what_is_done_stays_whatever_is_written(changes in changes()) {
        let mut todos = Todos::default();
        for change in changes {
            let before = todos.clone();
            todos.apply(change);
            let items = before.items();
            let ids: Vec<_> = items.iter().map(|item| item.0.to_owned()).collect();
            let still: Vec<_> = todos.items().iter().map(|item| item.0.to_owned()).collect();
            prop_assert_eq!(still.get(..ids.len()), Some(&ids[..]));
            for (id, item) in items.iter().filter(|item| item.1.status == TodoStatus::Done) {
                prop_assert_eq!(todos.get(id), Some(*item));
            }
        }
    }
}

fn tool() -> WriteTodos {
    WriteTodos::new(|desk: &Desk| &desk.todos, |change| Desk::update().todos(change)).unwrap()
}

async fn run(desk: &Desk, arguments: Value) -> Result<ToolOutput, ToolError> {
    tool().run(&arguments.into(), &call().provide(Arc::new(desk.clone()))).await
}

#[tokio::test]
async fn a_model_reads_the_list_as_its_update_leaves_it() {
    assert_eq!((tool().effect(), tool().needs()), (Effect::Pure, vec![Need::of::<Desk>()]));
    let mut desk = Desk::default();
    for (arguments, want) in [
        (json!({}), "(nothing is to be done)"),
        (
            json!({"items": [{"id": "read", "text": "Read"}, {"id": "write", "text": "Write", "status": "in_progress"}]}),
            "[ ] read: Read\n[>] write: Write\n",
        ),
        (
            json!({"items": [{"id": "read", "status": "done"}]}),
            "[x] read: Read\n[>] write: Write\n",
        ),
        (json!({"items": []}), "[x] read: Read\n[>] write: Write\n"),
    ] {
        let output = run(&desk, arguments).await.unwrap();
        assert_eq!(output.text, want);
        if let Some(write) = output.update {
            let update = write.read(&desk, &[], &"tools".into()).unwrap();
            desk.reduce(vec![("tools".into(), update)]).unwrap();
        }
        assert_eq!(desk.todos.is_empty(), want.starts_with('('));
    }
    assert_eq!(desk.todos.to_string(), "[x] read: Read\n[>] write: Write\n");
    assert_eq!(desk.todos.get("read").map(|item| item.status), Some(TodoStatus::Done));
}

#[tokio::test]
async fn what_is_no_item_is_refused_with_what_to_write_instead() {
    let many: Vec<_> = (0..100).map(|n| json!({"id": format!("i{n}"), "text": "T"})).collect();
    for (items, want) in [
        (json!([{"id": "c"}]), "there is no item `c`: give its text to add it"),
        (
            json!([{"id": "b", "status": "pending"}]),
            "`b` is done, and stays so: add what is left under another id",
        ),
        (
            json!([{"id": "b", "text": "again"}]),
            "`b` is done, and stays so: add what is left under another id",
        ),
        (
            json!([{"id": "", "text": "T"}]),
            "an id is a name of 1 to 64 characters, such as `read-rules`",
        ),
        (
            json!([{"id": "c", "text": " "}]),
            "the text of `c` is empty or longer than 1000 characters",
        ),
        (json!(many), "the list has 100 items, and takes no more"),
    ] {
        let error = run(&desk(), json!({"items": items})).await.unwrap_err();
        assert!(matches!(&error, ToolError::Arguments(_)), "{error:?}");
        let want = format!("the arguments do not fit the tool: {want}");
        assert_eq!(error.report(), want);
    }
    let error = tool().run(&Arguments::default(), &call()).await.unwrap_err();
    assert!(matches!(&error, ToolError::NotProvided { .. }), "{error:?}");
}
