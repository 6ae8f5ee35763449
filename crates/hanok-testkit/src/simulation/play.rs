//! One run of a simulation: callers, processes that come and go, and whatever befalls them.

use std::{fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{Body, CheckpointError, LEASE, LogEntry, SharedCheckpointer, ThreadFold};
use hanok_core::{Cancellation, Changes, Namespace, RequestId, Stored, Tenant, ThreadKey};
use hanok_graph::{App, Durability, Event, Input, NewInput, Outcome, Pending, RunError};
use hanok_state::{State, StateUpdate};

use super::{
    Script, World,
    act::Act,
    client::{self, Answered, Asked, Client, Heard},
    core::{Core, Process},
    dice::Dice,
    executor::Executor,
    faults::{Fault, Faults, Places},
    invariants, seams,
    store::Store,
};
use crate::Layered;

/// How often callers try again before a run counts as one that never ends.
const TRIES: usize = 300;

/// How many polls a run may take.
const POLLS: u64 = 2_000_000;

/// The thread that callers begin with.
const THREAD: &str = "simulated";

/// What is wrong, in words.
pub(crate) type Wrong = String;

/// How one run is to be played.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
    pub(crate) places: Option<Places>,
    /// Whether every step is told.
    pub(crate) told: bool,
}

impl Score {
    /// A run in which nothing goes wrong.
    pub(crate) fn quiet(seed: u64) -> Self {
        Self { seed, faults: Faults::none(), places: None, told: false }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    /// What is compared between runs.
    pub(crate) view: String,
    pub(crate) outcome: String,
}

/// What is known of a run when it is over.
pub(crate) struct Played {
    pub(crate) ended: Result<Ending, Wrong>,
    pub(crate) faults: Vec<(Fault, String)>,
    pub(crate) polls: u64,
    /// Appends, and polls at which something could have gone wrong.
    pub(crate) counts: (usize, usize),
    pub(crate) digest: u64,
    pub(crate) lines: Vec<String>,
}

impl Played {
    fn unplayed(why: Wrong) -> Self {
        let (faults, lines) = (Vec::new(), Vec::new());
        Self { ended: Err(why), faults, polls: 0, counts: (0, 0), digest: 0, lines }
    }
}

/// A process that lives, or stands still.
struct Alive<S: State, C> {
    number: Process,
    app: App<S, C>,
    services: C,
}

/// What became of one call: nothing if its process, its caller or its wits were lost.
type Became<S> = Option<Answered<S>>;

pub(crate) struct Play<'a, S: State, C> {
    pub(crate) script: &'a Script<S, C>,
    score: &'a Score,
    pub(crate) core: Arc<Core>,
    executor: Executor,
    alive: Vec<Alive<S, C>>,
    processes: Process,
    pub(crate) thread: ThreadKey,
    dice: Dice,
    polls: u64,
    /// The inputs that were given to each thread, in order.
    pub(crate) given: Vec<(ThreadKey, Changes)>,
    /// What each watched run has shown.
    pub(crate) shown: Vec<(ThreadKey, Vec<Event>)>,
    /// The calls that were said to be in doubt.
    pub(crate) doubted: Vec<String>,
    outcome: String,
    /// The last run ended at a limit.
    limited: bool,
}

/// Plays one run.
pub(crate) fn play<S: State, C: Clone + Send + Sync + 'static>(
    script: &Script<S, C>,
    score: &Score,
) -> Played {
    let thread = match ThreadKey::new(Tenant::default(), THREAD) {
        Ok(thread) => thread,
        Err(error) => return Played::unplayed(error.to_string()),
    };
    let core = Core::new(score.seed, score.faults.clone(), score.places.clone(), score.told);
    let mut play = Play {
        script,
        score,
        core: core.clone(),
        executor: Executor::new(core.clone()),
        alive: Vec::new(),
        processes: 0,
        thread,
        dice: Dice::new(score.seed, 5),
        polls: 0,
        given: Vec::new(),
        shown: Vec::new(),
        doubted: Vec::new(),
        outcome: String::new(),
        limited: false,
    };
    core.inner().disk.in_time = script.durability == Durability::Sync;
    let ended = play.all();
    let polls = play.polls;
    // Tasks hold the world that holds them.
    drop(play);
    let mut inner = core.inner();
    let started = std::mem::take(&mut inner.started);
    let trace = std::mem::take(&mut inner.trace);
    let (counts, faults) = (inner.fate.counts(), std::mem::take(&mut inner.fate.came));
    drop(inner);
    drop(started);
    Played { ended, faults, polls, counts, digest: trace.digest(), lines: trace.into_lines() }
}

