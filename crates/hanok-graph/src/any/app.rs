//! A graph of whatever type with its threads.

use std::{fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{AppendId, Checkpoint, Log, OpenLog, Select, SharedCheckpointer};
use hanok_core::{BoxError, BoxFuture, Position, RunId, ThreadKey};
use hanok_state::State;
use serde_json::Value;

use crate::{
    any::{
        caller::Caller,
        input::{AnyInput, RunSettings},
    },
    error::RunError,
    graph::structure::GraphStructure,
    observe::{
        any::{AnyState, AnyUpdate},
        event::{EventId, EventPlace, Mode},
        events::Events,
    },
    outcome::Outcome,
    run::answer::NewAnswer,
    thread::{
        answer::answer,
        app::{App, Shutdown},
        edit::GraphView,
        find_run::FoundRun,
        follow::Follow,
        handle::Thread,
        input::Input,
        replay::Replay,
        restart::Restarted,
    },
};

/// A graph of whatever type, with a store for its threads: an [`App`] behind JSON, for whoever holds several.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_graph::*, std::sync::Arc};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// let app = graph.checkpointer(InMemoryCheckpointer::new());
/// let apps: Vec<Arc<dyn AnyApp>> = vec![Arc::new(app.any(|_caller| Ok(())))];
///
/// let thread = apps[0].thread(&Caller::default(), "alice")?;
/// let input = serde_json::from_value(serde_json::json!({"new": {"n": 6}}))?;
/// let state = thread.run(input, RunSettings::default()).await?.done()?;
/// assert_eq!(state.to_json()?, serde_json::json!({"n": 7}));
/// # Ok(()) }
/// ```
pub trait AnyApp: fmt::Debug + Send + Sync + 'static {
    /// The name of the graph.
    fn name(&self) -> &str;

    /// Nodes, edges and fields of the graph.
    fn structure(&self) -> GraphStructure;

    /// The JSON schemas of the graph, as far as they are known.
    fn schemas(&self) -> &Schemas;

    /// The store.
    fn store(&self) -> &SharedCheckpointer;

    /// The number of threads that run now, through this app.
    fn running(&self) -> usize;

    /// As [`App::shutdown`].
    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, Shutdown>;

    /// The thread that `caller` calls `name`: one of its tenant's.
    ///
    /// # Errors
    ///
    /// [`RunError::Name`] for a text that is no name of a thread.
    fn thread(&self, caller: &Caller, name: &str) -> Result<Box<dyn AnyThread>, RunError>;
}

/// One thread of an [`AnyApp`], for one caller. A question is answered in the caller's name. Whatever writes asks the app's function
/// whether the caller is given services, and is refused without ([`RunError::NotAdmitted`]); reading does not.
///
/// A state that comes back shows what the graph shows, and is JSON by [`AnyState::to_json`]. What is refused is refused as the typed
/// call of the same name does: each error has a [code](RunError::code) and a [status](RunError::status).
pub trait AnyThread: Send + Sync {
    /// The thread's name.
    fn key(&self) -> &ThreadKey;

    /// Runs the thread, as [`Thread::run`].
    ///
    /// # Errors
    ///
    /// [`RunError::Json`] for JSON that does not fit the state, with all faults; those of [`Thread::run`].
    fn run(&self, input: AnyInput, settings: RunSettings) -> ThreadFuture<Outcome<AnyState>>;

    /// Runs the thread, observed, as [`Thread::try_stream`].
    ///
    /// # Errors
    ///
    /// As [`run`](AnyThread::run).
    fn stream(&self, input: AnyInput, settings: RunSettings) -> ThreadFuture<Events<AnyState>>;

    /// Follows the thread, as [`Thread::follow`]. Without `modes` all events are shown.
    fn follow(&self, after: Option<EventPlace>, modes: Option<&[Mode]>) -> Follow;

    /// Reads recorded events, as [`Thread::replay`].
    ///
    /// # Errors
    ///
    /// Those of [`Thread::replay`].
    fn replay(
        &self,
        after: Option<EventId>,
        modes: Option<&[Mode]>,
    ) -> ThreadFuture<Option<Replay>>;

    /// The state at `at` (`None`: now), as [`Thread::state`]; with its JSON as the graph shows it.
    ///
    /// # Errors
    ///
    /// Those of [`Thread::state`].
    fn state(&self, at: Option<Position>) -> ThreadFuture<Option<AnyState>>;

