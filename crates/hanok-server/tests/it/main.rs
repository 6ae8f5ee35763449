//! Tests of the server.

mod langgraph_state;
mod langgraph_store;
mod langgraph_threads;
mod openai;
mod runs;
mod samples;
mod served;
mod support;
