//! Turns: a run reads its thread, takes it, and releases it.

use hanok_checkpoint::{Body, Claim, Log, OpenLog, RunEnd, RunFold};
use hanok_core::{
    Cancellation, Namespace, Position, RequestId, RunId, Spent, Stored, ThreadKey, Timestamp,
};
use hanok_state::{Schema, State};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    error::RunError,
    journal::{
        journal::{Journal, JournalOptions, Takeover},
        writer::RunSlot,
    },
    observe::{
        any::{AnyState, StateType},
        event::{Event, EventKind, EventTask},
    },
    outcome::{Outcome, Pending, Poisoned, Unfinished, Waiting},
    run::{
        answer::{self, CheckedAnswer, NewAnswer},
        graph_run::GraphRun,
        rebase::{LogPlace, migrated, warn_unknown},
        run_state::RunState,
        thread_cache::CachedThread,
        time_limit::within_time,
        turn_start::{StateEdit, TurnInput, TurnStart, takeovers},
    },
    thread::{
        active::Active,
        app::App,
        back::{WentBack, go_back},
        claim::{Ending, conflict_holder},
        find_run::find_run,
        heartbeat::{Heartbeat, HeldClaim},
        input::{Input, NewInput},
        late::refusal,
        options::{NamedRun, RunOptions},
    },
};
use tracing::Instrument;

/// Runs the turns of one input.
pub(super) struct TurnRunner<'a, S: State, C> {
    pub(super) app: &'a App<S, C>,
    pub(super) services: &'a Arc<C>,
    pub(super) options: &'a RunOptions,
    pub(super) active: &'a Active,
    /// Set when the input is in the log.
    pub(super) began: &'a AtomicBool,
}

