//! The nodes that are this program's own.

use hanok_agent::{AgentError, AgentState, AgentStateUpdate, PromptFront, StructuredError};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_memory::turn_data;
use hanok_model::{ChatModel, DataMark, ModelError, TokenCounter};
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

/// Asks the model where the question goes.
pub(crate) async fn router(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let (call, request) = (context.call("model", "router", ""), router::request(&state));
    let parts = PromptFront::of(chat.model.name(), &request, &[]);
    let parts = parts.compactions(state.agent.memory.compactions);
    let (front, broken) = parts.after(state.route_front.as_ref());
    if let Some(cause) = broken {
        let tokens = cause.tokens(&request, &TokenCounter::estimate());
        context.custom(&Progress::PromptBroken { cause, tokens });
    }
    let decided = context.step("route", || router::decide(&chat.model, request, &call)).await;
    let decision = decided.map_err(failed)?;
    let (route, reason) = (decision.route, decision.reason.clone());
    context.custom(&Progress::Routed { route, reason });
    Ok(ChatState::update().route(Some(decision)).route_front(Some(front)))
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

/// Finds what the documents have about the question. It is stored with its mark, and later prompts show the same.
pub(crate) async fn rag(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let mut questions = state.agent.messages.iter().rev().filter(is_question).map(Message::text);
    let question = questions.next().unwrap_or_default();
    let before = questions.next();
    let (text, sources) = documents::search(&chat.documents, &question, before.as_deref()).await?;
    context.custom(&Progress::Searched { sources });
    let rng = &context.runtime().rng;
    let mark = context.step("mark", async || Ok::<_, StepError>(DataMark::new(&**rng))).await?;
    let data = turn_data(&text, Language::Korean, &mark);
    let agent = data.into_iter().fold(AgentState::update(), AgentStateUpdate::message);
    Ok(ChatState::update().agent(agent))
}

/// True for what the user said.
fn is_question(message: &&Message) -> bool {
    let is_user = message.role() == Role::User && message.tool_call_id().is_none();
    is_user && !message.metadata().contains_key("kind")
}

/// Makes the conversation smaller, if there is much of it.
pub(crate) async fn memory(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let update = chat.agent.compact(Snapshot::new(state.agent.clone()), context).await?;
    Ok(ChatState::update().agent(update))
}

/// Asks the agent's model.
pub(crate) async fn agent(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, NodeFailure> {
    let update = chat.agent.call_model(Snapshot::new(state.agent.clone()), context).await?;
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
