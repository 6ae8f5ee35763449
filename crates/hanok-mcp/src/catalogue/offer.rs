//! Which tools can be offered to a model at all.

use std::{collections::BTreeMap, fmt};

use hanok_core::BoxError;
use hanok_model::ToolSpec;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::{definition::ToolDefinition, snapshot::Entry};
use crate::id::ToolId;

/// The most steps back of a schema's pattern.
const BACKTRACKS: usize = 10_000;

/// The most bytes of a schema that a model is shown.
const LONGEST_SCHEMA: usize = 256 * 1024;

/// A tool that is not offered although it was approved.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The tool.
    pub tool: ToolId,
    /// The reason.
    pub reason: BoxError,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = crate::text::line(&self.reason.to_string(), 1024);
        write!(f, "`{}` is not offered: {reason}", self.tool)
    }
}

/// Compiles `schema`. What it refers to has to stand in it: nothing is fetched.
pub(crate) fn compiled(schema: &Value) -> Result<Validator, BoxError> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .build(schema)
        .map_err(|error| error.to_string().into())
}

/// The specs of those of `entries` that can be offered, and the refusals of the others.
pub(crate) fn specs(
    entries: impl IntoIterator<Item = Entry>,
) -> (Vec<(Entry, ToolSpec)>, Vec<Refusal>) {
    let mut by_name = BTreeMap::<String, Vec<Entry>>::new();
    for entry in entries {
        by_name.entry(entry.definition.id().model_name()).or_default().push(entry);
    }
    let (mut offered, mut refusals) = (Vec::new(), Vec::new());
    for (name, entries) in by_name {
        let collides = entries.len() > 1;
        for entry in entries {
            let spec = match collides {
                true => Err(format!("another tool is `{name}` to models, too").into()),
                false => spec(&name, &entry.definition),
            };
            match spec {
                Ok(spec) => offered.push((entry, spec)),
                Err(reason) => {
                    refusals.push(Refusal { tool: entry.definition.id().clone(), reason })
                }
            }
        }
    }
    offered.sort_by(|a, b| a.0.definition.id().cmp(b.0.definition.id()));
    (offered, refusals)
}

fn spec(name: &str, definition: &ToolDefinition) -> Result<ToolSpec, BoxError> {
    let size = serde_json::to_vec(definition.input_schema())?.len();
    if size > LONGEST_SCHEMA {
        return Err(format!(
            "its arguments' schema has {size} bytes, and {LONGEST_SCHEMA} are taken"
        )
        .into());
    }
    compiled(definition.input_schema())
        .map_err(|error| format!("its arguments' schema cannot be used ({error})"))?;
    if let Some(schema) = definition.output_schema() {
        compiled(schema)
            .map_err(|error| format!("its results' schema cannot be used ({error})"))?;
    }
    let schema = visible(definition.input_schema());
    if let Some(text) = hidden(&schema) {
        return Err(format!(
            "its arguments' schema hides something: {}",
            crate::text::line(text, 256)
        )
        .into());
    }
    Ok(ToolSpec::new(name, definition.shown_description(), schema)?)
}

/// A text of `schema` with characters that a person does not see. Names and values cannot be shown as escapes: they are sent.
fn hidden(schema: &Value) -> Option<&str> {
    let hides = |text: &str| crate::text::shown(text, usize::MAX) != text;
    match schema {
        Value::String(text) => Some(text.as_str()).filter(|text| hides(text)),
        Value::Array(list) => list.iter().find_map(hidden),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            Some(name.as_str()).filter(|name| hides(name)).or_else(|| hidden(value))
        }),
        _ => None,
    }
}

/// The schema with the hidden characters of its descriptions as escapes. What is checked and sent is the schema itself.
fn visible(schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(visible).collect(),
        Value::Object(fields) => {
            let shown = fields.iter().map(|(name, value)| {
                let value = match value
                    .as_str()
                    .filter(|_| matches!(name.as_str(), "description" | "title" | "$comment"))
                {
                    Some(text) => crate::text::shown(text, 4 * 1024).into(),
                    None => visible(value),
                };
                (name.clone(), value)
            });
            Value::Object(shown.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::connection::Identity;

    fn entry(description: &str) -> Entry {
        let tool =
            json!({"name": "t", "description": description, "inputSchema": {"type": "object"}});
        let definition = ToolDefinition::of("s", &serde_json::from_value(tool).unwrap());
        Entry::new(definition, Identity::Address("http://127.0.0.1/".to_owned()))
    }

    /// P44: of tools that models would call by one name none is offered.
    #[test]
    fn tools_of_one_name_are_all_refused() {
        let (offered, refusals) = specs([entry("one"), entry("other")]);
        assert_eq!(offered.len(), 0);
        let words: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["`s/t` is not offered: another tool is `s__t` to models, too"; 2]);
        assert_eq!(specs([entry("one")]).0.len(), 1);
    }
}
