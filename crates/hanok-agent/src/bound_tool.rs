//! The tools that a turn offers its model.

use serde::{Deserialize, Serialize};

/// A tool that a turn of an agent with a [catalogue](crate::ReactAgentBuilder::catalogue) offers its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BoundTool {
    /// The name of the tool.
    pub name: String,
    /// The hash of the definition that the model is shown; `None` for a tool of the agent that its catalogue does not list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

/// The cause for which tools were bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BindingCause {
    /// The turn began: these fit what the user says, or are pinned.
    Turn,
    /// The model searched for tools.
    Search,
    /// The model called a tool of the catalogue that it had not been offered, or one whose definition had changed.
    Call,
}

impl BoundTool {
    /// A tool that the catalogue does not list.
    pub(crate) fn own(name: &str) -> Self {
        Self { name: name.to_owned(), definition: None }
    }

    /// A tool of the catalogue.
    pub(crate) fn catalogued(name: &str, definition: String) -> Self {
        Self { name: name.to_owned(), definition: Some(definition) }
    }

    /// The binding of `name` among `bound`: the last one holds.
    pub(crate) fn of<'b>(bound: &'b [Self], name: &str) -> Option<&'b Self> {
        bound.iter().rev().find(|tool| tool.name == name)
    }

    /// Appends those of `more` that are not there.
    pub(crate) fn append(
        bound: &mut Vec<Self>,
        more: impl IntoIterator<Item = Self>,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for tool in more {
            if Self::of(bound, &tool.name) != Some(&tool) {
                names.push(tool.name.clone());
                bound.push(tool);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::BoundTool;

    proptest! {
        #[test]
        fn what_was_bound_stays_a_prefix_and_the_last_definition_holds(
            finds in prop::collection::vec(prop::collection::vec(("[a-d]", "[0-2]"), 0..5), 0..6)
        ) {
            let mut bound = Vec::new();
            for find in finds {
                let before = bound.clone();
                let tools: Vec<_> =
                    find.iter().map(|(name, hash)| BoundTool::catalogued(name, hash.clone())).collect();
                let names = BoundTool::append(&mut bound, tools.clone());
                prop_assert!(bound.starts_with(&before));
                prop_assert_eq!(names.len(), bound.len() - before.len());
                for tool in &tools {
                    let last = tools.iter().rev().find(|other| other.name == tool.name);
                    prop_assert_eq!(BoundTool::of(&bound, &tool.name), last);
                }
            }
        }
    }
}
