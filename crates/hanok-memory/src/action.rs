//! The steps that make a conversation smaller.

use hanok_state::Message;

use crate::memory::Summary;

/// The work of one step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Old results of tools are cleared; each call keeps its result's place. No model is asked.
    Clear {
        /// The results.
        results: Vec<Replaced>,
    },
    /// Messages are taken out, and a summary of them is kept.
    Summarise {
        /// The messages, in their order.
        messages: Vec<Message>,
    },
    /// The two oldest summaries are made one.
    Fold {
        /// Their keys, the older first.
        keys: (String, String),
        /// The two.
        summaries: (Summary, Summary),
    },
    /// The longest results are shortened, because nothing else is left to take. No model is asked.
    Shorten {
        /// The results.
        results: Vec<Replaced>,
    },
}

/// A message in the place of another one with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// As it stands.
    pub from: Message,
    /// As it will stand.
    pub to: Message,
}

impl Action {
    /// The action's stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Clear { .. } => "clear",
            Self::Summarise { .. } => "summarise",
            Self::Fold { .. } => "fold",
            Self::Shorten { .. } => "shorten",
        }
    }

    /// True when a model writes something for the step.
    #[must_use]
    pub fn asks_model(&self) -> bool {
        matches!(self, Self::Summarise { .. } | Self::Fold { .. })
    }
}
