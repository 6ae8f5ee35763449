//! Graphs under schedules of crashes.

use std::{fmt, ops::Range, sync::Arc};

use hanok_checkpoint::{Keep, LogEntry, SharedCheckpointer};
use hanok_core::{BoxError, Position, Stored};
use hanok_graph::{Durability, Graph, NewInput, Pending, Resolution, Thread};
use hanok_state::{State, StateUpdate};

use crate::{Failure, Fault, Faults, FinishedRun, Report, World, build, invariants, script};
use crate::{
    act::{Act, Beside, Update},
    build::{Build, GraphOf, Handle},
    faults::Places,
    play::{Ending, Played, Score, play},
    script::{Check, Script, Settings, View},
};

type Model = Arc<dyn Fn(u64) -> String + Send + Sync>;

/// With what the end of a run is compared.
#[derive(Clone)]
enum Want {
    /// With the end of one run in which nothing goes wrong.
    Quiet,
    /// With the end of such a run of the same seed, whose graph is of the seed.
    QuietOfSeed,
    Model(Model),
    Nothing,
}

/// Runs a graph under schedules of crashes, one for each seed, and holds every run to what hanok promises.
///
/// A run is one thread's life: its inputs, answers to what it asks, and processes that come and go. The engine is the real
/// one; its time, ids, randomness, tasks and store are simulated on one thread, so a seed is one schedule, the same
/// whenever and wherever it is run. When all faults of a run are over it has to come to its end, and to the same state as
/// a run in which nothing went wrong.
///
/// What must hold of every run is checked whatever else is: no stored write is lost or applied twice, no task and no
/// memoised step that is stored runs again, calls that must not be repeated are made once or told to be in doubt, every
/// input is taken once, claims rise and nothing is stored under a lost one, a damaged record is never read as a value,
/// recorded events are shown without gap or duplicate, and nothing is left running.
///
/// ```
/// use hanok_graph::{Context, END, Graph, START, Snapshot};
/// use hanok_state::State;
/// use hanok_simulation::{Effects, Simulation};
///
/// #[derive(State, Clone, Default)]
/// struct Count {
///     n: u32,
/// }
///
/// async fn add(state: Snapshot<Count>, cx: Context<Effects>) -> Result<CountUpdate, std::io::Error> {
///     cx.services().started(&cx);
///     Ok(Count::update().n(state.n + 1))
/// }
///
/// let report = Simulation::of(|world| {
///     let graph = Graph::builder("count").node("add", add).edge(START, "add").runtime(world.runtime());
///     let graph = graph.branch("add", |s: &Count| if s.n < 3 { "add" } else { END }, ["add", END]);
///     Ok((graph.build()?, world.effects()))
/// })
/// .input(Count::update())
/// .seeds(0..100)
/// .run()?;
/// assert_eq!(report.seeds, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Simulation<S: State, C> {
    /// The builds before the last one.
    before: Vec<Build>,
    graph: GraphOf<S, C>,
    handle: Handle<S, C>,
    checks: Vec<(String, Check<S>)>,
    view: View<S>,
    settings: Settings,
    plan: Plan,
}

/// The runs that are made, and the end that they have to come to.
#[derive(Clone)]
struct Plan {
    want: Want,
    faults: Faults,
    seeds: Range<u64>,
    threads: usize,
}

