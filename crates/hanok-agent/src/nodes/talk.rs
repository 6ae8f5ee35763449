//! The conversation of a turn as its prompts show it, and its compaction.

use std::sync::{Mutex, PoisonError};

use hanok_core::{BoxFuture, Call};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_memory::{
    CompactionChange, ConversationMemory, FullWindow, MemoryError, Remembers, SummaryModel,
};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, TokenCounter};
use hanok_state::{Message, Messages, State};

use super::call_model::StoredReply;
use crate::{
    by_run::Round,
    conversation,
    error::AgentError,
    has_agent::HasAgent,
    intercept::{TurnContext, chain::NextModel},
    progress::AgentProgress,
    prompt_front::{PromptFront, unnamed},
    protocol::Protocol,
    reply::ask_model::{Reading, ask_through},
    settings::{AgentParts, AgentSettings},
    state::{AgentState, AgentStateUpdate},
    usage::TurnUsage,
};

/// The conversation of a turn, and what is to be written to make it so.
pub(crate) struct Talk {
    pub(crate) messages: Messages,
    memory: ConversationMemory,
    change: CompactionChange,
    /// The front of the last prompt.
    front: Option<PromptFront>,
    /// The results that calls of an earlier turn never had.
    missing: Vec<Message>,
}

impl Talk {
    /// The conversation of `state`, whose messages in `stored` have the ids that stay.
    pub(crate) fn of(agent: &AgentSettings, state: &AgentState, stored: &Messages) -> Self {
        let is_stored = |message: &Message| message.id().is_some_and(|id| stored.get(id).is_some());
        // An earlier turn may have been cut short: every call gets its observation before the model is asked again.
        let missing = conversation::missing(&state.messages, agent.protocol, agent.language);
        let messages = state.messages.iter().map(|message| match is_stored(message) {
            true => message.clone(),
            false => unnamed(message),
        });
        Self {
            messages: messages.chain(missing.iter().cloned()).collect(),
            memory: state.memory.clone(),
            change: CompactionChange::default(),
            front: state.front.clone(),
            missing,
        }
    }

    /// The messages as a model reads them.
    fn prompt(&self, agent: &AgentSettings) -> Messages {
        self.memory.prompt(&self.messages, agent.language).into_iter().collect()
    }

    /// The update that makes the state's conversation this one.
    pub(crate) fn into_update(self) -> AgentStateUpdate {
        let update = match self.change.is_empty() {
            true => AgentState::update(),
            false => AgentState::remember(self.change),
        };
        let update = self.missing.into_iter().fold(update, AgentStateUpdate::message);
        update.front(self.front)
    }
}

/// Makes the conversation smaller before the model is asked.
pub(crate) async fn compact<S: HasAgent, C: Send + Sync + 'static>(
    parts: &AgentParts<S, C>,
    state: Snapshot<S>,
    context: Context<C>,
) -> Result<S::Update, AgentError> {
    let (settings, agent) = (&parts.settings, state.agent());
    // A turn whose tools are not chosen yet has those that the agent was built with.
    let offered = match &settings.catalogue {
        Some(catalogue) => Some(catalogue.offered(&agent.bound_tools, context.now()).await?),
        None => None,
    };
    let key = settings.label_key(agent, context.task());
    let services = context.services();
    let round = parts.by_run.round(settings, &state, services, offered, None, key.as_deref())?;
    let mut talk = Talk::of(settings, agent, &agent.messages);
    let mut usage = agent.usage.clone();
    Ok(match settings.compact(&round, &mut talk, None, &mut usage, &context).await? {
        true => S::wrap(AgentState::remember(talk.change).usage(usage)),
        false => S::update(),
    })
}

impl AgentSettings {
    /// The request for the next reply. Where it does not begin as the last one did, that is said.
    pub(crate) fn next_request<C>(
        &self,
        round: &Round<'_>,
        talk: &mut Talk,
        context: &Context<C>,
    ) -> ChatRequest {
        let request = self.request(round, &talk.prompt(self));
        let tools = match self.protocol {
            Protocol::Native => &request.tools,
            Protocol::Text => &round.shown,
        };
        let (model, compactions) = (round.model.name(), talk.memory.compactions);
        let parts = PromptFront::of(model, &request, tools).compactions(compactions);
        let (front, broken) = parts.after(talk.front.as_ref());
        if let Some(cause) = broken {
            let tokens = cause.tokens(&request, &self.counter());
            self.emit(context, |agent| AgentProgress::PromptBroken { agent, cause, tokens });
        }
        talk.front = Some(front);
        request
    }

