//! Runs of a graph without a thread.

use std::sync::Arc;

use crate::{
    error::RunError,
    graph::definition::Graph,
    journal::journal::Journal,
    outcome::Outcome,
    run::{
        run_state::RunState,
        time_limit::within_time,
        turn_start::{InputPlace, apply_input},
    },
    thread::options::RunOptions,
};
use hanok_core::{Namespace, Position, RunId, Spent, Tenant, ThreadKey};
use hanok_state::State;
use tracing::Instrument;

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// Runs the graph once on `update`, from a default state, and stores nothing.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// assert_eq!(graph.invoke(Count::update().n(6), ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError`] when the run could not go on.
    pub async fn invoke(&self, update: S::Update, services: C) -> Result<Outcome<S>, RunError> {
        once(self, update, Arc::new(services)).await
    }
}

/// Runs a graph once and stores nothing.
pub(super) async fn once<S: State, C: Send + Sync + 'static>(
    graph: &Graph<S, C>,
    update: S::Update,
    services: Arc<C>,
) -> Result<Outcome<S>, RunError> {
    let runtime = &graph.0.runtime;
    let run = RunId(runtime.ids.id());
    // Nobody else sees this thread; its name only has to be its own.
    let thread = ThreadKey::new(Tenant::default(), &run.to_string())
        .map_err(|error| RunError::State(error.into()))?;
    let options = RunOptions::default();
    let journal = Arc::new(Journal::nowhere(thread, runtime.clone()));
    let scope = options.graph_run(&graph.0, run, services, journal, Spent::default());
    let schema = Default::default();
    let mut progress = RunState::beginning(graph.0.initial.clone(), Default::default(), schema);
    let (root, thread) = (Namespace::root(), scope.env.journal.thread());
    let (turn, now) = (Position::START, runtime.clock.now());
    let place = InputPlace { namespace: &root, thread, turn, now };
    apply_input(&graph.0, &place, &mut progress, update)?;
    let span = graph.0.span(None);
    within_time(&scope, &mut progress, graph.0.budget).instrument(span).await
}
