//! The spans of what hanok does.
//!
//! They are made at level `INFO`, under the target [`TARGET`]. A span that nobody listens to costs a look at a static:
//! nothing is formatted and nothing allocated.

use std::fmt;

use tracing::{Span, field::Empty, info_span};

use crate::names::{
    AGENT_NAME, ATTEMPT, CHAT, CONVERSATION_ID, ERROR_TYPE, EXECUTE_TOOL, GRAPH_NAME,
    INPUT_MESSAGES, INVOKE_AGENT, INVOKE_WORKFLOW, NODE, NODE_NAME, OPERATION_NAME, OTEL_KIND,
    OTEL_NAME, OTEL_STATUS_CODE, OUTPUT_MESSAGES, PROVIDER_NAME, REQUEST_MODEL, RESPONSE_ID,
    RESPONSE_MODEL, STEP, TARGET, TASK_ID, TOOL_CALL_ARGUMENTS, TOOL_CALL_ID, TOOL_CALL_RESULT,
    TOOL_NAME, TOOL_TYPE, USAGE_INPUT_TOKENS, USAGE_OUTPUT_TOKENS, WORKFLOW_NAME,
};

/// One run of a graph: `invoke_workflow {name}`. `thread` is the conversation that it belongs to, if it is kept.
pub fn workflow(name: &str, thread: Option<&str>) -> Span {
    info_span!(
        target: TARGET,
        INVOKE_WORKFLOW,
        { OTEL_NAME } = %format_args!("{INVOKE_WORKFLOW} {name}"),
        { OTEL_KIND } = "internal",
        { OPERATION_NAME } = INVOKE_WORKFLOW,
        { WORKFLOW_NAME } = name,
        { CONVERSATION_ID } = thread,
        { ERROR_TYPE } = Empty,
        { OTEL_STATUS_CODE } = Empty,
    )
}

/// One run of an agent of this program: `invoke_agent {name}`.
pub fn agent(name: &str) -> Span {
    info_span!(
        target: TARGET,
        INVOKE_AGENT,
        { OTEL_NAME } = %format_args!("{INVOKE_AGENT} {name}"),
        { OTEL_KIND } = "internal",
        { OPERATION_NAME } = INVOKE_AGENT,
        { AGENT_NAME } = name,
        { CONVERSATION_ID } = Empty,
        { USAGE_INPUT_TOKENS } = Empty,
        { USAGE_OUTPUT_TOKENS } = Empty,
        { INPUT_MESSAGES } = Empty,
        { OUTPUT_MESSAGES } = Empty,
        { ERROR_TYPE } = Empty,
        { OTEL_STATUS_CODE } = Empty,
    )
}

/// One attempt at a task of a graph: `node {node}`. `step` is counted from 0 in its turn, `attempt` from 1.
pub fn node(graph: &str, node: &str, step: u32, attempt: u32, task: impl fmt::Display) -> Span {
    info_span!(
        target: TARGET,
        NODE,
        { OTEL_NAME } = %format_args!("{NODE} {node}"),
        { OTEL_KIND } = "internal",
        { GRAPH_NAME } = graph,
        { NODE_NAME } = node,
        // Signed: the bridge to OpenTelemetry makes text of what is not.
        { STEP } = i64::from(step),
        { ATTEMPT } = i64::from(attempt),
        { TASK_ID } = %task,
        { ERROR_TYPE } = Empty,
        { OTEL_STATUS_CODE } = Empty,
    )
}

/// One call of a model: `chat {model}`.
pub fn chat(model: &str) -> Span {
    info_span!(
        target: TARGET,
        CHAT,
        { OTEL_NAME } = %format_args!("{CHAT} {model}"),
        { OTEL_KIND } = "client",
        { OPERATION_NAME } = CHAT,
        { REQUEST_MODEL } = model,
        { PROVIDER_NAME } = Empty,
        { CONVERSATION_ID } = Empty,
        { RESPONSE_MODEL } = Empty,
        { RESPONSE_ID } = Empty,
        { USAGE_INPUT_TOKENS } = Empty,
        { USAGE_OUTPUT_TOKENS } = Empty,
        { INPUT_MESSAGES } = Empty,
        { OUTPUT_MESSAGES } = Empty,
        { ERROR_TYPE } = Empty,
        { OTEL_STATUS_CODE } = Empty,
    )
}

/// One call of a tool: `execute_tool {name}`. `call_id` is the one that the model gave it.
pub fn tool(name: &str, call_id: &str) -> Span {
    info_span!(
        target: TARGET,
        EXECUTE_TOOL,
        { OTEL_NAME } = %format_args!("{EXECUTE_TOOL} {name}"),
        { OTEL_KIND } = "internal",
        { OPERATION_NAME } = EXECUTE_TOOL,
        { TOOL_NAME } = name,
        { TOOL_CALL_ID } = call_id,
        { TOOL_TYPE } = "function",
        { TOOL_CALL_ARGUMENTS } = Empty,
        { TOOL_CALL_RESULT } = Empty,
        { ERROR_TYPE } = Empty,
        { OTEL_STATUS_CODE } = Empty,
    )
}