    /// The counter of the agent's tokens.
    pub(crate) fn counter(&self) -> TokenCounter {
        let memory = self.memory.as_ref();
        memory.map_or_else(TokenCounter::estimate, |it| it.policy().token_counter().clone())
    }

    /// Makes the conversation smaller, as the agent's memory says, or so that it fits a window that is full. False where nothing
    /// was changed.
    pub(crate) async fn compact<C: Send + Sync + 'static>(
        &self,
        round: &Round<'_>,
        talk: &mut Talk,
        full: Option<FullWindow>,
        usage: &mut TurnUsage,
        context: &Context<C>,
    ) -> Result<bool, AgentError> {
        let Some(compactor) = &self.memory else { return Ok(false) };
        let sent = self.request(round, &Messages::new());
        let compactor = compactor.clone().system(&round.system).tools(sent.tools);
        let compactor = match self.max_tokens {
            Some(tokens) => compactor.reserved(tokens.into()),
            None => compactor,
        };
        let is_own = compactor.model().name() == round.model.name();
        let summaries = Summaries {
            agent: self,
            round,
            context,
            usage: usage.clone(),
            is_own,
            model: if is_own { &round.model } else { compactor.model() },
            replies: Mutex::default(),
        };
        let compacted =
            compactor.compact_by(&summaries, &talk.messages, &talk.memory, full, context).await;
        let replies = summaries.replies.into_inner().unwrap_or_else(PoisonError::into_inner);
        for StoredReply { reply, spent } in replies {
            usage.reply(&reply, spent);
        }
        let change = compacted.map_err(|error| self.memory_failed(error))?;
        if change.is_empty() {
            return Ok(false);
        }
        (talk.messages, talk.memory) = change.applied(&talk.messages, &talk.memory);
        talk.change = std::mem::take(&mut talk.change).and(change);
        Ok(true)
    }

    fn memory_failed(&self, error: MemoryError) -> AgentError {
        let agent = self.name.clone();
        match error {
            MemoryError::Stopped(source) => AgentError::Model { agent, source },
            MemoryError::Step(source) => AgentError::Step { agent, source },
            error => AgentError::Step { agent, source: StepError::Failed(error.into()) },
        }
    }
}

/// The model that writes an agent's summaries, asked through its interceptors.
struct Summaries<'a, C> {
    agent: &'a AgentSettings,
    round: &'a Round<'a>,
    context: &'a Context<C>,
    usage: TurnUsage,
    /// True for the model that reads the conversation too.
    is_own: bool,
    model: &'a hanok_model::SharedModel,
    replies: Mutex<Vec<StoredReply>>,
}

impl<C: Send + Sync + 'static> SummaryModel for Summaries<'_, C> {
    fn ask<'a>(
        &'a self,
        step: &'a str,
        request: ChatRequest,
        call: Call,
    ) -> BoxFuture<'a, Result<ChatReply, StepError>> {
        let AgentSettings { name, language, runner, parser, .. } = self.agent;
        let turn = TurnContext { agent: name, usage: &self.usage, language: *language };
        let model = NextModel::new(&runner.interceptors, self.model, turn);
        Box::pin(async move {
            let ask = async || {
                let ask = |call| async move {
                    let reading = Reading::new(parser, Protocol::Native);
                    ask_through(model, request, &call, reading, runner.capture).await
                };
                let (reply, spent) = call.metered(ask).await;
                Ok::<_, ModelError>(StoredReply { reply: reply?, spent })
            };
            let stored: StoredReply = self.context.step(step, ask).await?;
            let reply = stored.reply.clone();
            self.replies.lock().unwrap_or_else(PoisonError::into_inner).push(stored);
            Ok(reply)
        })
    }

    fn front(&self, memory: &ConversationMemory, messages: &Messages) -> Option<ChatRequest> {
        let read = memory.prompt(messages, self.agent.language).into_iter().collect();
        self.is_own.then(|| self.agent.request(self.round, &read))
    }
}
