//! The nodes that are this program's own.

use hanok_agent::{AgentState, AgentStateUpdate};
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_memory::turn_data;
use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_retrieval::{Query, Retriever};
use hanok_state::{Message, Role, State};
use kit::passages::{few, observation};

use crate::{Chat, ChatState, ChatStateUpdate, Progress, router};

/// Asks the model where the question goes.
pub(crate) async fn router(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, BoxError> {
    let (call, request) = (context.call("model", "router", ""), router::request(&state));
    let decision = context.step("route", || router::decide(&chat.model, request, &call)).await?;
    let (route, reason) = (decision.route, decision.reason.clone());
    context.custom(&Progress::Routed { route, reason });
    Ok(ChatState::update().route(Some(decision)))
}

/// Finds what the documents have about the question; where they have nothing, about the question before and this one together. It
/// is stored with its mark, and later prompts show the same.
pub(crate) async fn rag(
    chat: Chat,
    state: Snapshot<ChatState>,
    context: Context,
) -> Result<ChatStateUpdate, BoxError> {
    let mut questions = state.agent.messages.iter().rev().filter(is_question).map(Message::text);
    let question = questions.next().unwrap_or_default();
    let mut hits = chat.documents.search(&few(Query::new(question.as_ref()))).await?;
    if let (true, Some(before)) = (hits.is_empty(), questions.next()) {
        let both = Query::new(format!("{before} {question}"));
        hits = chat.documents.search(&few(both)).await?;
    }
    let sources = hits.iter().map(|hit| hit.passage.source.to_string()).collect();
    context.custom(&Progress::Searched { sources });
    let rng = &context.runtime().rng;
    let mark = context.step("mark", async || Ok::<_, StepError>(DataMark::new(&**rng))).await?;
    let data = turn_data(&observation(&question, &hits), Language::Korean, &mark);
    let agent = data.into_iter().fold(AgentState::update(), AgentStateUpdate::message);
    Ok(ChatState::update().agent(agent))
}

/// True for what the user said.
fn is_question(message: &&Message) -> bool {
    let is_user = message.role() == Role::User && message.tool_call_id().is_none();
    is_user && !message.metadata().contains_key("kind")
}