    /// The graphs of the thread, what is due in each and what it asks, as [`Thread::views`].
    ///
    /// # Errors
    ///
    /// Those of [`Thread::views`].
    fn views(&self, at: Option<Position>) -> ThreadFuture<Vec<GraphView>>;

    /// The [`state`](AnyThread::state) and the [`views`](AnyThread::views) at the position up to which the log was read. Whoever
    /// wants those of many positions opens the log at one, and applies the entries behind it to its fold.
    ///
    /// # Errors
    ///
    /// Those of [`Thread::state`].
    fn read(&self, opened: OpenLog) -> ThreadFuture<(Option<AnyState>, Vec<GraphView>)>;

    /// The checkpoints that `select` asks for, as [`Log::checkpoints`].
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read.
    fn checkpoints(&self, select: Select) -> ThreadFuture<Vec<Checkpoint>>;

    /// Finds a run by its id, as [`Thread::find_run`].
    ///
    /// # Errors
    ///
    /// Those of [`Thread::find_run`].
    fn find_run(&self, run: RunId, since: Position) -> ThreadFuture<Option<FoundRun>>;

    /// Edits the state between runs: as [`Thread::edit`], or in the place of a node as [`Thread::edit_as`]; at an earlier position
    /// as [`Thread::at`] says, or where the thread is.
    ///
    /// # Errors
    ///
    /// [`RunError::Json`] for JSON that does not fit the state; those of the typed calls.
    fn edit(
        &self,
        update: AnyUpdate,
        place: EditPlace,
        at: Option<Position>,
    ) -> ThreadFuture<Position>;

    /// Goes back, as [`Thread::rewind`].
    ///
    /// # Errors
    ///
    /// Those of [`Thread::rewind`].
    fn rewind(&self, to: Position) -> ThreadFuture<Restarted>;

    /// Takes back the newest turn, if it is that of `run`, as [`Thread::roll_back`].
    ///
    /// # Errors
    ///
    /// Those of [`Thread::roll_back`].
    fn roll_back(&self, run: RunId, since: Position) -> ThreadFuture<bool>;

    /// Begins the tenant's thread `to` with the state at `at`, as [`Thread::fork`].
    ///
    /// # Errors
    ///
    /// [`RunError::Name`] for a text that is no name of a thread; those of [`Thread::fork`].
    fn fork(&self, at: Option<Position>, to: &str) -> ThreadFuture<Restarted>;

    /// Stores answers and starts nothing, as [`answer`](crate::answer()).
    ///
    /// # Errors
    ///
    /// Those of [`answer`](crate::answer()).
    fn answer(&self, answers: Vec<NewAnswer>) -> ThreadFuture<Position>;

    /// Cancels the run that the thread has, as [`Thread::cancel`]; if it is named, only the run of this id
    /// behind this position.
    ///
    /// # Errors
    ///
    /// Those of [`Thread::cancel`].
    fn cancel(&self, run: Option<(RunId, Position)>) -> ThreadFuture<bool>;

    /// Checks whether the run that owns the thread is lost, as [`App::is_lost`].
    ///
    /// # Errors
    ///
    /// Those of [`App::is_lost`].
    fn is_lost(&self) -> ThreadFuture<bool>;

    /// Deletes the thread, as [`Thread::delete`].
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the store fails.
    fn delete(&self) -> ThreadFuture<bool>;

    /// The thread's log.
    fn log(&self) -> Log;
}

/// What a call of an [`AnyThread`] becomes.
pub type ThreadFuture<T> = BoxFuture<'static, Result<T, RunError>>;

/// In whose place a state is edited.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditPlace {
    /// In nobody's: what is due stays due.
    Nobody,
    /// In that of the node that wrote last.
    LastNode,
    /// In that of this node.
    Node(String),
}

/// The JSON schemas of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Schemas {
    /// The schema of an input.
    pub input: Option<Value>,
    /// The schema of the state that a run returns.
    pub output: Option<Value>,
}

/// An [`App`] as an [`AnyApp`]: [`App::any`].
pub struct ServedApp<S: State, C> {
    app: App<S, C>,
    services: Arc<Services<C>>,
    schemas: Schemas,
}

