//! The node that tells what the user wants and makes the plan; and, once in a turn, a plan for what failed.

use std::{collections::BTreeMap, sync::Arc};

use hanok_agent::{
    ChoiceEntry, ChoiceKind, ChosenBy, DataMark, Language, Structured, StructuredError,
    StructuredReply,
};
use hanok_core::{BoxError, Chain, OverBudget};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatRequest, ModelError};
use hanok_state::{Message, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    choice::{self, Reason},
    error::TeamError,
    event::TeamEvent,
    plan::{self, PlanStep},
    prompt,
    question::{decompose, sentences},
    rules,
    settings::TeamSettings,
    state::{Phase, TeamPlan, TeamState, TeamStateUpdate},
    step::{StepStatus, TeamResult},
};

/// What the user wants, as a model writes it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Intent {
    /// What the user wants, in one or two words.
    intent: String,
    /// How sure you are, from 0 to 1.
    confidence: f64,
    /// False for a question that the teams cannot deal with.
    in_scope: bool,
    /// The parts of the question, in its own words.
    parts: Vec<String>,
    /// The reason, in one sentence.
    reason: String,
}

/// A plan, as a model writes it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Proposal {
    /// The steps.
    steps: Vec<PlanStep>,
    /// The reason, in one sentence.
    reason: String,
    /// How sure you are, from 0 to 1.
    confidence: f64,
}

/// The forms of what the model is asked for. To make one takes longer than a whole turn without a model.
#[derive(Debug)]
pub(crate) struct Forms {
    intent: Structured<Intent>,
    plan: Structured<Proposal>,
}

impl Forms {
    pub(crate) fn new() -> Self {
        Self { intent: Structured::new("intent"), plan: Structured::new("plan") }
    }

    /// The same for teams of these names. Nothing is made anew.
    pub(crate) fn fitted<'a>(
        &self,
        language: Language,
        teams: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            intent: self.intent.clone().language(language),
            plan: self.plan.clone().language(language).offering("team", teams),
        }
    }
}

/// What a model was asked for, or the cause for which there is none.
type Reply<T> = Result<(T, String), Unanswered>;

/// The cause for which a model gave no answer.
#[derive(Debug, Serialize, Deserialize)]
struct Unanswered {
    cause: String,
    /// The limit of the turn, in words, where it was that.
    limit: Option<String>,
}

/// The steps that a model proposes and that hold, or the cause for which there are none.
type Proposed = Result<(Vec<PlanStep>, Reason), Unanswered>;

/// A plan, and what the turn notes with it.
#[derive(Default)]
struct Planned {
    plan: TeamPlan,
    choices: Vec<ChoiceEntry>,
    limit: Option<String>,
}

/// Makes the plan of a turn, or, where there is one, plans anew for what failed.
pub(crate) async fn planning<C: Send + Sync + 'static>(
    settings: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Planning });
    let planning = Planning {
        settings: &settings,
        state: &state,
        context: &context,
        mark: DataMark::new(&*context.runtime().rng),
        teams: prompt::teams(&settings.teams, settings.language),
    };
    match &state.plan {
        None => planning.first().await,
        Some(plan) => planning.again(plan.clone()).await,
    }
}

struct Planning<'a, C: Send + Sync + 'static> {
    settings: &'a TeamSettings<C>,
    state: &'a TeamState,
    context: &'a Context<C>,
    mark: DataMark,
    /// The teams, as the models read them.
    teams: String,
}

impl<C: Send + Sync + 'static> Planning<'_, C> {
    /// The plan of a turn that has none.
    async fn first(&self) -> Result<TeamStateUpdate, TeamError> {
        let mut planned = self.intent().await?;
        if planned.plan.in_scope {
            self.steps(&mut planned).await?;
        }
        Ok(self.update(planned))
    }

