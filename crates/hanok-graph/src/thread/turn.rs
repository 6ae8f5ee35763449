//! How a run begins and ends: reading the thread, taking it, and giving it back.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use hanok_checkpoint::{
    Body, CheckpointError, Checkpointer, Claim, DRAINED, Epoch, IN_DOUBT, INTERRUPTED, LEASE,
    Labels, Life, Log, OpenLog, RunFold,
};
use hanok_core::{
    Budget, Cancellation, Limit, Meter, Namespace, Position, RunId, Spawned, Spent, Tenant,
    ThreadKey, Timestamp,
};
use hanok_state::{Schema, State};
use tracing::Instrument;

use crate::{
    error::{RunError, error_chain},
    graph::definition::{Definition, Graph},
    journal::{
        durability::Durability,
        journal::{ClaimAfter, Journal, JournalOptions, RunSlot},
    },
    node::{
        activity::Activity,
        run_context::{Account, RunContext},
    },
    observe::{
        event::{AnyState, Event, EventKind},
        sink::Sink,
    },
    outcome::{Outcome, Pending, Poisoned, Unfinished},
    run::{
        answer,
        turn_start::{TurnInput, TurnStart, apply_input, takeovers},
        run_state::RunState,
        rebase::{migrated, warn_unknown},
        thread_cache::CachedThread,
        super_step::GraphRun,
    },
    slots::{HeldSlots, Slots},
    thread::{
        active::Active,
        app::App,
        handle::{Input, NewInput},
        queue::{AGAIN_FIRST, AGAIN_LONGEST, earliest, until_changed},
    },
};

/// Runs a graph once and keeps nothing.
pub(crate) async fn once<S: State, C: Send + Sync + 'static>(
    graph: &Graph<S, C>,
    update: S::Update,
    services: C,
) -> Result<Outcome<S>, RunError> {
    let runtime = &graph.0.runtime;
    let run = RunId(runtime.ids.id());
    // Nobody else sees this thread; its name only has to be its own.
    let thread = ThreadKey::new(Tenant::default(), &run.to_string())
        .map_err(|error| RunError::State(error.into()))?;
    let options = RunOptions::default();
    let journal = Arc::new(Journal::nowhere(thread, runtime.clone()));
    let scope = scope(&graph.0, run, Arc::new(services), journal, &options, Spent::default());
    let schema = Default::default();
    let mut progress = RunState::beginning(graph.0.initial.clone(), Default::default(), schema);
    let (root, thread) = (Namespace::root(), scope.env.journal.thread());
    let place = (Position::START, runtime.clock.now());
    apply_input(&graph.0, (&root, thread), &mut progress, update, place)?;
    let span = graph.0.span(None);
    within_time(&scope, &mut progress, &options).instrument(span).await
}

/// How a thread is to be run.
#[derive(Clone)]
pub(crate) struct RunOptions {
    pub(crate) limit: Option<u32>,
    pub(crate) cancellation: Cancellation,
    pub(crate) drains: Vec<Cancellation>,
    pub(crate) sink: Sink,
    pub(crate) new_input: NewInput,
    pub(crate) budget: Option<Budget>,
    pub(crate) slots: Option<Slots>,
    pub(crate) takeovers: u32,
    /// Whether what is known of calls that may or may not have been made may be dropped.
    pub(crate) discards: bool,
    pub(crate) durability: Option<Durability>,
    pub(crate) tags: BTreeMap<String, String>,
}

/// How many runs in a row may be lost with the same tasks if nothing else is said.
const TAKEOVERS: u32 = 5;

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            limit: None,
            cancellation: Cancellation::default(),
            drains: Vec::new(),
            sink: Sink::default(),
            new_input: NewInput::default(),
            budget: None,
            slots: None,
            takeovers: TAKEOVERS,
            discards: false,
            durability: None,
            tags: BTreeMap::new(),
        }
    }
}

