//! How a run begins and ends: reading the thread, taking it, and giving it back.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_checkpoint::{
    Answer, Begin, Body, CheckpointError, Checkpointer, Claim, Epoch, LEASE, Log, OpenLog,
    Persistence, RunFold,
};
use hanok_core::{
    Cancellation, Changes, Meter, Namespace, Position, RequestId, RunId, Spawned, Stored, Tenant,
    ThreadKey,
};
use hanok_state::{State, StateUpdate};

use crate::{
    AnyState, App, EventKind, Graph, Outcome, Pending, RunError,
    drive::{Progress, Scope, pending, schema, state_error},
    event::Sink,
    journal::{Journal, Keep},
    task,
    thread::Input,
};

/// Runs a graph once and keeps nothing.
pub(crate) async fn once<S: State, C: Send + Sync + 'static>(
    graph: &Graph<S, C>,
    update: S::Update,
    services: C,
) -> Result<Outcome<S>, RunError> {
    let runtime = graph.0.runtime.clone();
    let run = RunId(runtime.ids.id());
    // Nobody else sees this thread; its name only has to be its own.
    let thread = ThreadKey::new(Tenant::default(), &run.to_string())
        .map_err(|error| RunError::State(error.into()))?;
    let journal = Arc::new(Journal::nowhere(thread, runtime.clone()));
    let scope = Scope {
        graph: graph.0.clone(),
        services: Arc::new(services),
        journal,
        namespace: Namespace::root(),
        run,
        runtime,
        cancellation: Cancellation::default(),
        sink: Sink::default(),
        total: Meter::default(),
        limit: graph.0.recursion_limit,
    };
    let mut progress = Progress::beginning(S::default(), Default::default());
    apply_input(&scope, &mut progress, update, Position::START)?;
    scope.drive(&mut progress).await
}

/// Applies an input: completes it, merges it and says what is due first. Returns what it writes, as stored.
pub(crate) fn apply_input<S: State, C: Send + Sync + 'static>(
    scope: &Scope<S, C>,
    progress: &mut Progress<S>,
    mut update: S::Update,
    at: Position,
) -> Result<Changes, RunError> {
    let namespace = scope.namespace.clone();
    let id = crate::ids::task(scope.journal.thread(), &namespace, at, 0, crate::START, 0);
    task::complete(&mut update, id);
    let mut changes = update.to_changes().map_err(state_error)?;
    let state = Arc::make_mut(&mut progress.state);
    let resolved = task::merge(state, vec![(crate::START.into(), update)])
        .map_err(|refused| refused.of_run(0, &namespace))?;
    changes.0.retain(|(field, _)| resolved.get(field).is_none());
    changes.0.extend(resolved.0);
    progress.frontier = scope.graph.first(&progress.state).map_err(|source| RunError::Node {
        node: crate::START.into(),
        step: 0,
        namespace,
        source,
    })?;
    (progress.turn, progress.at) = (at, at);
    Ok(changes)
}

/// One way of the thread's run to begin.
enum Way<U> {
    /// A new turn.
    New(U),
    /// What is due goes on, with an answer if there is one.
    On(Option<(Namespace, RequestId, Stored)>),
}

