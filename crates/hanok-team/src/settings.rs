//! The settings of a team supervisor.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hanok_agent::{ContentCapture, Language};
use hanok_graph::{Context, Snapshot};
use hanok_model::SharedModel;

use hanok_grounding::Grounding;

use crate::{
    definition::Team,
    memory::SharedTeamMemory,
    nodes::planning::Forms,
    plan::TeamNeeds,
    prompt::TeamPrompts,
    state::{TeamState, TeamStateUpdate},
};

/// The time that a team is thought to take before it has ever run.
const UNMEASURED: Duration = Duration::from_secs(5);

/// The parts and limits of a team supervisor, which its nodes share.
pub(crate) struct TeamSettings<C: Send + Sync + 'static> {
    pub(crate) name: String,
    pub(crate) model: SharedModel,
    pub(crate) teams: Vec<Team<C>>,
    pub(crate) memory: Option<SharedTeamMemory<C>>,
    pub(crate) prompts: TeamPrompts,
    pub(crate) grounding: Option<Grounding>,
    pub(crate) language: Language,
    pub(crate) replans: bool,
    pub(crate) temperature: Option<f64>,
    /// The most tokens of a reply of the model.
    pub(crate) max_tokens: u32,
    pub(crate) capture: ContentCapture,
    pub(crate) measured: Measured,
    /// The forms of what the model is asked for.
    pub(crate) forms: Forms,
}

impl<C: Send + Sync + 'static> fmt::Debug for TeamSettings<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSettings")
            .field("name", &self.name)
            .field("teams", &self.teams)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> TeamSettings<C> {
    /// A node that runs `run` with these settings.
    pub(crate) fn node<F>(
        self: &Arc<Self>,
        run: fn(Arc<Self>, Snapshot<TeamState>, Context<C>) -> F,
    ) -> impl Fn(Snapshot<TeamState>, Context<C>) -> F + use<F, C>
    where
        F: Future<Output = Result<TeamStateUpdate, super::error::TeamError>>,
    {
        let settings = self.clone();
        move |state, context| run(settings.clone(), state, context)
    }

    /// The team `name`.
    pub(crate) fn team(&self, name: &str) -> Option<&Team<C>> {
        self.teams.iter().find(|team| team.name() == name)
    }

    /// What plans are checked against.
    pub(crate) fn needs(&self) -> Vec<TeamNeeds<'_>> {
        let needs = |team| {
            let Team { needs, .. }: &Team<C> = team;
            TeamNeeds { name: team.name(), needs }
        };
        self.teams.iter().map(needs).collect()
    }
}

/// The time that each team has taken in this process: the mean of its completed runs.
#[derive(Debug, Default)]
pub(crate) struct Measured(Mutex<BTreeMap<String, (u32, Duration)>>);

impl Measured {
    /// Counts a run.
    pub(crate) fn note(&self, team: &str, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (runs, whole) = all.entry(team.to_owned()).or_default();
        (*runs, *whole) = (runs.saturating_add(1), whole.saturating_add(took));
    }

    /// The time that a run of the team takes.
    pub(crate) fn of(&self, team: &str) -> Duration {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(team).map_or(UNMEASURED, |(runs, whole)| *whole / (*runs).max(1))
    }
}
