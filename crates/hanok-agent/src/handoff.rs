//! Hand-offs: one agent gives the turn to another.

use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_state::{Json, Message};
use serde::{Deserialize, Serialize};

use crate::{conversation, prompt};

/// The part of the conversation that goes along with a hand-off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HandoffHistory {
    /// All of it, with the calls and observations of the agents.
    #[default]
    Full,
    /// The user's messages, without those of agents.
    User,
    /// The user's last message.
    Last,
    /// A summary, and the user's last message. See [`Summariser`](crate::Summariser).
    Summary,
    /// Nothing: the task alone.
    None,
}

/// An agent gives the turn to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Handoff {
    /// The other agent.
    pub to: String,
    /// The task.
    pub task: Option<String>,
    /// The data for the task, in the form that the hand-off declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// The part of the conversation that it sees.
    pub history: HandoffHistory,
}

impl Handoff {
    /// A hand-off to `to`, with the whole conversation and nothing else.
    ///
    /// ```
    /// use hanok_agent::{Handoff, HandoffHistory};
    ///
    /// let handoff = Handoff::new("billing").task("refund the order").history(HandoffHistory::Last);
    /// assert_eq!((handoff.to.as_str(), handoff.task.as_deref()), ("billing", Some("refund the order")));
    /// ```
    pub fn new(to: impl Into<String>) -> Self {
        Self { to: to.into(), task: None, payload: None, history: HandoffHistory::Full }
    }

    /// Sets the task of the other agent. Default: the conversation alone says it.
    #[must_use]
    pub fn task(self, task: impl Into<String>) -> Self {
        Self { task: Some(task.into()), ..self }
    }

    /// Sets the part of the conversation that it sees. Default: all of it.
    #[must_use]
    pub fn history(self, history: HandoffHistory) -> Self {
        Self { history, ..self }
    }

    /// The task and the payload, as the other agent reads them; `None` when there is neither. The payload stands between
    /// marks, as data.
    ///
    /// ```
    /// use hanok_agent::{DataMark, Handoff, Language};
    ///
    /// let mark = DataMark::from_code("00ff");
    /// let handoff = Handoff::new("billing").task("refund the order");
    /// let message = handoff.message(Language::English, &mark);
    /// assert_eq!(message.map(|message| message.text().into_owned()), Some("Task: refund the order".into()));
    /// assert_eq!(Handoff::new("billing").message(Language::English, &mark), None);
    /// ```
    pub fn message(&self, language: Language, mark: &DataMark) -> Option<Message> {
        let task = self.task.as_deref().map(|task| prompt::task(task, language));
        let payload = self.payload.as_ref().map(|payload| mark.around(&payload.0.to_string()));
        let text = task.into_iter().chain(payload).collect::<Vec<_>>().join("\n\n");
        (!text.is_empty()).then(|| conversation::task(text))
    }
}
