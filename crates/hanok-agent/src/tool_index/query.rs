//! A question for tools.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{entry::name_key, experience::ToolExperience};

/// The most tools that a question gets, unless it says otherwise.
const LIMIT: usize = 8;

/// The most bytes of a text that a store searches for.
const LONGEST_TEXT: usize = 64 * 1024;

/// The words of a text, from its beginning, that may be names.
const NAMES: usize = 128;

/// The longest name that is looked for exactly, in words and in bytes.
const WORDS: usize = 3;
const LONGEST: usize = 256;

/// A question for tools.
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolQuery {
    text: String,
    pub(crate) limit: usize,
    pub(crate) denied: BTreeSet<String>,
    among: Option<Arc<BTreeSet<String>>>,
    pub(crate) experience: BTreeMap<String, ToolExperience>,
}

impl ToolQuery {
    /// Asks for tools that fit `text`. Of a text of more than 64 KiB its beginning counts.
    pub fn new(text: impl Into<String>) -> Self {
        let (denied, experience) = Default::default();
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        Self { text, limit: LIMIT, denied, among: None, experience }
    }

    /// Sets the most tools, beside the pinned ones. Default: 8.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Leaves tools out by name, also pinned ones. Default: none.
    ///
    /// ```
    /// use hanok_agent::ToolQuery;
    ///
    /// let query = ToolQuery::new("delete the old branches").deny(["git__push_force"]);
    /// # drop(query);
    /// ```
    pub fn deny<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.denied.extend(names.into_iter().map(Into::into));
        self
    }

    /// Leaves out all but these, also pinned ones, before the best are taken. Default: none is left out.
    pub(crate) fn among(self, among: Option<Arc<BTreeSet<String>>>) -> Self {
        Self { among, ..self }
    }

    /// Whether the tool `name` may be offered.
    pub(crate) fn allows(&self, name: &str) -> bool {
        let is_there = self.among.as_ref().is_none_or(|among| among.contains(name));
        is_there && !self.denied.contains(name)
    }

    /// Ranks the tool `name` by experience with it too: 0.3 times what its [lower bound](ToolExperience::lower_bound) is above or
    /// below a half. Default: without.
    ///
    /// ```
    /// use hanok_agent::{ToolExperience, ToolQuery};
    ///
    /// let good = ToolExperience { successes: 40, failures: 1 };
    /// let query = ToolQuery::new("send it").experience("mail__send_message", good);
    /// # drop(query);
    /// ```
    pub fn experience(mut self, name: impl Into<String>, experience: ToolExperience) -> Self {
        self.experience.insert(name.into(), experience);
        self
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The names that a text may mean exactly: each of its words, and up to three in a row. A particle behind a name in Latin letters is
/// none of it: `mail__send로`.
pub(super) fn names(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<_> = words(text).take(NAMES).collect();
    let mut names = Vec::new();
    for length in 1..=WORDS {
        for words in words.windows(length) {
            let name = words.join(" ");
            names.extend(before_particle(&name).map(name_key));
            names.push(name_key(&name));
        }
    }
    names.into_iter().filter(|name| !name.is_empty() && name.len() <= LONGEST)
}

/// The words of a text that may stand in names.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let words = text.split(move |c| !is_name(c)).map(|word| word.trim_matches(['-', '.', '/']));
    words.filter(|word| !word.is_empty())
}

/// What stands before the Hangul at the end of `name`, if that is ASCII.
fn before_particle(name: &str) -> Option<&str> {
    let is_hangul = |c: char| matches!(c, '가'..='힣');
    let before = name.trim_end_matches(is_hangul);
    let is_name =
        before.len() < name.len() && before.ends_with(|c: char| c.is_ascii_alphanumeric());
    is_name.then_some(before)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_TEXT, ToolQuery, names};

    #[test]
    fn a_long_question_is_cut_between_two_characters() {
        assert_eq!(ToolQuery::new("우유 사기").text(), "우유 사기");
        let long = ToolQuery::new("가".repeat(LONGEST_TEXT));
        assert_eq!(long.text().len(), LONGEST_TEXT - LONGEST_TEXT % 3);
    }

    #[test]
    fn a_particle_is_none_of_a_name() {
        let all: Vec<_> = names("mail__send로 보내").collect();
        assert_eq!(all, ["mail__send", "mail__send로", "보내", "mail__send로 보내"]);
        assert_eq!(names("send회의").collect::<Vec<_>>(), ["send", "send회의"]);
        assert_eq!(names("회의").collect::<Vec<_>>(), ["회의"]);
    }

    #[test]
    fn a_text_may_mean_its_words_and_what_stands_together() {
        let all: Vec<_> = names("Use `mail__send`, 회의 예약!").collect();
        let want =
            ["use", "mail__send", "회의", "예약", "use mail__send", "mail__send 회의", "회의 예약"];
        assert_eq!(all[..7], want);
        assert_eq!(names(&"word ".repeat(100_000)).count(), 128 + 127 + 126);
        assert_eq!(names("... -- //").count(), 0);
    }
}
