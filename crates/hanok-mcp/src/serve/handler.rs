//! The server as its clients see it.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    call::{ClientAsks, ServedCall, Stops, unknown},
    serving::Serving,
};
use crate::connection::CALL_KEY;

/// The tools of a server, for one client or for all.
#[derive(Debug, Clone)]
pub struct Handler {
    pub(super) serving: Arc<Serving>,
    /// Cancelled when the connection is over, or the server.
    pub(super) closing: CancellationToken,
}

impl Handler {
    /// A handler for connections that end at the latest with the server.
    pub(super) fn new(serving: &Arc<Serving>) -> Self {
        Self { serving: serving.clone(), closing: serving.closing.child_token() }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let Serving { name, version, instructions, .. } = &*self.serving;
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        let info = info.with_server_info(Implementation::new(name.clone(), version.clone()));
        match instructions {
            Some(instructions) => info.with_instructions(instructions.clone()),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.serving.tools.values().map(|served| served.tool.listed());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.serving.tools.get(name).map(|served| served.tool.listed())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let served =
            self.serving.tools.get(&*request.name).ok_or_else(|| unknown(&request.name))?;
        let arguments = request.arguments.unwrap_or_default();
        served.check(&arguments)?;
        let by = self.serving.caller(context.extensions.get())?;
        let is_new = context.protocol_version() >= Some(ProtocolVersion::V_2026_07_28);
        let asks = context.client_capabilities().and_then(|client| client.elicitation);
        let asks = asks.filter(|_| is_new).map(|elicitation| ClientAsks {
            // A client that says no more than that it asks, asks with forms.
            forms: elicitation.form.is_some() || elicitation.url.is_none(),
            addresses: elicitation.url.is_some(),
        });
        let key = context.meta.0.0.get(CALL_KEY).and_then(Value::as_str);
        let call = ServedCall {
            serving: &self.serving,
            tool: &served.tool,
            arguments,
            key: key.map(str::to_owned),
            state: request.request_state,
            responses: request.input_responses.unwrap_or_default(),
            by,
            asks: asks.unwrap_or_default(),
            stop: Stops { request: context.ct, connection: self.closing.clone() },
        };
        call.make().await
    }
}
