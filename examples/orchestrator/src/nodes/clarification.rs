//! Whether a request is clear, and what makes it so.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_learning::ClarificationEvent;
use hanok_state::State as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recorded;
use crate::{
    asking::form,
    events::{OrchestratorEvent, Status},
    memory::answered,
    orchestrator::Orchestrator,
    state::{
        ClarityAnalysis, GateDecision, OrchestratorState, OrchestratorStateUpdate, PastAnswer,
    },
    wording,
};

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

/// What a person sees at the gate.
#[derive(Debug, Serialize)]
struct Unclear<'a> {
    query: &'a str,
    confidence: f64,
    questions: &'a [String],
    past: &'a [PastAnswer],
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

impl Orchestrator {
    /// Judges how clear the request is, and uses an answer of before where people have confirmed it often enough.
    pub(crate) async fn task_clarification_analysis(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let (past, automatic) = self.memory.clarity(&state.query, &context).await?;
        let judged = self.clarity("clarity", &state, &context).await?;
        let is_unclear = judged.confidence < CLEAR || !judged.questions.is_empty();
        let analysis = ClarityAnalysis {
            confidence: judged.confidence,
            questions: judged.questions,
            is_unclear,
            past,
            ..ClarityAnalysis::default()
        };
        let Some(answer) = automatic.filter(|_| is_unclear) else {
            return Ok(OrchestratorState::update().clarity(Some(analysis)));
        };
        let query = merged(&state.query, &answer.answer);
        self.memory.clarified(&state, &answer.answer, ClarificationEvent::Applied, &context)?;
        context.custom(&OrchestratorEvent::Status(Status::Reused { query: query.clone() }));
        let before = Some(state.query.clone());
        let analysis =
            ClarityAnalysis { is_unclear: false, reused: Some(answer), before, ..analysis };
        Ok(OrchestratorState::update().clarity(Some(analysis)).query(query))
    }

    /// The gate: asks the person what is meant.
    pub(crate) async fn task_clarification_approval(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update().fault(None);
        if !self.asks(&Gate::Clarify, &state, &context).await? {
            self.pass(Gate::Clarify, "off", &context);
            return Ok(update.decided(None));
        }
        let analysis = state.clarity.clone().unwrap_or_default();
        let shown = Unclear {
            query: &state.query,
            confidence: analysis.confidence,
            questions: &analysis.questions,
            past: &analysis.past,
            fault: state.fault.as_deref(),
        };
        let reuse = (!analysis.past.is_empty()).then_some(DecisionKind::Reuse);
        let allowed = [DecisionKind::Approve, DecisionKind::Respond].into_iter().chain(reuse);
        let question = GateQuestion::new(Gate::Clarify, wording::ASK_CLARIFY, &shown)?;
        let decision = question.allow(allowed).risk(Risk::Read).ask(&context).await?;
        let decided = GateDecision { gate: Gate::Clarify, decision, automatic: None };
        Ok(update.decided(Some(decided)))
    }

    /// Takes the person's answer into the request, or asks again.
    pub(crate) async fn process_clarification_feedback(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update().decided(None);
        let Some(decided) = &state.decided else { return Ok(update) };
        let again =
            |fault: &str| OrchestratorState::update().decided(None).fault(Some(fault.to_owned()));
        let analysis = state.clarity.clone().unwrap_or_default();
        let (answer, is_reused) = match &decided.decision {
            Decision::Respond { result } if result.trim().is_empty() => {
                return Ok(again(wording::NOT_BLANK));
            }
            Decision::Respond { result } => (Some(result.trim().to_owned()), false),
            Decision::Reuse { id } => {
                let Some(past) = analysis.past.iter().find(|past| past.id == *id) else {
                    return Ok(again(wording::NO_PAST));
                };
                (Some(past.answer.clone()), true)
            }
            _ => (None, false),
        };
        self.memory.decided(&state, decided, &context)?;
        let update = update.decisions(recorded(&state, decided, &context));
        let Some(answer) = answer else { return Ok(update) };
        let query = merged(&state.query, &answer);
        let event = match is_reused {
            true => ClarificationEvent::Confirmed,
            false => {
                let mut clear = (*state).clone();
                clear.query = query.clone();
                let after = self.clarity("clarity-after", &clear, &context).await?;
                answered(&analysis, after.confidence)
            }
        };
        self.memory.clarified(&state, &answer, event, &context)?;
        let before = Some(state.query.clone());
        let analysis = ClarityAnalysis { is_unclear: false, before, ..analysis };
        Ok(update.query(query).clarity(Some(analysis)))
    }

    /// How clear the request is. Where the model does not say it, it is.
    async fn clarity(
        &self,
        name: &str,
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<ClarityForm, BoxError> {
        self.servers.look(context.now()).await?;
        let listed = self.listed(&state.query, context).await?;
        let instructions = format!("{}\n\n{}", wording::CLARITY, listed.text);
        let request = |call: &_| self.background.request(&instructions, state, [], call);
        let filled = form::<ClarityForm>(&self.model, name, request, context).await?;
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