/// Runs a thread: takes it in this process, then does what `input` says.
pub(crate) async fn run<S: State, C: Send + Sync + 'static>(
    app: App<S, C>,
    thread: ThreadKey,
    mut input: Input<S>,
    services: Arc<C>,
    mut options: RunOptions,
) -> Result<Outcome<S>, RunError> {
    options.drains.push(app.drain().clone());
    let policy = match input {
        Input::New(_) => options.new_input,
        _ => NewInput::Reject,
    };
    let mut pause = AGAIN_FIRST;
    loop {
        if app.drain().is_cancelled() {
            return Err(RunError::ShuttingDown);
        }
        let entered = async {
            match policy {
                NewInput::Reject => app.active().enter_free(&thread).await,
                NewInput::Queue => app.active().enter(&thread).await,
                NewInput::Replace => app.active().enter_replacing(&thread).await,
            }
        };
        let active = futures::select_biased! {
            active = Box::pin(entered).fuse() => active,
            // Nothing of the input is stored.
            () = options.cancellation.cancelled().fuse() => {
                return Err(RunError::Conflict { thread, holder: None });
            }
        };
        let Some(active) = active else {
            let holder = Some(Box::new(app.holder().clone()));
            return Err(RunError::Conflict { thread, holder });
        };
        // Asked again after the wait for the thread: the run before may have been ended by the shutdown.
        if app.drain().is_cancelled() {
            return Err(RunError::ShuttingDown);
        }
        // What a queued input waits to see changed is known from before it tries.
        let before = match policy {
            NewInput::Queue => app.store().head(&thread).await.map_err(RunError::Checkpoint)?,
            _ => None,
        };
        let began = AtomicBool::new(false);
        let given = TurnRunner {
            app: &app,
            services: &services,
            options: &options,
            active: &active,
            began: &began,
        };
        let stops = [active.stop.clone(), app.stop().clone()];
        // An input that may have to wait is given again; no other is copied.
        let again = (policy != NewInput::Reject).then(|| input.clone());
        let went = given.go(&thread, input, &stops).await;
        drop(active);
        // An input that is in the log is not given again, whatever became of its run.
        if began.load(Ordering::SeqCst) || options.cancellation.is_cancelled() {
            return went;
        }
        match (policy, &went) {
            (
                NewInput::Queue,
                Err(error @ (RunError::Conflict { .. } | RunError::Unfinished { .. })),
            ) => {
                let changed =
                    until_changed(&app, &thread, before.as_ref(), (earliest(error), pause));
                futures::select_biased! {
                    changed = Box::pin(changed).fuse() => {
                        pause = match changed.map_err(RunError::Checkpoint)? {
                            true => AGAIN_FIRST,
                            false => AGAIN_LONGEST.min(pause * 2),
                        };
                    }
                    () = options.cancellation.cancelled().fuse() => return went,
                }
            }
            // The run that is replaced has stored something meanwhile.
            (NewInput::Replace, Err(RunError::Conflict { .. })) => {}
            _ => return went,
        }
        match again {
            Some(again) => input = again,
            None => return went,
        }
    }
}

/// What a run is given.
struct TurnRunner<'a, S: State, C> {
    app: &'a App<S, C>,
    services: &'a Arc<C>,
    options: &'a RunOptions,
    active: &'a Active,
    /// Set when the input is in the log.
    began: &'a AtomicBool,
}

