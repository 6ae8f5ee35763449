//! The nodes that are this program's own.

use hanok_agent::{AgentError, AgentState, StructuredError};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_memory::with_data;
use hanok_model::{DataMark, ModelError};
use hanok_parse::Language;
use hanok_retrieval::RetrievalError;
use hanok_state::{Message, Role, State};
use thiserror::Error;

use crate::{Chat, ChatState, ChatStateUpdate, Progress, documents, router};

/// Why a node failed.
#[derive(Debug, Error)]
pub(crate) enum NodeFailure {
    /// The router's model did not answer.
    #[error("the model did not choose a way")]
    Router(#[source] ModelError),
    /// A step could not be kept.
    #[error("a step could not be kept")]
    Step(#[from] StepError),
    /// The documents could not be searched.
    #[error("the documents could not be searched")]
    Documents(#[from] RetrievalError),
    /// The agent failed.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

/// Asks the model where the question goes, and draws the mark of the turn.
pub(crate) async fn router(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let rng = &context.runtime().rng;
    let mark = context.step("mark", async || Ok::<_, StepError>(DataMark::new(&**rng))).await?;
    let call = context.call("model", "router", "");
    let decided = context.step("route", || router::decide(&chat.model, &state, &mark, &call)).await;
    let decision = decided.map_err(failed)?;
    let (route, reason) = (decision.route, decision.reason.clone());
    context.custom(&Progress::Routed { route, reason });
    Ok(ChatState::update().route(Some(decision)).mark(Some(mark)))
}

/// What the router's model said instead of a choice.
fn failed(error: StepError) -> NodeFailure {
    match error {
        StepError::Failed(cause) => match cause.downcast::<StructuredError>() {
            Ok(error) => match *error {
                StructuredError::Model(error) => NodeFailure::Router(error),
                error => StepError::Failed(error.into()).into(),
            },
            Err(cause) => StepError::Failed(cause).into(),
        },
        error => error.into(),
    }
}

/// Finds what the documents have about the question.
pub(crate) async fn rag(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let said =
        |message: &&Message| message.role() == Role::User && message.tool_call_id().is_none();
    let mut questions = state.agent.messages.iter().rev().filter(said).map(|said| said.text());
    let question = questions.next().unwrap_or_default();
    let before = questions.next();
    let (text, sources) = documents::search(&chat.documents, &question, before.as_deref()).await?;
    context.custom(&Progress::Searched { sources });
    Ok(ChatState::update().context(Some(text)))
}

/// Asks the agent's model. It reads what is remembered and what was found as data, right before the question.
pub(crate) async fn agent(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let found = state.context.as_deref();
    let data =
        state.mark.as_ref().and_then(|mark| state.memory.message(found, Language::Korean, mark));
    let messages = with_data(&state.agent.messages, data).into_iter().collect();
    let seen = AgentState { messages, ..state.agent.clone() };
    let update = chat.agent.call_model(Snapshot::new(seen), context).await?;
    Ok(ChatState::update().agent(update))
}

/// Makes the calls that the model asked for.
pub(crate) async fn tools(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let update = chat.agent.execute_tool(Snapshot::new(state.agent.clone()), context).await?;
    Ok(ChatState::update().agent(update))
}
