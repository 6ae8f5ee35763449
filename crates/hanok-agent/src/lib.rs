//! Agents that reason and act: a tool registry that checks every call, and the ReAct agent as a durable graph.
//!
//! - [`ToolRegistry`]: tools by name. A call is checked against the tool's whole JSON schema; an unknown tool, bad
//!   arguments, a tool's error, panic or time-out each become an [`Observation`] that helps the model to correct itself.
//!   [`ToolErrors`] says which errors of a tool fail the run instead.
//! - [`ToolRunner`]: makes calls from any node as an agent makes them: checked, intercepted, memoised, within their time.
//! - [`ToolNode`], [`tools_condition`]: the same as a node and its router, in a graph whose state holds a [`Conversation`].
//! - [`ReactAgent`]: asks its model, makes the calls and shows their results, until there is an answer or a limit is reached
//!   ([`StopReason`]). By text or by native calls ([`Protocol`]), in English or Korean ([`Language`]).
//! - [`PlanAgent`]: plans all calls of a round, makes them, judges whether it is enough, and answers; [`PlanLoop`] is its loop, for
//!   graphs with rules of their own.
//! - [`Interceptor`]: code around the calls of the model and the tools. There are [`Approval`], [`CapabilityPolicy`],
//!   [`CallLimits`], [`Retrying`], [`Fallback`], [`CircuitBreaker`], [`Redaction`] and [`ModelCache`]; [`Intercepted`] puts
//!   them around a model outside an agent.
//! - [`Hook`]: code between the parts of a turn, which may write the state and leave the loop. [`HasAgent`]: an agent over a state
//!   with fields of one's own.
//! - [`ReactAgentBuilder::memory`] keeps the conversation small before each call of the model; [`PromptFront`] is what a prompt and
//!   the next one have in common, and [`BreakCause`] why they do not.
//! - [`AgentTool`]: an agent as a tool of another one.
//! - [`ToolSelector`]: the choice of tools for a question, as an entry of a log of [`Choices`].
//! - [`ToolIndex`]: finds the tools that fit a question, where there are more than a model should be shown;
//!   [`ReactAgentBuilder::catalogue`] offers them to an agent's model.
//! - [`ToolHistory`]: the calls that were made, for graphs that make none twice.
//! - [`Structured`]: a model's answer as a value of a Rust type, from any node.
//! - [`HandoffTool`]: lets an agent hand its turn over to another one that is declared, as a checked call ([`Handoff`]). A
//!   [`HandoffHistory`] says which part of the conversation goes along.
//!
//! | node | does | goes on to |
//! | --- | --- | --- |
//! | `call_model` | asks the model, reads calls or an answer out of its reply | `execute_tool`, or the end |
//! | `execute_tool` | makes the calls at once, one observation each, in their order, and what they write | `call_model`, or the end after a hand-off or a tool that ends the turn |
//!
//! The result of a tool is data: in the text protocol it stands between marks that nobody can guess ([`DataMark`]), in the
//! native one it is a message of the role tool. In both, the request breaks the marks of calls in results and in all other data
//! ([`hanok_parse::neutralise`]), so that a model that quotes a page runs nothing of it. State, events and interceptors have the
//! text as it was, and so have the tools that get it as an argument, and the answer. Results that a model invents after its own call are dropped.
//!
//! ```
//! use hanok_agent::{Language, ReactAgent};
//! use hanok_model::{FnTool, ScriptedModel, ToolSpec};
//! use serde_json::json;
//!
//! let spec = ToolSpec::new("now", "날짜와 시각을 알려준다", json!({}))?;
//! let now = FnTool::untyped(spec, |_, _| async { Ok("2025-01-02".into()) });
//! let agent = ReactAgent::builder("clock", "날짜를 안다", ScriptedModel::new([]))
//!     .prompt("당신은 날짜를 알려주는 비서입니다.")
//!     .tool(now)
//!     .language(Language::Korean)
//!     .build()?;
//! assert!(agent.system_prompt().contains("- now: 날짜와 시각을 알려준다"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A panic of a tool stays inside its call; that needs `panic = "unwind"`, Rust's default.

