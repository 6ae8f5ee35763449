//! Processes of a world, whatever the types of their graphs are.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use futures::StreamExt;
use hanok_checkpoint::{AppendId, Forks, SharedCheckpointer};
use hanok_core::{BoxError, BoxFuture, Cancellation, Position, StoredError, ThreadKey};
use hanok_graph::{App, Durability, Event, Graph, Input, NewInput, Outcome, RunError, Thread};
use hanok_state::{State, StateUpdate};

use crate::{
    client::{Action, Ended, Heard, Reply},
    world::World,
};

/// Starts a process of a build: on a store, at a durability.
pub(crate) type Build = Arc<
    dyn Fn(&World, SharedCheckpointer, Durability) -> Result<Box<dyn Service>, BoxError>
        + Send
        + Sync,
>;

/// Builds a graph for each process, with the services of its nodes.
pub(crate) type GraphOf<S, C> =
    Arc<dyn Fn(&World) -> Result<(Graph<S, C>, C), BoxError> + Send + Sync>;

/// Changes a handle of a thread.
pub(crate) type Handle<S, C> = Arc<dyn Fn(Thread<S, C>) -> Thread<S, C> + Send + Sync>;

/// The services of a process for its callers.
pub(crate) trait Service: Send + Sync {
    /// Makes a call.
    fn call(&self, call: ThreadCall) -> BoxFuture<'static, ()>;

    /// The number of runs under way.
    fn running(&self) -> usize;

    /// The recorded events of a thread.
    fn events(&self, thread: &ThreadKey) -> BoxFuture<'static, Result<Vec<Event>, RunError>>;
}

/// One call of a thread.
pub(crate) struct ThreadCall {
    pub(crate) thread: ThreadKey,
    pub(crate) action: Action,
    pub(crate) new_input: NewInput,
    pub(crate) cancel: Cancellation,
    pub(crate) drain: Cancellation,
    /// The time that the caller lets events wait before it reads them; `None` for one who reads none.
    pub(crate) lag: Option<Duration>,
    pub(crate) heard: Heard,
}

/// The processes that `graph` and `handle` make.
pub(crate) fn build<S: State, C: Clone + Send + Sync + 'static>(
    graph: GraphOf<S, C>,
    handle: Handle<S, C>,
) -> Build {
    Arc::new(move |world, store, durability| {
        let (graph, services) = graph(world)?;
        let app = graph.checkpointer(store).durable(durability);
        let (world, handle) = (world.clone(), Arc::clone(&handle));
        Ok(Box::new(Built { app, services, handle, world, state: PhantomData }))
    })
}

struct Built<S: State, C> {
    app: App<S, C>,
    services: C,
    handle: Handle<S, C>,
    world: World,
    state: PhantomData<S>,
}

impl<S: State, C: Clone + Send + Sync + 'static> Service for Built<S, C> {
    fn call(&self, call: ThreadCall) -> BoxFuture<'static, ()> {
        let ThreadCall { thread, action, new_input, cancel, drain, lag, heard } = call;
        let handle = self.app.thread(thread).takeover_limit(u32::MAX);
        let handle = (self.handle)(handle.new_input(new_input));
        let handle = handle.cancellation(cancel).drain(drain);
        let caller = Caller { handle, services: self.services.clone(), world: self.world.clone() };
        Box::pin(async move {
            let reply = caller.act(action, lag, &heard).await;
            heard.reply(reply);
        })
    }

    fn running(&self) -> usize {
        self.app.running()
    }

    fn events(&self, thread: &ThreadKey) -> BoxFuture<'static, Result<Vec<Event>, RunError>> {
        let handle = self.app.thread(thread.clone());
        Box::pin(async move { handle.events(None).await })
    }
}

struct Caller<S: State, C> {
    handle: Thread<S, C>,
    services: C,
    world: World,
}

impl<S: State, C: Send + Sync + 'static> Caller<S, C> {
    async fn act(self, action: Action, lag: Option<Duration>, heard: &Heard) -> Reply {
        let (thread, runtime) = (&self.handle, self.world.runtime());
        match action {
            Action::Input(changes, name) => {
                let input = Input::New(S::Update::from_changes(&changes).map_err(unread)?);
                let Self { handle, services, world } = self;
                let handle = match name {
                    Some(run) => handle.run_id(run, Position::START),
                    None => handle,
                };
                Self { handle, services, world }.run(input, lag, heard).await.map(Some)
            }
            Action::Resume => self.run(Input::Resume, lag, heard).await.map(Some),
            Action::Answers(answers) => {
                self.run(Input::Answers(answers), lag, heard).await.map(Some)
            }
            Action::Rewind(to) => thread.rewind(to).await.map(|_| None),
            Action::Edit(changes) => {
                let update = S::Update::from_changes(&changes).map_err(unread)?;
                thread.edit(update).await.map(|_| None)
            }
            Action::Erase(changes) => {
                let update = S::Update::from_changes(&changes).map_err(unread)?;
                thread.erase(update, "a person", Forks::default()).await.map(|_| None)
            }
            Action::Fork(to) => thread.fork(None, &to).await.map(|_| None),
            Action::Copy(to) => {
                let id = AppendId(runtime.ids.id());
                let copied = thread.log().copy(&to, id, runtime.clock.now()).await;
                copied.map(|()| None).map_err(RunError::Checkpoint)
            }
            Action::Prune(keep) => {
                let pruned = thread.log().prune(keep).await;
                pruned.map(|_| None).map_err(RunError::Checkpoint)
            }
            Action::Delete => thread.delete().await.map(|_| None).map_err(RunError::Checkpoint),
        }
    }

    async fn run(
        self,
        input: Input<S>,
        lag: Option<Duration>,
        heard: &Heard,
    ) -> Result<Ended, RunError> {
        let Self { handle, services, world } = self;
        let Some(lag) = lag else { return handle.run(input, services).await.map(ended) };
        // Who drops the call drops its run.
        let mut events = handle.stream(input, services).drop_with_reader();
        if !lag.is_zero() {
            world.runtime().clock.sleep(lag).await;
        }
        while let Some(event) = events.next().await {
            heard.event(event);
        }
        events.outcome().await.map(ended)
    }
}

/// Changes that are no update of the build that runs.
fn unread(error: StoredError) -> RunError {
    RunError::Input { field: error.to_string(), allowed: Vec::new() }
}

fn ended<S>(outcome: Outcome<S>) -> Ended {
    let (name, requests) = match outcome {
        Outcome::Done(_) => ("done", Vec::new()),
        Outcome::Interrupted(waiting) => ("interrupted", waiting.requests),
        Outcome::Breakpoint(_) => ("breakpoint", Vec::new()),
        Outcome::InDoubt(waiting) => ("in doubt", waiting.requests),
        Outcome::LimitReached { .. } => ("limit", Vec::new()),
        Outcome::Poisoned(_) => ("poisoned", Vec::new()),
        Outcome::Cancelled(_) => ("cancelled", Vec::new()),
        Outcome::Drained(_) => ("drained", Vec::new()),
        _ => ("another", Vec::new()),
    };
    Ended { name, requests }
}
