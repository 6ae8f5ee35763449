//! The node that asks the model.

use std::collections::BTreeSet;

use hanok_core::{Call, Spent};
use hanok_graph::{Command, Context, Snapshot, StepError};
use hanok_memory::FullWindow;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, ToolChoice};
use hanok_state::{Json, Message, Messages, State, ToolCall};
use serde::{Deserialize, Serialize};

use crate::{
    by_run::Round,
    conversation,
    error::AgentError,
    has_agent::HasAgent,
    hook::{HookPoint, outcome::Jump},
    intercept::{TurnContext, chain::NextModel},
    nodes::{talk::Talk, turn::Turn},
    observation::FaultKind,
    progress::AgentProgress,
    prompt,
    prompt_front::BreakCause,
    protocol::Protocol,
    reply::{
        ask_model::{Reading, ask_through},
        forming::Forming,
        read::{ReadReply, ReplyReader},
    },
    settings::{AgentParts, AgentSettings},
    state::{AgentState, AgentStateUpdate, Fault, StopReason},
    usage::TurnUsage,
};

/// Asks the model for the next step: calls, or the answer. An empty reply is asked again once. The hooks before and after
/// stand around it.
pub(crate) async fn call_model<S: HasAgent, C: Send + Sync + 'static>(
    parts: &AgentParts<S, C>,
    state: Snapshot<S>,
    context: Context<C>,
) -> Result<Command<S>, AgentError> {
    let stored = state.agent().messages.clone();
    let mut turn = Turn::new(parts, state, &context);
    let mut jump = None;
    if turn.now.agent().iteration == 0 {
        jump = turn.hooks(HookPoint::BeforeAgent).await?;
    }
    if matches!(jump, None | Some(Jump::Model)) {
        jump = turn.hooks(HookPoint::BeforeModel).await?;
    }
    if matches!(jump, None | Some(Jump::Model)) {
        let key = parts.settings.label_key(turn.now.agent(), context.task());
        if key.is_some() && key != turn.now.agent().label_key {
            turn.write_agent(AgentState::update().label_key(key.clone()))?;
        }
        let now = turn.now.clone();
        let (services, only) = (context.services(), turn.tools.take());
        let offered = match parts.settings.offered(now.agent(), &context).await? {
            Some((offered, Some(bound))) => {
                turn.write_agent(AgentState::update().bound_tools(bound))?;
                Some(offered)
            }
            offered => offered.map(|(offered, _)| offered),
        };
        let (only, key) = (only.as_deref(), key.as_deref());
        let round = parts.by_run.round(&parts.settings, &now, services, offered, only, key)?;
        let talk = Talk::of(&parts.settings, now.agent(), &stored);
        // On the heap: a node within a node's graph within another has little room on the stack.
        let asking = Box::pin(parts.settings.ask_model(&round, now.agent(), talk, &context));
        let update = asking.await?;
        turn.write_agent(update)?;
        jump = turn.hooks(HookPoint::AfterModel).await?;
        if jump == Some(Jump::Model) {
            return turn.again().await;
        }
    }
    match jump {
        Some(Jump::End) => turn.end()?,
        Some(Jump::Tools) => return turn.into_command(Some("execute_tool")).await,
        _ => {}
    }
    turn.into_command(None).await
}

/// The task for which the model is asked, and its conversation.
struct ModelTask<'a, C> {
    context: &'a Context<C>,
    round: &'a Round<'a>,
    messages: &'a Messages,
}

/// A reply as its step stores it.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredReply {
    pub(super) reply: ChatReply,
    pub(super) spent: Spent,
}

