//! Asking people about the definitions of tools, before these are offered.

use hanok_agent::{Decision, Gate, GateError, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::Context;
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::mcp_client::McpClient;
use crate::{catalogue::Change, error::McpError};

/// A difference between a tool and what was approved of it, as people are shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShownChange {
    /// What has happened, in words.
    pub change: String,
    /// The hash that is approved with it, `None` for a tool that is gone.
    pub hash: Option<String>,
    /// The difference, a line each, with hidden characters as escapes.
    pub difference: String,
}

impl From<&Change> for ShownChange {
    fn from(change: &Change) -> Self {
        Self {
            change: change.to_string(),
            hash: change.hash().map(ToString::to_string),
            difference: change.difference(),
        }
    }
}

/// What people have decided about the definitions of tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DefinitionsDecided {
    /// What they were shown.
    pub changes: Vec<ShownChange>,
    /// True when they have approved it.
    pub is_approved: bool,
}

/// The reason why there is no decision about the definitions of tools.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DefinitionsError {
    /// People are asked, and the run ends for it; hand it on. Or they cannot be asked.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// What they approved cannot be written down.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// What is shown is no JSON.
    #[error("the definitions cannot be shown")]
    Shown(#[source] serde_json::Error),
}

impl McpClient {
    /// Asks people about `changes`, at the gate [`Gate::Definitions`], and approves what they were shown if they say so; what has
    /// changed since then waits as before. Nobody is asked about nothing.
    ///
    /// ```
    /// use hanok_core::BoxError;
    /// use hanok_graph::Context;
    /// use hanok_mcp::McpClient;
    ///
    /// /// For a node: the run ends with the question, and goes on with the decision, in whatever process.
    /// async fn look(client: &McpClient, context: &Context) -> Result<(), BoxError> {
    ///     client.refresh().await;
    ///     let decided = client.ask_about(&client.pending(), context).await?;
    ///     if !decided.is_approved {
    ///         println!("{} tools are not offered", decided.changes.len());
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DefinitionsError`]: return it with `?`, for the run ends so that people can be asked. [`McpError::ReadOnly`] for a client that
    /// is locked, before anybody is asked.
    pub async fn ask_about<C: Send + Sync + 'static>(
        &self,
        changes: &[Change],
        context: &Context<C>,
    ) -> Result<DefinitionsDecided, DefinitionsError> {
        let show = || async {
            Ok::<_, BoxError>(changes.iter().map(ShownChange::from).collect::<Vec<_>>())
        };
        let shown = context.step("definitions", show).await;
        let changes =
            shown.map_err(|source| GateError::Step { gate: Gate::Definitions, source })?;
        if changes.is_empty() {
            return Ok(DefinitionsDecided { changes, is_approved: false });
        }
        if self.is_locked() {
            return Err(McpError::ReadOnly.into());
        }
        let shown = json!({ "changes": changes });
        let question = "May these tools be offered, as their servers describe them?";
        let question = GateQuestion::new(Gate::Definitions, question, &shown)
            .map_err(DefinitionsError::Shown)?;
        let decision = question.risk(Risk::External).ask(context).await?;
        let is_approved = decision == Decision::Approve;
        if is_approved {
            let pending = self.pending();
            let seen =
                pending.iter().filter(|change| changes.contains(&ShownChange::from(*change)));
            self.approve(seen)?;
        }
        Ok(DefinitionsDecided { changes, is_approved })
    }
}
