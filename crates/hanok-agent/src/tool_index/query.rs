//! A question for tools.

use std::collections::{BTreeMap, BTreeSet};

use super::{entry::name_key, experience::ToolExperience};

/// The most tools that a question gets, unless it says otherwise.
const LIMIT: usize = 8;

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
    pub(crate) experience: BTreeMap<String, ToolExperience>,
}

impl ToolQuery {
    /// Asks for tools that fit `text`.
    pub fn new(text: impl Into<String>) -> Self {
        let (denied, experience) = Default::default();
        Self { text: text.into(), limit: LIMIT, denied, experience }
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

/// The names that a text may mean exactly: each of its words, and up to three in a row.
pub(super) fn names(text: &str) -> impl Iterator<Item = String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let words: Vec<_> = text
        .split(|c| !is_name(c))
        .map(|word| word.trim_matches(['-', '.', '/']))
        .filter(|word| !word.is_empty())
        .take(NAMES)
        .collect();
    let mut names = Vec::new();
    for length in 1..=WORDS {
        names.extend(words.windows(length).map(|words| name_key(&words.join(" "))));
    }
    names.into_iter().filter(|name| !name.is_empty() && name.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::names;

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