impl<S: State, C: Send + Sync + 'static> TurnRunner<'_, S, C> {
    /// Finishes a broken turn first, then does what `input` says.
    async fn go(
        &self,
        thread: &ThreadKey,
        input: Input<S>,
        stops: &[Cancellation],
    ) -> Result<Outcome<S>, RunError> {
        let log = Log::new(self.app.store().clone(), thread.clone());
        let replaces =
            matches!(input, Input::New(_)) && self.options.new_input == NewInput::Replace;
        if let (Input::New(update), false) = (&input, replaces)
            && let Some(recent) = self.app.recents().take(thread)
        {
            let way = TurnInput::New(update.clone());
            match self.turn(&log, ThreadSource::Cached(recent), way, stops).await {
                // Somebody has touched the thread since: it is read.
                Err(RunError::Conflict { .. }) if !self.began.load(Ordering::SeqCst) => {}
                went => return went,
            }
        }
        let mut opened = self.open(&log, replaces).await?;
        let broken = root(opened.as_ref()).is_some_and(|run| run.open);
        if broken
            && !replaces
            && let Some(poisoned) = self.poisoned(opened.as_ref())
        {
            return match input {
                Input::New(_) => Err(unfinished(&log, Unfinished::Poisoned(poisoned))),
                _ => Ok(Outcome::Poisoned(poisoned)),
            };
        }
        let now = self.app.runtime().clock.now();
        if replaces
            && !self.options.discards
            && let Some(why @ Unfinished::InDoubt(_)) = waits_for(opened.as_ref(), now)
        {
            return Err(unfinished(&log, why));
        }
        match input {
            Input::New(update) => {
                // A turn that was drained is not over: what is due of it comes first, as after a crash.
                let drained = root(opened.as_ref()).is_some_and(|run| run.ended == DRAINED);
                if (broken || drained) && !replaces {
                    let finished = self
                        .turn(
                            &log,
                            ThreadSource::Read(opened),
                            TurnInput::Continue(Vec::new()),
                            stops,
                        )
                        .await;
                    match finished.map_err(not_taken)? {
                        Outcome::Done(_) | Outcome::LimitReached { .. } => {}
                        Outcome::Cancelled => return Ok(Outcome::Cancelled),
                        Outcome::Drained => return Ok(Outcome::Drained),
                        other => return Err(refuse(&log, other)),
                    }
                    opened = self.open(&log, false).await?;
                } else if !replaces && let Some(why) = waits_for(opened.as_ref(), now) {
                    return Err(unfinished(&log, why));
                }
                self.turn(&log, ThreadSource::Read(opened), TurnInput::New(update), stops).await
            }
            Input::Resume => {
                let Some(opened) = opened else {
                    return Err(RunError::NoSuchThread(thread.clone()));
                };
                let root = opened.fold.run(&Namespace::root());
                if !broken && root.is_none_or(|run| run.frontier.is_done()) {
                    return self.is_done(opened).map(Outcome::Done);
                }
                let requests = answer::open(Some(&opened), now);
                let expired = |pending: &Pending| pending.deadline.is_some_and(|d| d <= now);
                // A run that asked had nothing else to do; one that ended otherwise may have left something.
                let asked =
                    root.is_some_and(|run| [INTERRUPTED, IN_DOUBT].contains(&run.ended.as_str()));
                if asked && !requests.is_empty() && !requests.iter().any(expired) {
                    return Ok(match requests.iter().any(|pending| pending.doubt.is_some()) {
                        true => Outcome::InDoubt(requests),
                        false => Outcome::Interrupted(requests),
                    });
                }
                self.turn(
                    &log,
                    ThreadSource::Read(Some(opened)),
                    TurnInput::Continue(Vec::new()),
                    stops,
                )
                .await
            }
            Input::Answers(answers) => {
                let given = answer::check(&log, opened.as_ref(), answers, now).await?;
                self.turn(&log, ThreadSource::Read(opened), TurnInput::Continue(given), stops).await
            }
            Input::Reply(value) => {
                let requests = answer::open(opened.as_ref(), now);
                let id = match requests.as_slice() {
                    [] => return Err(RunError::NothingAsked(thread.clone())),
                    [one] => one.id.clone(),
                    _ => return Err(RunError::Ambiguous { requests }),
                };
                let given = answer::check(&log, opened.as_ref(), vec![(id, value)], now).await?;
                self.turn(&log, ThreadSource::Read(opened), TurnInput::Continue(given), stops).await
            }
        }
    }

