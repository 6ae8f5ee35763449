//! A field that is declared at run time.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rule::DynamicRule;

/// One field that is declared at run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamicField {
    /// How what is written to it is merged.
    #[serde(rename = "reduce")]
    pub rule: DynamicRule,
    /// Its value before the first write; `None` for what the rule begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether it is left out of what a run returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Whether it is there only in the super-step after that which wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

impl DynamicField {
    /// A field with this rule.
    #[must_use]
    pub fn new(rule: DynamicRule) -> Self {
        Self { rule, default: None, private: false, ephemeral: false }
    }

    /// The value before the first write: an array under `append` and `messages`, an object under `merge`, a number
    /// under `sum`. Default: what the rule begins with.
    #[must_use]
    pub fn default(self, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    /// Leaves the field out of what a run returns. Default: it is returned.
    #[must_use]
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Keeps what is written for the next super-step alone. Default: until it is overwritten.
    #[must_use]
    pub fn ephemeral(self) -> Self {
        Self { ephemeral: true, ..self }
    }
}

impl From<DynamicRule> for DynamicField {
    fn from(rule: DynamicRule) -> Self {
        Self::new(rule)
    }
}
