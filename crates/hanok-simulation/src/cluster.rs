//! Processes of whatever type over one store, under schedules of crashes.

use std::{fmt, sync::Arc};

use hanok_core::BoxError;

use crate::{
    Failure, Fault, Faults, Report, World,
    cast::{Cast, Start},
    play::{Ending, Played, Score},
};

/// Runs several processes over one store of logs and one of items under schedules of crashes, one for each seed, while a scenario of the
/// caller's calls them.
///
/// A process is what the caller builds of its [`World`]: a service that is called, and background tasks on
/// [`World::runtime`]. It is dropped with all its tasks when it dies, and after a while another one takes its place. One that stands
/// still is not polled, and counts as alive. At the end of a scenario all processes die: their tasks need not end.
///
/// The scenario says what has to hold. Besides, nothing may be stored under a lost claim, each log is one unbroken chain, and what
/// [`Effects`](crate::Effects) notes is held against the logs.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_checkpoint::{Put, SharedStore, Store};
/// use hanok_core::{ItemKey, Labels, Stored, Tenant};
/// use hanok_simulation::{Cast, Cluster, World};
///
/// let name = ItemKey::new(Tenant::default(), Labels::new(["names"])?, "first")?;
/// let cluster = Cluster::new(|world: &World| Ok((world.store(), world.runtime()))).seeds(100);
/// let report = cluster.run(|cast: &mut Cast<_>| {
///     loop {
///         let put = Put::new(Stored::encode("Ada").map_err(|error| error.to_string())?);
///         let name = name.clone();
///         let stored = cast.call(|(store, runtime): &(SharedStore, _)| {
///             let (store, now) = (store.clone(), runtime.clock.now());
///             Box::pin(async move { store.put(&name, put, now).await.is_ok() })
///         })?;
///         if stored == Some(true) {
///             return Ok(());
///         }
///         cast.wait(Duration::from_secs(1))?;
///     }
/// })?;
/// assert_eq!(report.seeds, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Cluster<P> {
    start: Start<P>,
    processes: usize,
    faults: Faults,
    from: u64,
    seeds: u64,
}

impl<P: Send + Sync + 'static> Cluster<P> {
    /// Simulates processes that `start` starts. Each is told its own world: its runtime and its stores are to be used, and no others.
    pub fn new(start: impl Fn(&World) -> Result<P, BoxError> + Send + Sync + 'static) -> Self {
        let start = Arc::new(start);
        Self { start, processes: 2, faults: Faults::all(), from: 0, seeds: 1_000 }
    }

    /// The number of processes that live at once. Default: two.
    pub fn processes(self, processes: usize) -> Self {
        Self { processes: processes.max(1), ..self }
    }

    /// The faults that may befall a run. Default: all. Runs are not cancelled or drained and events do not lag: the scenario does that
    /// itself.
    pub fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// The number of seeds that are run. Default: a thousand.
    pub fn seeds(self, seeds: u64) -> Self {
        Self { seeds, ..self }
    }

    /// The first seed. Default: 0.
    pub fn from(self, seed: u64) -> Self {
        Self { from: seed, ..self }
    }

    /// Plays `scenario` once for each seed.
    ///
    /// # Errors
    ///
    /// [`Failure`] of the first seed that fails, with what befell it and what happened last.
    pub fn run(
        &self,
        mut scenario: impl FnMut(&mut Cast<P>) -> Result<(), String>,
    ) -> Result<Report, Failure> {
        let mut report = Report::default();
        for seed in self.from..self.from.saturating_add(self.seeds) {
            let score = self.score(seed, false);
            let played = self.play(&score, &mut scenario);
            if played.ended.is_err() {
                let told = self.play(&self.score(seed, true), &mut scenario);
                return Err(Failure::of(&score, told, ""));
            }
            report.add(&played);
        }
        Ok(report)
    }

    /// Everything that happens in the run of one seed, line by line: virtual milliseconds, what, and its numbers. The last line
    /// says what is wrong, if something is.
    pub fn trace(
        &self,
        seed: u64,
        mut scenario: impl FnMut(&mut Cast<P>) -> Result<(), String>,
    ) -> Vec<String> {
        let played = self.play(&self.score(seed, true), &mut scenario);
        let wrong = played.ended.err().map(|why| format!("WRONG: {why}"));
        played.lines.into_iter().chain(wrong).collect()
    }

    fn score(&self, seed: u64, traced: bool) -> Score {
        let of_callers = [Fault::Cancel, Fault::Drain, Fault::Lag];
        let faults = of_callers.into_iter().fold(self.faults.clone(), Faults::without);
        Score { faults, traced, ..Score::quiet(seed) }
    }

    fn play(
        &self,
        score: &Score,
        scenario: impl FnOnce(&mut Cast<P>) -> Result<(), String>,
    ) -> Played {
        let mut cast = Cast::new(score, Arc::clone(&self.start), self.processes);
        let ended = scenario(&mut cast).and_then(|()| cast.broken());
        cast.stage.end(ended.map(|()| Ending::default()))
    }
}

impl<P> fmt::Debug for Cluster<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("processes", &self.processes)
            .field("faults", &self.faults)
            .field("from", &self.from)
            .field("seeds", &self.seeds)
            .finish_non_exhaustive()
    }
}
