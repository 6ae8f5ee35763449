//! What a server says of a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{canonical::feed, snapshot::ToolHash};
use crate::{
    connection::Identity,
    id::ToolId,
    text::{line, shown},
};

/// The longest description that a model is shown.
const LONGEST_DESCRIPTION: usize = 4 * 1024;

/// The hints of a server on what its tool does to the world. They are of a stranger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// The tool is said to change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool is said to destroy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// The tool is said to do nothing more when it is called again alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool is said to reach others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    pub(super) id: ToolId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    pub(super) input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<Value>,
    #[serde(default)]
    pub(super) annotations: Annotations,
}

impl ToolDefinition {
    /// The definition of `tool`, as `server` lists it.
    pub(crate) fn of(server: &str, tool: &rmcp::model::Tool) -> Self {
        let said = tool.annotations.as_ref();
        let annotations = said.map(|said| Annotations {
            read_only_hint: said.read_only_hint,
            destructive_hint: said.destructive_hint,
            idempotent_hint: said.idempotent_hint,
            open_world_hint: said.open_world_hint,
        });
        let title = tool.title.clone().or_else(|| said.and_then(|said| said.title.clone()));
        Self {
            id: ToolId::new(server, tool.name.as_ref()),
            title,
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
            output_schema: tool
                .output_schema
                .as_ref()
                .map(|schema| Value::Object(schema.as_ref().clone())),
            annotations: annotations.unwrap_or_default(),
        }
    }

    /// The tool's name and its server's.
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// The name that the server has for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description, as the server wrote it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The description as a model is shown it: at most 4 KiB, with control, bidirectional, tag and other hidden characters as
    /// escapes.
    pub fn shown_description(&self) -> String {
        shown(&self.description, LONGEST_DESCRIPTION)
    }

    /// The JSON schema of the arguments.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// The JSON schema of structured results, where the server has one.
    pub fn output_schema(&self) -> Option<&Value> {
        self.output_schema.as_ref()
    }

    /// The server's hints on the tool's effects.
    pub fn annotations(&self) -> Annotations {
        self.annotations
    }

    /// The hash over the definition and over what its server is.
    pub(crate) fn hash(&self, identity: &Identity) -> ToolHash {
        self.hashed(Some((&self.id, identity)))
    }

    /// The hash over what the tool does, whatever it is called and wherever it is.
    pub(super) fn content_hash(&self) -> ToolHash {
        self.hashed(None)
    }

    fn hashed(&self, named: Option<(&ToolId, &Identity)>) -> ToolHash {
        let part = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
        let whole = serde_json::json!({
            "named": named.map(|(id, identity)| [part(serde_json::to_value(id)), part(serde_json::to_value(identity))]),
            "title": self.title,
            "description": self.description,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "annotations": part(serde_json::to_value(self.annotations)),
        });
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"hanok-mcp tool 1\n");
        feed(&mut hasher, &whole);
        ToolHash::new(hasher.finalize())
    }

    /// The definition in lines, for people: nothing of it is left out or hidden.
    pub(super) fn lines(&self) -> Vec<String> {
        let visible = |text: &str| shown(text, usize::MAX);
        let name = format!("{}/{}", self.id.server(), self.id.tool());
        let mut lines = vec![format!("name: {}", line(&name, usize::MAX))];
        if let Some(title) = &self.title {
            lines.push(format!("title: {}", visible(title)));
        }
        lines.extend(visible(&self.description).lines().map(|line| format!("description: {line}")));
        let annotations = serde_json::to_value(self.annotations).unwrap_or_default();
        for (name, value) in [
            ("arguments", Some(&self.input_schema)),
            ("result", self.output_schema.as_ref()),
            ("annotations", Some(&annotations).filter(|value| **value != serde_json::json!({}))),
        ] {
            let Some(value) = value else { continue };
            let text = serde_json::to_string_pretty(&sorted(value)).unwrap_or_default();
            lines.extend(visible(&text).lines().map(|line| format!("{name}: {line}")));
        }
        lines
    }
}

/// `value` with its keys in order, so that only what is different differs.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut all: Vec<_> =
                fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(all.into_iter().collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// P44: what differs is seen, however far behind it stands.
    #[test]
    fn definitions_that_differ_anywhere_have_other_lines_and_other_hashes() {
        let identity = Identity::Address("http://127.0.0.1/".to_owned());
        let long = "x".repeat(5_000);
        let tool = |name: &str, title: &str, description: &str, schema: &str| {
            let schema = json!({"type": "object", "$comment": schema});
            let tool = json!({"name": name, "title": title, "description": description, "inputSchema": schema});
            ToolDefinition::of("s", &serde_json::from_value(tool).unwrap())
        };
        let end = |end: &str| format!("{long}{end}");
        let first = tool(&end("a"), &end("a"), &end("a"), &end("a"));
        for other in [
            tool(&end("b"), &end("a"), &end("a"), &end("a")),
            tool(&end("a"), &end("b"), &end("a"), &end("a")),
            tool(&end("a"), &end("a"), &end("b"), &end("a")),
            tool(&end("a"), &end("a"), &end("a"), &end("b")),
        ] {
            assert_ne!(first.lines(), other.lines());
            assert_ne!(first.hash(&identity), other.hash(&identity));
        }
        assert_ne!(
            first.hash(&identity),
            first.hash(&Identity::Address("http://127.0.0.2/".to_owned()))
        );
    }
}
