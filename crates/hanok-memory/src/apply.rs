//! A plan applied to a conversation.

use std::sync::Arc;

use hanok_state::{Message, MessageOp, Messages, State};
use thiserror::Error;

use crate::{
    action::{Action, Replaced},
    change::CompactionChange,
    memory::{self, ConversationMemory, Fact, Summary},
    pin::PinChange,
    plan::Plan,
    policy::{Compaction, Overflow},
};

/// The reason for which a plan is not applied. The conversation is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotApplied {
    /// The conversation is no longer what was planned for.
    #[error("the conversation has changed since the plan was made")]
    Stale,
    /// The model wrote nothing.
    #[error("the summary is empty")]
    Empty,
    /// The summary saves less than a fifth of the messages that it stands for.
    #[error(
        "the summary has {summary} tokens and stands for {replaced}: it saves less than a fifth"
    )]
    SavesTooLittle {
        /// Its tokens.
        summary: u64,
        /// The tokens of the messages that it stands for.
        replaced: u64,
    },
}

impl Compaction {
    /// Applies `plan`. `text` is what the model wrote for it (nothing, where it is not asked),
    /// `facts` are pinned of the messages that are taken.
    ///
    /// A plan that was applied changes nothing the second time.
    ///
    /// # Errors
    ///
    /// [`NotApplied`]: the conversation changed meanwhile, or the summary is none, or saves less than a fifth.
    pub fn apply(
        &self,
        plan: &Plan,
        text: &str,
        facts: &[Fact],
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> Result<CompactionChange, NotApplied> {
        let mut change = match &plan.action {
            Action::Clear { results } | Action::Shorten { results } => replaced(results, messages),
            Action::Summarise { messages: taken } => {
                self.summarised(taken, text, facts, messages, memory)
            }
            Action::Fold { keys, summaries } => self.folded(keys, summaries, text, memory),
        }?;
        if !change.is_empty() {
            let ids = plan.data.iter().filter_map(Message::id);
            let ids = ids.filter(|id| messages.get(id).is_some());
            change.messages.extend(ids.map(|id| MessageOp::Remove(Arc::from(id))));
            let compactions = memory.compactions.saturating_add(1);
            change.memory = change.memory.compactions(compactions);
        }
        Ok(change)
    }

    fn summarised(
        &self,
        taken: &[Message],
        text: &str,
        facts: &[Fact],
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> Result<CompactionChange, NotApplied> {
        let ids: Vec<&str> = taken.iter().filter_map(Message::id).collect();
        let there = taken.iter().filter(|message| {
            message.id().and_then(|id| messages.get(id)).is_some_and(|kept| kept == *message)
        });
        match there.count() {
            0 if ids.iter().all(|id| messages.get(id).is_none()) => {
                return Ok(CompactionChange::default());
            }
            all if all == taken.len() => {}
            _ => return Err(NotApplied::Stale),
        }
        let replaced = taken.iter().map(|message| self.counter.message(message)).sum();
        let text = self.accepted(text, replaced)?;
        let number = memory::next(&memory.summaries);
        let end = |id: Option<&&str>| id.map(|id| (*id).to_owned()).unwrap_or_default();
        let summary = Summary {
            text,
            messages: u32::try_from(taken.len()).unwrap_or(u32::MAX),
            covers: (end(ids.first()), end(ids.last())),
        };
        let mut update =
            ConversationMemory::update().insert_summaries(memory::key(number), summary);
        // Where they cannot be folded, because the model fails, they do not pile up for ever.
        let most = match self.overflow {
            Overflow::DropOldest => self.summaries,
            Overflow::Fold => self.summaries.saturating_mul(2),
        };
        let beyond = (memory.summaries.len() + 1).saturating_sub(most);
        for (key, _) in memory.summaries.iter().take(beyond) {
            update = update.remove_summaries(key.as_str());
        }
        for change in self.pin(facts, memory).changes {
            update = match change {
                PinChange::Set(key, fact) => update.insert_pinned(key, fact.clone()),
                PinChange::Remove(key) => update.remove_pinned(key),
            };
        }
        let removed = ids.iter().map(|id| MessageOp::Remove(Arc::from(*id))).collect();
        Ok(CompactionChange { messages: removed, memory: update })
    }

    fn folded(
        &self,
        keys: &(String, String),
        summaries: &(Summary, Summary),
        text: &str,
        memory: &ConversationMemory,
    ) -> Result<CompactionChange, NotApplied> {
        let ((first, second), (older, newer)) = (keys, summaries);
        match (memory.summaries.get(first), memory.summaries.get(second)) {
            (Some(a), Some(b)) if (a, b) == (older, newer) => {}
            (None, _) => return Ok(CompactionChange::default()),
            _ => return Err(NotApplied::Stale),
        }
        let replaced = self.counter.text(&older.text) + self.counter.text(&newer.text);
        let summary = Summary {
            text: self.accepted(text, replaced)?,
            messages: older.messages.saturating_add(newer.messages),
            covers: (older.covers.0.clone(), newer.covers.1.clone()),
        };
        let update = ConversationMemory::update()
            .remove_summaries(first.as_str())
            .insert_summaries(second.as_str(), summary);
        Ok(CompactionChange { messages: Vec::new(), memory: update })
    }

    /// The model's text, if it is a summary of something of `replaced` tokens.
    pub(crate) fn accepted(&self, text: &str, replaced: u64) -> Result<String, NotApplied> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NotApplied::Empty);
        }
        let summary = self.counter.text(text);
        match summary.saturating_mul(5) > replaced.saturating_mul(4) {
            true => Err(NotApplied::SavesTooLittle { summary, replaced }),
            false => Ok(text.to_owned()),
        }
    }
}

/// `results` in the place of those that they were planned for.
fn replaced(results: &[Replaced], messages: &Messages) -> Result<CompactionChange, NotApplied> {
    let mut ops = Vec::new();
    for Replaced { from, to } in results {
        match to.id().and_then(|id| messages.get(id)) {
            Some(kept) if kept == from => ops.push(MessageOp::Put(to.clone())),
            Some(kept) if kept == to => {}
            Some(_) => return Err(NotApplied::Stale),
            // It was taken out since, with its call.
            None => {}
        }
    }
    Ok(CompactionChange { messages: ops, memory: ConversationMemory::update() })
}
