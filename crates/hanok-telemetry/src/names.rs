//! Names of spans, operations and attributes: OpenTelemetry's semantic conventions for generative AI, and ours.
//!
//! The conventions are in development: their names may change. All of them stand here, as of [`REVISION`], and the spans
//! of this crate are made of nothing else.

/// The revision of the semantic conventions that these names follow.
pub const REVISION: &str = "1.41.0";

/// The target of every span here, for filters.
pub const TARGET: &str = "hanok";

// What an operation is called: the value of `gen_ai.operation.name`, and the beginning of the span's name.

/// A model completes a conversation.
pub const CHAT: &str = "chat";
/// A tool is called.
pub const EXECUTE_TOOL: &str = "execute_tool";
/// An agent of this program runs.
pub const INVOKE_AGENT: &str = "invoke_agent";
/// A graph runs.
pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
/// One attempt at a task of a graph; of ours, the conventions have no such operation.
pub const NODE: &str = "node";

// Attributes of the conventions.

/// Which operation a span is.
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// The provider that serves the model, such as `openai`.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The thread of a conversation.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The graph.
pub const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
/// The agent.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// The model that was asked for.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// The model that answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The answer's id.
pub const RESPONSE_ID: &str = "gen_ai.response.id";
/// Tokens of the request.
pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens of the answer.
pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// The tool.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// The id of the call, as the model gave it.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The kind of the tool; here always `function`.
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
/// The class of the error that ended the operation.
pub const ERROR_TYPE: &str = "error.type";

// Attributes of the conventions that hold what people and models say: see `ContentCapture`.

/// The conversation as the model was shown it.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// The answer of the model.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// The arguments of a call.
pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result of a call.
pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";

// What the bridge from `tracing` to OpenTelemetry makes of a span, instead of attributes.

/// The span's name where it is not the one of its place in the source.
pub const OTEL_NAME: &str = "otel.name";
/// The kind of the span: a call to somewhere else (`client`) or inside this program (`internal`).
pub const OTEL_KIND: &str = "otel.kind";
/// `ERROR` for an operation that failed.
pub const OTEL_STATUS_CODE: &str = "otel.status_code";

// Attributes of ours.

/// The graph that a node belongs to.
pub const GRAPH_NAME: &str = "hanok.graph.name";
/// The node.
pub const NODE_NAME: &str = "hanok.node.name";
/// The super-step, counted from 0 in its turn.
pub const STEP: &str = "hanok.step";
/// The attempt at the task, counted from 1.
pub const ATTEMPT: &str = "hanok.attempt";
/// The task, the same in every attempt.
pub const TASK_ID: &str = "hanok.task.id";
