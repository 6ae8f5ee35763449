//! One run of a simulation: callers, processes that come and go, and whatever befalls them.

use std::fmt;

use hanok_checkpoint::{Body, CheckpointError, LogEntry, ThreadFold};
use hanok_core::{Chain, Changes, Namespace, RequestId, RunId, Stored, Tenant, ThreadKey};
use hanok_graph::{Durability, Event, NewInput, Pending, RunError};

use crate::{
    act::Act,
    beside::Besides,
    build::Service,
    client::{Action, Ended, Reply},
    faults::{Fault, Faults, Places},
    invariants,
    script::Script,
    stage::Stage,
    world::World,
};

/// The number of tries of callers before a run counts as one that never ends.
const TRIES: usize = 300;

/// The thread that callers begin with.
const THREAD: &str = "simulated";

/// The seed and the faults of one run.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
    pub(crate) places: Option<Places>,
    /// True when every step is traced.
    pub(crate) traced: bool,
}

impl Score {
    /// A run in which nothing goes wrong.
    pub(crate) fn quiet(seed: u64) -> Self {
        Self { seed, faults: Faults::none(), places: None, traced: false }
    }

    /// The same with faults at other places.
    pub(crate) fn at(&self, places: Option<Places>) -> Self {
        Self { places, ..self.clone() }
    }
}

/// The end of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The part that is compared between runs.
    pub(crate) view: String,
    pub(crate) outcome: String,
}

/// A run that was played.
pub(crate) struct Played {
    pub(crate) ended: Result<Ending, String>,
    pub(crate) faults: Vec<(Fault, String)>,
    pub(crate) polls: u64,
    /// Appends, and polls at which something could have gone wrong.
    pub(crate) counts: (usize, usize),
    pub(crate) digest: u64,
    pub(crate) lines: Vec<String>,
}

impl Played {
    fn unplayed(why: String) -> Self {
        let (faults, lines) = (Vec::new(), Vec::new());
        Self { ended: Err(why), faults, polls: 0, counts: (0, 0), digest: 0, lines }
    }
}

/// A process, and which of the builds it is of.
pub(crate) struct Deployed {
    pub(crate) build: usize,
    pub(crate) service: Box<dyn Service>,
}

/// The reply to one call: none if its process, its caller or its wits were lost.
pub(crate) type Became = Option<Reply>;

pub(crate) struct Play<'a> {
    pub(crate) script: &'a Script<'a>,
    pub(crate) stage: Stage<Deployed>,
    /// Which of the builds new processes are of.
    pub(crate) build: usize,
    pub(crate) besides: Besides,
    pub(crate) thread: ThreadKey,
    /// The inputs that were given to each thread, in order.
    pub(crate) all_inputs: Vec<(ThreadKey, Changes)>,
    /// The events that each watched run has shown.
    pub(crate) shown: Vec<(ThreadKey, Vec<Event>)>,
    /// The calls that were said to be in doubt.
    pub(crate) doubted: Vec<String>,
    outcome: String,
    /// The last run ended at a limit.
    limited: bool,
}

/// Plays one run.
pub(crate) fn play(script: &Script<'_>, score: &Score) -> Played {
    let thread = match ThreadKey::new(Tenant::default(), THREAD) {
        Ok(thread) => thread,
        Err(error) => return Played::unplayed(error.to_string()),
    };
    let mut play = Play {
        script,
        stage: Stage::new(score),
        build: 0,
        besides: Besides::default(),
        thread,
        all_inputs: Vec::new(),
        shown: Vec::new(),
        doubted: Vec::new(),
        outcome: String::new(),
        limited: false,
    };
    let in_time = script.settings.durability == Durability::Sync;
    play.stage.core.inner().disk.in_time = in_time;
    let ended = play.all();
    play.stage.end(ended)
}

