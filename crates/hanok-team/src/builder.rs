//! Building a team supervisor.

use std::{collections::BTreeSet, fmt, sync::Arc};

use hanok_agent::{ContentCapture, Language};
use hanok_graph::{END, Graph, NodeExt, Runtime, START};
use hanok_model::{ChatModel, SharedModel};

use hanok_grounding::Grounding;

use crate::{
    definition::Team,
    error::{TeamBuildError, TeamFault},
    memory::{SharedTeamMemory, TeamMemory},
    nodes::{
        aggregate_results::aggregate_results,
        execute_teams::execute_teams,
        generate_response::generate_response,
        initialize::initialize,
        load_memory::load_memory,
        planning::{Forms, planning},
    },
    plan::{self, PlanStep},
    prompt::TeamPrompts,
    settings::{Measured, TeamSettings},
    state::TeamState,
    step::StepStatus,
    supervisor::TeamSupervisor,
};

/// The most tokens of a reply of the supervisor's model where nobody says otherwise.
const LONGEST: u32 = 2_000;

/// Builds a [`TeamSupervisor`].
#[must_use]
pub struct TeamSupervisorBuilder<C: Send + Sync + 'static = ()> {
    settings: TeamSettings<C>,
    runtime: Runtime,
}

impl<C: Send + Sync + 'static> fmt::Debug for TeamSupervisorBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSupervisorBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> TeamSupervisorBuilder<C> {
    pub(crate) fn new(model: impl ChatModel) -> Self {
        let settings = TeamSettings {
            name: "team_supervisor".to_owned(),
            model: SharedModel::new(model),
            teams: Vec::new(),
            memory: None,
            prompts: TeamPrompts::default(),
            grounding: Some(Grounding::new()),
            language: Language::default(),
            replans: true,
            temperature: None,
            max_tokens: LONGEST,
            capture: ContentCapture::default(),
            measured: Measured::default(),
            forms: Forms::new(),
        };
        Self { settings, runtime: Runtime::default() }
    }

    /// Sets the name: of the graph, and in the choices. Default: `team_supervisor`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Adds a team.
    pub fn team(mut self, team: impl Into<Team<C>>) -> Self {
        self.settings.teams.push(team.into());
        self
    }

    /// Reads what is known of the user before the planning, and hands on what the turn teaches. Default: no memory.
    pub fn memory(mut self, memory: impl TeamMemory<C>) -> Self {
        self.settings.memory = Some(SharedTeamMemory::new(memory));
        self
    }

    /// Sets the language of prompts and answers. Default: English.
    pub fn language(mut self, language: Language) -> Self {
        self.settings.language = language;
        self
    }

    /// Sets the instructions of `intent_analysis`. The teams, and what data is, are added. Default: the supervisor's own.
    pub fn intent_analysis(mut self, prompt: impl Into<String>) -> Self {
        self.settings.prompts.intent_analysis = Some(prompt.into());
        self
    }

    /// Sets the instructions of `agent_selection`. The teams, and what data is, are added. Default: the supervisor's own.
    pub fn agent_selection(mut self, prompt: impl Into<String>) -> Self {
        self.settings.prompts.agent_selection = Some(prompt.into());
        self
    }

    /// Sets the instructions of `response_generation`. What data is, is added. Default: the supervisor's own.
    pub fn response_generation(mut self, prompt: impl Into<String>) -> Self {
        self.settings.prompts.response_generation = Some(prompt.into());
        self
    }

    /// Plans anew, once in a turn, when a team failed. Default: true.
    pub fn replan(mut self, replan: bool) -> Self {
        self.settings.replans = replan;
        self
    }

    /// Sets what becomes of figures of an answer that no tool gave and the user did not write, in the supervisor's language; `None` looks
    /// none up. Default: a last line marks them.
    pub fn grounding(mut self, grounding: impl Into<Option<Grounding>>) -> Self {
        self.settings.grounding = grounding.into();
        self
    }

    /// Sets the temperature of the supervisor's model. Default: the server's own.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Limits the tokens of each reply of the supervisor's model: an intent, a plan, the answer. A model that reasons at length needs
    /// more. A plan that is longer is none, and the rules plan; an answer stands as far as it came. Default: 2,000.
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.settings.max_tokens = max_tokens;
        self
    }

    /// Records the texts of the supervisor's model in its spans. Default: they are not recorded.
    pub fn capture(mut self, capture: ContentCapture) -> Self {
        self.settings.capture = capture;
        self
    }

    /// Sets the sources of time, ids and randomness. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// Builds the supervisor.
    ///
    /// # Errors
    ///
    /// [`TeamBuildError`] with all faults of the teams.
    pub fn build(mut self) -> Result<TeamSupervisor<C>, TeamBuildError> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(TeamBuildError { faults });
        }
        let language = self.settings.language;
        let names = self.settings.teams.iter().map(|team| team.name());
        self.settings.forms = self.settings.forms.fitted(language, names);
        let grounding = self.settings.grounding.take();
        self.settings.grounding = grounding.map(|grounding| grounding.language(language));
        let settings = Arc::new(self.settings);
        let replans = settings.replans;
        let graph = Graph::<TeamState, C>::builder(&settings.name)
            .node("initialize", settings.node(initialize).past_limits())
            .node("load_memory", settings.node(load_memory).past_limits())
            .node("planning", settings.node(planning).past_limits())
            .node("execute_teams", settings.node(execute_teams).past_limits())
            .node("aggregate_results", settings.node(aggregate_results).past_limits())
            .node("generate_response", settings.node(generate_response).past_limits())
            .edge(START, "initialize")
            .edge("initialize", "load_memory")
            .edge("load_memory", "planning")
            .branch("planning", after_planning, ["execute_teams", "aggregate_results"])
            .branch(
                "execute_teams",
                move |state: &TeamState| after_teams(state, replans),
                ["planning", "aggregate_results"],
            )
            .edge("aggregate_results", "generate_response")
            .edge("generate_response", END)
            .runtime(self.runtime)
            .build();
        match graph {
            Ok(graph) => Ok(TeamSupervisor::new(settings, graph)),
            Err(error) => Err(TeamBuildError { faults: vec![TeamFault::Graph(error)] }),
        }
    }

    fn faults(&self) -> Vec<TeamFault> {
        let teams = &self.settings.teams;
        let mut faults = Vec::new();
        if teams.is_empty() {
            faults.push(TeamFault::NoTeams);
        }
        let names: Vec<String> = teams.iter().map(|team| team.name().to_owned()).collect();
        let mut before = BTreeSet::new();
        for team in teams {
            let name = || team.name().to_owned();
            if !team.member.is_named() {
                faults.push(TeamFault::Name { team: name() });
            }
            if !before.insert(team.name()) {
                faults.push(TeamFault::TwiceNamed { team: name() });
            }
            if team.member.description().trim().is_empty() {
                faults.push(TeamFault::NoDescription { team: name() });
            }
            if team.timeout.is_zero() {
                faults.push(TeamFault::NoTime { team: name() });
            }
            let needs = team.needs.iter().chain(&team.takes_if_there);
            let unknown = needs.filter(|need| !names.contains(need));
            faults.extend(unknown.map(|need| TeamFault::UnknownNeed {
                team: name(),
                need: need.clone(),
                teams: names.clone(),
            }));
        }
        let step = |team: &Team<C>| PlanStep {
            id: team.name().to_owned(),
            needs: team.needs.iter().chain(&team.takes_if_there).cloned().collect(),
            ..PlanStep::default()
        };
        let steps: Vec<_> = teams.iter().map(step).collect();
        let in_order: BTreeSet<_> = plan::groups(&steps).into_iter().flatten().collect();
        let circle: Vec<_> =
            names.iter().filter(|name| !in_order.contains(*name)).cloned().collect();
        if !circle.is_empty() {
            faults.push(TeamFault::Circle { teams: circle });
        }
        faults
    }
}

/// The node after the planning: the teams, if a step has no end yet.
fn after_planning(state: &TeamState) -> &'static str {
    let mut steps = state.plan.iter().flat_map(|plan| &plan.steps);
    match steps.any(|step| state.team_results.get(&step.id).is_none()) {
        true => "execute_teams",
        false => "aggregate_results",
    }
}

/// The node after the teams: once in a turn the planning, if one of them failed, and not for a limit.
fn after_teams(state: &TeamState, replans: bool) -> &'static str {
    let is_first = state.plan.as_ref().is_some_and(|plan| !plan.replanned) && state.limit.is_none();
    let mut results = state.team_results.iter();
    match replans && is_first && results.any(|(_, result)| result.status == StepStatus::Failed) {
        true => "planning",
        false => "aggregate_results",
    }
}
