//! Answers that have to fit a JSON Schema.

use hanok_core::Stored;
use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use schemars::JsonSchema;
use serde_json::Value;

/// The JSON Schema of `T`, as text.
pub(crate) fn of<T: JsonSchema>() -> String {
    schemars::schema_for!(T).to_value().to_string()
}

/// The parts of `answer` that do not fit `schema`, each with its path, and none in its own words: it may be secret.
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
    let mut faults = Vec::new();
    for error in validator.iter_errors(&answer) {
        list(&error, &mut faults);
    }
    faults
}

/// Lists what is wrong: where several forms are allowed, what is with the one that was meant.
fn list(error: &ValidationError<'_>, faults: &mut Vec<String>) {
    let path = error.instance_path().as_str();
    let form = match error.kind() {
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
            if let Some(decisions) = decisions(context) {
                faults
                    .push(format!("at `/decision`: one of {} was expected", decisions.join(", ")));
                return;
            }
            meant(context, path)
        }
        _ => None,
    };
    if let Some(form) = form {
        form.iter().for_each(|error| list(error, faults));
        return;
    }
    let words = match error.kind() {
        Kind::PropertyNames { error } => format!("a name: {}", error.masked()),
        _ => error.masked().to_string(),
    };
    faults.push(if path.is_empty() { words } else { format!("at `{path}`: {words}") });
}

/// The decisions of all the forms, where none of them is for the one that was taken.
fn decisions(forms: &[Vec<ValidationError<'static>>]) -> Option<Vec<String>> {
    let decision = |errors: &Vec<ValidationError<'static>>| {
        errors.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } if error.instance_path().as_str() == "/decision" => {
                Some(expected_value.to_string())
            }
            _ => None,
        })
    };
    forms.iter().map(decision).collect()
}

/// The errors of the form that what stands at `path` is meant in: of those that are for its decision and its type, if there are any, the
/// one with the fewest.
fn meant<'a>(
    forms: &'a [Vec<ValidationError<'static>>],
    path: &str,
) -> Option<&'a [ValidationError<'static>]> {
    let forms = forms.iter().map(Vec::as_slice).filter(|errors| !errors.is_empty());
    forms.min_by_key(|errors| (errors.iter().any(|error| is_of_other(error, path)), errors.len()))
}

/// True if `error` says that what stands at `path` is of another decision or another type.
fn is_of_other(error: &ValidationError<'_>, path: &str) -> bool {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => at == path && property == "decision",
        Kind::Type { .. } => at == path,
        _ => at == "/decision",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults_of(answer: &Value) -> Vec<String> {
        let form = |decision: &str, more: Value| {
            json!({
                "type": "object",
                "properties": {"decision": {"const": decision}, "arguments": more},
                "required": ["decision"],
                "additionalProperties": false,
            })
        };
        let arguments = json!({
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "pin": {"type": "string", "maxLength": 4, "writeOnly": true},
                "at": {"anyOf": [{"type": "null"}, {"properties": {"hour": {"type": "integer"}}, "type": "object"}]},
            },
            "additionalProperties": false,
        });
        let forms = json!({"oneOf": [form("approve", false.into()), form("edit", arguments)]});
        faults(&forms.to_string(), &Stored::encode(answer).unwrap())
    }

    #[test]
    fn what_is_wrong_with_the_form_that_was_meant_is_listed_and_no_value_of_it() {
        let edit = |arguments: Value| json!({"decision": "edit", "arguments": arguments});
        for (answer, want) in [
            (edit(json!({"to": "ann", "at": {"hour": 3}})), vec![]),
            (edit(json!({"to": 7})), vec!["at `/arguments/to`: value is not of type \"string\""]),
            (
                edit(json!({"pin": "4711-secret"})),
                vec!["at `/arguments/pin`: value is longer than 4 characters"],
            ),
            (
                edit(json!({"cc": "4711-secret"})),
                vec![
                    "at `/arguments`: Additional properties are not allowed ('cc' was unexpected)",
                ],
            ),
        ] {
            assert_eq!(faults_of(&answer), want, "{answer}");
        }
        for (answer, holds) in [
            (edit(json!({"at": {"hour": "4711-secret"}})), "at `/arguments/at/hour`"),
            (
                json!({"decision": "guess", "arguments": "4711-secret"}),
                "at `/decision`: one of \"approve\", \"edit\" was expected",
            ),
            (json!({"arguments": "4711-secret"}), "decision"),
            (json!("4711-secret"), "value is not of type \"object\""),
        ] {
            let faults = faults_of(&answer).join("; ");
            assert!(faults.contains(holds) && !faults.contains("4711"), "{answer}: {faults}");
        }
    }
}