    /// Reads a thread that nobody else runs, or that is taken from whoever does.
    async fn open(&self, log: &Log, replaces: bool) -> Result<Option<OpenLog>, RunError> {
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        if let Some(claim) = opened.as_ref().and_then(|opened| opened.head.claim.as_ref())
            && !replaces
            && !self.app.is_dead(log.thread(), claim).await.map_err(RunError::Checkpoint)?
        {
            let holder = Some(Box::new(claim.holder.clone()));
            return Err(RunError::Conflict { thread: log.thread().clone(), holder });
        }
        Ok(opened)
    }

    /// The state of a thread on which nothing is left to do.
    fn is_done(&self, opened: OpenLog) -> Result<S, RunError> {
        let graph = &self.app.graph().0;
        let mut fold = opened.fold;
        let run = fold.runs.remove(&Namespace::root()).unwrap_or_default();
        let read = migrated(&*graph.initial, &Namespace::root(), run, &mut BTreeMap::new())?;
        Ok(S::clone(&graph.shown(&read.progress.state)))
    }

    /// What runs were lost with, if it was too often.
    fn poisoned(&self, opened: Option<&OpenLog>) -> Option<Poisoned> {
        let run = root(opened)?;
        let takeovers = takeovers(opened, self.app.holder());
        if takeovers <= self.options.takeovers {
            return None;
        }
        let tasks = run.frontier.due.iter().map(|due| due.node.to_string());
        Some(Poisoned { tasks: tasks.collect(), takeovers })
    }

    /// Takes the thread, runs one turn, and gives the thread back.
    async fn turn(
        &self,
        log: &Log,
        known: ThreadSource<S>,
        way: TurnInput<S::Update>,
        stops: &[Cancellation],
    ) -> Result<Outcome<S>, RunError> {
        let (app, options) = (self.app, self.options);
        let runtime = app.runtime();
        let graph = &app.graph().0;
        let run = RunId(runtime.ids.id());
        let is_new = matches!(way, TurnInput::New(_));
        let now = runtime.clock.now();
        let opening = match known {
            ThreadSource::Read(opened) => {
                let new = || app.new_tip();
                TurnStart::of(&*graph.initial, opened, new, app.holder(), now)?
            }
            ThreadSource::Cached(recent) => TurnStart::recent(recent, graph.fingerprint, now),
        };
        let opening = opening.begin(graph, log.thread(), run, way, options.tags.clone())?;
        let claim = Claim { run, holder: app.holder().clone(), epoch: opening.epoch, beat: now };
        let TurnStart { tip, reading, mut progress, runs, asked, first, began, .. } = opening;
        let unknown = opening.unknown;
        let at = (tip, reading);
        let shown = options.sink.is_on().then(|| graph.shown(&progress.state));
        let tell = |_| {
            if let (Some(at), Some(state)) = (began, shown) {
                let values = EventKind::Values(AnyState::new(&state));
                options.sink.emit(|| Event::new(&Namespace::root(), 0, None, Some(at), values));
            }
        };
        let keeping = JournalOptions {
            durability: options.durability.unwrap_or(app.durability()),
            ttl: app.ttl(),
            sink: options.sink.clone(),
            identity: opening.identity,
        };
        let runtime = runtime.clone();
        let slot: Arc<RunSlot> = self.active.slot().clone();
        let place = (log, &slot);
        let first = (first, opening.labels);
        let journal = Journal::take(place, runtime, at, claim.clone(), first, keeping, tell);
        let journal = journal.await;
        let journal = match journal {
            Ok(journal) => journal,
            Err(error) => return Err(who(log, error).await),
        };
        self.began.store(is_new, Ordering::SeqCst);
        let spent = progress.spent.plus(uncommitted(&progress, &runs));
        journal.restore_children(runs, asked);
        if !unknown.is_empty() {
            warn_unknown(log.thread(), &Namespace::root(), &unknown);
            let kind = EventKind::UnknownFields { fields: unknown };
            options
                .sink
                .emit(|| Event::new(&Namespace::root(), progress.frontier.step, None, None, kind));
        }
        let services = self.services.clone();
        let scope = scope(graph, run, services, Arc::new(journal), options, spent);
        let lost = Arc::new(AtomicBool::new(false));
        let watching =
            watch(app, log, (tip.life, claim.epoch), stops, &scope.env.cancellation, &lost);
        let span = graph.span(Some(log.thread()));
        let outcome = within_time(&scope, &mut progress, options).instrument(span.clone()).await;
        if outcome.is_err() {
            hanok_telemetry::record_error(&span, "run");
        }
        drop(watching);
        let lost = lost.load(Ordering::SeqCst);
        let outcome = end(&scope, &progress, outcome, log, (&self.active.stop, lost)).await;
        let outcome = match outcome {
            Ok(Outcome::Interrupted(_) | Outcome::InDoubt(_)) => {
                scope.env.refused().map_or(outcome, Err)
            }
            outcome => outcome,
        };
        if let Ok(Outcome::Done(_)) = &outcome
            && let Some((tip, epoch, reading)) = scope.env.journal.left_at().await
            && is_all_stored(graph.initial.schema())
            && scope.env.journal.other_identity().is_none()
        {
            let RunState { state, unknown, schema, .. } = progress;
            let recent = CachedThread { tip, epoch, reading, state, unknown, schema };
            app.recents().put(log.thread(), recent);
        }
        outcome
    }
}

