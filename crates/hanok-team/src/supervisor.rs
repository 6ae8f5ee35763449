//! The supervisor that plans.

use std::{fmt, sync::Arc};

use hanok_graph::{Drawing, Graph};
use hanok_model::ChatModel;
use hanok_state::{Map, State};

use crate::{
    builder::TeamSupervisorBuilder,
    definition::Team,
    settings::TeamSettings,
    state::{Phase, TeamState, TeamStateUpdate},
};
use hanok_supervisor::Member;

/// A supervisor that plans: which teams work on a question, on what, and in which order. Clones are the same supervisor.
///
/// ```text
/// START -> initialize -> load_memory -> planning -> execute_teams -> aggregate_results -> generate_response -> END
///                                          ^______________|  once, if a team failed
/// ```
///
/// The model proposes a plan, and code disposes: a plan that does not hold goes back to the model once, and then a rule makes one. A
/// team begins when the last of what it needs has ended. One that fails, panics or takes too long is `failed`, those that need it are
/// `skipped`, and all others go on. At a limit of the turn ([`Budget`](hanok_graph::Budget)) no team begins any more, and the turn ends
/// with an answer of what there is, which says what is missing. All of it is one thread of the log: after a crash no team that has ended works again.
///
/// ```
/// use hanok_agent::ReactAgent;
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_team::{Team, TeamSupervisor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Exchange::says(
///         r#"{"intent": "leave", "confidence": 0.9, "in_scope": true, "parts": ["How much leave do I have?"], "reason": "it asks"}"#,
///     ),
///     Exchange::says(
///         r#"{"steps": [{"id": "search", "team": "search", "task": "Find the annual leave", "description": "", "needs": []}],
///             "reason": "the rules say it", "confidence": 0.8}"#,
///     ),
///     Exchange::says("You have 15 days.").contains("search:"),
/// ]);
/// let rules = ScriptedModel::new([Exchange::says("Final Answer: 15 days").contains("Find the annual leave")]);
/// let search = ReactAgent::builder("search", "Searches the company's rules", rules).build()?;
/// let supervisor = TeamSupervisor::builder(model).team(Team::new(search)).build()?;
///
/// let state = supervisor.graph().invoke(supervisor.ask("How much leave do I have?"), ()).await?.done()?;
/// assert_eq!(state.answer.as_deref(), Some("You have 15 days."));
/// # Ok(())
/// # }
/// ```
pub struct TeamSupervisor<C: Send + Sync + 'static = ()> {
    pub(crate) settings: Arc<TeamSettings<C>>,
    graph: Graph<TeamState, C>,
}

impl<C: Send + Sync + 'static> fmt::Debug for TeamSupervisor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSupervisor").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> Clone for TeamSupervisor<C> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), graph: self.graph.clone() }
    }
}

impl<C: Send + Sync + 'static> TeamSupervisor<C> {
    /// Begins a supervisor whose `model` plans and answers.
    pub fn builder(model: impl ChatModel) -> TeamSupervisorBuilder<C> {
        TeamSupervisorBuilder::new(model)
    }

    pub(crate) fn new(settings: Arc<TeamSettings<C>>, graph: Graph<TeamState, C>) -> Self {
        Self { settings, graph }
    }

    /// The teams, in the order in which the model reads them.
    pub fn teams(&self) -> impl Iterator<Item = &Member<C>> {
        self.settings.teams.iter().map(|team: &Team<C>| &team.member)
    }

    /// The supervisor as a graph: run it, or give it a checkpointer for conversations that last.
    pub fn graph(&self) -> &Graph<TeamState, C> {
        &self.graph
    }

    /// The drawing of its graph, with those of its teams in it.
    pub fn drawing(&self) -> Drawing {
        let teams = self.teams().map(Member::drawing);
        teams.fold(self.graph.drawing(), |whole, team| whole.calls("execute_teams", team))
    }

    /// The input of a turn in which a user says `text`. It resets everything of an earlier turn but the messages.
    pub fn ask(&self, text: impl Into<String>) -> TeamStateUpdate {
        TeamState::update()
            .query(text.into())
            .phase(Phase::Initializing)
            .plan(None)
            .overwrite_team_results(Map::new())
            .overwrite_choices(Vec::new())
            .aggregated(None)
            .limit(None)
            .unanswered(None)
            .answer(None)
            .what_if(None)
            .started_at(None)
            .completed_at(None)
    }
}