mod agent;
mod agent_tool;
mod arguments;
mod audit;
mod bound_tool;
mod builder;
mod by_run;
mod catalogue;
mod choice;
mod conversation;
mod digest;
mod error;
mod gate;
mod gates;
mod hand_over;
mod handoff;
mod has_agent;
mod hook;
mod intercept;
mod label_key;
mod large_results;
mod nodes;
mod observation;
mod plan;
mod progress;
mod prompt;
mod prompt_front;
mod protocol;
mod reference;
mod reply;
mod runner;
mod schema;
mod sentence;
mod settings;
mod state;
mod structured;
mod summariser;
mod tool_index;
mod tool_node;
mod tools;
mod type_name;
mod usage;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_memory as memory;
pub use hanok_model as model;
pub use hanok_parse as parse;

pub use agent::ReactAgent;
pub use agent_tool::AgentTool;
pub use audit::{
    chain::{AuditFault, AuditKey, verify_audit},
    difference::Difference,
    hidden::without_secrets,
    pass::PassReason,
    record::{AuditEvent, AuditRecord},
    shown::{shown_whole, shown_without_secrets},
    trail::audit_of,
};
pub use bound_tool::{BindingCause, BoundTool};
pub use builder::ReactAgentBuilder;
pub use choice::{
    choices::Choices,
    entry::{Choice, ChoiceEntry, ChoiceKind, ChoiceOption, ChoiceResult, ChosenBy, Outcomes},
    record::ChoiceRecord,
    stored::choices_of,
    test::{ChoiceLeftOut, ChoiceTest, ComparedChoice, LeftOut},
    tool_selector::ToolSelector,
};
pub use conversation::{observations, transcript};
pub use error::{AgentBuildError, AgentError, NoAnswer, RegistryError, ToolCallError, ToolFault};
pub use gate::{GateError, GateQuestion, GateRequest};
pub use gates::{GateSwitch, Gates, UnknownGate};
pub use hand_over::HandedOver;
pub use handoff::{Handoff, HandoffHistory};
pub use hanok_core::{Gate, Risk};
pub use hanok_graph::Doubt;
pub use hanok_macros::HasAgent;
pub use hanok_model::DataMark;
pub use hanok_parse::Language;
pub use hanok_telemetry::ContentCapture;
pub use has_agent::HasAgent;
pub use hook::{
    Hook, HookPoint,
    outcome::{Hooked, Jump},
};
pub use intercept::{
    Interceptor, SharedInterceptor, ToolRequest, TurnContext, Verdict,
    approval::{
        Approval, ApprovalRequest, ApprovalRule, ApprovalTerms, Decision, DecisionKind, Precedent,
        StandingApproval, StandingApprovals, StandingError, StandingScope,
        agent_chat::{AgentChatError, from_agent_chat, to_agent_chat},
        overdue::Overdue,
    },
    breaker::CircuitBreaker,
    cache::ModelCache,
    call_limits::{CallLimits, Exceeded},
    capability::CapabilityPolicy,
    chain::{NextModel, NextTool},
    fallback::Fallback,
    intercepted::Intercepted,
    redaction::{PatternError, Redaction, RedactionStrategy, scan::PersonalData},
    retrying::Retrying,
};
pub use label_key::label_key;
pub use large_results::{LargeResult, LargeResults};
pub use observation::{FaultKind, Observation};
pub use plan::{
    model_task::PlanError,
    plan_agent::{PlanAgent, PlanAgentBuilder},
    plan_loop::PlanLoop,
    plan_state::{CallResult, PlanState, PlanStateUpdate},
    planning::{Evaluation, PlanMode, Planned, Planning},
    task::{MadePlan, PlanTask},
};
pub use progress::AgentProgress;
pub use prompt_front::{BreakCause, FrontParts, PromptFront};
pub use protocol::Protocol;
pub use reply::ask_model::{Reading, ask_model};
pub use runner::{ToolRunner, ToolTurn, tool_result::ToolResult};
pub use state::{AgentState, AgentStateUpdate, Fault, StopReason};
pub use structured::{
    SchemaPlace, Structured, StructuredMode, StructuredReply, error::StructuredError,
    final_answer::AnswerBy,
};
pub use summariser::Summariser;
pub use tool_index::{
    RecommendedTools, ToolIndex, ToolIndexError, ToolIndexUpdate,
    entry::IndexedTool,
    experience::ToolExperience,
    query::ToolQuery,
    ranking::{RecommendedTool, ToolScore},
};
pub use tool_node::{Conversation, ToolNode, tools_condition};
pub use tools::{
    handoff_tool::HandoffTool,
    registry::ToolRegistry,
    tool_errors::{FailedCall, Handling, ToolErrors},
    tool_history::ToolHistory,
};
pub use usage::TurnUsage;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