/// What is known of a thread before a run takes it.
enum ThreadSource<S: State> {
    /// What its log says.
    Read(Option<OpenLog>),
    /// How a run of this process left it.
    Cached(CachedThread<S>),
}

/// Whether a state that is read is the one that was written: nothing of it is for the run, or for a super-step, alone.
fn is_all_stored(schema: &Schema) -> bool {
    schema.fields.iter().all(|field| !field.ephemeral && field.rule != "transient")
}

/// What tasks have spent whose writes no commit has counted yet.
fn uncommitted<S: State>(progress: &RunState<S>, runs: &BTreeMap<Namespace, RunFold>) -> Spent {
    let below = runs.values().flat_map(|run| run.pending.values());
    progress
        .pending
        .values()
        .chain(below)
        .fold(Spent::default(), |sum, write| sum.plus(write.spent))
}

/// Drives a run, and stops it when the turn's time is over.
async fn within_time<S: State, C: Send + Sync + 'static>(
    scope: &GraphRun<S, C>,
    progress: &mut RunState<S>,
    options: &RunOptions,
) -> Result<Outcome<S>, RunError> {
    let Some(time) = options.budget.unwrap_or(scope.graph.budget).time else {
        return scope.drive(progress).await;
    };
    // Apart, so that the others carry no room for it.
    Box::pin(at_most(scope, progress, time)).await
}

async fn at_most<S: State, C: Send + Sync + 'static>(
    scope: &GraphRun<S, C>,
    progress: &mut RunState<S>,
    time: Duration,
) -> Result<Outcome<S>, RunError> {
    let which = Limit::Time(time);
    let left = time.saturating_sub(Duration::from_millis(progress.spent.millis));
    if left.is_zero() && !progress.frontier.is_done() {
        return Ok(Outcome::LimitReached { which, state: scope.shown(progress) });
    }
    let outcome = {
        let mut drive = pin!(scope.drive(progress).fuse());
        futures::select_biased! {
            outcome = drive => outcome,
            () = scope.env.runtime.clock.sleep(left).fuse() => {
                scope.env.stop(which);
                drive.await
            }
        }
    };
    match (outcome, scope.env.hit()) {
        (Ok(Outcome::Cancelled), Some(which)) => {
            Ok(Outcome::LimitReached { which, state: scope.shown(progress) })
        }
        (outcome, _) => outcome,
    }
}

