//! Tests of the server.

mod langgraph_runs;
mod openai;
mod runs;
mod served;
mod simulated;
mod support;
