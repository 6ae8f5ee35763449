//! The size of a prompt, in tokens.

use hanok_model::{ChatRequest, TokenCounter, ToolSpec};
use hanok_state::Message;

use crate::{memory::ConversationMemory, policy::Compaction, turn_data::is_turn_data};

/// The parts of a prompt besides the conversation and its memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptParts<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools whose schemas are sent.
    pub tools: &'a [ToolSpec],
    /// The tokens that the reply may have.
    pub reserved: u64,
}

/// The tokens of a prompt, by what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PromptSize {
    /// The system prompt.
    pub system: u64,
    /// The tools' schemas.
    pub tools: u64,
    /// Summaries and pinned facts.
    pub memory: u64,
    /// What was found for turns ([`turn_data`](crate::turn_data)).
    pub context: u64,
    /// The conversation.
    pub messages: u64,
    /// The tokens that are kept free for the reply.
    pub reserved: u64,
    /// True for texts that were counted exactly, and not by an estimate that errs upwards.
    pub exact: bool,
}

impl PromptSize {
    /// All of it.
    pub fn total(&self) -> u64 {
        [self.system, self.tools, self.memory, self.context, self.messages, self.reserved]
            .iter()
            .fold(0, |sum: u64, tokens| sum.saturating_add(*tokens))
    }
}

impl Compaction {
    /// Counts a prompt of these `messages`, with `memory` and what stands `around` them.
    pub fn count<'m>(
        &self,
        messages: impl IntoIterator<Item = &'m Message>,
        memory: &ConversationMemory,
        around: &PromptParts<'_>,
    ) -> PromptSize {
        let counter = &self.counter;
        let (data, messages): (Vec<_>, Vec<_>) =
            messages.into_iter().partition(|message| is_turn_data(message));
        let remembered = memory.message(self.language);
        PromptSize {
            system: message(counter, around.system),
            tools: tools(counter, around.tools),
            memory: remembered.map_or(0, |message| counter.message(&message)),
            context: data.into_iter().map(|message| counter.message(message)).sum(),
            messages: counter.messages(messages),
            reserved: around.reserved,
            exact: counter.is_exact(),
        }
    }
}

fn message(counter: &TokenCounter, text: &str) -> u64 {
    if text.is_empty() { 0 } else { counter.message(&Message::system(text)) }
}

fn tools(counter: &TokenCounter, tools: &[ToolSpec]) -> u64 {
    let none = ChatRequest::default();
    let with = ChatRequest::default().tools(tools.iter().cloned());
    counter.request(&with).saturating_sub(counter.request(&none))
}
