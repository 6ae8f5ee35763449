//! A graph that calls one tool once, on a store whose process dies.

use hanok_agent::Decision;
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{BoxError, Context, Doubt, END, Graph, Outcome, START, Snapshot, Thread};
use hanok_mcp::{ElicitationAnswer, McpClient};
use hanok_model::{SharedTool, Tool};
use hanok_state::State;
use hanok_testkit::Dying;

use crate::support::tool_of;

#[derive(State, Debug, Clone, Default, PartialEq)]
pub(crate) struct S {
    pub(crate) text: String,
}

async fn run(_: Snapshot<S>, cx: Context<SharedTool>) -> Result<SUpdate, BoxError> {
    let tool = cx.services().clone();
    let arguments = r#"{"text":"k"}"#;
    let made = cx.once("tool", arguments, Doubt::Ask, |call| async move {
        let output = tool.run(&arguments.into(), &call).await.map_err(BoxError::from)?;
        Ok::<_, BoxError>(output.text)
    });
    Ok(S::update().text(made.await?))
}

/// The thread of a graph that calls its tool once.
pub(crate) fn thread(store: &SharedCheckpointer) -> Thread<S, SharedTool> {
    let graph = Graph::<S, SharedTool>::builder("job").node("run", run);
    let graph = graph.edge(START, "run").edge("run", END).build().unwrap();
    graph.checkpointer(store.clone()).thread(key())
}

pub(crate) fn key() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "t").unwrap()
}

pub(crate) fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// Takes the thread from a process that is gone.
pub(crate) async fn lost(store: &SharedCheckpointer) {
    Dying::at(store.clone(), 0, false).after_death(&key()).await.unwrap();
}

/// The end of a thread in which every question is answered by `answer`, each in a run of its own: the text, or `in doubt`.
pub(crate) async fn answered(
    store: &SharedCheckpointer,
    client: &McpClient,
    tool: &str,
    answer: &ElicitationAnswer,
) -> String {
    let tool = tool_of(client, tool);
    let mut outcome = thread(store).resume(tool.clone()).await;
    for _ in 0..9 {
        match outcome {
            Ok(Outcome::Done(state)) => return state.text,
            Ok(Outcome::InDoubt(_)) => return "in doubt".to_owned(),
            Ok(Outcome::Interrupted(open)) => {
                let id = open[0].id.clone();
                let answer = Decision::from(answer.clone());
                outcome = thread(store).answer(id, &answer, tool.clone()).await;
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => return hanok_core::Chain(&error).to_string(),
        }
    }
    panic!("no end")
}
