//! Subgraphs: graphs as nodes, or called by nodes.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{Begin, Body, Epoch, RunEnd, RunFold};
use hanok_core::{
    AskError, BoxFuture, Call, Changes, Limit, Position, RequestId, RunId, Spent, TaskId,
};
use hanok_state::{State, StateUpdate};
use tracing::Instrument;

use crate::{
    error::RunError,
    graph::definition::Graph,
    journal::{
        append::ClaimAfter,
        children::{ChildState, Live},
    },
    node::{
        attempt::{Stop, TaskAttempt},
        context::Context,
        doubts::{OpenCall, Within, Work},
        run_context::RunContext,
    },
    observe::{
        any::AnyState,
        event::EventKind,
        graph_watch::{GraphCause, GraphWatch},
    },
    outcome::{Breakpoint, Outcome},
    run::{
        graph_run::GraphRun,
        initial_fields::{first_values, forget, with_input},
        on_heap::on_heap,
        parent_command::to_parent,
        rebase::{LogPlace, Migrated, migrated, warn_unknown},
        run_state::RunState,
        subgraph_place::Called,
        turn_start::{InputPlace, apply_input},
    },
    subgraph_error::{DEEPEST, SubgraphError},
};

/// The lifetime of a subgraph's state.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let call = Subgraph::new(inner, |_: &Count| Count::update(), |inner: &Count| Count::update().n(inner.n));
/// # let outer = Graph::<Count>::builder("outer").subgraph("call", call.persistence(Persistence::PerThread));
/// # let graph = outer.edge(START, "call").edge("call", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// // With `PerThread`, each turn counts on; with `PerCall`, each would count to 1.
/// thread.invoke(Count::update(), ()).await?;
/// assert_eq!(thread.invoke(Count::update(), ()).await?.done()?.n, 2);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// As long as the call. After a crash or an interrupt the call continues.
    #[default]
    PerCall,
    /// As long as the thread: the next call begins with the final state of this one. Each calling node has a state of its
    /// own, and so has each graph that it calls and each further call of one task.
    PerThread,
    /// No state is stored. After a crash the call begins anew, nobody can be asked in it, its breakpoints are passed, and
    /// [`Context::once`] is refused.
    None,
}

impl<C> Context<C> {
    /// Runs `graph` on `input`, from its initial state, as part of this task: [`Persistence::PerCall`].
    ///
    /// Its entries stand in the thread's own log, in a namespace of the call. A task that runs again after a crash
    /// continues the run that it began. Cancellation, limits and the observer are those of this run. The services may be
    /// shared ones: an `Arc`, as of [`Context::shared_services`].
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let call = move |state: Snapshot<Count>, cx: Context| {
    ///     let inner = inner.clone();
    ///     async move {
    ///         let outcome = cx.run(&inner, Count::update().n(state.n), ()).await?;
    ///         Ok::<_, BoxError>(Count::update().n(outcome.done()?.n * 10))
    ///     }
    /// };
    /// let outer = Graph::<Count>::builder("outer").node("call", call).edge(START, "call").edge("call", END).build()?;
    /// assert_eq!(outer.invoke(Count::update(), ()).await?.done()?.n, 10);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SubgraphError::Run`] when the subgraph could not go on; [`SubgraphError::Waiting`] when it asks a person.
    pub async fn run<S: State, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<S, D>,
        input: S::Update,
        services: impl Into<Arc<D>>,
    ) -> Result<Outcome<S>, SubgraphError> {
        self.run_as(Persistence::PerCall, graph, input, services).await
    }

