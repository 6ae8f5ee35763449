//! Results of servers as outputs of tools.

use std::fmt;

use hanok_core::BoxError;
use hanok_model::{ToolError, ToolOutput};
use jsonschema::Validator;
use rmcp::model::CallToolResult;
use serde_json::Value;
use thiserror::Error;

use crate::{
    content::block,
    text::{CUT, cut, line},
};

/// The most bytes of a failure that is told.
const LONGEST: usize = 256 * 1024;

/// The most mistakes that are named of a structured result.
const MISTAKES: usize = 5;

/// The reason for which a result is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResultFault {
    /// The tool says that it failed, in its own words.
    #[error("{0}")]
    Reported(String),
    /// The structured result is not what the tool's own schema says. The tool was called all the same.
    #[error("the tool was called, and its result does not fit its own schema{}", listed(mistakes))]
    Misfit {
        /// The mistakes, a sentence each.
        mistakes: Vec<String>,
    },
}

fn listed(mistakes: &[String]) -> String {
    mistakes.iter().map(|mistake| format!("; {mistake}")).collect()
}

/// The output of a tool that `result` is. It has failed when it says so by its flag, and never because of its words.
pub(super) fn output(
    result: CallToolResult,
    schema: Option<&Validator>,
) -> Result<ToolOutput, ToolError> {
    let text = text(&result);
    let is_error = result.is_error == Some(true);
    if is_error {
        let text = if text.is_empty() { "the tool failed and does not say why" } else { &text };
        return Err(ToolError::failed(ResultFault::Reported(shortened(text))));
    }
    if let Some(schema) = schema {
        let mistakes = match &result.structured_content {
            Some(structured) => mistakes(schema, structured),
            None => vec!["there is no structured result".to_owned()],
        };
        if !mistakes.is_empty() {
            return Err(ToolError::failed(ResultFault::Misfit { mistakes }));
        }
    }
    let text = match &result.structured_content {
        Some(structured) if text.is_empty() => structured.to_string(),
        _ => text,
    };
    // It is whole: an agent shows its model no more than that can take, and stores the rest.
    let output = ToolOutput::new(text);
    Ok(match result.structured_content {
        Some(structured) => output.data(structured),
        None => output,
    })
}

/// The texts of a result, with a line for all that is none.
fn text(result: &CallToolResult) -> String {
    result.content.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str) -> String {
    match cut(text, LONGEST.saturating_sub(CUT.len())) {
        _ if text.len() <= LONGEST => text.to_owned(),
        (start, _) => format!("{start}{CUT}"),
    }
}

fn mistakes(schema: &Validator, structured: &Value) -> Vec<String> {
    let errors = schema.iter_errors(structured).take(MISTAKES);
    let sentence = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().as_str().to_owned();
        let place = if place.is_empty() { "the whole".to_owned() } else { line(&place, 128) };
        format!("{place}: {}", line(&error.masked().to_string(), 256))
    };
    errors.map(sentence).collect()
}

/// A schema that was compiled, `None` where a tool has none.
pub(super) fn compiled(schema: Option<&Value>) -> Result<Option<Validator>, BoxError> {
    schema.map(crate::catalogue::compiled).transpose()
}

/// A validator without a form of its own to show.
pub(super) struct Schema(pub(super) Option<Validator>);

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Schema" } else { "no schema" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made(result: Value, schema: Option<Value>) -> Result<(String, Option<Value>), String> {
        let schema = compiled(schema.as_ref()).unwrap();
        let output = output(serde_json::from_value(result).unwrap(), schema.as_ref());
        output
            .map(|output| (output.text, output.data.map(|data| data.0)))
            .map_err(|error| error.report())
    }

    #[test]
    fn a_result_is_its_texts_and_a_line_for_all_else() {
        let picture = "A".repeat(400);
        let result = json!({"content": [
            {"type": "text", "text": "이틀"},
            {"type": "image", "mimeType": "image/png", "data": picture},
            {"type": "resource_link", "uri": "http://127.0.0.1/\u{202e}a", "name": "n\nm", "mimeType": "text/plain"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
        ]});
        let want = "이틀\n[image, image/png, about 300 bytes]\n[resource n m <http://127.0.0.1/\\u{202e}a>, text/plain]\n\
                    [resource <file:///a>]\ninside\n[resource <file:///b>]";
        assert_eq!(made(result, None), Ok((want.to_owned(), None)));
    }

    /// P44: success is what the flag says.
    #[test]
    fn success_is_what_the_flag_says_and_never_the_words() {
        for (text, flag, fails) in [
            ("Error: everything failed", json!(false), false),
            ("error", Value::Null, false),
            ("done, all is well", json!(true), true),
        ] {
            let result = json!({"content": [{"type": "text", "text": text}], "isError": flag});
            let want = if fails { Err(text.to_owned()) } else { Ok((text.to_owned(), None)) };
            assert_eq!(made(result, None), want);
        }
    }

    #[test]
    fn a_structured_result_is_checked_and_handed_on() {
        let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
        let result = |structured: Value| json!({"content": [], "structuredContent": structured});
        let fits = json!({"days": 15});
        assert_eq!(
            made(result(fits.clone()), Some(schema.clone())),
            Ok((fits.to_string(), Some(fits)))
        );
        let error = made(result(json!({"days": "many"})), Some(schema.clone())).unwrap_err();
        assert_eq!(
            error,
            "the tool was called, and its result does not fit its own schema; /days: value is not of type \"integer\""
        );
        let error =
            made(json!({"content": [{"type": "text", "text": "15"}]}), Some(schema)).unwrap_err();
        assert!(error.ends_with("there is no structured result"), "{error}");
    }

    #[test]
    fn a_long_result_is_whole_and_a_long_failure_is_cut_at_a_character() {
        let whole = "휴".repeat(LONGEST);
        let result = |flag: bool| json!({"content": [{"type": "text", "text": whole}], "isError": flag, "structuredContent": 1});
        assert_eq!(made(result(false), None), Ok((whole.clone(), Some(json!(1)))));
        let text = made(result(true), None).unwrap_err();
        assert!(text.len() <= LONGEST && text.ends_with("휴 […]"), "{}", text.len());
    }
}
