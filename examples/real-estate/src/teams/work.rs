//! The state of a team.

use std::collections::BTreeMap;

use hanok_agent::{ChoiceEntry, Observation};
use hanok_state::{Json, Map, Role, State, ToolCall};
use hanok_supervisor::{MemberInput, MemberOutput};
use serde::{Deserialize, Serialize};

use crate::question::Keywords;

/// The state of a team: what it was given, what it chose, and what its tools returned.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The user's question.
    pub question: String,
    /// The team's part of it.
    pub task: String,
    /// What the user wrote in this conversation, the newest last.
    pub conversation: Vec<String>,
    /// What is remembered of the user.
    pub remembered: Vec<String>,
    /// The data of the teams before, by their steps.
    pub given: Map<String, Json>,
    /// What the question says in so many words.
    pub keywords: Option<Keywords>,
    /// The words of the question that a search is for, as a model picks them.
    pub words: Vec<String>,
    /// The tools to call in place of those that would be chosen, where that is tried.
    pub instead: Option<Vec<String>>,
    /// True when no tool may do more than read.
    pub only_reads: bool,
    /// The tools that are called.
    pub chosen: Vec<String>,
    /// The choices of the team, each with its result.
    #[reduce(append)]
    pub choices: Vec<ChoiceEntry>,
    /// What the tools returned.
    #[reduce(append)]
    pub ends: Vec<ToolEnd>,
    /// What the data mean, in sentences.
    pub insights: Vec<String>,
    /// The result in words.
    pub report: Option<String>,
}

/// The end of one call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolEnd {
    /// The tool.
    pub tool: String,
    /// The result in words, or the error.
    pub text: String,
    /// The result as data.
    pub data: Json,
    /// True when there is no result.
    pub failed: bool,
    /// True when the question lacks something that the tool needs.
    pub lacking: bool,
}

impl ToolEnd {
    /// What `call` has ended with.
    pub fn of(call: &ToolCall, observation: Observation) -> Self {
        Self {
            tool: call.name.clone(),
            failed: observation.fault.is_some(),
            text: observation.text,
            data: observation.data.unwrap_or_default(),
            lacking: false,
        }
    }
}

impl Work {
    /// The input of a team.
    pub fn begin(input: MemberInput) -> WorkUpdate {
        let question = input.question.clone().unwrap_or_else(|| input.text());
        let is_spoken = |message: &&hanok_state::Message| {
            message.role() == Role::User && message.metadata().is_empty()
        };
        // The last one is the task, which the planner wrote.
        let before = input.messages.len().saturating_sub(1);
        let spoken = input.messages.iter().take(before).filter(is_spoken);
        let conversation: Vec<_> = spoken.map(|message| message.text().into_owned()).collect();
        let is_memory = |message: &&hanok_state::Message| {
            let kind = message.metadata().get("kind");
            kind.and_then(|Json(kind)| kind.as_str()) == Some("remembered")
        };
        let remembered = input.messages.iter().filter(is_memory);
        let remembered: Vec<_> = remembered.map(|message| message.text().into_owned()).collect();
        let given: BTreeMap<String, Json> = input.results.clone();
        Self::update()
            .question(question)
            .task(input.text())
            .conversation(conversation)
            .remembered(remembered)
            .instead(input.instead.clone())
            .only_reads(input.only_reads)
            .given(given.into_iter().collect::<Map<_, _>>())
    }

    /// What the question says; where it names no district, the one of the conversation before, or of what is remembered.
    pub fn stated(&self) -> Keywords {
        let mut keywords = Keywords::stated(&self.question);
        if keywords.districts.is_empty() {
            let before = self.conversation.iter().rev().chain(&self.remembered);
            let named = before.map(|text| Keywords::stated(text).districts);
            // The first that is named: what is remembered best comes first.
            keywords.districts = named.into_iter().flatten().take(1).collect();
        }
        keywords
    }

    /// What the team brings.
    pub fn end(self) -> MemberOutput {
        let failed: Vec<_> = self.ends.iter().filter(|end| end.failed && !end.lacking).collect();
        let all_failed = !failed.is_empty() && failed.len() == self.ends.len();
        let reasons: Vec<_> =
            failed.iter().map(|end| format!("{}: {}", end.tool, end.text)).collect();
        let reasons = reasons.join("; ");
        let good = self.ends.iter().filter(|end| !end.failed);
        let output = MemberOutput::from(self.report).choices(self.choices);
        let output = good.fold(output, |output, end| {
            let output = output.data(end.tool.as_str(), end.data.clone());
            sources(&end.data.0).into_iter().fold(output, MemberOutput::source)
        });
        if all_failed { output.failed(reasons) } else { output }
    }
}

/// The sources that data name, each once: what stands under the key `source`, `sources` or `cited`.
fn sources(data: &serde_json::Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(data, 0, &mut all);
    all
}

/// How deep data are looked through.
const DEEPEST: usize = 8;

/// The most sources of one result that are named.
const MOST: usize = 6;

fn collect(data: &serde_json::Value, depth: usize, all: &mut Vec<String>) {
    use serde_json::Value;
    if depth > DEEPEST || all.len() >= MOST {
        return;
    }
    match data {
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("source" | "cited", Value::String(text)) if !all.contains(text) => {
                        all.push(text.clone());
                    }
                    (_, value) => collect(value, depth + 1, all),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, all)),
        _ => {}
    }
}