impl<S: State, C: Clone + Send + Sync + 'static> Play<'_, S, C> {
    fn all(&mut self) -> Result<Ending, Wrong> {
        for act in &self.script.acts {
            self.act(act)?;
        }
        self.settle()?;
        // What a process took over that slept until all was done, and died of, is finished too.
        for _ in 0..TRIES {
            let left = self.fold()?.run(&Namespace::root()).is_some_and(|run| run.open);
            if !left {
                break;
            }
            self.turns(&[])?;
            self.settle()?;
        }
        let ending = invariants::check(self)?;
        Ok(Ending { outcome: self.outcome.clone(), ..ending })
    }

    fn act(&mut self, act: &Act<S>) -> Result<(), Wrong> {
        let key = self.thread.clone();
        match act {
            Act::Inputs(updates) => {
                for update in updates {
                    let changes = update.to_changes().map_err(|error| error.to_string())?;
                    self.given.push((key.clone(), changes));
                }
                let inputs = self.inputs();
                self.turns(&inputs)
            }
            Act::Rewind(choose) => {
                let is_rewind = |body: &Body| matches!(body, Body::Rewind);
                self.until(is_rewind, |entries| choose(entries).map(Asked::Rewind))?;
                self.turns(&[])
            }
            Act::Edit(update) => {
                let is_edit = |body: &Body| matches!(body, Body::Edit(_));
                self.until(is_edit, |_| Some(Asked::Edit(update.clone())))
            }
            Act::Fork(name) => {
                let to = ThreadKey::new(key.tenant().clone(), name).map_err(|e| e.to_string())?;
                for _ in 0..TRIES {
                    if !self.entries(&to).is_empty() {
                        self.thread = to;
                        return Ok(());
                    }
                    self.call(vec![Asked::Fork(to.clone())])?;
                    self.wait(1_000)?;
                }
                Err("a fork never came to be".to_owned())
            }
        }
    }

    /// The updates of all inputs that were given to the thread so far, in order.
    fn inputs(&self) -> Vec<S::Update> {
        let read = |(_, changes): &(ThreadKey, Changes)| S::Update::from_changes(changes).ok();
        self.given.iter().filter(|(thread, _)| *thread == self.thread).filter_map(read).collect()
    }

    /// Asks until the log holds one entry more of a kind.
    fn until(
        &mut self,
        is: impl Fn(&Body) -> bool,
        asked: impl Fn(&[LogEntry]) -> Option<Asked<S>>,
    ) -> Result<(), Wrong> {
        let thread = self.thread.clone();
        let count = |play: &Self| {
            play.entries(&thread).iter().filter(|entry| is(&entry.entry.body)).count()
        };
        let before = count(self);
        for _ in 0..TRIES {
            if count(self) > before {
                return Ok(());
            }
            let asked = asked(&self.entries(&thread)).ok_or("nothing to do it to")?;
            for answered in self.call(vec![asked])?.into_iter().flatten() {
                self.judge(answered, false)?;
            }
            self.wait(1_000)?;
        }
        Err("it never came to be".to_owned())
    }

    /// Gives the inputs that the log does not hold, finishes every turn, answers every question.
    fn turns(&mut self, inputs: &[S::Update]) -> Result<(), Wrong> {
        let mut requests: Vec<Pending> = Vec::new();
        self.limited = false;
        for _ in 0..TRIES {
            let missing = self.missing(inputs)?;
            let under_way = self.is_under_way()? && !self.limited;
            let asked = match (under_way, requests.is_empty()) {
                (true, true) => vec![Asked::Run(Input::Resume)],
                (true, false) => self.answers(&std::mem::take(&mut requests))?,
                (false, _) if missing.is_empty() => return Ok(()),
                (false, _) => {
                    missing.into_iter().map(|update| Asked::Run(Input::New(update))).collect()
                }
            };
            self.limited = false;
            let raced = asked.len() > 1;
            let mut again = false;
            for answered in self.call(asked)? {
                let Some(answered) = answered else { continue };
                match self.judge(answered, raced)? {
                    Some(Outcome::Interrupted(asked) | Outcome::InDoubt(asked)) => requests = asked,
                    Some(_) => {}
                    None => again = true,
                }
            }
            if again {
                let wait = 500 + self.dice.below(3_500) as u64;
                self.wait(wait)?;
            }
        }
        Err(format!("it does not come to its end; its last outcome was `{}`", self.outcome))
    }

