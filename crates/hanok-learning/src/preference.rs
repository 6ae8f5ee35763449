//! What a user prefers: the newest statement holds.

use std::fmt::Write;

use hanok_core::Timestamp;
use hanok_state::{Message, Role};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    days::Days,
    error::Refusal,
    evidence::{Actor, Evidence},
    kind::MemoryKind,
};

/// The longest name and value, in bytes.
const LONGEST: usize = 1_024;

/// The number of values that a preference had before which are recalled.
const PAST: usize = 3;

/// Why a text is no statement of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotStated {
    /// The message is not the user's.
    #[error("the message is of the role {role:?}, and only the user states a preference")]
    Role {
        /// The role of its message.
        role: Role,
    },
    /// The message is of the user's role and holds data: what was recalled, found or returned by a tool.
    #[error("the message holds data, and only the user's own words state a preference")]
    Data,
    /// There is no quote.
    #[error("the preference `{key}` has no quote of the user's words")]
    NoQuote {
        /// The preference.
        key: String,
    },
    /// Its name or its value is blank, or longer than 1,024 bytes.
    #[error("the preference has a {what} of {bytes} bytes, and it takes 1 to 1024")]
    Length {
        /// Which one.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// The quote does not stand in the message.
    #[error("`{quote}` does not stand in the user's message")]
    NotInMessage {
        /// The quote.
        quote: String,
    },
}

/// A preference that a model proposes: data, until the user's message has its quote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreferenceProposal {
    /// The name of the preference.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The user's own words for it. Default: none, and the proposal is dropped.
    #[serde(default)]
    pub quote: String,
}

/// A preference that a user stated, with the words that say so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreferenceStatement {
    key: String,
    value: String,
    quote: String,
}

impl PreferenceStatement {
    /// The preference `key` as `message` states it in the words `quote`.
    ///
    /// ```
    /// use hanok_learning::{NotStated, PreferenceStatement};
    /// use hanok_state::Message;
    ///
    /// let message = Message::user("Answer in Korean from now on, please.");
    /// let statement = PreferenceStatement::new("language", "ko", "Answer in Korean", &message)?;
    /// assert_eq!(statement.value(), "ko");
    ///
    /// let invented = PreferenceStatement::new("language", "en", "Answer in English", &message);
    /// assert_eq!(invented, Err(NotStated::NotInMessage { quote: "Answer in English".to_owned() }));
    /// # Ok::<(), NotStated>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotStated`] when the message is not the user's or holds data (its metadata names a `kind`), when the name or the value is blank
    /// or too long, or when the quote is blank or does not stand in it, letter by letter.
    pub fn new(key: &str, value: &str, quote: &str, message: &Message) -> Result<Self, NotStated> {
        if message.role() != Role::User {
            return Err(NotStated::Role { role: message.role() });
        }
        if message.metadata().contains_key("kind") || message.tool_call_id().is_some() {
            return Err(NotStated::Data);
        }
        for (what, text) in [("name", key), ("value", value)] {
            if text.trim().is_empty() || text.len() > LONGEST {
                return Err(NotStated::Length { what, bytes: text.len() });
            }
        }
        if quote.trim().is_empty() {
            return Err(NotStated::NoQuote { key: key.to_owned() });
        }
        if !message.text().contains(quote) {
            return Err(NotStated::NotInMessage { quote: quote.to_owned() });
        }
        let [key, value, quote] = [key, value, quote].map(str::to_owned);
        Ok(Self { key, value, quote })
    }

    /// The proposals that `message` states. The others are dropped.
    ///
    /// ```
    /// use hanok_learning::{PreferenceProposal, PreferenceStatement};
    /// use hanok_state::Message;
    ///
    /// let proposal = |quote: &str| PreferenceProposal {
    ///     key: "language".to_owned(),
    ///     value: "ko".to_owned(),
    ///     quote: quote.to_owned(),
    /// };
    /// let message = Message::user("한국어로 답해 줘");
    /// let proposed = [proposal("한국어로"), proposal("always Korean"), proposal("")];
    /// assert_eq!(PreferenceStatement::stated(proposed, &message).len(), 1);
    /// ```
    pub fn stated(
        proposals: impl IntoIterator<Item = PreferenceProposal>,
        message: &Message,
    ) -> Vec<Self> {
        let stated = |proposal: PreferenceProposal| {
            Self::new(&proposal.key, &proposal.value, &proposal.quote, message).ok()
        };
        proposals.into_iter().filter_map(stated).collect()
    }

