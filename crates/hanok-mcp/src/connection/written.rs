//! Messages as they are written, a line each.

use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest,
    JsonRpcMessage, JsonRpcRequest, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use serde::Serialize;

/// The bytes that a line has room for at first: those of a small call.
const ROOM: usize = 1024;

/// The line of `message`, with its end.
pub(super) fn line(mut message: ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(ROOM);
    match call(&mut message) {
        Some(call) => serde_json::to_writer(&mut line, &call)?,
        None => serde_json::to_writer(&mut line, &message)?,
    }
    line.push(b'\n');
    Ok(line)
}

/// A call of a tool. The library makes values of all its parameters before it writes them, because metadata may stand in two places
/// and is sent in one; here it stands in one already.
#[derive(Serialize)]
struct Calling<'a> {
    jsonrpc: &'a JsonRpcVersion2_0,
    id: &'a RequestId,
    method: &'a CallToolRequestMethod,
    params: &'a CallToolRequestParams,
}

/// The call that `message` is, if it is one, with all its metadata among its parameters.
fn call(message: &mut ClientJsonRpcMessage) -> Option<Calling<'_>> {
    let JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request }) = message else {
        return None;
    };
    let ClientRequest::CallToolRequest(call) = request else { return None };
    if let Some(meta) = call.extensions.remove::<RequestMetaObject>() {
        call.params.meta.get_or_insert_default().0.0.extend(meta.0.0);
    }
    Some(Calling { jsonrpc, id, method: &call.method, params: &call.params })
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, GetMeta, MetaObject, ProgressToken, RequestId};
    use serde_json::{Value, json};

    use super::*;

    /// The line and the library's own, as values.
    fn both(message: ClientJsonRpcMessage) -> [Value; 2] {
        let library = serde_json::to_value(&message).unwrap();
        [serde_json::from_slice(&line(message).unwrap()).unwrap(), library]
    }

    #[test]
    fn a_call_is_written_as_the_library_writes_it() {
        let arguments = json!({"text": "휴가", "n": [1.5, null]}).as_object().cloned().unwrap();
        let meta = json!({"a": 1, "b": 1}).as_object().cloned().unwrap();
        let mut params = CallToolRequestParams::new("echo");
        let bare = params.clone();
        params = params.with_arguments(arguments);
        params.meta = Some(RequestMetaObject(MetaObject(meta)));
        params.request_state = Some("s".to_owned());
        for params in [params, bare] {
            for has_more in [false, true] {
                let mut request = ClientRequest::from(CallToolRequest::new(params.clone()));
                if has_more {
                    let meta = request.get_meta_mut();
                    meta.0.0.insert("b".to_owned(), json!({"c": {}}));
                    meta.set_progress_token(ProgressToken(RequestId::Number(3)));
                }
                let message = JsonRpcMessage::request(request, RequestId::Number(7));
                let [line, library] = both(message);
                assert_eq!(line, library);
            }
        }
    }

    #[test]
    fn each_message_is_one_line() {
        let message: ClientJsonRpcMessage =
            serde_json::from_value(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).unwrap();
        let line = line(message).unwrap();
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    }
}