    /// What an answer means: an outcome, or nothing if it has to be tried again.
    fn judge(&mut self, answered: Answered<S>, raced: bool) -> Result<Option<Outcome<S>>, Wrong> {
        let text = match &answered {
            Ok(Some(outcome)) => name(outcome).to_owned(),
            Ok(None) => "done".to_owned(),
            Err(RunError::Conflict { .. }) => "conflict".to_owned(),
            Err(RunError::Superseded { .. }) => "superseded".to_owned(),
            Err(error) => chain(error),
        };
        self.core.inner().note("answer", [0; 3], || text.clone());
        let outcome = match answered {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return Ok(None),
            Err(error) if self.is_expected(&error, raced) => return Ok(None),
            Err(_) => return Err(format!("unexpected: {text}")),
        };
        self.limited = matches!(outcome, Outcome::LimitReached { .. });
        if let Outcome::InDoubt(asked) = &outcome {
            let keys = asked.iter().filter_map(|pending| pending.doubt.as_ref());
            self.doubted.extend(keys.map(|doubt| doubt.key.clone()));
        }
        if !matches!(outcome, Outcome::Cancelled | Outcome::Drained) {
            self.outcome = text;
        }
        Ok(Some(outcome))
    }

    fn is_expected(&self, error: &RunError, raced: bool) -> bool {
        let went_wrong = !self.core.inner().fate.came.is_empty();
        match error {
            RunError::Node { .. } | RunError::Reduce { .. } => true,
            RunError::Conflict { .. }
            | RunError::Superseded { .. }
            | RunError::Unfinished { .. } => raced || went_wrong,
            RunError::AlreadyAnswered(_) | RunError::Stale(_) | RunError::NothingAsked(_) => {
                raced || went_wrong
            }
            RunError::Ambiguous { .. } => raced || went_wrong,
            RunError::Checkpoint(CheckpointError::Corrupt { .. }) => {
                self.score.faults.has(Fault::Damage)
            }
            RunError::Checkpoint(_) | RunError::NoSuchThread(_) => went_wrong,
            RunError::NoSuchRequest(_) => {
                self.score.faults.has(Fault::Stale) || self.core.inner().disk.lost
            }
            _ => false,
        }
    }

    /// Answers to all requests, or to some; now and then twice at once.
    fn answers(&mut self, requests: &[Pending]) -> Result<Vec<Asked<S>>, Wrong> {
        let world = World::new(&self.core, self.processes);
        let answered = requests.iter().map(|pending| {
            let value = (self.script.answer)(pending, &world).map_err(|error| error.to_string())?;
            Ok((pending.id.clone(), value))
        });
        let mut all: Vec<(RequestId, Stored)> = answered.collect::<Result<_, Wrong>>()?;
        let is_quiet = self.score.faults == Faults::none();
        if !is_quiet && all.len() > 1 && self.dice.one_in(2) {
            let count = 1 + self.dice.below(all.len());
            all.truncate(count);
        }
        let times = if !is_quiet && self.dice.one_in(4) { 2 } else { 1 };
        Ok((0..times).map(|_| Asked::Run(Input::Answers(all.clone()))).collect())
    }

    /// Makes calls, all at once, and waits until each has answered or is lost.
    fn call(&mut self, asked: Vec<Asked<S>>) -> Result<Vec<Became<S>>, Wrong> {
        let mut clients = Vec::with_capacity(asked.len());
        for asked in asked {
            let at = self.process()?;
            clients.push(self.client(at, asked)?);
        }
        let mut lost = vec![false; clients.len()];
        loop {
            let open =
                clients.iter().zip(&lost).any(|(client, lost)| !lost && !client.heard.has_answer());
            if !open {
                break;
            }
            let ended = self.befall(&clients)?;
            for (client, lost) in clients.iter().zip(&mut lost) {
                *lost |= ended.has(client);
            }
        }
        self.rest(&clients)?;
        let mut became = Vec::with_capacity(clients.len());
        let alone = clients.len() == 1;
        for (client, lost) in clients.into_iter().zip(lost) {
            self.shown.push((self.thread.clone(), client.heard.events()));
            let answered = if lost { None } else { client.heard.answer() };
            let misread = self.core.inner().misread.remove(&client.process);
            if let (true, true, Some(Ok(_))) = (misread, alone, &answered) {
                return Err("P7: a damaged record was read as if it were whole".to_owned());
            }
            became.push(answered);
        }
        Ok(became)
    }

