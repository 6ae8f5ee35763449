//! What is offered, with all that is known of it.

use hanok_core::{Effect, Risk};
use hanok_model::{SharedTool, Tool as _, ToolSpec};

use crate::{
    catalogue::{ToolDefinition, ToolHash},
    config::ToolSettings,
    id::ToolId,
};

/// An approved tool that there is: to call, with what its server and the operator say of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OfferedTool {
    /// The tool.
    pub tool: SharedTool,
    /// The definition, as the server lists it.
    pub definition: ToolDefinition,
    /// The hash of the definition and of what its server is. A rule that says "always" is for this one.
    pub hash: ToolHash,
    /// What a call may do to the world: by the tool's [`Effect`]. A tool that its server calls destructive counts as that, and one that
    /// writes reaches somebody outside unless its server says that it does not.
    pub risk: Risk,
    /// The operator's settings.
    pub settings: ToolSettings,
}

impl OfferedTool {
    pub(super) fn new(
        tool: SharedTool,
        definition: ToolDefinition,
        hash: ToolHash,
        settings: ToolSettings,
    ) -> Self {
        let risk = risk(tool.effect(), &definition);
        Self { tool, definition, hash, risk, settings }
    }

    /// The tool's name and its server's.
    pub fn id(&self) -> &ToolId {
        self.definition.id()
    }

    /// What a model is shown.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }
}

fn risk(effect: Effect, definition: &ToolDefinition) -> Risk {
    let hints = definition.annotations();
    match Risk::from(effect) {
        _ if hints.destructive_hint == Some(true) => Risk::Destructive,
        Risk::Write if hints.open_world_hint != Some(false) => Risk::External,
        by_effect => by_effect,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_is_believed_where_it_says_the_worse() {
        for (effect, hints, want) in [
            (Effect::Pure, json!({}), Risk::Read),
            (Effect::Pure, json!({"destructiveHint": true}), Risk::Destructive),
            (Effect::Idempotent, json!({}), Risk::External),
            (Effect::Idempotent, json!({"openWorldHint": false}), Risk::Write),
            (Effect::AtMostOnce, json!({"openWorldHint": false}), Risk::Destructive),
        ] {
            let tool =
                json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": hints});
            let definition = ToolDefinition::of("s", &serde_json::from_value(tool).unwrap());
            assert_eq!(risk(effect, &definition), want, "{effect:?} {hints}");
        }
    }
}