/// Runs a thread: finishes a broken turn first, then does what `input` says.
pub(crate) async fn run<S: State, C: Send + Sync + 'static>(
    app: App<S, C>,
    thread: ThreadKey,
    input: Input<S>,
    services: Arc<C>,
    options: Options,
) -> Result<Outcome<S>, RunError> {
    let _active = app.enter(&thread)?;
    let log = Log::new(app.store().clone(), thread);
    let mut opened = open(&app, &log).await?;
    let open_questions = questions(opened.as_ref());
    let broken = root(opened.as_ref()).is_some_and(|run| run.open);
    match input {
        Input::New(update) => {
            if broken {
                let finished =
                    turn(&app, &log, opened, Way::On(None), services.clone(), &options).await?;
                match finished {
                    Outcome::Interrupted(requests) => return Err(waiting(&log, requests)),
                    Outcome::Cancelled => return Ok(Outcome::Cancelled),
                    Outcome::Done(_) | Outcome::LimitReached { .. } => {}
                }
                opened = open(&app, &log).await?;
            } else if !open_questions.is_empty() {
                return Err(waiting(&log, open_questions.into_iter().map(|(_, q)| q).collect()));
            }
            turn(&app, &log, opened, Way::New(update), services, &options).await
        }
        Input::Resume => {
            let Some(opened) = opened else {
                return Err(RunError::NoSuchThread(log.thread().clone()));
            };
            let done = opened.fold.run(&Namespace::root()).is_none_or(|r| r.frontier.is_done());
            if !broken && done {
                let mut fold = opened.fold;
                let run = fold.runs.remove(&Namespace::root()).unwrap_or_default();
                let progress = Progress::<S>::of(upgraded::<S>(run)?.0)?;
                return Ok(Outcome::Done(S::clone(&progress.state)));
            }
            if !broken && !open_questions.is_empty() {
                let requests = open_questions.into_iter().map(|(_, request)| request);
                return Ok(Outcome::Interrupted(requests.collect()));
            }
            turn(&app, &log, Some(opened), Way::On(None), services, &options).await
        }
        Input::Answer(id, value) => {
            let asked = open_questions.into_iter().find(|(_, request)| request.id == id);
            let Some((namespace, _)) = asked else { return Err(RunError::NoSuchRequest(id)) };
            let way = Way::On(Some((namespace, id, value)));
            turn(&app, &log, opened, way, services, &options).await
        }
    }
}

/// How a thread is to be run.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) limit: Option<u32>,
    pub(crate) cancellation: Cancellation,
    pub(crate) sink: Sink,
}

/// Reads a thread that nobody else runs.
async fn open<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    log: &Log,
) -> Result<Option<OpenLog>, RunError> {
    let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
    if let Some(claim) = opened.as_ref().and_then(|opened| opened.head.claim.as_ref())
        && !claim.is_dead(app.holder(), app.runtime().clock.now())
    {
        let holder = Some(Box::new(claim.holder.clone()));
        return Err(RunError::Conflict { thread: log.thread().clone(), holder });
    }
    Ok(opened)
}

fn root(opened: Option<&OpenLog>) -> Option<&RunFold> {
    opened.and_then(|opened| opened.fold.run(&Namespace::root()))
}

fn questions(opened: Option<&OpenLog>) -> Vec<(Namespace, Pending)> {
    let runs = opened.into_iter().flat_map(|opened| &opened.fold.runs);
    runs.flat_map(|(namespace, run)| {
        run.open_questions().map(|question| (namespace.clone(), pending(question)))
    })
    .collect()
}

fn waiting(log: &Log, requests: Vec<Pending>) -> RunError {
    RunError::Waiting { thread: log.thread().clone(), requests }
}

/// The run's fields in the schema of this build; says whether they had to be upgraded.
pub(crate) fn upgraded<S: State>(mut run: RunFold) -> Result<(RunFold, bool), RunError> {
    let (found, ours) = (run.schema, schema::<S>());
    if found.version > ours.version {
        return Err(RunError::SchemaTooNew { found: found.version, supported: ours.version });
    }
    if found == ours || run.run.is_none() {
        return Ok((run, false));
    }
    if found.version < ours.version {
        S::upgrade(found.version, &mut run.fields).map_err(RunError::State)?;
    }
    run.schema = ours;
    Ok((run, true))
}

