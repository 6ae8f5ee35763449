//! Tests of the server.

mod guarded;
mod kills;
mod langgraph_runs;
mod openai;
mod runs;
mod served;
mod simulated;
mod support;
