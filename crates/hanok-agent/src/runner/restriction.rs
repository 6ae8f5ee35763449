//! What a catalogue says of the calls of a reply.

use std::collections::BTreeMap;

use hanok_model::ToolSpec;
use hanok_parse::Language;

use crate::{
    bound_tool::BoundTool,
    observation::{FaultKind, Observation},
    prompt,
    tool_index::entry::definition_hash,
};

/// What a catalogue says of calls, by the names of their tools. Nothing is said of tools that it does not list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restrictions {
    pub(crate) calls: BTreeMap<String, Restriction>,
    /// The tools that the model was offered.
    pub(crate) shown: Vec<String>,
}

/// What a catalogue says of the calls of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Restriction {
    /// It was offered with the definition of this hash, and is called with that one alone.
    Definition(String),
    /// It was not offered, and may be called.
    Unbound,
    /// It was offered, and is not there any more.
    Gone,
    /// It is a tool of the agent that was not offered and that the catalogue does not list any more.
    Unknown,
}

impl Restrictions {
    /// True for a tool that the agent has and does not offer, because the catalogue does not list it any more.
    pub(crate) fn hides(&self, tool: &str) -> bool {
        self.calls.get(tool) == Some(&Restriction::Unknown)
    }

    /// The observation of a call of `tool`, which is `spec` now, where it left the catalogue or has another definition than the one
    /// that the model was shown.
    pub(crate) fn refusal(
        &self,
        tool: &str,
        spec: &ToolSpec,
        language: Language,
    ) -> Option<Observation> {
        match self.calls.get(tool)? {
            Restriction::Definition(shown) if definition_hash(spec) != *shown => {
                let text = prompt::tool_changed(tool, language);
                Some(Observation::fault(FaultKind::ToolChanged, text))
            }
            Restriction::Gone => Some(self.no_tool(tool, language)),
            _ => None,
        }
    }

    /// The binding of `tool`, which was called and is `spec` now.
    pub(crate) fn binding(&self, tool: &str, spec: &ToolSpec) -> Option<BoundTool> {
        match self.calls.get(tool)? {
            Restriction::Unbound | Restriction::Definition(_) => {
                Some(BoundTool::catalogued(spec.name(), definition_hash(spec)))
            }
            Restriction::Gone | Restriction::Unknown => None,
        }
    }

    /// The observation of a call for which there is no tool.
    pub(crate) fn no_tool(&self, tool: &str, language: Language) -> Observation {
        match self.calls.get(tool) {
            Some(Restriction::Definition(_) | Restriction::Gone) => {
                Observation::fault(FaultKind::ToolGone, prompt::tool_gone(tool, language))
            }
            _ => {
                let shown = self.shown.iter().map(String::as_str);
                let text = prompt::unknown_tool(tool, shown, language);
                Observation::fault(FaultKind::UnknownTool, text)
            }
        }
    }
}
