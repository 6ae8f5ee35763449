//! The node that asks the model for a route.

use std::sync::Arc;

use hanok_agent::{
    BreakCause, PromptFront, Protocol, Reading, StopReason, ask_model, label_key,
    memory::{CompactionChange, ConversationMemory, FullWindow, Remembers},
};
use hanok_graph::{Context, END, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, TokenCounter};
use hanok_parse::{ErrorKind, ParseError};
use hanok_state::{Message, Messages, State, StateUpdate};

use crate::{
    agent_result::AgentResult,
    conversation,
    error::SupervisorError,
    native,
    progress::SupervisorProgress,
    prompt,
    route::{Delegation, Route, keyed, read_keyed, read_route},
    selection::{self, Selection},
    settings::{SupervisorSettings, Unasked, Undecided},
    state::{SupervisorState, SupervisorStateUpdate},
};

/// The most delegations of a reply that run at once. A model's text has bounds.
const PARALLEL: usize = 16;

/// Asks the model for the next route. A reply that cannot be followed is corrected once; that counts as a routing call.
pub(crate) async fn choose_agent<C: Send + Sync + 'static>(
    supervisor: Arc<SupervisorSettings<C>>,
    state: Snapshot<SupervisorState>,
    context: Context<C>,
) -> Result<SupervisorStateUpdate, SupervisorError> {
    if let Some(result) = supervisor.forwarded(&state) {
        return Ok(supervisor.settle(&context, result));
    }
    let limit = supervisor.limit(&state);
    if state.iteration >= limit {
        return Ok(supervisor.end(&context, &state, StopReason::MaxIterations));
    }
    let (mut now, mut change) = (SupervisorState::clone(&state), CompactionChange::default());
    if supervisor.keyed_labels && now.label_key.is_none() {
        now.label_key = Some(label_key(context.task()));
    }
    let key = now.label_key.clone();
    if let Some((smaller, made)) = supervisor.compacted(&now, None, &context).await? {
        (now, change) = (smaller, made);
    }
    let chosen = choose(&supervisor, &now, "", &context).await;
    let update = match chosen {
        Err(SupervisorError::Model(ModelError::ContextTooLong { limit, requested, source })) => {
            let full = FullWindow { limit, requested };
            let smaller = supervisor.compacted(&now, Some(full), &context).await?;
            let error = ModelError::ContextTooLong { limit, requested, source };
            let (smaller, made) = smaller.ok_or(SupervisorError::Model(error))?;
            change = change.and(made);
            choose(&supervisor, &smaller, "-fit", &context).await?
        }
        chosen => chosen?,
    };
    let update = if key == state.label_key { update } else { update.label_key(key) };
    Ok(match change.is_empty() {
        true => update,
        false => SupervisorState::remember(change).and(update),
    })
}

/// The choice for a conversation that is small enough. Its steps end with `pass`.
async fn choose<C: Send + Sync + 'static>(
    supervisor: &SupervisorSettings<C>,
    state: &SupervisorState,
    pass: &str,
    context: &Context<C>,
) -> Result<SupervisorStateUpdate, SupervisorError> {
    let limit = supervisor.limit(state);
    let mut iteration = state.iteration + 1;
    let request = supervisor.request(&state.messages, &state.memory, supervisor.key(state));
    let front = supervisor.front(context, state, &request);
    let step = format!("route{pass}");
    let (mut reply, mut chosen) = supervisor.ask(context, state, &step, request.clone()).await?;
    if let Some(correction) = supervisor.correction(&chosen, state) {
        let is_usable =
            matches!(chosen, Route::Final(_) | Route::Undecided(_) | Route::Delegate { .. });
        if iteration >= limit && !is_usable {
            let ended = supervisor.end(context, state, StopReason::MaxIterations);
            return Ok(ended.iteration(iteration).front(Some(front)));
        }
        if iteration < limit {
            iteration += 1;
            context.custom(&SupervisorProgress::Corrected { with: correction.clone() });
            let counter = TokenCounter::estimate();
            let tokens = counter.text(&native::spoken(&reply)) + counter.text(&correction);
            let request = corrected(request, reply, &correction);
            let step = format!("route-again{pass}");
            (reply, chosen) = supervisor.ask(context, state, &step, request).await?;
            // The conversation keeps neither what was wrong nor the correction.
            let cause = BreakCause::Repair;
            context.custom(&SupervisorProgress::PromptBroken { cause, tokens });
            if let Some(result) = supervisor.answered(&chosen, state) {
                let settled = supervisor.settle(context, result).iteration(iteration);
                return Ok(settled.front(Some(front)));
            }
        }
    }
    let update = supervisor.follow(context, state, &reply, chosen, iteration >= limit)?;
    Ok(update.iteration(iteration).front(Some(front)))
}