impl AgentSettings {
    /// Asks the model, and says what its reply writes.
    async fn ask_model<C: Send + Sync + 'static>(
        &self,
        round: &Round<'_>,
        state: &AgentState,
        mut talk: Talk,
        context: &Context<C>,
    ) -> Result<AgentStateUpdate, AgentError> {
        let limit = self.limit(state);
        if state.iteration >= limit {
            return Ok(self.stop(context, AgentState::update(), StopReason::MaxIterations));
        }
        let choice = self.choice(state);
        let (mut iteration, mut usage) = (state.iteration + 1, state.usage.clone());
        let (mut reply, request) =
            Box::pin(self.reply(round, choice, &mut talk, &mut usage, context)).await?;
        if let Some(words) = self.correction(&reply, state, choice).filter(|_| iteration < limit) {
            iteration += 1;
            let counter = self.counter();
            let tokens = words.iter().map(|message| counter.message(message)).sum();
            let request = words.into_iter().fold(request, ChatRequest::message);
            let task = ModelTask { context, round, messages: &talk.messages };
            reply = self.ask(&task, &mut usage, "model-again", request).await?;
            // The conversation keeps neither what was wrong nor the correction.
            let cause = BreakCause::Repair;
            self.emit(context, |agent| AgentProgress::PromptBroken { agent, cause, tokens });
        }
        let update = talk.into_update().iteration(iteration).usage(usage);
        if state.usage.has_to_answer() && !reply.calls.is_empty() {
            return Ok(self.stop(context, update, StopReason::Rejected));
        }
        if !reply.is_empty() && self.lacks_call(&reply, choice) {
            // What it says instead may be what it lacks: whoever reads the conversation finds it there.
            let update = update.message(Message::assistant(reply.text).with_id(reply.id));
            return Ok(self.stop(context, update, StopReason::NoToolCall));
        }
        self.refuse_calls(&mut reply, choice);
        Ok(self.conclude(context, reply, update))
    }

    /// The model's reply to the conversation as it stands, and the request that it answers. Where that does not fit the model's
    /// window, the conversation is made smaller, and the model is asked once more.
    async fn reply<C: Send + Sync + 'static>(
        &self,
        round: &Round<'_>,
        choice: &ToolChoice,
        talk: &mut Talk,
        usage: &mut TurnUsage,
        context: &Context<C>,
    ) -> Result<(ReadReply, ChatRequest), AgentError> {
        Box::pin(self.compact(round, talk, None, usage, context)).await?;
        let mut request = self.next_request(round, talk, context).tool_choice(choice.clone());
        let task = ModelTask { context, round, messages: &talk.messages };
        let error = match self.ask(&task, usage, "model", request.clone()).await {
            Ok(reply) => return Ok((reply, request)),
            Err(error) => error,
        };
        let AgentError::Model {
            source: ModelError::ContextTooLong { limit, requested, .. }, ..
        } = &error
        else {
            return Err(error);
        };
        let full = FullWindow { limit: *limit, requested: *requested };
        if !Box::pin(self.compact(round, talk, Some(full), usage, context)).await? {
            return Err(error);
        }
        request = self.next_request(round, talk, context).tool_choice(choice.clone());
        let task = ModelTask { context, round, messages: &talk.messages };
        let reply = self.ask(&task, usage, "model-fit", request.clone()).await?;
        Ok((reply, request))
    }

    /// The tool choice for the next reply. A call is required of a turn's first reply only, so that the turn can end.
    fn choice(&self, state: &AgentState) -> &ToolChoice {
        match &self.tool_choice {
            _ if state.usage.has_to_answer() => &ToolChoice::None,
            choice if state.iteration == 0 || *choice == ToolChoice::None => choice,
            _ => &ToolChoice::Auto,
        }
    }

    /// True for a reply without the call that `choice` requires.
    fn lacks_call(&self, reply: &ReadReply, choice: &ToolChoice) -> bool {
        let calls = !reply.calls.is_empty() || !reply.faults.is_empty();
        // An answer by a tool is a call.
        let answered = reply.by_tool && self.answer.is_some();
        matches!(choice, ToolChoice::Required | ToolChoice::Tool(_)) && !calls && !answered
    }

    /// The messages to a model whose `reply` is not what it was asked for, if there are any. A server may ignore the choice.
    fn correction(
        &self,
        reply: &ReadReply,
        state: &AgentState,
        choice: &ToolChoice,
    ) -> Option<Vec<Message>> {
        if state.usage.has_to_answer() && !reply.calls.is_empty() {
            return Some(vec![Message::user(prompt::has_to_answer(self.language))]);
        }
        if self.lacks_call(reply, choice) {
            return Some(vec![Message::user(prompt::tool_required(choice, self.language))]);
        }
        if reply.is_empty() {
            return Some(vec![Message::user(prompt::empty_reply(self.protocol, self.language))]);
        }
        let (form, text) = (self.answer.as_ref()?, reply.answer.as_deref()?);
        form.value(text).err().map(|mistakes| form.again(text, &mistakes).into())
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

    pub(super) fn request(&self, round: &Round<'_>, messages: &Messages) -> ChatRequest {
        let sent = conversation::request(&round.system, messages, self.protocol);
        let mut request = ChatRequest::new(sent);
        (request.max_tokens, request.temperature) = (self.max_tokens, self.temperature);
        if self.protocol == Protocol::Native {
            request.tools = round.shown.clone();
        }
        if let Some(answer) = &self.answer {
            request.tools.extend(answer.tool());
            request.response_format = answer.format();
        }
        request
    }

    /// Asks the model, once and for all of the task's runs, and reads what it says.
    async fn ask<C: Send + Sync + 'static>(
        &self,
        ModelTask { context, round, messages }: &ModelTask<'_, C>,
        usage: &mut TurnUsage,
        step: &str,
        request: ChatRequest,
    ) -> Result<ReadReply, AgentError> {
        let call = context.call("model", round.model.name(), "");
        let turn = TurnContext { agent: &self.name, usage, language: self.language };
        let model = NextModel::new(&self.runner.interceptors, &round.model, turn);
        let reading = Reading::new(&round.parser, self.protocol).hidden(round.unkeyed.as_deref());
        let call = self.watched(&call, context);
        let ask = async || {
            let ask = |call| async move {
                ask_through(model, request, &call, reading, self.runner.capture).await
            };
            let (reply, spent) = call.metered(ask).await;
            Ok::<_, ModelError>(StoredReply { reply: reply?, spent })
        };
        let replied = context.step(step, ask).await;
        let StoredReply { reply, spent } = replied.map_err(|error| self.model_failed(error))?;
        usage.reply(&reply, spent);
        let task = context.task().to_string();
        let reading = ReplyReader {
            parser: &round.parser,
            protocol: self.protocol,
            readers: round.readers.as_ref(),
            unkeyed: round.unkeyed.as_deref(),
            corrects: self.corrects(messages),
            language: self.language,
            prefix: &format!("call-{}", task.get(..8).unwrap_or(&task)),
            taken: conversation::call_ids(messages),
            issued: BTreeSet::new(),
        };
        let mut reply = ReadReply { id: call.message_id(), ..reading.read(&reply) };
        if let Some(form) = &self.answer {
            reply.answer_by_tool(form);
        }
        Ok(reply)
    }

    /// Whether a call that is not written as it has to be is answered by a sentence about that. Behind that sentence it is not.
    fn corrects(&self, messages: &Messages) -> bool {
        let sentence = match self.protocol {
            Protocol::Native if self.text_calls.is_none() => prompt::text_call(self.language),
            Protocol::Text if self.keyed_labels => prompt::unkeyed(self.language),
            _ => return false,
        };
        !messages.iter().last().is_some_and(|last| last.text().contains(sentence))
    }

    /// The call, whose typed answer is shown while it forms.
    fn watched<C: Send + Sync + 'static>(&self, call: &Call, context: &Context<C>) -> Call {
        let Some(form) = &self.answer else { return call.clone() };
        let tool = form.tool().map(|spec| spec.name().to_owned());
        let (context, name) = (context.clone(), self.name.clone());
        Forming::of(call, tool, move |value| {
            let (agent, value) = (name.clone(), Json(value.clone()));
            context.custom(&AgentProgress::Forming { agent, value });
        })
    }

    /// The update of a reply: an answer ends the turn, calls and faults go to the tools.
    fn conclude<C>(
        &self,
        context: &Context<C>,
        reply: ReadReply,
        update: AgentStateUpdate,
    ) -> AgentStateUpdate {
        if reply.is_empty() {
            return self.stop(context, update, StopReason::EmptyReply);
        }
        let ReadReply { text, thought, calls, faults, answer, id, .. } = reply;
        if let Some(text) = thought {
            self.emit(context, |agent| AgentProgress::Thought { agent, text });
        }
        for ToolCall { id, name: tool, arguments } in calls.iter().cloned() {
            self.emit(context, |agent| AgentProgress::Call { agent, id, tool, arguments });
        }
        // Servers refuse a message that says nothing.
        let says = !text.is_empty() || !calls.is_empty();
        let message = Message::assistant(text).with_tool_calls(calls.iter().cloned()).with_id(id);
        let update = if says { update.message(message) } else { update };
        let update = update.pending_tool_calls(calls);
        let update = if faults.is_empty() { update } else { update.faults(faults) };
        let Some(answer) = answer else { return update.should_stop(false) };
        let update = match self.answer.as_ref().map(|form| form.value(&answer)) {
            Some(Err(_)) => return self.stop(context, update, StopReason::BadAnswer),
            Some(Ok(value)) => update.value(Some(Json(value))),
            None => update,
        };
        let text = answer.clone();
        self.emit(context, |agent| AgentProgress::Answer { agent, text });
        update.should_stop(true).stopped(Some(StopReason::Answered)).answer(Some(answer))
    }

    pub(crate) fn stop<C>(
        &self,
        context: &Context<C>,
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