fn root(opened: Option<&OpenLog>) -> Option<&RunFold> {
    opened.and_then(|opened| opened.fold.run(&Namespace::root()))
}

/// What a thread whose turn is not over waits for.
fn waits_for(opened: Option<&OpenLog>, now: Timestamp) -> Option<Unfinished> {
    let requests = answer::open(opened, now);
    if requests.iter().any(|pending| pending.doubt.is_some()) {
        return Some(Unfinished::InDoubt(requests));
    }
    if !requests.is_empty() {
        return Some(Unfinished::Interrupted(requests));
    }
    let run = root(opened).filter(|run| run.paused && !run.frontier.is_done())?;
    let next = run.frontier.due.iter().map(|due| due.node.to_string());
    Some(Unfinished::Breakpoint(next.collect()))
}

fn unfinished(log: &Log, why: Unfinished) -> RunError {
    RunError::Unfinished { thread: log.thread().clone(), why }
}

/// The error of an input that was not taken because the turn before it could not be finished.
fn not_taken(error: RunError) -> RunError {
    match error {
        RunError::Superseded { thread, holder, .. } => RunError::Conflict { thread, holder },
        error => error,
    }
}

/// The error of an input that was not taken because the turn before it ended with `outcome`.
fn refuse<S>(log: &Log, outcome: Outcome<S>) -> RunError {
    match outcome.done() {
        Err(why) => unfinished(log, why),
        Ok(_) => unfinished(log, Unfinished::Cancelled),
    }
}

/// What a run of a thread's own graph is given.
fn scope<S: State, C: Send + Sync + 'static>(
    graph: &Arc<Definition<S, C>>,
    run: RunId,
    services: Arc<C>,
    journal: Arc<Journal>,
    options: &RunOptions,
    spent: Spent,
) -> GraphRun<S, C> {
    let runtime = graph.runtime.clone();
    let budget = options.budget.unwrap_or(graph.budget);
    let account = Account::from(runtime.clock.monotonic());
    let env = RunContext {
        journal,
        cancellation: options.cancellation.child(),
        drains: options.drains.clone(),
        sink: options.sink.clone(),
        total: Meter::budgeted(budget, spent),
        retries: AtomicU32::new(graph.retry_budget),
        slots: runtime.slots.iter().chain(&options.slots).cloned().collect(),
        limit: options.limit,
        hollow: false,
        before: spent,
        account: account.into(),
        readable: Default::default(),
        wrong: Default::default(),
        runtime,
    };
    GraphRun {
        graph: graph.clone(),
        services,
        env: Arc::new(env),
        namespace: Namespace::root(),
        run,
        limit: options.limit.unwrap_or(graph.recursion_limit),
        activity: Activity::default(),
        held: HeldSlots::default(),
    }
}

/// A conflict, with the one who owns the thread if that can be told.
async fn who(log: &Log, error: CheckpointError) -> RunError {
    let conflict = matches!(
        error,
        CheckpointError::Conflict { .. }
            | CheckpointError::Fenced { .. }
            | CheckpointError::OtherLife { .. }
    );
    let head = if conflict { log.store().head(log.thread()).await.ok().flatten() } else { None };
    match head.and_then(|head| head.claim) {
        Some(claim) => {
            let holder = Some(Box::new(claim.holder));
            RunError::Conflict { thread: log.thread().clone(), holder }
        }
        None => error.into(),
    }
}

/// The error of a run that has lost its thread after it had begun.
async fn superseded<S: State, C: Send + Sync + 'static>(
    scope: &GraphRun<S, C>,
    log: &Log,
) -> RunError {
    let stored = scope.env.journal.stored();
    // Who it was is told if it can be: that the thread is lost is certain already.
    let head = log.store().head(log.thread()).await.ok().flatten();
    let claim = head.and_then(|head| head.claim);
    let holder = claim.map(|claim| Box::new(claim.holder));
    RunError::Superseded { thread: log.thread().clone(), stored, holder }
}

