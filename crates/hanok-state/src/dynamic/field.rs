//! A field that is declared at run time.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rule::DynamicRule;

/// One field that is declared at run time.
///
/// ```
/// use hanok_state::{DynamicField, DynamicRule, DynamicSchema};
///
/// let schema = DynamicSchema::new("chat")
///     .field("limit", DynamicField::new(DynamicRule::Last).default(3))
///     .field("plan", DynamicField::new(DynamicRule::Last).private().ephemeral());
/// assert_eq!(schema.state()?.get("limit"), Some(3.into()));
/// assert_eq!(
///     serde_json::to_string(&schema)?,
///     r#"{"limit":{"reduce":"last","default":3},"plan":{"reduce":"last","private":true,"ephemeral":true}}"#
/// );
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamicField {
    /// The rule by which writes are merged.
    #[serde(rename = "reduce")]
    pub rule: DynamicRule,
    /// The value before the first write. `None` for the value that the rule begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// True for a field that a run does not return.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// True for a field that has its value only in the super-step after the write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

impl DynamicField {
    /// Makes a field with this rule.
    #[must_use]
    pub fn new(rule: DynamicRule) -> Self {
        Self { rule, default: None, private: false, ephemeral: false }
    }

    /// Sets the value before the first write: an array under `append` and `messages`, an object under `merge`, a number under
    /// `sum`. Default: the value that the rule begins with.
    #[must_use]
    pub fn default(self, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    /// Leaves the field out of the state that a run returns. Default: it is returned.
    #[must_use]
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Keeps a write for the next super-step alone. Default: until the next write.
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
