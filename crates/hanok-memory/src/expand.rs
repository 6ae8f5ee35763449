//! What a summary stands for, out of the log.

use std::collections::{BTreeMap, HashMap, HashSet};

use hanok_core::{Call, Rng};
use hanok_graph::{EventKind, Mode, RunError, Thread};
use hanok_model::{ChatModel, DataMark, ModelError};
use hanok_state::{Message, MessageOp, Messages, State};
use thiserror::Error;

use crate::{
    action::Action,
    apply::NotApplied,
    change::CompactionChange,
    compactor::{Compactor, Remembers},
    memory::{ConversationMemory, Summary},
    request::summary_text,
    shrink::CUT,
    turn_data::is_turn_data,
};

/// The reason for which a summary is not expanded, or not made anew.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The thread's memory has no such summary: it was folded, dropped or undone since.
    #[error("the conversation has no such summary now; read its memory again")]
    NoSuchSummary,
    /// The log does not hold the messages any more: it was pruned, they were erased, or the thread is a fork that began later.
    #[error(
        "what the summary stands for is not in the log any more: it was pruned or erased, or stands in the thread that this one is a fork of"
    )]
    Pruned,
    /// The log could not be read.
    #[error("the thread could not be read")]
    Run(#[from] RunError),
    /// The model did not write a summary.
    #[error("the model did not answer")]
    Model(#[from] ModelError),
    /// What it wrote is no summary.
    #[error("the model wrote no summary: {0}")]
    NoSummary(String),
    /// What it wrote cannot stand for the messages.
    #[error("the summary is not taken")]
    NotApplied(#[from] NotApplied),
}

/// A summary, and the messages that it stands for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Expanded {
    /// The summary.
    pub summary: Summary,
    /// The messages, as they were said, in their order. Results that were cleared or shortened before are whole.
    pub messages: Vec<Message>,
    key: String,
    /// The number of each message of the thread, in the order in which they came.
    order: HashMap<String, usize>,
}

/// The messages that a summary of the thread's memory stands for: the log keeps them.
///
/// ```
/// use hanok_graph::{END, Graph, InMemoryCheckpointer, START, ThreadKey};
/// use hanok_memory::{Compaction, CompactionChange, Compactor, ConversationMemory, Remembers, expand};
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_state::{Message, Messages, State};
/// # #[derive(State, Clone, Default, Debug)]
/// # struct Chat { messages: Messages, #[reduce(nested)] memory: ConversationMemory }
/// # impl Remembers for Chat {
/// #     fn messages(&self) -> &Messages { &self.messages }
/// #     fn memory(&self) -> &ConversationMemory { &self.memory }
/// #     fn remember(change: CompactionChange) -> ChatUpdate {
/// #         Chat::update().messages(change.messages).memory(change.memory)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Exchange::says("Kim asked for leave.")]);
/// let compactor = Compactor::new(Compaction::new(), model)?;
/// let graph = Graph::<Chat>::builder("chat").node("memory", compactor.node::<Chat, ()>());
/// let graph = graph.edge(START, "memory").edge("memory", END).build()?;
/// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);
/// for n in 0..10 {
///     let said = format!("{n}: I am Kim, and I would like to have some days of leave");
///     thread.invoke(Chat::update().message(Message::user(said)), ()).await?;
/// }
///
/// let state = thread.state(None).await?.ok_or("no state")?;
/// let summary = state.memory.summaries().next().ok_or("no summary")?;
/// let expanded = expand(&thread, summary).await?;
/// assert_eq!((state.messages.len(), expanded.messages.len()), (5, 5));
/// assert!(expanded.messages[0].text().starts_with("0: I am Kim"));
///
/// // The conversation is as it was.
/// thread.edit(Chat::remember(expanded.undo(&state))).await?;
/// let state = thread.state(None).await?.ok_or("no state")?;
/// assert_eq!((state.messages.len(), state.memory.is_empty()), (10, true));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ExpandError::NoSuchSummary`], [`ExpandError::Pruned`], and [`ExpandError::Run`] when the log cannot be read.
pub async fn expand<S: Remembers, C: Send + Sync + 'static>(
    thread: &Thread<S, C>,
    summary: &Summary,
) -> Result<Expanded, ExpandError> {
    let now = thread.state(None).await?.ok_or(ExpandError::NoSuchSummary)?;
    let mut history: Vec<(Messages, ConversationMemory)> = Vec::new();
    for event in thread.clone().modes([Mode::Values]).events(None).await? {
        if let (true, EventKind::Values(state)) = (event.path.is_root(), &event.kind) {
            let state = state.get::<S>().map_err(|error| RunError::State(error.into()))?;
            history.push((state.messages().clone(), state.memory().clone()));
        }
    }
    history.push((now.messages().clone(), now.memory().clone()));
    let is_it = |(_, other): &(&String, &Summary)| *other == summary;
    let key = now.memory().summaries.iter().find(is_it).map(|(key, _)| key.clone());
    let key = key.ok_or(ExpandError::NoSuchSummary)?;
    let history = History::of(&history);
    let ids = history.behind(&key, summary).ok_or(ExpandError::Pruned)?;
    let messages = ids.iter().filter_map(|id| history.whole.get(id.as_str()).copied().cloned());
    let messages: Vec<_> = messages.collect();
    let order = history.order.iter().map(|(id, at)| ((*id).to_owned(), *at)).collect();
    Ok(Expanded { summary: summary.clone(), messages, key, order })
}