/// Takes the thread, runs one turn, and gives the thread back.
async fn turn<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    log: &Log,
    opened: Option<OpenLog>,
    way: Way<S::Update>,
    services: Arc<C>,
    options: &Options,
) -> Result<Outcome<S>, RunError> {
    let mut scope = scope(app, log, services, options);
    let opening = Opening::of(opened)?.begin(&scope, way)?;
    let claim = Claim {
        run: scope.run,
        holder: app.holder().clone(),
        epoch: opening.epoch.next(),
        beat: scope.runtime.clock.now(),
    };
    let Opening { position, sizes, mut progress, runs, first, began, .. } = opening;
    let at = (position, sizes);
    let journal = Journal::take(log, scope.runtime.clone(), at, claim.clone(), first).await;
    let journal = match journal {
        Ok(journal) => journal,
        Err(error) => return Err(who(log, error).await),
    };
    journal.leave(runs);
    scope.journal = Arc::new(journal);
    if let (Some(at), true) = (began, scope.sink.is_on()) {
        let values = EventKind::Values(AnyState::new(&progress.state));
        scope.emit(&progress, None, None, Some(at), values);
    }
    let lost = Arc::new(AtomicBool::new(false));
    let beating = beat(app, log, claim.epoch, &scope.cancellation, &lost);
    let outcome = scope.drive(&mut progress).await;
    drop(beating);
    emit_end(&scope, &progress);
    end(&scope, outcome, log, lost.load(Ordering::SeqCst)).await
}

/// What a run of the thread's own graph is given. Until it has taken the thread, its journal knows the thread's name
/// alone.
fn scope<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    log: &Log,
    services: Arc<C>,
    options: &Options,
) -> Scope<S, C> {
    let runtime = app.runtime().clone();
    Scope {
        graph: app.graph().0.clone(),
        services,
        journal: Arc::new(Journal::nowhere(log.thread().clone(), runtime.clone())),
        namespace: Namespace::root(),
        run: RunId(runtime.ids.id()),
        runtime,
        cancellation: options.cancellation.child(),
        sink: options.sink.clone(),
        total: Meter::default(),
        limit: options.limit.unwrap_or(app.graph().0.recursion_limit),
    }
}

/// A run that is about to take its thread: where the thread is, and what the run begins with.
struct Opening<S> {
    position: Position,
    epoch: Epoch,
    sizes: (usize, usize),
    progress: Progress<S>,
    /// What an earlier run left of subgraphs.
    runs: BTreeMap<Namespace, RunFold>,
    takeovers: u32,
    /// The entries with which the run takes the thread.
    first: Vec<(Namespace, Body)>,
    /// Where a new turn begins.
    began: Option<Position>,
}

impl<S: State> Opening<S> {
    /// Reads what the log says; a state in another schema is written anew in this build's.
    fn of(opened: Option<OpenLog>) -> Result<Self, RunError> {
        let (position, epoch, sizes) = opened.as_ref().map_or_else(
            || (Position::START, Epoch::default(), (0, 0)),
            |opened| (opened.head.position, opened.head.epoch, opened.sizes),
        );
        let mut runs = opened.map(|opened| opened.fold.runs).unwrap_or_default();
        let root = runs.remove(&Namespace::root()).unwrap_or_default();
        let takeovers = root.takeovers + u32::from(root.open);
        let (root, rebased) = upgraded::<S>(root)?;
        let progress = Progress::<S>::of(root)?;
        let mut first = Vec::new();
        if rebased {
            first.push((Namespace::root(), progress.rebase()?));
        }
        Ok(Self { position, epoch, sizes, progress, runs, takeovers, first, began: None })
    }

