//! Whether a request is clear, and what makes it so.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_learning::{ClarificationEvent, Clarity};
use hanok_state::State as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{add, again};
use crate::{
    asking::form,
    events::{OrchestratorEvent, Status},
    orchestrator::{Next, Orchestrator, Turn, next},
    state::{ClarityAnalysis, OrchestratorState},
    wording,
};

/// The node that asks.
const GATE: &str = "task_clarification_approval";

/// A request is clear from this confidence on.
const CLEAR: f64 = 0.6;

/// The most questions to a person.
const MOST_QUESTIONS: usize = 3;

/// How clear a request is, as the model says it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ClarityForm {
    /// How sure it is what the user wants done, from 0 to 1 (확신).
    confidence: f64,
    /// What the user has to be asked before anything can be done; empty if nothing.
    questions: Vec<String>,
}

impl Orchestrator {
    /// Judges how clear the request is, and uses an answer of before where people have confirmed it often enough.
    pub(crate) async fn task_clarification_analysis(&self, state: Turn, context: Context) -> Next {
        let (past, automatic) = self.memory.clarity(&state.query, &context).await?;
        let ClarityForm { confidence, questions } =
            self.clarity("clarity", &state, &state.query, &context).await?;
        let is_unclear = confidence < CLEAR || !questions.is_empty();
        let mut clarity = ClarityAnalysis { confidence, questions, past, ..Default::default() };
        let update = OrchestratorState::update();
        let (update, to) = match automatic.filter(|_| is_unclear) {
            Some(reused) => {
                let (answer, event) = (&*reused.answer, ClarificationEvent::Applied);
                self.memory.clarified(&state, answer, event, &context)?;
                let query = merged(&state.query, answer);
                let told = Status::Reused { query: query.clone() };
                context.custom(&OrchestratorEvent::Status(told));
                (clarity.before, clarity.reused) = (Some(state.query.clone()), Some(reused));
                (update.query(query), "dynamic_planning")
            }
            None if is_unclear => (update, GATE),
            None => (update, "dynamic_planning"),
        };
        next(update.clarity(Some(clarity)), to)
    }

    /// The gate: asks the person what is meant.
    pub(crate) async fn task_clarification_approval(&self, state: Turn, context: Context) -> Next {
        let ClarityAnalysis { confidence, questions, past, .. } =
            state.clarity.clone().unwrap_or_default();
        let reuse = (!past.is_empty()).then_some(DecisionKind::Reuse);
        let allowed = [DecisionKind::Approve, DecisionKind::Respond].into_iter().chain(reuse);
        let mut shown = json!({
            "query": state.query, "confidence": confidence, "questions": questions, "past": past,
        });
        add(&mut shown, "fault", state.fault.as_deref());
        let question = GateQuestion::new(Gate::Clarify, wording::ASK_CLARIFY, &shown)?;
        let question = question.allow(allowed).risk(Risk::Read);
        let ways = ["process_clarification_feedback", "dynamic_planning"];
        self.gate(Gate::Clarify, question, &state, &context, ways).await
    }

    /// Takes the person's answer into the request, or asks again.
    pub(crate) async fn process_clarification_feedback(
        &self,
        state: Turn,
        context: Context,
    ) -> Next {
        let Some(decided) = &state.decided else {
            return next(OrchestratorState::update(), "dynamic_planning");
        };
        let clarity = state.clarity.clone().unwrap_or_default();
        let answer = match &decided.decision {
            Decision::Respond { result } if result.trim().is_empty() => {
                return again(wording::NOT_BLANK, GATE);
            }
            Decision::Respond { result } => Some((result.trim(), None)),
            Decision::Reuse { id } => match clarity.past.iter().find(|past| past.id == *id) {
                Some(past) => Some((&*past.answer, Some(ClarificationEvent::Confirmed))),
                None => return again(wording::NO_PAST, GATE),
            },
            _ => None,
        };
        let update = self.recorded(&state, decided, &context)?;
        let Some((answer, event)) = answer else { return next(update, "dynamic_planning") };
        let query = merged(&state.query, answer);
        let event = match event {
            Some(event) => event,
            None => {
                let after = self.clarity("clarity-after", &state, &query, &context).await?;
                let [before, after] = [clarity.confidence, after.confidence].map(Clarity::new);
                ClarificationEvent::Answered { before, after }
            }
        };
        self.memory.clarified(&state, answer, event, &context)?;
        let clarity = ClarityAnalysis { before: Some(state.query.clone()), ..clarity };
        next(update.query(query).clarity(Some(clarity)), "dynamic_planning")
    }

    /// How clear the request is. Where the model does not say it, it is.
    async fn clarity(
        &self,
        name: &str,
        state: &OrchestratorState,
        query: &str,
        context: &Context,
    ) -> Result<ClarityForm, BoxError> {
        self.servers.look(context.now()).await?;
        let listed = self.listed(query, context).await?;
        let instructions = format!("{}\n\n{}", wording::CLARITY, listed.text);
        let request = |call: &_| self.background.request(&instructions, state, [], query, call);
        let filled = form::<ClarityForm>(&self.model, name, &[], request, context).await?;
        let mut filled = filled.unwrap_or(ClarityForm { confidence: 1.0, questions: Vec::new() });
        filled.confidence = filled.confidence.clamp(0.0, 1.0);
        filled.questions.retain(|question| !question.trim().is_empty());
        filled.questions.truncate(MOST_QUESTIONS);
        Ok(filled)
    }
}

/// The request, with what makes it clear.
fn merged(query: &str, answer: &str) -> String {
    format!("{query}\n\n{}: {answer}", wording::MORE)
}