impl Expanded {
    /// The change that takes the summary back: its messages stand where they stood. Facts that were pinned stay.
    ///
    /// A policy whose trigger fires makes a summary of them again.
    pub fn undo<S: Remembers>(&self, state: &S) -> CompactionChange {
        let is_back =
            |message: &&Message| message.id().is_some_and(|id| state.messages().get(id).is_none());
        let mut all: Vec<&Message> = self.messages.iter().filter(is_back).collect();
        all.extend(state.messages().iter());
        // What came since stands behind, as it does.
        let at = |message: &&Message| {
            message.id().and_then(|id| self.order.get(id)).copied().unwrap_or(usize::MAX)
        };
        all.sort_by_key(at);
        let puts = all.into_iter().cloned().map(MessageOp::Put);
        let memory = ConversationMemory::update()
            .remove_summaries(self.key.as_str())
            .mark(None)
            .compactions(state.memory().compactions.saturating_add(1));
        CompactionChange {
            messages: std::iter::once(MessageOp::Clear).chain(puts).collect(),
            memory,
        }
    }

    /// The change that puts another summary of the same messages in its place, which the compactor's model writes now.
    ///
    /// # Errors
    ///
    /// [`ExpandError`] when the model does not answer, or what it writes is no summary or saves too little.
    pub async fn again<S: Remembers>(
        &self,
        compactor: &Compactor,
        state: &S,
        rng: &dyn Rng,
        call: &Call,
    ) -> Result<CompactionChange, ExpandError> {
        let action = Action::Summarise { messages: self.messages.clone() };
        let policy = compactor.policy();
        let request = policy.request(&action, &DataMark::new(rng));
        let request = request.ok_or_else(|| ExpandError::NoSummary("nothing to ask".to_owned()))?;
        let reply = compactor.model().chat(request, call).await?;
        let text = summary_text(&reply).map_err(ExpandError::NoSummary)?;
        let replaced = self.messages.iter().map(|message| policy.counter.message(message)).sum();
        let summary = Summary { text: policy.accepted(&text, replaced)?, ..self.summary.clone() };
        let memory = ConversationMemory::update()
            .insert_summaries(self.key.as_str(), summary)
            .mark(Some(DataMark::new(rng)))
            .compactions(state.memory().compactions.saturating_add(1));
        Ok(CompactionChange { messages: Vec::new(), memory })
    }
}

/// The states of a thread, the oldest first.
struct History<'a> {
    states: &'a [(Messages, ConversationMemory)],
    /// Each message as it was whole.
    whole: BTreeMap<&'a str, &'a Message>,
    order: HashMap<&'a str, usize>,
}

impl<'a> History<'a> {
    fn of(states: &'a [(Messages, ConversationMemory)]) -> Self {
        let (mut whole, mut order) = (BTreeMap::new(), HashMap::new());
        for message in states.iter().flat_map(|(messages, _)| messages.iter()) {
            let Some(id) = message.id() else { continue };
            let next = order.len();
            order.entry(id).or_insert(next);
            let is_cut = |old: &&Message| old.metadata().contains_key(CUT);
            if whole.get(id).is_none_or(is_cut) {
                whole.insert(id, message);
            }
        }
        Self { states, whole, order }
    }

    /// The ids of the messages that the summary under `key` stands for, `None` where the history does not go back so far. One that
    /// was folded stands for those of both.
    fn behind(&self, key: &str, summary: &Summary) -> Option<Vec<String>> {
        let has = |(_, memory): &&(Messages, ConversationMemory)| {
            memory.summaries.get(key) == Some(summary)
        };
        // It may have been taken back and made again: the last time counts.
        let last = self.states.iter().rposition(|state| has(&state))?;
        let without = self.states.iter().take(last).rposition(|state| !has(&state))?;
        let (before, after) = (self.states.get(without)?, self.states.get(without + 1)?);
        if let Some(newer) = before.1.summaries.get(key) {
            return self.behind_both(&before.1, &after.1, (key, newer), summary);
        }
        let stays: HashSet<_> = after.0.iter().filter_map(Message::id).collect();
        let taken = before.0.iter().filter(|message| !is_turn_data(message));
        let taken: Vec<&str> =
            taken.filter_map(Message::id).filter(|id| !stays.contains(id)).collect();
        let at = |end: &str| taken.iter().position(|id| *id == end);
        let ids = taken.get(at(&summary.covers.0)?..=at(&summary.covers.1)?)?;
        Some(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    /// The messages of two summaries that became one; or of one that was made anew.
    fn behind_both(
        &self,
        before: &ConversationMemory,
        after: &ConversationMemory,
        newest: (&str, &Summary),
        summary: &Summary,
    ) -> Option<Vec<String>> {
        let (key, newer) = newest;
        let folded = before.summaries.iter().filter(|(older, _)| {
            older.as_str() < key && after.summaries.get(older.as_str()).is_none()
        });
        let folded = folded.skip_while(|(_, older)| older.covers.0 != summary.covers.0);
        let mut ids = Vec::new();
        for (older, summary) in folded {
            ids.extend(self.behind(older, summary)?);
        }
        ids.extend(self.behind(key, newer)?);
        Some(ids)
    }
}