    /// Waits until no process of `clients` appends any more for a call that was dropped: until then nobody knows
    /// whether its input was taken, and whoever gives it again gives it twice.
    fn rest(&mut self, clients: &[Client<S>]) -> Result<(), Wrong> {
        let is_busy = |play: &Self| {
            let frozen = &play.core.inner().frozen;
            let mut asked = play.alive.iter().filter(|alive| {
                let number = alive.number;
                !frozen.contains_key(&number) && clients.iter().any(|one| one.process == number)
            });
            asked.any(|alive| alive.app.running() > 0)
        };
        while is_busy(self) {
            self.turn()?;
            let dying = std::mem::take(&mut self.core.inner().dying);
            dying.into_iter().for_each(|process| self.kill(process));
        }
        Ok(())
    }

    fn client(&mut self, at: usize, asked: Asked<S>) -> Result<Client<S>, Wrong> {
        let watched = self.dice.one_in(2);
        let Some(alive) = self.alive.get(at) else { return Err("no process".to_owned()) };
        let (cancel, drain) = (Cancellation::default(), Cancellation::default());
        let handle = alive.app.thread(self.thread.clone()).takeover_limit(u32::MAX);
        let handle = (self.script.handle)(handle.new_input(self.script.new_input));
        let handle = handle.cancellation(cancel.clone()).drain(drain.clone());
        let (heard, runs) = (Heard::default(), matches!(asked, Asked::Run(_)));
        let call = client::call(handle, asked, alive.services.clone(), watched, heard.clone());
        let process = alive.number;
        let task = seams::start(&self.core, process, Box::pin(call));
        Ok(Client { task, process, runs, cancel, drain, heard })
    }

    /// Polls once, and lets befall what befalls.
    fn befall(&mut self, clients: &[Client<S>]) -> Result<Over, Wrong> {
        self.turn()?;
        let mut over = Over::default();
        let dying = std::mem::take(&mut self.core.inner().dying);
        for process in dying {
            self.kill(process);
            over.processes.push(process);
        }
        let victim = clients.iter().find(|client| !client.heard.has_answer());
        let Some(victim) = victim.filter(|victim| !over.has(victim)) else { return Ok(over) };
        let Some(fault) = self.core.inner().fate.poll() else { return Ok(over) };
        let may = match fault {
            Fault::MachineCrash => self.script.acts.iter().all(Act::is_input),
            // Whoever does not know whether an input was taken must not give it again while its process lives.
            Fault::Freeze => victim.runs && self.is_given()?,
            Fault::Cancel | Fault::Drain => victim.runs,
            _ => true,
        };
        if !may {
            return Ok(over);
        }
        let mut inner = self.core.inner();
        inner.fate.befell(fault);
        inner.befell(victim.process, fault);
        drop(inner);
        match fault {
            Fault::Crash => {
                self.kill(victim.process);
                over.processes.push(victim.process);
            }
            Fault::MachineCrash => {
                let all: Vec<_> = self.alive.iter().map(|alive| alive.number).collect();
                all.iter().for_each(|process| self.kill(*process));
                over.processes.extend(all);
                let mut inner = self.core.inner();
                inner.disk.lose(&mut self.dice);
            }
            Fault::Freeze => {
                let long = LEASE.as_millis() as u64 + self.dice.below(20_000) as u64;
                let mut inner = self.core.inner();
                let until = inner.now + long;
                inner.frozen.insert(victim.process, until);
                drop(inner);
                over.processes.push(victim.process);
            }
            Fault::Drop => {
                self.executor.abort(victim.task);
                over.clients.push(victim.task);
            }
            Fault::Cancel => victim.cancel.cancel(),
            Fault::Drain => victim.drain.cancel(),
            _ => {}
        }
        Ok(over)
    }

    fn turn(&mut self) -> Result<(), Wrong> {
        self.polls += 1;
        if self.polls > POLLS {
            return Err("it does not come to its end".to_owned());
        }
        if self.executor.turn() { Ok(()) } else { Err("nothing can go on".to_owned()) }
    }

    /// Lets `millis` pass.
    fn wait(&mut self, millis: u64) -> Result<(), Wrong> {
        let sleep = seams::sleep(&self.core, Duration::from_millis(millis));
        let until = self.core.inner().now + millis;
        seams::start(&self.core, Process::MAX, Box::pin(sleep));
        while self.core.inner().now < until {
            self.turn()?;
            let dying = std::mem::take(&mut self.core.inner().dying);
            dying.into_iter().for_each(|process| self.kill(process));
        }
        Ok(())
    }

    fn kill(&mut self, process: Process) {
        self.executor.kill(process);
        self.alive.retain(|alive| alive.number != process);
        let mut inner = self.core.inner();
        inner.frozen.remove(&process);
        inner.misread.remove(&process);
    }