    /// What the user wants, and the parts of it.
    async fn intent(&self) -> Result<Planned, TeamError> {
        let own = self.settings.prompts.intent_analysis.as_deref();
        let system = prompt::intent(own, &self.teams, self.settings.language);
        let reply = self.ask(&self.settings.forms.intent, "intent", self.request(system)).await?;
        let query = self.state.query.as_str();
        let (intent, by, limit) = match reply {
            Ok((intent, model)) => (intent, ChosenBy::Model { name: model }, None),
            Err(Unanswered { cause, limit }) => {
                let intent = Intent {
                    intent: "unknown".to_owned(),
                    confidence: choice::FALLBACK,
                    in_scope: true,
                    parts: sentences(query),
                    reason: String::new(),
                };
                (intent, ChosenBy::Fallback { cause }, limit)
            }
        };
        let Intent { intent, confidence, in_scope, parts, reason } = intent;
        let of_question = decompose(query, &parts);
        let chosen = vec![intent.clone()];
        let mut choices = Vec::new();
        if !in_scope {
            let reason = Reason { text: reason.clone(), confidence, by: by.clone() };
            choices.push(self.made(ChoiceKind::Teams, Vec::new(), reason));
        }
        let reason = Reason { text: reason, confidence, by };
        choices.push(self.made(ChoiceKind::Intent, chosen, reason));
        let plan = TeamPlan {
            intent,
            confidence,
            in_scope,
            parts: of_question.parts,
            uncovered: of_question.uncovered,
            ..TeamPlan::default()
        };
        Ok(Planned { plan, choices, limit })
    }

    /// The steps: as the model proposes, corrected once, or by the rules.
    async fn steps(&self, planned: &mut Planned) -> Result<(), TeamError> {
        let Planned { plan, choices, limit } = planned;
        let own = self.settings.prompts.agent_selection.as_deref();
        let system = prompt::plan(own, &self.teams, self.settings.language);
        let request = self.request(system);
        let proposed = self.propose("plan", request, &BTreeMap::new(), plan, false).await?;
        let reason = match proposed {
            Ok((steps, reason)) => {
                plan.steps = steps;
                reason
            }
            Err(Unanswered { cause, limit: reached }) => {
                *limit = limit.take().or(reached);
                plan.steps = rules::plan(&self.state.query, &self.settings.teams);
                plan.by_rules = true;
                Reason::fallback(cause, String::new())
            }
        };
        choices.push(self.made(ChoiceKind::Plan, teams_of(&plan.steps), reason));
        Ok(())
    }

    /// One more plan, for what failed. Without one that holds, the turn goes on with what there is.
    async fn again(&self, mut plan: TeamPlan) -> Result<TeamStateUpdate, TeamError> {
        plan.replanned = true;
        let own = self.settings.prompts.agent_selection.as_deref();
        let system = prompt::plan(own, &self.teams, self.settings.language);
        let results = self.state.results().map(|(step, result)| (step.id.as_str(), result));
        let results = prompt::results(results, &self.mark, self.settings.language);
        let request = self.request(system).message(results);
        let request = request.message(prompt::replan(self.settings.language));
        let is_completed = |result: &TeamResult| result.status == StepStatus::Completed;
        let results = self.state.team_results.iter();
        let finished = results.filter(|(_, result)| is_completed(result));
        let finished = finished.map(|(id, result)| (id.clone(), result.team.clone())).collect();
        let proposed = self.propose("replan", request, &finished, &mut plan, true).await?;
        let (mut steps, reason, limit) = match proposed {
            Ok((steps, reason)) => (steps, reason, None),
            Err(Unanswered { cause, limit }) => {
                (Vec::new(), Reason::fallback(cause, String::new()), limit)
            }
        };
        let chosen = teams_of(&steps);
        plan.steps.append(&mut steps);
        let choices = vec![self.made(ChoiceKind::Replan, chosen, reason)];
        Ok(self.update(Planned { plan, choices, limit }))
    }