impl<S: State, C: Send + Sync + 'static> TurnRunner<'_, S, C> {
    /// Finishes a broken turn first, then runs `input`.
    pub(super) async fn run(
        &self,
        thread: &ThreadKey,
        input: Input<S>,
        stops: &[Cancellation],
    ) -> Result<Outcome<S>, RunError> {
        let log = self.app.log(thread);
        let is_new = matches!(input, Input::New(_) | Input::Goto { .. });
        let replaces = is_new && self.options.new_input == NewInput::Replace;
        if is_new
            && !replaces
            && let Some(recent) = self.recent(thread)
            && let Some(new) = input.as_new()
        {
            let way = TurnInput::New(new);
            match self.turn(&log, ThreadSource::Cached(recent), way, Whose::Input, stops).await {
                // Somebody has touched the thread since: it is read.
                Err(RunError::Conflict { .. }) if !self.began.load(Ordering::SeqCst) => {}
                went => return went,
            }
        }
        let mut opened = self.open(&log, replaces).await?;
        let (input, at) = match self.has_begun(&log, opened.as_ref()).await? {
            true => (Input::Resume, None),
            false => (input, self.options.at),
        };
        let now = self.app.runtime().clock.now();
        if (replaces || at.is_some())
            && !self.options.discards
            && let Some(why @ Unfinished::InDoubt(_)) = waits_for(opened.as_ref(), now)
        {
            return Err(unfinished(&log, why));
        }
        let mut back = None;
        if let Some(to) = at {
            let before = opened.ok_or_else(|| RunError::NoSuchThread(thread.clone()))?;
            let by = self.options.answerer.clone();
            let went = go_back(&log, &before.head, to, by, now).await?;
            (opened, back) = (Some(went.0), Some(went.1));
        }
        let broken = back.is_none() && root(opened.as_ref()).is_some_and(|run| run.open);
        if broken
            && !replaces
            && let Some(poisoned) = self.poisoned(opened.as_ref())
        {
            return match input {
                Input::New(_) | Input::Goto { .. } => {
                    Err(unfinished(&log, Unfinished::Poisoned(poisoned)))
                }
                _ => Ok(Outcome::Poisoned(poisoned)),
            };
        }
        let input = match input {
            Input::Begin(_) if root(opened.as_ref()).is_some() => Input::Resume,
            Input::Begin(update) => Input::New(update),
            input => input,
        };
        let input = match input.into_new() {
            Ok(new) => {
                // A turn that was drained is not over: what is due of it comes first, as after a crash.
                let drained =
                    root(opened.as_ref()).is_some_and(|run| run.ended == Some(RunEnd::Drained));
                let ends_before = replaces || back.is_some();
                if (broken || drained) && !ends_before {
                    let source = ThreadSource::read(opened, None);
                    let finished =
                        self.turn(&log, source, TurnInput::resume(), Whose::Before, stops).await;
                    match finished.map_err(not_taken)? {
                        Outcome::Done(_) | Outcome::LimitReached { .. } => {}
                        stopped @ (Outcome::Cancelled(_) | Outcome::Drained(_)) => {
                            return Ok(stopped);
                        }
                        other => return Err(refuse(&log, other)),
                    }
                    opened = self.open(&log, false).await?;
                    // Whoever has begun the run of this name meanwhile was first.
                    if self.has_begun(&log, opened.as_ref()).await? {
                        return Err(RunError::Conflict { thread: thread.clone(), holder: None });
                    }
                } else if !ends_before && let Some(why) = waits_for(opened.as_ref(), now) {
                    return Err(unfinished(&log, why));
                }
                let source = ThreadSource::read(opened, back);
                return self.turn(&log, source, TurnInput::New(new), Whose::Input, stops).await;
            }
            Err(input) => input,
        };
        let (answers, edit) = match input {
            Input::Begin(_) | Input::New(_) | Input::Goto { .. } | Input::Resume => {
                let Some(opened) = &opened else {
                    return Err(RunError::NoSuchThread(thread.clone()));
                };
                if let Some(outcome) = self.waits(thread, opened, broken, now)? {
                    return Ok(outcome);
                }
                (None, None)
            }
            Input::Answers(answers) => (Some(answers), None),
            Input::Edited { .. } if opened.is_none() => {
                return Err(RunError::NoSuchThread(thread.clone()));
            }
            Input::Edited { answers, update } => {
                (Some(answers).filter(|answers| !answers.is_empty()), Some(update))
            }
            Input::Reply(value) => {
                let requests = answer::open(opened.as_ref(), now);
                let id = match requests.as_slice() {
                    [] => return Err(RunError::NothingAsked(thread.clone())),
                    [one] => one.id.clone(),
                    _ => return Err(RunError::Ambiguous { requests }),
                };
                (Some(vec![(id, value)]), None)
            }
        };
        let answers = match answers {
            Some(answers) => self.check(&log, opened.as_ref(), answers, now).await?,
            None => Vec::new(),
        };
        let by = self.options.answerer.clone();
        let edit = edit.map(|update| StateEdit { update, by });
        let input = TurnInput::Continue { answers, edit };
        self.turn(&log, ThreadSource::read(opened, back), input, Whose::Input, stops).await
    }

    /// The outcome of a thread in which nothing can continue: it is done, or waits for people.
    fn waits(
        &self,
        thread: &ThreadKey,
        opened: &OpenLog,
        broken: bool,
        now: Timestamp,
    ) -> Result<Option<Outcome<S>>, RunError> {
        let root = opened.fold.run(&Namespace::root());
        if !broken && root.is_none_or(|run| run.frontier.is_done()) {
            return self.stored_state(thread, opened).map(Outcome::Done).map(Some);
        }
        let requests = answer::open(Some(opened), now);
        let expired = |pending: &Pending| pending.deadline.is_some_and(|d| d <= now);
        // A run that asked had nothing else to do; one that ended otherwise may have left something.
        let asked = root
            .is_some_and(|run| matches!(run.ended, Some(RunEnd::Interrupted | RunEnd::InDoubt)));
        if !asked || requests.is_empty() || requests.iter().any(expired) {
            return Ok(None);
        }
        let in_doubt = requests.iter().any(|pending| pending.doubt.is_some());
        let waiting = Waiting::new(requests, self.stored_state(thread, opened)?);
        Ok(Some(if in_doubt { Outcome::InDoubt(waiting) } else { Outcome::Interrupted(waiting) }))
    }

    /// The state of a recent run, unless the input's own run may stand in the log before it.
    fn recent(&self, thread: &ThreadKey) -> Option<CachedThread<S>> {
        let recent = self.app.recents().take(thread)?;
        let knows = self.options.run.is_none_or(|named| recent.tip.position <= named.since);
        (knows && self.options.at.is_none()).then_some(recent)
    }

