//! A graph that calls one tool once, on a store whose process dies.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hanok_checkpoint::{
    Append, AppendId, CheckpointError, Checkpointer, InMemoryCheckpointer, Log, SharedCheckpointer,
};
use hanok_core::{Tenant, ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, Doubt, END, Graph, Outcome, START, Snapshot, Thread};
use hanok_mcp::{ElicitationAnswer, McpClient};
use hanok_model::{SharedTool, Tool};
use hanok_state::State;
use hanok_testkit::{Layer, Layered};

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
    let head = store.head(&key()).await.unwrap();
    if let Some(head) = head.filter(|head| head.claim.is_some()) {
        let log = Log::new(store.clone(), key());
        log.release(&head, AppendId(u128::MAX), Timestamp(0)).await.unwrap();
    }
}

/// A store whose process dies at an append: before it is stored, or after it and before the answer.
#[derive(Clone)]
pub(crate) struct Dying {
    store: SharedCheckpointer,
    at: usize,
    is_stored: bool,
    appends: Arc<AtomicUsize>,
}

impl Dying {
    pub(crate) fn new(store: &SharedCheckpointer, at: usize, is_stored: bool) -> Self {
        Self { store: store.clone(), at, is_stored, appends: Arc::default() }
    }

    pub(crate) fn died(&self) -> bool {
        self.appends.load(Ordering::SeqCst) >= self.at
    }

    pub(crate) fn shared(&self) -> SharedCheckpointer {
        SharedCheckpointer::new(Layered(self.clone()))
    }
}

impl fmt::Debug for Dying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dying").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Layer for Dying {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let nth = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        if nth < self.at {
            return self.store.append(thread, append).await;
        }
        if nth == self.at && self.is_stored {
            self.store.append(thread, append).await?;
        }
        Err(CheckpointError::Unavailable { reason: "dead", source: "dead".into() })
    }
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
                outcome = thread(store).answer(id, answer, tool.clone()).await;
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => return hanok_core::Chain(&error).to_string(),
        }
    }
    panic!("no end")
}
