//! The plan, and a person's word on it.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk, Structured};
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_learning::{Actor, PlanEvent};
use hanok_model::DataMark;
use hanok_state::{Message, State as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::recorded;
use crate::{
    asking::{ModelJudge, data, form_of},
    events::{OrchestratorEvent, Status},
    memory::PastPlan,
    orchestrator::Orchestrator,
    servers::Offer,
    state::{
        GateDecision, OrchestratorState, OrchestratorStateUpdate, Plan, PlanSource, PlanStep,
        TurnEnd,
    },
    wording,
};

/// The most steps of a plan.
pub(crate) const MOST_STEPS: usize = 12;

/// The longest task, in characters.
const LONGEST_TASK: usize = 1_000;

/// How often a person may have a plan made anew.
const MOST_REVISIONS: u32 = 5;

/// Steps, as the model plans them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PlanForm {
    /// The steps, in the order in which they are made; empty if no tool can do it.
    #[schemars(length(max = 12))]
    steps: Vec<StepForm>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct StepForm {
    /// The task of the step, in one sentence that says all it takes.
    task: String,
    /// The tool of those listed that does it, by its name.
    tool: String,
}

/// What a person sees at the gate.
#[derive(Debug, Serialize)]
struct PlanShown<'a> {
    query: &'a str,
    steps: &'a [PlanStep],
    by: PlanSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<&'a [PlanStep]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

impl Orchestrator {
    /// Plans, and betters the plan by what did well before.
    pub(crate) async fn dynamic_planning(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = self.definitions(&state, OrchestratorState::update(), &context).await?;
        let offer = self.servers.offer();
        let listed = self.listed(&state.query, &context).await?;
        let instructions = format!("{}\n\n{}", wording::PLANNING, listed.text);
        let steps = |name| Structured::<PlanForm>::new(name).offering("tool", &listed.names);
        let revise = state.feedback.as_ref().map(|words| {
            let before = state.plan.iter().flat_map(|plan| &plan.steps);
            let before: Vec<_> = before.map(|step| format!("- {}", step.task)).collect();
            Message::user(format!("{}\n{words}\n\n{}", wording::REVISE, before.join("\n")))
        });
        let more = revise.clone();
        let request = |call: &_| self.background.request(&instructions, &state, more, call);
        let filled = form_of(&self.model, steps("planning"), "planning", request, &context).await?;
        let mut plan = match filled {
            Some(form) => checked(form, &offer),
            None => by_rule(&state.query),
        };
        if revise.is_none() {
            let past = self.memory.plans(&state.query, &ModelJudge(&self.model), &context).await?;
            plan = self
                .bettered(plan, &past, (&instructions, steps("bettering")), &state, &context)
                .await?;
        }
        context.custom(&OrchestratorEvent::Status(Status::Planned {
            steps: plan.steps.clone(),
            original: plan.original.clone(),
        }));
        Ok(update.plan(Some(plan)).feedback(None).fault(None))
    }

    /// The plan after those that did well: the same where it was made for the same request, and what the model makes of those of
    /// others. Both are shown.
    async fn bettered(
        &self,
        plan: Plan,
        past: &[PastPlan],
        (instructions, form): (&str, Structured<PlanForm>),
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<Plan, BoxError> {
        if past.is_empty() || plan.steps.is_empty() {
            return Ok(plan);
        }
        let offer = self.servers.offer();
        let applied: Vec<_>;
        let steps = match past.iter().find(|past| past.is_same) {
            Some(same) => {
                applied = vec![same.key.clone()];
                let tool = |task: &str| {
                    let planned = plan.steps.iter().find(|step| step.task == task);
                    planned.and_then(|step| step.tool.clone())
                };
                let step = |task: &String| PlanStep { task: task.clone(), tool: tool(task) };
                same.steps.iter().map(step).collect()
            }
            None => {
                applied = past.iter().map(|past| past.key.clone()).collect();
                let texts: Vec<_> =
                    past.iter().map(|past| format!("- {}", past.steps.join(" → "))).collect();
                let texts = texts.join("\n");
                let request = |call: &_| {
                    let of_past = data(wording::PAST_PLANS, &texts, &DataMark::of_call(call));
                    self.background.request(instructions, state, [of_past], call)
                };
                let filled = form_of(&self.model, form, "bettering", request, context).await?;
                filled.map(|form| checked(form, &offer).steps).unwrap_or_default()
            }
        };
        let is_other = tasks(&steps) != tasks(&plan.steps);
        if !is_other || fault(&steps, &offer).is_some() {
            return Ok(plan);
        }
        Ok(Plan { original: Some(plan.steps), steps, by: PlanSource::Memory, applied, ..plan })
    }

    /// The gate: asks the person whether the plan is carried out.
    pub(crate) async fn plan_approval(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update().fault(None);
        let plan = state.plan.clone().unwrap_or_default();
        if plan.steps.is_empty() {
            return Ok(update.decided(None).end(Some(TurnEnd::EmptyPlan)));
        }
        if !self.asks(&Gate::Plan, &state, &context).await? {
            self.pass(Gate::Plan, "off", &context);
            return Ok(update.decided(None));
        }
        let shown = PlanShown {
            query: &state.query,
            steps: &plan.steps,
            by: plan.by,
            original: plan.original.as_deref(),
            notes: &plan.faults,
            fault: state.fault.as_deref(),
        };
        let question =
            GateQuestion::new(Gate::Plan, wording::ASK_PLAN, &shown)?.schema(plan_schema());
        let all = [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject];
        let revise = (state.revisions < MOST_REVISIONS).then_some(DecisionKind::Revise);
        let risk = risk(&plan.steps, &self.servers.offer());
        let question = question.allow(all.into_iter().chain(revise)).risk(risk);
        let decision = question.ask(&context).await?;
        let decided = GateDecision { gate: Gate::Plan, decision, automatic: None };
        Ok(update.decided(Some(decided)))
    }

    /// Does as the person decided about the plan, or asks again.
    pub(crate) async fn process_plan_feedback(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update();
        let (Some(decided), Some(plan)) = (&state.decided, &state.plan) else {
            return Ok(update.decided(None));
        };
        let again = |fault: String| OrchestratorState::update().decided(None).fault(Some(fault));
        let offer = self.servers.offer();
        let (update, event) = match &decided.decision {
            Decision::Edit { arguments } => {
                let EditedPlan { steps } = serde_json::from_value(arguments.0.clone())?;
                if let Some(fault) = fault(&steps, &offer) {
                    return Ok(again(fault));
                }
                let from = plan.steps.iter().map(|step| step.task.clone()).collect();
                let event = PlanEvent::Edited { from };
                self.memory.planned(&state, &steps, event, Actor::User, &offer, &context)?;
                let original = plan.original.clone().or_else(|| Some(plan.steps.clone()));
                let edited = Plan { steps, original, by: PlanSource::Person, ..plan.clone() };
                (update.plan(Some(edited)), None)
            }
            Decision::Revise { message } if message.trim().is_empty() => {
                return Ok(again(wording::NOT_BLANK.to_owned()));
            }
            Decision::Revise { message } => {
                let event = PlanEvent::Revised { feedback: message.clone() };
                let revisions = state.revisions + 1;
                (update.feedback(Some(message.clone())).revisions(revisions), Some(event))
            }
            Decision::Reject { message } => {
                let reason = message.clone().unwrap_or_default();
                (update.end(Some(TurnEnd::Rejected)), Some(PlanEvent::Rejected { reason }))
            }
            _ => (update, Some(PlanEvent::Accepted)),
        };
        if let Some(event) = event {
            self.memory.planned(&state, &plan.steps, event, Actor::User, &offer, &context)?;
        }
        self.memory.decided(&state, decided, &context)?;
        Ok(update.decided(None).decisions(recorded(&state, decided, &context)))
    }
}

/// A plan as a person edits it.
#[derive(Debug, Deserialize)]
struct EditedPlan {
    steps: Vec<PlanStep>,
}

/// The form of an edited plan.
fn plan_schema() -> Value {
    json!({
        "type": "object", "required": ["steps"], "additionalProperties": false,
        "properties": {"steps": {
            "type": "array", "minItems": 1, "maxItems": MOST_STEPS,
            "items": {
                "type": "object", "required": ["task"], "additionalProperties": false,
                "properties": {
                    "task": {"type": "string", "minLength": 1, "maxLength": LONGEST_TASK},
                    "tool": {"type": "string"},
                },
            },
        }},
    })
}

/// What holds of a plan of the model, and what does not.
fn checked(form: PlanForm, offer: &Offer) -> Plan {
    let mut plan = Plan::default();
    for StepForm { task, tool } in form.steps.into_iter().take(MOST_STEPS) {
        let task: String = task.trim().chars().take(LONGEST_TASK).collect();
        if task.is_empty() {
            plan.faults.push("빈 단계를 뺐습니다.".to_owned());
            continue;
        }
        let known = Some(tool.trim()).filter(|tool| offer.get(tool).is_some());
        if known.is_none() && !tool.trim().is_empty() {
            let shown: String = tool.chars().take(64).collect();
            plan.faults.push(format!("`{shown}` 도구는 없습니다: 단계를 할 때 찾습니다."));
        }
        let step = PlanStep { task, tool: known.map(str::to_owned) };
        if plan.steps.contains(&step) {
            plan.faults.push(wording::SAME_TWICE.to_owned());
            continue;
        }
        plan.steps.push(step);
    }
    plan
}

/// The plan where the model makes none that holds: the request as one step.
fn by_rule(query: &str) -> Plan {
    let task: String = query.chars().take(LONGEST_TASK).collect();
    let step = PlanStep { task, tool: None };
    Plan { steps: vec![step], by: PlanSource::Rule, ..Plan::default() }
}

/// What is wrong with steps that fit the form, if anything is.
fn fault(steps: &[PlanStep], offer: &Offer) -> Option<String> {
    if steps.is_empty() {
        return Some("단계가 하나도 없습니다.".to_owned());
    }
    for (at, step) in steps.iter().enumerate() {
        let number = at + 1;
        if step.task.trim().is_empty() {
            return Some(format!("{number}번째 단계에 할 일이 없습니다(/steps/{at}/task)."));
        }
        if step.tool.as_ref().is_some_and(|tool| offer.get(tool).is_none()) {
            return Some(format!("{number}번째 단계의 도구는 없습니다(/steps/{at}/tool)."));
        }
        if steps.iter().take(at).any(|other| other == step) {
            return Some(format!("{} (/steps/{at})", wording::SAME_TWICE));
        }
    }
    None
}

fn tasks(steps: &[PlanStep]) -> Vec<&str> {
    steps.iter().map(|step| step.task.as_str()).collect()
}

/// The highest risk of the tools that the steps name. What a tool does that is not offered is not known, and a step without one may
/// write.
fn risk(steps: &[PlanStep], offer: &Offer) -> Risk {
    let of_step = |step: &PlanStep| match step.tool.as_deref() {
        Some(tool) => offer.get(tool).map_or(Risk::Destructive, |offered| offered.risk),
        None => Risk::Write,
    };
    steps.iter().map(of_step).max().unwrap_or(Risk::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_of_the_highest_risk_of_its_steps() {
        for (tools, want) in [
            (&[][..], Risk::Read),
            (&[None], Risk::Write),
            (&[None, Some("desk__fly")], Risk::Destructive),
        ] {
            let step = |tool: &Option<&str>| PlanStep {
                task: "a".to_owned(),
                tool: tool.map(str::to_owned),
            };
            let steps: Vec<_> = tools.iter().map(step).collect();
            assert_eq!(risk(&steps, &Offer::default()), want, "{tools:?}");
        }
    }
}
