//! What a call of a tool may do to the world.

use hanok_core::Effect;

use crate::{catalogue::ToolDefinition, config::ServerConfig};

/// The effect of `tool`: the operator's word, else the server's where the operator trusts it, else the worst.
pub(super) fn effect(config: &ServerConfig, tool: &ToolDefinition) -> Effect {
    if let Some(effect) = config.tool(tool.id().tool()).effect {
        return effect;
    }
    let said = tool.annotations();
    match (config.trusts_annotations, said.read_only_hint, said.idempotent_hint) {
        (true, Some(true), _) => Effect::Pure,
        (true, _, Some(true)) => Effect::Idempotent,
        _ => Effect::AtMostOnce,
    }
}