    /// Adds how the run begins.
    fn begin<C: Send + Sync + 'static>(
        mut self,
        scope: &Scope<S, C>,
        way: Way<S::Update>,
    ) -> Result<Self, RunError> {
        let at = Position(self.position.0 + self.first.len() as u64 + 1);
        let mut begin = Begin {
            run: scope.run,
            epoch: self.epoch.next(),
            parent: None,
            persistence: Persistence::PerCall,
            input: Changes::default(),
            frontier: None,
            schema: schema::<S>(),
            graph: scope.graph.fingerprint,
            takeovers: self.takeovers,
        };
        let mut answer = None;
        match way {
            Way::New(update) => {
                // What was due and pending is over; the state stays.
                let Progress { state, unknown, .. } = self.progress;
                self.progress = Progress { state, ..Progress::beginning(S::default(), unknown) };
                self.runs.clear();
                begin.input = apply_input(scope, &mut self.progress, update, at)?;
                begin.frontier = Some(self.progress.frontier.clone());
                self.began = Some(at);
            }
            Way::On(given) => answer = given,
        }
        self.first.push((Namespace::root(), Body::Begin(begin)));
        if let Some((namespace, id, value)) = answer {
            self.answer(namespace, &id, value);
        }
        Ok(self)
    }

    /// Adds an answer, for the graph that asked.
    fn answer(&mut self, namespace: Namespace, id: &RequestId, value: Stored) {
        let answers = match self.runs.get_mut(&namespace) {
            Some(run) => &mut run.answers,
            None => &mut self.progress.answers,
        };
        answers.insert(id.0.to_string(), value.clone());
        let answer = Answer { id: id.0.to_string(), value };
        self.first.push((namespace, Body::Answer(answer)));
    }
}

/// A conflict, with the one who owns the thread if that can be told.
async fn who(log: &Log, error: CheckpointError) -> RunError {
    let conflict =
        matches!(error, CheckpointError::Conflict { .. } | CheckpointError::Fenced { .. });
    let head = if conflict { log.store().head(log.thread()).await.ok().flatten() } else { None };
    match head.and_then(|head| head.claim) {
        Some(claim) => {
            let holder = Some(Box::new(claim.holder));
            RunError::Conflict { thread: log.thread().clone(), holder }
        }
        None => error.into(),
    }
}

/// Shows that the run is alive, until the handle is dropped; a run whose claim is lost is stopped.
fn beat<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    log: &Log,
    epoch: Epoch,
    cancellation: &Cancellation,
    lost: &Arc<AtomicBool>,
) -> Spawned {
    let (clock, log) = (app.runtime().clock.clone(), log.clone());
    let (cancellation, lost) = (cancellation.clone(), lost.clone());
    app.runtime().spawner.spawn(Box::pin(async move {
        loop {
            clock.sleep(LEASE / 4).await;
            let beat = log.store().beat(log.thread(), epoch, clock.now()).await;
            if let Err(CheckpointError::Fenced { .. }) = beat {
                lost.store(true, Ordering::SeqCst);
                cancellation.cancel();
                return;
            }
        }
    }))
}

/// Says in the log how the run ended, and gives the thread back. A run that is done has said so with its last commit.
async fn end<S: State, C: Send + Sync + 'static>(
    scope: &Scope<S, C>,
    outcome: Result<Outcome<S>, RunError>,
    log: &Log,
    lost: bool,
) -> Result<Outcome<S>, RunError> {
    if lost {
        return Err(RunError::Conflict { thread: log.thread().clone(), holder: None });
    }
    let end = match &outcome {
        Ok(outcome) => scope.end(outcome.name(), ""),
        Err(RunError::Conflict { .. } | RunError::Checkpoint(_)) => return outcome,
        Err(error) => scope.end("failed", &error.to_string()),
    };
    // A last commit has ended the run and given the thread back in one append.
    if scope.journal.is_released() {
        return outcome;
    }
    let entry = (Namespace::root(), Body::End(end));
    match (scope.journal.append(vec![entry], Keep::Nothing).await, outcome) {
        (Ok(_), outcome) => outcome,
        (Err(error), Ok(_)) => Err(error.into()),
        // What went wrong first is what matters.
        (Err(_), Err(error)) => Err(error),
    }
}

fn emit_end<S: State, C: Send + Sync + 'static>(scope: &Scope<S, C>, progress: &Progress<S>) {
    scope.emit(progress, None, None, None, EventKind::Ended(scope.total.spent()));
}