    /// A plan of the model that holds, beside what is `finished`. Its faults go back to the model once.
    async fn propose(
        &self,
        name: &str,
        request: ChatRequest,
        finished: &BTreeMap<String, String>,
        plan: &mut TeamPlan,
        may_be_empty: bool,
    ) -> Result<Proposed, TeamError> {
        let used: Vec<String> = plan.steps.iter().map(|step| step.id.clone()).collect();
        let check = |proposal: &Proposal| -> Vec<String> {
            if proposal.steps.is_empty() && may_be_empty {
                return Vec::new();
            }
            let faults = plan::faults(&proposal.steps, &self.settings.needs(), finished);
            let again = proposal.steps.iter().filter(|step| used.contains(&step.id));
            let again = again
                .filter(|step| !finished.contains_key(&step.id))
                .map(|step| plan::PlanFault::TwiceNamed { step: step.id.clone() });
            faults.into_iter().chain(again).map(|fault| fault.to_string()).collect()
        };
        let (mut request, mut faults) = (request, Vec::new());
        for name in [name.to_owned(), format!("{name}-again")] {
            let reply = self.ask(&self.settings.forms.plan, &name, request.clone()).await?;
            let (proposal, model) = match reply {
                Ok(proposed) => proposed,
                Err(cause) => return Ok(Err(cause)),
            };
            faults = check(&proposal);
            if faults.is_empty() {
                let Proposal { steps, reason: text, confidence } = proposal;
                let by = ChosenBy::Model { name: model };
                return Ok(Ok((steps, Reason { text, confidence, by })));
            }
            plan.validation_errors.extend(faults.iter().cloned());
            request = request
                .message(Message::assistant(serde_json::to_string(&proposal).unwrap_or_default()))
                .message(prompt::corrected(&faults, self.settings.language));
        }
        Ok(Err(Unanswered { cause: faults.join("; "), limit: None }))
    }

    /// Asks the model, once and for all of the task's runs. A model that does not answer, or not in the form, is no error.
    async fn ask<T: JsonSchema + DeserializeOwned + Serialize>(
        &self,
        form: &Structured<T>,
        name: &str,
        request: ChatRequest,
    ) -> Result<Reply<T>, TeamError> {
        let model = &self.settings.model;
        let call = self.context.call("model", model.name(), name);
        let at_limit = |OverBudget(limit)| {
            let limit = prompt::limit(limit, self.settings.language);
            let cause = prompt::at_limit(&limit, self.settings.language);
            Ok(Err(Unanswered { cause, limit: Some(limit) }))
        };
        let ask = async || match self.context.within_time(form.ask(model, request, &call)).await {
            Err(over) => at_limit(over),
            Ok(Ok(StructuredReply { value, model, .. })) => Ok(Ok((value, model))),
            Ok(Err(StructuredError::Model(ModelError::OverBudget(over)))) => at_limit(over),
            Ok(Err(StructuredError::Model(error))) if error.ends_the_run() => {
                Err(BoxError::from(error))
            }
            Ok(Err(error)) => Ok(Err(Unanswered { cause: Chain(&error).to_string(), limit: None })),
        };
        let reply: Result<Reply<T>, StepError> = self.context.step(name, ask).await;
        reply.map_err(TeamError::Step)
    }

    /// The request of `system` for the conversation.
    fn request(&self, system: String) -> ChatRequest {
        let before = self.state.recent().cloned();
        let mut request = ChatRequest::new(std::iter::once(Message::system(system)).chain(before));
        request.temperature = self.settings.temperature;
        request.max_tokens = Some(self.settings.max_tokens);
        request
    }

    fn made(&self, kind: ChoiceKind, chosen: Vec<String>, reason: Reason) -> ChoiceEntry {
        let choice =
            choice::of_teams(self.settings, self.state, self.context, kind, chosen, reason);
        self.context.custom(&TeamEvent::Decision { choice: choice.clone() });
        ChoiceEntry::Made(choice)
    }

    /// The update for a plan: what is derived from its steps is set.
    fn update(&self, planned: Planned) -> TeamStateUpdate {
        let Planned { mut plan, choices, limit } = planned;
        plan.arrange();
        let estimate = plan::critical_path(&plan.steps, |team| self.settings.measured.of(team));
        plan.estimated_millis = u64::try_from(estimate.as_millis()).unwrap_or(u64::MAX);
        let update = TeamState::update().phase(Phase::Planning).plan(Some(plan)).choices(choices);
        match limit {
            Some(limit) => update.limit(Some(limit)),
            None => update,
        }
    }
}

/// The teams of steps, each once.
fn teams_of(steps: &[PlanStep]) -> Vec<String> {
    let mut teams: Vec<String> = Vec::new();
    for step in steps {
        if !teams.contains(&step.team) {
            teams.push(step.team.clone());
        }
    }
    teams
}