type Services<C> = dyn Fn(&Caller) -> Result<C, BoxError> + Send + Sync;

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    /// The app behind JSON. `services` makes the services of each run for its caller; an error in words refuses the run.
    pub fn any(
        &self,
        services: impl Fn(&Caller) -> Result<C, BoxError> + Send + Sync + 'static,
    ) -> ServedApp<S, C> {
        let (app, services) = (self.clone(), Arc::new(services));
        ServedApp { app, services, schemas: Schemas::default() }
    }
}

#[cfg(feature = "schema")]
impl<S: State + schemars::JsonSchema, C: Send + Sync + 'static> ServedApp<S, C> {
    /// Tells the JSON schemas of the state. Default: they are not known.
    #[must_use]
    pub fn described(self) -> Self {
        let graph = self.app.graph();
        let schemas =
            Schemas { input: Some(graph.input_schema()), output: Some(graph.output_schema()) };
        Self { schemas, ..self }
    }
}

impl<S: State, C: Send + Sync + 'static> AnyApp for ServedApp<S, C> {
    fn name(&self) -> &str {
        self.app.graph().name()
    }

    fn structure(&self) -> GraphStructure {
        self.app.graph().structure()
    }

    fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    fn store(&self) -> &SharedCheckpointer {
        self.app.store()
    }

    fn running(&self) -> usize {
        self.app.running()
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'_, Shutdown> {
        Box::pin(self.app.shutdown(grace))
    }

    fn thread(&self, caller: &Caller, name: &str) -> Result<Box<dyn AnyThread>, RunError> {
        let thread = self.app.thread(caller.thread(name)?);
        let thread = match &caller.principal {
            Some(principal) => thread.answering_as(principal.clone()),
            None => thread,
        };
        let (caller, services) = (caller.clone(), self.services.clone());
        Ok(Box::new(ServedThread { thread, caller, services }))
    }
}

impl<S: State, C> fmt::Debug for ServedApp<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedApp").field("app", &self.app).finish_non_exhaustive()
    }
}

struct ServedThread<S: State, C> {
    thread: Thread<S, C>,
    caller: Caller,
    services: Arc<Services<C>>,
}

impl<S: State, C: Send + Sync + 'static> ServedThread<S, C> {
    fn initial(&self) -> &S {
        &self.thread.app().graph().0.initial
    }

    /// The services of the caller, which is refused without.
    fn admitted(&self) -> Result<C, RunError> {
        (self.services)(&self.caller).map_err(RunError::NotAdmitted)
    }

    /// The thread for a caller who writes to it.
    fn written(&self) -> Result<Thread<S, C>, RunError> {
        self.admitted().map(|_| self.thread.clone())
    }

    fn prepare(&self, input: AnyInput, settings: &RunSettings) -> Result<Run<S, C>, RunError> {
        let services = self.admitted()?;
        let thread = settings.apply(self.thread.clone())?;
        Ok(Run { thread, input: input.read(self.initial())?, services })
    }

    fn showing(&self, modes: Option<&[Mode]>) -> Thread<S, C> {
        let thread = self.thread.clone();
        match modes {
            Some(modes) => thread.modes(modes.iter().copied()),
            None => thread,
        }
    }
}

/// The handle of a run, its input and its services.
struct Run<S: State, C> {
    thread: Thread<S, C>,
    input: Input<S>,
    services: C,
}

/// What `call` makes of the thread, or the error that keeps it from being made.
fn later<T, F>(call: Result<F, RunError>) -> ThreadFuture<T>
where
    F: Future<Output = Result<T, RunError>> + Send + 'static,
{
    Box::pin(async move { call?.await })
}

