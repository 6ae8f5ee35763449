//! What was recalled, as people and models read it.

use hanok_core::Timestamp;
use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_state::Message;
use serde::{Deserialize, Serialize};

use super::{days::Days, evidence::Actor};

/// The metadata key of a message's kind, and the kind of one that was recalled.
const KIND: (&str, &str) = ("kind", "remembered");

/// The place that a part of a record comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordOrigin {
    /// The time from which the evidence holds.
    pub at: Timestamp,
    /// The id of the evidence.
    pub evidence: String,
    /// Whoever it comes from.
    pub actor: Actor,
    /// The thread that taught it.
    pub thread: String,
    /// The message that began the turn.
    pub message: String,
}

/// How well a record fits a question. Scores of one recall can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RecallScore {
    /// The score that it is ranked by, the higher the better.
    pub rank: f64,
    /// The score of its words, by BM25.
    pub words: Option<f64>,
    /// The likeness of its meaning, from -1 to 1.
    pub similarity: Option<f32>,
}

/// A record that was recalled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recollection {
    /// The name of its kind.
    pub kind: String,
    /// Its own name.
    pub key: String,
    /// Its text. It is data: what a user said stands in it.
    pub text: String,
    /// How well it fits; `None` for one of a kind that is always recalled.
    pub score: Option<RecallScore>,
    /// The places that its newest evidence comes from, at most three, the newest first.
    pub origins: Vec<RecordOrigin>,
}

/// What was recalled for a question, the best first.
///
/// ```
/// use hanok_learning::Recalled;
/// use hanok_model::DataMark;
/// use hanok_parse::Language;
/// use hanok_state::Message;
///
/// // Nothing is recalled: the question stands alone.
/// let mark = DataMark::from_code("00ff");
/// let turn = Recalled::default().before(Message::user("휴가는?"), Language::Korean, &mark);
/// assert_eq!(turn.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    recollections: Vec<Recollection>,
    days: Days,
}

impl Recalled {
    pub(super) fn new(recollections: Vec<Recollection>, days: Days) -> Self {
        Self { recollections, days }
    }

    /// True when nothing was recalled.
    pub fn is_empty(&self) -> bool {
        self.recollections.is_empty()
    }

    /// The records.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Recollection> {
        self.recollections.iter()
    }

    /// The source of a record, for a reader: the day and the thread of its newest evidence.
    pub fn source(&self, recollection: &Recollection, language: Language) -> String {
        let Some(origin) = recollection.origins.first() else { return recollection.kind.clone() };
        let (day, thread) = (self.days.name(origin.at), &origin.thread);
        match language {
            Language::Korean => format!("{day}, 대화 {thread}"),
            _ => format!("{day}, thread {thread}"),
        }
    }

    /// All of it as one message of data between `mark`s; `None` when nothing was recalled.
    ///
    /// It is a message of the user's role with the metadata `kind: remembered`: nothing in it is the user's own words, so
    /// nothing in it states a preference.
    pub fn message(&self, language: Language, mark: &DataMark) -> Option<Message> {
        if self.is_empty() {
            return None;
        }
        let heading = match language {
            Language::Korean => "이 사용자에 대해 기억하는 것:",
            _ => "What is remembered of this user:",
        };
        let line = |one: &Recollection| {
            let text = one.text.lines().map(str::trim).collect::<Vec<_>>().join(" / ");
            format!("- {text} ({})", self.source(one, language))
        };
        let lines: Vec<_> = self.iter().map(line).collect();
        let text = format!("{heading}\n{}", mark.around(&lines.join("\n")));
        Some(Message::user(text).with_metadata(KIND.0, KIND.1))
    }

    /// The messages of a turn: what was recalled as one message of data, and behind it the question. A node that writes both
    /// into its state keeps them there, so the next turn's prompt begins as this one does.
    ///
    /// A conversation that has the question already stores the message behind it:
    /// `ConversationMemory::prompt` of `hanok-memory` shows it before.
    pub fn before(&self, question: Message, language: Language, mark: &DataMark) -> Vec<Message> {
        self.message(language, mark).into_iter().chain([question]).collect()
    }
}
