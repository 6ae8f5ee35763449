//! The node that asks the model.

use std::collections::BTreeSet;

use hanok_core::Spent;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, ToolChoice};
use hanok_state::{Message, Messages, State, ToolCall};
use serde::{Deserialize, Serialize};

use crate::{
    conversation,
    error::AgentError,
    intercept::{TurnContext, chain::NextModel},
    observation::FaultKind,
    progress::AgentProgress,
    prompt,
    protocol::Protocol,
    reply::{
        ask_model::ask_through,
        read::{ReadReply, ReplyReader},
    },
    settings::AgentSettings,
    state::{AgentState, AgentStateUpdate, Fault, StopReason},
    tools::execution::metered,
    usage::TurnUsage,
};

/// Asks the model for the next step: calls, or the answer. An empty reply is asked again once.
pub(crate) async fn call_model(
    agent: &AgentSettings,
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
    let choice = agent.choice(&state);
    let request = agent.request(&messages).tool_choice(choice.clone());

    let (mut iteration, mut usage) = (state.iteration + 1, state.usage.clone());
    let task = ModelTask { context: &context, messages: &messages };
    let mut reply = agent.ask(task, &mut usage, "model", request.clone()).await?;
    if let Some(words) = agent.correction(&reply, choice).filter(|_| iteration < limit) {
        iteration += 1;
        reply = agent.ask(task, &mut usage, "model-again", request.message(words)).await?;
    }
    let update = missing.into_iter().fold(AgentState::update(), AgentStateUpdate::message);
    let update = update.iteration(iteration).usage(usage);
    if !reply.is_empty() && agent.correction(&reply, choice).is_some() {
        return Ok(agent.stop(&context, update, StopReason::NoToolCall));
    }
    agent.refuse_calls(&mut reply, choice);
    Ok(agent.conclude(&context, reply, update))
}

/// The task for which the model is asked, and its conversation.
#[derive(Clone, Copy)]
struct ModelTask<'a> {
    context: &'a Context,
    messages: &'a Messages,
}

/// A reply as its step stores it.
#[derive(Serialize, Deserialize)]
struct StoredReply {
    reply: ChatReply,
    spent: Spent,
}

impl AgentSettings {
    /// The tool choice for the next reply. A call is required of a turn's first reply only, so that the turn can end.
    fn choice(&self, state: &AgentState) -> &ToolChoice {
        match &self.tool_choice {
            choice if state.iteration == 0 || *choice == ToolChoice::None => choice,
            _ => &ToolChoice::Auto,
        }
    }

    /// The message to a model whose `reply` is not what it was asked for, if there is one. A server may ignore the choice.
    fn correction(&self, reply: &ReadReply, choice: &ToolChoice) -> Option<String> {
        let calls = !reply.calls.is_empty() || !reply.faults.is_empty();
        match choice {
            ToolChoice::Required | ToolChoice::Tool(_) => {
                (!calls).then(|| prompt::tool_required(choice, self.language))
            }
            _ if reply.is_empty() => {
                Some(prompt::empty_reply(self.protocol, self.language).to_owned())
            }
            _ => None,
        }
    }

    /// Calls that `choice` does not allow are not made.
    fn refuse_calls(&self, reply: &mut ReadReply, choice: &ToolChoice) {
        let is_wrong = |call: &&ToolCall| match choice {
            ToolChoice::None => true,
            ToolChoice::Tool(name) => call.name != *name,
            _ => false,
        };
        let wrong: Vec<_> = reply.calls.iter().filter(is_wrong).map(|c| c.id.clone()).collect();
        reply.faults.retain(|f| f.call_id.as_ref().is_none_or(|id| !wrong.contains(id)));
        reply.faults.extend(wrong.into_iter().map(|id| Fault {
            call_id: Some(id),
            kind: FaultKind::Denied,
            text: prompt::not_chosen(choice, self.language),
        }));
    }

    fn request(&self, messages: &Messages) -> ChatRequest {
        let sent = conversation::request(&self.system, messages, self.protocol);
        let mut request = ChatRequest::new(sent);
        (request.max_tokens, request.temperature) = (self.max_tokens, self.temperature);
        if self.protocol == Protocol::Native {
            request.tools = self.runner.tools.specs().cloned().collect();
        }
        request
    }

    /// Asks the model, once and for all of the task's runs, and reads what it says.
    async fn ask(
        &self,
        ModelTask { context, messages }: ModelTask<'_>,
        usage: &mut TurnUsage,
        step: &str,
        request: ChatRequest,
    ) -> Result<ReadReply, AgentError> {
        let call = context.call("model", self.model.name(), "");
        let turn = TurnContext { agent: &self.name, usage, language: self.language };
        let model = NextModel::new(&self.runner.interceptors, &self.model, turn);
        let reading = (&self.parser, self.protocol);
        let ask = async || {
            let ask = |call| async move {
                ask_through(model, request, &call, reading, self.runner.capture).await
            };
            let (reply, spent) = metered(&call, ask).await;
            Ok::<_, ModelError>(StoredReply { reply: reply?, spent })
        };
        let replied = context.step(step, ask).await;
        let StoredReply { reply, spent } = replied.map_err(|error| self.model_failed(error))?;
        usage.reply(&reply, spent);
        let task = context.task().to_string();
        let reading = ReplyReader {
            parser: &self.parser,
            protocol: self.protocol,
            language: self.language,
            prefix: &format!("call-{}", task.get(..8).unwrap_or(&task)),
            taken: conversation::call_ids(messages),
            issued: BTreeSet::new(),
        };
        Ok(reading.read(&reply))
    }

    /// The update of a reply: an answer ends the turn, calls and faults go to the tools.
    fn conclude(
        &self,
        context: &Context,
        reply: ReadReply,
        update: AgentStateUpdate,
    ) -> AgentStateUpdate {
        if reply.is_empty() {
            return self.stop(context, update, StopReason::EmptyReply);
        }
        let ReadReply { text, thought, calls, faults, answer } = reply;
        if let Some(text) = thought {
            self.emit(context, |agent| AgentProgress::Thought { agent, text });
        }
        for ToolCall { id, name: tool, arguments } in calls.iter().cloned() {
            self.emit(context, |agent| AgentProgress::Call { agent, id, tool, arguments });
        }
        // Servers refuse a message that says nothing.
        let says = !text.is_empty() || !calls.is_empty();
        let message = Message::assistant(text).with_tool_calls(calls.iter().cloned());
        let update = if says { update.message(message) } else { update };
        let update = update.pending_tool_calls(calls);
        let update = if faults.is_empty() { update } else { update.faults(faults) };
        let Some(answer) = answer else { return update.should_stop(false) };
        let text = answer.clone();
        self.emit(context, |agent| AgentProgress::Answer { agent, text });
        update.should_stop(true).stopped(Some(StopReason::Answered)).answer(Some(answer))
    }

    fn stop(
        &self,
        context: &Context,
        update: AgentStateUpdate,
        reason: StopReason,
    ) -> AgentStateUpdate {
        self.emit(context, |agent| AgentProgress::Stopped { agent, reason });
        update.should_stop(true).stopped(Some(reason))
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
