//! Planning, evaluating and answering by a model.

use std::fmt::Write as _;

use hanok_core::Call;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatReply, ChatRequest, DataMark, ModelError, SharedModel};
use hanok_parse::{Language, Parser, restore};
use hanok_state::{Message, State, ToolCall};
use hanok_telemetry::ContentCapture;
use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use super::{
    plan_state::{CallResult, PlanState, PlanStateUpdate},
    planning::Evaluation,
    task::PlanTask,
    words::words,
};
use crate::{
    agent::ReactAgent,
    error::{AgentError, ToolCallError},
    observation::{FaultKind, Observation},
    protocol::Protocol,
    reply::ask_model::{Reading, ask_model},
    state::{AgentState, StopReason},
    structured::{Structured, error::StructuredError},
};

/// The error of a node of a [`PlanAgent`](crate::PlanAgent). The thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The planner's model did not answer, or its reply could not be stored.
    #[error("{0}")]
    Planner(#[from] AgentError),
    /// A call waits for a person, or failed where errors are propagated.
    #[error("{0}")]
    Call(#[from] ToolCallError),
    /// The model that evaluates or answers did not answer.
    #[error("the model `{model}` did not answer")]
    Model {
        /// The model.
        model: String,
        /// The cause.
        source: ModelError,
    },
    /// A reply could not be stored.
    #[error("a reply could not be kept")]
    Step(#[source] StepError),
}

/// The judgement, as the model writes it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Judgement {
    /// True if the results suffice to answer.
    sufficient: bool,
    /// What is missing.
    missing: Vec<String>,
    /// The reason, in short.
    reason: String,
}

/// The task of an agent whose model plans, evaluates and answers.
#[derive(Debug)]
pub(crate) struct ModelTask {
    pub(crate) planner: ReactAgent,
    pub(crate) model: SharedModel,
    /// The role of the agent: the beginning of its prompts.
    pub(crate) role: String,
    pub(crate) language: Language,
}

impl ModelTask {
    /// The instructions of the planner.
    pub(crate) fn planner_prompt(role: &str, language: Language) -> String {
        format!("{role}\n\n{}", words(language).plan)
    }

    /// Writes the answer.
    pub(crate) async fn answer(
        &self,
        state: &PlanState,
        context: &Context,
    ) -> Result<PlanStateUpdate, PlanError> {
        let words = words(self.language);
        let call = context.call("model", "answer", "");
        let request = self.request(words.answer, state, &call);
        let (parser, off) = (Parser::default().without_calls(), ContentCapture::Off);
        let reading = Reading::new(&parser, Protocol::Native);
        let asked = || ask_model(&self.model, request, &call, reading, off);
        let reply: ChatReply =
            context.step("answer", asked).await.map_err(|error| self.failed(error))?;
        let text = DataMark::unmarked(parser.parse(&reply.message.text()).content);
        let text = restore(&text).into_owned();
        let update = PlanState::update();
        if text.is_empty() {
            return Ok(update.stopped(Some(StopReason::EmptyReply)));
        }
        let message = Message::assistant(text.as_str()).with_id(call.message_id());
        let update = update.message(message);
        Ok(update.answer(Some(text)).stopped(Some(StopReason::Answered)))
    }

    /// `instructions`, the conversation, and the results as data.
    fn request(&self, instructions: &str, state: &PlanState, call: &Call) -> ChatRequest {
        let system = Message::system(format!("{}\n\n{instructions}", self.role));
        let mut messages = vec![system];
        messages.extend(state.messages.iter().cloned());
        messages.push(Message::user(self.results(state, call)));
        ChatRequest::new(messages)
    }

    /// The results so far, between marks that nobody who wrote them can know.
    fn results(&self, state: &PlanState, call: &Call) -> String {
        let words = words(self.language);
        if state.results.is_empty() {
            return words.nothing.to_owned();
        }
        let mark = DataMark::of_call(call);
        let mut text = String::new();
        for CallResult { call, observation } in &state.results {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{}({}): {}", call.name, call.arguments, observation.text);
        }
        format!("{}\n{}", words.results, mark.around(&text))
    }

    fn failed(&self, error: StepError) -> PlanError {
        let StepError::Failed(cause) = error else { return PlanError::Step(error) };
        let cause = match cause.downcast::<StructuredError>() {
            Ok(error) => match *error {
                StructuredError::Model(error) => error.into(),
                error => error.into(),
            },
            Err(cause) => cause,
        };
        match cause.downcast::<ModelError>() {
            Ok(source) => {
                let model = hanok_model::ChatModel::name(&self.model).to_owned();
                PlanError::Model { model, source: *source }
            }
            Err(cause) => PlanError::Step(StepError::Failed(cause)),
        }
    }
}

impl PlanTask for ModelTask {
    type State = PlanState;
    type Services = ();
    type Error = PlanError;

    async fn propose(
        &self,
        state: &PlanState,
        _: u32,
        context: &Context,
    ) -> Result<Vec<ToolCall>, PlanError> {
        let call = context.call("model", "planner", "");
        let mut messages: Vec<_> = state.messages.iter().cloned().collect();
        if !state.results.is_empty() {
            messages.push(Message::user(self.results(state, &call)));
        }
        if !state.planning.missing.is_empty() {
            let missing = words(self.language).missing;
            let listed = state.planning.missing.iter().map(|missing| format!("\n- {missing}"));
            messages.push(Message::user(format!("{missing}{}", listed.collect::<String>())));
        }
        let asked =
            AgentState { messages: messages.into_iter().collect(), ..AgentState::default() };
        let update = self.planner.call_model(Snapshot::new(asked), context.clone()).await?;
        let mut planned = AgentState::default();
        let merged = planned.reduce(vec![("planner".into(), update)]);
        merged.map_err(|error| PlanError::Step(StepError::Failed(error.into())))?;
        // What could not be read whole is not made; that there is no such tool is observed.
        let broken = |call: &ToolCall| {
            let faults = planned.faults.iter().filter(|fault| fault.kind != FaultKind::UnknownTool);
            faults.into_iter().any(|fault| fault.call_id.as_ref() == Some(&call.id))
        };
        let calls = planned.pending_tool_calls.iter().filter(|call| !broken(call));
        Ok(calls.cloned().collect())
    }

    fn observe(
        &self,
        state: &mut PlanState,
        call: &ToolCall,
        observation: Observation,
        _: &Context,
    ) {
        state.results.push(CallResult { call: call.clone(), observation });
    }

    fn observed(&self, state: PlanState) -> PlanStateUpdate {
        PlanState::update().results(state.results)
    }

    async fn evaluate(
        &self,
        state: &PlanState,
        context: &Context,
    ) -> Result<Evaluation, PlanError> {
        let words = words(self.language);
        let call = context.call("model", "evaluator", "");
        let request = self.request(words.evaluate, state, &call);
        let structured = Structured::<Judgement>::new("evaluation").language(self.language);
        let judge = async || match structured.ask(&self.model, request, &call).await {
            Ok(reply) => {
                let Judgement { sufficient, mut missing, reason } = reply.value;
                if !sufficient && missing.is_empty() {
                    missing.push(words.unnamed.to_owned());
                }
                Ok(Evaluation { sufficient, missing, reason })
            }
            Err(error @ StructuredError::Model(_)) => Err(error),
            // A judgement that cannot be read, twice, does not keep the user from an answer.
            Err(_) => Ok(Evaluation::enough(words.unreadable)),
        };
        context.step("evaluation", judge).await.map_err(|error| self.failed(error))
    }
}
