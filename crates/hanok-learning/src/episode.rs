//! What was asked and answered in a turn.

use std::collections::BTreeSet;

use hanok_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::{days::Days, evidence::Evidence, kind::MemoryKind};

/// The most sentences of an answer that are remembered.
const SENTENCES: usize = 2;

/// The most characters of a question, and of an answer, that are remembered.
const LONGEST: usize = 600;

/// A turn, or a part of it, as a node reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeReport {
    question: String,
    answer: String,
    teams: BTreeSet<String>,
    tools: BTreeSet<String>,
    figures: BTreeSet<String>,
}

impl EpisodeReport {
    /// The report that `question` was answered with `answer`: its first two sentences, and no more than 600 characters of each.
    ///
    /// ```
    /// use hanok_learning::EpisodeReport;
    ///
    /// let report = EpisodeReport::new("How much?", "It is 3.5 %. That is little. There is more to say.").figure("3.5 %");
    /// assert_eq!(report.answer(), "It is 3.5 %. That is little.");
    /// ```
    pub fn new(question: &str, answer: &str) -> Self {
        let question = question.trim().chars().take(LONGEST).collect();
        Self { question, answer: first_sentences(answer), ..Self::default() }
    }

    /// Adds a team that worked on it. Default: none.
    #[must_use]
    pub fn team(mut self, team: impl Into<String>) -> Self {
        self.teams.insert(team.into());
        self
    }

    /// Adds a tool that was called. Default: none.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tools.insert(tool.into());
        self
    }

    /// Adds a figure that the answer rests on. Default: none.
    #[must_use]
    pub fn figure(mut self, figure: impl Into<String>) -> Self {
        self.figures.insert(figure.into());
        self
    }

    /// The answer, as it is remembered.
    pub fn answer(&self) -> &str {
        &self.answer
    }
}

/// What was asked and answered in one turn. It is a [`MemoryKind`], and its own record.
///
/// Its key is made of the thread and the message that began the turn. Reports of one turn are joined: the newest question and
/// answer hold, the teams, tools and figures are those of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// The question.
    pub question: String,
    /// The answer, in two sentences.
    pub answer: String,
    /// The teams that worked on it.
    pub teams: BTreeSet<String>,
    /// The tools that were called.
    pub tools: BTreeSet<String>,
    /// The figures that the answer rests on.
    pub figures: BTreeSet<String>,
    /// The time of the newest report.
    pub at: Timestamp,
    /// The newest report.
    pub evidence: String,
}

impl MemoryKind for Episode {
    const NAME: &'static str = "episode";
    type Body = EpisodeReport;
    type Record = Self;

    /// A turn that names no message is told from others by its task.
    fn key(evidence: &Evidence<EpisodeReport>) -> String {
        let source = &evidence.source;
        match source.message.as_str() {
            "" => format!("{}:{}/task/{}", source.thread.len(), source.thread, source.task),
            message => format!("{}:{}/message/{message}", source.thread.len(), source.thread),
        }
    }

    fn fold(mut record: Self, evidence: &Evidence<EpisodeReport>) -> Self {
        let report = evidence.body.clone();
        if record.evidence.is_empty()
            || (record.at, record.evidence.as_str()) < (evidence.at, evidence.id.as_str())
        {
            record.question = report.question;
            record.answer = report.answer;
            record.at = evidence.at;
            record.evidence = evidence.id.clone();
        }
        record.teams.extend(report.teams);
        record.tools.extend(report.tools);
        record.figures.extend(report.figures);
        record
    }

    fn text(record: &Self) -> String {
        let figures = record.figures.iter().map(String::as_str);
        let all = [record.question.as_str(), record.answer.as_str()].into_iter().chain(figures);
        all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn recalled(record: &Self, days: Days) -> String {
        format!("[{}] {}", days.name(record.at), Self::text(record))
    }
}

/// The first two sentences of `text`.
fn first_sentences(text: &str) -> String {
    let text = text.trim();
    let mut ends = text.char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        let closes = match c {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        // What follows a sentence's end is not a sentence of its own when it is only a line's end.
        let blank = c == '\n' && text.get(..at).is_none_or(ends_sentence);
        (closes && !blank).then_some(end)
    });
    let end = ends.nth(SENTENCES - 1).unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim().chars().take(LONGEST).collect()
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r']).ends_with(['.', '!', '?', '。', '！', '？', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_two_sentences() {
        for (text, want) in [
            ("", ""),
            ("One", "One"),
            ("One. Two. Three.", "One. Two."),
            ("Pi is 3.14. Yes! No?", "Pi is 3.14. Yes!"),
            ("연차는 15일입니다. 더 있습니다. 끝.", "연차는 15일입니다. 더 있습니다."),
            ("一。二。三。", "一。二。"),
            ("One.\n\nTwo.\nThree.", "One.\n\nTwo."),
            ("a line\nanother\nthird", "a line\nanother"),
        ] {
            assert_eq!(first_sentences(text), want, "{text:?}");
        }
        assert_eq!(first_sentences(&"가".repeat(5_000)).chars().count(), LONGEST);
    }
}