    /// Runs `graph` as [`run`](Context::run) does, with the lifetime of its state in `persistence`.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let call = move |_: Snapshot<Count>, cx: Context| {
    ///     let inner = inner.clone();
    ///     async move {
    ///         // The inner graph counts on from turn to turn.
    ///         let outcome = cx.run_as(Persistence::PerThread, &inner, Count::update(), ()).await?;
    ///         Ok::<_, BoxError>(Count::update().n(outcome.done()?.n))
    ///     }
    /// };
    /// let outer = Graph::<Count>::builder("outer").node("call", call).edge(START, "call").edge("call", END).build()?;
    /// let thread = outer.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// assert_eq!(thread.invoke(Count::update(), ()).await?.done()?.n, 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Context::run), and [`SubgraphError::Busy`].
    pub async fn run_as<S: State, D: Send + Sync + 'static>(
        &self,
        persistence: Persistence,
        graph: &Graph<S, D>,
        input: S::Update,
        services: impl Into<Arc<D>>,
    ) -> Result<Outcome<S>, SubgraphError> {
        let call = SubgraphCall { persistence, ..SubgraphCall::new(graph, services.into()) };
        let (outcome, _) = call.boxed(self, input).await?;
        Ok(outcome)
    }

    /// Runs `graph` as [`run`](Context::run) does, as the run of this task that is named `name`.
    ///
    /// A task that runs again after a crash finds what it began by the name, and not by the order: so several graphs may run
    /// at once, and a task need not run the same ones again.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let both = move |_: Snapshot<Count>, cx: Context| {
    ///     let inner = inner.clone();
    ///     async move {
    ///         let seoul = cx.run_named("seoul", &inner, Count::update().n(1), ());
    ///         let busan = cx.run_named("busan", &inner, Count::update().n(4), ());
    ///         let (seoul, busan) = futures::join!(seoul, busan);
    ///         Ok::<_, BoxError>(Count::update().n(seoul?.done()?.n + busan?.done()?.n))
    ///     }
    /// };
    /// let outer = Graph::<Count>::builder("outer").node("both", both).edge(START, "both").edge("both", END).build()?;
    /// assert_eq!(outer.invoke(Count::update(), ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Context::run), and [`SubgraphError::Twice`] for a name under which this attempt of the task has run a graph.
    pub async fn run_named<S: State, D: Send + Sync + 'static>(
        &self,
        name: &str,
        graph: &Graph<S, D>,
        input: S::Update,
        services: impl Into<Arc<D>>,
    ) -> Result<Outcome<S>, SubgraphError> {
        let named = Called { name: Some(name.into()), call: None };
        let call = SubgraphCall { named, ..SubgraphCall::new(graph, services.into()) };
        let (outcome, _) = call.boxed(self, input).await?;
        Ok(outcome)
    }

    /// Refuses a result of what ran under `name` ([`run_named`](Context::run_named)) while it is in doubt: calls of it were announced,
    /// and nobody knows whether they were made. Ask where the future of the run was dropped, as by a time-out.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State, std::time::Duration};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let call = move |_: Snapshot<Count>, cx: Context| {
    ///     let inner = inner.clone();
    ///     async move {
    ///         let run = cx.run_named("count", &inner, Count::update(), ());
    ///         let Ok(outcome) = tokio::time::timeout(Duration::from_secs(1), run).await else {
    ///             cx.settled("count").await?;
    ///             return Ok(Count::update());
    ///         };
    ///         Ok::<_, BoxError>(Count::update().n(outcome?.done()?.n))
    ///     }
    /// };
    /// # let outer = Graph::<Count>::builder("outer").node("call", call).edge(START, "call").edge("call", END).build()?;
    /// # assert_eq!(outer.invoke(Count::update(), ()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SubgraphError::Waiting`] then: hand it on. The run ends [in doubt](Outcome::InDoubt), and the task goes on once a person has
    /// answered. [`SubgraphError::Run`] when the store does not say.
    pub async fn settled(&self, name: &str) -> Result<(), SubgraphError> {
        let scope = self.scope();
        scope.await_settled(name, scope.env.doubts.named(scope.id(), name)).await
    }

    /// [`settled`](Context::settled) for the graphs that ran within `call`, as those of a tool do ([`RunGraph`](crate::RunGraph)).
    ///
    /// # Errors
    ///
    /// As [`settled`](Context::settled).
    pub async fn settled_within(&self, call: &Call) -> Result<(), SubgraphError> {
        let scope = self.scope();
        scope.await_settled(call.key().as_str(), scope.env.doubts.within(call.key())).await
    }
}

impl TaskAttempt {
    /// Suspends the task where something is in doubt.
    async fn await_settled(&self, graph: &str, calls: Vec<OpenCall>) -> Result<(), SubgraphError> {
        let doubts = self.doubted(calls, Work::IsOver).await.map_err(|error| {
            SubgraphError::Run { graph: graph.to_owned(), source: Box::new(error.into()) }
        })?;
        let Some(first) = doubts.first() else { return Ok(()) };
        let waiting = AskError::Waiting(RequestId(first.id.0.clone()));
        self.log().waiting.extend(doubts);
        Err(SubgraphError::Waiting(waiting))
    }
}

