//! One call of one tool: what is checked before it, and what becomes of it when the connection is lost.

use std::{pin::pin, sync::Arc};

use futures::future::{Either, select};
use hanok_core::{Call, Effect};
use hanok_graph::NotMade;
use hanok_model::ToolError;
use rmcp::model::{CallToolResult, JsonObject};

use super::handle::Server;
use crate::{
    catalogue::ToolHash,
    connection::{CallFailure, Live},
    error::{McpError, ServerError},
    id::ToolId,
};

/// The code of JSON-RPC for arguments that do not fit, and for a tool that is not known.
const INVALID_PARAMS: i32 = -32602;

/// The tool of a call, as it was approved.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) id: ToolId,
    pub(crate) hash: ToolHash,
    pub(crate) effect: Effect,
}

/// The outcome of one attempt.
#[derive(Debug)]
enum Made {
    /// The server's result.
    Result(CallToolResult),
    /// The connection was lost before the server had taken the call, or the call may be repeated: another attempt is allowed.
    Again(ToolError),
}

impl Server {
    /// Makes one call of `target`, if it is still what was approved.
    pub(crate) async fn call(
        &self,
        target: &Target,
        arguments: &JsonObject,
        call: &Call,
    ) -> Result<CallToolResult, ToolError> {
        match self.attempt(target, arguments, call).await? {
            Made::Result(result) => Ok(result),
            Made::Again(_) => match self.attempt(target, arguments, call).await? {
                Made::Result(result) => Ok(result),
                Made::Again(error) => Err(error),
            },
        }
    }

    async fn attempt(
        &self,
        target: &Target,
        arguments: &JsonObject,
        call: &Call,
    ) -> Result<Made, ToolError> {
        let (live, identity) = self.live().await.map_err(|error| self.not_made(error))?;
        let listing = match self.listing(&live, &identity).await {
            Ok(listing) => listing,
            // The connection was given up: one that was stuck is made again.
            Err(error) => {
                let again = is_of_connection(&error) || matches!(error, ServerError::Silent { .. });
                let error = unmade(self.error(error));
                return if again { Ok(Made::Again(error)) } else { Err(error) };
            }
        };
        match listing.tools.get(target.id.tool()) {
            None => return Err(unmade(McpError::ToolGone { tool: target.id.clone() })),
            Some(entry) if entry.hash != target.hash => {
                return Err(unmade(McpError::ToolChanged { tool: target.id.clone() }));
            }
            Some(_) => {}
        }
        let after = self.config.tool_timeout();
        let calling = live.call(target.id.tool(), arguments.clone(), call);
        let made = match select(pin!(calling), call.clock().sleep(after)).await {
            Either::Left((made, _)) => made,
            Either::Right(_) => {
                // One that is silent for good is started anew by the next call: it does not list its tools either.
                self.doubt_listing();
                return Err(ToolError::TimedOut { after });
            }
        };
        match made {
            Ok(result) => Ok(Made::Result(result)),
            Err(failure) => self.failed(target, &live, failure).await,
        }
    }

    /// The outcome of a call without a result.
    async fn failed(
        &self,
        target: &Target,
        live: &Arc<Live>,
        failure: CallFailure,
    ) -> Result<Made, ToolError> {
        match failure {
            CallFailure::Refused(error @ ServerError::Refused { code: INVALID_PARAMS, .. }) => {
                self.doubt_listing();
                Err(ToolError::arguments(self.error(error)))
            }
            CallFailure::Refused(error) => Err(ToolError::failed(self.error(error))),
            CallFailure::NotTaken(error) => {
                self.drop_connection(live).await;
                let again = is_of_connection(&error);
                let error = self.not_made(error);
                if again { Ok(Made::Again(error)) } else { Err(error) }
            }
            CallFailure::Lost(error) => {
                self.drop_connection(live).await;
                let again = is_of_connection(&error) && target.effect != Effect::AtMostOnce;
                let error = self.error(self.noted(error));
                match target.effect {
                    Effect::AtMostOnce => Err(ToolError::InDoubt(error.into())),
                    _ if again => Ok(Made::Again(ToolError::failed(error))),
                    _ => Err(ToolError::failed(error)),
                }
            }
        }
    }

    fn error(&self, source: ServerError) -> McpError {
        McpError::Server { server: self.name().to_owned(), source }
    }

    fn not_made(&self, error: ServerError) -> ToolError {
        unmade(self.error(self.noted(error)))
    }
}

/// The error of a call that the server surely has not taken.
fn unmade(error: McpError) -> ToolError {
    ToolError::failed(NotMade(error.into()))
}

/// True for an error after which the same may go well: the server itself has done nothing wrong.
fn is_of_connection(error: &ServerError) -> bool {
    matches!(error, ServerError::Ended { .. } | ServerError::Connection(_))
}
