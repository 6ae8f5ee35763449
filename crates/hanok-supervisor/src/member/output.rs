//! What a member brings.

use hanok_agent::ChoiceEntry;
use hanok_state::{Json, Message};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The result of a member that is a [graph of one's own](super::Member::graph). A text makes one, and so does no text.
///
/// ```
/// use hanok_supervisor::MemberOutput;
/// use serde_json::json;
///
/// let output = MemberOutput::from("The rent may rise by 5 %.")
///     .data("rent", json!({"cap_percent": 5}))
///     .source("the rent act, article 7");
/// assert_eq!(output.text.as_deref(), Some("The rent may rise by 5 %."));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MemberOutput {
    /// The result in words.
    pub text: Option<String>,
    /// The data that its tools returned, each under the tool's name.
    pub data: Vec<(String, Json)>,
    /// Where the result comes from, as a reader is shown it.
    pub sources: Vec<String>,
    /// The choices that it made, each with its result.
    pub choices: Vec<ChoiceEntry>,
    /// What it could not do.
    pub failure: Option<String>,
}

impl MemberOutput {
    /// Adds what the tool `tool` returned.
    #[must_use]
    pub fn data(mut self, tool: impl Into<String>, data: impl Into<Json>) -> Self {
        self.data.push((tool.into(), data.into()));
        self
    }

    /// Adds a source.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds choices.
    #[must_use]
    pub fn choices(mut self, choices: impl IntoIterator<Item = ChoiceEntry>) -> Self {
        self.choices.extend(choices);
        self
    }

    /// Says that the member failed, and why. A `TeamSupervisor` of `hanok-team` takes the team for failed, whatever its
    /// text says.
    #[must_use]
    pub fn failed(self, reason: impl Into<String>) -> Self {
        Self { failure: Some(reason.into()), ..self }
    }

    /// The data of the tool results in `messages`.
    pub(crate) fn of_messages<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let data = messages.filter_map(|message| {
            let data = message.metadata().get("data")?;
            let tool = message.metadata().get("tool").and_then(|Json(tool)| tool.as_str());
            Some((tool.unwrap_or("tool").to_owned(), data.clone()))
        });
        Self { data: data.collect(), ..Self::default() }
    }

    /// All its data as one JSON object, by tool; of several results of one tool the array.
    #[must_use]
    pub fn all_data(&self) -> Json {
        let mut all = serde_json::Map::new();
        for (tool, Json(data)) in &self.data {
            match all.get_mut(tool) {
                None => {
                    all.insert(tool.clone(), Value::Array(vec![data.clone()]));
                }
                Some(Value::Array(of)) => of.push(data.clone()),
                Some(_) => {}
            }
        }
        let one = |(tool, data)| match data {
            Value::Array(mut of) if of.len() == 1 => (tool, of.swap_remove(0)),
            data => (tool, data),
        };
        Json(Value::Object(all.into_iter().map(one).collect()))
    }
}

impl From<Option<String>> for MemberOutput {
    fn from(text: Option<String>) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<String> for MemberOutput {
    fn from(text: String) -> Self {
        Some(text).into()
    }
}

impl From<&str> for MemberOutput {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}
