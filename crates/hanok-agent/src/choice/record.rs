//! A choice with its result, as a line of JSON.

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use super::entry::{Choice, ChoiceResult, Outcomes};

/// A choice, what came of it, and the total of that: one line of [`Choices::write_jsonl`](crate::Choices::write_jsonl).
///
/// A line has three members. [`json_schema`](Self::json_schema) says all of them:
///
/// | member | what it is |
/// | --- | --- |
/// | `choice` | the choice: `id`, `at` (milliseconds since 1970), `agent`, `kind`, `question`, `options`, `chosen`, `dropped`, `reason`, `confidence`, `by`, `inputs` |
/// | `result` | what each of the chosen came to, `null` while nothing is known |
/// | `total` | the same together: `count`, `failed`, `millis`, `error`; `null` with `result` |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(
    description = "A choice, what each of the chosen came to, and what they came to together."
)]
#[non_exhaustive]
pub struct ChoiceRecord {
    /// The choice.
    pub choice: Choice,
    /// What came of it.
    pub result: Option<ChoiceResult>,
    /// What came of all that was chosen together.
    pub total: Option<Outcomes>,
}

impl ChoiceRecord {
    /// The record of a choice.
    #[must_use]
    pub fn new(choice: Choice, result: Option<&ChoiceResult>) -> Self {
        Self { choice, result: result.cloned(), total: result.map(ChoiceResult::total) }
    }

    /// The JSON Schema of a line.
    ///
    /// ```
    /// use hanok_agent::ChoiceRecord;
    ///
    /// let schema = ChoiceRecord::json_schema();
    /// assert_eq!(schema.get("title").and_then(|title| title.as_str()), Some("ChoiceRecord"));
    /// ```
    #[must_use]
    pub fn json_schema() -> Schema {
        schema_for!(Self)
    }
}
