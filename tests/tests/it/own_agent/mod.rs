//! The README's agent of one's own: the text there is the program here, and it does what it is said to do.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok::{core::ThreadKey, sqlite::Sqlite};
use hanok_model::{Exchange, ScriptedModel};

// The README's own lines, `use` included.
include!("agent.rs");

#[test]
fn both_readmes_hold_this_program() {
    let program = include_str!("agent.rs");
    assert!(program.lines().count() <= 60);
    for readme in [include_str!("../../../../README.md"), include_str!("../../../../README.ko.md")]
    {
        assert!(readme.contains(&format!("```rust\n{program}```")));
    }
}

fn shop(user: &str) -> Shop {
    Shop { user: user.to_owned(), stock: vec!["tea", "rice"] }
}

const TAKE: &str = "Action: take\nAction Input: ";

#[tokio::test]
async fn a_tool_writes_the_basket_of_a_thread_and_the_answer_is_a_receipt() {
    let model = ScriptedModel::new([
        Exchange::says(format!("{TAKE}{{\"item\": \"tea\"}}")).contains("The user is Kim."),
        Exchange::says(format!("{TAKE}{{\"item\": \"coffee\"}}")).contains("Kim has 1 things"),
        Exchange::says("Final Answer: {\"items\": [\"tea\"]}").contains("There is no coffee"),
        Exchange::says(format!("{TAKE}{{\"item\": \"rice\"}}")),
        Exchange::says("Final Answer: {\"items\": [\"tea\", \"rice\"]}")
            .contains("Kim has 2 things"),
    ]);
    let agent = agent(model.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let thread = agent.graph().checkpointer(store).thread(ThreadKey::named("kim").unwrap());

    let turn = thread.invoke(agent.ask("A tea and a coffee, please."), shop("Kim")).await.unwrap();
    let visit = turn.done().unwrap();
    assert_eq!(visit.agent.read_value().unwrap(), Some(Receipt { items: vec!["tea".into()] }));
    let turn = thread.invoke(agent.ask("And rice."), shop("Kim")).await.unwrap();
    assert_eq!(turn.done().unwrap().basket, ["tea", "rice"]);
    model.finished().unwrap();
}
