//! A model that says the same in every turn.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_state::{Message, Role};

/// Says these texts, one after the other, in every turn of its agent.
#[derive(Debug)]
pub(super) struct Steps(pub(super) Vec<String>);

impl ChatModel for Steps {
    fn name(&self) -> &str {
        "steps"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        let said = request.messages.iter().filter(|it| it.role() == Role::Assistant).count();
        let text = self.0.get(said % self.0.len().max(1)).cloned().unwrap_or_default();
        Ok(ChatReply::new(Message::assistant(text), "steps"))
    }
}