impl<S: State, C: Send + Sync + 'static> AnyThread for ServedThread<S, C> {
    fn key(&self) -> &ThreadKey {
        self.thread.key()
    }

    fn run(&self, input: AnyInput, settings: RunSettings) -> ThreadFuture<Outcome<AnyState>> {
        let prepared = self.prepare(input, &settings);
        later(prepared.map(|Run { thread, input, services }| async move {
            let shows = thread.app().graph().0.clone();
            let outcome = thread.run(input, services).await?;
            Ok(outcome.map(|state| AnyState::shown(state, &shows)))
        }))
    }

    fn stream(&self, input: AnyInput, settings: RunSettings) -> ThreadFuture<Events<AnyState>> {
        let prepared = self.prepare(input, &settings);
        later(prepared.map(|Run { thread, input, services }| async move {
            let shows = thread.app().graph().0.clone();
            let events = thread.try_stream(input, services).await?;
            let events = events.map_state(move |state| AnyState::shown(state, &shows));
            Ok(if settings.drops_with_reader { events.drop_with_reader() } else { events })
        }))
    }

    fn follow(&self, after: Option<EventPlace>, modes: Option<&[Mode]>) -> Follow {
        self.showing(modes).follow(after)
    }

    fn replay(
        &self,
        after: Option<EventId>,
        modes: Option<&[Mode]>,
    ) -> ThreadFuture<Option<Replay>> {
        let thread = self.showing(modes);
        Box::pin(async move { thread.replay(after).await })
    }

    fn state(&self, at: Option<Position>) -> ThreadFuture<Option<AnyState>> {
        let thread = self.thread.clone();
        Box::pin(async move {
            let shows = thread.app().graph().0.clone();
            Ok(thread.state(at).await?.map(|state| AnyState::shown(state, &shows)))
        })
    }

    fn views(&self, at: Option<Position>) -> ThreadFuture<Vec<GraphView>> {
        let thread = self.thread.clone();
        Box::pin(async move { thread.views(at).await })
    }

    fn read(&self, opened: OpenLog) -> ThreadFuture<(Option<AnyState>, Vec<GraphView>)> {
        let thread = self.thread.clone();
        Box::pin(async move {
            let state = thread.state_of(opened.fold.clone())?;
            let state = state.map(|state| AnyState::shown(state, &thread.app().graph().0));
            Ok((state, thread.views_of(opened).await?))
        })
    }

    fn checkpoints(&self, select: Select) -> ThreadFuture<Vec<Checkpoint>> {
        let log = self.thread.log();
        Box::pin(async move { log.checkpoints(select).await.map_err(RunError::Checkpoint) })
    }

    fn find_run(&self, run: RunId, since: Position) -> ThreadFuture<Option<FoundRun>> {
        let thread = self.thread.clone();
        Box::pin(async move { thread.find_run(run, since).await })
    }

    fn edit(
        &self,
        update: AnyUpdate,
        place: EditPlace,
        at: Option<Position>,
    ) -> ThreadFuture<Position> {
        let edit = self.written().and_then(|thread| Ok((thread, update.read(self.initial())?)));
        later(edit.map(|(thread, update)| async move {
            let thread = at.map_or(thread.clone(), |at| thread.at(at));
            match &place {
                EditPlace::Nobody => thread.edit(update).await,
                EditPlace::LastNode => thread.edit_as(None, update).await,
                EditPlace::Node(node) => thread.edit_as(Some(node), update).await,
            }
        }))
    }

    fn rewind(&self, to: Position) -> ThreadFuture<Restarted> {
        later(self.written().map(|thread| async move { thread.rewind(to).await }))
    }

    fn roll_back(&self, run: RunId, since: Position) -> ThreadFuture<bool> {
        later(self.written().map(|thread| async move { thread.roll_back(run, since).await }))
    }

    fn fork(&self, at: Option<Position>, to: &str) -> ThreadFuture<Restarted> {
        let fork = self.written().and_then(|thread| Ok((thread, self.caller.thread(to)?)));
        later(fork.map(|(thread, to)| async move { thread.fork(at, &to).await }))
    }

    fn answer(&self, answers: Vec<NewAnswer>) -> ThreadFuture<Position> {
        let by = self.caller.principal.clone();
        later(self.written().map(|thread| async move {
            let runtime = thread.app().runtime();
            let (id, now) = (AppendId(runtime.ids.id()), runtime.clock.now());
            answer(&thread.log(), answers, by.as_ref(), id, now).await
        }))
    }

    fn cancel(&self, run: Option<(RunId, Position)>) -> ThreadFuture<bool> {
        later(self.written().map(|thread| async move {
            let named = run.map(|(run, since)| thread.clone().run_id(run, since));
            named.unwrap_or(thread).cancel().await
        }))
    }

    fn is_lost(&self) -> ThreadFuture<bool> {
        let thread = self.thread.clone();
        Box::pin(
            async move { thread.app().is_lost(thread.key()).await.map_err(RunError::Checkpoint) },
        )
    }

    fn delete(&self) -> ThreadFuture<bool> {
        later(
            self.written()
                .map(|thread| async move { thread.delete().await.map_err(RunError::Checkpoint) }),
        )
    }

    fn log(&self) -> Log {
        self.thread.log()
    }
}