    /// True if the run of this name stands in the log, and can go on there.
    async fn has_begun(&self, log: &Log, opened: Option<&OpenLog>) -> Result<bool, RunError> {
        let Some(NamedRun { run, since }) = self.options.run else { return Ok(false) };
        if root(opened).is_some_and(|root| root.run == Some(run)) {
            return Ok(true);
        }
        match find_run(log, run, since).await.map_err(RunError::Checkpoint)? {
            Some(found) if !found.is_newest => {
                Err(RunError::PastRun { thread: log.thread().clone(), run })
            }
            // What was opened is older than what was found.
            Some(found) if opened.is_none_or(|opened| opened.head.position < found.began) => {
                Err(RunError::Conflict { thread: log.thread().clone(), holder: None })
            }
            found => Ok(found.is_some()),
        }
    }

    /// Checks answers of whoever answers through this handle.
    async fn check(
        &self,
        log: &Log,
        opened: Option<&OpenLog>,
        answers: Vec<(RequestId, Stored)>,
        now: Timestamp,
    ) -> Result<Vec<CheckedAnswer>, RunError> {
        let answers = answers.into_iter().map(|(id, value)| NewAnswer::of(id, value)).collect();
        let by = self.options.answerer.as_ref();
        match answer::check(log, opened, answers, by, now).await {
            Ok(checked) => Ok(checked),
            Err(refused) => {
                self.app.release_dead(log).await?;
                Err(refusal(log, refused, &*self.app.runtime().ids, now).await)
            }
        }
    }

    /// Reads a thread that no other run owns, or that is taken from its owner.
    async fn open(&self, log: &Log, replaces: bool) -> Result<Option<OpenLog>, RunError> {
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        if let Some(claim) = opened.as_ref().and_then(|opened| opened.head.claim.as_ref())
            && !replaces
            && !self.app.is_dead(log.thread(), claim).await.map_err(RunError::Checkpoint)?
        {
            return Err(RunError::conflict(log.thread(), &claim.holder));
        }
        Ok(opened)
    }

    /// The state of a thread, as it is stored.
    fn stored_state(&self, thread: &ThreadKey, opened: &OpenLog) -> Result<S, RunError> {
        let graph = &self.app.graph().0;
        let root = Namespace::root();
        let run = opened.fold.run(&root).cloned().unwrap_or_default();
        let place = LogPlace { thread, path: &root };
        graph.owns(place, &run)?;
        let read = migrated(&*graph.initial, place, run, &mut BTreeMap::new())?;
        Ok(S::clone(&graph.shown(&read.progress.state)))
    }

    /// The tasks with which runs were lost, if there were too many.
    fn poisoned(&self, opened: Option<&OpenLog>) -> Option<Poisoned> {
        let run = root(opened)?;
        let takeovers = takeovers(opened, self.app.holder());
        if takeovers <= self.options.takeovers {
            return None;
        }
        let tasks = run.frontier.due.iter().map(|due| due.node.to_string());
        Some(Poisoned { tasks: tasks.collect(), takeovers })
    }

    /// Takes the thread, runs one turn, and releases the thread.
    async fn turn(
        &self,
        log: &Log,
        source: ThreadSource<S>,
        input: TurnInput<S::Update>,
        whose: Whose,
        stops: &[Cancellation],
    ) -> Result<Outcome<S>, RunError> {
        let graph = &self.app.graph().0;
        let TakenThread { run, mut state, claim } = self.take(log, source, input, whose).await?;
        let heartbeat =
            Heartbeat::start(self.app.runtime(), log, claim, stops, &run.env.cancellation);
        let span = graph.span(Some(log.thread()));
        let budget = self.options.budget.unwrap_or(graph.budget);
        let outcome = within_time(&run, &mut state, budget).instrument(span.clone()).await;
        if outcome.is_err() {
            hanok_telemetry::record_error(&span, "run");
        }
        let lost = heartbeat.stop();
        let ending = Ending { run: &run, state: &state, log, active: self.active, lost };
        let outcome = match ending.give_back(outcome).await {
            Ok(mut outcome @ (Outcome::Interrupted(_) | Outcome::InDoubt(_))) => {
                if let Outcome::Interrupted(waiting) | Outcome::InDoubt(waiting) = &mut outcome {
                    waiting.voided = run.env.take_voided();
                }
                run.env.refused().map_or(Ok(outcome), Err)
            }
            outcome => outcome,
        };
        if let Ok(Outcome::Done(_)) = &outcome {
            self.remember(log, &run, state).await;
        }
        outcome
    }