    /// A process that can be called: the last one, or a new one.
    fn process(&mut self) -> Result<usize, Wrong> {
        let frozen = self.core.inner().frozen.clone();
        let able = self.alive.iter().rposition(|alive| !frozen.contains_key(&alive.number));
        let is_quiet = self.score.faults == Faults::none();
        if let Some(at) = able
            && (is_quiet || !self.dice.one_in(8))
        {
            return Ok(at);
        }
        let number = self.processes;
        self.processes += 1;
        let world = World::new(&self.core, number);
        let (graph, services) = (self.script.graph)(&world).map_err(|error| error.to_string())?;
        let store = SharedCheckpointer::new(Layered(Store::new(&self.core, number)));
        let app = graph.checkpointer((self.script.layer)(store)).durable(self.script.durability);
        self.alive.push(Alive { number, app, services });
        Ok(self.alive.len() - 1)
    }

    /// Waits until every task of every process is over.
    fn settle(&mut self) -> Result<(), Wrong> {
        let last = self.core.inner().now + 3_600_000;
        self.executor.settle();
        while self.executor.count() > 0 {
            self.turn()?;
            let dying = std::mem::take(&mut self.core.inner().dying);
            dying.into_iter().for_each(|process| self.kill(process));
            self.executor.settle();
            if self.core.inner().now > last {
                return Err(format!("{} tasks are left when all is over", self.executor.count()));
            }
        }
        let running: usize = self.alive.iter().map(|alive| alive.app.running()).sum();
        match running {
            0 => Ok(()),
            running => Err(format!("{running} runs are under way when all is over")),
        }
    }

    /// The log of `thread`.
    pub(crate) fn entries(&self, thread: &ThreadKey) -> Vec<LogEntry> {
        let inner = self.core.inner();
        inner.disk.book(thread).map(|book| book.entries.clone()).unwrap_or_default()
    }

    /// A quiet look at what is stored, as a process of its own.
    pub(crate) fn app(&self) -> Option<App<S, C>> {
        let world = World::new(&self.core, self.processes);
        let (graph, _) = (self.script.graph)(&world).ok()?;
        let store = self.core.inner().disk.store().clone();
        Some(graph.checkpointer((self.script.layer)(store)))
    }

    fn fold(&self) -> Result<ThreadFold, Wrong> {
        invariants::fold(&self.entries(&self.thread))
    }

    /// Whether a turn is not over.
    fn is_under_way(&self) -> Result<bool, Wrong> {
        let fold = self.fold()?;
        let root = fold.run(&Namespace::root());
        Ok(root.is_some_and(|run| run.open || !run.frontier.is_done()))
    }

    /// Those of `inputs` that the log does not hold.
    fn missing(&self, inputs: &[S::Update]) -> Result<Vec<S::Update>, Wrong> {
        let mut taken = invariants::taken(&self.entries(&self.thread));
        let mut missing = Vec::new();
        for input in inputs {
            let changes = input.to_changes().map_err(|error| error.to_string())?;
            match taken.iter().position(|taken| invariants::is_input(taken, &changes)) {
                Some(at) => drop(taken.swap_remove(at)),
                None => missing.push(input.clone()),
            }
        }
        if self.score.faults.has(Fault::MachineCrash) && self.script.new_input == NewInput::Reject {
            // What the machine forgot is said again in its order.
            missing.truncate(1);
        }
        Ok(missing)
    }

    /// Whether the log holds all that was given.
    fn is_given(&self) -> Result<bool, Wrong> {
        Ok(self.missing(&self.inputs())?.is_empty())
    }
}

/// Which calls are lost.
#[derive(Debug, Default)]
struct Over {
    processes: Vec<Process>,
    clients: Vec<u64>,
}

impl Over {
    fn has<S: State>(&self, client: &Client<S>) -> bool {
        self.processes.contains(&client.process) || self.clients.contains(&client.task)
    }
}

fn name<S>(outcome: &Outcome<S>) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Interrupted(_) => "interrupted",
        Outcome::Breakpoint(_) => "breakpoint",
        Outcome::InDoubt(_) => "in doubt",
        Outcome::LimitReached { .. } => "limit",
        Outcome::Poisoned(_) => "poisoned",
        Outcome::Cancelled => "cancelled",
        Outcome::Drained => "drained",
        _ => "another",
    }
}

fn chain(error: &RunError) -> String {
    let causes =
        std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl<S: State, C> fmt::Debug for Play<'_, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play").field("score", self.score).finish_non_exhaustive()
    }
}