/// The outcome of a subgraph, and its update of a shared state.
type Ran<S> = (Outcome<S>, Option<<S as State>::Update>);

/// One call of a subgraph.
pub(crate) struct SubgraphCall<'a, S: State, D> {
    pub(crate) graph: &'a Graph<S, D>,
    pub(crate) services: Arc<D>,
    pub(crate) persistence: Persistence,
    /// The caller's state, for a subgraph that shares it.
    pub(crate) base: Option<Arc<S>>,
    pub(crate) named: Called,
}

impl<'g, S: State, D> SubgraphCall<'g, S, D> {
    /// A call of `graph` that stores its state for its own time, and is told from others by its number.
    pub(crate) fn new(graph: &'g Graph<S, D>, services: Arc<D>) -> Self {
        let persistence = Persistence::PerCall;
        Self { graph, services, persistence, base: None, named: Called::default() }
    }
}

impl<S: State, D: Send + Sync + 'static> SubgraphCall<'_, S, D> {
    /// [`run`](SubgraphCall::run) on the heap. Graphs call each other sixteen deep: every second one is polled [apart](crate::run::deep).
    pub(crate) fn boxed<'a, C>(
        self,
        context: &Context<C>,
        input: S::Update,
    ) -> BoxFuture<'a, Result<Ran<S>, SubgraphError>>
    where
        Self: 'a,
    {
        // The caller's services are not the subgraph's.
        let context = Context::new(Arc::new(()), context.scope().clone());
        let within = context.scope().within.clone();
        let Some(within) = within.filter(|within| within.all().count() % 2 == 1) else {
            return Box::pin(self.run(context, input));
        };
        let Self { graph, services, persistence, base, named } = self;
        let graph = graph.clone();
        Box::pin(async move {
            let name = graph.name().to_owned();
            let run = async move {
                let graph = &graph;
                let call = SubgraphCall { graph, services, persistence, base, named };
                call.run(context, input).await
            };
            let ran = within.deep.beside(Box::pin(run)).await;
            ran.unwrap_or_else(|| {
                let source = Box::new(RunError::State("the task that ran it is over".into()));
                Err(SubgraphError::Run { graph: name, source })
            })
        })
    }

    /// Runs the subgraph; returns its outcome, and its update of a shared state.
    async fn run(self, context: Context, input: S::Update) -> Result<Ran<S>, SubgraphError> {
        let name = || self.graph.name().to_owned();
        let namespace = self.namespace(context.scope())?;
        if namespace.depth() > DEEPEST {
            return Err(SubgraphError::TooDeep { graph: name() });
        }
        let failed =
            |source: RunError| SubgraphError::Run { graph: name(), source: Box::new(source) };
        let outer = context.scope();
        let env = match self.persistence {
            Persistence::None => Arc::new(nowhere(&outer.env)),
            Persistence::PerCall | Persistence::PerThread => outer.env.clone(),
        };
        let Some(_busy) = env.journal.enter(&namespace) else {
            return Err(SubgraphError::Busy { graph: name() });
        };
        let called = self.named.clone();
        // The outermost one polls those that are deep within it.
        let deep = match &outer.within {
            Some(within) => within.deep.clone(),
            None => Arc::default(),
        };
        let is_outermost = outer.within.is_none();
        let within =
            Within { task: outer.id(), called, outer: outer.within.clone(), deep: deep.clone() };
        let scope = GraphRun {
            graph: self.graph.0.clone(),
            services: self.services.clone(),
            run: RunId(u128::from_be_bytes(*outer.id().as_bytes())),
            limit: env.limit.unwrap_or(self.graph.0.recursion_limit),
            activity: outer.activity.clone(),
            spoken: outer.spoken.clone(),
            held: outer.held.clone(),
            env,
            namespace,
            within: Some(Arc::new(within)),
        };
        let journal = &scope.env.journal;
        let mut watch =
            GraphWatch::begin(&scope.env.sink, &scope.namespace, self.graph.name(), || {
                GraphCause {
                    node: outer.task.node.clone(),
                    task: outer.id(),
                    call: self.named.call.clone(),
                }
            });
        let driven = self.driven(&scope, input, outer.id());
        let ended = match is_outermost {
            true => Box::pin(deep.around(driven)).await,
            false => driven.await,
        };
        if let Some(watch) = &mut watch {
            watch.ended(ended.as_ref().map(|(outcome, _)| outcome));
        }
        drop(watch);
        let (outcome, mut progress) = ended.map_err(failed)?;
        let stop = match outcome {
            Outcome::Done(state) => {
                if self.persistence == Persistence::PerThread {
                    let mut live = scope.live(&progress, true);
                    live.run.parent = Some(outer.id());
                    live.run.persistence = hanok_checkpoint::Persistence::PerThread;
                    journal.keep_child(scope.namespace.clone(), live);
                }
                if let Some(handed) = progress.frontier.handed.take() {
                    let added = progress.added.as_ref().map(StateUpdate::to_changes).transpose();
                    let added = added.map_err(|error| failed(RunError::State(error.into())))?;
                    // What the nodes of a shared state wrote is written before what they command.
                    outer.log().command = Some(to_parent(*handed).after(added.unwrap_or_default()));
                    return Err(SubgraphError::Commanded { graph: name() });
                }
                return Ok((Outcome::Done(state), progress.added));
            }
            Outcome::Interrupted(waiting) | Outcome::InDoubt(waiting) => {
                let requests = waiting.requests;
                let id = requests.first().map_or_else(|| "".into(), |first| first.id.0.clone());
                outer.log().waiting.extend(requests);
                return Err(SubgraphError::Waiting(AskError::Waiting(RequestId(id))));
            }
            Outcome::LimitReached { which, state } => {
                // A limit that ends the caller as well is none that it may answer.
                if outer.past_limits || matches!(which, Limit::Steps(_)) {
                    return Ok((Outcome::LimitReached { which, state }, None));
                }
                Stop::Limit(which)
            }
            Outcome::Breakpoint(Breakpoint { path, nodes, next, .. }) => {
                // Noted once, by the graph whose breakpoint it is: the next run passes it.
                if path == scope.namespace {
                    let end = scope.end(RunEnd::Breakpoint, "", Spent::default());
                    let _wait = scope.awaits_store();
                    let noted = journal.append(&path, Body::End(end)).await;
                    noted.map_err(|error| failed(error.into()))?;
                }
                Stop::Breakpoint(Breakpoint { path, nodes, next, state: () })
            }
            Outcome::Drained(_) => Stop::Drained,
            Outcome::Cancelled(_) | Outcome::Poisoned(_) => Stop::Cancelled,
        };
        outer.log().stopped = Some(stop);
        Err(SubgraphError::Stopped { graph: name() })
    }

    /// Begins or continues the subgraph, and runs it as far as it goes.
    async fn driven(
        &self,
        scope: &GraphRun<S, D>,
        input: S::Update,
        parent: TaskId,
    ) -> Result<(Outcome<S>, RunState<S>), RunError> {
        let journal = &scope.env.journal;
        if self.persistence == Persistence::PerThread {
            journal.call_child(&scope.namespace);
        }
        let wait = scope.awaits_store();
        let child = journal.take_child(&scope.namespace).await?;
        drop(wait);
        let mut progress = on_heap(self.begin(scope, child, input, parent)).await?;
        let span = self.graph.0.span(Some(journal.thread()));
        let outcome = scope.drive(&mut progress).instrument(span).await?;
        Ok((outcome, progress))
    }

    /// Continues the run that the same task began before, or begins one. If the state outlives the call, it begins on the
    /// state of the earlier call.
    async fn begin(
        &self,
        scope: &GraphRun<S, D>,
        child: Option<ChildState>,
        input: S::Update,
        parent: TaskId,
    ) -> Result<RunState<S>, RunError> {
        let child = match child {
            Some(ChildState::Stored(run)) if run.run.is_some() => {
                Some(self.stored(scope, *run).await?)
            }
            Some(ChildState::Live(live)) => Some(self.live(scope, *live).await?),
            _ => None,
        };
        let is_new = child.is_none();
        let (mut state, unknown, schema) = match child {
            Some((of, progress)) if of == Some(parent) => return Ok(progress),
            Some((_, progress)) => (progress.state, progress.unknown, progress.schema),
            None => {
                let state = self.base.as_ref().unwrap_or(&self.graph.0.initial);
                let schema = self.graph.0.initial.schema().to_stored();
                (state.clone(), Default::default(), schema.into())
            }
        };
        let mut first = match (&self.base, is_new) {
            (None, true) => first_values(&*self.graph.0.initial)?,
            (None, false) => forget(&*self.graph.0.initial, &mut state)?,
            (Some(_), _) => Changes::default(),
        };
        first.fill(&unknown);
        let begins = is_new && self.base.is_none();
        let declared = begins.then(|| Arc::clone(&schema));
        let mut progress = RunState::beginning(state, unknown, schema);
        let turn = match self.persistence {
            // Calls share the namespace, so the tasks of each are told apart by the task that makes it.
            Persistence::PerThread => hanok_checkpoint::turn_of(parent),
            Persistence::PerCall | Persistence::None => Position::START,
        };
        let now = scope.env.runtime.clock.now();
        let (namespace, of) = (&scope.namespace, scope.env.journal.identity());
        let place = InputPlace { namespace, of, turn, now };
        let written = apply_input(&scope.graph, &place, &mut progress, input.into())?;
        let input = with_input(first, written);
        progress.added = self.base.is_some().then(S::update);
        let begin = Begin {
            run: scope.run,
            epoch: Epoch::default(),
            parent: Some(parent),
            persistence: match self.persistence {
                Persistence::PerThread => hanok_checkpoint::Persistence::PerThread,
                Persistence::PerCall | Persistence::None => hanok_checkpoint::Persistence::PerCall,
            },
            shared: self.base.is_some(),
            input,
            frontier: Some(progress.frontier.clone()),
            schema: declared,
            graph: scope.graph.id(),
            takeovers: 0,
            tags: BTreeMap::new(),
        };
        let entry = (scope.namespace.clone(), Body::Begin(begin));
        let shown = scope.env.sink.is_on().then(|| scope.graph.shown(&progress.state));
        let tell = |at: Position| {
            if let Some(state) = shown {
                scope.emit(&progress, None, Some(at), EventKind::Values(AnyState::new(&state)));
            }
        };
        let _wait = scope.awaits_store();
        let at = scope.env.journal.append_then(now, vec![entry], ClaimAfter::Held, tell).await?;
        progress.at = at;
        Ok(progress)
    }

    /// Reads the subgraph's state from the log. A state in another schema is written anew in this build's.
    async fn stored(
        &self,
        scope: &GraphRun<S, D>,
        run: RunFold,
    ) -> Result<(Option<TaskId>, RunState<S>), RunError> {
        let parent = run.parent;
        let (journal, path) = (&scope.env.journal, &scope.namespace);
        let mut below = journal.take_below(path);
        let place = LogPlace { thread: journal.thread(), path };
        let read = self.graph.0.owns(place, &run);
        let read = read.and_then(|()| migrated(&*self.graph.0.initial, place, run, &mut below));
        journal.put_below(below);
        let Migrated { progress, entries, unknown } = read?;
        if !entries.is_empty() {
            let _wait = scope.awaits_store();
            journal.append_all(entries).await?;
        }
        if !unknown.is_empty() {
            warn_unknown(journal.thread(), path, &unknown);
            scope.emit(&progress, None, None, EventKind::UnknownFields { fields: unknown });
        }
        let at = journal.stored();
        Ok((parent, RunState { at, ..progress }))
    }

    /// Restores the state of an earlier call in this process.
    async fn live(
        &self,
        scope: &GraphRun<S, D>,
        live: Live,
    ) -> Result<(Option<TaskId>, RunState<S>), RunError> {
        let Some(state) = live.state.downcast_ref::<S>() else {
            // Another graph of the same name and node: its state is data to this one.
            let run = live.into_fold().ok_or_else(|| {
                RunError::State("the state of an earlier call cannot be read".into())
            })?;
            return self.stored(scope, run).await;
        };
        let state = Arc::new(state.clone());
        let mut progress = RunState::beginning(state, live.unknown, live.run.schema);
        progress.frontier = live.run.frontier;
        progress.since = live.run.since;
        progress.at = scope.env.journal.stored();
        Ok((live.run.parent, progress))
    }
}

/// The same run, with nothing kept.
fn nowhere(env: &RunContext) -> RunContext {
    RunContext {
        journal: Arc::new(env.journal.unkept()),
        parts: env.parts.clone(),
        retries: env.retries.load(std::sync::atomic::Ordering::SeqCst).into(),
        unsaved: env.unsaved || env.journal.is_kept(),
        account: Default::default(),
        readable: Default::default(),
        wrong: Default::default(),
    }
}
