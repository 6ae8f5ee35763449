//! The memory of a conversation: summaries and facts.

use std::fmt::Write;

use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_state::{Map, Message, Messages, Role, State};
use serde::{Deserialize, Serialize};

use crate::{
    separated::{self, SeparatorInside},
    turn_data::{guarded, heading, is_turn_data},
    unit::is_said,
};

/// The summaries and facts that stand for the messages that were taken out of a conversation. A field of any state, with
/// `#[reduce(nested)]`.
///
/// Both are by number, the oldest first. The log of a thread keeps the messages themselves.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConversationMemory {
    /// Summaries, each of what was said between the one before and the one behind it.
    #[reduce(merge)]
    pub summaries: Map<String, Summary>,
    /// Facts that users stated, in their own words. They outlive the summaries.
    #[reduce(merge)]
    pub pinned: Map<String, Fact>,
    /// The mark around both in a prompt. A compaction draws it, and nothing else changes it.
    pub mark: Option<DataMark>,
    /// The number of steps that have made the conversation smaller.
    pub compactions: u32,
}

/// A summary of messages that were taken out of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The model's text.
    pub text: String,
    /// The number of messages that it stands for.
    pub messages: u32,
    /// The first and the last of them, by their ids.
    pub covers: (String, String),
}

/// Something that a user said of themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The subject. A later name takes the place of an earlier one.
    pub kind: FactKind,
    /// The sentence, as it was said.
    pub text: String,
    /// The message that it stood in.
    pub message: String,
}

impl Fact {
    /// Whether this one, which was said later, says something else of the same: `마감일이 4월로 바뀌었어` of `마감일은 3월이야`. What
    /// users say of themselves is of many things, and replaces nothing.
    pub fn replaces(&self, earlier: &Self) -> bool {
        let (new, old) = (subject(&self.text), subject(&earlier.text));
        new.is_some() && new == old && self.text != earlier.text
    }
}

/// What a sentence is about: `마감일` of `프로젝트 마감일은 …`, with what stands before it; `None` where it is a person.
fn subject(text: &str) -> Option<String> {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        if ["사실", "내", "제", "우리", "저희", "my", "our", "the"].contains(&word) {
            continue;
        }
        if word == "is" {
            return (!words.is_empty()).then(|| words.join(" "));
        }
        if ["나는", "난", "저는", "전", "제가", "내가", "i"].contains(&word) {
            return None;
        }
        let bare = ['은', '는', '이', '가'].iter().find_map(|end| word.strip_suffix(*end));
        words.push(bare.unwrap_or(word));
        if bare.is_some_and(|bare| !bare.is_empty()) {
            return Some(words.join(" "));
        }
    }
    None
}

/// The subject of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactKind {
    /// The user's name.
    Name,
    /// A date.
    Date,
    /// An amount.
    Amount,
    /// Anything else.
    Other,
}

