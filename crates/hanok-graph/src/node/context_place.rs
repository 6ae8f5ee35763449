//! Where a node's task stands: its thread, its run, its position, its names.

use std::collections::BTreeMap;

use hanok_core::{Namespace, Position, RunId, TaskId, ThreadKey};

use super::context::Context;
use crate::{
    ids::Digest,
    names::is_waiting,
    observe::graph_watch::{GraphCause, ParentWatch},
};

impl<C> Context<C> {
    /// The thread of the run, and so its tenant. A run that stores nothing has a name that is drawn for it.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Note { text: String }
    /// async fn name(_: Snapshot<Note>, context: Context) -> Result<NoteUpdate, std::io::Error> {
    ///     Ok(Note::update().text(context.thread().thread().to_owned()))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Note>::builder("note").node("name", name).edge(START, "name").edge("name", END).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// assert_eq!(thread.invoke(Note::update(), ()).await?.done()?.text, "t1");
    /// # Ok(()) }
    /// ```
    pub fn thread(&self) -> &ThreadKey {
        self.scope().env.journal.thread()
    }

    /// The run: one input, with what is due of it. A resume is another run; a subgraph runs in its caller's.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Position, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Note { run: String, user: String, at: u64 }
    /// async fn note(_: Snapshot<Note>, context: Context) -> Result<NoteUpdate, std::io::Error> {
    ///     let user = context.tags().get("user").cloned().unwrap_or_default();
    ///     Ok(Note::update().run(context.run_id().to_string()).user(user).at(context.position().0))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Note>::builder("note").node("note", note).edge(START, "note").edge("note", END).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let note = thread.tag("user", "ada")?.invoke(Note::update(), ()).await?.done()?;
    /// assert_eq!((note.user.as_str(), note.at), ("ada", 1));
    /// # assert!(!note.run.is_empty()); Ok(()) }
    /// ```
    pub fn run_id(&self) -> RunId {
        self.scope().env.run
    }

    /// The [tags](crate::Thread::tag) of the run.
    pub fn tags(&self) -> &BTreeMap<String, String> {
        &self.scope().env.tags
    }

    /// The position in the thread's log at which its state is the one that the node reads, for a link to it or a
    /// [fork](crate::Thread::fork). A resume may name a later one of the same state. Where nothing is stored before the run is
    /// over ([`Durability::Exit`](crate::Durability::Exit)), it is the one at which the run began; where nothing is stored at all,
    /// [`Position::START`].
    pub fn position(&self) -> Position {
        let from = self.scope().from;
        if is_waiting(from) { self.scope().env.journal.stored() } else { from }
    }

    /// The watch of what the thread `key` does for this node.
    pub(crate) fn parent_watch(&self, key: &ThreadKey) -> Option<ParentWatch> {
        let scope = self.scope();
        if !scope.env.sink.is_on() {
            return None;
        }
        let content = Digest::new("thread").part(key.tenant().as_str().as_bytes());
        let digest = content.part(key.thread().as_bytes()).hex();
        let short = digest.get(..16).unwrap_or(&digest);
        let path = scope.task.namespace.child(&format!("{}@{short}", scope.task.node)).ok()?;
        let cause = GraphCause { node: scope.task.node.clone(), task: scope.id(), call: None };
        ParentWatch::new(&scope.env.sink, path, cause)
    }

    /// The node's name.
    pub fn node(&self) -> &str {
        &self.scope().task.node
    }

    /// The namespace of the node's graph: the thread's own (the root), or a subgraph's.
    pub fn namespace(&self) -> &Namespace {
        &self.scope().task.namespace
    }

    /// The id of the task: the same in every retry and resume.
    pub fn task(&self) -> TaskId {
        self.scope().id()
    }

    /// The number of the attempt of the task in this run, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.scope().attempt
    }

    /// The number of the super-step, counted from 0 in its turn.
    pub fn step_number(&self) -> u32 {
        self.scope().task.step
    }
}
