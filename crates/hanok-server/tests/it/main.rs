//! Tests of the server.

mod openai;
mod runs;
mod served;
mod support;