/// `request`, continued with the model's reply and its correction, which every call of the reply gets as its result.
fn corrected(request: ChatRequest, reply: Message, correction: &str) -> ChatRequest {
    let calls: Vec<_> = reply.tool_calls().iter().map(|call| call.id.clone()).collect();
    if calls.is_empty() {
        let request = match reply.text().trim() {
            // Servers refuse an empty message of the model.
            "" => request,
            _ => request.message(reply),
        };
        return request.message(correction);
    }
    let answered = calls.into_iter().map(|id| Message::tool(id, correction));
    answered.fold(request.message(reply), ChatRequest::message)
}

impl<C: Send + Sync + 'static> SupervisorSettings<C> {
    pub(super) fn request(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
        key: Option<&str>,
    ) -> ChatRequest {
        let messages = memory.prompt(messages, self.language).into_iter().collect();
        let system = match key {
            Some(key) => format!("{}{}", self.system, prompt::key(key, self.language)),
            None => self.system.clone(),
        };
        let sent = conversation::request(&system, &messages, self.language);
        let mut request = ChatRequest::new(sent).tools(self.delegate.clone());
        (request.max_tokens, request.temperature) = (self.max_tokens, self.temperature);
        request
    }

    /// The key that labels carry, if they do.
    pub(super) fn key<'a>(&self, state: &'a SupervisorState) -> Option<&'a str> {
        state.label_key.as_deref().filter(|_| self.keyed_labels)
    }

    /// The front of `request`. Where it does not begin as the last one of the thread did, that is said.
    fn front(
        &self,
        context: &Context<C>,
        state: &SupervisorState,
        request: &ChatRequest,
    ) -> PromptFront {
        let parts = PromptFront::of(self.model.name(), request, &request.tools);
        let parts = parts.compactions(state.memory.compactions);
        let (front, broken) = parts.after(state.front.as_ref());
        if let Some(cause) = broken {
            let tokens = cause.tokens(request, &TokenCounter::estimate());
            context.custom(&SupervisorProgress::PromptBroken { cause, tokens });
        }
        front
    }

    /// Asks the model, once and for all of the task's runs, and returns its reply and the route in it.
    async fn ask(
        &self,
        context: &Context<C>,
        state: &SupervisorState,
        step: &str,
        request: ChatRequest,
    ) -> Result<(Message, Route), SupervisorError> {
        let call = context.call("model", self.model.name(), "");
        let keyed = self.key(state).map(|key| keyed(&self.parser, key));
        let reading = match (&keyed, &self.delegate) {
            (Some(keyed), _) => Reading::new(keyed, Protocol::Text).hidden(Some(&self.parser)),
            (None, Some(_)) => Reading::new(&self.parser, Protocol::Native),
            (None, None) => Reading::new(&self.parser, Protocol::Text),
        };
        let ask = || ask_model(&self.model, request, &call, reading, self.capture);
        let reply = context.step(step, ask).await;
        let reply: ChatReply = reply.map_err(model_failed)?;
        let text = reply.message.text();
        let route = match (&keyed, &self.delegate) {
            (Some(keyed), _) => read_keyed(keyed, &self.parser, &text),
            (None, Some(_)) => native::read(&self.parser, &reply.message),
            (None, None) => read_route(&self.parser, &text),
        };
        drop(text);
        Ok((reply.message.with_id(call.message_id()), route))
    }

    /// The message to a model whose reply cannot be followed, if there is one.
    fn correction(&self, route: &Route, state: &SupervisorState) -> Option<String> {
        let protocol = self.protocol();
        let undecided = || prompt::undecided(protocol, self.language).to_owned();
        let unasked = || prompt::unasked(protocol, self.language).to_owned();
        match route {
            Route::Delegate { .. } => self
                .answered(route, state)
                .map(|result| prompt::has_answered(&result.agent, protocol, self.language)),
            Route::Final(_) => self.is_unasked(state).then(unasked),
            Route::Undecided(_) if self.undecided == Undecided::AskAgain => Some(undecided()),
            Route::Undecided(_) => self.is_unasked(state).then(unasked),
            Route::Unkeyed => Some(prompt::unkeyed(self.language).to_owned()),
            Route::Empty => Some(undecided()),
            Route::NoAgent(_) | Route::OtherTool(_) => {
                Some(prompt::no_tools(self.parser.declared().agents(), protocol, self.language))
            }
            Route::Unfit(fault) => Some(prompt::unfit(fault, self.language)),
            Route::Wrong(error) if error.kind == ErrorKind::UnknownTool => {
                Some(prompt::no_tools(self.parser.declared().agents(), protocol, self.language))
            }
            Route::Wrong(error) => Some(error.observation(self.parser.declared(), self.language)),
        }
    }

    /// Follows a route. The last routing call of a turn delegates to nobody: nothing could be made of the result.
    fn follow(
        &self,
        context: &Context<C>,
        state: &SupervisorState,
        reply: &Message,
        route: Route,
        is_last: bool,
    ) -> Result<SupervisorStateUpdate, SupervisorError> {
        match route {
            Route::Delegate { .. } if is_last => {
                Ok(self.end(context, state, StopReason::MaxIterations))
            }
            Route::Delegate { to, reason, wrong } => {
                Ok(self.send(context, state, reply, to, reason, &wrong))
            }
            Route::Final(answer) | Route::Undecided(answer) => {
                let answer = match self.is_unasked(state) {
                    true => prompt::marked_unasked(&answer, self.language),
                    false => answer,
                };
                context.custom(&SupervisorProgress::Answered { answer: answer.clone() });
                let message = Message::assistant(answer.as_str());
                let message = reply.id().into_iter().fold(message, Message::with_id);
                Ok(end_of_turn(StopReason::Answered).message(message).answer(Some(answer)))
            }
            Route::Unkeyed => Ok(self.end(context, state, StopReason::NoToolCall)),
            Route::Empty => Ok(self.end(context, state, StopReason::EmptyReply)),
            Route::NoAgent(name) => Err(self.undeclared(name)),
            Route::OtherTool(fault) | Route::Unfit(fault) => Err(SupervisorError::BadCall(fault)),
            Route::Wrong(error) if error.kind == ErrorKind::UnknownAgent => {
                Err(self.undeclared(error.name.unwrap_or_default()))
            }
            Route::Wrong(error) => Err(SupervisorError::Unreadable(error)),
        }
    }

    /// Delegates to the agents that are to be run of `to`; ends the turn when no more may be.
    fn send(
        &self,
        context: &Context<C>,
        state: &SupervisorState,
        reply: &Message,
        to: Vec<Delegation>,
        reason: Option<String>,
        wrong: &[ParseError],
    ) -> SupervisorStateUpdate {
        let remaining = self.remaining_hops(state);
        let most = remaining.min(if self.parallel { PARALLEL } else { 1 });
        let is_answered = |to: &Delegation| answer(state, to).is_some();
        let Selection { run, skipped, answered } =
            selection::select(to, most, self.parallel, is_answered);
        let Some(first) = run.first() else {
            return self.end(context, state, StopReason::HopLimit);
        };
        let notes = self.notes(&skipped, most, &answered, wrong);
        let Delegation { agent, task } = first.clone();
        let update = SupervisorState::update().current_agent(Some(agent)).task(task);
        let update = match self.keeps_routing {
            true => update.message(conversation::routing(&native::spoken(reply), &skipped)),
            false => update,
        };
        let several = if run.len() > 1 { &run[..] } else { &[] };
        let several = several.iter().map(|to| self.handoff(&to.agent, to.task.as_deref()));
        let several: Vec<_> = several.collect();
        let mut skipped = Some(skipped);
        for Delegation { agent: to, task } in run {
            let (reason, skipped) = (reason.clone(), skipped.take().unwrap_or_default());
            context.custom(&SupervisorProgress::Routed { to, task, reason, skipped });
        }
        let is_same = several.is_empty() && state.delegations.is_empty();
        let update = if is_same { update } else { update.delegations(several) };
        let is_same = notes.is_empty() && state.notes.is_empty();
        if is_same { update } else { update.notes(notes) }
    }

    /// The notes to the model about delegations that are not run.
    fn notes(
        &self,
        skipped: &[String],
        most: usize,
        answered: &[String],
        wrong: &[ParseError],
    ) -> Vec<String> {
        let some = (!skipped.is_empty()).then(|| prompt::skipped(skipped, most, self.language));
        let again = answered
            .iter()
            .map(|agent| prompt::has_answered(agent, self.protocol(), self.language));
        // Where one is run at a time, what stands behind it does not count.
        let wrong = wrong.iter().filter(|_| self.parallel);
        let wrong = wrong.map(|error| error.observation(self.parser.declared(), self.language));
        some.into_iter().chain(again).chain(wrong).collect()
    }

    /// Whether an answer would be one for which no agent was asked, where that matters.
    fn is_unasked(&self, state: &SupervisorState) -> bool {
        self.unasked == Unasked::AskAgain && conversation::results(&state.messages).is_empty()
    }

    /// The number of delegations that the turn has left.
    fn remaining_hops(&self, state: &SupervisorState) -> usize {
        let made = conversation::results(&state.messages).len();
        usize::try_from(self.max_hops).unwrap_or(usize::MAX).saturating_sub(made)
    }

    /// The answer that there is already to what `route` delegates: to the first of one at a time, or to all.
    fn answered(&self, route: &Route, state: &SupervisorState) -> Option<AgentResult> {
        let Route::Delegate { to, .. } = route else { return None };
        let first = answer(state, to.first()?)?;
        let is_new = |to: &Delegation| answer(state, to).is_none();
        (!self.parallel || !to.iter().any(is_new)).then_some(first)
    }

    /// The answer that is the turn's, because its agent's are forwarded and nobody else was delegated to beside.
    fn forwarded(&self, state: &SupervisorState) -> Option<AgentResult> {
        if self.forwarded.is_empty() || !state.delegations.is_empty() {
            return None;
        }
        let result = conversation::results(&state.messages).pop()?;
        (result.answered && self.forwarded.contains(&result.agent)).then_some(result)
    }

    /// Ends a turn with an agent's answer, which is forwarded or was delegated again and again.
    fn settle(&self, context: &Context<C>, result: AgentResult) -> SupervisorStateUpdate {
        let AgentResult { agent, output, .. } = result;
        let message = Message::assistant(output.as_str()).with_metadata("settled", agent.as_str());
        context.custom(&SupervisorProgress::Settled { agent, answer: output.clone() });
        end_of_turn(StopReason::Answered).message(message).answer(Some(output))
    }

    /// Ends a turn that the model did not end, with the best that was found, and says so.
    fn end(
        &self,
        context: &Context<C>,
        state: &SupervisorState,
        stopped: StopReason,
    ) -> SupervisorStateUpdate {
        let best = conversation::best(&state.messages);
        let times = match stopped {
            StopReason::HopLimit => self.max_hops,
            _ => self.limit(state),
        };
        let text = prompt::ended(stopped, times, best.as_ref(), self.language);
        context.custom(&SupervisorProgress::Ended { stopped });
        let answer = best.is_some().then(|| text.clone());
        end_of_turn(stopped).message(conversation::ended(&text, stopped)).answer(answer)
    }
}

/// The agent's answer in this turn to the same delegation.
fn answer(state: &SupervisorState, Delegation { agent, task }: &Delegation) -> Option<AgentResult> {
    conversation::answered(&state.messages, agent, task.as_deref())
}

/// The end of a turn.
fn end_of_turn(stopped: StopReason) -> SupervisorStateUpdate {
    SupervisorState::update().current_agent(Some(END.to_owned())).stopped(Some(stopped))
}

fn model_failed(error: StepError) -> SupervisorError {
    match error {
        StepError::Failed(cause) => match cause.downcast::<ModelError>() {
            Ok(error) => SupervisorError::Model(*error),
            Err(cause) => SupervisorError::Step(StepError::Failed(cause)),
        },
        error => SupervisorError::Step(error),
    }
}
