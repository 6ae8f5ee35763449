//! What a member is given.

use std::collections::BTreeMap;

use hanok_state::{Json, Message, Role};

use crate::conversation;

/// The input of a member that is a [graph of one's own](super::Member::graph).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemberInput {
    /// The part of the conversation that it sees, and behind it the task, as a message.
    pub messages: Vec<Message>,
    /// The task, if it is given one.
    pub task: Option<String>,
    /// The question of the turn, in a `TeamSupervisor` of `hanok-team`.
    pub question: Option<String>,
    /// The data of the teams that it needs, by their steps, in a `TeamSupervisor` of `hanok-team`.
    pub results: BTreeMap<String, Json>,
    /// The tools to call in place of those that would be chosen, in a what-if of a team supervisor.
    pub instead: Option<Vec<String>>,
    /// True in a what-if that may only read: no tool with another effect is to be called.
    pub only_reads: bool,
}

impl MemberInput {
    /// `messages`, with the task that the last of them delegates.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        let task = messages.last().and_then(conversation::task_text).map(str::to_owned);
        let results = BTreeMap::new();
        Self { messages, task, question: None, results, instead: None, only_reads: false }
    }

    /// The task, or else the last message of a user; empty when there is neither.
    pub fn text(&self) -> String {
        let last = || self.messages.iter().rfind(|message| message.role() == Role::User);
        let said = || last().map(|message| message.text().into_owned());
        self.task.clone().or_else(said).unwrap_or_default()
    }
}
