//! The script of one run.

use std::sync::Arc;

use hanok_checkpoint::{LogEntry, SharedCheckpointer};
use hanok_core::{BoxError, Fields, Stored};
use hanok_graph::{Durability, NewInput, Pending};
use hanok_state::State;

use crate::{
    act::Act,
    build::{Build, Service},
    effects::Effects,
    finished::FinishedRun,
    world::World,
};

/// Answers for people.
pub(crate) type Answer = Arc<dyn Fn(&Pending, &World) -> Result<Stored, BoxError> + Send + Sync>;

/// A check of the end of a run.
pub(crate) type Check<S> = Arc<dyn Fn(&FinishedRun<'_, S>) -> Result<(), String> + Send + Sync>;

/// The part of a final state that is compared.
pub(crate) type View<S> = Arc<dyn Fn(&S) -> String + Send + Sync>;

/// The compared part of the fields at the end, of a log and with a ledger; or what is wrong with them.
pub(crate) type End =
    Arc<dyn Fn(Fields, &[LogEntry], &Effects) -> Result<String, String> + Send + Sync>;

/// The part of a script that is the same for graphs of all types.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) acts: Vec<Act>,
    pub(crate) new_input: NewInput,
    /// True if the runs of inputs are named, and inputs are given again by whoever is not sure.
    pub(crate) names_runs: bool,
    pub(crate) durability: Durability,
    pub(crate) layer: Arc<dyn Fn(SharedCheckpointer) -> SharedCheckpointer + Send + Sync>,
    pub(crate) answer: Answer,
}

/// The course of one run.
pub(crate) struct Script<'a> {
    /// The builds, in the order in which they are deployed.
    pub(crate) builds: Vec<Build>,
    pub(crate) settings: &'a Settings,
    pub(crate) end: End,
}

impl Script<'_> {
    /// Starts a process of a build.
    pub(crate) fn started(
        &self,
        build: usize,
        world: &World,
        store: SharedCheckpointer,
    ) -> Result<Box<dyn Service>, String> {
        let build = self.builds.get(build).ok_or("there is no further build")?;
        let started = build(world, (self.settings.layer)(store), self.settings.durability);
        started.map_err(|error| error.to_string())
    }
}

/// The end as the last build sees it.
pub(crate) fn end<S: State>(view: View<S>, checks: Vec<(String, Check<S>)>) -> End {
    Arc::new(move |mut fields, log, effects| {
        let state = S::default().load(&mut fields).map_err(|error| error.to_string())?;
        let run = FinishedRun { state: &state, log, effects };
        for (name, check) in &checks {
            check(&run).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(view(&state))
    })
}
