//! The node that asks the model.

use std::sync::Arc;

use hanok_core::Spent;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_state::{Message, Messages, State};
use serde::{Deserialize, Serialize};

use crate::{
    AgentError, AgentProgress, AgentState, AgentStateUpdate, NextModel, Protocol, StopReason,
    TurnUsage,
    agent::Inner,
    conversation,
    execution::counted,
    intercept, prompt,
    reading::{Reading, Turn},
    spans::ask_through,
};

/// Asks the model for the next step: calls, or the answer. An empty reply is asked again once.
pub(crate) async fn call_model(
    agent: Arc<Inner>,
    state: Snapshot<AgentState>,
    context: Context,
) -> Result<AgentStateUpdate, AgentError> {
    let limit = agent.limit(&state);
    if state.iteration >= limit {
        return Ok(agent.stop(&context, AgentState::update(), StopReason::MaxIterations));
    }
    // An earlier turn may have been cut short: every call gets its observation before the model is asked again.
    let missing = conversation::missing(&state.messages, agent.protocol, agent.language);
    let messages: Messages = state.messages.iter().chain(&missing).cloned().collect();
    let request = agent.request(&messages);

    let (mut iteration, mut usage) = (state.iteration + 1, state.usage.clone());
    let asking = Asking { context: &context, messages: &messages };
    let mut turn = agent.turn(asking, &mut usage, "model", request.clone()).await?;
    if turn.is_empty() && iteration < limit {
        iteration += 1;
        let request = request.message(prompt::empty_reply(agent.protocol, agent.language));
        turn = agent.turn(asking, &mut usage, "model-again", request).await?;
    }
    let update = missing.into_iter().fold(AgentState::update(), AgentStateUpdate::message);
    Ok(agent.conclude(&context, turn, update.iteration(iteration).usage(usage)))
}

/// Of which task the model is asked, and with which conversation.
#[derive(Clone, Copy)]
struct Asking<'a> {
    context: &'a Context,
    messages: &'a Messages,
}

/// A reply as it is kept.
#[derive(Serialize, Deserialize)]
struct Replied {
    reply: ChatReply,
    spent: Spent,
}

impl Inner {
    /// How often the model may be asked in this turn.
    pub(crate) fn limit(&self, state: &AgentState) -> u32 {
        if state.max_iterations == 0 { self.max_iterations } else { state.max_iterations }
    }

    fn request(&self, messages: &Messages) -> ChatRequest {
        let request =
            ChatRequest::new(conversation::request(&self.system, messages, self.protocol));
        let request = match self.temperature {
            Some(temperature) => request.temperature(temperature),
            None => request,
        };
        match self.protocol {
            Protocol::Native => request.tools(self.tools.specs().cloned()),
            Protocol::Text => request,
        }
    }

    /// Asks the model, once and for all of the task's runs, and reads what it says.
    async fn turn(
        &self,
        Asking { context, messages }: Asking<'_>,
        usage: &mut TurnUsage,
        step: &str,
        request: ChatRequest,
    ) -> Result<Turn, AgentError> {
        let call = context.call("model", self.model.name(), "");
        let turn = intercept::Turn { agent: &self.name, usage, language: self.language };
        let model = NextModel::new(&self.interceptors, &self.model, turn);
        let reading = (&self.parser, self.protocol);
        let ask = async || {
            let ask = |call| async move {
                ask_through(model, request, &call, reading, self.capture).await
            };
            let (reply, spent) = counted(&call, ask).await;
            Ok::<_, ModelError>(Replied { reply: reply?, spent })
        };
        let replied = context.step(step, ask).await;
        let Replied { reply, spent } = replied.map_err(|error| self.model_failed(error))?;
        usage.reply(&reply, spent);
        let task = context.task().to_string();
        let reading = Reading {
            parser: &self.parser,
            protocol: self.protocol,
            language: self.language,
            prefix: &format!("call-{}", task.get(..8).unwrap_or(&task)),
            taken: conversation::call_ids(messages),
        };
        Ok(reading.read(&reply))
    }

    /// What the turn changes: an answer ends it, calls and faults go to the tools.
    fn conclude(
        &self,
        context: &Context,
        turn: Turn,
        update: AgentStateUpdate,
    ) -> AgentStateUpdate {
        if turn.is_empty() {
            return self.stop(context, update, StopReason::EmptyReply);
        }
        self.tell(context, &turn);
        let message = Message::assistant(turn.text).with_tool_calls(turn.calls.iter().cloned());
        let update = update.message(message).pending_tool_calls(turn.calls);
        let update = if turn.faults.is_empty() { update } else { update.faults(turn.faults) };
        match turn.answer {
            Some(answer) => {
                update.should_stop(true).stopped(Some(StopReason::Answered)).answer(Some(answer))
            }
            None => update.should_stop(false),
        }
    }

    fn stop(
        &self,
        context: &Context,
        update: AgentStateUpdate,
        reason: StopReason,
    ) -> AgentStateUpdate {
        context.custom(&AgentProgress::Stopped { agent: self.name.clone(), reason });
        update.should_stop(true).stopped(Some(reason))
    }

    fn tell(&self, context: &Context, turn: &Turn) {
        let agent = || self.name.clone();
        if let Some(text) = turn.thought.clone() {
            context.custom(&AgentProgress::Thought { agent: agent(), text });
        }
        for call in &turn.calls {
            context.custom(&AgentProgress::Call {
                agent: agent(),
                id: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
            });
        }
        if let Some(text) = turn.answer.clone() {
            context.custom(&AgentProgress::Answer { agent: agent(), text });
        }
    }

    fn model_failed(&self, error: StepError) -> AgentError {
        let agent = self.name.clone();
        match error {
            StepError::Failed(cause) => match cause.downcast::<ModelError>() {
                Ok(source) => AgentError::Model { agent, source: *source },
                Err(cause) => AgentError::Step { agent, source: StepError::Failed(cause) },
            },
            source => AgentError::Step { agent, source },
        }
    }
}
