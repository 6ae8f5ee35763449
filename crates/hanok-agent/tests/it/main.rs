//! What an agent does, by what it is asked for. One program, since each more would link all of hanok once more.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod agent_tool;
mod approval;
mod attempts;
mod breaker;
mod by_run;
mod cache;
mod capability;
mod catalogue;
mod choices;
mod deploys;
mod dropped;
mod every_call;
mod faults;
mod frozen;
mod gates;
mod graph_tools;
mod handoffs;
mod hooks;
mod intercept;
mod keyed_labels;
mod langgraph;
mod large_results;
mod memory;
mod native;
mod neutralised;
mod plan;
mod protocols;
mod redaction;
mod references;
mod resume;
mod runner;
mod simulated;
mod standing;
mod structured;
mod support;
mod tokens;
mod tool_errors;
mod tool_events;
mod tool_index;
mod tool_node;
mod tool_search;
mod typed_answer;
mod watched;
mod writes;
