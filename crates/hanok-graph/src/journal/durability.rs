//! Durability: the point at which a run's work is safe from a crash.

use serde::{Deserialize, Serialize};

/// The point at which a run's work is safe from a crash. Whatever is lost, a thread resumes from a committed super-step:
/// none is ever stored in part.
///
/// In all three modes, some entries make everything before them safe and wait for it: the beginning and the end of a run,
/// questions to people and their answers, and every call that must not or should not be repeated ([`Context::once`],
/// [`Context::barrier`]). A position leaves the process only when it is safe, so recorded events wait for that.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// // Cheap steps between calls that must not be repeated: one append for all of them.
/// let thread = thread.durability(Durability::Exit);
/// thread.invoke(Count::update(), ()).await?.done()?;
/// # Ok(()) }
/// ```
///
/// [`Context::once`]: crate::Context::once
/// [`Context::barrier`]: crate::Context::barrier
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Before the next super-step starts. A crash loses the work of the tasks that were running, and no more.
    #[default]
    Sync,
    /// Soon, through a bounded queue, with several super-steps in one append. A crash loses the queue: the last
    /// super-steps, which run again.
    Async,
    /// At the end of the run, with all its super-steps in one append. A crash loses the run since its beginning or its
    /// last barrier, and that part runs again.
    Exit,
}