    /// Takes the thread with the entries that begin the run.
    async fn take(
        &self,
        log: &Log,
        source: ThreadSource<S>,
        input: TurnInput<S::Update>,
        whose: Whose,
    ) -> Result<TakenThread<S, C>, RunError> {
        let (app, options) = (self.app, self.options);
        let runtime = app.runtime();
        let graph = &app.graph().0;
        options.breakpoints.names().try_for_each(|node| graph.has(node))?;
        let named = options.run.filter(|_| whose == Whose::Input);
        let run = named.map_or_else(|| RunId(runtime.ids.id()), |named| named.run);
        let is_new = matches!(input, TurnInput::New(_));
        let (start, back) = match source {
            ThreadSource::Read(read) => {
                let (opened, back) = *read;
                let now = back.as_ref().map_or_else(|| runtime.clock.now(), |back| back.now);
                let new = || app.new_tip();
                let start = TurnStart::of(graph, log.thread(), opened, new, app.holder(), now)?;
                let to = back.as_ref().map(|back| back.to);
                (start.went_back(back.map(|back| back.entry)), to)
            }
            ThreadSource::Cached(cached) => {
                (TurnStart::cached(cached, &graph.name, runtime.clock.now()), None)
            }
        };
        let now = start.now;
        let there = (back.is_some() && options.sink.is_on()).then(|| {
            let progress = &start.progress;
            (progress.frontier.step, AnyState::new(&graph.shown(&progress.state)))
        });
        let start = start.begin(graph, log.thread(), run, input, options.tags.clone())?;
        let claim = Claim { run, holder: app.holder().clone(), epoch: start.epoch, beat: now };
        let held = HeldClaim { life: start.tip.life, epoch: start.epoch };
        let TurnStart {
            tip, snapshots, progress, runs, interrupted, first, began, unknown, ..
        } = start;
        let count = first.len() as u64;
        let shown = options.sink.is_on().then(|| {
            let by_people = by_people(&graph.initial, &first, &progress, &runs);
            (graph.shown(&progress.state), by_people)
        });
        let report = |last: Position| {
            let Some((state, by_people)) = shown else { return };
            let values = || EventKind::Values(AnyState::new(&state));
            let (root, emit) = (Namespace::root(), |event| options.sink.emit(|| event));
            if let (Some(to), Some((step, state))) = (back, there) {
                let at = Some(Position((last.0 + 1).saturating_sub(count)));
                let by = options.answerer.clone();
                emit(Event::new(&root, step, None, at, EventKind::Rewound { to, by }));
                emit(Event::new(&root, step, None, at, EventKind::Values(state)));
            }
            if let Some(at) = began {
                emit(Event::new(&root, 0, None, Some(at), values()));
            }
            for ByPerson { path, step, task, index, kind } in by_people {
                let at = Some(Position((last.0 + 1).saturating_sub(count - index)));
                let is_edit = matches!(kind, EventKind::Edited { .. });
                emit(Event::new(&path, step, task, at, kind));
                if is_edit {
                    emit(Event::new(&root, step, None, at, values()));
                }
            }
        };
        let journal_options = JournalOptions {
            durability: options.durability.unwrap_or(app.durability()),
            ttl: app.ttl(),
            sink: options.sink.clone(),
            identity: start.identity,
        };
        let slot: Arc<RunSlot> = self.active.slot().clone();
        let labels = start.labels;
        let end = tip.position;
        let takeover = Takeover { slot: &slot, tip, snapshots, claim, first, back, labels };
        let journal = Journal::take(log, runtime.clone(), takeover, journal_options, report);
        let journal = match journal.await {
            Ok(journal) => journal,
            Err(error) => return Err(conflict_holder(log, error).await),
        };
        if let Some(to) = back {
            journal.is_uncut((to, end)).await.map_err(RunError::Checkpoint)?;
        }
        self.began.store(is_new, Ordering::SeqCst);
        if let Some(admission) = options.admission.as_ref().filter(|_| whose == Whose::Input) {
            admission.is_taken();
        }
        let spent = progress.spent.plus(uncommitted(&progress, &runs));
        let services = self.services.clone();
        let journal = Arc::new(journal);
        let run = options.graph_run(graph, run, services, journal.clone(), spent);
        run.env.doubts.restore_of(&Namespace::root(), &progress.records, || None);
        run.env.doubts.restore(&runs);
        journal.restore_children(runs, interrupted);
        if !unknown.is_empty() {
            warn_unknown(log.thread(), &Namespace::root(), &unknown);
            run.emit(&progress, None, None, EventKind::UnknownFields { fields: unknown });
        }
        Ok(TakenThread { run, state: progress, claim: held })
    }

