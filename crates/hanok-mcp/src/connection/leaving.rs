//! A call on its way to the server.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProgressToken};

use super::wire::KEY;

/// What is known of a call of a tool when it leaves.
#[derive(Debug)]
pub(super) struct Leaving {
    pub(super) key: String,
    /// By which the server says how far it is.
    pub(super) token: Option<ProgressToken>,
}

impl Leaving {
    /// The call that `message` is, if it is one.
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let key = key(message)?.to_owned();
        Some(Self { key, token: request.request.get_meta().get_progress_token() })
    }
}

/// The key of a call of a tool.
pub(super) fn key(message: &ClientJsonRpcMessage) -> Option<&str> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    call.params.meta.as_ref()?.0.0.get(KEY)?.as_str()
}
