//! Tests of the server.

mod approve;
mod chat;
mod clerk;
mod langgraph_runs;
mod openai;
mod runs;
mod served;
mod simulated;
mod socket;
mod strangers;
mod support;
