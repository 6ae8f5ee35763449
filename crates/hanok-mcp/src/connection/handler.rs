//! The client as its servers see it.

use std::sync::Arc;

use rmcp::{
    ClientHandler, ErrorData,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, FormElicitationCapability, Implementation, JsonObject,
        ProtocolVersion, TASKS_EXTENSION_ID, UrlElicitationCapability,
    },
    service::{RequestContext, RoleClient},
};

use super::wire::Wire;
use crate::{
    elicitation::{Elicitation, ElicitationAnswer, Prompted, Prompter},
    error::ServerError,
};

/// A client that has tools called. It offers no roots and no words of a model. A question to a person goes to whoever can be asked
/// at once, where a server waits for that; a server of 2026-07-28 ends the call instead and is answered by the next one.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    pub(super) server: String,
    pub(super) prompter: Prompter,
    pub(super) wire: Arc<Wire>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let elicitation = ElicitationCapability::new().with_form(form);
        let elicitation = elicitation.with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        let tasks = [(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())];
        capabilities.extensions = Some(tasks.into_iter().collect());
        capabilities.elicitation = Some(elicitation);
        let client = Implementation::new("hanok", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(capabilities, client);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let prompted = match Elicitation::new(&self.server, &asked) {
            Ok(question) => {
                let _thinking = self.wire.thinks(self.prompter.clock.clone());
                // The server may take its question back.
                let prompted = tokio::select! {
                    biased;
                    () = context.ct.cancelled() => Prompted::cancelled("the server took it back"),
                    prompted = self.prompter.ask(&question) => prompted,
                };
                if let Some(reason) = prompted.unanswered {
                    self.wire.unanswered(&question.message, reason);
                }
                prompted
            }
            Err(error) => {
                let message = match &asked {
                    ElicitRequestParams::FormElicitationParams { message, .. }
                    | ElicitRequestParams::UrlElicitationParams { message, .. } => message,
                    _ => "",
                };
                let reason = match error {
                    ServerError::SecretAsked { .. } => {
                        "it wants a secret, and nobody is asked for one"
                    }
                    _ => "it cannot be shown to a person as it is",
                };
                self.wire.unanswered(message, reason);
                Prompted { answer: ElicitationAnswer::Decline, unanswered: None }
            }
        };
        Ok(match prompted.answer {
            ElicitationAnswer::Accept { content: Some(content) } => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            ElicitationAnswer::Accept { content: None } => {
                ElicitResult::new(ElicitationAction::Accept)
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }
}