impl<S: State, C: Clone + Send + Sync + 'static> Simulation<S, C> {
    /// Simulates what `graph` builds for each process: a graph on [`World::runtime`], and the services of its nodes.
    pub fn of(
        graph: impl Fn(&World) -> Result<(Graph<S, C>, C), BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            before: Vec::new(),
            graph: Arc::new(graph),
            handle: Arc::new(|handle| handle),
            checks: Vec::new(),
            view: Arc::new(invariants::view),
            settings: Settings {
                acts: Vec::new(),
                new_input: NewInput::default(),
                names_runs: false,
                durability: Durability::default(),
                layer: Arc::new(|store| store),
                answer: Arc::new(settled),
            },
            plan: Plan { want: Want::Quiet, faults: Faults::all(), seeds: 0..1_000, threads: 1 },
        }
    }

    /// Goes on with another build, whose processes take the place of those before while the next turn goes on: at its
    /// beginning, between two polls of it, or at its end. What runs then dies or finishes its call; a process that stands
    /// still wakes among those of the new build.
    ///
    /// What was input before is given again if it was lost, whichever build runs then: let both know it by the same names.
    /// [`handle`](Simulation::handle), [`check`](Simulation::check) and [`view`](Simulation::view) are those of the last
    /// build; an input has to follow.
    pub fn deploy<T: State>(
        self,
        graph: impl Fn(&World) -> Result<(Graph<T, C>, C), BoxError> + Send + Sync + 'static,
    ) -> Simulation<T, C> {
        let mut before = self.before;
        before.push(build::build(self.graph, self.handle));
        let mut settings = self.settings;
        settings.acts.push(Act::Beside(Beside::Deploy));
        Simulation {
            before,
            graph: Arc::new(graph),
            handle: Arc::new(|handle| handle),
            checks: Vec::new(),
            view: Arc::new(invariants::view),
            settings,
            plan: self.plan,
        }
    }

    /// Gives this input when the turn before is over.
    pub fn input(self, update: S::Update) -> Self {
        self.inputs([update])
    }

    /// Gives these inputs at once when the turn before is over.
    pub fn inputs(self, updates: impl IntoIterator<Item = S::Update>) -> Self {
        let updates = updates.into_iter().map(|update| changes(&update));
        self.act(Act::Inputs(updates.collect()))
    }

    /// Rewinds the thread to where `choose` says by its log, and finishes what is due there.
    pub fn rewind(
        self,
        choose: impl Fn(&[LogEntry]) -> Option<Position> + Send + Sync + 'static,
    ) -> Self {
        self.act(Act::Rewind(Arc::new(choose)))
    }

    /// Edits the state between two turns.
    pub fn edit(self, update: S::Update) -> Self {
        self.act(Act::Edit(changes(&update)))
    }

    /// Erases what the update removes, between two runs of the next turn or at its end.
    pub fn erase(self, update: S::Update) -> Self {
        self.act(Act::Beside(Beside::Erase(changes(&update))))
    }

    /// Goes on with a fork of the thread that is named `name`.
    pub fn fork(self, name: &str) -> Self {
        self.act(Act::Fork(name.to_owned()))
    }

    /// Deletes the thread when the turn before is over. What follows begins anew under its name.
    pub fn delete(self) -> Self {
        self.act(Act::Delete)
    }

    /// Goes on with the thread that is named `name`, there or not. The first one is `simulated`.
    pub fn turn_to(self, name: &str) -> Self {
        self.act(Act::Turn(name.to_owned()))
    }

    /// Deletes the thread that is named `name`, and goes on with a copy of this one in its place.
    pub fn copy_over(self, name: &str) -> Self {
        self.act(Act::CopyOver(name.to_owned()))
    }

    /// Cuts off what `keep` leaves, while the next turn goes on.
    pub fn prune(self, keep: Keep) -> Self {
        self.act(Act::Beside(Beside::Prune(keep)))
    }

    fn act(mut self, act: Act) -> Self {
        self.settings.acts.push(act);
        self
    }

    /// The policy for an input while the thread runs or waits. Default: [`NewInput::Reject`].
    pub fn new_input(mut self, new_input: NewInput) -> Self {
        self.settings.new_input = new_input;
        self
    }

    /// Names the run of each input ([`Thread::run_id`]). Whoever does not know whether an input was taken gives it again, also while
    /// the process lives to which it was given first. The inputs have to differ. Default: nobody names runs, and an input is given
    /// again only when it is lost.
    pub fn naming_runs(mut self) -> Self {
        self.settings.names_runs = true;
        self
    }

    /// The durability of runs. Default: [`Durability::Sync`].
    pub fn durable(mut self, durability: Durability) -> Self {
        self.settings.durability = durability;
        self
    }

    /// Changes every handle of the thread: a budget, a limit of steps. Default: as they come.
    pub fn handle(
        mut self,
        handle: impl Fn(Thread<S, C>) -> Thread<S, C> + Send + Sync + 'static,
    ) -> Self {
        self.handle = Arc::new(handle);
        self
    }

    /// Puts a store of one's own between the engine and the simulated one: an encrypting one, say. Default: none.
    pub fn layer(
        mut self,
        layer: impl Fn(SharedCheckpointer) -> SharedCheckpointer + Send + Sync + 'static,
    ) -> Self {
        self.settings.layer = Arc::new(layer);
        self
    }

    /// Answers for people. Default: a question with `true`, a doubt about a call with the truth, by the ledger.
    pub fn answer(
        mut self,
        answer: impl Fn(&Pending, &World) -> Result<Stored, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.answer = Arc::new(move |pending, world| match &pending.doubt {
            Some(_) => settled(pending, world),
            None => answer(pending, world),
        });
        self
    }

    /// Settles doubts about calls for people. Default: with the truth, by the ledger.
    pub fn settle(
        mut self,
        settle: impl Fn(&Pending, &World) -> Result<Resolution, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let before = Arc::clone(&self.settings.answer);
        self.settings.answer = Arc::new(move |pending, world| match &pending.doubt {
            Some(_) => resolution(settle(pending, world)?),
            None => before(pending, world),
        });
        self
    }

    /// Checks something more of every run when it is over.
    pub fn check(
        mut self,
        name: &str,
        check: impl Fn(&FinishedRun<'_, S>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push((name.to_owned(), Arc::new(check)));
        self
    }

    /// The part of a final state that is compared. Default: all of it, as it is stored.
    pub fn view(mut self, view: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.view = Arc::new(view);
        self
    }

    fn want(self, want: Want) -> Self {
        Self { plan: Plan { want, ..self.plan }, ..self }
    }

    /// Every run ends as this model says of its seed. Default: all runs end as one in which nothing goes wrong.
    pub fn model(self, model: impl Fn(u64) -> String + Send + Sync + 'static) -> Self {
        self.want(Want::Model(Arc::new(model)))
    }

    /// The graph is made of the seed: each run ends as one of the same seed in which nothing goes wrong.
    pub fn of_seed(self) -> Self {
        self.want(Want::QuietOfSeed)
    }

    /// Runs may end in different states.
    pub fn any_end(self) -> Self {
        self.want(Want::Nothing)
    }

    /// The faults that may befall a run. Default: all.
    pub fn faults(self, faults: Faults) -> Self {
        Self { plan: Plan { faults, ..self.plan }, ..self }
    }

    /// The seeds that are run. Default: the first thousand.
    pub fn seeds(self, seeds: Range<u64>) -> Self {
        Self { plan: Plan { seeds, ..self.plan }, ..self }
    }

    /// The number of seeds that are run at once, each on a thread of its own. Default: one.
    pub fn threads(self, threads: usize) -> Self {
        Self { plan: Plan { threads: threads.max(1), ..self.plan }, ..self }
    }

    /// Runs all seeds.
    ///
    /// # Errors
    ///
    /// [`Failure`] of the first seed that fails, with what befell it and what happened last.
    pub fn run(&self) -> Result<Report, Failure> {
        let want = self.quiet()?;
        let count = self.plan.threads as u64;
        let of_thread = |nth: u64| {
            let mut report = Report::default();
            let seeds = self.plan.seeds.clone().skip(nth as usize).step_by(self.plan.threads);
            for seed in seeds {
                let score = Score { faults: self.plan.faults.clone(), ..Score::quiet(seed) };
                report.add(&self.one(&score, want.as_ref())?);
            }
            Ok(report)
        };
        if count == 1 {
            return of_thread(0);
        }
        let reports = std::thread::scope(|scope| {
            let of_thread = &of_thread;
            let running: Vec<_> =
                (0..count).map(|nth| scope.spawn(move || of_thread(nth))).collect();
            running.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        let mut all = Report::default();
        for report in reports {
            match report {
                Ok(report) => all.join(&report?),
                // A panic of a graph's own code, outside of its nodes.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    }

    /// Runs the first seed once for each place where its process could die at a write, before and after it is stored; with
    /// `twice`, also for each place where the process that takes over could die.
    ///
    /// # Errors
    ///
    /// As [`run`](Simulation::run).
    pub fn crash_everywhere(&self, twice: bool) -> Result<Report, Failure> {
        let (want, mut report) = (self.quiet()?, Report::default());
        let places = |appends: &[(usize, bool)]| {
            Some(Places { appends: appends.iter().copied().collect(), ..Places::default() })
        };
        let quiet = Score { places: places(&[]), ..Score::quiet(self.plan.seeds.start) };
        let (writes, _) = self.one(&quiet, want.as_ref())?.counts;
        for first in (0..writes).flat_map(|at| [(at, false), (at, true)]) {
            let score = quiet.at(places(&[first]));
            let played = self.one(&score, want.as_ref())?;
            report.add(&played);
            let again = if twice { first.0 + 1..played.counts.0 } else { 0..0 };
            for second in again.flat_map(|at| [(at, false), (at, true)]) {
                let score = quiet.at(places(&[first, second]));
                report.add(&self.one(&score, want.as_ref())?);
            }
        }
        Ok(report)
    }

    /// Runs the first seed once for each poll after which `fault` could befall it.
    ///
    /// # Errors
    ///
    /// As [`run`](Simulation::run).
    pub fn everywhere(&self, fault: Fault) -> Result<Report, Failure> {
        let (want, mut report) = (self.quiet()?, Report::default());
        let places = |poll: Option<usize>| {
            let polls = poll.into_iter().map(|poll| (poll, fault)).collect();
            Some(Places { polls, ..Places::default() })
        };
        let faults = Faults::none().with(fault);
        let quiet = Score { places: places(None), faults, ..Score::quiet(self.plan.seeds.start) };
        let (_, polls) = self.one(&quiet, want.as_ref())?.counts;
        for poll in 0..polls {
            let score = quiet.at(places(Some(poll)));
            report.add(&self.one(&score, want.as_ref())?);
        }
        Ok(report)
    }

    /// The compared part of the state with which a run of `seed` ends in which nothing goes wrong.
    ///
    /// # Errors
    ///
    /// [`Failure`] when such a run breaks a promise.
    pub fn quiet_end(&self, seed: u64) -> Result<String, Failure> {
        self.ending(seed).map(|ending| ending.view)
    }

    /// True when every run has to come to the same end.
    pub fn has_one_end(&self) -> bool {
        matches!(self.plan.want, Want::Quiet)
    }

    /// Everything that happens in the run of one seed, line by line: virtual milliseconds, what, and its numbers. The last
    /// line says what is wrong, if something is.
    pub fn trace(&self, seed: u64) -> Vec<String> {
        let faults = self.plan.faults.clone();
        let played = play(&self.script(), &Score { faults, traced: true, ..Score::quiet(seed) });
        let last = match played.ended {
            Ok(ending) => format!("ends `{}` with {}", ending.outcome, ending.view),
            Err(why) => format!("WRONG: {why}"),
        };
        played.lines.into_iter().chain([last]).collect()
    }

    /// The end that all runs have to come to, if it is one.
    fn quiet(&self) -> Result<Option<Ending>, Failure> {
        match self.plan.want {
            Want::Quiet => self.ending(self.plan.seeds.start).map(Some),
            Want::QuietOfSeed | Want::Model(_) | Want::Nothing => Ok(None),
        }
    }

    /// The end of a run of `seed` in which nothing goes wrong.
    fn ending(&self, seed: u64) -> Result<Ending, Failure> {
        let score = Score::quiet(seed);
        let played = play(&self.script(), &score);
        match played.ended {
            Ok(ending) => Ok(ending),
            Err(_) => Err(self.failure(&score, "although nothing went wrong")),
        }
    }

    fn one(&self, score: &Score, want: Option<&Ending>) -> Result<Played, Failure> {
        let played = play(&self.script(), score);
        let Ok(ending) = &played.ended else { return Err(self.failure(score, "")) };
        let other = match (&self.plan.want, want) {
            (Want::Quiet, Some(want)) => (want.view != ending.view).then(|| want.view.clone()),
            (Want::QuietOfSeed, _) => {
                Some(self.ending(score.seed)?.view).filter(|want| *want != ending.view)
            }
            (Want::Model(model), _) => Some(model(score.seed)).filter(|want| *want != ending.view),
            _ => None,
        };
        match other {
            None => Ok(played),
            Some(want) => {
                let why = format!("P1: it ends with {}, and should with {want}", ending.view);
                Err(self.failure(score, &why))
            }
        }
    }

    /// The script of a run: the same, whatever the types of the graphs are.
    fn script(&self) -> Script<'_> {
        let last = build::build(Arc::clone(&self.graph), Arc::clone(&self.handle));
        Script {
            builds: self.before.iter().cloned().chain([last]).collect(),
            settings: &self.settings,
            end: script::end(Arc::clone(&self.view), self.checks.clone()),
        }
    }

    /// Plays it again and tells all.
    fn failure(&self, score: &Score, why: &str) -> Failure {
        let played = play(&self.script(), &Score { traced: true, ..score.clone() });
        Failure::of(score, played, why)
    }
}

/// The changes of an update.
fn changes(update: &impl StateUpdate) -> Update {
    update.to_changes().map_err(|error| error.to_string())
}

fn resolution(resolution: Resolution) -> Result<Stored, BoxError> {
    Ok(match resolution {
        Resolution::Made(gave) => {
            let key = Stored::encode("made")?;
            Stored::map([(&key, &gave)].into_iter())
        }
        Resolution::NotMade => Stored::encode("not_made")?,
        Resolution::GiveUp => Stored::encode("give_up")?,
    })
}

/// A doubt is settled with the truth, and a question answered with `true`.
fn settled(pending: &Pending, world: &World) -> Result<Stored, BoxError> {
    let Some(doubt) = &pending.doubt else { return Ok(Stored::encode(&true)?) };
    resolution(match world.effects().gave(&doubt.key) {
        Some(gave) => Resolution::Made(gave),
        None => Resolution::NotMade,
    })
}

impl<S: State, C> Clone for Simulation<S, C> {
    fn clone(&self) -> Self {
        Self {
            before: self.before.clone(),
            graph: Arc::clone(&self.graph),
            handle: Arc::clone(&self.handle),
            checks: self.checks.clone(),
            view: Arc::clone(&self.view),
            settings: self.settings.clone(),
            plan: self.plan.clone(),
        }
    }
}

impl<S: State, C> fmt::Debug for Simulation<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("acts", &self.settings.acts)
            .field("faults", &self.plan.faults)
            .field("seeds", &self.plan.seeds)
            .finish_non_exhaustive()
    }
}
