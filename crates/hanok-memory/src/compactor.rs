//! Compaction as a node of a graph.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{BoxFuture, Call};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, DataMark, ModelError, SharedModel, ToolSpec};
use hanok_state::{Message, Messages, State};
use thiserror::Error;
use tracing::Instrument;

use crate::{
    action::Action,
    change::CompactionChange,
    event::MemoryEvent,
    full_window::FullWindow,
    memory::{ConversationMemory, Fact},
    plan::Plan,
    policy::{Compaction, PolicyError},
    prompt_size::PromptParts,
    request::summary_text,
    unit::{Units, is_said},
};

/// The most steps that one call of the node takes: clear, summarise, shorten, and summaries to fold.
const ROUNDS: usize = 32;

type Pin = dyn Fn(&Message) -> Vec<Fact> + Send + Sync;

/// A state with a conversation and its memory.
pub trait Remembers: State {
    /// The conversation.
    fn messages(&self) -> &Messages;

    /// The summaries and facts of the messages that were taken out.
    fn memory(&self) -> &ConversationMemory;

    /// The update of the state that makes this change.
    fn remember(change: CompactionChange) -> Self::Update;
}

/// The error of the node. A summary that could not be made is no error: a [`MemoryEvent`] reports it, and the
/// conversation stays as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The run is asked to stop, or may not ask a model any more.
    #[error("{0}")]
    Stopped(#[source] ModelError),
    /// A memoised step could not be stored.
    #[error("a step of the compaction could not be kept")]
    Step(#[from] StepError),
}

/// Keeps conversations small: a policy, the model that writes summaries, and what else stands in the prompts. Clones are the
/// same.
#[derive(Clone)]
pub struct Compactor {
    policy: Compaction,
    model: SharedModel,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    reserved: u64,
    pin: Option<Arc<Pin>>,
}

impl fmt::Debug for Compactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compactor").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Compactor {
    /// Keeps conversations small by `policy`; `model` writes the summaries.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] when the policy cannot work.
    pub fn new(policy: Compaction, model: impl ChatModel) -> Result<Self, PolicyError> {
        policy.check()?;
        Ok(Self {
            policy,
            model: SharedModel::new(model),
            system: "".into(),
            tools: Arc::default(),
            reserved: 0,
            pin: None,
        })
    }

    /// The system prompt of those who read the conversation: it is counted. Default: none.
    #[must_use]
    pub fn system(self, prompt: &str) -> Self {
        Self { system: prompt.into(), ..self }
    }

    /// The tools whose schemas are sent with the conversation: they are counted. Default: none.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        Self { tools: tools.into_iter().collect(), ..self }
    }

    /// The tokens that are kept free for a reply. Default: none.
    #[must_use]
    pub fn reserved(self, tokens: u64) -> Self {
        Self { reserved: tokens, ..self }
    }

    /// Pins the facts that `find` reads in each message that is taken out, as [`stated_facts`](crate::stated_facts) does.
    /// Default: no facts are pinned.
    ///
    /// ```
    /// use hanok_memory::{Compaction, Compactor, Fact, FactKind};
    /// use hanok_model::ScriptedModel;
    /// use hanok_state::Message;
    ///
    /// // Orders are remembered by their number, whatever the summaries say.
    /// let order = |message: &Message| {
    ///     let text = message.text();
    ///     let is_order = text.contains("order #");
    ///     let message = message.id().unwrap_or_default().to_owned();
    ///     is_order.then(|| Fact { kind: FactKind::Other, text: text.into_owned(), message }).into_iter().collect()
    /// };
    /// let compactor = Compactor::new(Compaction::new(), ScriptedModel::new([]))?.pin(order);
    /// # drop(compactor);
    /// # Ok::<(), hanok_memory::PolicyError>(())
    /// ```
    #[must_use]
    pub fn pin(self, find: impl Fn(&Message) -> Vec<Fact> + Send + Sync + 'static) -> Self {
        Self { pin: Some(Arc::new(find)), ..self }
    }

    /// The policy.
    pub fn policy(&self) -> &Compaction {
        &self.policy
    }

    /// The model that writes the summaries.
    pub fn model(&self) -> &SharedModel {
        &self.model
    }

    /// The other parts of the prompts of a conversation.
    pub fn prompt_parts(&self) -> PromptParts<'_> {
        PromptParts { system: &self.system, tools: &self.tools, reserved: self.reserved }
    }

    /// The node: it makes the conversation smaller if the policy says so.
    pub fn node<S: Remembers, C: Send + Sync + 'static>(
        &self,
    ) -> impl Fn(Snapshot<S>, Context<C>) -> BoxFuture<'static, Result<S::Update, MemoryError>>
    + Send
    + Sync
    + use<S, C> {
        let compactor = self.clone();
        move |state, context| {
            let compactor = compactor.clone();
            Box::pin(async move {
                let (messages, memory) = (state.messages(), state.memory());
                let change = compactor.compact(messages, memory, &context).await?;
                Ok(if change.is_empty() { S::update() } else { S::remember(change) })
            })
        }
    }

    /// Compacts a conversation, for a node of one's own. Each call of the model is a memoised step, and each step
    /// is reported as a [`MemoryEvent`].
    ///
    /// # Errors
    ///
    /// [`MemoryError`] when the run is asked to stop or a step cannot be stored.
    pub async fn compact<C: Send + Sync + 'static>(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
        context: &Context<C>,
    ) -> Result<CompactionChange, MemoryError> {
        let model = AloneModel { model: &self.model, context };
        self.compact_by(&model, messages, memory, None, context).await
    }

    /// Compacts a conversation as [`compact`](Self::compact) does, through a model that its node asks in its own way. After a
    /// full window it is made small enough for that, whatever the policy's trigger says.
    ///
    /// # Errors
    ///
    /// As [`compact`](Self::compact).
    pub async fn compact_by<C: Send + Sync + 'static>(
        &self,
        model: &dyn SummaryModel,
        messages: &Messages,
        memory: &ConversationMemory,
        full: Option<FullWindow>,
        context: &Context<C>,
    ) -> Result<CompactionChange, MemoryError> {
        let mut whole = CompactionChange::default();
        let around = self.prompt_parts();
        let policy = match full {
            Some(full) => {
                let total = self.policy.count(messages.iter(), memory, &around).total();
                Cow::Owned(self.policy.clone().fitted(total, full))
            }
            None => Cow::Borrowed(&self.policy),
        };
        let prefix = if full.is_some() { "full-" } else { "" };
        let before = memory;
        let (mut messages, mut memory) = (Cow::Borrowed(messages), Cow::Borrowed(memory));
        for round in 1..=ROUNDS {
            let Some(plan) = policy.plan(&messages, &memory, &around) else { break };
            let text = match plan.action.asks_model() {
                false => Ok(String::new()),
                true => {
                    let front = match full {
                        Some(_) => None,
                        None => policy.shared_front(&plan, &messages, &memory, &around),
                    };
                    let front = front.and_then(|front| model.front(&memory, &front));
                    let step = format!("{prefix}summary-{round}");
                    self.written(model, &plan, front, &step, context).await?
                }
            };
            let facts = self.facts(&plan.action);
            let applied = text.and_then(|text| {
                let change = policy.apply(&plan, &text, &facts, &messages, &memory);
                change.map_err(|error| error.to_string())
            });
            let change = match applied {
                Ok(change) if !change.is_empty() => change,
                Ok(_) => break,
                Err(reason) => {
                    let action = plan.action.code().to_owned();
                    context.custom(&MemoryEvent::Failed { action, reason });
                    break;
                }
            };
            let unpinned = policy.pin(&facts, &memory).unpinned;
            let (smaller, remembered) = change.applied(&messages, &memory);
            (messages, memory) = (Cow::Owned(smaller), Cow::Owned(remembered));
            let after = policy.count(messages.iter(), &memory, &around);
            context.custom(&MemoryEvent::Compacted {
                action: plan.action.code().to_owned(),
                before: plan.before.total(),
                after: after.total(),
                messages: messages.len(),
                unpinned,
            });
            whole = whole.and(change);
        }
        // The text between the marks is another one: they are drawn anew.
        if (&before.summaries, &before.pinned) != (&memory.summaries, &memory.pinned) {
            let rng = &context.runtime().rng;
            let mark = async || Ok::<_, StepError>(DataMark::new(&**rng));
            let mark = context.step(&format!("{prefix}memory-mark"), mark).await?;
            whole.memory = whole.memory.mark(Some(mark));
        }
        Ok(whole)
    }

    fn facts(&self, action: &Action) -> Vec<Fact> {
        match (action, &self.pin) {
            (Action::Summarise { messages }, Some(pin)) => {
                let refs: Vec<&Message> = messages.iter().collect();
                let results = Units::of(&refs).results;
                let by_user = messages
                    .iter()
                    .zip(results)
                    .filter(|(message, is_result)| is_said(message) && !is_result);
                by_user.flat_map(|(message, _)| pin(message)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The model's text for a plan, or the reason for which there is none. It is asked once for all of the task's runs.
    async fn written<C: Send + Sync + 'static>(
        &self,
        model: &dyn SummaryModel,
        plan: &Plan,
        front: Option<ChatRequest>,
        step: &str,
        context: &Context<C>,
    ) -> Result<Result<String, String>, MemoryError> {
        let call = context.call("model", self.model.name(), step).quiet();
        let request = match front {
            Some(front) => self.policy.request_behind(front),
            None => match self.policy.request(&plan.action, &DataMark::of_call(&call)) {
                Some(request) => request,
                None => return Ok(Ok(String::new())),
            },
        };
        match model.ask(step, request, call).await {
            Ok(reply) => Ok(summary_text(&reply)),
            Err(StepError::Failed(cause)) => match cause.downcast::<ModelError>() {
                Ok(error) if error.ends_the_run() => Err(MemoryError::Stopped(*error)),
                Ok(error) => Ok(Err(error.to_string())),
                Err(cause) => Ok(Err(cause.to_string())),
            },
            Err(error) => Err(error.into()),
        }
    }
}

/// A model that a node of one's own asks for summaries, as it asks it for replies.
pub trait SummaryModel: Send + Sync {
    /// Asks it, in a memoised step of this name.
    fn ask<'a>(
        &'a self,
        step: &'a str,
        request: ChatRequest,
        call: Call,
    ) -> BoxFuture<'a, Result<ChatReply, StepError>>;

    /// The beginning of the prompt that this model has read last: with this memory, up to the last of these messages. `None`
    /// where another model writes the summaries, which has read none of it.
    fn front(&self, memory: &ConversationMemory, messages: &Messages) -> Option<ChatRequest> {
        let _ = (memory, messages);
        None
    }
}

/// A model that is asked as it is.
struct AloneModel<'a, C> {
    model: &'a SharedModel,
    context: &'a Context<C>,
}

impl<C: Send + Sync + 'static> SummaryModel for AloneModel<'_, C> {
    fn ask<'a>(
        &'a self,
        step: &'a str,
        request: ChatRequest,
        call: Call,
    ) -> BoxFuture<'a, Result<ChatReply, StepError>> {
        Box::pin(async move { self.context.step(step, || ask(self.model, request, &call)).await })
    }
}

async fn ask(
    model: &SharedModel,
    request: ChatRequest,
    call: &Call,
) -> Result<ChatReply, ModelError> {
    let span = hanok_telemetry::chat(model.name());
    let reply = model.chat(request, call).instrument(span.clone()).await;
    match &reply {
        Ok(reply) => {
            let usage = reply.usage;
            hanok_telemetry::record_usage(&span, usage.input_tokens, usage.output_tokens);
        }
        Err(_) => hanok_telemetry::record_error(&span, "model"),
    }
    reply
}
