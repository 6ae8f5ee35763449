//! The offline model as the orchestrator has it, on a morning of its own.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel};
use hanok_state::Message;
use kit::OfflineModel;

/// The offline model, which knows by which words the sample server's tools are asked for and is told that it is ten in the morning of
/// Thursday, 26 November 2026, in Korea.
pub fn offline() -> SharedModel {
    SharedModel::new(Thursday(OfflineModel::new().aliases(kit::aliases(desk::CUES))))
}

#[derive(Debug)]
struct Thursday(OfflineModel);

impl ChatModel for Thursday {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn chat(&self, mut request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let line = "지금: 2026-11-26T10:00+09:00, 목요일, Asia/Seoul";
        request.messages.insert(0, Message::system(line));
        self.0.chat(request, call).await
    }
}