    /// Caches the state of a turn that is done, for the next one.
    async fn remember(&self, log: &Log, run: &GraphRun<S, C>, state: RunState<S>) {
        let journal = &run.env.journal;
        if let Some((tip, epoch, snapshots)) = journal.released_at().await
            && is_all_stored(self.app.graph().0.initial.schema())
            && journal.other_identity().is_none()
        {
            let RunState { state, unknown, schema, .. } = state;
            let cached = CachedThread { tip, epoch, snapshots, state, unknown, schema };
            self.app.recents().put(log.thread(), cached);
        }
    }
}

/// What a person has done with the entries that begin a run.
struct ByPerson {
    path: Namespace,
    step: u32,
    /// The task that asked, for an answer.
    task: Option<EventTask>,
    /// The number of the entry.
    index: u64,
    kind: EventKind,
}

/// The answers and edits among the entries that begin a run.
fn by_people<S: State>(
    of: &Arc<S>,
    first: &[(Namespace, Body)],
    progress: &RunState<S>,
    runs: &BTreeMap<Namespace, RunFold>,
) -> Vec<ByPerson> {
    let told = (0..).zip(first).filter_map(|(index, (path, body))| {
        let (frontier, records) = match runs.get(path) {
            Some(run) => (&run.frontier, &run.records),
            None => (&progress.frontier, &progress.records),
        };
        let of_type = path.is_root().then(|| Arc::new(StateType(of.clone())) as _);
        let (task, kind) = EventKind::by_person(body, records, of_type)?;
        Some(ByPerson { path: path.clone(), step: frontier.step, task, index, kind })
    });
    told.collect()
}

/// A run that has taken its thread.
struct TakenThread<S: State, C> {
    run: GraphRun<S, C>,
    state: RunState<S>,
    claim: HeldClaim,
}

/// Whose turn is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// That of the input.
    Input,
    /// That which the input found unfinished.
    Before,
}

/// The source of a thread's state before a run takes it.
enum ThreadSource<S: State> {
    /// Its log; with what is said of it, if the thread goes back.
    Read(Box<(Option<OpenLog>, Option<WentBack>)>),
    /// The cache of this process.
    Cached(CachedThread<S>),
}

impl<S: State> ThreadSource<S> {
    fn read(opened: Option<OpenLog>, back: Option<WentBack>) -> Self {
        Self::Read(Box::new((opened, back)))
    }
}

/// True if every field is stored: none lasts for the run, or for a super-step, alone.
fn is_all_stored(schema: &Schema) -> bool {
    schema.fields.iter().all(|field| !field.ephemeral && field.rule.is_stored())
}

/// The spending of tasks whose writes no commit has counted yet.
fn uncommitted<S: State>(progress: &RunState<S>, runs: &BTreeMap<Namespace, RunFold>) -> Spent {
    let below = runs.values().flat_map(|run| run.records.pending.values());
    let pending = progress.records.pending.values();
    pending.chain(below).fold(Spent::default(), |sum, write| sum.plus(write.spent))
}

fn root(opened: Option<&OpenLog>) -> Option<&RunFold> {
    opened.and_then(|opened| opened.fold.run(&Namespace::root()))
}

/// The reason why the turn of a thread is unfinished.
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
