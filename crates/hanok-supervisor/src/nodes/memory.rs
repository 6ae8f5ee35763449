//! The conversation of a supervisor, kept small before its model is asked.

use hanok_agent::{
    Protocol, Reading, ask_model,
    memory::{
        CompactionChange, ConversationMemory, FullWindow, MemoryError, Remembers, SummaryModel,
    },
};
use hanok_core::{BoxFuture, Call};
use hanok_graph::{Context, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, SharedModel};
use hanok_parse::Parser;
use hanok_state::{Messages, State};

use crate::{
    error::SupervisorError,
    settings::SupervisorSettings,
    state::{SupervisorState, SupervisorStateUpdate},
};

impl Remembers for SupervisorState {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn memory(&self) -> &ConversationMemory {
        &self.memory
    }

    fn remember(change: CompactionChange) -> SupervisorStateUpdate {
        SupervisorState::update().messages(change.messages).memory(change.memory)
    }
}

impl<C: Send + Sync + 'static> SupervisorSettings<C> {
    /// The state with a smaller conversation, and the change that makes it so; `None` where nothing is to be done.
    pub(crate) async fn compacted(
        &self,
        state: &SupervisorState,
        full: Option<FullWindow>,
        context: &Context<C>,
    ) -> Result<Option<(SupervisorState, CompactionChange)>, SupervisorError> {
        let Some(compactor) = &self.memory else { return Ok(None) };
        let compactor = compactor.clone().system(&self.system).tools(self.delegate.clone());
        let compactor = match self.max_tokens {
            Some(tokens) => compactor.reserved(tokens.into()),
            None => compactor,
        };
        let is_own = compactor.model().name() == self.model.name();
        let model = if is_own { &self.model } else { compactor.model() };
        let key = self.key(state);
        let summaries = Summaries { supervisor: self, model, is_own, key, context };
        let (messages, memory) = (&state.messages, &state.memory);
        let change = compactor.compact_by(&summaries, messages, memory, full, context).await;
        let change = change.map_err(|error| match error {
            MemoryError::Stopped(source) => SupervisorError::Model(source),
            MemoryError::Step(source) => SupervisorError::Step(source),
            error => SupervisorError::Step(StepError::Failed(error.into())),
        })?;
        if change.is_empty() {
            return Ok(None);
        }
        let (messages, memory) = change.applied(messages, memory);
        Ok(Some((SupervisorState { messages, memory, ..state.clone() }, change)))
    }
}

/// The model that writes a supervisor's summaries.
struct Summaries<'a, C: Send + Sync + 'static> {
    supervisor: &'a SupervisorSettings<C>,
    model: &'a SharedModel,
    /// True for the model that routes, too.
    is_own: bool,
    /// The key that labels carry, if they do.
    key: Option<&'a str>,
    context: &'a Context<C>,
}

impl<C: Send + Sync + 'static> SummaryModel for Summaries<'_, C> {
    fn ask<'a>(
        &'a self,
        step: &'a str,
        request: ChatRequest,
        call: Call,
    ) -> BoxFuture<'a, Result<ChatReply, StepError>> {
        Box::pin(async move {
            let parser = Parser::default().without_calls();
            let reading = Reading::new(&parser, Protocol::Native);
            let ask = || ask_model(self.model, request, &call, reading, self.supervisor.capture);
            self.context.step(step, ask).await
        })
    }

    fn front(&self, memory: &ConversationMemory, messages: &Messages) -> Option<ChatRequest> {
        self.is_own.then(|| self.supervisor.request(messages, memory, self.key))
    }
}
