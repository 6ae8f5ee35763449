//! The README's first graph: the text there is the program here, and it does what it is said to do.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok::state::{Arguments, ToolCall};
use hanok_model::{Exchange, ScriptedModel};

// The README's own lines, `use` included.
include!("graph.rs");

#[test]
fn both_readmes_hold_this_program() {
    let program = include_str!("graph.rs");
    assert!(program.lines().count() <= 30);
    for readme in [include_str!("../../../../README.md"), include_str!("../../../../README.ko.md")]
    {
        assert!(readme.contains(&format!("```rust\n{program}```")));
    }
}

#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Who {
    name: String,
}

#[tokio::test]
async fn a_model_and_a_tool_take_turns() {
    let arguments = Arguments::new(r#"{"name":"김하늘"}"#);
    let call = ToolCall { id: "c1".into(), name: "leave".into(), arguments };
    let model = ScriptedModel::new([
        Exchange::calls([call]).contains("며칠"),
        Exchange::says("11일 남았습니다.").contains("김하늘: 11"),
    ]);
    let tool = FnTool::new("leave", "days left", |who: Who, _| async move {
        Ok(format!("{}: 11", who.name).into())
    });
    let services = (SharedModel::new(model.clone()), SharedTool::new(tool.unwrap()));
    let question = Chat::update().message("김하늘 연차 며칠 남았어?");
    let chat = graph().unwrap().invoke(question, services).await.unwrap().done().unwrap();
    let said: Vec<_> = chat.messages.iter().map(|m| (m.role().to_string(), m.text())).collect();
    assert_eq!(
        said.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(),
        ["user", "assistant", "tool", "assistant"]
    );
    assert_eq!(said.last().unwrap().1, "11일 남았습니다.");
    model.finished().unwrap();
}