impl ConversationMemory {
    /// True without summaries and facts.
    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty() && self.pinned.is_empty()
    }

    /// The summaries, the oldest first.
    pub fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.summaries.iter().map(|(_, summary)| summary)
    }

    /// The facts, the oldest first.
    pub fn pinned(&self) -> impl Iterator<Item = &Fact> {
        self.pinned.iter().map(|(_, fact)| fact)
    }

    /// The memory as a model reads it: the facts, then the summaries, numbered, the oldest first. `None` for an empty one.
    ///
    /// It is data: it goes between marks ([`ConversationMemory::message`]) and never into a system prompt.
    pub fn text(&self, language: Language) -> Option<String> {
        let mut parts = Vec::new();
        if !self.pinned.is_empty() {
            let mut text = heading(language, "사용자가 말한 사실", "What the user stated");
            let facts: Vec<&Fact> = self.pinned().collect();
            for (at, fact) in facts.iter().enumerate() {
                let later = facts.get(at + 1..).unwrap_or_default();
                let old = match (later.iter().any(|later| later.replaces(fact)), language) {
                    (false, _) => "",
                    (true, Language::Korean) => " (전에 한 말: 아래의 나중 말이 맞음)",
                    (true, _) => " (said before: what stands below counts)",
                };
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\n- {}{old}", fact.text);
            }
            parts.push(text);
        }
        for (number, summary) in (1..).zip(self.summaries()) {
            let title = match language {
                Language::Korean => format!("[대화 기록 {number}]"),
                _ => format!("[Conversation record {number}]"),
            };
            parts.push(format!("{title}\n{}", guarded(&summary.text)));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// The memory as one message of data between its [mark](Self::mark), `None` for an empty one.
    ///
    /// A memory without a mark has one that derives from its text: whoever writes the text cannot know it either.
    pub fn message(&self, language: Language) -> Option<Message> {
        let text = self.text(language)?;
        let of_text = || DataMark::from_digest(&blake3::hash(text.as_bytes()).to_hex());
        let marked = self.mark.clone().unwrap_or_else(of_text).around(&text);
        Some(Message::user(marked).with_metadata("kind", "data"))
    }

    /// The conversation as a model reads it: the memory behind the system messages that it begins with, and before each
    /// question what was found for it ([`turn_data`](crate::turn_data)).
    ///
    /// The messages of a prompt are the first ones of the next, until a compaction changes the memory: a server with a prompt
    /// cache reads them once.
    ///
    /// ```
    /// use hanok_memory::{ConversationMemory, turn_data};
    /// use hanok_model::DataMark;
    /// use hanok_parse::Language;
    /// use hanok_state::{Message, Messages};
    ///
    /// let memory = ConversationMemory::from_separated("휴가를 물었다.");
    /// let mut talk: Vec<Message> = vec!["그럼 병가는?".into()];
    /// // What was found is stored behind the question, and is read before it, in later turns too.
    /// talk.extend(turn_data("병가는 60일", Language::Korean, &DataMark::from_code("00ff")));
    /// let prompt = memory.prompt(&talk.into_iter().collect(), Language::Korean);
    /// assert!(prompt[0].text().contains("휴가를 물었다."));
    /// assert_eq!(prompt[1].text(), "<data-00ff>\n[참고 문서]\n병가는 60일\n</data-00ff>");
    /// assert_eq!(prompt[2].text(), "그럼 병가는?");
    /// ```
    pub fn prompt(&self, messages: &Messages, language: Language) -> Vec<Message> {
        let mut all: Vec<Message> = Vec::with_capacity(messages.len() + 1);
        for message in messages.iter() {
            let is_behind_question = is_turn_data(message) && all.last().is_some_and(is_said);
            let at = all.len() - usize::from(is_behind_question);
            all.insert(at, message.clone());
        }
        if let Some(data) = self.message(language) {
            let head = all.iter().take_while(|message| message.role() == Role::System).count();
            all.insert(head, data);
        }
        all
    }

    /// Reads summaries in the form that a text field has for them: one behind the other, with the line
    /// `---SUMMARY_BREAK---` between two. Empty ones are left out.
    pub fn from_separated(text: &str) -> Self {
        let mut memory = Self::default();
        for (number, text) in (1..).zip(separated::parts(text)) {
            let covers = Default::default();
            memory.summaries.insert(key(number), Summary { text, messages: 0, covers });
        }
        memory
    }

    /// The summaries in that form. Facts are not part of it.
    ///
    /// ```
    /// use hanok_memory::ConversationMemory;
    ///
    /// let text = "first\n---SUMMARY_BREAK---\nsecond";
    /// let memory = ConversationMemory::from_separated(text);
    /// assert_eq!(memory.summaries().count(), 2);
    /// assert_eq!(memory.to_separated().as_deref(), Ok(text));
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeparatorInside`] when a summary has the line that separates them, so that it could not be read back.
    pub fn to_separated(&self) -> Result<String, SeparatorInside> {
        separated::joined(self.summaries().map(|summary| summary.text.as_str()))
    }
}

/// The key of the `number`th summary or fact.
pub(crate) fn key(number: u64) -> String {
    format!("{number:010}")
}

/// The number behind the last one.
pub(crate) fn next<V: Clone>(map: &Map<String, V>) -> u64 {
    let last = map.iter().last().and_then(|(key, _)| key.parse::<u64>().ok());
    last.map_or(1, |last| last.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn_data;

    fn summary(text: &str) -> Summary {
        Summary { text: text.into(), messages: 2, covers: ("1".into(), "2".into()) }
    }

    fn memory() -> ConversationMemory {
        let mut memory = ConversationMemory::default();
        memory.summaries.insert(key(9), summary("아홉"));
        memory.summaries.insert(key(10), summary("열"));
        memory.pinned.insert(
            key(1),
            Fact {
                kind: FactKind::Name, text: "내 이름은 철수야".into(), message: "1".into()
            },
        );
        memory
    }

    #[test]
    fn a_model_reads_facts_and_then_numbered_summaries() {
        assert_eq!(
            memory().text(Language::Korean).as_deref(),
            Some(
                "[사용자가 말한 사실]\n- 내 이름은 철수야\n\n[대화 기록 1]\n아홉\n\n[대화 기록 2]\n열"
            )
        );
        assert_eq!(ConversationMemory::default().text(Language::Korean), None);
        assert_eq!(next(&memory().summaries), 11);
    }

    #[test]
    fn a_memory_stands_in_front_and_what_was_found_before_its_question() {
        let mark = DataMark::from_code("00ff");
        let data = |text: &str| turn_data(text, Language::English, &mark).unwrap();
        let messages: Messages = [
            Message::system("친절하게").with_id("0"),
            Message::user("첫째").with_id("1"),
            data("연차는 15일").with_id("2"),
            data("월차는 없다").with_id("3"),
            Message::assistant("답").with_id("4"),
            data("아무도 묻지 않음").with_id("5"),
            Message::user("둘째").with_id("6"),
        ]
        .into_iter()
        .collect();
        let memory = ConversationMemory { mark: Some(DataMark::from_code("0a0a")), ..memory() };
        let prompt = memory.prompt(&messages, Language::English);
        let ids: Vec<_> = prompt.iter().map(|message| message.id().unwrap_or("-")).collect();
        assert_eq!(ids, ["0", "-", "2", "3", "1", "4", "5", "6"]);
        let text = prompt[1].text();
        assert!(text.starts_with("<data-0a0a>\n[What the user stated]"), "{text}");
        assert!(prompt[2].text().ends_with("[Documents]\n연차는 15일\n</data-00ff>"));
        let none = ConversationMemory::default().prompt(&messages, Language::English);
        assert_eq!(none.len(), 7);
    }

    #[test]
    fn a_memory_without_a_mark_has_one_of_its_text() {
        let (one, other) = (memory(), ConversationMemory::from_separated("아홉"));
        let mark = |memory: &ConversationMemory| {
            let text = memory.message(Language::Korean).unwrap().text().into_owned();
            text.lines().next().unwrap().to_owned()
        };
        assert_eq!(mark(&one), mark(&one));
        assert_ne!(mark(&one), mark(&other));
        assert_eq!(mark(&one).len(), "<data-0123456789abcdef>".len());
    }
}