impl Play<'_> {
    fn all(&mut self) -> Result<Ending, String> {
        for act in &self.script.settings.acts {
            self.act(act)?;
        }
        self.settle()?;
        // What a process took over that slept until all was done, and died of, is finished too.
        for _ in 0..TRIES {
            let is_open = self.fold()?.run(&Namespace::root()).is_some_and(|run| run.open);
            if !is_open {
                break;
            }
            self.turns(&[])?;
            self.settle()?;
        }
        let ending = invariants::check(self)?;
        Ok(Ending { outcome: std::mem::take(&mut self.outcome), ..ending })
    }

    fn act(&mut self, act: &Act) -> Result<(), String> {
        let key = self.thread.clone();
        match act {
            Act::Inputs(updates) => {
                for update in updates {
                    self.all_inputs.push((key.clone(), update.clone()?));
                }
                let inputs = self.inputs();
                self.turns(&inputs)?;
                self.rest_beside()
            }
            Act::Rewind(choose) => {
                let is_rewind = |body: &Body| matches!(body, Body::Rewind(_));
                self.until(is_rewind, |entries| choose(entries).map(Action::Rewind))?;
                self.turns(&[])
            }
            Act::Edit(update) => {
                let (is_edit, update) =
                    (|body: &Body| matches!(body, Body::Edit(_)), update.clone()?);
                self.until(is_edit, |_| Some(Action::Edit(update.clone())))
            }
            Act::Fork(name) => {
                let to = self.named(name)?;
                self.written(&to, Action::Fork)?;
                self.thread = to;
                Ok(())
            }
            Act::Turn(name) => {
                self.thread = self.named(name)?;
                Ok(())
            }
            Act::Delete => self.delete(),
            Act::CopyOver(name) => {
                let (from, to) = (key.clone(), self.named(name)?);
                self.thread = to.clone();
                self.delete()?;
                self.thread = from;
                self.written(&to, Action::Copy)?;
                let copied = self.all_inputs.iter().filter(|(thread, _)| *thread == key);
                let copied: Vec<_> =
                    copied.map(|(_, changes)| (to.clone(), changes.clone())).collect();
                self.all_inputs.extend(copied);
                self.thread = to;
                Ok(())
            }
            Act::Beside(beside) => self.plan(beside.clone()),
        }
    }

    fn named(&self, name: &str) -> Result<ThreadKey, String> {
        ThreadKey::new(self.thread.tenant().clone(), name).map_err(|error| error.to_string())
    }

    /// Acts until `to` has a log.
    fn written(
        &mut self,
        to: &ThreadKey,
        action: impl Fn(ThreadKey) -> Action,
    ) -> Result<(), String> {
        for _ in 0..TRIES {
            if !self.entries(to).is_empty() {
                return Ok(());
            }
            self.call(vec![action(to.clone())])?;
            self.stage.wait(1_000)?;
        }
        Err(format!("`{}` never came to be", to.thread()))
    }

    /// Deletes the thread, and forgets what was given to it.
    fn delete(&mut self) -> Result<(), String> {
        for _ in 0..TRIES {
            if self.entries(&self.thread).is_empty() {
                let Self { thread, all_inputs, shown, .. } = self;
                all_inputs.retain(|(of, _)| of != thread);
                shown.retain(|(of, _)| of != thread);
                return Ok(());
            }
            self.call(vec![Action::Delete])?;
            self.stage.wait(1_000)?;
        }
        Err("a thread is never deleted".to_owned())
    }

    /// All inputs that were given to the thread so far, in order.
    fn inputs(&self) -> Vec<Changes> {
        let own = self.all_inputs.iter().filter(|(thread, _)| *thread == self.thread);
        own.map(|(_, changes)| changes.clone()).collect()
    }

    /// Asks until the log holds one entry more of a kind.
    pub(crate) fn until(
        &mut self,
        is: impl Fn(&Body) -> bool,
        action: impl Fn(&[LogEntry]) -> Option<Action>,
    ) -> Result<(), String> {
        let thread = self.thread.clone();
        let count = |play: &Self| {
            play.entries(&thread).iter().filter(|entry| is(&entry.entry.body)).count()
        };
        let before = count(self);
        for _ in 0..TRIES {
            if count(self) > before {
                return Ok(());
            }
            let action = action(&self.entries(&thread)).ok_or("nothing to do it to")?;
            for reply in self.call(vec![action])?.into_iter().flatten() {
                self.judge(reply, false)?;
            }
            self.stage.wait(1_000)?;
        }
        Err("it never came to be".to_owned())
    }

    /// Gives the inputs that the log does not hold, finishes every turn, answers every question.
    fn turns(&mut self, inputs: &[Changes]) -> Result<(), String> {
        let mut requests: Vec<Pending> = Vec::new();
        self.limited = false;
        for _ in 0..TRIES {
            let missing = self.missing(inputs);
            let under_way = self.is_under_way()? && !self.limited;
            if under_way {
                self.between()?;
            }
            let actions = match (under_way, requests.is_empty()) {
                (true, true) if self.is_unsure() => {
                    // An input that the machine forgot has to wait for the turn before it.
                    let newest = inputs.iter().rfind(|input| !missing.contains(input));
                    vec![newest.map_or(Action::Resume, |input| self.input(inputs, input))]
                }
                (true, true) => vec![Action::Resume],
                (true, false) => self.answers(&std::mem::take(&mut requests))?,
                (false, _) if missing.is_empty() => return Ok(()),
                (false, _) => missing.iter().map(|input| self.input(inputs, input)).collect(),
            };
            self.limited = false;
            let raced = actions.len() > 1;
            let mut again = false;
            for reply in self.call(actions)? {
                let Some(reply) = reply else { continue };
                match self.judge(reply, raced)? {
                    Some(ended) if !ended.requests.is_empty() => requests = ended.requests,
                    Some(_) => {}
                    None => again = true,
                }
            }
            if again {
                let wait = 500 + self.stage.dice.below(3_500) as u64;
                self.stage.wait(wait)?;
            }
        }
        Err(format!("it does not come to its end; its last outcome was `{}`", self.outcome))
    }

    /// Judges a reply: the end of a run, or nothing if it has to be tried again.
    pub(crate) fn judge(&mut self, reply: Reply, raced: bool) -> Result<Option<Ended>, String> {
        let text = match &reply {
            Ok(Some(ended)) => ended.name.to_owned(),
            Ok(None) => "done".to_owned(),
            Err(RunError::Conflict { .. }) => "conflict".to_owned(),
            Err(RunError::Superseded { .. }) => "superseded".to_owned(),
            Err(error) => Chain(error).to_string(),
        };
        self.stage.core.inner().note("answer", [0; 3], || text.clone());
        let ended = match reply {
            Ok(Some(ended)) => ended,
            Ok(None) => return Ok(None),
            Err(error) if self.is_expected(&error, raced) => return Ok(None),
            Err(_) => return Err(format!("unexpected: {text}")),
        };
        self.limited = ended.name == "limit";
        let doubts = ended.requests.iter().filter_map(|pending| pending.doubt.as_ref());
        self.doubted.extend(doubts.map(|doubt| doubt.key.clone()));
        if !matches!(ended.name, "cancelled" | "drained") {
            self.outcome = text;
        }
        Ok(Some(ended))
    }

    fn is_expected(&self, error: &RunError, raced: bool) -> bool {
        // What is deployed dies without a fault.
        let went_wrong = self.build > 0 || !self.stage.core.inner().fate.befallen.is_empty();
        match error {
            RunError::Node { .. } | RunError::Reduce { .. } => true,
            // A run that was dropped, or is slow, keeps the thread from nobody in its own process.
            RunError::Conflict { .. } => raced || went_wrong && !self.is_alone(),
            RunError::Superseded { .. } | RunError::Unfinished { .. } => raced || went_wrong,
            RunError::AlreadyAnswered(_) | RunError::Stale(_) | RunError::NothingAsked(_) => {
                raced || went_wrong
            }
            RunError::Ambiguous { .. } => raced || went_wrong,
            RunError::Checkpoint(CheckpointError::Corrupt { .. }) => {
                self.stage.faults.has(Fault::Damage)
            }
            RunError::Checkpoint(_) | RunError::NoSuchThread(_) => went_wrong,
            RunError::NoSuchRequest(_) => {
                self.stage.faults.has(Fault::Stale) || self.stage.core.inner().disk.lost
            }
            _ => false,
        }
    }

    /// True when there was one process only, and nothing befell it that takes a run's thread or hides where its log is.
    fn is_alone(&self) -> bool {
        let harmless =
            |fault: &Fault| matches!(fault, Fault::Drop | Fault::Slow | Fault::Lag | Fault::Skew);
        let inner = self.stage.core.inner();
        self.stage.processes == 1 && inner.fate.befallen.iter().all(|(fault, _)| harmless(fault))
    }

    /// Answers to all requests, or to some; now and then twice at once.
    fn answers(&mut self, requests: &[Pending]) -> Result<Vec<Action>, String> {
        let world = World::new(&self.stage.core, self.stage.processes);
        let answered = requests.iter().map(|pending| {
            let value = (self.script.settings.answer)(pending, &world)
                .map_err(|error| error.to_string())?;
            Ok((pending.id.clone(), value))
        });
        let mut all: Vec<(RequestId, Stored)> = answered.collect::<Result<_, String>>()?;
        let is_quiet = self.stage.is_quiet();
        if !is_quiet && all.len() > 1 && self.stage.dice.one_in(2) {
            let count = 1 + self.stage.dice.below(all.len());
            all.truncate(count);
        }
        let times = if !is_quiet && self.stage.dice.one_in(4) { 2 } else { 1 };
        Ok((0..times).map(|_| Action::Answers(all.clone())).collect())
    }

    /// The log of `thread`.
    pub(crate) fn entries(&self, thread: &ThreadKey) -> Vec<LogEntry> {
        let inner = self.stage.core.inner();
        inner.disk.book(thread).map(|book| book.entries.clone()).unwrap_or_default()
    }

    /// A quiet look at what is stored, as a process of its own.
    pub(crate) fn service(&self) -> Option<Box<dyn Service>> {
        let world = World::new(&self.stage.core, self.stage.processes);
        let store = self.stage.core.inner().disk.store();
        self.script.started(self.build, &world, store).ok()
    }

    fn fold(&self) -> Result<ThreadFold, String> {
        self.folded(&self.thread)
    }

    /// True while a turn is not over.
    fn is_under_way(&self) -> Result<bool, String> {
        let fold = self.fold()?;
        let root = fold.run(&Namespace::root());
        Ok(root.is_some_and(|run| run.open || !run.frontier.is_done()))
    }

    /// The fold of the log of `thread`.
    pub(crate) fn folded(&self, thread: &ThreadKey) -> Result<ThreadFold, String> {
        let inner = self.stage.core.inner();
        inner.disk.book(thread).map_or_else(|| Ok(ThreadFold::default()), invariants::fold)
    }

    /// True if an input is given again although it was taken.
    fn is_unsure(&mut self) -> bool {
        self.script.settings.names_runs && self.stage.dice.one_in(2)
    }

    /// Gives one of `inputs`.
    fn input(&self, inputs: &[Changes], input: &Changes) -> Action {
        let place = || inputs.iter().position(|one| one == input).unwrap_or_default();
        let name = self.script.settings.names_runs.then(|| RunId(place() as u128 + 1));
        Action::Input(input.clone(), name)
    }

    /// Those of `inputs` that the log does not hold.
    fn missing(&self, inputs: &[Changes]) -> Vec<Changes> {
        let mut taken = invariants::taken(&self.entries(&self.thread));
        let mut missing = Vec::new();
        for input in inputs {
            match taken.iter().position(|taken| invariants::is_input(taken, input)) {
                Some(at) => drop(taken.swap_remove(at)),
                None => missing.push(input.clone()),
            }
        }
        if self.stage.faults.has(Fault::MachineCrash)
            && self.script.settings.new_input == NewInput::Reject
        {
            // What the machine forgot is said again in its order.
            missing.truncate(1);
        }
        missing
    }

    /// True when the log holds all inputs.
    pub(crate) fn has_all_inputs(&self) -> bool {
        self.missing(&self.inputs()).is_empty()
    }
}

impl fmt::Debug for Play<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play").field("faults", &self.stage.faults).finish_non_exhaustive()
    }
}
