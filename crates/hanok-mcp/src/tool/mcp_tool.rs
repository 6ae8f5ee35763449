//! One tool of one server.

use std::{pin::pin, sync::Arc, time::Duration};

use hanok_core::{BoxError, Call, Effect};
use hanok_model::{Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;

use super::{
    effect::effect,
    result::{Schema, compiled, output},
};
use crate::{
    catalogue::Entry,
    elicitation::PATIENCE,
    server::{Server, Target},
};

/// The longest time for which one run waits for a task of a server. A later run waits on.
const LONGEST_TASK: Duration = Duration::from_secs(24 * 3600);

/// The questions of one call that may each take a person all of their time.
const MOST_PATIENCE: u32 = 16;

/// A tool of a server, as it was approved.
#[derive(Debug)]
pub(crate) struct McpTool {
    spec: ToolSpec,
    target: Target,
    output: Schema,
    server: Arc<Server>,
}

impl McpTool {
    pub(crate) fn new(
        entry: &Entry,
        spec: ToolSpec,
        server: Arc<Server>,
    ) -> Result<Self, BoxError> {
        let definition = &entry.definition;
        let output = Schema(compiled(definition.output_schema())?);
        let effect = effect(&server.config, definition);
        let target = Target { id: definition.id().clone(), hash: entry.hash.clone(), effect };
        Ok(Self { spec, target, output, server })
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.target.effect
    }

    /// Each request's own time is bounded within; this is what a task of the server and persons who are asked at once may take
    /// beside it.
    fn timeout(&self) -> Duration {
        let config = &self.server.config;
        config
            .tool_timeout()
            .saturating_add(config.startup_timeout().saturating_mul(2))
            .saturating_mul(2)
            .saturating_add(PATIENCE.saturating_mul(MOST_PATIENCE))
            .saturating_add(LONGEST_TASK)
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        // Pinned here, for whatever it is handed to would have room for it twice.
        let mut made = pin!(async {
            let result = self.server.call(&self.target, arguments, call).await?;
            output(result, self.output.0.as_ref())
        });
        // A call that is under way is no new one: refused here, its task or its answers would be lost.
        match Server::is_under_way(call) {
            true => made.await,
            false => self.server.breaker.guard(call, made.as_mut()).await,
        }
    }
}
