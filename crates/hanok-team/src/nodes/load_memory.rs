//! The node that reads what is known of the user.

use std::sync::Arc;

use hanok_agent::DataMark;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_state::{Message, State};

use crate::{
    error::TeamError,
    prompt,
    settings::TeamSettings,
    state::{Phase, TeamState, TeamStateUpdate},
};

/// The metadata key of a message's kind.
pub(crate) const KIND: &str = "kind";
/// What was remembered for the question behind it.
pub(crate) const REMEMBERED: &str = "remembered";

/// Writes the question into the conversation, and before it what is remembered for it.
pub(crate) async fn load_memory<C: Send + Sync + 'static>(
    settings: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    let update = TeamState::update().phase(Phase::Planning);
    let question = Message::user(state.query.as_str());
    let Some(memory) = &settings.memory else { return Ok(update.message(question)) };
    let recall = || memory.recall(&state.query, &context);
    let remembered = context.step("recall", recall).await.map_err(|error| match error {
        StepError::Failed(cause) => TeamError::Memory(cause),
        error => TeamError::Step(error),
    })?;
    if remembered.is_empty() {
        return Ok(update.message(question));
    }
    let mark = DataMark::new(&*context.runtime().rng);
    let text = prompt::remembered(&remembered, &mark, settings.language);
    let message = Message::user(text).with_metadata(KIND, REMEMBERED);
    Ok(update.message(message).message(question))
}
