//! Answers that have to fit a JSON Schema.

use hanok_core::Stored;
use schemars::JsonSchema;
use serde_json::Value;

/// The JSON Schema of `T`, as text.
pub(crate) fn of<T: JsonSchema>() -> String {
    schemars::schema_for!(T).to_value().to_string()
}

/// The parts of `answer` that do not fit `schema`, each with its path.
pub(crate) fn faults(schema: &str, answer: &Stored) -> Vec<String> {
    let unusable = |reason: String| vec![format!("the question's schema cannot be used: {reason}")];
    let schema: Value = match serde_json::from_str(schema) {
        Ok(schema) => schema,
        Err(error) => return unusable(error.to_string()),
    };
    let validator = match jsonschema::validator_for(&schema) {
        Ok(validator) => validator,
        Err(error) => return unusable(error.to_string()),
    };
    let answer: Value = match answer.decode() {
        Ok(answer) => answer,
        Err(error) => return vec![format!("it is not JSON: {error}")],
    };
    let faults = validator.iter_errors(&answer).map(|error| {
        let path = error.instance_path().to_string();
        if path.is_empty() { error.to_string() } else { format!("at `{path}`: {error}") }
    });
    faults.collect()
}
