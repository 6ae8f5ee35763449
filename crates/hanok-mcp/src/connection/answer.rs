//! Messages of a server, the result of a call first of all.

use rmcp::model::{
    CallToolResult, ContentBlock, JsonRpcMessage, JsonRpcResponse, JsonRpcVersion2_0, MetaObject,
    RequestId, ResultType, ServerJsonRpcMessage, ServerResult,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The metadata by which a result is the end of a subscription.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The message that `text` is, if it is one.
pub(super) fn message(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    result_of_call(text).or_else(|| serde_json::from_slice(text).ok())
}

/// The message of `text` where it is the whole result of a call and can be nothing else; `None` where the library has to say what it
/// is. That copies the whole and tries each kind of message and result in turn, which costs more than all else that a call does here.
fn result_of_call(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let Answer { jsonrpc, id, result } = serde_json::from_slice(text).ok()?;
    let is_complete = result.result_type.as_ref().is_none_or(ResultType::is_complete);
    let ends = result.meta.as_ref().is_some_and(|meta| meta.0.contains_key(SUBSCRIPTION));
    if !is_complete || ends {
        return None;
    }
    let mut call = CallToolResult::success(result.content);
    call.result_type = result.result_type;
    call.structured_content = result.structured_content;
    call.is_error = result.is_error;
    call.meta = result.meta;
    let result = ServerResult::CallToolResult(call);
    Some(JsonRpcMessage::Response(JsonRpcResponse { jsonrpc, id, result }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    result: Output,
}

/// A result with contents and without a field of any other kind of result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Output {
    result_type: Option<ResultType>,
    content: Vec<ContentBlock>,
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
}

/// A `null` that is there is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::subsequence};
    use serde_json::json;

    use super::*;

    /// Whether `message` is read at once; then the library reads the same.
    fn is_read_at_once(message: &Value) -> bool {
        let line = message.to_string();
        let Some(at_once) = result_of_call(line.as_bytes()) else { return false };
        let library: ServerJsonRpcMessage = serde_json::from_str(&line).unwrap();
        assert_eq!(format!("{at_once:?}"), format!("{library:?}"), "{line}");
        true
    }

    #[test]
    fn the_results_of_calls_are_read_at_once_and_nothing_else_is() {
        let text = json!([{"type": "text", "text": "이틀"}]);
        for (result, want) in [
            (json!({"content": text}), true),
            (json!({"content": text, "resultType": "complete", "isError": false}), true),
            (json!({"content": [], "structuredContent": null, "_meta": {"a": [1.5]}}), true),
            (json!({"content": text, "resultType": "task", "taskId": "t"}), false),
            (json!({"content": text, "resultType": "input_required"}), false),
            (json!({"content": text, "resultType": "complete", "_meta": {SUBSCRIPTION: 1}}), false),
            (json!({"content": text, "tools": []}), false),
            (json!({"content": [{"type": "smell"}]}), false),
            (json!({"structuredContent": 1}), false),
            (json!({}), false),
        ] {
            let message = json!({"jsonrpc": "2.0", "id": 7, "result": result});
            assert_eq!(is_read_at_once(&message), want, "{message}");
        }
        let (id, result) = (json!("7"), json!({"content": text}));
        for (message, want) in [
            (json!({"jsonrpc": "2.0", "id": id, "result": result}), true),
            (json!({"jsonrpc": "1.0", "id": id, "result": result}), false),
            (json!({"jsonrpc": "2.0", "id": id, "result": result, "method": "ping"}), false),
            (json!({"jsonrpc": "2.0", "id": null, "result": result}), false),
        ] {
            assert_eq!(is_read_at_once(&message), want, "{message}");
        }
    }

    proptest! {
        /// Whatever fields a result has, of other kinds of results too.
        #[test]
        fn what_is_read_at_once_is_what_the_library_reads(
            fields in subsequence(
                vec![
                    ("content", json!([{"type": "text", "text": "a", "annotations": {"priority": 0.5}}])),
                    ("resultType", json!("complete")),
                    ("isError", json!(true)),
                    ("structuredContent", json!({"n": 18_446_744_073_709_551_615_u64, "x": [1e300]})),
                    ("_meta", json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}})),
                    ("tools", json!([])),
                    ("prompts", json!([])),
                    ("resources", json!([])),
                    ("resourceTemplates", json!([])),
                    ("contents", json!([])),
                    ("messages", json!([])),
                    ("completion", json!({"values": []})),
                    ("action", json!("accept")),
                    ("taskId", json!("t")),
                    ("status", json!("working")),
                    ("requestState", json!("s")),
                    ("supportedVersions", json!(["2026-07-28"])),
                    ("protocolVersion", json!("2025-11-25")),
                    ("capabilities", json!({})),
                    ("serverInfo", json!({"name": "s", "version": "1"})),
                ],
                0..=20,
            ),
            id in prop_oneof![any::<i64>().prop_map(Value::from), ".*".prop_map(Value::from)],
        ) {
            let own = ["content", "resultType", "isError", "structuredContent", "_meta"];
            let is_result = fields.iter().all(|(name, _)| own.contains(name))
                && fields.iter().any(|(name, _)| *name == "content");
            let result = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            let result = Value::Object(result.collect());
            let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
            prop_assert_eq!(is_read_at_once(&message), is_result);
        }
    }
}