    /// The name of the preference.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The user's words.
    pub fn quote(&self) -> &str {
        &self.quote
    }
}

/// A value that a preference has, or had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreferredValue {
    /// The value.
    pub value: String,
    /// The user's words.
    pub quote: String,
    /// The time from which it holds.
    pub since: Timestamp,
    /// The time from which another one holds; `None` while this one does.
    pub until: Option<Timestamp>,
    /// The evidence.
    pub evidence: String,
}

/// A user's preference, with what it was before. It is a [`MemoryKind`], and its own record.
///
/// Of two statements the newer one holds; of two of one time the one with the greater id. Only evidence of [`Actor::User`] counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preference {
    /// Its name.
    pub key: String,
    /// Its values, the oldest first.
    pub values: Vec<PreferredValue>,
}

impl Preference {
    /// The value that holds.
    pub fn current(&self) -> Option<&PreferredValue> {
        self.values.last()
    }

    /// The value that held at `time`; `None` before the first.
    ///
    /// ```
    /// # use hanok_core::Timestamp;
    /// # use hanok_learning::{Preference, PreferredValue};
    /// # let value = |value: &str, since, until: Option<u64>| PreferredValue {
    /// #     value: value.to_owned(), quote: value.to_owned(), since: Timestamp(since), until: until.map(Timestamp), evidence: "e".to_owned(),
    /// # };
    /// # let language = Preference { key: "language".to_owned(), values: vec![value("en", 10, Some(20)), value("ko", 20, None)] };
    /// let at = |time| language.as_of(Timestamp(time)).map(|value| value.value.as_str());
    /// assert_eq!([at(9), at(10), at(19), at(20)], [None, Some("en"), Some("en"), Some("ko")]);
    /// ```
    pub fn as_of(&self, time: Timestamp) -> Option<&PreferredValue> {
        self.values.iter().rev().find(|value| value.since <= time)
    }
}

impl MemoryKind for Preference {
    const NAME: &'static str = "preference";
    type Body = PreferenceStatement;
    type Record = Self;

    fn key(evidence: &Evidence<PreferenceStatement>) -> String {
        evidence.body.key.clone()
    }

    fn fold(mut record: Self, evidence: &Evidence<PreferenceStatement>) -> Self {
        let PreferenceStatement { key, value, quote } = evidence.body.clone();
        let place = (evidence.at, evidence.id.as_str());
        let at =
            record.values.partition_point(|value| (value.since, value.evidence.as_str()) < place);
        let value = PreferredValue {
            value,
            quote,
            since: evidence.at,
            until: record.values.get(at).map(|next| next.since),
            evidence: evidence.id.clone(),
        };
        if let Some(before) = at.checked_sub(1).and_then(|before| record.values.get_mut(before)) {
            before.until = Some(evidence.at);
        }
        record.values.insert(at, value);
        record.key = key;
        record
    }

    fn text(record: &Self) -> String {
        record.current().map(|now| format!("{}: {}", record.key, now.value)).unwrap_or_default()
    }

    /// The value that holds with the day from which on it does, and up to three that held before, the newest first.
    fn recalled(record: &Self, days: Days) -> String {
        let mut values = record.values.iter().rev();
        let Some(now) = values.next() else { return String::new() };
        let mut text = format!("{}: {} [{} –]", record.key, now.value, days.name(now.since));
        for past in values.take(PAST) {
            let until = past.until.map(|until| days.name(until)).unwrap_or_default();
            // Writing to a text never fails.
            let _ = write!(text, "; {} [{} – {until}]", past.value, days.name(past.since));
        }
        text
    }

    fn admit(evidence: &Evidence<PreferenceStatement>) -> Result<(), Refusal> {
        match evidence.actor {
            Actor::User => Ok(()),
            actor => Err(Refusal::NotTheUser { actor }),
        }
    }
}
