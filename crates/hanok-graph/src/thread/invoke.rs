//! Runs of a graph without a thread.

use std::sync::Arc;

use crate::{
    error::RunError,
    graph::definition::Graph,
    journal::journal::Journal,
    observe::{
        any::AnyState,
        event::{Event, EventKind, Mode, Modes},
        events::Events,
        sink::{Sink, end_of},
        trail::Trail,
    },
    outcome::Outcome,
    run::{
        run_state::RunState,
        time_limit::within_time,
        turn_start::{InputPlace, apply_input},
    },
    thread::options::RunOptions,
};
use hanok_checkpoint::{Life, ThreadLife};
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
        once(self, update, Arc::new(services), Sink::default()).await
    }

    /// Runs the graph once on `update` as [`invoke`](Graph::invoke) does, and streams its events. Nothing of
    /// it is stored, so no event has an id.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let mut events = graph.stream(Count::update(), ());
    /// while let Some(event) = events.next().await {
    ///     if let EventKind::Updates(update) = event.kind {
    ///         println!("{update:?}");
    ///     }
    /// }
    /// assert_eq!(events.outcome().await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    pub fn stream(&self, update: S::Update, services: C) -> Events<S> {
        self.streamed(Modes::ALL, update, services)
    }

    /// Runs the graph once on `update` and streams its events of these modes, as [`stream`](Graph::stream) does with all.
    pub fn stream_modes(
        &self,
        modes: impl IntoIterator<Item = Mode>,
        update: S::Update,
        services: C,
    ) -> Events<S> {
        self.streamed(Modes::of(modes), update, services)
    }

    fn streamed(&self, modes: Modes, update: S::Update, services: C) -> Events<S> {
        let (graph, services) = (self.clone(), Arc::new(services));
        let clock = self.0.runtime.clock.clone();
        let run = |trail: Arc<Trail>| async move {
            let sink = Sink::new(clock, trail, Vec::new());
            let ended = once(&graph, update, services, sink.clone()).await;
            sink.finish(&ended);
            ended
        };
        Events::new(&*self.0.runtime.spawner, modes, None, run)
    }
}

/// Runs a graph once and stores nothing.
pub(super) async fn once<S: State, C: Send + Sync + 'static>(
    graph: &Graph<S, C>,
    update: S::Update,
    services: Arc<C>,
    sink: Sink,
) -> Result<Outcome<S>, RunError> {
    let runtime = &graph.0.runtime;
    let run = RunId(runtime.ids.id());
    // Nobody else sees this thread; its name and its life only have to be its own.
    let thread = ThreadKey::new(Tenant::default(), &run.to_string())
        .map_err(|error| RunError::State(error.into()))?;
    let own = ThreadLife { thread, life: Life::new(run.0) };
    let options = RunOptions { sink, ..RunOptions::default() };
    let journal = Arc::new(Journal::nowhere(own, runtime.clone()));
    let scope = options.graph_run(&graph.0, run, services, journal, Spent::default());
    let schema = Default::default();
    let mut progress = RunState::beginning(graph.0.initial.clone(), Default::default(), schema);
    let (root, of) = (Namespace::root(), scope.env.journal.own());
    let (turn, now) = (Position::START, runtime.clock.now());
    let place = InputPlace { namespace: &root, of, turn, now };
    apply_input(&graph.0, &place, &mut progress, update.into())?;
    let shown = || EventKind::Values(AnyState::new(&graph.0.shown(&progress.state)));
    scope.env.sink.emit(|| Event::new(&root, 0, None, None, shown()));
    let span = graph.0.span(None);
    let ended = within_time(&scope, &mut progress, graph.0.budget).instrument(span).await;
    // Of one that is done the last commit has told it.
    if !matches!(ended, Ok(Outcome::Done(_))) {
        scope.emit(&progress, None, None, end_of(ended.as_ref(), scope.env.turn(), None));
    }
    ended
}
