//! A tool of the index, as it is offered and as it is stored.

use hanok_checkpoint::FieldPath;
use hanok_model::ToolSpec;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::query::words;
use crate::digest::json_text;

/// A tool that an index offers.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct IndexedTool {
    spec: ToolSpec,
    aliases: Vec<String>,
    pinned: bool,
}

impl IndexedTool {
    /// A tool that is found by its name, its words and the aliases that it has, and that is not pinned.
    pub fn new(spec: ToolSpec) -> Self {
        let aliases = spec.aliases().to_vec();
        Self { spec, aliases, pinned: false }
    }

    /// Adds names by which it is found exactly, beside its own: of up to three words, in which signs do not count. What is longer is
    /// found by its words.
    ///
    /// ```
    /// # use {hanok_agent::IndexedTool, hanok_model::ToolSpec, serde_json::json};
    /// let tool = ToolSpec::new("calendar__create_event", "Creates an event", json!({}))?;
    /// let tool = IndexedTool::new(tool).aliases(["book_meeting", "회의 예약"]);
    /// # drop(tool);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    pub fn aliases<A: Into<String>>(mut self, aliases: impl IntoIterator<Item = A>) -> Self {
        self.aliases.extend(aliases.into_iter().map(Into::into));
        self
    }

    /// Offers the tool for every question.
    pub fn pinned(self) -> Self {
        Self { pinned: true, ..self }
    }

    /// The tool.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }
}

/// A tool as an item of the store holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredTool {
    /// The words of its name.
    words: String,
    description: String,
    parameters: String,
    aliases: Vec<String>,
    pub(crate) pinned: bool,
    /// The hash of all that the tool says.
    pub(crate) hash: String,
    /// The model of its vector, if it has one.
    pub(crate) model: Option<String>,
    pub(crate) spec: ToolSpec,
}

impl StoredTool {
    pub(crate) fn of(tool: &IndexedTool) -> Self {
        let IndexedTool { spec, aliases, pinned } = tool;
        let parameters = spec.parameters().into_iter().map(|parameter| {
            let name = words_of_name(&parameter.name);
            parameter.description.map_or(name.clone(), |about| format!("{name}: {about}"))
        });
        let parameters: Vec<_> = parameters.collect();
        Self {
            words: words_of_name(spec.name()),
            description: spec.description().to_owned(),
            parameters: parameters.join("\n"),
            aliases: aliases.clone(),
            pinned: *pinned,
            hash: hash(tool),
            model: None,
            spec: spec.clone(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.spec.name()
    }

    /// Its name and its aliases.
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.aliases.iter().map(String::as_str))
    }

    /// What a question has to name for it.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        self.names().map(name_key).filter(|key| !key.is_empty())
    }

    /// The fields whose words find it.
    pub(crate) fn texts() -> Vec<FieldPath> {
        ["words", "description", "parameters", "aliases"].map(|name| FieldPath::new([name])).into()
    }

    /// The text of which its vector is made: what it says in a sentence first, which encoders weigh most.
    pub(crate) fn meaning(&self) -> String {
        let Self { words, description, aliases, .. } = self;
        [description, words]
            .into_iter()
            .chain(aliases)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(". ")
    }
}

/// The hash of a definition: what a model is shown of a tool, and what its arguments are checked against.
pub(crate) fn definition_hash(spec: &ToolSpec) -> String {
    let mut hasher = blake3::Hasher::new();
    add_definition(spec, &mut |text| add_text(&mut hasher, text));
    hasher.finalize().to_hex().to_string()
}

fn add_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_be_bytes());
    hasher.update(text.as_bytes());
}

fn add_definition(spec: &ToolSpec, add: &mut dyn FnMut(&str)) {
    add(spec.name());
    add(spec.description());
    add(&json_text(spec.schema()));
}

/// The items that a tool is stored as. A tool that was stored in another form is written again.
const FORM: &str = "2";

/// The hash of all that a tool says, the same in every process and for every order of the keys of its schema.
fn hash(tool: &IndexedTool) -> String {
    let IndexedTool { spec, aliases, pinned } = tool;
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| add_text(&mut hasher, text);
    add(FORM);
    add_definition(spec, &mut add);
    add(if *pinned { "pinned" } else { "" });
    aliases.iter().for_each(|alias| add(alias));
    hasher.finalize().to_hex().to_string()
}

/// The words of a name: `mail__sendMessage` is `mail send Message`.
fn words_of_name(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut last = ' ';
    for c in name.chars() {
        if matches!(c, '_' | '-' | '.' | '/') {
            last = ' ';
            continue;
        }
        let begins = last == ' ' || (c.is_uppercase() && !last.is_uppercase());
        if begins && !words.is_empty() {
            words.push(' ');
        }
        words.push(c);
        last = c;
    }
    words
}

/// The key of a name: spelled with other capitals, blanks or forms of its characters it is the same name.
pub(crate) fn name_key(name: &str) -> String {
    let normal: String = name.nfkc().flat_map(char::to_lowercase).collect();
    words(&normal).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_its_words() {
        for (name, words) in [
            ("mail__send_message", "mail send message"),
            ("createIssue", "create Issue"),
            ("getHTTPStatus", "get HTTPStatus"),
            ("fs.read-file", "fs read file"),
            ("__", ""),
        ] {
            assert_eq!(words_of_name(name), words, "{name}");
        }
    }

    #[test]
    fn a_name_is_the_same_however_it_is_spelled() {
        assert_eq!(name_key("  Book_Meeting "), name_key("book_meeting"));
        assert_eq!(name_key("회의  예약"), "회의 예약");
        assert_eq!(name_key("ＳＥＮＤ"), "send");
        assert_eq!(name_key("What's next?"), "what s next");
    }
}
