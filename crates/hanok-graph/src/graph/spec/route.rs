//! The routers of branches that are data.

use std::borrow::Cow;

use hanok_state::DynamicState;
use serde_json::Value;
use thiserror::Error;

use super::{BranchSpec, place};
use crate::names::listed;

/// A branch has no case for the value of its field.
#[derive(Debug, Error)]
#[error("field `{field}` is {value}, and the branch has cases for {} alone", listed(cases))]
pub(super) struct NoCase {
    field: String,
    value: String,
    cases: Vec<String>,
}

/// The longest part of a value that an error repeats, in characters.
const SHOWN: usize = 80;

impl BranchSpec {
    /// The targets.
    pub(super) fn targets(&self) -> impl Iterator<Item = &str> {
        self.cases.values().chain(&self.otherwise).map(String::as_str)
    }

    /// The target for `state`.
    pub(super) fn route(&self, state: &DynamicState) -> Result<String, NoCase> {
        let value = state.get(&self.field).unwrap_or_default();
        let target = self.cases.get(text(&value).as_ref()).or(self.otherwise.as_ref());
        let target = target.map(|target| place(target).to_owned());
        target.ok_or_else(|| NoCase {
            field: self.field.clone(),
            value: value.to_string().chars().take(SHOWN).collect(),
            cases: self.cases.keys().cloned().collect(),
        })
    }
}

/// A value as a case names it.
fn text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}
