//! What is offered, with all that is known of it.

use hanok_core::{Effect, Risk};
use hanok_model::{SharedTool, Tool as _, ToolSpec};

use crate::{
    catalogue::{ToolDefinition, ToolHash},
    config::{ToolApproval, ToolSettings},
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

    /// Whether a person is asked about a call: by the operator's word (`approval`), and without one where `writes` are asked about and
    /// the tool is not known to read only.
    ///
    /// ```
    /// use hanok_agent::{Approval, ApprovalRule};
    /// use hanok_mcp::McpClient;
    ///
    /// /// For an agent that has the tools of the client.
    /// fn approval(client: &McpClient) -> Approval {
    ///     let offer = client.offer().into_iter().filter(|(_, tool)| tool.is_asked_about(true));
    ///     offer.fold(Approval::new(), |all, (name, tool)| {
    ///         all.tool_with(name, ApprovalRule::new().risk(tool.risk))
    ///     })
    /// }
    /// ```
    pub fn is_asked_about(&self, writes: bool) -> bool {
        match self.settings.approval {
            Some(word) => word == ToolApproval::Ask,
            None => writes && self.risk != Risk::Read,
        }
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
    use hanok_model::FnTool;
    use serde_json::json;

    use super::*;
    use crate::connection::Identity;

    fn definition(hints: &serde_json::Value) -> ToolDefinition {
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": hints});
        ToolDefinition::of("s", &serde_json::from_value(tool).unwrap())
    }

    #[test]
    fn the_operator_s_word_counts_before_the_risk() {
        let spec = ToolSpec::new("s__t", "", json!({})).unwrap();
        let tool = SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("".into()) }));
        let definition = definition(&json!({}));
        let hash = definition.hash(&Identity::Address("http://127.0.0.1/".to_owned()));
        for (approval, writes, want) in [
            (Some(ToolApproval::Ask), false, true),
            (Some(ToolApproval::Allow), true, false),
            (None, true, true),
            (None, false, false),
        ] {
            let settings = ToolSettings { approval, ..ToolSettings::default() };
            let offered =
                OfferedTool::new(tool.clone(), definition.clone(), hash.clone(), settings);
            assert_eq!(offered.is_asked_about(writes), want, "{approval:?} {writes}");
        }
    }

    #[test]
    fn a_server_is_believed_where_it_says_the_worse() {
        for (effect, hints, want) in [
            (Effect::Pure, json!({}), Risk::Read),
            (Effect::Pure, json!({"destructiveHint": true}), Risk::Destructive),
            (Effect::Idempotent, json!({}), Risk::External),
            (Effect::Idempotent, json!({"openWorldHint": false}), Risk::Write),
            (Effect::AtMostOnce, json!({"openWorldHint": false}), Risk::Destructive),
        ] {
            assert_eq!(risk(effect, &definition(&hints)), want, "{effect:?} {hints}");
        }
    }
}