/// Shows that the run is alive, until the handle is dropped; stops it when its claim is lost, or when one of `stops` asks
/// for it.
fn watch<S: State, C: Send + Sync + 'static>(
    app: &App<S, C>,
    log: &Log,
    (life, epoch): (Life, Epoch),
    stops: &[Cancellation],
    run: &Cancellation,
    lost: &Arc<AtomicBool>,
) -> Spawned {
    let (clock, log, stops) = (app.runtime().clock.clone(), log.clone(), stops.to_vec());
    let (run, lost) = (run.clone(), lost.clone());
    if stops.iter().any(Cancellation::is_cancelled) {
        run.cancel();
    }
    let beating = async move {
        loop {
            clock.sleep(LEASE / 4).await;
            let beat = log.store().beat(log.thread(), life, epoch, clock.now()).await;
            if let Err(CheckpointError::Fenced { .. } | CheckpointError::OtherLife { .. }) = beat {
                lost.store(true, Ordering::SeqCst);
                return;
            }
        }
    };
    app.runtime().spawner.spawn(Box::pin(async move {
        let asked = futures::future::select_all(stops.iter().map(Cancellation::cancelled));
        futures::future::select(pin!(beating), asked).await;
        run.cancel();
    }))
}

/// Says in the log how the run ended, and gives the thread back. A run that is done has said so with its last commit.
async fn end<S: State, C: Send + Sync + 'static>(
    scope: &GraphRun<S, C>,
    progress: &RunState<S>,
    outcome: Result<Outcome<S>, RunError>,
    log: &Log,
    (replaced, lost): (&Cancellation, bool),
) -> Result<Outcome<S>, RunError> {
    let rest = scope.env.rest();
    let told = |outcome: &str, error: Option<String>| {
        let (outcome, spent) = (outcome.to_owned(), scope.env.turn());
        EventKind::Ended { outcome, error, spent }
    };
    // A claim that was given back is not lost, even if the last sign of life comes too late to be taken.
    let lost = lost || scope.env.journal.is_lost();
    if lost && !scope.env.journal.is_released() {
        let error = superseded(scope, log).await;
        scope.emit(progress, None, None, told("failed", Some(error.to_string())));
        return Err(error);
    }
    let (name, detail) = match &outcome {
        Ok(outcome) => (outcome.name(), String::new()),
        Err(error) => ("failed", error_chain(error)),
    };
    let error = (!detail.is_empty()).then(|| detail.clone());
    if let Err(RunError::Checkpoint(_)) = outcome {
        scope.emit(progress, None, None, told(name, error));
        return outcome;
    }
    // A last commit has ended the run and given the thread back in one append.
    if scope.env.journal.is_released() {
        return outcome;
    }
    let requests = match &outcome {
        Ok(Outcome::Interrupted(requests) | Outcome::InDoubt(requests)) => requests.as_slice(),
        _ => &[],
    };
    scope.env.journal.relabel(|before| Labels {
        graph: before.graph.clone(),
        status: name.to_owned().into(),
        requests: requests.len(),
        deadline: requests.iter().filter_map(|request| request.deadline).min(),
    });
    let entry = (Namespace::root(), Body::End(scope.end(name, &detail, rest)));
    let tell = |at| scope.emit(progress, None, Some(at), told(name, error));
    match (scope.env.journal.append_then(vec![entry], ClaimAfter::Released, tell).await, outcome) {
        // In this process, too, it is not its own caller who has cancelled it.
        (Ok(_), Ok(Outcome::Cancelled)) if replaced.is_cancelled() => {
            Err(superseded(scope, log).await)
        }
        (Ok(_), outcome) => outcome,
        (Err(_), _) if scope.env.journal.is_lost() => Err(superseded(scope, log).await),
        (Err(error), Ok(_)) => Err(error.into()),
        // What went wrong first is what matters.
        (Err(_), Err(error)) => Err(error),
    }
}
