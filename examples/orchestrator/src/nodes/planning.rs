//! The plan, and a person's word on it.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_learning::{Actor, PlanEvent};
use hanok_model::DataMark;
use hanok_state::{Message, State as _, StateUpdate as _};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{add, again, preparation::Listed};
use crate::{
    asking::{ModelJudge, data, form},
    events::{OrchestratorEvent, Status},
    memory::{Offer, PastPlan},
    orchestrator::{Next, Orchestrator, Turn, Update, next},
    state::{OrchestratorState, Plan, PlanSource, PlanStep, TurnEnd},
    wording,
};

/// The most steps of a plan.
const MOST_STEPS: usize = 12;

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

/// A plan as a person edits it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditedPlan {
    #[schemars(length(min = 1, max = 12))]
    steps: Vec<PlanStep>,
}

impl Orchestrator {
    /// Plans, and betters the plan by what did well before.
    pub(crate) async fn dynamic_planning(&self, state: Turn, context: Context) -> Update {
        let update = self.definitions(&state, &context).await?;
        let offer = self.offer();
        let listed = self.listed(&state.query, &context).await?;
        let revise = state.feedback.as_ref().map(|words| {
            let before: Vec<_> =
                state.steps().iter().map(|step| format!("- {}", step.task)).collect();
            Message::user(format!("{}\n{words}\n\n{}", wording::REVISE, before.join("\n")))
        });
        let more = |_| revise.clone();
        let mut plan = match self.plans("planning", &listed, more, &state, &context).await? {
            Some(form) => checked(form, &offer),
            // The request as one step.
            None => {
                let task = state.query.chars().take(LONGEST_TASK).collect();
                let steps = vec![PlanStep { task, tool: None }];
                Plan { steps, by: PlanSource::Rule, ..Plan::default() }
            }
        };
        if revise.is_none() && !plan.steps.is_empty() {
            let past = self.memory.plans(&state.query, &ModelJudge(&self.model), &context).await?;
            // The same where it was made for the same request, else what the model makes of those of others.
            let steps = match (past.iter().find(|past| past.is_same), past.is_empty()) {
                (Some(same), _) => as_before(same, &plan),
                (None, true) => Vec::new(),
                (None, false) => {
                    let texts = past.iter().map(|past| format!("- {}", past.steps.join(" → ")));
                    let texts = texts.collect::<Vec<_>>().join("\n");
                    let more = |mark| Some(data(wording::PAST_PLANS, &texts, &mark));
                    let filled = self.plans("bettering", &listed, more, &state, &context).await?;
                    filled.map(|form| checked(form, &offer).steps).unwrap_or_default()
                }
            };
            let is_other = steps.iter().map(|it| &it.task).ne(plan.steps.iter().map(|it| &it.task));
            if is_other && fault(&steps, &offer).is_none() {
                plan = Plan { original: Some(plan.steps), steps, by: PlanSource::Memory, ..plan };
            }
        }
        let (steps, original) = (plan.steps.clone(), plan.original.clone());
        context.custom(&OrchestratorEvent::Status(Status::Planned { steps, original }));
        Ok(update.plan(Some(plan)).feedback(None).fault(None))
    }

    /// The steps as the model plans them with the tools that are listed.
    async fn plans(
        &self,
        name: &str,
        listed: &Listed,
        more: impl FnOnce(DataMark) -> Option<Message>,
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<Option<PlanForm>, BoxError> {
        let instructions = format!("{}\n\n{}", wording::PLANNING, listed.text);
        let request = |call: &_| {
            let more = more(DataMark::of_call(call));
            self.background.request(&instructions, state, more, &state.query, call)
        };
        form(&self.model, name, &listed.names, request, context).await
    }

    /// The gate: asks the person whether the plan is carried out.
    pub(crate) async fn plan_approval(&self, state: Turn, context: Context) -> Next {
        let plan = state.plan.clone().unwrap_or_default();
        if plan.steps.is_empty() {
            let update = OrchestratorState::update().decided(None).fault(None);
            return next(update.end(Some(TurnEnd::EmptyPlan)), "synthesis");
        }
        let mut shown = json!({"query": state.query, "steps": plan.steps, "by": plan.by});
        add(&mut shown, "original", plan.original.map(|steps| json!(steps)));
        add(&mut shown, "notes", (!plan.faults.is_empty()).then_some(plan.faults));
        add(&mut shown, "fault", state.fault.as_deref());
        let all = [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject];
        let revise = (state.revisions < MOST_REVISIONS).then_some(DecisionKind::Revise);
        let question = GateQuestion::new(Gate::Plan, wording::ASK_PLAN, &shown)?
            .schema(schema_for!(EditedPlan).into())
            .allow(all.into_iter().chain(revise))
            .risk(risk(&plan.steps, &self.offer()));
        let ways = ["process_plan_feedback", "step_preparation"];
        self.gate(Gate::Plan, question, &state, &context, ways).await
    }

    /// Does as the person decided about the plan, or asks again.
    pub(crate) async fn process_plan_feedback(&self, state: Turn, context: Context) -> Next {
        let update = OrchestratorState::update();
        let (Some(decided), Some(plan)) = (&state.decided, &state.plan) else {
            return next(update.decided(None), "step_preparation");
        };
        let (offer, mut plan, mut to) = (self.offer(), plan.clone(), "step_preparation");
        let (update, event) = match &decided.decision {
            Decision::Edit { arguments } => {
                let EditedPlan { steps } = serde_json::from_value(arguments.0.clone())?;
                if let Some(fault) = fault(&steps, &offer) {
                    return again(fault, "plan_approval");
                }
                let from = plan.steps.iter().map(|step| step.task.clone()).collect();
                let before = std::mem::replace(&mut plan.steps, steps);
                plan.original.get_or_insert(before);
                plan.by = PlanSource::Person;
                (update.plan(Some(plan.clone())), PlanEvent::Edited { from })
            }
            Decision::Revise { message } if message.trim().is_empty() => {
                return again(wording::NOT_BLANK, "plan_approval");
            }
            Decision::Revise { message } => {
                to = "dynamic_planning";
                let update = update.feedback(Some(message.clone())).revisions(state.revisions + 1);
                (update, PlanEvent::Revised { feedback: message.clone() })
            }
            Decision::Reject { message } => {
                to = "synthesis";
                let reason = message.clone().unwrap_or_default();
                (update.end(Some(TurnEnd::Rejected)), PlanEvent::Rejected { reason })
            }
            _ => (update, PlanEvent::Accepted),
        };
        self.memory.planned(&state, &plan.steps, event, Actor::User, &offer, &context)?;
        next(update.and(self.recorded(&state, decided, &context)?), to)
    }
}

/// The steps of a plan of before, with the tools that the new one has for the same tasks.
fn as_before(past: &PastPlan, plan: &Plan) -> Vec<PlanStep> {
    let step = |task: &String| {
        let planned = plan.steps.iter().find(|step| step.task == *task);
        PlanStep { task: task.clone(), tool: planned.and_then(|step| step.tool.clone()) }
    };
    past.steps.iter().map(step).collect()
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
        let known = Some(tool.trim()).filter(|tool| offer.contains_key(*tool));
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
        if step.tool.as_ref().is_some_and(|tool| !offer.contains_key(tool)) {
            return Some(format!("{number}번째 단계의 도구는 없습니다(/steps/{at}/tool)."));
        }
        if steps.iter().take(at).any(|other| other == step) {
            return Some(format!("{} (/steps/{at})", wording::SAME_TWICE));
        }
    }
    None
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
